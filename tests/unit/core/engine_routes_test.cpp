// SPDX-License-Identifier: Apache-2.0
// zebra, the configuration and the end: what reaches the routing table, and when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "support/leaf.hpp"

namespace planed::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const RouteKey kHostRoute = route_key(VrfId::Default, ip("10.0.0.5"));

std::vector<Output> reload(Leaf& leaf, Config config) {
    return leaf.feed(ConfigChanged{.config = std::make_shared<const Config>(std::move(config))});
}

// Sessions ----------------------------------------------------------------------------------------

TEST(EngineRoutes, ArePushedAgainToAZebraThatRestarted) {
    RailLeaf leaf;
    leaf.zebra.clear();

    EXPECT_THAT(routes_of(leaf.feed(ZapiLost{})), IsEmpty());
    EXPECT_TRUE(leaf.engine.degraded().contains("zebra"));
    const auto outputs = leaf.feed(ZapiUp{.family = "C"});

    EXPECT_THAT(routes_of(outputs), ElementsAre(announces("10.0.0.5", kBr0)));
    EXPECT_EQ(only<CompleteRestart>(outputs).size(), 1U);
    EXPECT_THAT(leaf.engine.degraded(), IsEmpty());
}

TEST(EngineRoutes, AreWithdrawnFromAZebraThatIsBackIfTheirHostDiedMeanwhile) {
    RailLeaf leaf;
    (void)leaf.feed(ZapiLost{});
    (void)leaf.feed(leaf.kernel.cut(without_carrier(leaf.kernel.link(kSwp1))));

    EXPECT_THAT(routes_of(leaf.feed(ZapiUp{.family = "C"})), ElementsAre(withdraws("10.0.0.5")));
    EXPECT_THAT(leaf.zebra, IsEmpty());
}

TEST(EngineRoutes, OfAnEarlierRunAreRemovedByTheReadBackAfterTheRestart) {
    Leaf leaf(serving({"br0"}), rail());
    leaf.zebra[kHostRoute] = route_via(kBr0);  // Nobody knows this host any more.

    const auto outputs = leaf.feed(ZapiUp{.family = "C"});

    EXPECT_EQ(only<StartReadBack>(outputs).size(), 1U);
    EXPECT_THAT(routes_of(outputs), ElementsAre(withdraws("10.0.0.5")));
    EXPECT_TRUE(leaf.engine.milestones().at(Milestone::Ready));
}

TEST(EngineRoutes, DoNotWakeTheLoopForAZebraThatIsAway) {
    RailLeaf leaf;
    (void)leaf.feed(ZapiLost{});

    (void)leaf.run_for(10min);  // Asserts progress at every turn.

    EXPECT_EQ(leaf.engine.totals().routes_desired, 1U);
}

TEST(EngineRoutes, DoNotSpinTheLoopAfterAReadBackThatDidNotFinish) {
    RailLeaf leaf;
    (void)leaf.run_for(50s);
    std::vector<Output> outputs;
    while (only<StartReadBack>(outputs).empty()) {
        leaf.now += 1s;
        outputs = leaf.turn(std::vector<Input>{});
    }
    (void)leaf.turn(ReadBackFinished{.complete = false});

    EXPECT_GT(leaf.engine.wake_at(), leaf.now);
}

TEST(EngineRoutes, ArePutAgainWhenAnAuditDoesNotShowThem) {
    RailLeaf leaf;
    leaf.zebra.clear();

    EXPECT_THAT(routes_of(leaf.run_for(61s)), ElementsAre(announces("10.0.0.5", kBr0)));
}

TEST(EngineRoutes, AreConfirmedByReadBackWhereZebraNeverSaysInstalled) {
    RailLeaf leaf;
    leaf.answer_routes = false;
    (void)leaf.feed({leaf.kernel.set(on_br0("10.0.0.6"), reachable(mac(6))),
                     leaf.kernel.learn(in_br0(mac(6)), kSwp1)});
    EXPECT_EQ(leaf.engine.totals().routes_installed, 1U);
    leaf.zebra[route_key(VrfId::Default, ip("10.0.0.6"))] = route_via(kBr0);

    (void)leaf.run_for(3s);

    EXPECT_EQ(leaf.engine.totals().routes_installed, 2U);
}

TEST(EngineRoutes, CountAsRejectedWhenABetterOneWins) {
    RailLeaf leaf;

    (void)leaf.feed(RouteAnswered{.key = kHostRoute, .answer = RouteAnswer::BetterWon});

    EXPECT_EQ(leaf.engine.totals().routes_rejected, 1U);
    EXPECT_EQ(leaf.engine.routes().state(kHostRoute), SinkState::Rejected);
}

