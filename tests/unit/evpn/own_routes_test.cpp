// SPDX-License-Identifier: Apache-2.0
#include "evpn/own_routes.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "bgp/update.hpp"
#include "support/vectors.hpp"
#include "unit/evpn/values.hpp"

namespace planed::evpn {
namespace {

constexpr std::size_t kHeader = 19;  // Marker, length, type.

/// The UPDATE's body.
std::string body_of(const Advertised& advertised) {
    bgp::Bytes out;
    const std::vector<bgp::Route> routes{advertised.route};
    EXPECT_EQ(bgp::encode_reachable(*advertised.path, routes, 4096, out), 1U);
    return fmt::format("{:02x}", fmt::join(out.begin() + kHeader, out.end(), ""));
}

// ORIGIN igp, AS_PATH empty, LOCAL_PREF 100.
const std::string kCommon =
    "40010100"
    "400200"
    "40050400000064";
// AFI, SAFI, next hop 10.66.0.2.
const std::string kReach =
    "001946"
    "040a420002"
    "00";
const std::string kEsi = "03443839ffff01000001";
const std::string kEncapsulation = "030c000000000008";
const std::string kTargetHex = "0002fde800000064";

TEST(OwnRoutes, TypeFourHasItsImportTargetAndOffer) {
    EXPECT_EQ(body_of(segment_route(leaf(2), kEs1, preference(500, DfOffer::kDontPreempt))),
              "0000"
              "004e"
              "800e22" +
                  kReach +
                  "0417"
                  "00010a4200020000" +
                  kEsi +
                  "20"
                  "0a420002" +
                  kCommon + "c01018" + kEncapsulation +
                  "0602443839ffff01"
                  "0606028000"
                  "0001f4");
}

TEST(OwnRoutes, TypeOneOfTheSegmentHasAllTargetsSorted) {
    VrfOptions second = vrf();
    second.route_targets = {bgp::route_target(bgp::AsNumber{65000}, 7), kTarget};
    const std::vector<VrfOptions> vrfs{vrf(), second};

    EXPECT_EQ(body_of(segment_ad(leaf(2), kEs1, vrfs)),
              "0000"
              "0058"
              "800e24" +
                  kReach +
                  "0119"
                  "00010a4200020000" +
                  kEsi +
                  "ffffffff"
                  "000000" +
                  kCommon +
                  "c01020"
                  "0002fde800000007" +
                  kTargetHex + kEncapsulation + "0601000000000000");
}

TEST(OwnRoutes, TypeOneOfAVrfHasItsVni) {
    EXPECT_EQ(body_of(vrf_ad(leaf(2), kEs1, vrf())),
              "0000"
              "0048"
              "800e24" +
                  kReach +
                  "0119"
                  "00010a4200020064" +
                  kEsi +
                  "00000000"
                  "000064" +
                  kCommon + "c01010" + kTargetHex + kEncapsulation);
}

TEST(OwnRoutes, AHostIsToldInTheClassicForm) {
    EXPECT_EQ(body_of(host_route(
                  leaf(2), vrf(), {.esi = kEs1, .mac = mac(0x11), .address = ip("45.0.0.11")})),
              "0000"
              "0054"
              "800e30" +
                  kReach +
                  "0225"
                  "00010a4200020064" +
                  kEsi +
                  "00000000"
                  "30000000000011"
                  "202d00000b"
                  "000064" +
                  kCommon + "c01010" + kTargetHex + kEncapsulation);
}

TEST(OwnRoutes, AMacIsToldAlone) {
    EXPECT_EQ(body_of(host_route(leaf(2), vrf(), {.esi = kEs1, .mac = mac(0x11)})),
              "0000"
              "0050"
              "800e2c" +
                  kReach +
                  "0221"
                  "00010a4200020064" +
                  kEsi +
                  "00000000"
                  "30000000000011"
                  "00"
                  "000064" +
                  kCommon + "c01010" + kTargetHex + kEncapsulation);
}

TEST(OwnRoutes, AHostIsToldInTheL3Form) {
    VrfOptions l3 = vrf(Profile::L3);
    l3.vni = 4001;
    const auto told = host_route(
        leaf(2),
        l3,
        {.esi = kEs1, .mac = mac(0x12), .address = ip("45.0.0.12"), .vlan = VlanId{100}});

    EXPECT_EQ(body_of(told),
              "0000"
              "0057"
              "800e33" +
                  kReach +
                  "0228"
                  "00010a4200020fa1" +
                  kEsi +
                  "00000064"
                  "30000000000012"
                  "202d00000c"
                  "000000"
                  "000fa1" +
                  kCommon + "c01010" + kTargetHex + kEncapsulation);
}

TEST(OwnRoutes, IPv6SaysWhetherItRoutes) {
    Spoken spoken{.esi = kEs1, .mac = mac(0x11), .address = ip("2001:db8:45::11")};

    EXPECT_TRUE(body_of(host_route(leaf(2), vrf(), spoken))
                    .ends_with("c01018" + kTargetHex + kEncapsulation + "0608020000000000"));
    spoken.router = true;
    EXPECT_TRUE(body_of(host_route(leaf(2), vrf(), spoken))
                    .ends_with("c01018" + kTargetHex + kEncapsulation + "0608030000000000"));
}

TEST(OwnRoutes, MobilityIsToldOnlyWhenThereIsSomethingToTell) {
    Spoken spoken{.esi = kEs1, .mac = mac(0x11), .address = ip("45.0.0.11")};
    spoken.mobility = {.sequence = 3};
    EXPECT_TRUE(body_of(host_route(leaf(2), vrf(), spoken))
                    .ends_with(kTargetHex + kEncapsulation + "0600000000000003"));
    spoken.mobility = {.is_static = true};
    EXPECT_TRUE(body_of(host_route(leaf(2), vrf(), spoken))
                    .ends_with(kTargetHex + kEncapsulation + "0600010000000000"));
}

/// What others speak: the same route and communities.
void expect_as_in(const std::string& name,
                  const Advertised& ours,
                  bool with_communities,
                  bgp::PeerKind sender = bgp::PeerKind::Internal) {
    for (const auto& vector : planed::test::load_vectors("bgp/updates.txt")) {
        if (vector.name != name) {
            continue;
        }
        const auto update = bgp::decode_update(std::span(vector.bytes).subspan(kHeader), sender);
        ASSERT_TRUE(update) << name;
        ASSERT_EQ(update->reachable.size(), 1U) << name;
        EXPECT_EQ(update->reachable.front(), ours.route) << name;
        if (with_communities) {
            EXPECT_EQ(update->path.attributes.communities, ours.path->attributes.communities)
                << name;
        }
        return;
    }
    FAIL() << "no vector " << name;
}

TEST(OwnRoutes, AreWhatOtherSpeakersSend) {
    expect_as_in("ad_per_evi", vrf_ad(leaf(2), kEs1, vrf()), true);
    expect_as_in(
        "mac_ip_v4",
        host_route(leaf(2), vrf(), {.esi = kEs1, .mac = mac(0x11), .address = ip("45.0.0.11")}),
        true);
    expect_as_in(
        "mac_ip_v6",
        host_route(
            leaf(2), vrf(), {.esi = kEs1, .mac = mac(0x11), .address = ip("2001:db8:45::11")}),
        false);  // They send no ARP/ND community.
    VrfOptions l3 = vrf(Profile::L3);
    l3.vni = 4001;
    expect_as_in(
        "l3_profile_mac_ip",
        host_route(
            leaf(3),
            l3,
            {.esi = kEs1, .mac = mac(0x12), .address = ip("45.0.0.12"), .vlan = VlanId{100}}),
        false,  // Of another AS.
        bgp::PeerKind::External);
}

}  // namespace
}  // namespace planed::evpn
