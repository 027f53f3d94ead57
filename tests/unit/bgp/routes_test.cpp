// SPDX-License-Identifier: Apache-2.0
#include "bgp/routes.hpp"

#include <algorithm>
#include <array>
#include <span>

#include <absl/hash/hash_testing.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/bgp/values.hpp"
#include "unit/bgp/vectors.hpp"

namespace planed::bgp {
namespace {

using testing::HasSubstr;

const IpAddress kV4 = address("45.0.0.11");
const IpAddress kV6 = address("2001:db8:45::11");

/// Every form that has a length of its own.
std::vector<Route> one_of_each() {
    const RouteDistinguisher leaf = rd(kLeaf2, 100);
    std::vector<Route> routes{
        EthernetAd{.rd = leaf, .esi = kEsi, .tag = kMaxEthernetTag},
        EthernetAd{.rd = leaf, .esi = kEsi, .tag = 0, .label = 100},
        Multicast{.rd = leaf, .originator = kV4},
        Multicast{.rd = leaf, .tag = 7, .originator = kV6},
        Segment{.rd = leaf, .esi = kEsi, .originator = kV4},
        Segment{.rd = leaf, .esi = kEsi, .originator = kV6},
        Prefix{.rd = leaf, .prefix = IpPrefix(kV4, 32), .label = 4001},
        Prefix{.rd = leaf,
               .esi = kEsi,
               .tag = 9,
               .prefix = IpPrefix(kV6, 64),
               .gateway = address("fe80::1"),
               .label = kLabelMax},
    };
    for (const auto& ip : {std::optional<IpAddress>(), std::optional(kV4), std::optional(kV6)}) {
        for (const auto& label2 : {std::optional<Label>(), std::optional<Label>(4001)}) {
            routes.emplace_back(MacIp{.rd = leaf,
                                      .esi = kEsi,
                                      .tag = 100,
                                      .mac = mac(0x11),
                                      .ip = ip,
                                      .label1 = 100,
                                      .label2 = label2});
        }
    }
    return routes;
}

Bytes encoded(const Route& route) {
    Bytes out;
    encode_route(route, out);
    return out;
}

std::span<const std::uint8_t> body(const Bytes& whole) {
    return std::span<const std::uint8_t>(whole).subspan(2);
}

TEST(Routes, ReadBackWhatTheyWrite) {
    for (const Route& route : one_of_each()) {
        const Bytes bytes = encoded(route);

        const auto read = decode_route(bytes[0], body(bytes));

        EXPECT_EQ(bytes.size(), encoded_size(route));
        EXPECT_LE(bytes.size(), kLongestRoute);
        EXPECT_EQ(bytes[1], bytes.size() - 2);
        EXPECT_EQ(bytes[0], type_of(route));
        ASSERT_TRUE(read) << read.error().text;
        EXPECT_EQ(*read, route);
    }
}

TEST(Routes, HaveTheLengthsOfTheRfcs) {
    std::vector<unsigned> lengths;
    for (const Route& route : one_of_each()) {
        lengths.push_back(encoded(route)[1]);
    }

    EXPECT_THAT(lengths,
                testing::ElementsAre(25, 25, 17, 29, 23, 35, 34, 58, 33, 36, 37, 40, 49, 52));
}

TEST(Routes, EndingTooEarlyAreRefused) {
    for (const Route& route : one_of_each()) {
        const Bytes bytes = encoded(route);
        for (std::size_t size = 0; size + 2 < bytes.size(); ++size) {
            const auto read = decode_route(bytes[0], body(bytes).first(size));
            // Two labels less three octets are one label, and 34 octets are an IPv4 prefix.
            const auto* const mac_ip = std::get_if<MacIp>(&route);
            const bool one_label =
                mac_ip != nullptr && mac_ip->label2 && size + 2 + 3 == bytes.size();
            EXPECT_EQ(read.has_value(), one_label) << to_string(route) << " cut to " << size;
        }
    }
}

TEST(Routes, WithOctetsTooManyAreRefused) {
    for (const Route& route : one_of_each()) {
        Bytes bytes = encoded(route);
        bytes.push_back(0);

        const auto read = decode_route(bytes[0], body(bytes));

        ASSERT_FALSE(read.has_value()) << to_string(route);
    }
}

TEST(Routes, OfUnknownTypesAreNoError) {
    const std::array<std::uint8_t, 3> bytes{1, 2, 3};
    for (const std::uint8_t type : std::array<std::uint8_t, 9>{0, 6, 7, 8, 9, 10, 11, 99, 255}) {
        const auto read = decode_route(type, bytes);

        ASSERT_TRUE(read.has_value());
        EXPECT_EQ(*read, std::nullopt);
    }
}

struct Wrong {
    std::size_t at;  // In the body of a type 2 route with an IPv4 address.
    std::uint8_t value;
    std::string text;
};

TEST(Routes, SayWhereTheyAreWrong) {
    const Bytes good = encoded(MacIp{.rd = rd(kLeaf2, 100), .mac = mac(1), .ip = kV4});
    const std::vector<Wrong> wrongs{
        {.at = 22, .value = 40, .text = "MAC address of 40 bits"},
        {.at = 22, .value = 0, .text = "MAC address of 0 bits"},
        {.at = 29, .value = 24, .text = "IP address of 24 bits is neither IPv4 nor IPv6"},
        {.at = 29, .value = 33, .text = "IP address of 33 bits is neither IPv4 nor IPv6"},
    };
    for (const auto& [at, value, text] : wrongs) {
        Bytes bytes = good;
        bytes[at + 2] = value;

        const auto read = decode_route(bytes[0], body(bytes));

        ASSERT_FALSE(read.has_value()) << text;
        EXPECT_EQ(read.error().text, text);
        EXPECT_EQ(read.error().offset, at);
    }
}

TEST(Routes, RefuseAnIpLengthThatTheOctetsDoNotBear) {
    Bytes bytes = encoded(MacIp{.rd = rd(kLeaf2, 100), .mac = mac(1), .ip = kV4});
    bytes[2 + 29] = 128;

    const auto read = decode_route(2, body(bytes));

    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().text, "37 octets are too few");
}

TEST(Routes, RefuseAPrefixLongerThanItsFamily) {
    Bytes bytes = encoded(Prefix{.rd = rd(kLeaf2, 5), .prefix = IpPrefix(kV4, 32)});
    bytes[2 + 22] = 33;

    const auto read = decode_route(5, body(bytes));

    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().text, "prefix length 33 in a field of 32 bits");
}

