// SPDX-License-Identifier: Apache-2.0
// The neighbour table: what is life, what is death, and what is merely the garbage collector.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "support/leaf.hpp"

namespace planed::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// 10.0.0.5 as the kernel is asked to take it back.
void expect_written_back(const std::vector<Output>& outputs) {
    const auto writes = only<WriteNeighbor>(outputs);
    ASSERT_THAT(writes, SizeIs(1));
    EXPECT_EQ(writes.at(0),
              (WriteNeighbor{.request = writes.at(0).request,
                             .key = on_br0("10.0.0.5"),
                             .mac = mac(5),
                             .state = Nud::Probe,
                             .ext_learned = true}));
}

// Life and death ----------------------------------------------------------------------------------

TEST(EngineNeighbors, AreAnnouncedInBothFamilies) {
    RailLeaf leaf;

    const auto outputs = leaf.feed({leaf.kernel.set(on_br0("10.0.0.6"), reachable(mac(6))),
                                    leaf.kernel.set(on_br0("fd00:0:0:1::6"), reachable(mac(6))),
                                    leaf.kernel.learn(in_br0(mac(6)), kSwp1)});

    EXPECT_THAT(routes_of(outputs),
                ElementsAre(announces("10.0.0.6", kBr0), announces("fd00:0:0:1::6", kBr0)));
}

TEST(EngineNeighbors, CauseNoOutputWhileTheyGoThroughTheStatesOfLife) {
    RailLeaf leaf;

    for (const Nud state : {Nud::Stale,
                            Nud::Delay,
                            Nud::Reachable,
                            Nud::Stale,
                            Nud::Delay,
                            Nud::Probe,
                            Nud::Reachable,
                            Nud::Permanent,
                            Nud::Stale}) {
        EXPECT_THAT(leaf.turn(leaf.kernel.set(on_br0("10.0.0.5"), in_state(state, mac(5)))),
                    IsEmpty())
            << word(state);
    }
}

TEST(EngineNeighbors, AreWithdrawnWhenTheyFail) {
    RailLeaf leaf;

    EXPECT_THAT(routes_of(leaf.turn(leaf.kernel.set(on_br0("10.0.0.5"), failed()))),
                ElementsAre(withdraws("10.0.0.5")));
}

TEST(EngineNeighbors, AreWithdrawnWhenSomebodyDeletesThem) {
    RailLeaf leaf;

    EXPECT_THAT(routes_of(leaf.turn(leaf.kernel.remove(on_br0("10.0.0.5")))),
                ElementsAre(withdraws("10.0.0.5")));
    EXPECT_EQ(leaf.engine.totals().neighbors, 0U);
}

TEST(EngineNeighbors, AreAnnouncedAgainWhenTheyAnswerAfterAll) {
    RailLeaf leaf;
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), failed()));
    EXPECT_THAT(
        routes_of(leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), in_state(Nud::Incomplete, {})))),
        IsEmpty());

    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), reachable(mac(5))))),
                ElementsAre(announces("10.0.0.5", kBr0)));
}

TEST(EngineNeighbors, BehaveAsTwoHostsWhenTwoAddressesShareAMac) {
    RailLeaf leaf;
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.55"), reachable(mac(5))));

    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), failed()))),
                ElementsAre(withdraws("10.0.0.5")));
    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.cut(without_carrier(leaf.kernel.link(kSwp1))))),
                ElementsAre(withdraws("10.0.0.55")));
}

TEST(EngineNeighbors, KeepTheirRouteWhenTheirMacChanges) {
    RailLeaf leaf;

    EXPECT_THAT(routes_of(leaf.feed({leaf.kernel.set(on_br0("10.0.0.5"), reachable(mac(6))),
                                     leaf.kernel.learn(in_br0(mac(6)), kSwp2)})),
                IsEmpty());

    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.cut(without_carrier(leaf.kernel.link(kSwp1))))),
                IsEmpty());
    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.cut(without_carrier(leaf.kernel.link(kSwp2))))),
                ElementsAre(withdraws("10.0.0.5")));
}

TEST(EngineNeighbors, AreNoHostsOnAnInterfaceThatIsNotServed) {
    RailLeaf leaf;

    EXPECT_THAT(
        leaf.feed(leaf.kernel.set({.link = kUp0, .address = ip("10.0.0.77")}, reachable(mac(77)))),
        IsEmpty());
}

