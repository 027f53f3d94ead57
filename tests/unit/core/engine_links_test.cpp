// SPDX-License-Identifier: Apache-2.0
// Ports, interfaces and their addresses: what takes hosts away at once, and what brings them back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "support/leaf.hpp"

namespace planed::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr IfIndex kBr1{11};

std::vector<NeighborKey> probed(const std::vector<Output>& outputs) {
    std::vector<NeighborKey> keys;
    for (const WriteNeighbor& write : only<WriteNeighbor>(outputs)) {
        keys.push_back(write.key);
    }
    return keys;
}

// Ports -------------------------------------------------------------------------------------------

TEST(EngineLinks, WithdrawInTheSameTurnWhenThePortIsCut) {
    RailLeaf leaf;

    const auto outputs = leaf.turn(leaf.kernel.cut(without_carrier(leaf.kernel.link(kSwp1))));

    EXPECT_THAT(routes_of(outputs), ElementsAre(withdraws("10.0.0.5")));
    EXPECT_EQ(leaf.engine.explain(ip("10.0.0.5")),
              (Verdict{.eligible = false, .reason = "port swp1 has no carrier"}));
}

TEST(EngineLinks, WithdrawWhenTheLinkMessageOvertakesTheForwardingEntrysEnd) {
    RailLeaf leaf;
    const Input entry_gone = leaf.kernel.unlearn(in_br0(mac(5)));

    EXPECT_THAT(routes_of(leaf.turn(leaf.kernel.set(without_carrier(leaf.kernel.link(kSwp1))))),
                ElementsAre(withdraws("10.0.0.5")));
    EXPECT_THAT(routes_of(leaf.feed(entry_gone)), IsEmpty());
}

TEST(EngineLinks, WithdrawAPermanentHostBehindADeadPortToo) {
    RailLeaf leaf;
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), in_state(Nud::Permanent, mac(5))));

    EXPECT_THAT(routes_of(leaf.turn(leaf.kernel.set(admin_down(leaf.kernel.link(kSwp1))))),
                ElementsAre(withdraws("10.0.0.5")));
}

TEST(EngineLinks, KeepAHostWhoseForwardingEntryHasAged) {
    RailLeaf leaf;

    const auto outputs = leaf.feed(leaf.kernel.unlearn(in_br0(mac(5))));

    EXPECT_THAT(outputs, IsEmpty());
    EXPECT_THAT(routes_of(leaf.run_for(10min)), IsEmpty());
}

TEST(EngineLinks, WithdrawAHostWhoseForwardingEntryAgedLongBeforeItsPortWasCut) {
    RailLeaf leaf;
    (void)leaf.feed(leaf.kernel.unlearn(in_br0(mac(5))));
    (void)leaf.run_for(10min);

    EXPECT_THAT(routes_of(leaf.turn(leaf.kernel.set(without_carrier(leaf.kernel.link(kSwp1))))),
                ElementsAre(withdraws("10.0.0.5")));
}

TEST(EngineLinks, AskForTheHostsOfAPortThatIsBackAndAnnounceThemOnceTheyAreHeard) {
    RailLeaf leaf;
    (void)leaf.feed(leaf.kernel.cut(without_carrier(leaf.kernel.link(kSwp1))));
    (void)leaf.run_for(5s);

    const auto outputs = leaf.feed(leaf.kernel.set(with_carrier(leaf.kernel.link(kSwp1))));
    EXPECT_THAT(probed(outputs), ElementsAre(on_br0("10.0.0.5")));
    EXPECT_THAT(routes_of(outputs), IsEmpty());
    EXPECT_THAT(routes_of(leaf.run_for(30s)), IsEmpty());

    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.learn(in_br0(mac(5)), kSwp1))),
                ElementsAre(announces("10.0.0.5", kBr0)));
}

