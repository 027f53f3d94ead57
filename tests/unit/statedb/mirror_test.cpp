// SPDX-License-Identifier: Apache-2.0
#include "statedb/mirror.hpp"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/statedb/fake_database.hpp"

namespace planed::statedb {
namespace {

using test::in_br0;
using test::ip;
using test::kBr0;
using test::kSwp1;
using test::kSwp2;
using test::mac;
using test::on_br0;
using test::reachable;
using test::stale;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::Pair;
using testing::SizeIs;
using testing::UnorderedElementsAre;

/// Connected, and everything written.
class MirrorTest : public testing::Test {
protected:
    MirrorTest() {
        leaf.connect();
        leaf.sent.clear();
    }
    MirroredLeaf leaf;
    std::map<std::string, RowText>& rows = leaf.database.rows;
};

// Following the engine ----------------------------------------------------------------------------

TEST_F(MirrorTest, ShowsEveryObjectAsARow) {
    EXPECT_THAT(rows,
                UnorderedElementsAre(Key(kGlobalRow), Key(kBr0Row), Key(kHostRow), Key(kRouteRow)));
    EXPECT_THAT(rows[kGlobalRow], Contains(Pair("name", "leaf-a1")));
    EXPECT_THAT(rows[kGlobalRow], Contains(Pair("plane", "A")));
    EXPECT_THAT(rows[kGlobalRow], Contains(Pair("version", "0.1.0")));
    EXPECT_THAT(rows[kGlobalRow], Contains(Pair("ready", "true")));
    EXPECT_THAT(rows[kGlobalRow], Contains(Pair("routes", "1")));
    EXPECT_THAT(rows[kGlobalRow], Contains(Pair("hosts", "1")));
    EXPECT_THAT(rows[kBr0Row], Contains(Pair("hosts", "1")));
    EXPECT_THAT(rows[kHostRow], Contains(Pair("port", "swp1")));
    EXPECT_THAT(rows[kRouteRow], Contains(Pair("state", "installed")));
    EXPECT_TRUE(leaf.mirror.in_step());
}

TEST_F(MirrorTest, WritesNothingWhileNothingChanges) {
    leaf.pass(10min);

    EXPECT_THAT(leaf.puts(), IsEmpty());
    EXPECT_EQ(leaf.database.drops, 0U);
}

TEST_F(MirrorTest, WritesANewHostAtOnceAndTheCountsALittleLater) {
    leaf.happen({leaf.kernel.set(on_br0("10.0.0.6"), reachable(mac(6))),
                 leaf.kernel.learn(in_br0(mac(6)), kSwp2)});
    EXPECT_THAT(rows, Contains(Key("PLANED_NEIGHBOR_TABLE|default|br0|10.0.0.6")));
    EXPECT_THAT(rows["PLANED_ROUTE_TABLE|default|10.0.0.6/32"],
                Contains(Pair("state", "installed")));

    leaf.pass(250ms);

    EXPECT_THAT(rows[kGlobalRow], Contains(Pair("hosts", "2")));
    EXPECT_THAT(rows[kGlobalRow], Contains(Pair("routes", "2")));
    EXPECT_THAT(rows[kBr0Row], Contains(Pair("hosts", "2")));
}

TEST_F(MirrorTest, ShowsTheStatesOfLifeThoughTheyDecideNothing) {
    leaf.happen(leaf.kernel.set(on_br0("10.0.0.5"), stale(mac(5))));

    EXPECT_THAT(rows[kHostRow], Contains(Pair("state", "STALE")));
    EXPECT_THAT(leaf.puts(), SizeIs(1));
}

TEST_F(MirrorTest, ShowsThePortToWhichAHostHasMoved) {
    leaf.happen(leaf.kernel.learn(in_br0(mac(5)), kSwp2));

    EXPECT_THAT(rows[kHostRow], Contains(Pair("port", "swp2")));
}

TEST_F(MirrorTest, SaysWhyAHostIsNoRoute) {
    leaf.happen(leaf.kernel.cut(test::without_carrier(leaf.kernel.link(kSwp1))));

    EXPECT_THAT(rows[kHostRow], Contains(Pair("eligible", "false")));
    EXPECT_THAT(rows[kHostRow], Contains(Pair("reason", "port_down")));
    EXPECT_THAT(rows, Not(Contains(Key(kRouteRow))));
}

TEST_F(MirrorTest, ShowsAWithdrawalThatZebraHasNotConfirmed) {
    leaf.answer_routes = false;

    leaf.happen(leaf.kernel.cut(test::without_carrier(leaf.kernel.link(kSwp1))));

    EXPECT_THAT(rows[kRouteRow], Contains(Pair("state", "withdrawing")));
    EXPECT_THAT(rows[kRouteRow], Contains(Pair("reason", "port_down")));
    EXPECT_THAT(rows[kRouteRow], Contains(Pair("interface", "br0")));
}

TEST_F(MirrorTest, ShowsARouteThatZebraHasNotTaken) {
    leaf.answer_routes = false;

    leaf.happen({leaf.kernel.set(on_br0("10.0.0.6"), reachable(mac(6))),
                 leaf.kernel.learn(in_br0(mac(6)), kSwp2)});
    EXPECT_THAT(rows["PLANED_ROUTE_TABLE|default|10.0.0.6/32"], Contains(Pair("state", "pending")));

    leaf.happen(RouteAnswered{.key = test::announces("10.0.0.6", kBr0).key,
                              .answer = RouteAnswer::BetterWon});
    EXPECT_THAT(rows["PLANED_ROUTE_TABLE|default|10.0.0.6/32"],
                Contains(Pair("state", "rejected")));
}

TEST_F(MirrorTest, RemovesTheRowOfAHostThatIsGone) {
    leaf.happen(leaf.kernel.remove(on_br0("10.0.0.5")));
    leaf.pass(1s);

    EXPECT_THAT(rows, UnorderedElementsAre(Key(kGlobalRow), Key(kBr0Row)));
    EXPECT_THAT(rows[kGlobalRow], Contains(Pair("hosts", "0")));
    EXPECT_THAT(rows[kGlobalRow], Contains(Pair("routes", "0")));
}

TEST_F(MirrorTest, RemovesEverythingOfAnInterfaceThatIsServedNoMore) {
    leaf.happen(ConfigChanged{.config = std::make_shared<const Config>()});
    leaf.pass(1s);

    EXPECT_THAT(rows, ElementsAre(Key(kGlobalRow)));
}

TEST_F(MirrorTest, LeavesOutNeighboursThatAreNobodysHosts) {
    leaf.happen(
        {leaf.kernel.set({.link = test::kUp0, .address = ip("10.9.0.1")}, reachable(mac(9))),
         leaf.kernel.set(on_br0("ff02::1"), test::in_state(Nud::NoArp, {}))});

    EXPECT_THAT(rows, SizeIs(4));
}

TEST_F(MirrorTest, CallsEverythingAnewWhenAnInterfaceIsRenamed) {
    Config config = MirroredLeaf::named();
    config.interfaces.push_back(test::interface_config("rail0"));
    leaf.happen(ConfigChanged{.config = std::make_shared<const Config>(config)});

    Link renamed = leaf.kernel.link(kBr0);
    renamed.name = "rail0";
    leaf.happen(leaf.kernel.set(renamed));
    leaf.pass(1s);

    EXPECT_THAT(rows,
                UnorderedElementsAre(Key(kGlobalRow),
                                     Key("PLANED_INTERFACE_TABLE|rail0"),
                                     Key("PLANED_NEIGHBOR_TABLE|default|rail0|10.0.0.5"),
                                     Key(kRouteRow)));
    EXPECT_THAT(rows[kRouteRow], Contains(Pair("interface", "rail0")));
}

TEST_F(MirrorTest, ShowsANameThatPassedToAnotherInterface) {
    // br0 is deleted and made anew under another index, within one turn.
    const IfIndex again{20};
    leaf.happen({leaf.kernel.remove_link(kBr0),
                 leaf.kernel.set(test::bridge(again, "br0")),
                 leaf.kernel.set(test::bridge_port(kSwp1, "swp1", again)),
                 leaf.kernel.set_address(again, test::prefix("10.0.0.1/16")),
                 leaf.kernel.set({.link = again, .address = ip("10.0.0.5")}, reachable(mac(5)))});
    leaf.pass(1s);

    EXPECT_THAT(rows, UnorderedElementsAre(Key(kGlobalRow), Key(kBr0Row), Key(kHostRow)));
    EXPECT_THAT(rows[kBr0Row], Contains(Pair("ifindex", "20")));
    EXPECT_THAT(rows[kHostRow], Contains(Pair("reason", "port_unconfirmed")));
}

TEST_F(MirrorTest, WritesTimesAnewWhenTheClockWasSet) {
    const std::string before = rows[kHostRow]["since"];

    leaf.mirror.set_wall(3'600s);
    leaf.follow();

    EXPECT_NE(rows[kHostRow]["since"], before);
    EXPECT_NE(rows[kGlobalRow]["updated"].substr(0, 13), "1970-01-01T00");
}

TEST_F(MirrorTest, KeepsTheTimeOfAStateThatHasNotChanged) {
    const std::string since = rows[kRouteRow]["since"];
    leaf.pass(10s);

    leaf.mirror.rebuild();
    leaf.follow();

    EXPECT_EQ(rows[kRouteRow]["since"], since);
    EXPECT_THAT(leaf.puts(), IsEmpty());
}

TEST(Mirror, SaysNothingBeforeTheFactsAreWhole) {
    test::Leaf leaf(MirroredLeaf::named(), test::rail());
    leaf.answer_dumps = false;
    Mirror mirror({});
    leaf.engine.keep_changes(true);
    (void)leaf.feed(ZapiUp{.family = "C"});

    mirror.up(leaf.now);
    mirror.take(leaf.engine.take_changes());
    mirror.settle(EngineView(leaf.engine), leaf.now);

    EXPECT_EQ(mirror.next(EngineView(leaf.engine), leaf.now), std::nullopt);
}

TEST(Mirror, FollowsInSlicesHoweverMuchHasChanged) {
    MirroredLeaf leaf(MirroredLeaf::named(), {.planned_per_turn_max = 10});
    std::vector<Input> inputs;
    for (std::uint16_t n = 10; n < 110; ++n) {
        inputs.push_back(leaf.kernel.set(on_br0(fmt::format("10.0.1.{}", n)), reachable(mac(n))));
    }
    (void)leaf.feed(inputs);

    leaf.connect();
    EXPECT_LT(leaf.database.rows.size(), 202U);
    leaf.pass(1s);

    EXPECT_EQ(leaf.database.rows.size(), 204U);
}

// What the database holds -------------------------------------------------------------------------

TEST(Mirror, WritesOnlyWhatIsNotThereAlready) {
    MirroredLeaf leaf;
    leaf.connect();
    MirroredLeaf again;  // The same leaf, at the same time.
    again.database.rows = leaf.database.rows;

    again.connect();

    EXPECT_THAT(again.puts(), IsEmpty());
    EXPECT_TRUE(again.mirror.in_step());
}

TEST(Mirror, RemovesRowsOfOursThatHaveNoObjectAndNobodyElses) {
    MirroredLeaf leaf;
    leaf.database.rows = {{"PLANED_NEIGHBOR_TABLE|default|br0|10.0.0.99", {{"mac", "x"}}},
                          {"PLANED_ROUTE_TABLE|gone|10.0.0.99/32", {{"state", "installed"}}},
                          {"PLANED_PROXY_TABLE|br0|10.0.0.99", {{"state", "installed"}}},
                          {"NEIGH_TABLE|br0|10.0.0.99", {{"a", "b"}}},
                          {"PLANED|global", {{"a", "b"}}}};

    leaf.connect();

    EXPECT_THAT(leaf.database.rows,
                UnorderedElementsAre(Key(kGlobalRow),
                                     Key(kBr0Row),
                                     Key(kHostRow),
                                     Key(kRouteRow),
                                     Key("NEIGH_TABLE|br0|10.0.0.99"),
                                     Key("PLANED|global")));
}

TEST(Mirror, LeavesNoStaleFieldInARow) {
    MirroredLeaf leaf;
    leaf.database.rows = {{kHostRow, {{"mac", "x"}, {"vlan", "7"}}}};

    leaf.connect();

    EXPECT_THAT(leaf.database.rows[kHostRow], SizeIs(7));
    EXPECT_THAT(leaf.database.rows[kHostRow], Not(Contains(Key("vlan"))));
    EXPECT_EQ(leaf.database.replaced, 1U);
}

TEST(Mirror, ReplacesWhatIsNoRow) {
    MirroredLeaf leaf;
    leaf.database.set_wrong_type(kHostRow);

    leaf.connect();

    EXPECT_THAT(leaf.database.rows[kHostRow], Contains(Pair("port", "swp1")));
}

TEST_F(MirrorTest, ReplacesWhatBecameNoRowMeanwhile) {
    leaf.database.set_wrong_type(kHostRow);

    leaf.happen(leaf.kernel.set(on_br0("10.0.0.5"), stale(mac(5))));
    leaf.pass(500ms);

    EXPECT_THAT(rows[kHostRow], Contains(Pair("state", "STALE")));
    EXPECT_EQ(leaf.mirror.refusal(), "");
}

TEST_F(MirrorTest, NoticesAFlushWithinASecond) {
    const auto before = rows;
    rows.clear();

    leaf.pass(1s);

    EXPECT_EQ(rows, before);
}

TEST_F(MirrorTest, NoticesAFlushThoughTheGlobalRowIsWrittenRightAfterIt) {
    leaf.pass(3100ms);  // Between two looks at that row, and no read-back is near.
    rows.clear();
    leaf.happen(leaf.kernel.set(on_br0("10.0.0.7"), reachable(mac(7))));
    ASSERT_TRUE(rows.contains(kGlobalRow));  // As it should be, before anybody looked at it.

    leaf.pass(1s);

    EXPECT_TRUE(rows.contains(kHostRow));
    EXPECT_TRUE(rows.contains(kRouteRow));
}

TEST_F(MirrorTest, NoticesFlushAfterFlush) {
    const auto before = rows;
    for (int i = 0; i < 20; ++i) {
        rows.clear();

        leaf.pass(1s);

        EXPECT_EQ(rows, before) << i;
    }
}

TEST_F(MirrorTest, HealsARestoredOldSnapshotWithinASecond) {
    const auto old = rows;
    leaf.happen(leaf.kernel.remove(on_br0("10.0.0.5")));
    leaf.happen(leaf.kernel.set(on_br0("10.0.0.7"), reachable(mac(7))));
    leaf.pass(10s);
    const auto before = rows;

    rows = old;
    leaf.pass(1s);

    EXPECT_EQ(rows, before);
}

TEST_F(MirrorTest, FindsWhatOthersDidToSingleRowsWithinAMinute) {
    const auto before = rows;
    rows.erase(kHostRow);
    rows[kRouteRow]["state"] = "rejected";
    rows["PLANED_ROUTE_TABLE|default|10.0.0.99/32"] = {{"state", "installed"}};

    leaf.pass(61s);

    EXPECT_EQ(rows, before);
}

TEST_F(MirrorTest, ReadsBackOnceMoreShortlyAfterAConnectionBegan) {
    const std::size_t before = leaf.database.read_backs;
    leaf.database.rows["PLANED_ROUTE_TABLE|default|10.0.0.99/32"] = {{"state", "installed"}};

    leaf.pass(2s);

    EXPECT_EQ(leaf.database.read_backs, before + 1);
    EXPECT_THAT(rows, SizeIs(4));
}

TEST_F(MirrorTest, WritesEverythingToADatabaseThatCameBackEmpty) {
    const auto before = rows;
    leaf.mirror.lost();
    rows.clear();
    leaf.pass(1min);
    EXPECT_THAT(rows, IsEmpty());
    EXPECT_FALSE(leaf.mirror.in_step());

    leaf.connect();

    EXPECT_EQ(rows, before);
    EXPECT_TRUE(leaf.mirror.in_step());
}

TEST_F(MirrorTest, QueuesNothingButNamesWhileTheDatabaseIsAway) {
    leaf.mirror.lost();
    for (int i = 0; i < 1000; ++i) {
        const Nud state = i % 2 == 0 ? Nud::Stale : Nud::Reachable;
        leaf.happen(leaf.kernel.set(on_br0("10.0.0.5"), test::in_state(state, mac(5))));
    }

    EXPECT_LE(leaf.mirror.queued(), 8U);
}

TEST_F(MirrorTest, AnswersOfALostConnectionCountNot) {
    leaf.mirror.lost();
    leaf.mirror.up(leaf.now);
    (void)leaf.mirror.next(EngineView(leaf.engine), leaf.now);

    leaf.mirror.answered(1, kHostRow, Answer::Done, "", leaf.now);
    leaf.mirror.read_back_finished(true, leaf.now);
    rows.clear();
    leaf.follow();

    EXPECT_THAT(rows, SizeIs(4));
}

TEST_F(MirrorTest, AsksNoMoreThanTheWindowAtOnce) {
    MirroredLeaf small(MirroredLeaf::named(), {.in_flight_max = 2});
    small.mirror.up(small.now);
    small.mirror.settle(EngineView(small.engine), small.now);
    std::vector<MirrorOp> ops;
    (void)small.mirror.next(EngineView(small.engine), small.now);
    small.mirror.read_back_finished(true, small.now);

    while (const auto op = small.mirror.next(EngineView(small.engine), small.now)) {
        ops.push_back(*op);
    }

    EXPECT_THAT(ops, SizeIs(2));
}

TEST(Mirror, WaitsForAReadBackThatTakesLongOnlySoLong) {
    MirroredLeaf leaf;
    leaf.mirror.up(leaf.now);
    leaf.mirror.settle(EngineView(leaf.engine), leaf.now);
    ASSERT_EQ(leaf.mirror.next(EngineView(leaf.engine), leaf.now), MirrorOp(ReadBack{}));
    EXPECT_EQ(leaf.mirror.next(EngineView(leaf.engine), leaf.now), std::nullopt);

    leaf.now += 500ms;

    EXPECT_LE(leaf.mirror.wake_at(true), leaf.now);
    std::size_t puts = 0;
    while (const auto op = leaf.mirror.next(EngineView(leaf.engine), leaf.now)) {
        puts += std::holds_alternative<PutRow>(*op) ? 1U : 0U;
    }
    EXPECT_EQ(puts, 4U);
}

TEST_F(MirrorTest, ReadsAgainWhatCouldNotBeReadToItsEnd) {
    leaf.mirror.lost();
    leaf.mirror.up(leaf.now);
    ASSERT_EQ(leaf.mirror.next(EngineView(leaf.engine), leaf.now), MirrorOp(ReadBack{}));
    leaf.mirror.read_back_finished(false, leaf.now);
    const std::size_t before = leaf.database.read_backs;

    leaf.pass(1s);

    EXPECT_EQ(leaf.database.read_backs, before + 1);
    EXPECT_TRUE(leaf.mirror.in_step());
}

// Refusals ----------------------------------------------------------------------------------------

TEST_F(MirrorTest, TriesAFullDatabaseTwiceASecondWithOneRow) {
    leaf.database.full = true;
    for (std::uint16_t n = 10; n < 30; ++n) {
        leaf.happen(leaf.kernel.set(on_br0(fmt::format("10.0.1.{}", n)), reachable(mac(n))));
    }
    leaf.pass(1s);
    leaf.sent.clear();

    leaf.pass(10s);

    EXPECT_EQ(leaf.mirror.refusal(), "OOM");
    EXPECT_THAT(leaf.puts(), SizeIs(testing::AllOf(testing::Ge(18U), testing::Le(22U))));
}

TEST_F(MirrorTest, RemovesRowsFromAFullDatabase) {
    leaf.database.full = true;
    leaf.happen(leaf.kernel.set(on_br0("10.0.0.5"), stale(mac(5))));
    ASSERT_EQ(leaf.mirror.refusal(), "OOM");

    leaf.happen(leaf.kernel.remove(on_br0("10.0.0.5")));

    EXPECT_THAT(rows, Not(Contains(Key(kHostRow))));
    EXPECT_EQ(leaf.mirror.refusal(), "OOM");
}

TEST_F(MirrorTest, IsRightWithinASecondOnceADatabaseTakesRowsAgain) {
    leaf.database.full = true;
    for (std::uint16_t n = 10; n < 200; ++n) {
        leaf.happen(leaf.kernel.set(on_br0(fmt::format("10.0.1.{}", n)), reachable(mac(n))));
    }
    leaf.pass(1min);

    leaf.database.full = false;
    leaf.pass(1s);

    EXPECT_EQ(leaf.mirror.refusal(), "");
    EXPECT_EQ(rows.size(), 4U + 2 * 190U);
}

TEST_F(MirrorTest, BearsAReadOnlyDatabase) {
    leaf.database.read_only = true;
    leaf.happen(leaf.kernel.remove(on_br0("10.0.0.5")));
    leaf.happen(leaf.kernel.set(on_br0("10.0.0.6"), reachable(mac(6))));
    leaf.pass(10s);
    EXPECT_EQ(leaf.mirror.refusal(), "READONLY");
    EXPECT_THAT(rows, Contains(Key(kHostRow)));

    leaf.database.read_only = false;
    leaf.pass(1s);

    EXPECT_EQ(leaf.mirror.refusal(), "");
    EXPECT_THAT(rows, Not(Contains(Key(kHostRow))));
    EXPECT_THAT(rows, Contains(Key("PLANED_NEIGHBOR_TABLE|default|br0|10.0.0.6")));
}

TEST_F(MirrorTest, NoticesTheEndOfARefusalThoughNothingIsToBeWritten) {
    leaf.database.full = true;
    leaf.happen(leaf.kernel.set(on_br0("10.0.0.5"), stale(mac(5))));
    leaf.happen(leaf.kernel.remove(on_br0("10.0.0.5")));
    leaf.pass(5s);
    ASSERT_EQ(leaf.mirror.refusal(), "OOM");

    leaf.database.full = false;
    leaf.pass(1s);

    EXPECT_EQ(leaf.mirror.refusal(), "");
}

}  // namespace
}  // namespace planed::statedb
