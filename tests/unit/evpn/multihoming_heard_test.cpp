// SPDX-License-Identifier: Apache-2.0
// What peers tell, and what the engine is to take over of it.
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/evpn/one_leaf.hpp"

namespace planed::evpn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const IpAddress kReflector = ip("10.66.0.100");

Synced synced(std::string_view address, std::uint8_t mac_octet, std::uint8_t from) {
    return {.key = host(address),
            .mac = mac(mac_octet),
            .esi = kEs1,
            .port = "bond1",
            .peer = leaf(from).next_hop};
}
SyncedGone synced_gone(std::string_view address) {
    return {.key = host(address)};
}
Advertised segment_ad_of(std::uint8_t from, const Esi& esi = kEs1) {
    return segment_ad(leaf(from), esi, std::vector<VrfOptions>{vrf()});
}
Advertised with_targets(Advertised advertised, std::vector<bgp::ExtendedCommunity> targets) {
    bgp::Path path = *advertised.path;
    path.attributes.communities = std::move(targets);
    advertised.path = std::make_shared<const bgp::Path>(std::move(path));
    return advertised;
}
bgp::ExtendedCommunity proxy() {
    return bgp::arp_nd({.proxy = true});
}
std::uint64_t count_of(const OneLeaf& leaf1, Verdict verdict) {
    return leaf1.multihoming.counters().hosts_heard[static_cast<std::size_t>(verdict)];
}

TEST(MultihomingHeard, AHostOnASegmentOfOursIsSynced) {
    auto leaf1 = OneLeaf::settled();
    leaf1.hear(told(2, kEs1, 0x11, "10.0.0.5"));
    EXPECT_THAT(leaf1.take(), ElementsAre(Output(synced("10.0.0.5", 0x11, 2))));
    EXPECT_EQ(leaf1.multihoming.segments().front().synced, 1U);
    leaf1.hear(told(2, kEs1, 0x11, "10.0.0.5"));
    EXPECT_THAT(leaf1.take(), IsEmpty()) << "told again";

    leaf1.lose(told(2, kEs1, 0x11, "10.0.0.5"));
    EXPECT_THAT(leaf1.take(), ElementsAre(Output(synced_gone("10.0.0.5"))));
    EXPECT_EQ(leaf1.multihoming.segments().front().synced, 0U);
}

TEST(MultihomingHeard, IsNeverToldOnByUs) {
    auto leaf1 = OneLeaf::settled();
    leaf1.hear(told(2, kEs1, 0x11, "10.0.0.5"));

    EXPECT_THAT(leaf1.take<Want>(), IsEmpty());
}

TEST(MultihomingHeard, IsSyncedWhileOurPortIsDown) {
    OneLeaf leaf1;
    leaf1.hear(told(2, kEs1, 0x11, "10.0.0.5"));

    EXPECT_THAT(leaf1.take(), ElementsAre(Output(synced("10.0.0.5", 0x11, 2))));
}

TEST(MultihomingHeard, BothProfilesAreTakenAtOnce) {
    auto leaf1 = OneLeaf::settled();
    leaf1.hear(host_route(
        leaf(2),
        vrf(Profile::L3),
        {.esi = kEs1, .mac = mac(0x11), .address = ip("10.0.0.5"), .vlan = VlanId{100}}));

    Synced expected = synced("10.0.0.5", 0x11, 2);
    expected.vlan = VlanId{100};
    EXPECT_THAT(leaf1.take(), ElementsAre(Output(expected)));
}

TEST(MultihomingHeard, AForeignTagAndNoLabelAreNoHindrance) {
    auto leaf1 = OneLeaf::settled();
    Advertised advertised = told(2, kEs1, 0x11, "10.0.0.5");
    auto& route = std::get<bgp::MacIp>(advertised.route);
    route.tag = 77;
    route.label1 = 0;
    leaf1.hear(advertised);

    EXPECT_THAT(leaf1.take(), ElementsAre(Output(synced("10.0.0.5", 0x11, 2))));
}