// One address on two links ------------------------------------------------------------------------

class TwoRails : public testing::Test {
protected:
    static KernelFacts facts() {
        KernelFacts kernel;
        for (const auto& [index, name] : {std::pair(kSwp1, "swp1"), std::pair(kSwp2, "swp2")}) {
            (void)kernel.set(routed_port(index, name));
            (void)kernel.set_address(index, prefix("10.0.0.1/16"));
        }
        return kernel;
    }
    TwoRails() { leaf.start(); }
    std::vector<Output> hear(IfIndex link) {
        leaf.now += 1s;
        return leaf.feed(leaf.kernel.set(host_on(link), reachable(mac(5))));
    }
    static NeighborKey host_on(IfIndex link) { return {.link = link, .address = ip("10.0.0.5")}; }
    Leaf leaf{serving({"swp*"}), facts()};
};

TEST_F(TwoRails, RouteAHostByTheLinkWhereItAppearedLast) {
    EXPECT_THAT(routes_of(hear(kSwp1)), ElementsAre(announces("10.0.0.5", kSwp1)));

    EXPECT_THAT(routes_of(hear(kSwp2)), ElementsAre(announces("10.0.0.5", kSwp2)));
}

TEST_F(TwoRails, LeaveTheRouteAloneWhenTheOldPlaceForgetsTheHost) {
    (void)hear(kSwp1);
    (void)hear(kSwp2);

    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.set(host_on(kSwp1), failed()))), IsEmpty());
}

TEST_F(TwoRails, FallBackWithoutAGapWhenTheNewPlaceIsCut) {
    (void)hear(kSwp1);
    (void)hear(kSwp2);

    EXPECT_THAT(routes_of(leaf.turn(leaf.kernel.set(without_carrier(leaf.kernel.link(kSwp2))))),
                ElementsAre(announces("10.0.0.5", kSwp1)));
}

// The garbage collector ---------------------------------------------------------------------------

TEST(EngineNeighbors, AreKeptAndWrittenBackWhenTheGarbageCollectorTakesThem) {
    RailLeaf leaf;
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), stale(mac(5))));

    EXPECT_THAT(leaf.feed(leaf.kernel.collect(on_br0("10.0.0.5"))), IsEmpty());
    const auto outputs = leaf.run_for(limits::kCollectedGrace);

    EXPECT_THAT(routes_of(outputs), IsEmpty());
    expect_written_back(outputs);
    EXPECT_THAT(only<WriteNeighbor>(leaf.run_for(30s)), IsEmpty());
}

TEST(EngineNeighbors, AreNotWrittenBackWhenTheFlushIsOfAnInterfaceThatWentDown) {
    RailLeaf leaf;
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), stale(mac(5))));
    EXPECT_THAT(leaf.feed(leaf.kernel.collect(on_br0("10.0.0.5"))), IsEmpty());
    leaf.now += 10ms;

    const auto outputs = leaf.feed(leaf.kernel.set(admin_down(leaf.kernel.link(kBr0))));

    EXPECT_THAT(routes_of(outputs), ElementsAre(withdraws("10.0.0.5")));
    EXPECT_THAT(only<WriteNeighbor>(leaf.run_for(10s)), IsEmpty());
    EXPECT_EQ(leaf.engine.totals().neighbors, 0U);
}

TEST(EngineNeighbors, AreWithdrawnWhenTheOneWrittenBackFailsAndLeaveNoEntryBehind) {
    RailLeaf leaf;
    (void)leaf.feed(leaf.kernel.collect(on_br0("10.0.0.5")));
    (void)leaf.run_for(1s);

    const auto outputs =
        leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), written_by_us(Nud::Failed, {})));

    EXPECT_THAT(routes_of(outputs), ElementsAre(withdraws("10.0.0.5")));
    const auto deletes = only<DeleteNeighbor>(leaf.run_for(limits::kFailedGrace));
    ASSERT_THAT(deletes, SizeIs(1));
    EXPECT_EQ(deletes.at(0).key, on_br0("10.0.0.5"));
    EXPECT_FALSE(leaf.kernel.neighbors().contains(on_br0("10.0.0.5")));
}

