// SPDX-License-Identifier: Apache-2.0
// What an audit tells of the rows: those that were not as wanted, and none that is under way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "statedb/mirror.hpp"
#include "unit/statedb/fake_database.hpp"

namespace planed::statedb {
namespace {

using test::in_br0;
using test::kSwp2;
using test::mac;
using test::on_br0;
using test::reachable;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

class MirrorAudit : public testing::Test {
protected:
    MirrorAudit() {
        leaf.connect();
        leaf.pass(5s);
        leaf.sent.clear();
    }
    // From begin to end.
    std::vector<Difference> audit() {
        leaf.mirror.begin_audit();
        leaf.pass(2s);
        EXPECT_TRUE(leaf.mirror.audit().is_done());
        table = leaf.mirror.audit().table();
        std::vector<Difference> found = leaf.mirror.audit().differences();
        leaf.mirror.end_audit();
        return found;
    }

    MirroredLeaf leaf;
    std::map<std::string, RowText>& rows = leaf.database.rows;
    AuditedTable table;
};

TEST_F(MirrorAudit, FindsNothingWhereNothingWasTouched) {
    const TimePoint asked = leaf.now;

    EXPECT_THAT(audit(), IsEmpty());

    EXPECT_EQ(table.entries, rows.size());
    EXPECT_TRUE(table.began && *table.began >= asked);
    EXPECT_EQ(table.trouble, "");
    EXPECT_THAT(leaf.puts(), IsEmpty());
}

TEST_F(MirrorAudit, TellsARowThatSomebodyDeleted) {
    rows.erase(kRouteRow);

    EXPECT_THAT(audit(),
                ElementsAre(Difference{.table = AuditTable::Rows,
                                       .object = kRouteRow,
                                       .wanted = "a row of 5 fields",
                                       .action = "written again"}));
    EXPECT_TRUE(rows.contains(kRouteRow));
    EXPECT_THAT(audit(), IsEmpty());
}

TEST_F(MirrorAudit, TellsTheFieldsThatSomebodyChanged) {
    rows[kHostRow]["port"] = "swp9";
    rows[kHostRow]["colour"] = "red";

    EXPECT_THAT(audit(),
                ElementsAre(Difference{.table = AuditTable::Rows,
                                       .interface = "br0",
                                       .object = kHostRow,
                                       .wanted = "port=swp1",
                                       .found = "port=swp9 colour=red",
                                       .action = "written again"}));
}

TEST_F(MirrorAudit, TellsARowThatNobodyWants) {
    const std::string key = "PLANED_ROUTE_TABLE|default|10.0.0.66/32";
    rows[key] = {{"state", "installed"}};

    EXPECT_THAT(audit(),
                ElementsAre(Difference{.table = AuditTable::Rows,
                                       .object = key,
                                       .found = "a row of 1 field",
                                       .action = "removed"}));
}

TEST_F(MirrorAudit, TellsWhatIsNoRow) {
    leaf.database.set_wrong_type(kRouteRow);

    EXPECT_THAT(audit(),
                ElementsAre(AllOf(Field(&Difference::object, kRouteRow),
                                  Field(&Difference::found, "something that is no row"))));
}

TEST_F(MirrorAudit, DoesNotMindARowThatIsBeingWritten) {
    leaf.mirror.begin_audit();
    leaf.happen({leaf.kernel.set(on_br0("10.0.0.6"), reachable(mac(6))),
                 leaf.kernel.learn(in_br0(mac(6)), kSwp2)});
    leaf.pass(2s);

    EXPECT_TRUE(leaf.mirror.audit().is_done());
    EXPECT_THAT(leaf.mirror.audit().differences(), IsEmpty());
}

TEST_F(MirrorAudit, IsNotDoneBeforeTheDatabaseAnswered) {
    leaf.mirror.lost();
    leaf.mirror.begin_audit();
    leaf.pass(10s);

    EXPECT_FALSE(leaf.mirror.audit().is_done());
    EXPECT_EQ(leaf.mirror.audit().table().trouble, "not read in time");
}

TEST_F(MirrorAudit, BeginsAnewWithAConnection) {
    leaf.mirror.begin_audit();
    leaf.mirror.lost();
    rows["PLANED_ROUTE_TABLE|default|10.0.0.66/32"] = {{"state", "installed"}};
    leaf.connect();
    leaf.pass(3s);

    EXPECT_TRUE(leaf.mirror.audit().is_done());
    EXPECT_THAT(leaf.mirror.audit().differences(), IsEmpty());  // The first read shows others'.
}

TEST_F(MirrorAudit, CountsWhatPeriodicReadsFind) {
    rows.erase(kRouteRow);
    const std::uint64_t reads = leaf.mirror.audit().reads();

    leaf.pass(60s);

    EXPECT_EQ(leaf.mirror.audit().total(), 1U);
    EXPECT_GE(leaf.mirror.audit().reads(), reads + 1);
    EXPECT_THAT(leaf.mirror.audit().differences(), IsEmpty());
}

}  // namespace
}  // namespace planed::statedb