TEST(MultihomingHeard, IsTheHostOfTheLeafAndNotOfTheReflector) {
    auto leaf1 = OneLeaf::settled();
    leaf1.hear(told(2, kEs1, 0x11, "10.0.0.5"), kReflector);
    leaf1.hear(segment_ad_of(2), kReflector);
    leaf1.hear(told(3, kEs1, 0x12, "10.0.0.6"), kReflector);
    EXPECT_THAT(
        leaf1.take(),
        ElementsAre(Output(synced("10.0.0.5", 0x11, 2)), Output(synced("10.0.0.6", 0x12, 3))));

    leaf1.lose(segment_ad_of(2), kReflector);
    EXPECT_THAT(leaf1.take(), ElementsAre(Output(synced_gone("10.0.0.5"))))
        << "leaf 3 has nothing to do with it";
}

TEST(MultihomingHeard, TwoReflectorsTellOneHost) {
    auto leaf1 = OneLeaf::settled();
    const auto host5 = told(2, kEs1, 0x11, "10.0.0.5");
    leaf1.hear(host5, kReflector);
    leaf1.hear(host5, ip("10.66.0.101"));
    EXPECT_EQ(leaf1.take().size(), 1U);
    leaf1.lose(host5, kReflector);
    EXPECT_THAT(leaf1.take(), IsEmpty());
    leaf1.lose(host5, ip("10.66.0.101"));
    EXPECT_THAT(leaf1.take(), ElementsAre(Output(synced_gone("10.0.0.5"))));
}

// --- What is not taken. ---

TEST(MultihomingHeard, OurOwnRoutesComeBackForNothing) {
    auto leaf1 = OneLeaf::settled();
    leaf1.hear(told(1, kEs1, 0x11, "10.0.0.5"), kReflector);
    leaf1.hear(segment_ad_of(1), kReflector);
    leaf1.hear(segment_route(leaf(1), kEs1, preference(100)), kReflector);

    EXPECT_THAT(leaf1.take(), IsEmpty());
    EXPECT_EQ(count_of(leaf1, Verdict::OwnRoute), 1U);
    EXPECT_EQ(leaf1.multihoming.segments().front().roles.front().candidates.size(), 1U);
}

TEST(MultihomingHeard, SegmentsThatAreNotOursSyncNothing) {
    auto leaf1 = OneLeaf::settled();
    leaf1.hear(told(2, kElsewhere, 0x11, "10.0.0.5"));
    leaf1.hear(told(2, std::nullopt, 0x12, "10.0.0.6"));

    EXPECT_THAT(leaf1.take(), IsEmpty());
}

TEST(MultihomingHeard, WhatCanBeNoHostIsCounted) {
    auto leaf1 = OneLeaf::settled();
    for (const auto* address : {"224.0.0.5", "127.0.0.1", "0.0.0.0", "169.254.0.1", "fe80::1"}) {
        leaf1.hear(told(2, kEs1, 0x11, address));
    }
    Advertised advertised = told(2, kEs1, 0, "10.0.0.5");
    leaf1.hear(advertised);
    std::get<bgp::MacIp>(advertised.route).mac = MacAddress({1, 0, 0, 0, 0, 1});
    leaf1.hear(advertised);

    EXPECT_THAT(leaf1.take(), IsEmpty());
    EXPECT_EQ(count_of(leaf1, Verdict::BadAddress), 5U);
    EXPECT_EQ(count_of(leaf1, Verdict::BadMac), 2U);
}

