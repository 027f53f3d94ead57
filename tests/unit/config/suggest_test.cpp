// SPDX-License-Identifier: Apache-2.0
#include "config/suggest.hpp"

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace planed::config {
namespace {

constexpr std::array<std::string_view, 5> kWords{
    "proxy_arp", "proxy_nd", "prefixes", "snoop", "name"};

TEST(Nearest, FindsOneSlipOfEachKind) {
    EXPECT_EQ(nearest("proxy_ap", kWords), "proxy_arp");
    EXPECT_EQ(nearest("proxy_arpp", kWords), "proxy_arp");
    EXPECT_EQ(nearest("proxy_app", kWords), "proxy_arp");
    EXPECT_EQ(nearest("proyx_arp", kWords), "proxy_arp");
    EXPECT_EQ(nearest("proxyarp", kWords), "proxy_arp");
    EXPECT_EQ(nearest("PROXY_ND", kWords), "proxy_nd");
    EXPECT_EQ(nearest("nmae", kWords), "name");
}

TEST(Nearest, DoesNotGuessWildly) {
    EXPECT_EQ(nearest("", kWords), std::nullopt);
    EXPECT_EQ(nearest("x", kWords), std::nullopt);
    EXPECT_EQ(nearest("lane", kWords), std::nullopt);
    EXPECT_EQ(nearest("metric", kWords), std::nullopt);
    EXPECT_EQ(nearest(std::string(10000, 'a'), kWords), std::nullopt);
    EXPECT_EQ(nearest("name", {}), std::nullopt);
}

TEST(Hint, IsEmptyWithoutAGuess) {
    EXPECT_EQ(hint("snop", kWords), " (did you mean snoop?)");
    EXPECT_EQ(hint("vlan", kWords), "");
}

}  // namespace
}  // namespace planed::config
