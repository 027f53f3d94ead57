// SPDX-License-Identifier: Apache-2.0
// The error classes of RFC 7606, one fault at a time, and how UPDATEs are filled.
#include "bgp/update.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/byte_writer.hpp"
#include "unit/bgp/values.hpp"
#include "unit/bgp/vectors.hpp"

namespace planed::bgp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Attributes, octet by octet.
const std::string kSegmentRoute = "0417 00010a4200030002 03443839ffff01000001 20 0a420003";
const std::string kReachHead = "0019 46 04 0a420003 00";
const std::string kReach = "800e22" + kReachHead + kSegmentRoute;
const std::string kUnreach = "800f1c 0019 46" + kSegmentRoute;
const std::string kOrigin = "400101 00";
const std::string kAsPath = "400200";
const std::string kLocalPref = "400504 00000064";
const std::string kGood = kReach + kOrigin + kAsPath + kLocalPref;
const std::string kGoodOutside = kReach + kOrigin + "400206 0201 0000fdeb";

const Route kRoute = Segment{.rd = rd(kLeaf3, 2), .esi = kEsi, .originator = address("10.66.0.3")};

Bytes body_with(const std::string& attributes) {
    const Bytes bytes = from_hex(attributes);
    Bytes body;
    ByteWriter out(body);
    out.u16(0);
    out.u16(static_cast<std::uint16_t>(bytes.size()));
    out.bytes(bytes);
    return body;
}

Decoded<Update> read(const std::string& attributes, PeerKind peer = PeerKind::Internal) {
    return decode_update(body_with(attributes), peer);
}

struct Case {
    std::string name;
    std::string attributes;
    std::uint8_t subcode;
    std::string text;
};