TEST(MultihomingHeard, AForeignRouteTargetIsAnAlarmOfThatPeer) {
    auto leaf1 = OneLeaf::settled();
    const auto foreign = bgp::route_target(bgp::AsNumber{65000}, 999);
    const auto first = with_targets(told(2, kEs1, 0x11, "10.0.0.5"), {foreign});
    const auto second = with_targets(told(2, kEs1, 0x12, "10.0.0.6"), {foreign});
    leaf1.hear(first);
    const auto outputs = leaf1.take();
    ASSERT_EQ(only<Alarm>(outputs).size(), 1U);
    EXPECT_EQ(only<Alarm>(outputs)[0].id, "evpn.route_target 10.66.0.2");
    EXPECT_EQ(only<Note>(outputs).size(), 1U);
    leaf1.hear(second);
    EXPECT_THAT(leaf1.take(), IsEmpty()) << "once";
    EXPECT_EQ(count_of(leaf1, Verdict::NoRouteTarget), 2U);

    leaf1.lose(first);
    EXPECT_THAT(leaf1.take(), IsEmpty());
    leaf1.hear(told(2, kEs1, 0x12, "10.0.0.6"));
    EXPECT_THAT(leaf1.take(),
                ElementsAre(Output(synced("10.0.0.6", 0x12, 2)),
                            Output(AlarmGone{.id = "evpn.route_target 10.66.0.2"})));
}

TEST(MultihomingHeard, TheRouteTargetNamesTheVrf) {
    auto config = options();
    const auto blue = bgp::route_target(bgp::AsNumber{65000}, 200);
    config.vrfs.push_back({.name = "blue", .vni = 200, .route_targets = {blue}});
    auto leaf1 = OneLeaf::settled(config);
    leaf1.hear(with_targets(told(2, kEs1, 0x11, "10.0.0.5"), {blue}));

    const auto all = leaf1.take<Synced>();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].key, (BindingKey{.vrf = "blue", .address = ip("10.0.0.5")}));
}

TEST(MultihomingHeard, WhatIsSecondHandIsNoBinding) {
    auto leaf1 = OneLeaf::settled();
    leaf1.hear(told(2, kEs1, 0x11, "10.0.0.5", {proxy()}));
    EXPECT_THAT(leaf1.take(), IsEmpty());
    leaf1.hear(told(2, kEs1, 0x11, "10.0.0.5"));
    EXPECT_THAT(leaf1.take(), ElementsAre(Output(synced("10.0.0.5", 0x11, 2))));
    leaf1.hear(told(2, kEs1, 0x11, "10.0.0.5", {proxy()}));

    EXPECT_THAT(leaf1.take(), ElementsAre(Output(synced_gone("10.0.0.5"))));
    EXPECT_EQ(leaf1.multihoming.counters().second_hand, 2U);
}

// --- The gate. ---

TEST(MultihomingHeard, ALeafWithoutTypeOneIsBelieved) {
    auto leaf1 = OneLeaf::settled();
    leaf1.hear(told(2, kEs1, 0x11, "10.0.0.5"));
    leaf1.lose(segment_ad_of(2));  // It never was.

    EXPECT_THAT(leaf1.take(), ElementsAre(Output(synced("10.0.0.5", 0x11, 2))));
}

TEST(MultihomingHeard, TypeOneGoesAndAllHostsOfItsSegmentWithIt) {
    auto leaf1 = OneLeaf::settled();
    leaf1.hear(segment_ad_of(2));
    leaf1.hear(segment_ad_of(2, kEs2));
    leaf1.hear(told(2, kEs1, 0x11, "10.0.0.5"));
    leaf1.hear(told(2, kEs1, 0x12, "10.0.0.6"));
    leaf1.hear(told(2, kEs2, 0x13, "10.0.0.7"));
    (void)leaf1.take();
    leaf1.lose(segment_ad_of(2));
    EXPECT_THAT(leaf1.take(),
                ElementsAre(Output(synced_gone("10.0.0.5")), Output(synced_gone("10.0.0.6"))));
    EXPECT_EQ(leaf1.multihoming.counters().mass_withdrawals, 1U);

    leaf1.lose(told(2, kEs1, 0x12, "10.0.0.6"));
    leaf1.hear(told(2, kEs1, 0x14, "10.0.0.8"));
    EXPECT_THAT(leaf1.take(), IsEmpty()) << "it counts only with a type 1 from now on";
    leaf1.hear(segment_ad_of(2));
    EXPECT_THAT(
        leaf1.take(),
        ElementsAre(Output(synced("10.0.0.5", 0x11, 2)), Output(synced("10.0.0.8", 0x14, 2))));
}

