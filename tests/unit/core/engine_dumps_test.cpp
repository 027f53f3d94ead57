// SPDX-License-Identifier: Apache-2.0
// Reading tables whole: at the start, as an audit, after a loss. Nothing is withdrawn for absence
// until a dump has finished.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "support/leaf.hpp"

namespace planed::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// A ready leaf with one host, whose dumps are answered by the test.
class EngineDumps : public testing::Test {
protected:
    EngineDumps() { leaf.answer_dumps = false; }

    std::vector<Output> start(DumpKind kind) { return leaf.turn(DumpStarted{.kind = kind}); }
    std::vector<Output> finish(DumpKind kind, bool complete = true) {
        return leaf.turn(DumpFinished{.kind = kind, .complete = complete});
    }
    std::vector<Output> row(const NeighborKey& key, const Neighbor& neighbor) {
        return leaf.turn(NeighborSeen{.key = key, .neighbor = neighbor, .source = Source::Dump});
    }
    RailLeaf leaf;
};

TEST(EngineStart, AsksForEveryTableAndAnnouncesNothingBeforeAllWereRead) {
    Leaf leaf(serving({"br0"}), rail());
    (void)leaf.kernel.set(on_br0("10.0.0.5"), reachable(mac(5)));
    leaf.answer_dumps = false;

    const auto outputs = leaf.feed(ZapiUp{.family = "C"});
    EXPECT_THAT(only<StartDump>(outputs),
                ElementsAre(StartDump{.kind = DumpKind::Links},
                            StartDump{.kind = DumpKind::Addresses},
                            StartDump{.kind = DumpKind::Neighbors},
                            StartDump{.kind = DumpKind::Fdb},
                            StartDump{.kind = DumpKind::Proxies}));
    for (const DumpKind kind : {DumpKind::Links, DumpKind::Addresses, DumpKind::Neighbors}) {
        EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.dump(kind))), IsEmpty());
    }

    const auto last = leaf.feed(leaf.kernel.dump(DumpKind::Fdb));

    EXPECT_THAT(routes_of(last), ElementsAre(announces("10.0.0.5", kBr0)));
    EXPECT_EQ(only<CompleteRestart>(last).size(), 1U);
}

TEST(EngineStart, DoesNotSpinWhileATableCannotBeRead) {
    Leaf leaf(serving({"br0"}), rail());
    leaf.answer_dumps = false;
    (void)leaf.feed(ZapiUp{.family = "C"});
    for (const DumpKind kind : {DumpKind::Links, DumpKind::Addresses, DumpKind::Neighbors}) {
        (void)leaf.feed(leaf.kernel.dump(kind));
    }

    (void)leaf.run_for(10min);  // Asserts progress at every turn.

    EXPECT_FALSE(leaf.engine.milestones().at(Milestone::NeighborsSynced));
}

// A host is there, and has not been read.
void read_all_but_neighbors(Leaf& leaf) {
    (void)leaf.kernel.set(on_br0("10.0.0.5"), reachable(mac(5)));
    leaf.answer_dumps = false;
    (void)leaf.feed(ZapiUp{.family = "C"});
    for (const DumpKind kind : {DumpKind::Links, DumpKind::Addresses, DumpKind::Fdb}) {
        (void)leaf.feed(leaf.kernel.dump(kind));
    }
}

TEST(EngineStart, DoesNotAnnounceFromATableThatWasReadInPartOnly) {
    Leaf leaf(serving({"br0"}), rail());
    read_all_but_neighbors(leaf);

    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.dump(DumpKind::Neighbors, false))), IsEmpty());
    EXPECT_THAT(only<StartDump>(leaf.run_for(100ms)),
                ElementsAre(StartDump{.kind = DumpKind::Neighbors}));
    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.dump(DumpKind::Neighbors))),
                ElementsAre(announces("10.0.0.5", kBr0)));
}

// A host that was born meanwhile would be missing, and zebra is told what is not wanted any more.
TEST(EngineStart, WaitsForADumpDuringWhichNoEventWasLost) {
    Leaf leaf(serving({"br0"}), rail());
    read_all_but_neighbors(leaf);
    (void)leaf.feed(DumpStarted{.kind = DumpKind::Neighbors});
    (void)leaf.feed(EventsLost{.kind = DumpKind::Neighbors});

    EXPECT_THAT(leaf.feed(DumpFinished{.kind = DumpKind::Neighbors, .complete = true}), IsEmpty());
    EXPECT_FALSE(leaf.engine.milestones().at(Milestone::NeighborsSynced));
    EXPECT_THAT(only<StartDump>(leaf.run_for(limits::kDumpSpacing)),
                ElementsAre(StartDump{.kind = DumpKind::Neighbors}));
    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.dump(DumpKind::Neighbors))),
                ElementsAre(announces("10.0.0.5", kBr0)));
}

