// SPDX-License-Identifier: Apache-2.0
#include "net/mac_address.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/net/recording_hash.hpp"

namespace planed {
namespace {

MacAddress mac(std::string_view text) {
    return MacAddress::parse(text).value();
}

TEST(MacAddress, ReadsAndWritesText) {
    EXPECT_EQ(mac("02:00:5e:AB:cd:05"), MacAddress({0x02, 0x00, 0x5E, 0xAB, 0xCD, 0x05}));
    EXPECT_EQ(mac("02:00:5E:AB:CD:05").to_string(), "02:00:5e:ab:cd:05");
    EXPECT_EQ(MacAddress().to_string(), "00:00:00:00:00:00");
    EXPECT_EQ(mac("ff:ff:ff:ff:ff:ff").to_string(), "ff:ff:ff:ff:ff:ff");
}

TEST(MacAddress, RefusesWhatIsNoMac) {
    using namespace std::string_literals;
    const std::vector<std::string> wrong{"",
                                         "02:00:00:00:00",
                                         "02:00:00:00:00:0",
                                         "2:0:0:0:0:5",
                                         "02:00:00:00:00:005",
                                         "02:00:00:00:00:05:06",
                                         "02-00-00-00-00-05",
                                         "0200.0000.0005",
                                         "020000000005",
                                         "02:00:00:00:00:0g",
                                         "02:00:00:00:00: 5",
                                         "02:00:00:00:00:-5",
                                         "02:00:00:00:00:+5",
                                         "02:00:00:00:0x:05",
                                         "02:00:00:00:00-05",
                                         "02:00:00:00:00:05 ",
                                         " 02:00:00:00:00:5",
                                         "02:00:00:00:00:0\0"s};

    for (const std::string& text : wrong) {
        EXPECT_EQ(MacAddress::parse(text), std::nullopt) << text;
    }
}

TEST(MacAddress, TakesExactlySixBytes) {
    const std::vector<std::uint8_t> bytes{2, 0, 0, 0, 0, 5, 6, 7};
    const std::span<const std::uint8_t> all(bytes);

    for (std::size_t size = 0; size <= all.size(); ++size) {
        EXPECT_EQ(MacAddress::from_bytes(all.first(size)).has_value(), size == MacAddress::kSize);
    }
    EXPECT_EQ(MacAddress::from_bytes(all.first(6)), mac("02:00:00:00:00:05"));
}

TEST(MacAddress, KnowsZeroAndGroups) {
    EXPECT_TRUE(MacAddress().is_zero());
    EXPECT_FALSE(mac("00:00:00:00:00:01").is_zero());
    EXPECT_TRUE(mac("01:00:5e:00:00:01").is_multicast());
    EXPECT_TRUE(mac("33:33:00:00:00:01").is_multicast());
    EXPECT_TRUE(mac("ff:ff:ff:ff:ff:ff").is_multicast());
    EXPECT_FALSE(mac("02:01:01:01:01:01").is_multicast());
    EXPECT_FALSE(mac("fe:ff:ff:ff:ff:ff").is_multicast());
}

TEST(MacAddress, OrdersAndHashesByItsBytes) {
    EXPECT_LT(mac("02:00:00:00:00:05"), mac("02:00:00:00:00:06"));
    EXPECT_LT(mac("02:ff:ff:ff:ff:ff"), mac("03:00:00:00:00:00"));
    EXPECT_EQ(hash_of(mac("02:00:00:00:00:05")), hash_of(mac("02:00:00:00:00:05")));
    EXPECT_NE(hash_of(mac("02:00:00:00:00:05")), hash_of(mac("02:00:00:00:00:06")));
}

}  // namespace
}  // namespace planed