TEST(MultihomingHeard, TypeOneWithOtherTargetsClosesNothing) {
    auto leaf1 = OneLeaf::settled();
    leaf1.hear(segment_ad_of(2));
    leaf1.hear(told(2, kEs1, 0x11, "10.0.0.5"));
    (void)leaf1.take();
    leaf1.hear(with_targets(segment_ad_of(2), {kTarget}));

    EXPECT_THAT(leaf1.take(), IsEmpty());
    EXPECT_EQ(leaf1.multihoming.counters().mass_withdrawals, 0U);
}

TEST(MultihomingHeard, ASessionThatIsLostLosesNothing) {
    auto leaf1 = OneLeaf::settled();
    leaf1.multihoming.peer_up(leaf(2).next_hop, leaf1.now);
    leaf1.hear(segment_ad_of(2));
    leaf1.hear(told(2, kEs1, 0x11, "10.0.0.5"));
    (void)leaf1.take();
    leaf1.multihoming.peer_down(leaf(2).next_hop, leaf1.now);
    leaf1.pass(1h);
    EXPECT_THAT(leaf1.take(), IsEmpty());

    leaf1.lose(segment_ad_of(2));  // It said goodbye: all of its routes go.
    leaf1.lose(told(2, kEs1, 0x11, "10.0.0.5"));
    EXPECT_THAT(leaf1.take(), ElementsAre(Output(synced_gone("10.0.0.5"))));
}

// --- Several leaves. ---

TEST(MultihomingHeard, IsGoneWhenTheLastLeafHasItNoMore) {
    auto leaf1 = OneLeaf::settled();
    leaf1.hear(told(3, kEs1, 0x11, "10.0.0.5"));
    leaf1.hear(told(2, kEs1, 0x11, "10.0.0.5"));
    EXPECT_THAT(
        leaf1.take(),
        ElementsAre(Output(synced("10.0.0.5", 0x11, 3)), Output(synced("10.0.0.5", 0x11, 2))));
    leaf1.lose(told(2, kEs1, 0x11, "10.0.0.5"));
    EXPECT_THAT(leaf1.take(), ElementsAre(Output(synced("10.0.0.5", 0x11, 3))));
    leaf1.lose(told(3, kEs1, 0x11, "10.0.0.5"));
    EXPECT_THAT(leaf1.take(), ElementsAre(Output(synced_gone("10.0.0.5"))));
}

TEST(MultihomingHeard, OfTwoMacsTheHigherNumberIsIt) {
    auto leaf1 = OneLeaf::settled();
    leaf1.hear(told(2, kEs1, 0x11, "10.0.0.5"));
    leaf1.hear(told(3, kEs1, 0x12, "10.0.0.5"));
    EXPECT_THAT(leaf1.take(), ElementsAre(Output(synced("10.0.0.5", 0x11, 2)))) << "lower leaf";
    leaf1.hear(told(3, kEs1, 0x12, "10.0.0.5", {moved(0, true)}));
    Synced fixed = synced("10.0.0.5", 0x12, 3);
    fixed.is_static = true;
    EXPECT_THAT(leaf1.take(), ElementsAre(Output(fixed)));
    leaf1.hear(told(2, kEs1, 0x11, "10.0.0.5", {moved(1)}));

    EXPECT_THAT(leaf1.take(), ElementsAre(Output(synced("10.0.0.5", 0x11, 2))));
}

// --- Mobility. ---

bgp::MacMobility mobility_of(const Want& want) {
    return bgp::first_of<bgp::MacMobility>(want.path->attributes.communities, bgp::as_mac_mobility)
        .value_or(bgp::MacMobility{});
}