TEST(EngineLinks, AskAgainWhenThePortBouncesASecondTimeWithinAMinute) {
    RailLeaf leaf;
    for (int bounce = 0; bounce < 2; ++bounce) {
        (void)leaf.feed(leaf.kernel.cut(without_carrier(leaf.kernel.link(kSwp1))));
        (void)leaf.run_for(1s);

        const auto outputs = leaf.feed(leaf.kernel.set(with_carrier(leaf.kernel.link(kSwp1))));
        EXPECT_THAT(probed(outputs), ElementsAre(on_br0("10.0.0.5"))) << "bounce " << bounce;
        (void)leaf.feed(leaf.kernel.learn(in_br0(mac(5)), kSwp1));
        (void)leaf.run_for(1s);
    }
}

TEST(EngineLinks, BelieveAHostThatSpokeBeforeTheLinkMessageOfItsPortArrived) {
    RailLeaf leaf;
    (void)leaf.feed(leaf.kernel.cut(without_carrier(leaf.kernel.link(kSwp1))));
    (void)leaf.run_for(5s);

    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.learn(in_br0(mac(5)), kSwp1))), IsEmpty());

    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.set(with_carrier(leaf.kernel.link(kSwp1))))),
                ElementsAre(announces("10.0.0.5", kBr0)));
}

TEST(EngineLinks, DoNotBelieveAForwardingEntryOfAPortWithoutCarrier) {
    RailLeaf leaf;
    const Input late = leaf.kernel.learn(in_br0(mac(5)), kSwp1);
    (void)leaf.feed(leaf.kernel.cut(without_carrier(leaf.kernel.link(kSwp1))));

    EXPECT_THAT(routes_of(leaf.feed(late)), IsEmpty());
}

TEST(EngineLinks, WithdrawAllHostsOfAPortInOneTurn) {
    RailLeaf leaf;
    std::vector<Input> births;
    for (std::uint16_t i = 2; i < 130; ++i) {
        const auto n = static_cast<std::uint16_t>(1000 + i);
        births.push_back(leaf.kernel.set(on_br0("10.0.1." + std::to_string(i)), reachable(mac(n))));
        births.push_back(
            leaf.kernel.set(on_br0("fd00:0:0:1::" + std::to_string(i)), reachable(mac(n))));
        births.push_back(leaf.kernel.learn(in_br0(mac(n)), kSwp2));
    }
    EXPECT_EQ(routes_of(leaf.feed(births)).size(), 256U);
    // In the same turn another host is born elsewhere: deletes go first.
    std::vector<Input> inputs{leaf.kernel.set(on_br0("10.0.0.6"), reachable(mac(6))),
                              leaf.kernel.learn(in_br0(mac(6)), kSwp1)};
    for (Input& input : leaf.kernel.cut(without_carrier(leaf.kernel.link(kSwp2)))) {
        inputs.push_back(std::move(input));
    }

    const auto outputs = leaf.turn(inputs);

    const std::vector<SendRoute> routes = routes_of(outputs);
    ASSERT_EQ(routes.size(), 257U);
    EXPECT_EQ(routes.back(), announces("10.0.0.6", kBr0));
    for (std::size_t i = 0; i < 257; ++i) {
        EXPECT_TRUE(std::holds_alternative<SendRoute>(outputs.at(i))) << i;
    }
    EXPECT_EQ(std::count_if(routes.begin(), routes.end(), [](auto& r) { return !r.put; }), 256);
}

TEST(EngineLinks, KeepAHostThatMovedToAnotherPortBeforeItsOldOneWasCut) {
    RailLeaf leaf;
    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.learn(in_br0(mac(5)), kSwp2))), IsEmpty());

    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.cut(without_carrier(leaf.kernel.link(kSwp1))))),
                IsEmpty());
    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.cut(without_carrier(leaf.kernel.link(kSwp2))))),
                ElementsAre(withdraws("10.0.0.5")));
}

TEST(EngineLinks, WithdrawTheHostsOfAPortThatLeavesTheBridge) {
    RailLeaf leaf;

    EXPECT_THAT(routes_of(leaf.turn(leaf.kernel.set(bridge_port(kSwp1, "swp1", kBr1)))),
                ElementsAre(withdraws("10.0.0.5")));
    EXPECT_EQ(leaf.engine.explain(ip("10.0.0.5")).reason, "port swp1 left the bridge");
}