// BGP peers ---------------------------------------------------------------------------------------

TEST(EngineRoutes, AreNotGivenToBgpPeersOfAnFrrThatResolvesOverThem) {
    RailLeaf leaf;
    (void)leaf.feed(ZapiLost{});
    (void)leaf.feed(ZapiUp{.family = "A", .resolves_over_ours = true});

    EXPECT_THAT(routes_of(leaf.feed(BgpPeersSeen{.peers = {ip("10.0.0.5"), ip("10.0.0.9")}})),
                ElementsAre(withdraws("10.0.0.5")));
    EXPECT_THAT(routes_of(leaf.feed(BgpPeersSeen{.peers = {ip("10.0.0.9")}})),
                ElementsAre(announces("10.0.0.5", kBr0)));
}

TEST(EngineRoutes, AreGivenToBgpPeersOfANewerFrr) {
    RailLeaf leaf;

    EXPECT_THAT(leaf.feed(BgpPeersSeen{.peers = {ip("10.0.0.5")}}), IsEmpty());
}

TEST(EngineRoutes, OfBgpPeersGoWhenTheNextFrrIsAnOlderOne) {
    RailLeaf leaf;
    (void)leaf.feed(BgpPeersSeen{.peers = {ip("10.0.0.5")}});
    (void)leaf.feed(ZapiLost{});

    (void)leaf.feed(ZapiUp{.family = "B", .resolves_over_ours = true});

    EXPECT_THAT(leaf.zebra, IsEmpty());
}

// Configuration -----------------------------------------------------------------------------------

TEST(EngineRoutes, FollowAChangedTagWithoutAGap) {
    RailLeaf leaf;
    Config config = serving({"br0"});
    config.routes.tag = 7;

    HostRoute tagged = route_via(kBr0);
    tagged.tag = 7;
    EXPECT_THAT(routes_of(reload(leaf, config)),
                ElementsAre(SendRoute{.key = kHostRoute, .put = tagged}));
}

TEST(EngineRoutes, CanHaveTheHostItselfAsGateway) {
    RailLeaf leaf;
    Config config = serving({"br0"});
    config.routes.nexthop = NextHopForm::Self;

    HostRoute self = route_via(kBr0);
    self.gateway_is_host = true;
    EXPECT_THAT(routes_of(reload(leaf, config)),
                ElementsAre(SendRoute{.key = kHostRoute, .put = self}));
}

TEST(EngineRoutes, AppearForHostsThatWereKnownBeforeTheirInterfaceWasServed) {
    RailLeaf leaf(serving({"other"}));
    EXPECT_THAT(leaf.zebra, IsEmpty());

    EXPECT_THAT(routes_of(reload(leaf, serving({"br0"}))),
                ElementsAre(announces("10.0.0.5", kBr0)));
    EXPECT_THAT(routes_of(reload(leaf, serving({}))), ElementsAre(withdraws("10.0.0.5")));
}

TEST(EngineRoutes, GoWhenTheirHostIsExcludedAndComeBackWhenItIsNot) {
    RailLeaf leaf;
    Config config = serving({"br0"});
    config.interfaces[0].exclude = {prefix("10.0.0.4/30")};

    EXPECT_THAT(routes_of(reload(leaf, config)), ElementsAre(withdraws("10.0.0.5")));
    EXPECT_THAT(routes_of(reload(leaf, serving({"br0"}))),
                ElementsAre(announces("10.0.0.5", kBr0)));
}

TEST(EngineRoutes, AreLeftAloneByAConfigurationThatSaysTheSame) {
    RailLeaf leaf;

    EXPECT_THAT(routes_of(reload(leaf, serving({"br0"}))), IsEmpty());
}

// The end -----------------------------------------------------------------------------------------

TEST(EngineRoutes, AreLeftToZebraWhenPlanedStops) {
    RailLeaf leaf;

    const auto outputs = leaf.turn(StopRequested{});

    EXPECT_THAT(outputs, ElementsAre(Output{Finish{.withdraw = false}}));
}

TEST(EngineRoutes, AreWithdrawnWithTheSessionIfTheConfigurationSaysSo) {
    Config config = serving({"br0"});
    config.on_exit = OnExit::Withdraw;
    RailLeaf leaf(config);

    const auto outputs = leaf.turn(StopRequested{});

    EXPECT_EQ(outputs.back(), Output{Finish{.withdraw = true}});
    EXPECT_THAT(routes_of(outputs), IsEmpty());
    EXPECT_EQ(only<ApplySetting>(outputs).size(), 13U);  // Undone; proxy_delay was 0 before us.
}

