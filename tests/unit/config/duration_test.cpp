// SPDX-License-Identifier: Apache-2.0
#include "config/duration.hpp"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace planed::config {
namespace {

TEST(ParseDuration, TakesOneNumberAndOneUnit) {
    EXPECT_EQ(parse_duration("250us"), 250us);
    EXPECT_EQ(parse_duration("900ms"), 900ms);
    EXPECT_EQ(parse_duration("30s"), 30s);
    EXPECT_EQ(parse_duration("5m"), 5min);
    EXPECT_EQ(parse_duration("2h"), 2h);
    EXPECT_EQ(parse_duration("0s"), 0s);
    EXPECT_EQ(parse_duration("9223372036854775us"), std::chrono::microseconds(9223372036854775));
}

TEST(ParseDuration, RefusesEverythingElse) {
    const std::vector<std::string> wrong{"",
                                         "5",
                                         "s",
                                         "5 s",
                                         " 5s",
                                         "5s ",
                                         "-5s",
                                         "+5s",
                                         "1.5s",
                                         "1m30s",
                                         "5sec",
                                         "5S",
                                         "5ns",
                                         "5d",
                                         "0x5s",
                                         "5s\n",
                                         "5\0s",
                                         "∞s",
                                         "9223372036854776us",
                                         "3000000h",
                                         "99999999999999999999s",
                                         "18446744073709551615h"};

    for (const std::string& text : wrong) {
        EXPECT_EQ(parse_duration(text), std::nullopt) << text;
    }
}

TEST(FormatDuration, TakesTheLargestUnitWithoutAFraction) {
    EXPECT_EQ(format_duration(0s), "0s");
    EXPECT_EQ(format_duration(1us), "1us");
    EXPECT_EQ(format_duration(1500us), "1500us");
    EXPECT_EQ(format_duration(900ms), "900ms");
    EXPECT_EQ(format_duration(90s), "90s");
    EXPECT_EQ(format_duration(15min), "15m");
    EXPECT_EQ(format_duration(24h), "24h");
}

TEST(FormatDuration, CutsWhatNoFileCanSay) {
    EXPECT_EQ(format_duration(Duration(1)), "0s");
    EXPECT_EQ(format_duration(Duration(-5)), "0s");
    EXPECT_EQ(format_duration(1s + Duration(999)), "1s");
    EXPECT_EQ(format_duration(Duration::max()), "9223372036854775us");
}

}  // namespace
}  // namespace planed::config
