// SPDX-License-Identifier: Apache-2.0
// Rules 1 to 4: wishes, answers and lost sessions.
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
    EXPECT_EQ(sink.size(), 0U);
}

TEST_F(ReconcilerTest, IsQuietAsSoonAsTheLastAnswerIsIn) {
    sink.want("a", 1);
    EXPECT_FALSE(sink.quiet());
    const Op put = drain().at(0);
    EXPECT_FALSE(sink.quiet());

    sink.complete(put, OpResult::Done, now);

    EXPECT_TRUE(sink.quiet());
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
    sink.reject("a", now);
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

}  // namespace
}  // namespace planed
