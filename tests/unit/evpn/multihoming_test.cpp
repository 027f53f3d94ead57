// SPDX-License-Identifier: Apache-2.0
// What of our own is wanted, and when.
#include "evpn/multihoming.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/evpn/one_leaf.hpp"

namespace planed::evpn {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Want as_want(const Advertised& advertised) {
    return {.route = advertised.route, .path = advertised.path};
}
Unwant as_unwant(const Advertised& advertised) {
    return {.key = bgp::RouteKey(advertised.route)};
}
Advertised own_host(std::string_view address, std::uint8_t mac_octet, const Esi& esi = kEs1) {
    return host_route(leaf(1), vrf(), {.esi = esi, .mac = mac(mac_octet), .address = ip(address)});
}
Advertised own_mac(std::uint8_t mac_octet, const Esi& esi = kEs1) {
    return host_route(leaf(1), vrf(), {.esi = esi, .mac = mac(mac_octet)});
}
std::vector<VrfOptions> vrfs() {
    return {vrf()};
}

TEST(Multihoming, ASegmentIsToldWhenItsPortIsUp) {
    OneLeaf leaf1;
    EXPECT_THAT(leaf1.take(), IsEmpty());
    leaf1.multihoming.set_port("bond1", true, leaf1.now);

    EXPECT_THAT(leaf1.take<Want>(),
                ElementsAre(as_want(segment_route(leaf(1), kEs1, preference(100))),
                            as_want(segment_ad(leaf(1), kEs1, vrfs())),
                            as_want(vrf_ad(leaf(1), kEs1, vrf()))));
    leaf1.multihoming.set_port("bond1", true, leaf1.now);
    leaf1.multihoming.set_port("eth7", true, leaf1.now);
    EXPECT_THAT(leaf1.take(), IsEmpty());
}

TEST(Multihoming, HostsBehindASegmentAreToldWithTheirMac) {
    auto leaf1 = OneLeaf::settled();
    leaf1.local("10.0.0.5", 0x11);
    EXPECT_THAT(leaf1.take<Want>(),
                ElementsAre(as_want(own_mac(0x11)), as_want(own_host("10.0.0.5", 0x11))));
    leaf1.local("fd00::5", 0x11);
    EXPECT_THAT(leaf1.take<Want>(), ElementsAre(as_want(own_host("fd00::5", 0x11))));

    leaf1.multihoming.unset_local(host("10.0.0.5"), leaf1.now);
    EXPECT_THAT(leaf1.take<Unwant>(), ElementsAre(as_unwant(own_host("10.0.0.5", 0x11))));
    leaf1.multihoming.unset_local(host("fd00::5"), leaf1.now);
    EXPECT_THAT(leaf1.take<Unwant>(),
                ElementsAre(as_unwant(own_host("fd00::5", 0x11)), as_unwant(own_mac(0x11))));
}

TEST(Multihoming, OtherHostsAreNotTold) {
    auto leaf1 = OneLeaf::settled();
    leaf1.local("10.0.0.5", 0x11, "swp9");
    leaf1.local("fe80::5", 0x11);
    leaf1.local("10.0.0.6", 0);
    leaf1.multihoming.set_local(
        {.vrf = "blue", .address = ip("10.0.0.7")}, {.mac = mac(7), .port = "bond1"}, leaf1.now);

    EXPECT_THAT(leaf1.take(), IsEmpty());
}

TEST(Multihoming, AHostThatChangesIsToldAnew) {
    auto leaf1 = OneLeaf::settled();
    leaf1.local("10.0.0.5", 0x11);
    (void)leaf1.take();

    leaf1.local("10.0.0.5", 0x11);
    EXPECT_THAT(leaf1.take(), IsEmpty());
    leaf1.local("10.0.0.5", 0x12);
    EXPECT_THAT(leaf1.take(),
                ::testing::UnorderedElementsAre(Output(as_unwant(own_mac(0x11))),
                                                Output(as_want(own_mac(0x12))),
                                                Output(as_unwant(own_host("10.0.0.5", 0x11))),
                                                Output(as_want(own_host("10.0.0.5", 0x12)))));
    leaf1.local("10.0.0.5", 0x12, "bond2");
    EXPECT_THAT(
        leaf1.take<Want>(),
        ElementsAre(as_want(own_mac(0x12, kEs2)), as_want(own_host("10.0.0.5", 0x12, kEs2))));
}

TEST(Multihoming, APortThatGoesDownTakesAllBackAndReturnsIt) {
    auto leaf1 = OneLeaf::settled();
    leaf1.local("10.0.0.5", 0x11);
    leaf1.local("10.0.0.6", 0x12, "bond2");
    (void)leaf1.take();
    leaf1.multihoming.set_port("bond1", false, leaf1.now);

    EXPECT_THAT(leaf1.take(),
                ElementsAre(Output(as_unwant(segment_route(leaf(1), kEs1, preference(100)))),
                            Output(as_unwant(segment_ad(leaf(1), kEs1, vrfs()))),
                            Output(as_unwant(vrf_ad(leaf(1), kEs1, vrf()))),
                            Output(as_unwant(own_mac(0x11))),
                            Output(as_unwant(own_host("10.0.0.5", 0x11)))));
    EXPECT_EQ(leaf1.multihoming.segments().front().local, 0U);

    leaf1.multihoming.set_port("bond1", true, leaf1.now);
    EXPECT_EQ(leaf1.take<Want>().size(), 5U);
    EXPECT_EQ(leaf1.multihoming.segments().front().local, 1U);
}

TEST(Multihoming, TheL3ProfileHasNoRouteOfTheMacAlone) {
    auto config = options();
    config.vrfs = {vrf(Profile::L3)};
    auto leaf1 = OneLeaf::settled(config);
    leaf1.multihoming.set_local(
        host("10.0.0.5"), {.mac = mac(5), .port = "bond1", .vlan = VlanId{100}}, leaf1.now);

    EXPECT_THAT(
        leaf1.take<Want>(),
        ElementsAre(as_want(host_route(
            leaf(1),
            vrf(Profile::L3),
            {.esi = kEs1, .mac = mac(5), .address = ip("10.0.0.5"), .vlan = VlanId{100}}))));
}

// --- Startup. ---

TEST(Multihoming, NothingIsToldBeforeStartupIsOver) {
    auto config = options();
    config.startup_delay = 30s;
    OneLeaf leaf1(config);
    leaf1.multihoming.set_port("bond1", true, leaf1.now);
    leaf1.local("10.0.0.5", 0x11);
    leaf1.pass(29s);
    EXPECT_THAT(leaf1.take(), IsEmpty());
    EXPECT_EQ(leaf1.multihoming.wake_at(), OneLeaf::kStart + 30s);

    leaf1.pass(1s);
    EXPECT_EQ(leaf1.take<Want>().size(), 5U);
    EXPECT_EQ(leaf1.multihoming.wake_at(), leaf1.now + 3s) << "the election";
}

TEST(Multihoming, StartupIsOverWhenAllPeersThatAreUpHaveToldAll) {
    auto config = options();
    config.startup_delay = 30s;
    OneLeaf leaf1(config);
    leaf1.multihoming.set_port("bond1", true, leaf1.now);
    leaf1.multihoming.peer_up(ip("10.66.0.2"), leaf1.now);
    leaf1.multihoming.peer_up(ip("10.66.0.3"), leaf1.now);
    leaf1.multihoming.end_of_rib(ip("10.66.0.2"), leaf1.now);
    EXPECT_TRUE(leaf1.multihoming.is_starting());

    leaf1.multihoming.peer_down(ip("10.66.0.3"), leaf1.now);
    EXPECT_FALSE(leaf1.multihoming.is_starting()) << "it is not waited for";
    EXPECT_EQ(leaf1.take<Want>().size(), 3U);
    leaf1.multihoming.peer_up(ip("10.66.0.3"), leaf1.now);
    EXPECT_FALSE(leaf1.multihoming.is_starting()) << "it stays over";
}

// --- Another configuration. ---

TEST(Multihoming, TheSameConfigurationChangesNothing) {
    auto leaf1 = OneLeaf::settled();
    leaf1.local("10.0.0.5", 0x11);
    leaf1.hear(told(2, kEs1, 0x12, "10.0.0.6"));
    (void)leaf1.take();
    leaf1.configure();
    leaf1.config.startup_delay = 1s;
    leaf1.configure();

    EXPECT_THAT(leaf1.take(), IsEmpty());
}

TEST(Multihoming, ASegmentLessIsTakenBackAlone) {
    auto leaf1 = OneLeaf::settled();
    leaf1.local("10.0.0.5", 0x11);
    leaf1.local("10.0.0.6", 0x12, "bond2");
    leaf1.hear(told(2, kEs1, 0x13, "10.0.0.7"));
    (void)leaf1.take();
    const auto all = leaf1.config.segments;
    leaf1.config.segments.erase(leaf1.config.segments.begin());
    leaf1.configure();

    const auto outputs = leaf1.take();
    EXPECT_EQ(only<Unwant>(outputs).size(), 5U);
    EXPECT_THAT(only<SyncedGone>(outputs), ElementsAre(SyncedGone{.key = host("10.0.0.7")}));
    EXPECT_EQ(outputs.size(), 6U);

    leaf1.config.segments = all;
    leaf1.configure();
    const auto back = leaf1.take();
    EXPECT_EQ(only<Want>(back).size(), 5U);
    EXPECT_EQ(only<Synced>(back).size(), 1U) << "what was heard before is not forgotten";
    EXPECT_EQ(back.size(), 6U);
}

TEST(Multihoming, AnotherNextHopIsToldInPlace) {
    auto leaf1 = OneLeaf::settled();
    leaf1.local("10.0.0.5", 0x11);
    (void)leaf1.take();
    leaf1.config.next_hop = ip("10.66.0.9");
    leaf1.configure();

    const auto outputs = leaf1.take();
    EXPECT_EQ(only<Want>(outputs).size(), 8U);
    EXPECT_EQ(only<Unwant>(outputs).size(), 2U) << "types 4: the originator is in their key";
}

TEST(Multihoming, AnotherProfileIsToldInPlaceOfTheFirst) {
    auto leaf1 = OneLeaf::settled();
    leaf1.local("10.0.0.5", 0x11);
    (void)leaf1.take();
    leaf1.config.vrfs = {vrf(Profile::L3)};
    leaf1.configure();

    const auto outputs = leaf1.take();
    EXPECT_THAT(only<Unwant>(outputs), ElementsAre(as_unwant(own_mac(0x11))));
    EXPECT_THAT(only<Want>(outputs),
                ElementsAre(as_want(
                    host_route(leaf(1),
                               vrf(Profile::L3),
                               {.esi = kEs1, .mac = mac(0x11), .address = ip("10.0.0.5")}))));
}

TEST(Multihoming, AnotherPreferenceIsToldByTypeFourAlone) {
    auto leaf1 = OneLeaf::settled();
    leaf1.config.segments.front().df = preference(7);
    leaf1.configure();

    EXPECT_THAT(leaf1.take(),
                ElementsAre(Output(as_want(segment_route(leaf(1), kEs1, preference(7))))));
}

TEST(Multihoming, OfTwoSegmentsOnOnePortTheFirstCounts) {
    auto config = options();
    config.segments[1].port = "bond1";
    OneLeaf leaf1(config);

    const auto notes = leaf1.take<Note>();
    ASSERT_EQ(notes.size(), 1U);
    EXPECT_EQ(notes[0].id, "evpn.segment_ignored");
    EXPECT_EQ(leaf1.multihoming.segments().size(), 1U);
}

// --- Roles. ---

TEST(Multihoming, ShowsItsRoleAmongTheLeavesOfTheSegment) {
    OneLeaf leaf1;
    leaf1.multihoming.set_port("bond1", true, leaf1.now);
    leaf1.hear(segment_route(leaf(2), kEs1, preference(200)), ip("10.66.0.9"));
    leaf1.hear(segment_ad(leaf(2), kEs1, vrfs()), ip("10.66.0.9"));
    leaf1.pass(3s);

    const SegmentView view = leaf1.multihoming.segments().front();
    ASSERT_EQ(view.roles.size(), 1U);
    const VrfRoleView& role = view.roles.front();
    EXPECT_EQ(role.role, DfRole::Backup);
    EXPECT_EQ(role.result.forwarder, leaf(2).next_hop);
    EXPECT_EQ(role.result.algorithm, DfAlgorithm::HighestPreference);
    EXPECT_THAT(role.candidates,
                ElementsAre(DfCandidate{.originator = leaf(1).next_hop, .offer = preference(100)},
                            DfCandidate{.originator = leaf(2).next_hop,
                                        .offer = preference(200),
                                        .has_segment_route = true,
                                        .has_tag_route = false}));
}

TEST(Multihoming, WhoComesBackBehindAnotherLeafSaysSo) {
    const DfOffer configured = preference(100, DfOffer::kDontPreempt);
    auto config = options();
    config.segments.front().df = configured;
    OneLeaf leaf1(config);
    const auto other = segment_route(leaf(2), kEs1, configured);
    leaf1.hear(other);
    leaf1.multihoming.set_port("bond1", true, leaf1.now);
    EXPECT_EQ(leaf1.take<Want>().front(), as_want(segment_route(leaf(1), kEs1, preference(100))));
    leaf1.pass(3s);
    EXPECT_EQ(leaf1.multihoming.segments().front().roles.front().role, DfRole::Backup);

    leaf1.lose(other);
    EXPECT_THAT(leaf1.take<Want>(), ElementsAre(as_want(segment_route(leaf(1), kEs1, configured))));
    EXPECT_EQ(leaf1.multihoming.segments().front().roles.front().role, DfRole::Df);
}

}  // namespace
}  // namespace planed::evpn
