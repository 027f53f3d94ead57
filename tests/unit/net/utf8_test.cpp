// SPDX-License-Identifier: Apache-2.0
#include "net/utf8.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace planed {
namespace {

TEST(Utf8Length, TakesEveryFirstAndLastCharacterOfEachLength) {
    for (const std::string text : {"",
                                   "\x01",
                                   "\x7f",
                                   "\xc2\x80",
                                   "\xdf\xbf",
                                   "\xe0\xa0\x80",
                                   "\xed\x9f\xbf",
                                   "\xee\x80\x80",
                                   "\xef\xbf\xbf",
                                   "\xf0\x90\x80\x80",
                                   "\xf4\x8f\xbf\xbf",
                                   "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z"}) {
        EXPECT_EQ(utf8_length(text), text.size()) << text;
    }
}

TEST(Utf8Length, StopsBeforeWhatIsNone) {
    const std::vector<std::string> wrong{std::string(1, '\0'),
                                         "\x80",
                                         "\xbf",
                                         "\xc0\x80",
                                         "\xc1\xbf",
                                         "\xc3",
                                         "\xc3z",
                                         "\xc3\xc3",
                                         "\xe0\x9f\xbf",
                                         "\xe2\x82",
                                         "\xe2\x82z",
                                         "\xed\xa0\x80",
                                         "\xed\xbf\xbf",
                                         "\xf0\x8f\xbf\xbf",
                                         "\xf0\x9f\x98",
                                         "\xf4\x90\x80\x80",
                                         "\xf5\x80\x80\x80",
                                         "\xf8\x88\x80\x80\x80",
                                         "\xfe",
                                         "\xff"};

    for (const std::string& text : wrong) {
        EXPECT_EQ(utf8_length("a\xc3\xa4" + text), 3U) << text;
        EXPECT_EQ(utf8_length("a\xc3\xa4" + text + "zzzz"), 3U) << text;
    }
}

}  // namespace
}  // namespace planed