TEST(EngineLinks, FindTheHostsOfAPortThatWasDeletedAndMadeAnew) {
    RailLeaf leaf;
    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.remove_link(kSwp1))),
                ElementsAre(withdraws("10.0.0.5")));

    constexpr IfIndex kNewSwp1{21};
    const auto outputs = leaf.feed(leaf.kernel.set(bridge_port(kNewSwp1, "swp1", kBr0)));
    EXPECT_THAT(probed(outputs), ElementsAre(on_br0("10.0.0.5")));

    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.learn(in_br0(mac(5)), kNewSwp1))),
                ElementsAre(announces("10.0.0.5", kBr0)));
}

TEST(EngineLinks, RememberAPortByItsNewNameWhenItIsRenamed) {
    RailLeaf leaf;
    Link renamed = leaf.kernel.link(kSwp1);
    renamed.name = "rail1";

    const auto outputs = leaf.feed(leaf.kernel.set(renamed));

    EXPECT_THAT(only<RememberPort>(outputs),
                ElementsAre(RememberPort{.bridge = "br0", .mac = mac(5), .port = "rail1"}));
    EXPECT_THAT(routes_of(outputs), IsEmpty());
}

// Carrier reads -----------------------------------------------------------------------------------

TEST(EngineLinks, AreReadEveryTenMillisecondsForAWhileAfterACarrierEvent) {
    RailLeaf leaf;
    const TimePoint cut_at = leaf.now;
    std::vector<Output> outputs =
        leaf.feed(leaf.kernel.set(without_carrier(leaf.kernel.link(kUp0))));
    EXPECT_THAT(only<ReadLinks>(outputs),
                ElementsAre(ReadLinks{.links = {kBr0}, .masters = {kBr0}}));

    std::vector<TimePoint> reads;
    while (leaf.now < cut_at + 3s) {
        const TimePoint before = leaf.now;
        outputs = leaf.run_for(1ms);
        if (!only<ReadLinks>(outputs).empty()) {
            reads.push_back(before + 1ms);
        }
    }

    ASSERT_EQ(reads.size(), 120U);
    EXPECT_EQ(reads.front(), cut_at + 10ms);
    EXPECT_EQ(reads.back(), cut_at + limits::kLinkReadWindow);
}

TEST(EngineLinks, AreBelievedWhenReadThoughNoEventHasCome) {
    RailLeaf leaf;

    const auto outputs = leaf.turn(
        LinkSeen{.link = without_carrier(leaf.kernel.link(kSwp1)), .source = Source::Read});

    EXPECT_THAT(routes_of(outputs), ElementsAre(withdraws("10.0.0.5")));
}

// Interfaces --------------------------------------------------------------------------------------

TEST(EngineLinks, WithdrawEverythingBehindAnInterfaceThatGoesDown) {
    RailLeaf leaf;

    EXPECT_THAT(routes_of(leaf.turn(leaf.kernel.set(admin_down(leaf.kernel.link(kBr0))))),
                ElementsAre(withdraws("10.0.0.5")));
}

TEST(EngineLinks, ForgetTheHostsOfADeletedInterfaceAndLearnThemOnTheNewOne) {
    RailLeaf leaf;
    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.remove_link(kBr0))),
                ElementsAre(withdraws("10.0.0.5")));
    EXPECT_EQ(leaf.engine.totals().neighbors, 0U);

    constexpr IfIndex kNewBr0{30};
    const NeighborKey key{.link = kNewBr0, .address = ip("10.0.0.5")};
    const auto outputs = leaf.feed({leaf.kernel.set(bridge(kNewBr0, "br0")),
                                    leaf.kernel.set_address(kNewBr0, prefix("10.0.0.1/16")),
                                    leaf.kernel.set(bridge_port(kSwp1, "swp1", kNewBr0)),
                                    leaf.kernel.set(key, reachable(mac(5))),
                                    leaf.kernel.learn({.bridge = kNewBr0, .mac = mac(5)}, kSwp1)});

    EXPECT_THAT(routes_of(outputs), ElementsAre(announces("10.0.0.5", kNewBr0)));
}

