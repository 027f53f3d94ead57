// SPDX-License-Identifier: Apache-2.0
#include "core/reconciler.hpp"

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace planed {

static void PrintTo(const Reconciler<std::string, int>::Op& op, std::ostream* out) {  // NOLINT
    *out << op.id << ": " << (op.put ? "put " + std::to_string(*op.put) : "delete") << ' '
         << op.key;
}

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Sink = Reconciler<std::string, int>;
using Op = Sink::Op;

constexpr TimePoint kStart{1h};

class ReconcilerTest : public testing::Test {
protected:
    std::vector<Op> drain() {
        std::vector<Op> ops;
        while (auto op = sink.next(now)) {
            ops.push_back(*op);
        }
        return ops;
    }
    // Wanted, sent and taken.
    void hold(const std::string& key, int value) {
        sink.want(key, value);
        const auto op = sink.next(now);
        ASSERT_TRUE(op.has_value());
        sink.complete(*op, OpResult::Done, now);
    }
    std::vector<Op> after(Duration span) {
        now += span;
        return drain();
    }

    TimePoint now = kStart;
    Sink sink{Sink::Options{.in_flight_max = 2}};
};

// Rule 1 ------------------------------------------------------------------------------------------

TEST_F(ReconcilerTest, SendsAWishOnce) {
    sink.want("a", 1);
    sink.want("a", 1);

    EXPECT_THAT(drain(), ElementsAre(Op{.id = 1, .key = "a", .put = 1}));
}

TEST_F(ReconcilerTest, HoldsANewerWishUntilTheAnswer) {
    sink.want("a", 1);
    const std::vector<Op> first = drain();
    sink.want("a", 2);
    EXPECT_THAT(drain(), IsEmpty());

    sink.complete(first.at(0), OpResult::Done, now);

    EXPECT_THAT(drain(), ElementsAre(Op{.id = 2, .key = "a", .put = 2}));
}

TEST_F(ReconcilerTest, SendsAWithdrawalThoughAPutIsUnanswered) {
    sink.want("a", 1);
    (void)drain();

    sink.unwant("a");

    EXPECT_THAT(drain(), ElementsAre(Op{.id = 2, .key = "a", .put = std::nullopt}));
}

TEST_F(ReconcilerTest, SendsAWithdrawalThoughTheWindowIsFull) {
    hold("a", 1);
    sink.want("b", 1);
    sink.want("c", 1);
    sink.want("d", 1);
    EXPECT_EQ(drain().size(), 2U);

    sink.unwant("a");

    EXPECT_THAT(drain(), ElementsAre(Op{.id = 4, .key = "a", .put = std::nullopt}));
}

TEST_F(ReconcilerTest, SendsWithdrawalsBeforePuts) {
    hold("z", 1);
    sink.want("a", 1);
    sink.unwant("z");

    EXPECT_THAT(drain(),
                ElementsAre(Op{.id = 2, .key = "z", .put = std::nullopt},
                            Op{.id = 3, .key = "a", .put = 1}));
}

TEST_F(ReconcilerTest, IgnoresTheAnswerToAPutThatAWithdrawalOvertook) {
    sink.want("a", 1);
    const Op put = drain().at(0);
    sink.unwant("a");
    const Op removal = drain().at(0);

    sink.complete(put, OpResult::Done, now);
    EXPECT_EQ(sink.in_flight("a"), removal);
    sink.complete(removal, OpResult::Done, now);

    EXPECT_EQ(sink.state("a"), SinkState::Absent);
    EXPECT_THAT(drain(), IsEmpty());
    EXPECT_EQ(sink.size(), 0U);
}

TEST_F(ReconcilerTest, PutsAgainAfterTheRemovalIsAnswered) {
    hold("a", 1);
    sink.unwant("a");
    const Op removal = drain().at(0);
    sink.want("a", 1);
    EXPECT_THAT(drain(), IsEmpty());

    sink.complete(removal, OpResult::Done, now);

    EXPECT_THAT(drain(), ElementsAre(Op{.id = 3, .key = "a", .put = 1}));
}

TEST_F(ReconcilerTest, OpensTheWindowAsAnswersCome) {
    sink.want("a", 1);
    sink.want("b", 1);
    sink.want("c", 1);
    const std::vector<Op> first = drain();
    EXPECT_EQ(first.size(), 2U);

    sink.complete(first.at(0), OpResult::Done, now);

    EXPECT_THAT(drain(), ElementsAre(Op{.id = 3, .key = "c", .put = 1}));
}

// Rule 2 ------------------------------------------------------------------------------------------

TEST_F(ReconcilerTest, SendsNothingForAWishTakenBackBeforeItWasSent) {
    sink.want("a", 1);
    sink.unwant("a");

    EXPECT_THAT(drain(), IsEmpty());
    EXPECT_EQ(sink.size(), 0U);
}

TEST_F(ReconcilerTest, QueuesAKeyOnceHoweverOftenTheWishChangesWhileNobodyAsks) {
    hold("held", 1);
    for (int i = 0; i < 1000; ++i) {
        sink.want("new", i);
        sink.unwant("new");
        sink.unwant("held");
        sink.want("held", i);
        sink.reinstall("held");
    }

    EXPECT_LE(sink.queued(), 4U);
}

TEST_F(ReconcilerTest, DoesNotShowAWishThatWasTakenBack) {
    sink.want("a", 1);
    sink.unwant("a");

    std::vector<std::string> shown;
    sink.for_each([&](const std::string& key, const std::optional<int>&, SinkState) {
        shown.push_back(key);
    });

    EXPECT_THAT(shown, IsEmpty());
    EXPECT_EQ(sink.state("a"), SinkState::Absent);
}

TEST_F(ReconcilerTest, SendsNothingForAWithdrawalTakenBackBeforeItWasSent) {
    hold("a", 1);
    sink.unwant("a");
    sink.want("a", 1);

    EXPECT_THAT(drain(), IsEmpty());
    EXPECT_EQ(sink.state("a"), SinkState::Held);
}

// Rule 3 ------------------------------------------------------------------------------------------

TEST_F(ReconcilerTest, DoublesThePauseWhileTheSinkIsBusy) {
    sink.want("a", 1);
    std::vector<Duration> pauses;
    for (int i = 0; i < 11; ++i) {
        const std::vector<Op> ops = drain();
        ASSERT_EQ(ops.size(), 1U);
        sink.complete(ops.at(0), OpResult::Busy, now);
        EXPECT_THAT(drain(), IsEmpty());
        pauses.push_back(*sink.deadline() - now);
        now = *sink.deadline();
    }

    EXPECT_THAT(pauses,
                ElementsAre(100ms,
                            200ms,
                            400ms,
                            800ms,
                            1600ms,
                            3200ms,
                            6400ms,
                            12800ms,
                            25600ms,
                            25600ms,
                            25600ms));
}

TEST_F(ReconcilerTest, StartsThePausesAnewAfterALongRest) {
    sink.want("a", 1);
    sink.complete(drain().at(0), OpResult::Busy, now);
    sink.complete(after(100ms).at(0), OpResult::Done, now);
    now += 1min;
    sink.want("a", 2);

    sink.complete(drain().at(0), OpResult::Busy, now);

    EXPECT_EQ(*sink.deadline() - now, 100ms);
}

TEST_F(ReconcilerTest, SendsAChangedWishThoughTheOldOneWaitsForARetry) {
    sink.want("a", 1);
    sink.complete(drain().at(0), OpResult::Busy, now);

    sink.want("a", 2);

    EXPECT_THAT(drain(), ElementsAre(Op{.id = 2, .key = "a", .put = 2}));
}

TEST_F(ReconcilerTest, PutsAtOnceThoughAFailedRemovalWaitsForARetry) {
    hold("a", 1);
    sink.unwant("a");
    sink.complete(drain().at(0), OpResult::Busy, now);

    sink.want("a", 1);

    EXPECT_THAT(drain(), ElementsAre(Op{.id = 3, .key = "a", .put = 1}));
}

TEST_F(ReconcilerTest, WithdrawsThoughThePutWaitsForARetry) {
    sink.want("a", 1);
    sink.complete(drain().at(0), OpResult::Busy, now);

    sink.unwant("a");

    EXPECT_THAT(drain(), ElementsAre(Op{.id = 2, .key = "a", .put = std::nullopt}));
    EXPECT_EQ(sink.deadline(), now + 2s);
}

TEST_F(ReconcilerTest, RepeatsAFailedRemoval) {
    hold("a", 1);
    sink.unwant("a");
    sink.complete(drain().at(0), OpResult::Busy, now);

    EXPECT_THAT(after(100ms), ElementsAre(Op{.id = 3, .key = "a", .put = std::nullopt}));
}

TEST_F(ReconcilerTest, StaysQuietAfterARejection) {
    sink.want("a", 1);
    sink.complete(drain().at(0), OpResult::Rejected, now);

    EXPECT_THAT(after(1h), IsEmpty());
    EXPECT_EQ(sink.state("a"), SinkState::Rejected);
    EXPECT_EQ(sink.deadline(), std::nullopt);
}

TEST_F(ReconcilerTest, TriesARejectedWishAgainWhenItChanges) {
    sink.want("a", 1);
    sink.complete(drain().at(0), OpResult::Rejected, now);

    sink.want("a", 2);

    EXPECT_THAT(drain(), ElementsAre(Op{.id = 2, .key = "a", .put = 2}));
}

TEST_F(ReconcilerTest, DoesNotRejectTheWishThatCameAfterTheRejectedOne) {
    sink.want("a", 1);
    const Op put = drain().at(0);
    sink.want("a", 2);

    sink.complete(put, OpResult::Rejected, now);

    EXPECT_THAT(drain(), ElementsAre(Op{.id = 2, .key = "a", .put = 2}));
}

TEST_F(ReconcilerTest, BelievesASinkThatTakesARejectedWishAfterAll) {
    sink.want("a", 1);
    sink.complete(drain().at(0), OpResult::Rejected, now);

    sink.observe("a", 1, now);

    EXPECT_EQ(sink.state("a"), SinkState::Held);
    EXPECT_THAT(drain(), IsEmpty());
}

TEST_F(ReconcilerTest, GivesARejectedWishOneMoreTryWithEachAudit) {
    sink.want("a", 1);
    sink.complete(drain().at(0), OpResult::Rejected, now);

    for (int audit = 0; audit < 3; ++audit) {
        now += 60s;
        sink.audit_begin(now);
        sink.audit_end(now);
        const std::vector<Op> ops = drain();
        ASSERT_EQ(ops.size(), 1U);
        EXPECT_EQ(ops.at(0).put, 1);
        sink.complete(ops.at(0), OpResult::Rejected, now);
        EXPECT_THAT(after(30s), IsEmpty());
    }
}

TEST_F(ReconcilerTest, WithdrawsWhatWasTakenOnceAndRejectedLater) {
    hold("a", 1);
    sink.reject("a");
    EXPECT_EQ(sink.state("a"), SinkState::Rejected);

    sink.unwant("a");

    EXPECT_THAT(drain(), ElementsAre(Op{.id = 2, .key = "a", .put = std::nullopt}));
}

// Rule 4 ------------------------------------------------------------------------------------------

TEST_F(ReconcilerTest, PushesEverythingAgainAfterALostSession) {
    hold("held", 1);
    sink.want("refused", 1);
    sink.complete(drain().at(0), OpResult::Rejected, now);
    hold("dying", 1);
    sink.unwant("dying");
    sink.want("asked", 1);
    (void)drain();

    sink.forget_actual();

    std::vector<Op> first = drain();  // The window takes two puts.
    EXPECT_THAT(first,
                ElementsAre(Op{.id = 6, .key = "dying", .put = std::nullopt},
                            Op{.id = 7, .key = "asked", .put = 1},
                            Op{.id = 8, .key = "held", .put = 1}));
    sink.complete(first.at(1), OpResult::Done, now);
    EXPECT_THAT(drain(), ElementsAre(Op{.id = 9, .key = "refused", .put = 1}));
}

TEST_F(ReconcilerTest, IgnoresAnswersOfALostSession) {
    sink.want("a", 1);
    const Op late = drain().at(0);
    sink.forget_actual();
    const Op again = drain().at(0);

    sink.complete(late, OpResult::Rejected, now);

    EXPECT_EQ(sink.in_flight("a"), again);
    EXPECT_EQ(sink.state("a"), SinkState::Pending);
}

TEST_F(ReconcilerTest, ForgetsTheRetriesOfALostSession) {
    sink.want("a", 1);
    sink.complete(drain().at(0), OpResult::Busy, now);

    sink.forget_actual();

    EXPECT_THAT(drain(), ElementsAre(Op{.id = 2, .key = "a", .put = 1}));
}

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

TEST_F(ReconcilerTest, TakesAnOverduePutThatAnAuditDoesNotShowForRejected) {
    sink.want("a", 1);
    (void)drain();
    now += 2s;
    EXPECT_TRUE(sink.overdue(now));

    sink.audit_begin(now);
    sink.audit_end(now);

    EXPECT_EQ(sink.state("a"), SinkState::Rejected);
    EXPECT_FALSE(sink.has_overdue());
}

TEST_F(ReconcilerTest, RepeatsAnOverdueRemovalThatAnAuditStillShows) {
    hold("a", 1);
    sink.unwant("a");
    (void)drain();
    now += 2s;
    EXPECT_TRUE(sink.overdue(now));

    sink.observe("a", 1, now);

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
    EXPECT_THAT(drain(), IsEmpty());
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
    sink.reject("a");

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