TEST(MultihomingHeard, AHostFromElsewhereIsToldWithTheNextNumber) {
    auto leaf1 = OneLeaf::settled();
    leaf1.hear(told(2, kElsewhere, 0x11, "10.0.0.5", {moved(3)}));
    leaf1.local("10.0.0.5", 0x11);

    const auto outputs = leaf1.take();
    ASSERT_EQ(only<Want>(outputs).size(), 2U);
    for (const Want& want : only<Want>(outputs)) {
        EXPECT_EQ(mobility_of(want).sequence, 4U);
    }
    ASSERT_EQ(only<Alarm>(outputs).size(), 1U);
    EXPECT_EQ(only<Alarm>(outputs)[0],
              (Alarm{.id = "evpn.esi_mismatch 00:00:00:00:00:11",
                     .text = "00:00:00:00:00:11 is on our segment 03:44:38:39:ff:ff:01:00:00:01 "
                             "and with ESI 03:44:38:39:ff:ff:09:00:00:09 on leaf 10.66.0.2"}));

    leaf1.lose(told(2, kElsewhere, 0x11, "10.0.0.5"));
    EXPECT_THAT(leaf1.take(),
                ElementsAre(Output(AlarmGone{.id = "evpn.esi_mismatch 00:00:00:00:00:11"})))
        << "its number stays";
}

TEST(MultihomingHeard, OnOneSegmentBothHaveTheSameNumberAndNoAlarm) {
    auto leaf1 = OneLeaf::settled();
    leaf1.local("10.0.0.5", 0x11);
    leaf1.local("10.0.0.6", 0x11);
    (void)leaf1.take();
    leaf1.hear(told(2, kEs1, 0x11, "10.0.0.5", {moved(2)}));

    const auto outputs = leaf1.take();
    EXPECT_THAT(only<Alarm>(outputs), IsEmpty());
    ASSERT_EQ(only<Want>(outputs).size(), 3U) << "all routes of the MAC";
    for (const Want& want : only<Want>(outputs)) {
        EXPECT_EQ(mobility_of(want).sequence, 2U);
    }
}

TEST(MultihomingHeard, TwoNamesForOneBondAreAnAlarmAndNoRace) {
    auto leaf1 = OneLeaf::settled();
    auto config = options(2);
    config.segments = {{.esi = kElsewhere, .port = "bond1"}};
    OneLeaf leaf2(config);
    leaf2.multihoming.set_port("bond1", true, leaf2.now);
    leaf1.local("10.0.0.5", 0x11);
    leaf2.local("10.0.0.5", 0x11);
    std::size_t exchanged = 0;
    for (bool busy = true; busy && exchanged < 1000;) {
        busy = false;
        for (auto [from, to, of] : {std::tuple(&leaf1, &leaf2, 1), std::tuple(&leaf2, &leaf1, 2)}) {
            for (const Want& want : from->take<Want>()) {
                to->multihoming.heard(
                    leaf(static_cast<std::uint8_t>(of)).next_hop, want.route, want.path, to->now);
                busy = true;
                ++exchanged;
            }
        }
    }
    EXPECT_LT(exchanged, 50U);
    ASSERT_EQ(leaf1.multihoming.alarms().size(), 1U);
    ASSERT_EQ(leaf2.multihoming.alarms().size(), 1U);
    EXPECT_NE(
        (leaf1.multihoming.alarms().begin()->second + leaf2.multihoming.alarms().begin()->second)
            .find("; its number stays at "),
        std::string::npos);
    EXPECT_LE(leaf1.multihoming.counters().moves, MacMobility::kRisesMax);
}

TEST(MultihomingHeard, AStaticHostThatIsClaimedElsewhereIsAnAlarm) {
    auto leaf1 = OneLeaf::settled();
    leaf1.local("10.0.0.5", 0x11, "bond1", true);
    ASSERT_EQ(mobility_of(leaf1.take<Want>().front()), (bgp::MacMobility{.is_static = true}));
    leaf1.hear(told(2, kElsewhere, 0x11, "10.0.0.5", {moved(3)}));

    const auto outputs = leaf1.take();
    EXPECT_EQ(outputs.size(), 1U) << "no move";
    ASSERT_EQ(only<Alarm>(outputs).size(), 1U);
    EXPECT_EQ(only<Alarm>(outputs)[0].id, "evpn.static_claimed 00:00:00:00:00:11");
    leaf1.multihoming.set_port("bond1", false, leaf1.now);
    EXPECT_EQ(leaf1.take<AlarmGone>().size(), 1U);
}