TEST(EngineLinks, ForgetTheUnresolvedNeighborsOfADeletedInterfaceToo) {
    RailLeaf leaf;
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.6"), failed()));
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.7"), in_state(Nud::Incomplete, {})));

    (void)leaf.feed(leaf.kernel.remove_link(kBr0));

    EXPECT_EQ(leaf.engine.totals().neighbors, 0U);
}

TEST(EngineLinks, ServeAnInterfaceByItsPresentName) {
    RailLeaf leaf;
    Link renamed = leaf.kernel.link(kBr0);
    renamed.name = "rail0";

    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.set(renamed))), ElementsAre(withdraws("10.0.0.5")));
    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.set(bridge(kBr0, "br0")))),
                ElementsAre(announces("10.0.0.5", kBr0)));
}

TEST(EngineLinks, MoveTheRoutesWithTheInterfaceIntoAnotherVrf) {
    RailLeaf leaf;
    constexpr IfIndex kBlue{50};
    (void)leaf.feed(leaf.kernel.set(vrf_device(kBlue, "blue", 1001)));

    const auto outputs = leaf.feed(leaf.kernel.set(in_master(leaf.kernel.link(kBr0), kBlue)));

    EXPECT_THAT(routes_of(outputs),
                ElementsAre(withdraws("10.0.0.5"), announces("10.0.0.5", kBr0, VrfId{50})));
    EXPECT_THAT(only<AnnounceVrf>(outputs), ElementsAre(AnnounceVrf{.vrf = VrfId{50}}));
}

TEST(EngineLinks, ReinstallTheRoutesOfARoutedPortThatFlappedUnseen) {
    KernelFacts kernel;
    (void)kernel.set(routed_port(kSwp1, "swp1"));
    (void)kernel.set_address(kSwp1, prefix("10.0.0.0/31"));
    (void)kernel.set({.link = kSwp1, .address = ip("10.0.0.1")}, reachable(mac(5)));
    Leaf leaf(serving({"swp1"}), kernel);
    leaf.start();

    const auto outputs = leaf.feed(leaf.kernel.set(flapped(leaf.kernel.link(kSwp1))));

    EXPECT_THAT(routes_of(outputs),
                ElementsAre(withdraws("10.0.0.1"), announces("10.0.0.1", kSwp1)));
}

// Our own addresses and MACs ----------------------------------------------------------------------

TEST(EngineLinks, WithdrawAnAddressThatBecomesOurOwn) {
    RailLeaf leaf;

    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.set_address(kUp0, prefix("10.0.0.5/32")))),
                ElementsAre(withdraws("10.0.0.5")));
    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.remove_address(kUp0, prefix("10.0.0.5/32")))),
                ElementsAre(announces("10.0.0.5", kBr0)));
}

TEST(EngineLinks, WithdrawAHostWhoseMacBecomesOurOwn) {
    RailLeaf leaf;
    constexpr IfIndex kMacvlan{40};

    EXPECT_THAT(
        routes_of(leaf.feed(leaf.kernel.set(with_mac(routed_port(kMacvlan, "vrr0"), mac(5))))),
        ElementsAre(withdraws("10.0.0.5")));
    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.set(routed_port(kMacvlan, "vrr0")))),
                ElementsAre(announces("10.0.0.5", kBr0)));
    (void)leaf.feed(leaf.kernel.set(with_mac(routed_port(kMacvlan, "vrr0"), mac(5))));
    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.remove_link(kMacvlan))),
                ElementsAre(announces("10.0.0.5", kBr0)));
}

TEST(EngineLinks, WithdrawHostsOutsideTheSubnetsThatRemain) {
    RailLeaf leaf;
    (void)leaf.feed(leaf.kernel.set_address(kBr0, prefix("10.0.0.1/24")));

    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.remove_address(kBr0, prefix("10.0.0.1/16")))),
                IsEmpty());
    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.remove_address(kBr0, prefix("10.0.0.1/24")))),
                ElementsAre(withdraws("10.0.0.5")));
    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.set_address(kBr0, prefix("10.0.0.1/16")))),
                ElementsAre(announces("10.0.0.5", kBr0)));
}

}  // namespace
}  // namespace planed::test
