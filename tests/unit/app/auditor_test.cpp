// SPDX-License-Identifier: Apache-2.0
// Who is answered when, and with which audit.
#include "app/auditor.hpp"

#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/leaf.hpp"

namespace planed {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// A quiet leaf, whose rows are played by the test.
class AuditorTest : public testing::Test {
protected:
    AuditorTest() { leaf.answer_dumps = false; }

    void ask(Duration within = 5s) {
        EXPECT_TRUE(auditor.ask(leaf.now + within,
                                [this](auto report) { reports.push_back(std::move(report)); }));
    }
    // One turn of the loop.
    void turn() {
        (void)leaf.feed(std::vector<Input>{});
        auditor.turn(leaf.now);
    }
    void turn_after(Duration span) {
        leaf.now += span;
        turn();
    }
    // The kernel answers all that it was asked.
    void read_all() {
        for (std::size_t i = 0; i < kDumpKinds; ++i) {
            (void)leaf.feed(leaf.kernel.dump(static_cast<DumpKind>(i)));
        }
        rows_read = true;
    }

    test::RailLeaf leaf;
    bool rows_read = false;
    int begun = 0;
    int ended = 0;
    int turns_requested = 0;
    std::vector<std::shared_ptr<const AuditReport>> reports;
    Auditor auditor{leaf.engine,
                    {.request_turn = [this] { ++turns_requested; },
                     .begin_rows = [this] { ++begun; },
                     .end_rows = [this] { ++ended; },
                     .rows_are_read = [this] { return rows_read; },
                     .add_rows =
                         [](AuditReport& report) {
                             report.tables.push_back({.table = AuditTable::Rows, .wanted = false});
                         }}};
};

TEST_F(AuditorTest, AnswersWhenEverythingWasRead) {
    ask();
    turn();
    turn();
    EXPECT_THAT(reports, IsEmpty());

    read_all();
    turn();

    ASSERT_THAT(reports, SizeIs(1));
    EXPECT_THAT(reports[0]->tables, SizeIs(kAuditTables));
    EXPECT_THAT(reports[0]->differences, IsEmpty());
    EXPECT_EQ(ended, 1);
    EXPECT_FALSE(leaf.engine.audits().is_collecting());
    EXPECT_EQ(auditor.wake_at(), std::nullopt);
}

TEST_F(AuditorTest, SharesOneAuditAmongThoseWhoAskTogether) {
    ask();
    ask();
    turn();
    turn();
    read_all();
    turn();

    EXPECT_THAT(reports, SizeIs(2));
    EXPECT_EQ(reports[0], reports[1]);
    EXPECT_EQ(begun, 1);
}

TEST_F(AuditorTest, TellsNobodyWhatWasReadBeforeHeAsked) {
    ask();
    turn();
    ask();
    turn();
    read_all();
    turn();
    EXPECT_THAT(reports, SizeIs(1));
    EXPECT_EQ(begun, 2);

    turn_after(1s);
    read_all();
    turn();

    EXPECT_THAT(reports, SizeIs(2));
    EXPECT_EQ(auditor.wake_at(), std::nullopt);
}

TEST_F(AuditorTest, AnswersInTimeWithWhatIsKnown) {
    ask(2s);
    turn();
    EXPECT_EQ(auditor.wake_at(), leaf.now + 2s);
    leaf.zebra.clear();
    turn_after(2s);

    ASSERT_THAT(reports, SizeIs(1));
    const Difference unread{.table = AuditTable::Neighbors,
                            .object = "neighbors",
                            .wanted = "read",
                            .found = "not read in time",
                            .action = "read again",
                            .whole_table = true};
    EXPECT_THAT(reports[0]->differences, testing::Contains(unread));
    EXPECT_EQ(ended, 1);
    EXPECT_FALSE(leaf.engine.audits().is_collecting());
}

TEST_F(AuditorTest, GoesOnForThoseWhoCanWait) {
    ask(1s);
    ask(9s);
    turn();
    turn_after(1s);
    EXPECT_THAT(reports, SizeIs(1));
    EXPECT_EQ(ended, 0);

    read_all();
    turn();

    EXPECT_THAT(reports, SizeIs(2));
    EXPECT_THAT(reports[1]->differences, IsEmpty());
}

TEST_F(AuditorTest, RefusesToKeepMoreThanSoManyWaiting) {
    for (std::size_t i = 0; i < Auditor::kWaitingMax; ++i) {
        ask();
    }

    EXPECT_FALSE(auditor.ask(leaf.now + 5s, [](const auto& /*report*/) {}));
}

}  // namespace
}  // namespace planed