TEST(MultihomingHeard, OneMacOnTwoSegmentsIsAnAlarm) {
    auto leaf1 = OneLeaf::settled();
    leaf1.hear(told(2, kEs1, 0x11, "10.0.0.5"));
    leaf1.hear(told(2, kEs2, 0x11, "10.0.0.6"));
    const auto alarms = leaf1.take<Alarm>();
    ASSERT_EQ(alarms.size(), 1U);
    EXPECT_EQ(alarms[0].id, "evpn.mac_on_two_segments 00:00:00:00:00:11");

    leaf1.lose(told(2, kEs2, 0x11, "10.0.0.6"));
    EXPECT_EQ(leaf1.take<AlarmGone>().size(), 1U);
}

// --- Type 4. ---

TEST(MultihomingHeard, AnotherLeafWithOurOriginatorIsAnAlarm) {
    auto leaf1 = OneLeaf::settled();
    Advertised other = segment_route(leaf(2), kEs1, preference(100));
    std::get<bgp::Segment>(other.route).originator = leaf(1).next_hop;
    leaf1.hear(other);
    const auto alarms = leaf1.take<Alarm>();
    ASSERT_EQ(alarms.size(), 1U);
    EXPECT_EQ(alarms[0].id, "evpn.same_originator 03:44:38:39:ff:ff:01:00:00:01");
    EXPECT_EQ(leaf1.multihoming.segments().front().roles.front().candidates.size(), 1U);
    leaf1.config.startup_delay = 1s;
    leaf1.configure();
    EXPECT_THAT(leaf1.take(), IsEmpty()) << "it stands";

    leaf1.lose(other);
    EXPECT_EQ(leaf1.take<AlarmGone>().size(), 1U);
}

TEST(MultihomingHeard, AWrongImportTargetIsNotedAndTheEsiDecides) {
    auto leaf1 = OneLeaf::settled();
    leaf1.hear(with_targets(segment_route(leaf(2), kEs1, preference(100)),
                            {bgp::es_import(kElsewhere.octets())}));

    EXPECT_EQ(leaf1.take<Note>().size(), 1U);
    EXPECT_EQ(leaf1.multihoming.counters().wrong_es_import, 1U);
    EXPECT_EQ(leaf1.multihoming.segments().front().roles.front().candidates.size(), 2U);
}

// --- Size. ---

TEST(MultihomingHeard, TenThousandHostsGoWithOneRoute) {
    constexpr std::size_t kHosts = 10'000;
    auto leaf1 = OneLeaf::settled();
    leaf1.hear(segment_ad_of(2));
    const auto path = told(2, kEs1, 1, "10.0.0.1").path;
    for (std::size_t i = 0; i < kHosts; ++i) {
        const auto high = static_cast<std::uint8_t>(i >> 8U);
        const auto low = static_cast<std::uint8_t>(i & 0xFFU);
        leaf1.multihoming.heard(
            leaf(2).next_hop,
            bgp::MacIp{.rd = bgp::RouteDistinguisher::of(leaf(2).router_id, kVni),
                       .esi = kEs1.octets(),
                       .mac = MacAddress({0, 0, 0, 1, high, low}),
                       .ip = IpAddress::v4(10, 1, high, low),
                       .label1 = kVni},
            path,
            leaf1.now);
    }
    EXPECT_EQ(leaf1.take<Synced>().size(), kHosts);
    leaf1.lose(segment_ad_of(2));

    EXPECT_EQ(leaf1.take<SyncedGone>().size(), kHosts);
    EXPECT_EQ(leaf1.multihoming.segments().front().synced, 0U);
}

}  // namespace
}  // namespace planed::evpn
