// SPDX-License-Identifier: Apache-2.0
#include "config/route_target.hpp"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace planed::config {
namespace {

std::string problem(std::string_view text) {
    const auto target = parse_route_target(text);
    return target ? "none" : target.error().text;
}

TEST(RouteTarget, IsNumberedByAnAsOrAnAddress) {
    EXPECT_EQ(parse_route_target("65000:4294967295"),
              (RouteTargetConfig{.address = {}, .as = 65000, .number = 4294967295}));
    EXPECT_EQ(parse_route_target("4200000001:65535"),
              (RouteTargetConfig{.address = {}, .as = 4200000001, .number = 65535}));
    EXPECT_EQ(parse_route_target("10.66.0.1:0"),
              (RouteTargetConfig{.address = IpAddress::v4(10, 66, 0, 1), .as = 0, .number = 0}));
}

TEST(RouteTarget, IsWrittenAsItIsRead) {
    for (const std::string_view text :
         {"1:0", "65534:4294967295", "65536:65535", "4294967294:1", "240.0.0.1:65535"}) {
        ASSERT_EQ(problem(text), "none") << text;
        EXPECT_EQ(format_route_target(*parse_route_target(text)), text);
    }
}

TEST(RouteTarget, LeavesSixteenBitsAfterFourOctets) {
    EXPECT_EQ(problem("65536:65536"),
              "after an AS above 65535 the number goes up to 65535, not 65536 (RFC 5668 2)");
    EXPECT_EQ(problem("10.66.0.1:65536"),
              "after an address the number goes up to 65535, not 65536 (RFC 4360 3.2)");
}

TEST(RouteTarget, HasAnOwnerWhoCanBe) {
    EXPECT_EQ(problem("0:1"), "0 is no AS number");
    EXPECT_EQ(problem("23456:1"), "23456 stands for other AS numbers (RFC 6793)");
    EXPECT_EQ(problem("65535:1"), "65535 is reserved (RFC 7300)");
    EXPECT_EQ(problem("4294967295:1"), "4294967295 is reserved (RFC 7300)");
    EXPECT_EQ(problem("0.0.0.0:1"), "0.0.0.0 names nobody");
    EXPECT_EQ(problem("224.0.0.5:1"), "224.0.0.5 is a multicast address");
}

TEST(RouteTarget, IsNothingElse) {
    for (const std::string_view text : {"",
                                        ":",
                                        "65000",
                                        "65000:",
                                        ":100",
                                        "65000:100:1",
                                        "065000:100",
                                        "65000:0100",
                                        "65000: 100",
                                        "+65000:100",
                                        "65000:-1",
                                        "1.10:100",
                                        "fd00::1:100",
                                        "4294967296:1",
                                        "65000:4294967296",
                                        "target:65000:100",
                                        "65000:100\n"}) {
        EXPECT_TRUE(problem(text).starts_with(
            "must be a route target such as 65000:100 or 10.66.0.1:100, not \""))
            << text << ": " << problem(text);
    }
    EXPECT_EQ(problem("a\nb"),
              "must be a route target such as 65000:100 or 10.66.0.1:100, not \"a\\x0ab\"");
}

}  // namespace
}  // namespace planed::config