TEST(Routes, EveryFlippedBitIsAnotherRouteOrAnError) {
    for (const Route& route : one_of_each()) {
        const Bytes good = encoded(route);
        for (std::size_t bit = 0; bit < (good.size() - 2) * 8; ++bit) {
            Bytes bytes = good;
            bytes[2 + bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));

            const auto read = decode_route(bytes[0], body(bytes));

            if (read) {
                ASSERT_NE(*read, std::optional<Route>(route));
                ASSERT_EQ(encoded(**read), bytes);
            }
        }
    }
}

TEST(RouteKey, OfAMacIpLeavesOutSegmentAndLabels) {
    const MacIp full{.rd = rd(kLeaf2, 100),
                     .esi = kEsi,
                     .tag = 5,
                     .mac = mac(1),
                     .ip = kV4,
                     .label1 = 100,
                     .label2 = 4001};
    MacIp zeroed = full;
    zeroed.esi = {};
    zeroed.label1 = 0;
    zeroed.label2.reset();

    EXPECT_EQ(RouteKey(full), RouteKey(zeroed));
    EXPECT_EQ(RouteKey(full).route(), Route(zeroed));
}

TEST(RouteKey, HasAllElseOfAMacIp) {
    const MacIp route{.rd = rd(kLeaf2, 100), .tag = 5, .mac = mac(1), .ip = kV4};
    const auto changed = [&](auto change) {
        MacIp other = route;
        change(other);
        return RouteKey(other);
    };

    EXPECT_NE(RouteKey(route), changed([](MacIp& r) { r.rd = rd(kLeaf3, 100); }));
    EXPECT_NE(RouteKey(route), changed([](MacIp& r) { r.tag = 6; }));
    EXPECT_NE(RouteKey(route), changed([](MacIp& r) { r.mac = mac(2); }));
    EXPECT_NE(RouteKey(route), changed([](MacIp& r) { r.ip.reset(); }));
    EXPECT_NE(RouteKey(route), changed([](MacIp& r) { r.ip = kV6; }));
}

