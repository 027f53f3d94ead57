// SPDX-License-Identifier: Apache-2.0
// What readers hear of: the journal, and the next operation of a sink that takes no puts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/core/reconciler_fixture.hpp"

namespace planed {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ReconcilerJournal : public ReconcilerTest {
protected:
    ReconcilerJournal() { sink.keep_journal(true); }
    void complete_all(OpResult result) {
        for (const Op& op : drain()) {
            sink.complete(op, result, now);
        }
    }
};

TEST_F(ReconcilerTest, KeepsNoJournalUnlessAsked) {
    hold("a", 1);
    sink.unwant("a");

    EXPECT_THAT(sink.take_journal(), IsEmpty());
}

TEST_F(ReconcilerJournal, NamesAKeyAtEveryStepOfItsLife) {
    sink.want("a", 1);
    EXPECT_THAT(sink.take_journal(), ElementsAre("a"));
    EXPECT_EQ(sink.state("a"), SinkState::Pending);

    complete_all(OpResult::Done);
    EXPECT_THAT(sink.take_journal(), ElementsAre("a"));
    EXPECT_EQ(sink.state("a"), SinkState::Held);

    sink.unwant("a");
    EXPECT_THAT(sink.take_journal(), ElementsAre("a"));
    EXPECT_EQ(sink.state("a"), SinkState::Withdrawing);
    EXPECT_EQ(sink.shown("a"), 1);

    complete_all(OpResult::Done);
    EXPECT_THAT(sink.take_journal(), ElementsAre("a"));
    EXPECT_EQ(sink.state("a"), SinkState::Absent);
}

TEST_F(ReconcilerJournal, NamesAKeyWhoseWishAloneHasChanged) {
    sink.want("a", 1);
    (void)sink.take_journal();

    sink.want("a", 2);

    EXPECT_THAT(sink.take_journal(), ElementsAre("a"));
}

TEST_F(ReconcilerJournal, IsSilentAboutWhatStaysAsItIs) {
    hold("a", 1);
    (void)sink.take_journal();

    sink.want("a", 1);
    sink.unwant("b");
    sink.audit_begin(now);
    sink.observe("a", 1, now);
    sink.audit_end(now);

    EXPECT_THAT(sink.take_journal(), IsEmpty());
}

TEST_F(ReconcilerJournal, NamesWhatASinkRefusesOrLoses) {
    sink.want("a", 1);
    (void)sink.take_journal();

    complete_all(OpResult::Rejected);
    EXPECT_THAT(sink.take_journal(), ElementsAre("a"));

    sink.want("a", 2);
    complete_all(OpResult::Done);
    (void)sink.take_journal();
    sink.reject("a", now);
    EXPECT_THAT(sink.take_journal(), ElementsAre("a"));

    sink.forget_actual();
    EXPECT_THAT(sink.take_journal(), ElementsAre("a"));
}

TEST_F(ReconcilerJournal, NamesWhatAnAuditFinds) {
    hold("a", 1);
    (void)sink.take_journal();

    now += 10s;
    sink.audit_begin(now);
    sink.observe("b", 7, now);
    sink.audit_end(now);

    EXPECT_THAT(sink.take_journal(), ElementsAre("b", "a"));
}

TEST_F(ReconcilerTest, JournalBeginsWithWhatIsThere) {
    hold("a", 1);
    sink.keep_journal(true);
    EXPECT_THAT(sink.take_journal(), IsEmpty());

    sink.unwant("a");
    for (const Op& op : drain()) {
        sink.complete(op, OpResult::Done, now);
    }

    EXPECT_THAT(sink.take_journal(), ElementsAre("a", "a"));
}

TEST_F(ReconcilerTest, NextDeleteLeavesPutsForLater) {
    hold("a", 1);
    hold("b", 1);
    sink.unwant("a");
    sink.want("c", 1);
    sink.unwant("b");
    sink.want("b", 2);  // Wanted again: it waits with the puts.

    const auto first = sink.next_delete(now);
    EXPECT_EQ(first, (Op{.id = 3, .key = "a", .put = std::nullopt}));
    EXPECT_EQ(sink.next_delete(now), std::nullopt);

    EXPECT_THAT(drain(),
                ElementsAre(Op{.id = 4, .key = "c", .put = 1}, Op{.id = 5, .key = "b", .put = 2}));
}

TEST_F(ReconcilerTest, NextDeleteTriesABusyDeleteAgain) {
    hold("a", 1);
    sink.unwant("a");
    const auto first = sink.next_delete(now);
    ASSERT_TRUE(first);
    sink.complete(*first, OpResult::Busy, now);
    EXPECT_EQ(sink.next_delete(now), std::nullopt);

    now += 1s;

    EXPECT_TRUE(sink.next_delete(now));
}

}  // namespace
}  // namespace planed