// The kernel ignores what an IPv6 host says of itself while it has a FAILED entry for it.
TEST(EngineNeighbors, OfIpv6LeaveNoEntryBehindThatMakesTheKernelDeaf) {
    RailLeaf leaf;
    (void)leaf.feed(leaf.kernel.set(on_br0("fd00:0:0:1::5"), reachable(mac(5))));

    const auto outputs = leaf.feed(leaf.kernel.set(on_br0("fd00:0:0:1::5"), failed()));

    EXPECT_THAT(routes_of(outputs), ElementsAre(withdraws("fd00:0:0:1::5")));
    EXPECT_THAT(only<DeleteNeighbor>(leaf.run_for(limits::kFailedGrace)), SizeIs(1));
    EXPECT_FALSE(leaf.kernel.neighbors().contains(on_br0("fd00:0:0:1::5")));
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), failed()));
    EXPECT_THAT(only<DeleteNeighbor>(leaf.run_for(10s)), IsEmpty());
}

TEST(EngineNeighbors, OfIpv6AreLeftAloneWhereNothingIsServed) {
    RailLeaf leaf;

    (void)leaf.feed(leaf.kernel.set({.link = kUp0, .address = ip("fd00:0:0:2::5")}, failed()));
    EXPECT_THAT(only<DeleteNeighbor>(leaf.run_for(10s)), IsEmpty());
}

// A deletion by hand is told in two steps, and what comes after it is not ours to delete.
TEST(EngineNeighbors, OfIpv6AreLeftAloneWhenSomebodyReplacesThem) {
    const NeighborKey host = on_br0("fd00:0:0:1::5");
    RailLeaf leaf;
    (void)leaf.feed(leaf.kernel.set(host, reachable(mac(5))));
    (void)leaf.feed(leaf.kernel.set(host, failed()));
    (void)leaf.feed(leaf.kernel.remove(host));
    (void)leaf.feed(leaf.kernel.set(host, in_state(Nud::Permanent, mac(5))));

    EXPECT_THAT(only<DeleteNeighbor>(leaf.run_for(10s)), IsEmpty());
}

TEST(EngineNeighbors, OfIpv6AreLeftAloneWhileNobodyKnowsWhatTheyAre) {
    const NeighborKey host = on_br0("fd00:0:0:1::5");
    RailLeaf leaf;
    (void)leaf.feed(leaf.kernel.set(host, failed()));
    (void)leaf.kernel.set(host, in_state(Nud::Permanent, mac(5)));  // Its notification is lost.
    leaf.answer_dumps = false;
    (void)leaf.feed(EventsLost{.kind = DumpKind::Neighbors});

    EXPECT_THAT(only<DeleteNeighbor>(leaf.run_for(10s)), IsEmpty());
    (void)leaf.feed(leaf.kernel.dump(DumpKind::Neighbors));
    EXPECT_THAT(only<DeleteNeighbor>(leaf.run_for(10s)), IsEmpty());
}

// The turn was long, or there is much to read: what the entry is now may have been told already.
TEST(EngineNeighbors, OfIpv6AreLeftAloneWhileEventsWaitToBeRead) {
    const NeighborKey host = on_br0("fd00:0:0:1::5");
    RailLeaf leaf;
    (void)leaf.feed(leaf.kernel.set(host, failed()));
    leaf.now += limits::kFailedGrace;

    EXPECT_THAT(only<DeleteNeighbor>(leaf.feed(EventsWaiting{.kind = DumpKind::Neighbors})),
                IsEmpty());
    (void)leaf.feed(leaf.kernel.set(host, in_state(Nud::Permanent, mac(5))));

    EXPECT_THAT(only<DeleteNeighbor>(leaf.run_for(10s)), IsEmpty());
}

TEST(EngineNeighbors, AreNotAskedWhileEventsWaitToBeRead) {
    RailLeaf leaf;
    (void)leaf.feed(leaf.kernel.collect(on_br0("10.0.0.5")));
    leaf.now += 1s;

    EXPECT_THAT(only<WriteNeighbor>(leaf.feed(EventsWaiting{.kind = DumpKind::Neighbors})),
                IsEmpty());
    EXPECT_THAT(only<WriteNeighbor>(leaf.run_for(1s)), SizeIs(1));
}