TEST(RouteKey, OfAnEthernetAdHasItsSegmentButNotItsLabel) {
    const EthernetAd route{.rd = rd(kLeaf2, 2), .esi = kEsi, .tag = 0, .label = 100};
    EthernetAd zeroed = route;
    zeroed.label = 0;
    EthernetAd elsewhere = route;
    elsewhere.esi[9] = 2;

    EXPECT_EQ(RouteKey(route), RouteKey(zeroed));
    EXPECT_NE(RouteKey(route), RouteKey(elsewhere));
}

TEST(RouteKey, OfAPrefixLeavesOutSegmentGatewayAndLabel) {
    const Prefix route{.rd = rd(kLeaf2, 5),
                       .esi = kEsi,
                       .prefix = IpPrefix(kV4, 24),
                       .gateway = kV4,
                       .label = 4001};

    EXPECT_EQ(
        RouteKey(route),
        RouteKey(Prefix{.rd = rd(kLeaf2, 5), .prefix = IpPrefix::parse("45.0.0.0/24").value()}));
}

TEST(RouteKey, HashesAsItCompares) {
    std::vector<RouteKey> keys;
    for (const Route& route : one_of_each()) {
        keys.emplace_back(route);
    }

    EXPECT_TRUE(absl::VerifyTypeImplementsAbslHashCorrectly(keys));
}

TEST(Routes, ReadLikeFrrsTables) {
    const RouteDistinguisher leaf = rd(kLeaf2, 100);
    EXPECT_EQ(to_string(Route(MacIp{.rd = leaf, .mac = mac(0x11), .ip = kV4})),
              "10.66.0.2:100 [2]:[0]:[48]:[00:00:00:00:00:11]:[32]:[45.0.0.11]");
    EXPECT_EQ(to_string(Route(MacIp{.rd = leaf, .tag = 7, .mac = mac(0x11)})),
              "10.66.0.2:100 [2]:[7]:[48]:[00:00:00:00:00:11]");
    EXPECT_EQ(to_string(Route(EthernetAd{.rd = leaf, .esi = kEsi, .tag = kMaxEthernetTag})),
              "10.66.0.2:100 [1]:[4294967295]:[03:44:38:39:ff:ff:01:00:00:01]");
    EXPECT_EQ(to_string(Route(Segment{.rd = leaf, .esi = kEsi, .originator = kV6})),
              "10.66.0.2:100 [4]:[03:44:38:39:ff:ff:01:00:00:01]:[128]:[2001:db8:45::11]");
    EXPECT_EQ(to_string(Route(Multicast{.rd = leaf, .originator = kV4})),
              "10.66.0.2:100 [3]:[0]:[32]:[45.0.0.11]");
    EXPECT_EQ(to_string(Route(Prefix{.rd = leaf, .prefix = IpPrefix(kV4, 32)})),
              "10.66.0.2:100 [5]:[0]:[32]:[45.0.0.11]");
}

TEST(RouteDistinguisher, ShowsEachOfItsForms) {
    const auto text = [](std::string_view hex) {
        RouteDistinguisher::Octets octets{};
        std::ranges::copy(from_hex(hex), octets.begin());
        return RouteDistinguisher(octets).to_string();
    };

    EXPECT_EQ(text("0000 fde8 00000064"), "65000:100");
    EXPECT_EQ(text("0001 0a420001 0002"), "10.66.0.1:2");
    EXPECT_EQ(text("0002 00010000 0007"), "65536:7");
    EXPECT_EQ(text("0009 00010000 0007"), "0009000100000007");
    EXPECT_EQ(rd(kLeaf1, 2).to_string(), "10.66.0.1:2");
}

}  // namespace
}  // namespace planed::bgp