TEST_F(EngineDumps, WithdrawNothingBetweenALossAndTheEndOfTheDump) {
    (void)leaf.kernel.remove(on_br0("10.0.0.5"));  // The event is among the lost ones.
    leaf.now += 1s;

    const auto outputs = leaf.turn(EventsLost{.kind = DumpKind::Neighbors});
    EXPECT_THAT(only<StartDump>(outputs), ElementsAre(StartDump{.kind = DumpKind::Neighbors}));
    EXPECT_THAT(routes_of(outputs), IsEmpty());
    EXPECT_THAT(start(DumpKind::Neighbors), IsEmpty());
    EXPECT_THAT(routes_of(leaf.run_for(20s)), IsEmpty());

    EXPECT_THAT(routes_of(finish(DumpKind::Neighbors)), ElementsAre(withdraws("10.0.0.5")));
    EXPECT_EQ(leaf.engine.totals().resyncs, 1U);
}

TEST_F(EngineDumps, FindWhatWasBornWhileEventsWereLost) {
    (void)leaf.turn(EventsLost{.kind = DumpKind::Neighbors});
    (void)start(DumpKind::Neighbors);

    EXPECT_THAT(routes_of(row(on_br0("10.0.0.6"), reachable(mac(6)))),
                ElementsAre(announces("10.0.0.6", kBr0)));
}

TEST_F(EngineDumps, ConcludeNothingFromADumpThatWasInterrupted) {
    leaf.now += 1s;
    (void)leaf.turn(EventsLost{.kind = DumpKind::Neighbors});
    (void)start(DumpKind::Neighbors);

    EXPECT_THAT(routes_of(finish(DumpKind::Neighbors, false)), IsEmpty());
    EXPECT_THAT(only<StartDump>(leaf.run_for(100ms)),
                ElementsAre(StartDump{.kind = DumpKind::Neighbors}));
    EXPECT_EQ(leaf.engine.totals().resyncs, 0U);
}

TEST_F(EngineDumps, ConcludeNothingWhenEventsAreLostWhileTheyRun) {
    leaf.now += 1s;
    (void)leaf.turn(EventsLost{.kind = DumpKind::Neighbors});
    (void)start(DumpKind::Neighbors);
    (void)leaf.turn(EventsLost{.kind = DumpKind::Neighbors});

    EXPECT_THAT(routes_of(finish(DumpKind::Neighbors)), IsEmpty());
    EXPECT_THAT(only<StartDump>(leaf.run_for(limits::kDumpSpacing)),
                ElementsAre(StartDump{.kind = DumpKind::Neighbors}));
    (void)start(DumpKind::Neighbors);
    EXPECT_THAT(routes_of(finish(DumpKind::Neighbors)), ElementsAre(withdraws("10.0.0.5")));
}

TEST_F(EngineDumps, AreOverruledByEventsThatCameWhileTheyRan) {
    (void)start(DumpKind::Neighbors);
    EXPECT_THAT(routes_of(leaf.turn(leaf.kernel.set(on_br0("10.0.0.5"), failed()))),
                ElementsAre(withdraws("10.0.0.5")));
    (void)leaf.turn(leaf.kernel.set(on_br0("10.0.0.6"), reachable(mac(6))));

    EXPECT_THAT(routes_of(row(on_br0("10.0.0.5"), reachable(mac(5)))), IsEmpty());
    EXPECT_THAT(routes_of(finish(DumpKind::Neighbors)), IsEmpty());
    EXPECT_EQ(leaf.engine.explain(ip("10.0.0.6")).eligible, true);
}

TEST_F(EngineDumps, DoNotBringBackAHostThatWasDeletedWhileTheyRan) {
    (void)start(DumpKind::Neighbors);
    (void)leaf.turn(leaf.kernel.remove(on_br0("10.0.0.5")));

    EXPECT_THAT(routes_of(row(on_br0("10.0.0.5"), reachable(mac(5)))), IsEmpty());
    EXPECT_THAT(routes_of(finish(DumpKind::Neighbors)), IsEmpty());
}

