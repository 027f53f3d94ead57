// SPDX-License-Identifier: Apache-2.0
// Rows that are not the engine's: a mirror is handed them whole, when it asks.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "statedb/mirror.hpp"
#include "unit/statedb/fake_database.hpp"

namespace planed::statedb {
namespace {

using test::ip;
using test::mac;
using test::on_br0;
using test::reachable;
using testing::Contains;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::Pair;
using testing::SizeIs;
using testing::UnorderedElementsAre;

const std::string kSegmentRow = "PLANED_SEGMENT_TABLE|03:44:38:39:ff:ff:01:00:00:01";  // NOLINT
const std::string kPeerRow = "PLANED_EVPN_PEER_TABLE|10.66.0.2";                       // NOLINT
const std::string kOtherPeerRow = "PLANED_EVPN_PEER_TABLE|fd00:66::3";                 // NOLINT

SegmentRow segment(std::uint8_t last = 1) {
    return {.esi = {0x03, 0x44, 0x38, 0x39, 0xff, 0xff, 0x01, 0, 0, last},
            .port = "bond1",
            .up = true,
            .announced = true,
            .role = "df",
            .forwarder = "10.66.0.1"};
}

EvpnPeerRow peer(std::string_view address = "10.66.0.2") {
    return {.address = ip(address),
            .remote_as = 65001,
            .state = "established",
            .since = TimePoint{5s},
            .routes = 7};
}

EvpnRows all() {
    return {.segments = {segment()}, .peers = {peer(), peer("fd00:66::3")}};
}

/// Connected, and everything written, EVPN's rows too.
class MirrorEvpnTest : public testing::Test {
protected:
    MirrorEvpnTest() {
        leaf.connect();
        leaf.show(all());
        leaf.pass(1s);
        leaf.sent.clear();
        leaf.evpn_asked = 0;
        leaf.database.drops = 0;
    }
    [[nodiscard]] std::vector<std::string> written() const {
        std::vector<std::string> keys;
        for (const PutRow& put : leaf.puts()) {
            keys.push_back(put.key);
        }
        return keys;
    }
    /// Ten times as often as they are asked for.
    void say_often(Duration span) {
        for (const TimePoint end = leaf.now + span; leaf.now < end;) {
            leaf.mirror.evpn_changed();
            leaf.pass(25ms);
        }
    }

