// SPDX-License-Identifier: Apache-2.0
#include "net/ip_address.hpp"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/net/recording_hash.hpp"

namespace planed {
namespace {

IpAddress address(std::string_view text) {
    return IpAddress::parse(text).value();
}

TEST(IpAddress, IsAllZeroIpv4ByDefault) {
    EXPECT_EQ(IpAddress(), IpAddress::v4(0, 0, 0, 0));
    EXPECT_EQ(IpAddress().to_string(), "0.0.0.0");
}

TEST(IpAddress, ReadsAndWritesText) {
    const std::vector<std::pair<std::string, std::string>> texts{
        {"10.0.0.5", "10.0.0.5"},
        {"255.255.255.255", "255.255.255.255"},
        {"::", "::"},
        {"::1", "::1"},
        {"FD00:0:0:1:0:0:0:5", "fd00:0:0:1::5"},
        {"fd00:0000::0005", "fd00::5"},
        {"1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"},
        {"::ffff:10.0.0.5", "::ffff:10.0.0.5"},
        {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"}};

    for (const auto& [text, canonical] : texts) {
        ASSERT_TRUE(IpAddress::parse(text)) << text;
        EXPECT_EQ(address(text).to_string(), canonical);
    }
}

TEST(IpAddress, RefusesWhatIsNoAddress) {
    using namespace std::string_literals;
    const std::vector<std::string> wrong{"",
                                         " ",
                                         "10.0.0",
                                         "10.0.0.5.6",
                                         "10.0.0.256",
                                         "10.0.0.05",
                                         "10.0.0.-1",
                                         "0x0a.0.0.5",
                                         "167772165",
                                         " 10.0.0.5",
                                         "10.0.0.5 ",
                                         "10.0.0.5/32",
                                         "10.0.0.5\n",
                                         "10.0.0.5\0"s,
                                         "10.0.0.5\0x"s,
                                         ":",
                                         ":::",
                                         "1::2::3",
                                         "1:2:3:4:5:6:7",
                                         "1:2:3:4:5:6:7:8:9",
                                         "12345::",
                                         "g::",
                                         "[fd00::5]",
                                         "fe80::1%eth0",
                                         "fd00::5/64",
                                         "leaf-a1",
                                         std::string(10'000, '1')};

    for (const std::string& text : wrong) {
        EXPECT_EQ(IpAddress::parse(text), std::nullopt) << text;
    }
}

TEST(IpAddress, ParsesWhatItPrints) {
    std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same cases every time.
    for (int i = 0; i < 2000; ++i) {
        IpAddress::Bytes bytes{};
        for (std::uint8_t& byte : bytes) {
            byte = static_cast<std::uint8_t>(random() % 3 == 0 ? random() : 0U);
        }
        const IpAddress v4 = IpAddress::v4(bytes[0], bytes[1], bytes[2], bytes[3]);
        const IpAddress v6 = IpAddress::v6(bytes);

        ASSERT_EQ(IpAddress::parse(v4.to_string()), v4);
        ASSERT_EQ(IpAddress::parse(v6.to_string()), v6);
    }
}

TEST(IpAddress, TakesExactlyTheFamilysBytes) {
    const std::vector<std::uint8_t> bytes{10, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2};
    const std::span<const std::uint8_t> all(bytes);

    for (std::size_t size = 0; size <= all.size(); ++size) {
        const auto v4 = IpAddress::from_bytes(Family::V4, all.first(size));
        const auto v6 = IpAddress::from_bytes(Family::V6, all.first(size));

        EXPECT_EQ(v4.has_value(), size == 4) << size;
        EXPECT_EQ(v6.has_value(), size == 16) << size;
    }
    EXPECT_EQ(IpAddress::from_bytes(Family::V4, all.first(4)), IpAddress::v4(10, 0, 0, 5));
    EXPECT_EQ(IpAddress::from_bytes(Family::V6, all.first(16)), address("a00:5::1"));
}

TEST(IpAddress, GivesItsBytesBack) {
    const IpAddress v4 = IpAddress::v4(10, 1, 2, 3);
    const IpAddress v6 = address("fd00::5");

    EXPECT_TRUE(v4.is_v4());
    EXPECT_FALSE(v6.is_v4());
    EXPECT_EQ(v4.bits(), 32);
    EXPECT_EQ(v6.bits(), 128);
    EXPECT_EQ(IpAddress::from_bytes(Family::V4, v4.bytes()), v4);
    EXPECT_EQ(IpAddress::from_bytes(Family::V6, v6.bytes()), v6);
}

// The first and last address of each class, and their neighbours outside.
struct Class {
    std::string text;
    bool unspecified = false;
    bool multicast = false;
    bool link_local = false;
    bool loopback = false;
    bool reserved_v4 = false;
};

TEST(IpAddress, KnowsItsClass) {
    const std::vector<Class> classes{{.text = "0.0.0.0", .unspecified = true},
                                     {.text = "0.0.0.1"},
                                     {.text = "10.0.0.5"},
                                     {.text = "126.255.255.255"},
                                     {.text = "127.0.0.0", .loopback = true},
                                     {.text = "127.255.255.255", .loopback = true},
                                     {.text = "128.0.0.0"},
                                     {.text = "169.253.255.255"},
                                     {.text = "169.254.0.0", .link_local = true},
                                     {.text = "169.254.255.255", .link_local = true},
                                     {.text = "169.255.0.0"},
                                     {.text = "223.255.255.255"},
                                     {.text = "224.0.0.0", .multicast = true},
                                     {.text = "239.255.255.255", .multicast = true},
                                     {.text = "240.0.0.0", .reserved_v4 = true},
                                     {.text = "255.255.255.255", .reserved_v4 = true},
                                     {.text = "::", .unspecified = true},
                                     {.text = "::1", .loopback = true},
                                     {.text = "::2"},
                                     {.text = "7f00::"},
                                     {.text = "a9fe::"},
                                     {.text = "e000::"},
                                     {.text = "f000::"},
                                     {.text = "fe7f:ffff::"},
                                     {.text = "fe80::", .link_local = true},
                                     {.text = "febf:ffff::1", .link_local = true},
                                     {.text = "fec0::"},
                                     {.text = "feff::"},
                                     {.text = "ff00::", .multicast = true},
                                     {.text = "ff02::1", .multicast = true}};

    for (const Class& want : classes) {
        const IpAddress got = address(want.text);

        EXPECT_EQ(got.is_unspecified(), want.unspecified) << want.text;
        EXPECT_EQ(got.is_multicast(), want.multicast) << want.text;
        EXPECT_EQ(got.is_link_local(), want.link_local) << want.text;
        EXPECT_EQ(got.is_loopback(), want.loopback) << want.text;
        EXPECT_EQ(got.is_reserved_v4(), want.reserved_v4) << want.text;
    }
}

TEST(IpAddress, OrdersIpv4FirstThenByNumber) {
    const std::vector<std::string> ordered{"0.0.0.0",
                                           "1.255.255.255",
                                           "9.0.0.0",
                                           "10.0.0.0",
                                           "10.0.0.5",
                                           "255.255.255.255",
                                           "::",
                                           "::1",
                                           "1::",
                                           "ff00::"};

    for (std::size_t i = 0; i < ordered.size(); ++i) {
        for (std::size_t k = 0; k < ordered.size(); ++k) {
            EXPECT_EQ(address(ordered[i]) <=> address(ordered[k]), i <=> k)
                << ordered[i] << " " << ordered[k];
        }
    }
}

TEST(IpAddress, IsNotEqualAcrossFamilies) {
    const IpAddress v4 = IpAddress::v4(10, 0, 0, 5);

    EXPECT_NE(v4, address("a00:5::"));
    EXPECT_NE(hash_of(v4), hash_of(address("a00:5::")));
    EXPECT_NE(hash_of(v4), hash_of(IpAddress::v4(10, 0, 0, 6)));
    EXPECT_EQ(hash_of(v4), hash_of(address("10.0.0.5")));
}

}  // namespace
}  // namespace planed
