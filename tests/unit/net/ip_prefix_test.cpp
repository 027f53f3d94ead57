// SPDX-License-Identifier: Apache-2.0
#include "net/ip_prefix.hpp"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/net/recording_hash.hpp"

namespace planed {
namespace {

IpAddress address_of(std::string_view text) {
    return IpAddress::parse(text).value();
}

IpPrefix prefix(std::string_view text) {
    return IpPrefix::parse(text).value();
}

bool bit(const IpAddress& from, std::size_t index) {
    return ((static_cast<unsigned>(from.bytes()[index / 8]) >> (7 - index % 8)) & 1U) != 0;
}

// Two addresses that share a random number of leading bits.
std::pair<IpAddress, IpAddress> relatives(std::mt19937& random) {
    const bool v4 = random() % 2 == 0;
    IpAddress::Bytes a{};
    IpAddress::Bytes b{};
    for (std::size_t i = 0; i < a.size(); ++i) {
        a[i] = static_cast<std::uint8_t>(random());
        b[i] = a[i];
    }
    const std::size_t flip = random() % (v4 ? 32 : 128);
    b[flip / 8] = static_cast<std::uint8_t>(b[flip / 8] ^ (0x80U >> (flip % 8)));
    return v4 ? std::pair(IpAddress::v4(a[0], a[1], a[2], a[3]),
                          IpAddress::v4(b[0], b[1], b[2], b[3]))
              : std::pair(IpAddress::v6(a), IpAddress::v6(b));
}

TEST(IpPrefix, ReadsAndWritesText) {
    const std::vector<std::pair<std::string, std::string>> texts{
        {"10.0.0.0/16", "10.0.0.0/16"},
        {"10.0.0.5/16", "10.0.0.5/16"},  // An interface's own address keeps its host bits.
        {"0.0.0.0/0", "0.0.0.0/0"},
        {"10.0.0.5", "10.0.0.5/32"},
        {"10.0.0.5/32", "10.0.0.5/32"},
        {"FD00::/64", "fd00::/64"},
        {"::/0", "::/0"},
        {"fd00::5", "fd00::5/128"},
        {"fd00::5/128", "fd00::5/128"}};

    for (const auto& [text, canonical] : texts) {
        ASSERT_TRUE(IpPrefix::parse(text)) << text;
        EXPECT_EQ(prefix(text).to_string(), canonical);
    }
}

TEST(IpPrefix, RefusesWhatIsNoPrefix) {
    using namespace std::string_literals;
    const std::vector<std::string> wrong{"",
                                         "/",
                                         "/16",
                                         "10.0.0.0/",
                                         "10.0.0.0/33",
                                         "10.0.0.0/256",
                                         "10.0.0.0/288",
                                         "10.0.0.0/-1",
                                         "10.0.0.0/+8",
                                         "10.0.0.0/08",
                                         "10.0.0.0/00",
                                         "10.0.0.0/8 ",
                                         "10.0.0.0 /8",
                                         "10.0.0.0/ 8",
                                         "10.0.0.0/8/8",
                                         "10.0.0.0/255.0.0.0",
                                         "10.0.0/8",
                                         "fd00::/129",
                                         "fd00::/64%1",
                                         "10.0.0.0/8\0"s};

    for (const std::string& text : wrong) {
        EXPECT_EQ(IpPrefix::parse(text), std::nullopt) << text;
    }
}

TEST(IpPrefix, CutsTheLengthToTheFamily) {
    EXPECT_EQ(IpPrefix(address_of("10.0.0.5"), 200), prefix("10.0.0.5/32"));
    EXPECT_EQ(IpPrefix(address_of("fd00::5"), 200), prefix("fd00::5/128"));
}

TEST(IpPrefix, KnowsTheHostPrefix) {
    EXPECT_EQ(host_prefix(address_of("10.0.0.5")), prefix("10.0.0.5/32"));
    EXPECT_EQ(host_prefix(address_of("fd00::5")), prefix("fd00::5/128"));
    EXPECT_TRUE(prefix("10.0.0.5/32").is_host());
    EXPECT_FALSE(prefix("10.0.0.5/31").is_host());
    EXPECT_TRUE(prefix("fd00::5/128").is_host());
    EXPECT_FALSE(prefix("fd00::5/32").is_host());
}

TEST(IpPrefix, ContainsWhatSharesItsBits) {
    std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same cases every time.
    int inside = 0;
    for (int i = 0; i < 20'000; ++i) {
        const auto [a, b] = relatives(random);
        const auto length = static_cast<std::uint8_t>(random() % (a.bits() + 1U));
        bool expected = true;
        for (std::size_t k = 0; k < length; ++k) {
            expected = expected && bit(a, k) == bit(b, k);
        }

        ASSERT_EQ(IpPrefix(a, length).contains(b), expected)
            << IpPrefix(a, length).to_string() << " " << b.to_string();
        inside += expected ? 1 : 0;
    }
    EXPECT_GT(inside, 1000);
}

TEST(IpPrefix, ContainsNothingOfTheOtherFamily) {
    EXPECT_FALSE(prefix("0.0.0.0/0").contains(address_of("::")));
    EXPECT_FALSE(prefix("::/0").contains(address_of("0.0.0.0")));
    EXPECT_TRUE(prefix("0.0.0.0/0").contains(address_of("255.255.255.255")));
    EXPECT_TRUE(prefix("::/0").contains(address_of("ff00::")));
}

TEST(IpPrefix, BeginsAtItsNetworkAndEndsAtItsLastAddress) {
    std::mt19937 random(2);  // NOLINT(cert-msc51-cpp): the same cases every time.
    for (int i = 0; i < 5000; ++i) {
        const IpAddress inside = relatives(random).first;
        const IpPrefix any(inside, static_cast<std::uint8_t>(random() % (inside.bits() + 1U)));

        const IpPrefix network = any.network();
        const IpAddress last = any.last();

        ASSERT_EQ(network.length(), any.length());
        ASSERT_LE(network.address(), inside);
        ASSERT_LE(inside, last);
        for (std::size_t k = 0; k < inside.bits(); ++k) {
            const bool ours = k < any.length();
            ASSERT_EQ(bit(network.address(), k), ours && bit(inside, k)) << any.to_string();
            ASSERT_EQ(bit(last, k), !ours || bit(inside, k)) << any.to_string();
        }
    }
}

TEST(IpPrefix, HasABroadcastAddressWhereRfc919GivesOne) {
    EXPECT_EQ(prefix("10.0.5.0/24").broadcast(), address_of("10.0.5.255"));
    EXPECT_EQ(prefix("10.0.5.7/16").broadcast(), address_of("10.0.255.255"));
    EXPECT_EQ(prefix("10.0.0.4/30").broadcast(), address_of("10.0.0.7"));
    EXPECT_EQ(prefix("0.0.0.0/0").broadcast(), address_of("255.255.255.255"));
    EXPECT_EQ(prefix("10.0.0.4/31").broadcast(), std::nullopt);
    EXPECT_EQ(prefix("10.0.0.4/32").broadcast(), std::nullopt);
    EXPECT_EQ(prefix("fd00::/64").broadcast(), std::nullopt);
    EXPECT_EQ(prefix("fd00::/24").broadcast(), std::nullopt);
}

TEST(IpPrefix, OrdersByAddressThenLength) {
    EXPECT_LT(prefix("10.0.0.0/8"), prefix("10.0.0.0/16"));
    EXPECT_LT(prefix("10.0.0.0/16"), prefix("10.0.0.1/8"));
    EXPECT_LT(prefix("255.0.0.0/8"), prefix("::/0"));
    EXPECT_NE(prefix("10.0.0.0/8"), prefix("10.0.0.0/9"));
}

TEST(IpPrefix, HashesAddressAndLength) {
    EXPECT_EQ(hash_of(prefix("10.0.0.0/8")), hash_of(prefix("10.0.0.0/8")));
    EXPECT_NE(hash_of(prefix("10.0.0.0/8")), hash_of(prefix("10.0.0.0/9")));
    EXPECT_NE(hash_of(prefix("10.0.0.0/8")), hash_of(prefix("11.0.0.0/8")));
}

}  // namespace
}  // namespace planed
