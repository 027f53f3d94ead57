// SPDX-License-Identifier: Apache-2.0
#include "core/dump_schedule.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"

namespace planed {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class DumpScheduleTest : public testing::Test {
protected:
    std::vector<DumpKind> due() {
        std::vector<DumpKind> kinds;
        while (const auto kind = schedule.poll(now)) {
            kinds.push_back(*kind);
        }
        return kinds;
    }
    void run(DumpKind kind, bool complete) {
        schedule.started(kind);
        schedule.finished(kind, complete, complete, now);
    }

    TimePoint now{1h};
    DumpSchedule schedule;
};

TEST_F(DumpScheduleTest, AsksForNothingByItself) {
    EXPECT_THAT(due(), IsEmpty());
    EXPECT_EQ(schedule.wake_at(), std::nullopt);
}

TEST_F(DumpScheduleTest, AsksOnceForWhatWasRequestedTwice) {
    schedule.request(DumpKind::Fdb);
    schedule.request(DumpKind::Links);
    schedule.request(DumpKind::Fdb);

    EXPECT_THAT(due(), ElementsAre(DumpKind::Links, DumpKind::Fdb));
    EXPECT_THAT(due(), IsEmpty());
}

TEST_F(DumpScheduleTest, NeverRunsTwoDumpsOfOneTable) {
    schedule.request(DumpKind::Links);
    (void)due();
    schedule.request(DumpKind::Links);
    now += 10s;

    EXPECT_THAT(due(), IsEmpty());
    EXPECT_EQ(schedule.wake_at(), std::nullopt);
}

TEST_F(DumpScheduleTest, ReadsAgainAfterTheSpacingWhatWasRequestedDuringADump) {
    schedule.request(DumpKind::Links);
    (void)due();
    schedule.request(DumpKind::Links);
    EXPECT_TRUE(schedule.requested(DumpKind::Links));
    run(DumpKind::Links, true);
    EXPECT_THAT(due(), IsEmpty());
    EXPECT_EQ(schedule.wake_at(), now + limits::kDumpSpacing);

    now += limits::kDumpSpacing;

    EXPECT_THAT(due(), ElementsAre(DumpKind::Links));
    EXPECT_FALSE(schedule.requested(DumpKind::Links));
}

TEST_F(DumpScheduleTest, AuditsAMinuteAfterTheLastDump) {
    schedule.request(DumpKind::Neighbors);
    (void)due();
    run(DumpKind::Neighbors, true);

    EXPECT_EQ(schedule.wake_at(), now + 60s);
    now += 60s - 1ns;
    EXPECT_THAT(due(), IsEmpty());
    now += 1ns;
    EXPECT_THAT(due(), ElementsAre(DumpKind::Neighbors));
}

TEST_F(DumpScheduleTest, PausesLongerAfterEachFailure) {
    schedule.request(DumpKind::Links);
    std::vector<Duration> pauses;
    for (int i = 0; i < 8; ++i) {
        ASSERT_THAT(due(), ElementsAre(DumpKind::Links));
        run(DumpKind::Links, false);
        pauses.push_back(*schedule.wake_at() - now);
        now = *schedule.wake_at();
    }

    EXPECT_THAT(pauses, ElementsAre(100ms, 200ms, 400ms, 800ms, 1600ms, 3200ms, 5s, 5s));
}

TEST_F(DumpScheduleTest, ForgetsThePauseAfterASuccess) {
    schedule.request(DumpKind::Links);
    for (const bool complete : {false, false, true}) {
        (void)due();
        run(DumpKind::Links, complete);
        now += 5s;
    }
    schedule.request(DumpKind::Links);
    (void)due();

    run(DumpKind::Links, false);

    EXPECT_EQ(schedule.wake_at(), now + limits::kDumpRetryFirst);
}

TEST_F(DumpScheduleTest, CallsATableSyncedAfterItsFirstCompleteDump) {
    run(DumpKind::Links, false);
    EXPECT_FALSE(schedule.synced(DumpKind::Links));

    run(DumpKind::Links, true);
    EXPECT_TRUE(schedule.synced(DumpKind::Links));
    EXPECT_FALSE(schedule.all_synced());

    run(DumpKind::Addresses, true);
    run(DumpKind::Neighbors, true);
    run(DumpKind::Fdb, true);
    EXPECT_TRUE(schedule.all_synced());
}

TEST_F(DumpScheduleTest, DoesNotLetOneFailingTableHoldUpTheOthers) {
    schedule.request(DumpKind::Links);
    schedule.request(DumpKind::Fdb);
    (void)due();
    run(DumpKind::Links, false);
    run(DumpKind::Fdb, false);

    now += limits::kDumpRetryFirst;

    EXPECT_THAT(due(), ElementsAre(DumpKind::Links, DumpKind::Fdb));
}

}  // namespace
}  // namespace planed