    MirroredLeaf leaf;
    std::map<std::string, RowText>& rows = leaf.database.rows;
};

TEST_F(MirrorEvpnTest, ShowsEverySegmentAndPeerAsARow) {
    EXPECT_THAT(rows,
                UnorderedElementsAre(Key(kGlobalRow),
                                     Key(kBr0Row),
                                     Key(kHostRow),
                                     Key(kRouteRow),
                                     Key(kSegmentRow),
                                     Key(kPeerRow),
                                     Key(kOtherPeerRow)));
    EXPECT_THAT(rows[kSegmentRow], SizeIs(7));
    EXPECT_THAT(rows[kSegmentRow], Contains(Pair("role", "df")));
    EXPECT_THAT(rows[kPeerRow], SizeIs(5));
    EXPECT_THAT(rows[kPeerRow], Contains(Pair("since", "1970-01-01T00:00:05.000000Z")));
    EXPECT_TRUE(leaf.mirror.in_step());
}

TEST_F(MirrorEvpnTest, WritesOnlyTheRowThatHasChanged) {
    EvpnRows rows_now = all();
    rows_now.peers[0].routes = 8;

    leaf.show(rows_now);
    leaf.pass(1s);

    EXPECT_THAT(rows[kPeerRow], Contains(Pair("routes", "8")));
    EXPECT_THAT(written(), UnorderedElementsAre(kPeerRow, kGlobalRow));
}

TEST_F(MirrorEvpnTest, SaysInTheGlobalRowWhenSuchARowHasChanged) {
    const std::string before = rows[kGlobalRow]["updated"];
    EvpnRows rows_now = all();
    rows_now.segments[0].role = "backup";

    leaf.show(rows_now);
    leaf.pass(1s);

    EXPECT_GT(rows[kGlobalRow]["updated"], before);
}

TEST_F(MirrorEvpnTest, WritesNothingForTheSameInAnotherOrder) {
    EvpnRows rows_now = all();
    std::reverse(rows_now.peers.begin(), rows_now.peers.end());

    leaf.show(rows_now);
    leaf.pass(1s);

    EXPECT_EQ(leaf.evpn_asked, 1U);
    EXPECT_THAT(written(), IsEmpty());
}

TEST_F(MirrorEvpnTest, ShowsOfTwoWithOneNameTheFirst) {
    EvpnRows rows_now = all();
    rows_now.segments.push_back(segment());
    rows_now.segments[1].port = "bond2";
    rows_now.peers.push_back(peer());
    rows_now.peers[2].routes = 9;

    leaf.show(rows_now);
    leaf.pass(1s);

    EXPECT_THAT(written(), IsEmpty());
}

TEST_F(MirrorEvpnTest, RemovesTheRowsOfWhatIsGone) {
    leaf.show({.peers = {peer("fd00:66::3")}});
    leaf.pass(1s);

    EXPECT_THAT(rows, Not(Contains(Key(kSegmentRow))));
    EXPECT_THAT(rows, Not(Contains(Key(kPeerRow))));
    EXPECT_THAT(rows, Contains(Key(kOtherPeerRow)));
    EXPECT_EQ(leaf.database.drops, 2U);
    EXPECT_THAT(written(), UnorderedElementsAre(kGlobalRow));
}

TEST_F(MirrorEvpnTest, LeavesOtherRowsAloneWhenOneComesBeforeThem) {
    EvpnRows rows_now = all();
    rows_now.segments.insert(rows_now.segments.begin(), segment(0));

    leaf.show(rows_now);
    leaf.pass(1s);

    EXPECT_THAT(
        written(),
        UnorderedElementsAre("PLANED_SEGMENT_TABLE|03:44:38:39:ff:ff:01:00:00:00", kGlobalRow));
    EXPECT_EQ(leaf.database.drops, 0U);
}

TEST_F(MirrorEvpnTest, ShowsAgainWhatReturns) {
    const RowText before = rows[kPeerRow];
    leaf.show({});
    leaf.pass(1s);
    ASSERT_THAT(rows, SizeIs(4));

    leaf.show(all());
    leaf.pass(1s);

    EXPECT_EQ(rows[kPeerRow], before);
    EXPECT_THAT(rows, SizeIs(7));
}

// When they are asked for -------------------------------------------------------------------------

TEST_F(MirrorEvpnTest, AsksForNothingUnlessItIsTold) {
    leaf.evpn.peers.clear();

    leaf.happen(leaf.kernel.set(on_br0("10.0.0.6"), reachable(mac(6))));
    leaf.pass(10min);

    EXPECT_EQ(leaf.evpn_asked, 0U);
    EXPECT_THAT(rows, Contains(Key(kPeerRow)));
}

TEST_F(MirrorEvpnTest, AsksAtOnceWhenItHasNotAskedForLong) {
    leaf.show({});

    EXPECT_EQ(leaf.evpn_asked, 1U);
    EXPECT_THAT(rows, SizeIs(4));
}

TEST_F(MirrorEvpnTest, AsksOnceHoweverOftenItIsToldBefore) {
    EXPECT_TRUE(leaf.mirror.evpn_changed());
    EXPECT_FALSE(leaf.mirror.evpn_changed());

    leaf.pass(1min);

    EXPECT_EQ(leaf.evpn_asked, 1U);
    EXPECT_TRUE(leaf.mirror.evpn_changed());
}

TEST_F(MirrorEvpnTest, AsksFourTimesASecondWhileTheyChangeAllTheTime) {
    for (int i = 0; i < 400; ++i) {
        leaf.evpn.peers[0].routes = 100U + static_cast<std::size_t>(i);
        leaf.mirror.evpn_changed();
        leaf.pass(25ms);
    }
    leaf.pass(250ms);

    EXPECT_LE(leaf.evpn_asked, 42U);
    EXPECT_GE(leaf.evpn_asked, 38U);
    EXPECT_LE(leaf.puts().size(), 2 * 42U);
    EXPECT_THAT(rows[kPeerRow], Contains(Pair("routes", "499")));
}

TEST_F(MirrorEvpnTest, AsksFourTimesASecondThoughNothingIsDifferent) {
    say_often(10s);

    EXPECT_LE(leaf.evpn_asked, 42U);
    EXPECT_GE(leaf.evpn_asked, 38U);
    EXPECT_THAT(written(), IsEmpty());
}

TEST_F(MirrorEvpnTest, HoldsNoCountUpForRowsThatAreAsTheyWere) {
    say_often(1s);
    leaf.happen(leaf.kernel.set(on_br0("10.0.0.6"), reachable(mac(6))));

    say_often(250ms);

    EXPECT_THAT(rows[kGlobalRow], Contains(Pair("hosts", "2")));
}

TEST_F(MirrorEvpnTest, WaitsWithThemForTheOtherRowsThatCount) {
    leaf.happen(leaf.kernel.set(on_br0("10.0.0.6"), reachable(mac(6))));
    const TimePoint written_at = leaf.now;
    leaf.pass(100ms);

    leaf.show({});
    EXPECT_EQ(leaf.evpn_asked, 0U);
    EXPECT_EQ(leaf.mirror.wake_at(false), written_at + 250ms);
    leaf.pass(150ms);

    EXPECT_EQ(leaf.evpn_asked, 1U);
    EXPECT_THAT(rows, Not(Contains(Key(kPeerRow))));
}

TEST_F(MirrorEvpnTest, WakesForThemWhileTheDatabaseIsAway) {
    leaf.mirror.lost();
    leaf.show({});
    ASSERT_EQ(leaf.evpn_asked, 1U);
    EXPECT_EQ(leaf.mirror.wake_at(true), std::nullopt);

    leaf.mirror.evpn_changed();

    EXPECT_EQ(leaf.mirror.wake_at(true), leaf.now + 250ms);
}

TEST_F(MirrorEvpnTest, WritesTimesAnewWhenTheClockWasSet) {
    leaf.mirror.set_wall(3'600s);
    leaf.pass(1s);

    EXPECT_THAT(rows[kPeerRow], Contains(Pair("since", "1970-01-01T01:00:05.000000Z")));
    EXPECT_THAT(written(), Contains(kOtherPeerRow));
    EXPECT_THAT(written(), Not(Contains(kSegmentRow)));
    EXPECT_EQ(leaf.evpn_asked, 0U);
}

// What the database holds -------------------------------------------------------------------------

TEST(MirrorEvpn, WritesOnlyWhatIsNotThereAlready) {
    MirroredLeaf leaf;
    leaf.show(all());
    leaf.connect();
    MirroredLeaf again;  // The same leaf, at the same time.
    again.database.rows = leaf.database.rows;
    again.show(all());

    again.connect();

    EXPECT_THAT(again.database.rows, SizeIs(7));
    EXPECT_THAT(again.puts(), IsEmpty());
    EXPECT_EQ(again.database.drops, 0U);
}

TEST(MirrorEvpn, RemovesRowsThatHaveNoObject) {
    MirroredLeaf leaf;
    leaf.database.rows = {{kSegmentRow, {{"role", "df"}}},
                          {kPeerRow, {{"state", "established"}}},
                          {"PLANED_SEGMENT_TABLE|x", {{"a", "b"}}},
                          {"EVPN_PEER_TABLE|10.66.0.2", {{"a", "b"}}}};

    leaf.connect();

    EXPECT_THAT(leaf.database.rows,
                UnorderedElementsAre(Key(kGlobalRow),
                                     Key(kBr0Row),
                                     Key(kHostRow),
                                     Key(kRouteRow),
                                     Key("EVPN_PEER_TABLE|10.66.0.2")));
}

TEST(MirrorEvpn, LeavesNoStaleFieldAndNothingThatIsNoRow) {
    MirroredLeaf leaf;
    leaf.database.rows = {{kPeerRow, {{"state", "idle"}, {"vlan", "7"}}}};
    leaf.database.set_wrong_type(kSegmentRow);
    leaf.show(all());

    leaf.connect();

    EXPECT_THAT(leaf.database.rows[kPeerRow], SizeIs(5));
    EXPECT_THAT(leaf.database.rows[kPeerRow], Contains(Pair("state", "established")));
    EXPECT_THAT(leaf.database.rows[kSegmentRow], SizeIs(7));
    EXPECT_EQ(leaf.database.replaced, 2U);
}

TEST(MirrorEvpn, JoinsNamesByTheDatabasesOwnSeparator) {
    MirroredLeaf leaf(MirroredLeaf::named(), {.separator = ":"});
    leaf.show(all());

    leaf.connect();

    EXPECT_THAT(leaf.database.rows,
                Contains(Key("PLANED_SEGMENT_TABLE:03:44:38:39:ff:ff:01:00:00:01")));
    EXPECT_THAT(leaf.database.rows, Contains(Key("PLANED_EVPN_PEER_TABLE:fd00:66::3")));
}

TEST_F(MirrorEvpnTest, WritesThemToADatabaseThatCameBackEmptyAsTheyAreThen) {
    leaf.mirror.lost();
    rows.clear();
    EvpnRows rows_now = all();
    rows_now.peers[0].state = "idle";
    rows_now.peers.pop_back();
    leaf.show(rows_now);
    leaf.pass(1min);
    EXPECT_THAT(rows, IsEmpty());

    leaf.connect();

    EXPECT_THAT(rows,
                UnorderedElementsAre(Key(kGlobalRow),
                                     Key(kBr0Row),
                                     Key(kHostRow),
                                     Key(kRouteRow),
                                     Key(kSegmentRow),
                                     Key(kPeerRow)));
    EXPECT_THAT(rows[kPeerRow], Contains(Pair("state", "idle")));
    EXPECT_TRUE(leaf.mirror.in_step());
}

TEST_F(MirrorEvpnTest, RemovesFromADatabaseThatCameBackFullWhatIsGoneMeanwhile) {
    leaf.mirror.lost();
    leaf.show({.segments = {segment()}});
    leaf.pass(1min);

    leaf.connect();

    EXPECT_THAT(rows, SizeIs(5));
    EXPECT_THAT(rows, Contains(Key(kSegmentRow)));
    EXPECT_THAT(written(), UnorderedElementsAre(kGlobalRow));
}

TEST_F(MirrorEvpnTest, NoticesAFlushWithinASecond) {
    const auto before = rows;
    rows.clear();

    leaf.pass(1s);

    EXPECT_EQ(rows, before);
    EXPECT_EQ(leaf.evpn_asked, 0U);
}

TEST_F(MirrorEvpnTest, FindsWhatOthersDidToSingleRowsWithinAMinute) {
    const auto before = rows;
    rows.erase(kSegmentRow);
    rows[kPeerRow]["state"] = "idle";
    rows["PLANED_EVPN_PEER_TABLE|10.66.0.99"] = {{"state", "established"}};

    leaf.pass(61s);

    EXPECT_EQ(rows, before);
}

TEST_F(MirrorEvpnTest, IsRightWithinASecondOnceADatabaseTakesRowsAgain) {
    leaf.database.full = true;
    EvpnRows rows_now = all();
    rows_now.segments[0].up = false;
    rows_now.peers.pop_back();
    leaf.show(rows_now);
    leaf.pass(10s);
    ASSERT_EQ(leaf.mirror.refusal(), "OOM");
    EXPECT_THAT(rows, Not(Contains(Key(kOtherPeerRow))));

    leaf.database.full = false;
    leaf.pass(1s);

    EXPECT_EQ(leaf.mirror.refusal(), "");
    EXPECT_THAT(rows[kSegmentRow], Contains(Pair("up", "false")));
}

}  // namespace
}  // namespace planed::statedb