TEST_F(EngineDumps, LetALossOfCarrierActThoughEventsWereLost) {
    (void)leaf.turn(EventsLost{.kind = DumpKind::Links});
    (void)start(DumpKind::Links);

    EXPECT_THAT(routes_of(leaf.turn(leaf.kernel.set(without_carrier(leaf.kernel.link(kSwp1))))),
                testing::Contains(withdraws("10.0.0.5")));
}

TEST_F(EngineDumps, PutRoutesAgainWithoutAGapWhenLinkEventsWereLost) {
    EXPECT_THAT(routes_of(leaf.turn(EventsLost{.kind = DumpKind::Links})),
                ElementsAre(announces("10.0.0.5", kBr0)));
}

TEST_F(EngineDumps, KeepLinksAndAddressesUntilACompleteDumpLacksThem) {
    (void)leaf.kernel.remove_link(kSwp1);
    (void)leaf.turn(EventsLost{.kind = DumpKind::Links});
    for (const Input& input : leaf.kernel.dump(DumpKind::Links, false)) {
        EXPECT_THAT(routes_of(leaf.turn(input)),
                    testing::Not(testing::Contains(withdraws("10.0.0.5"))));
    }

    (void)leaf.run_for(100ms);
    EXPECT_THAT(routes_of(leaf.turn(leaf.kernel.dump(DumpKind::Links))),
                ElementsAre(withdraws("10.0.0.5")));
}

TEST_F(EngineDumps, WithdrawWhatIsOutsideOnceTheSubnetIsMissingInADump) {
    (void)leaf.kernel.remove_address(kBr0, prefix("10.0.0.1/16"));
    (void)leaf.turn(EventsLost{.kind = DumpKind::Addresses});
    EXPECT_THAT(routes_of(leaf.turn(leaf.kernel.dump(DumpKind::Addresses, false))), IsEmpty());

    (void)leaf.run_for(100ms);
    EXPECT_THAT(routes_of(leaf.turn(leaf.kernel.dump(DumpKind::Addresses))),
                ElementsAre(withdraws("10.0.0.5")));
}

TEST_F(EngineDumps, KeepAHostWhoseForwardingEntryIsMissingInADump) {
    (void)leaf.kernel.unlearn(in_br0(mac(5)));
    (void)leaf.turn(EventsLost{.kind = DumpKind::Fdb});

    EXPECT_THAT(routes_of(leaf.turn(leaf.kernel.dump(DumpKind::Fdb))), IsEmpty());
}

TEST_F(EngineDumps, TakeASilentHostThatIsMissingForCollectedAndAskIt) {
    (void)leaf.turn(leaf.kernel.set(on_br0("10.0.0.5"), stale(mac(5))));
    (void)leaf.run_for(59s);
    (void)start(DumpKind::Neighbors);
    leaf.now += 1s;

    EXPECT_THAT(routes_of(finish(DumpKind::Neighbors)), IsEmpty());
    const auto writes = only<WriteNeighbor>(leaf.run_for(limits::kCollectedGrace));
    ASSERT_THAT(writes, testing::SizeIs(1));
    EXPECT_EQ(writes.at(0).key, on_br0("10.0.0.5"));
}

TEST_F(EngineDumps, TakeAHostThatSpokeLatelyAndIsMissingForDead) {
    (void)leaf.turn(leaf.kernel.set(on_br0("10.0.0.5"), stale(mac(5))));
    leaf.now += 59s;
    (void)start(DumpKind::Neighbors);

    EXPECT_THAT(routes_of(finish(DumpKind::Neighbors)), ElementsAre(withdraws("10.0.0.5")));
}

TEST_F(EngineDumps, AreHeldAsAuditsEveryMinute) {
    leaf.answer_dumps = true;

    const auto outputs = leaf.run_for(1h);

    for (const DumpKind kind :
         {DumpKind::Links, DumpKind::Addresses, DumpKind::Neighbors, DumpKind::Fdb}) {
        const auto dumps = only<StartDump>(outputs);
        const auto count = std::count(dumps.begin(), dumps.end(), StartDump{.kind = kind});
        EXPECT_GE(count, 59) << static_cast<int>(kind);
        EXPECT_LE(count, 60) << static_cast<int>(kind);
    }
}

TEST_F(EngineDumps, AndReadBacksAndSettingsAreAllThatAnIdleLeafDoes) {
    leaf.answer_dumps = true;

    for (const Output& output : leaf.run_for(1h)) {
        EXPECT_TRUE(std::holds_alternative<StartDump>(output) ||
                    std::holds_alternative<StartReadBack>(output) ||
                    std::holds_alternative<ApplySetting>(output))
            << "output of kind " << output.index();
    }
}

}  // namespace
}  // namespace planed::test