// The host fails; what the engine asks the kernel to delete then is returned, and not done.
std::vector<DeleteNeighbor> fail_without_deletion(Leaf& leaf, const NeighborKey& host) {
    (void)leaf.feed(leaf.kernel.set(host, reachable(mac(5))));
    leaf.answer_deletions = false;
    (void)leaf.feed(leaf.kernel.set(host, failed()));
    return only<DeleteNeighbor>(leaf.run_for(limits::kFailedGrace));
}

TEST(EngineNeighbors, AreKeptIfTheyReturnWhileTheirFailedEntryIsBeingDeleted) {
    const NeighborKey host = on_br0("fd00:0:0:1::5");
    RailLeaf leaf;
    const auto deletes = fail_without_deletion(leaf, host);
    ASSERT_THAT(deletes, SizeIs(1));

    // It speaks; then the kernel does what we asked for, which it announces in two steps.
    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.set(host, stale(mac(5))))),
                ElementsAre(announces("fd00:0:0:1::5", kBr0)));
    EXPECT_THAT(routes_of(leaf.feed({leaf.kernel.set(host, failed()),
                                     leaf.kernel.remove(host),
                                     KernelAnswered{.request = deletes.at(0).request}})),
                IsEmpty());
    const auto later = leaf.run_for(limits::kCollectedGrace);

    EXPECT_THAT(routes_of(later), IsEmpty());
    const auto writes = only<WriteNeighbor>(later);
    ASSERT_THAT(writes, SizeIs(1));
    EXPECT_EQ(writes.at(0).key, host);
    EXPECT_EQ(writes.at(0).mac, mac(5));
}

TEST(EngineNeighbors, MayFailAgainAfterTheirEntryCouldNotBeDeleted) {
    const NeighborKey host = on_br0("fd00:0:0:1::5");
    RailLeaf leaf;
    const auto deletes = fail_without_deletion(leaf, host);
    ASSERT_THAT(deletes, SizeIs(1));
    const Error gone{.code = Errc::System, .text = "No such file", .system_errno = 2};
    EXPECT_THAT(leaf.feed(KernelAnswered{.request = deletes.at(0).request, .error = gone}),
                IsEmpty());  // Not even a word.
    (void)leaf.feed(leaf.kernel.set(host, stale(mac(5))));

    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.set(host, failed()))),
                ElementsAre(withdraws("fd00:0:0:1::5")));
}

TEST(EngineNeighbors, MayFailAgainAfterTheWordOfTheirDeletionWasLost) {
    const NeighborKey host = on_br0("fd00:0:0:1::5");
    RailLeaf leaf;
    ASSERT_THAT(fail_without_deletion(leaf, host), SizeIs(1));
    (void)leaf.kernel.remove(host);
    (void)leaf.feed(EventsLost{.kind = DumpKind::Neighbors});
    (void)leaf.feed(leaf.kernel.set(host, stale(mac(5))));

    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.set(host, failed()))),
                ElementsAre(withdraws("fd00:0:0:1::5")));
}

TEST(EngineNeighbors, AreWrittenAgainUntilTheKernelTakesThem) {
    RailLeaf leaf;
    leaf.answer_writes = false;
    (void)leaf.feed(leaf.kernel.collect(on_br0("10.0.0.5")));
    const auto first = only<WriteNeighbor>(leaf.run_for(100ms));
    ASSERT_THAT(first, SizeIs(1));

    const Error full{.code = Errc::System, .text = "No buffer space", .system_errno = 105};
    (void)leaf.feed(KernelAnswered{.request = first.at(0).request, .error = full});
    EXPECT_TRUE(leaf.engine.degraded().contains("neighbour table"));
    leaf.answer_writes = true;
    const auto outputs = leaf.run_for(limits::kProbeRetry);

    expect_written_back(outputs);
    EXPECT_FALSE(leaf.engine.degraded().contains("neighbour table"));
    EXPECT_THAT(routes_of(outputs), IsEmpty());
}