TEST(EngineRoutes, EndOnceHoweverOftenPlanedIsToldToStop) {
    RailLeaf leaf;

    const auto outputs = leaf.turn({StopRequested{}, StopRequested{}});

    EXPECT_EQ(only<Finish>(outputs).size(), 1U);
    EXPECT_TRUE(only<Finish>(leaf.turn(StopRequested{})).empty());
}

TEST(EngineRoutes, OfTheDeadAreNotLeftToZebraWhenPlanedStopsInTheSameTurn) {
    RailLeaf leaf;
    std::vector<Input> inputs = leaf.kernel.cut(without_carrier(leaf.kernel.link(kSwp1)));
    inputs.emplace_back(StopRequested{});

    const auto outputs = leaf.turn(inputs);

    EXPECT_THAT(routes_of(outputs), ElementsAre(withdraws("10.0.0.5")));
    EXPECT_EQ(only<Finish>(outputs).size(), 1U);
}

// Bounds and words --------------------------------------------------------------------------------

TEST(EngineRoutes, OfMoreHostsThanATurnPlansComeInTheNextOnes) {
    Leaf leaf(serving({"br0"}), rail());
    constexpr std::size_t kMoreThanATurn = limits::kPlannedPerTurnMax + 10;
    for (std::size_t i = 0; i < kMoreThanATurn; ++i) {
        const NeighborKey key{.link = kBr0,
                              .address = IpAddress::v4(10,
                                                       0,
                                                       static_cast<std::uint8_t>(1 + (i >> 8U)),
                                                       static_cast<std::uint8_t>(i & 0xFFU))};
        (void)leaf.kernel.set(key, in_state(Nud::Permanent, mac(static_cast<std::uint16_t>(i))));
    }

    (void)leaf.turn(ZapiUp{.family = "C"});
    std::vector<Input> rows;
    for (const DumpKind kind :
         {DumpKind::Links, DumpKind::Addresses, DumpKind::Neighbors, DumpKind::Fdb}) {
        for (Input& input : leaf.kernel.dump(kind)) {
            rows.push_back(std::move(input));
        }
    }

    const auto first = leaf.turn(rows);
    EXPECT_EQ(routes_of(first).size(), limits::kPlannedPerTurnMax);
    EXPECT_THAT(only<CompleteRestart>(first), IsEmpty());
    EXPECT_EQ(leaf.engine.wake_at(), leaf.now);
    const auto second = leaf.turn(std::vector<Input>{});
    EXPECT_EQ(routes_of(second).size(), 10U);
    EXPECT_EQ(only<CompleteRestart>(second).size(), 1U);
}

TEST(EngineRoutes, AreExplainedWithTheirReason) {
    RailLeaf leaf;

    EXPECT_EQ(leaf.engine.explain(ip("10.0.0.5")),
              (Verdict{.eligible = true, .reason = "host is alive on br0"}));
    EXPECT_EQ(leaf.engine.explain(ip("10.0.0.9")),
              (Verdict{.eligible = false, .reason = "no neighbour entry"}));
}

TEST(EngineRoutes, DoNotSufferFromAFullNeighborTableButTheStatusSaysSo) {
    RailLeaf leaf;

    (void)leaf.feed(NeighborTableSeen{.family = Family::V4, .entries = 820, .gc_thresh3 = 1024});
    EXPECT_TRUE(leaf.engine.degraded().contains("ipv4 neighbour table"));
    (void)leaf.feed(NeighborTableSeen{.family = Family::V4, .entries = 100, .gc_thresh3 = 1024});
    EXPECT_THAT(leaf.engine.degraded(), IsEmpty());
}

TEST(EngineRoutes, DoNotSufferFromASettingThatIsRefusedAndTheStatusForgetsItOnceItTakes) {
    RailLeaf leaf;
    std::vector<Output> outputs = leaf.run_for(50s);
    while (only<ApplySetting>(outputs).empty()) {
        leaf.now += 1s;
        outputs = leaf.turn(leaf.kernel.dump(DumpKind::Links));
    }
    const ApplySetting apply = only<ApplySetting>(outputs).front();

    (void)leaf.feed(KernelAnswered{.request = apply.request, .error = Error{.text = "refused"}});
    EXPECT_EQ(leaf.engine.degraded().count("setting " + setting_name(apply.setting, apply.name)),
              1U);
    (void)leaf.run_for(2min);

    EXPECT_THAT(leaf.engine.degraded(), IsEmpty());
}

}  // namespace
}  // namespace planed::test
