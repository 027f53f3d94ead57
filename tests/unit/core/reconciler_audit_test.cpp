// SPDX-License-Identifier: Apache-2.0
// Rules 5 to 7, and doubt: what audits find, silence, late answers.
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/core/reconciler_fixture.hpp"

namespace planed {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Rule 5 ------------------------------------------------------------------------------------------

TEST_F(ReconcilerTest, DeletesWhatAnAuditFindsAndNobodyWants) {
    sink.audit_begin(now);
    sink.observe("left over", 1, now);
    sink.audit_end(now);

    EXPECT_THAT(drain(), ElementsAre(Op{.id = 1, .key = "left over", .put = std::nullopt}));
}

TEST_F(ReconcilerTest, CorrectsAValueThatAnAuditFindsChanged) {
    hold("a", 1);
    now += 10s;

    sink.observe("a", 7, now);

    EXPECT_THAT(drain(), ElementsAre(Op{.id = 2, .key = "a", .put = 1}));
}

TEST_F(ReconcilerTest, PutsAgainWhatAnAuditDoesNotShow) {
    hold("a", 1);
    hold("b", 1);
    now += 10s;

    sink.audit_begin(now);
    sink.observe("b", 1, now);
    sink.audit_end(now);

    EXPECT_THAT(drain(), ElementsAre(Op{.id = 3, .key = "a", .put = 1}));
}

// What an audit may call a difference -------------------------------------------------------------

TEST_F(ReconcilerTest, DiffersWhereAnAuditSeesSomethingElseThanWanted) {
    hold("a", 1);
    now += 10s;
    sink.audit_begin(now);

    EXPECT_FALSE(sink.differs("a", 1));
    EXPECT_TRUE(sink.differs("a", 2));
    EXPECT_TRUE(sink.differs("a", std::nullopt));
    EXPECT_TRUE(sink.differs("left over", 1));
    EXPECT_FALSE(sink.differs("nowhere", std::nullopt));
}

TEST_F(ReconcilerTest, DoesNotDifferWhileSomethingIsUnderWay) {
    hold("sent just before", 1);
    now += 900ms;
    sink.audit_begin(now);
    EXPECT_FALSE(sink.differs("sent just before", std::nullopt));

    sink.want("waits", 1);
    EXPECT_FALSE(sink.differs("waits", std::nullopt));
    (void)drain();
    EXPECT_FALSE(sink.differs("waits", std::nullopt));  // For the answer.

    sink.unwant("sent just before");
    EXPECT_FALSE(sink.differs("sent just before", 1));
}

TEST_F(ReconcilerTest, DiffersWhereTheAnswerIsOverdue) {
    sink.want("a", 1);
    (void)drain();
    now += 3s;
    ASSERT_TRUE(sink.overdue(now));
    sink.audit_begin(now);

    EXPECT_TRUE(sink.differs("a", std::nullopt));
    EXPECT_FALSE(sink.differs("a", 1));
}

TEST_F(ReconcilerTest, DiffersWhereTheSinkHasRejectedWhatIsWanted) {
    hold("a", 1);
    sink.reject("a", now);
    now += 10s;
    sink.audit_begin(now);

    EXPECT_TRUE(sink.differs("a", std::nullopt));
}

TEST_F(ReconcilerTest, TellsWhatAnAuditDidNotShowBeforeItDrawsItsConclusion) {
    hold("a", 1);
    hold("b", 1);
    now += 10s;
    std::vector<std::string> missing;

    sink.audit_begin(now);
    sink.observe("b", 1, now);
    sink.audit_end(now, [&](const std::string& key) {
        EXPECT_EQ(sink.state(key), SinkState::Held);
        missing.push_back(key);
    });

    EXPECT_THAT(missing, ElementsAre("a"));
}

TEST_F(ReconcilerTest, ConcludesNothingOnWhatWasSentJustBeforeAnAudit) {
    hold("a", 1);
    now += 500ms;

    sink.audit_begin(now);
    sink.audit_end(now);

    EXPECT_THAT(drain(), IsEmpty());
    EXPECT_EQ(sink.state("a"), SinkState::Held);
}

TEST_F(ReconcilerTest, ConcludesNothingOnWhatWasSentDuringAnAudit) {
    sink.audit_begin(now);
    now += 5s;
    hold("a", 1);
    now += 5s;
    sink.audit_end(now);

    EXPECT_THAT(drain(), IsEmpty());
}

TEST_F(ReconcilerTest, PausesLongerEachTimeWhatItPutIsLost) {
    hold("a", 1);
    sink.observe("a", std::nullopt, now);
    sink.complete(drain().at(0), OpResult::Done, now);

    sink.observe("a", std::nullopt, now);

    EXPECT_THAT(drain(), IsEmpty());
    EXPECT_EQ(*sink.deadline() - now, 200ms);
}

// Rule 6 ------------------------------------------------------------------------------------------

TEST_F(ReconcilerTest, IsSilentWhenTheSinkHoldsWhatIsWanted) {
    hold("a", 1);

    sink.want("a", 1);
    sink.observe("a", 1, now);

    EXPECT_THAT(after(1h), IsEmpty());
    EXPECT_TRUE(sink.quiet());
    EXPECT_EQ(sink.deadline(), std::nullopt);
}

TEST_F(ReconcilerTest, TakesOverWhatTheSinkHeldBefore) {
    sink.want("a", 1);
    sink.observe("a", 1, now);

    EXPECT_THAT(drain(), IsEmpty());
    EXPECT_EQ(sink.state("a"), SinkState::Held);
}

// Rule 7 ------------------------------------------------------------------------------------------

TEST_F(ReconcilerTest, CallsAnOperationOverdueAfterTheTimeout) {
    sink.want("a", 1);
    (void)drain();
    EXPECT_EQ(sink.deadline(), now + 2s);
    EXPECT_FALSE(sink.overdue(now + 1999ms));

    EXPECT_TRUE(sink.overdue(now + 2s));
    EXPECT_EQ(sink.deadline(), std::nullopt);
}

TEST_F(ReconcilerTest, CallsNothingOverdueWhileTheSinkStillAnswersWhatWasAskedBefore) {
    sink.want("a", 1);
    sink.want("b", 1);
    const auto first = sink.next(now);
    const auto second = sink.next(now);
    now += 1900ms;
    sink.complete(*first, OpResult::Done, now);  // It has much to do, and does it in order.

    now += 200ms;
    EXPECT_FALSE(sink.overdue(now));

    now += 1800ms;
    EXPECT_EQ(sink.deadline(), now);
    EXPECT_TRUE(sink.overdue(now));  // Silent for two seconds.
    EXPECT_EQ(sink.in_flight("b"), second);
}

TEST_F(ReconcilerTest, CallsOverdueWhatALaterOperationsAnswerHasOvertaken) {
    sink.want("a", 1);
    (void)drain();
    now += 1500ms;
    sink.want("b", 1);
    const auto later = sink.next(now);
    sink.complete(*later, OpResult::Done, now);

    now += 500ms;

    EXPECT_TRUE(sink.overdue(now));
}

TEST_F(ReconcilerTest, TakesAnAuditsRowForTheAnswer) {
    sink.want("a", 1);
    (void)drain();
    now += 2s;
    EXPECT_TRUE(sink.overdue(now));

    sink.audit_begin(now);
    sink.observe("a", 1, now);
    sink.audit_end(now);

    EXPECT_EQ(sink.state("a"), SinkState::Held);
    EXPECT_FALSE(sink.overdue(now));
}

TEST_F(ReconcilerTest, PutsOnceMoreWhatWasNeitherAnsweredNorShownByAnAudit) {
    sink.want("a", 1);
    (void)drain();
    now += 2s;
    EXPECT_TRUE(sink.overdue(now));

    sink.audit_begin(now);
    sink.audit_end(now);

    EXPECT_FALSE(sink.has_overdue());
    EXPECT_THAT(after(100ms), ElementsAre(Op{.id = 2, .key = "a", .put = 1}));
}

TEST_F(ReconcilerTest, TakesASecondSilenceForARejection) {
    sink.want("a", 1);
    (void)drain();
    for (int round = 0; round < 2; ++round) {
        now += 2s;
        EXPECT_TRUE(sink.overdue(now));
        sink.audit_begin(now);
        sink.audit_end(now);
        (void)after(100ms);
    }

    EXPECT_EQ(sink.state("a"), SinkState::Rejected);
    EXPECT_FALSE(sink.has_overdue());
}

TEST_F(ReconcilerTest, RepeatsAnOverdueRemovalThatAnAuditStillShows) {
    hold("a", 1);
    sink.unwant("a");
    (void)drain();
    now += 2s;
    EXPECT_TRUE(sink.overdue(now));

    sink.audit_begin(now);
    sink.observe("a", 1, now);
    sink.audit_end(now);

    EXPECT_THAT(after(100ms), ElementsAre(Op{.id = 3, .key = "a", .put = std::nullopt}));
}

TEST_F(ReconcilerTest, TakesAnOverdueRemovalThatAnAuditDoesNotShowForDone) {
    hold("a", 1);
    sink.unwant("a");
    (void)drain();
    now += 2s;
    EXPECT_TRUE(sink.overdue(now));

    sink.audit_begin(now);
    sink.audit_end(now);

    EXPECT_EQ(sink.state("a"), SinkState::Absent);
    EXPECT_EQ(sink.size(), 0U);
    EXPECT_FALSE(sink.has_overdue());
}

TEST_F(ReconcilerTest, LetsAnAuditsOlderRowNotEndAYoungOperation) {
    hold("a", 1);
    sink.unwant("a");
    const Op removal = drain().at(0);

    sink.observe("a", 1, now);

    EXPECT_EQ(sink.in_flight("a"), removal);
}

// Reinstall and refresh ---------------------------------------------------------------------------

TEST_F(ReconcilerTest, ReinstallsByRemovalThenPut) {
    hold("a", 1);

    sink.reinstall("a");

    const Op removal = drain().at(0);
    EXPECT_EQ(removal, (Op{.id = 2, .key = "a", .put = std::nullopt}));
    EXPECT_THAT(drain(), IsEmpty());
    sink.complete(removal, OpResult::Done, now);
    EXPECT_THAT(drain(), ElementsAre(Op{.id = 3, .key = "a", .put = 1}));
}

TEST_F(ReconcilerTest, PutsARejectedWishAgainAfterAReinstall) {
    hold("a", 1);
    sink.reject("a", now);

    sink.reinstall("a");

    sink.complete(drain().at(0), OpResult::Done, now);
    EXPECT_THAT(drain(), ElementsAre(Op{.id = 3, .key = "a", .put = 1}));
}

TEST_F(ReconcilerTest, DoesNotLetAnOldRetryDelayAReinstall) {
    sink.want("a", 1);
    sink.complete(drain().at(0), OpResult::Busy, now);

    sink.reinstall("a");

    sink.complete(drain().at(0), OpResult::Done, now);
    EXPECT_THAT(drain(), ElementsAre(Op{.id = 3, .key = "a", .put = 1}));
}

TEST_F(ReconcilerTest, DoesNotReinstallWhatIsUnwantedMeanwhile) {
    hold("a", 1);
    sink.reinstall("a");
    sink.unwant("a");

    const Op removal = drain().at(0);
    sink.complete(removal, OpResult::Done, now);

    EXPECT_THAT(drain(), IsEmpty());
    EXPECT_EQ(sink.size(), 0U);
}

TEST_F(ReconcilerTest, RefreshesByAPutWithoutAGap) {
    hold("a", 1);

    sink.refresh("a");

    EXPECT_THAT(drain(), ElementsAre(Op{.id = 2, .key = "a", .put = 1}));
}

}  // namespace
}  // namespace planed