class Resets : public testing::TestWithParam<Case> {};
std::string name_of_case(const testing::TestParamInfo<Case>& info) {
    return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(
    Update,
    Resets,
    testing::Values(Case{"reach_twice",
                         kGood + kReach,
                         Notification::kMalformedAttributes,
                         "UPDATE: MP_REACH_NLRI: is there twice (byte 74)"},
                    Case{"unreach_twice",
                         kUnreach + kUnreach,
                         Notification::kMalformedAttributes,
                         "UPDATE: MP_UNREACH_NLRI: is there twice (byte 54)"},
                    Case{"reach_flags",
                         "c00e22" + kReachHead + kSegmentRoute + kOrigin + kAsPath + kLocalPref,
                         Notification::kAttributeFlags,
                         "UPDATE: MP_REACH_NLRI: flags 0xc0 instead of 0x80 (byte 23)"},
                    Case{"unreach_flags",
                         "400f03 001946",
                         Notification::kAttributeFlags,
                         "UPDATE: MP_UNREACH_NLRI: flags 0x40 instead of 0x80 (byte 23)"},
                    Case{"attribute_past_the_end_without_routes",
                         kOrigin + "400205 00",
                         Notification::kMalformedAttributes,
                         "UPDATE: AS_PATH: runs past the end (byte 27)"},
                    Case{"reach_past_the_end",
                         kUnreach + "800e22 0019",
                         Notification::kMalformedAttributes,
                         "UPDATE: MP_REACH_NLRI: runs past the end (byte 54)"},
                    Case{"reach_too_short",
                         "800e04 00194600",
                         Notification::kOptionalAttribute,
                         "UPDATE: MP_REACH_NLRI: 4 octets are too few (byte 23)"},
                    Case{"unreach_too_short",
                         "800f02 0019",
                         Notification::kOptionalAttribute,
                         "UPDATE: MP_UNREACH_NLRI: 2 octets are too few (byte 23)"},
                    Case{"next_hop_of_five",
                         "800e0a 001946 05 0a42000300 00",
                         Notification::kOptionalAttribute,
                         "UPDATE: MP_REACH_NLRI: next hop of 5 octets (byte 29)"},
                    Case{"next_hop_of_none",
                         "800e05 001946 00 00",
                         Notification::kOptionalAttribute,
                         "UPDATE: MP_REACH_NLRI: next hop of 0 octets (byte 29)"},
                    Case{"next_hop_past_the_end",
                         "800e08 001946 10 0a420003",
                         Notification::kOptionalAttribute,
                         "UPDATE: MP_REACH_NLRI: 8 octets are too few (byte 23)"},
                    Case{"route_past_the_end",
                         "800e0c" + kReachHead + "0419 00",
                         Notification::kOptionalAttribute,
                         "UPDATE: MP_REACH_NLRI: a route of type 4 runs past the end (byte 35)"},
                    Case{"route_of_one_octet",
                         "800f04 001946 04",
                         Notification::kOptionalAttribute,
                         "UPDATE: MP_UNREACH_NLRI: a route of type 4 runs past the end (byte 29)"},
                    Case{"unknown_well_known",
                         kGood + "404000",
                         Notification::kUnrecognizedWellKnown,
                         "UPDATE: attribute 64: well-known, but not to us (byte 74)"},
                    Case{"error_without_any_route",
                         "400101 03",
                         Notification::kBadOrigin,
                         "UPDATE: ORIGIN: value 3 (byte 23)"},
                    Case{"error_beside_withdrawals_alone",
                         kUnreach + "400101 03",
                         Notification::kBadOrigin,
                         "UPDATE: ORIGIN: value 3 (byte 54)"}),
    name_of_case);

TEST_P(Resets, TheSession) {
    const auto update = read(GetParam().attributes);

    ASSERT_FALSE(update.has_value());
    EXPECT_EQ(update.error().notification.code, Notification::kUpdate);
    EXPECT_EQ(update.error().notification.subcode, GetParam().subcode);
    EXPECT_EQ(update.error().error.text, GetParam().text);
}

TEST(Update, WhoseLengthsDoNotFitResetsTheSession) {
    for (const auto* const hex : {"", "0000", "0001 0000", "0000 0001", "0000 0003 8000"}) {
        const auto update = decode_update(from_hex(hex), PeerKind::Internal);

        ASSERT_FALSE(update.has_value()) << hex;
        EXPECT_EQ(update.error().notification.subcode, Notification::kMalformedAttributes);
        EXPECT_THAT(update.error().error.text, HasSubstr("are more than there are (byte 19)"));
    }
}

class Withdraws : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(
    Update,
    Withdraws,
    testing::Values(
        Case{"no_origin", kReach + kAsPath + kLocalPref, 0, "ORIGIN: is not there (byte 19)"},
        Case{"no_as_path", kReach + kOrigin + kLocalPref, 0, "AS_PATH: is not there (byte 19)"},
        Case{"no_local_pref", kReach + kOrigin + kAsPath, 0, "LOCAL_PREF: is not there (byte 19)"},
        Case{"origin_of_two",
             kReach + "400102 0000" + kAsPath + kLocalPref,
             0,
             "ORIGIN: 2 octets instead of 1 (byte 60)"},
        Case{"origin_three",
             kReach + "400101 03" + kAsPath + kLocalPref,
             0,
             "ORIGIN: value 3 (byte 60)"},
        Case{"origin_flags",
             kReach + "800101 00" + kAsPath + kLocalPref,
             0,
             "ORIGIN: flags 0x80 instead of 0x40 (byte 60)"},
        Case{"as_path_overrun",
             kReach + kOrigin + "400206 0202 0000fde8" + kLocalPref,
             0,
             "AS_PATH: segment of kind 2 with 2 numbers at byte 67 (byte 64)"},
        Case{"as_path_empty_segment",
             kReach + kOrigin + "400202 0200" + kLocalPref,
             0,
             "AS_PATH: segment of kind 2 with 0 numbers at byte 67 (byte 64)"},
        Case{"as_path_unknown_segment",
             kReach + kOrigin + "400206 0501 0000fde8" + kLocalPref,
             0,
             "AS_PATH: segment of kind 5 with 1 numbers at byte 67 (byte 64)"},
        Case{"as_path_one_octet",
             kReach + kOrigin + "400201 02" + kLocalPref,
             0,
             "AS_PATH: segment of kind 2 with 0 numbers at byte 67 (byte 64)"},
        Case{"next_hop_of_three",
             kGood + "400303 0a4200",
             0,
             "NEXT_HOP: 3 octets instead of 4 (byte 74)"},
        Case{"med_of_five",
             kGood + "800405 0000000000",
             0,
             "MULTI_EXIT_DISC: 5 octets instead of 4 (byte 74)"},
        Case{"local_pref_of_none",
             kReach + kOrigin + kAsPath + "400500",
             0,
             "LOCAL_PREF: 0 octets instead of 4 (byte 67)"},
        Case{"communities_of_six",
             kGood + "c00806 000000000000",
             0,
             "COMMUNITIES: 6 octets are no communities (byte 74)"},
        Case{"originator_of_three",
             kGood + "800903 0a4200",
             0,
             "ORIGINATOR_ID: 3 octets instead of 4 (byte 74)"},
        Case{"clusters_of_five",
             kGood + "800a05 0a42000200",
             0,
             "CLUSTER_LIST: 5 octets are no identifiers (byte 74)"},
        Case{"no_clusters",
             kGood + "800a00",
             0,
             "CLUSTER_LIST: 0 octets are no identifiers (byte 74)"},
        Case{"extended_communities_of_seven",
             kGood + "c01007 030c0000000000",
             0,
             "EXTENDED_COMMUNITIES: 7 octets are no communities (byte 74)"},
        Case{"no_extended_communities",
             kGood + "c01000",
             0,
             "EXTENDED_COMMUNITIES: 0 octets are no communities (byte 74)"},
        Case{"pmsi_of_four", kGood + "c01604 00060000", 0, "PMSI_TUNNEL: 4 octets (byte 74)"},
        Case{"pmsi_address_of_three",
             kGood + "c01608 0006000064 0a4200",
             0,
             "PMSI_TUNNEL: 8 octets (byte 74)"},
        Case{"attribute_past_the_end",
             kGood + "c01018 0002",
             0,
             "EXTENDED_COMMUNITIES: runs past the end (byte 74)"},
        Case{"attribute_without_length",
             kGood + "c010",
             0,
             "EXTENDED_COMMUNITIES: runs past the end (byte 74)"}),
    name_of_case);

TEST_P(Withdraws, AllRoutesOfTheMessage) {
    const auto update = read(GetParam().attributes);

    ASSERT_TRUE(update.has_value()) << update.error().error.text;
    EXPECT_THAT(update->withdrawn, ElementsAre(RouteKey(kRoute)));
    EXPECT_THAT(update->reachable, IsEmpty());
    EXPECT_EQ(update->path, Path{});
    ASSERT_THAT(update->faults, SizeIs(1));
    EXPECT_EQ(update->faults[0].kind, Fault::Kind::TreatAsWithdraw);
    EXPECT_EQ(update->faults[0].error.text, "UPDATE: " + GetParam().text);
}

class Discards : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(
    Update,
    Discards,
    testing::Values(
        Case{"origin_again", kGoodOutside + "400101 02", 0, "ORIGIN: is there again (byte 73)"},
        Case{"local_pref_from_outside",
             kGoodOutside + kLocalPref,
             0,
             "LOCAL_PREF: from another AS (byte 73)"},
        Case{"originator_from_outside",
             kGoodOutside + "800904 0a420002",
             0,
             "ORIGINATOR_ID: from another AS (byte 73)"},
        Case{"clusters_from_outside",
             kGoodOutside + "800a05 0a42000200",
             0,
             "CLUSTER_LIST: from another AS (byte 73)"},
        Case{"atomic_aggregate_with_a_value",
             kGoodOutside + "400601 00",
             0,
             "ATOMIC_AGGREGATE: 1 octets instead of none (byte 73)"},
        Case{"aggregator_of_six",
             kGoodOutside + "c00706 fde80a420002",
             0,
             "AGGREGATOR: 6 octets instead of 8 (byte 73)"}),
    name_of_case);

TEST_P(Discards, TheAttributeAlone) {
    const auto whole = read(kGoodOutside, PeerKind::External);

    const auto update = read(GetParam().attributes, PeerKind::External);

    ASSERT_TRUE(update.has_value()) << update.error().error.text;
    EXPECT_THAT(update->reachable, ElementsAre(kRoute));
    EXPECT_EQ(update->path, whole->path);
    ASSERT_THAT(update->faults, SizeIs(1));
    EXPECT_EQ(update->faults[0].kind, Fault::Kind::AttributeDiscarded);
    EXPECT_EQ(update->faults[0].error.text, "UPDATE: " + GetParam().text);
}

// --- One bad route. ---

const std::string kMacIpHead = "00010a4200030064 03443839ffff01000001 00000000";

struct BadRoute {
    std::string hex;
    std::string text;
};

TEST(Update, LeavesOutARouteThatIsWrongInside) {
    const std::vector<BadRoute> routes{
        {"0221" + kMacIpHead + "28 000000000011 00 000064",
         "type 2 route at byte 60: MAC address of 40 bits"},
        {"0221" + kMacIpHead + "30 000000000011 18 000064",
         "type 2 route at byte 60: IP address of 24 bits"},
        {"0225" + kMacIpHead + "30 000000000011 80 2d00000b 000064",
         "type 2 route at byte 60: 37 octets are too few"},
        {"0118 00010a4200030064 03443839ffff01000001 00000000 0000",
         "type 1 route at byte 60: 24 octets are too few"},
        {"0400", "type 4 route at byte 60: 0 octets are too few"},
    };
    for (const auto& [hex, text] : routes) {
        const std::size_t size = from_hex(kReachHead + kSegmentRoute + hex + kSegmentRoute).size();
        const std::string reach = "800e" + std::string(size < 16 ? "0" : "") +
                                  fmt::format("{:x}", size) + kReachHead + kSegmentRoute + hex +
                                  kSegmentRoute;

        const auto update = read(reach + kOrigin + kAsPath + kLocalPref);

        ASSERT_TRUE(update.has_value()) << update.error().error.text;
        EXPECT_THAT(update->reachable, ElementsAre(kRoute, kRoute)) << "before and behind";
        ASSERT_THAT(update->faults, SizeIs(1));
        EXPECT_EQ(update->faults[0].kind, Fault::Kind::RouteSkipped);
        EXPECT_THAT(update->faults[0].error.text, HasSubstr(text));
    }
}

TEST(Update, ShowsTheSkippedRoutesOctets) {
    const auto update = read("800f0a 001946 0405 0102030405");

    ASSERT_TRUE(update.has_value());
    ASSERT_THAT(update->faults, SizeIs(1));
    EXPECT_EQ(update->faults[0].error.text,
              "UPDATE: MP_UNREACH_NLRI: type 4 route at byte 29: 5 octets are too few: 0102030405 "
              "(byte 31)");
    EXPECT_FALSE(update->end_of_rib);
}

TEST(Update, SkipsRoutesOfUnknownTypesWithoutAFault) {
    const auto update = read("800e27" + kReachHead + "0601ff 6300" + kSegmentRoute + kOrigin +
                             kAsPath + kLocalPref);

    ASSERT_TRUE(update.has_value()) << update.error().error.text;
    EXPECT_THAT(update->reachable, ElementsAre(kRoute));
    EXPECT_EQ(update->unknown_routes, 2U);
    EXPECT_THAT(update->faults, IsEmpty());
}

TEST(Update, OfUnknownRoutesAloneIsNoEndOfRib) {
    const auto update = read("800f05 001946 6300");

    ASSERT_TRUE(update.has_value());
    EXPECT_FALSE(update->end_of_rib);
    EXPECT_EQ(update->unknown_routes, 1U);
}

// --- What is kept, and what is none of ours. ---

TEST(Update, KeepsUnknownTransitiveAttributesAndForgetsOthers) {
    const auto update = read(kGood + "c06302 0102" + "806402 0304" + "f0200004 01020304");

    ASSERT_TRUE(update.has_value());
    EXPECT_THAT(update->path.attributes.others,
                ElementsAre(RawAttribute{.flags = 0xC0, .type = 99, .value = {1, 2}},
                            RawAttribute{.flags = 0xE0, .type = 32, .value = {1, 2, 3, 4}}));
    EXPECT_THAT(update->faults, IsEmpty());
}

TEST(Update, ReadsOverOtherFamilies) {
    const auto update = read("800e0d 0001 01 04 0a420003 00 180a0000" + kUnreach);

    ASSERT_TRUE(update.has_value()) << update.error().error.text;
    EXPECT_THAT(update->withdrawn, ElementsAre(RouteKey(kRoute)));
    ASSERT_THAT(update->faults, SizeIs(1));
    EXPECT_EQ(update->faults[0].kind, Fault::Kind::FamilyIgnored);
    EXPECT_EQ(update->faults[0].error.text, "UPDATE: MP_REACH_NLRI: family 1/1 (byte 23)");
}

TEST(Update, ReadsOverIpv4RoutesInTheOldPlaces) {
    Bytes body = from_hex("0004 180a0000 0007 400101 00 400200 180a0001");

    const auto update = decode_update(body, PeerKind::Internal);

    ASSERT_TRUE(update.has_value()) << update.error().error.text;
    EXPECT_THAT(update->faults, SizeIs(1));
    EXPECT_EQ(update->faults[0].kind, Fault::Kind::FamilyIgnored);
}

TEST(Update, ThatIsEmptyIsAnotherFamilysEndOfRib) {
    const auto ipv4 = decode_update(from_hex("0000 0000"), PeerKind::Internal);
    const auto ipv6 = read("800f03 000201");

    EXPECT_FALSE(ipv4->end_of_rib);
    EXPECT_FALSE(ipv6->end_of_rib);
}

TEST(Update, MayHaveAttributesInAnyOrder) {
    const auto first = read(kGood);
    const auto last = read(kLocalPref + kAsPath + kOrigin + kReach);

    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(*last, *first);
}

TEST(Update, ReadsNextHopsOfBothFamilies) {
    const std::string v6 = "fd000000000000000000000000000003";
    const std::string local = "fe800000000000000000000000000003";
    const std::string rest = kOrigin + kAsPath + kLocalPref;

    const auto global = read("800e2e 001946 10" + v6 + "00" + kSegmentRoute + rest);
    const auto both = read("800e3e 001946 20" + v6 + local + "00" + kSegmentRoute + rest);

    ASSERT_TRUE(global.has_value()) << global.error().error.text;
    ASSERT_TRUE(both.has_value()) << both.error().error.text;
    EXPECT_EQ(global->path.next_hop, NextHop{.address = address("fd00::3")});
    EXPECT_EQ(both->path.next_hop,
              (NextHop{.address = address("fd00::3"), .link_local = address("fe80::3")}));
}

TEST(Update, FindsAnAsInItsPath) {
    const auto update = read(kGoodOutside, PeerKind::External);

    EXPECT_TRUE(passed_through(update->path.attributes, AsNumber{65003}));
    EXPECT_FALSE(passed_through(update->path.attributes, kAs));
}

// --- Writing. ---

TEST(Update, ReadsBackEveryAttributeThatItWrites) {
    Path path{.next_hop = {.address = address("fd00::3"), .link_local = address("fe80::3")},
              .attributes = {.origin = Origin::Egp,
                             .as_path = {{.numbers = {kAs, AsNumber{4'200'000'001}}},
                                         {.kind = AsSegment::Kind::Set, .numbers = {kAs}}},
                             .next_hop = address("10.66.0.3"),
                             .med = 7,
                             .local_pref = 200,
                             .originator = kLeaf1,
                             .clusters = {kLeaf2, kLeaf3},
                             .communities = {},
                             .pmsi = PmsiTunnel{.flags = 1, .label = kLabelMax, .id = {1, 2, 3, 4}},
                             .others = {{.type = 99, .value = Bytes(300, 7)}}}};
    for (std::uint32_t i = 0; i < 40; ++i) {  // Longer than a short length can say.
        path.attributes.communities.push_back(route_target(kAs, i));
    }
    const std::vector<Route> routes{kRoute};
    Bytes out;

    EXPECT_EQ(encode_reachable(path, routes, kMessageMax, out), 1U);

    EXPECT_EQ(decode_update(body_of(out), PeerKind::Internal),
              (Update{.reachable = routes, .path = path}));
}

std::vector<Route> hosts(std::uint32_t count) {
    std::vector<Route> routes;
    for (std::uint32_t i = 0; i < count; ++i) {
        routes.emplace_back(MacIp{
            .rd = rd(kLeaf3, 100),
            .esi = kEsi,
            .mac = mac(1),
            .ip = IpAddress::v4(
                10, 0, static_cast<std::uint8_t>(i >> 8U), static_cast<std::uint8_t>(i & 0xFFU)),
            .label1 = 100});
    }
    return routes;
}

TEST(Update, TakesAsManyRoutesAsFit) {
    const Path path{.next_hop = {.address = address("10.66.0.3")},
                    .attributes = {.local_pref = 100, .communities = {route_target(kAs, 100)}}};
    const std::vector<Route> routes = hosts(3000);
    std::span<const Route> rest(routes);
    std::vector<Route> seen;
    std::size_t messages = 0;
    while (!rest.empty()) {
        Bytes out;
        const std::size_t count = encode_reachable(path, rest, kMessageMax, out);
        ASSERT_GT(count, 0U);
        EXPECT_LE(out.size(), kMessageMax);
        EXPECT_TRUE(count == rest.size() || out.size() + encoded_size(routes[0]) > kMessageMax - 1)
            << "another one would have fitted";
        const auto update = decode_update(body_of(out), PeerKind::Internal);
        ASSERT_TRUE(update.has_value());
        seen.insert(seen.end(), update->reachable.begin(), update->reachable.end());
        rest = rest.subspan(count);
        ++messages;
    }

    EXPECT_EQ(seen, routes);
    EXPECT_EQ(messages, 30U);  // 103 in each.
}

TEST(Update, FillsLongMessagesToo) {
    const Path path{.next_hop = {.address = address("10.66.0.3")},
                    .attributes = {.local_pref = 100}};
    const std::vector<Route> routes = hosts(3000);
    Bytes out;

    const std::size_t count = encode_reachable(path, routes, kExtendedMessageMax, out);

    EXPECT_EQ(count, 1679U);
    EXPECT_EQ(decode_update(body_of(out), PeerKind::Internal)->reachable.size(), count);
}

TEST(Update, PacksWithdrawals) {
    std::vector<RouteKey> keys;
    for (const Route& route : hosts(200)) {
        keys.emplace_back(route);
    }
    Bytes out;

    const std::size_t count = encode_withdrawn(keys, kMessageMax, out);

    EXPECT_EQ(count, 104U);
    EXPECT_EQ(decode_update(body_of(out), PeerKind::Internal)->withdrawn,
              std::vector<RouteKey>(keys.begin(), keys.begin() + 104));
}

TEST(Update, WritesNothingWhereNothingFits) {
    const Path path{.attributes = {.others = {{.type = 99, .value = Bytes(4080, 7)}}}};
    const std::vector<Route> routes{kRoute};
    Bytes out;

    EXPECT_EQ(encode_reachable(path, routes, kMessageMax, out), 0U);
    EXPECT_EQ(encode_reachable(path, {}, kMessageMax, out), 0U);
    EXPECT_EQ(encode_withdrawn({}, kMessageMax, out), 0U);
    EXPECT_THAT(out, IsEmpty());
}

}  // namespace
}  // namespace planed::bgp