TEST(EngineNeighbors, AreAskedWhenTheirPortIsBackThoughTheCollectorTookThemMeanwhile) {
    RailLeaf leaf;
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), stale(mac(5))));
    (void)leaf.feed(leaf.kernel.cut(without_carrier(leaf.kernel.link(kSwp1))));
    (void)leaf.run_for(90s);

    EXPECT_THAT(leaf.feed(leaf.kernel.collect(on_br0("10.0.0.5"))), IsEmpty());
    EXPECT_THAT(only<WriteNeighbor>(leaf.run_for(10min)), IsEmpty());

    expect_written_back(leaf.feed(leaf.kernel.set(with_carrier(leaf.kernel.link(kSwp1)))));
    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.learn(in_br0(mac(5)), kSwp1))),
                ElementsAre(announces("10.0.0.5", kBr0)));
}

TEST(EngineNeighbors, AreGoneIfADumpDoesNotShowWhatWasWrittenBackAndAcknowledged) {
    RailLeaf leaf;
    leaf.answer_writes = false;
    (void)leaf.feed(leaf.kernel.collect(on_br0("10.0.0.5")));
    const auto writes = only<WriteNeighbor>(leaf.run_for(100ms));
    ASSERT_THAT(writes, SizeIs(1));
    (void)leaf.feed(KernelAnswered{.request = writes.at(0).request});

    // Both its notification and that of its end were lost.
    EXPECT_THAT(routes_of(leaf.feed(EventsLost{.kind = DumpKind::Neighbors})),
                ElementsAre(withdraws("10.0.0.5")));
}

// Asking ------------------------------------------------------------------------------------------

TEST(EngineNeighbors, AreNotAskedWhenTheirPortBecomesKnownInTime) {
    RailLeaf leaf;
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.6"), reachable(mac(6))));
    leaf.now += 1ms;
    (void)leaf.feed(leaf.kernel.learn(in_br0(mac(6)), kSwp2));

    EXPECT_THAT(only<WriteNeighbor>(leaf.run_for(10min)), IsEmpty());
}

TEST(EngineNeighbors, AreAnnouncedAndAskedWhenNoPortIsKnownForThem) {
    RailLeaf leaf;

    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.set(on_br0("10.0.0.6"), reachable(mac(6))))),
                ElementsAre(announces("10.0.0.6", kBr0)));
    EXPECT_THAT(only<WriteNeighbor>(leaf.run_for(limits::kPortUnknownGrace - 1ms)), IsEmpty());
    const auto writes = only<WriteNeighbor>(leaf.run_for(1ms));

    ASSERT_THAT(writes, SizeIs(1));
    EXPECT_EQ(writes.at(0),
              (WriteNeighbor{.request = writes.at(0).request,
                             .key = on_br0("10.0.0.6"),
                             .mac = mac(6),
                             .state = Nud::Probe,
                             .ext_learned = false}));
}

TEST(EngineNeighbors, AreNotAskedWhenSomebodyHasMadeThemPermanent) {
    RailLeaf leaf;

    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.6"), in_state(Nud::Permanent, mac(6))));

    EXPECT_THAT(only<WriteNeighbor>(leaf.run_for(10min)), IsEmpty());
}

// The state file ----------------------------------------------------------------------------------

TEST(EngineNeighbors, HaveTheirPortKeptInTheStateFileAsLongAsTheyLive) {
    RailLeaf leaf;

    const auto born = leaf.feed({leaf.kernel.set(on_br0("10.0.0.6"), reachable(mac(6))),
                                 leaf.kernel.learn(in_br0(mac(6)), kSwp1)});
    EXPECT_THAT(only<RememberPort>(born),
                ElementsAre(RememberPort{.bridge = "br0", .mac = mac(6), .port = "swp1"}));
    const auto moved = leaf.feed(leaf.kernel.learn(in_br0(mac(6)), kSwp2));
    EXPECT_THAT(only<RememberPort>(moved),
                ElementsAre(RememberPort{.bridge = "br0", .mac = mac(6), .port = "swp2"}));
    const auto died = leaf.feed(leaf.kernel.set(on_br0("10.0.0.6"), failed()));
    EXPECT_THAT(only<RememberPort>(died),
                ElementsAre(RememberPort{.bridge = "br0", .mac = mac(6), .port = std::nullopt}));
}

}  // namespace
}  // namespace planed::test
