// SPDX-License-Identifier: Apache-2.0
#include "core/dump_epoch.hpp"

#include <gtest/gtest.h>

namespace planed {
namespace {

TEST(DumpEpoch, AcceptsRowsOfKeysThatNoEventHasNamed) {
    DumpEpoch<int> epoch;
    std::uint32_t mark = 0;
    epoch.mark(mark);

    epoch.begin();

    EXPECT_TRUE(epoch.accepts_row(1, &mark));
    EXPECT_TRUE(epoch.accepts_row(2, nullptr));
}

TEST(DumpEpoch, AcceptsNoRowsOutsideADump) {
    DumpEpoch<int> epoch;
    EXPECT_FALSE(epoch.accepts_row(1, nullptr));

    epoch.begin();
    (void)epoch.finish(true);

    EXPECT_FALSE(epoch.accepts_row(1, nullptr));
}

TEST(DumpEpoch, LetsAnEventOverruleTheRow) {
    DumpEpoch<int> epoch;
    std::uint32_t mark = 0;
    epoch.begin();

    epoch.mark(mark);

    EXPECT_FALSE(epoch.accepts_row(1, &mark));
}

TEST(DumpEpoch, DoesNotBringBackWhatAnEventDeleted) {
    DumpEpoch<int> epoch;
    epoch.begin();

    epoch.note_deleted(1);

    EXPECT_FALSE(epoch.accepts_row(1, nullptr));
    EXPECT_TRUE(epoch.accepts_row(2, nullptr));
}

TEST(DumpEpoch, ForgetsDeletionsWithTheNextDump) {
    DumpEpoch<int> epoch;
    epoch.begin();
    epoch.note_deleted(1);
    (void)epoch.finish(true);

    epoch.begin();

    EXPECT_TRUE(epoch.accepts_row(1, nullptr));
}

TEST(DumpEpoch, DoesNotKeepDeletionsFromBeforeTheDump) {
    DumpEpoch<int> epoch;
    epoch.note_deleted(1);

    epoch.begin();

    EXPECT_TRUE(epoch.accepts_row(1, nullptr));
}

TEST(DumpEpoch, ConcludesAbsenceFromACompleteDumpAlone) {
    DumpEpoch<int> epoch;
    EXPECT_FALSE(epoch.finish(true));  // None was running.

    epoch.begin();
    EXPECT_FALSE(epoch.finish(false));
    epoch.begin();
    EXPECT_TRUE(epoch.finish(true));
}

TEST(DumpEpoch, TellsWhatANewDumpHasNotNamedYet) {
    DumpEpoch<int> epoch;
    std::uint32_t old_mark = 0;
    std::uint32_t new_mark = 0;
    epoch.mark(old_mark);

    epoch.begin();
    epoch.mark(new_mark);

    EXPECT_FALSE(epoch.is_marked(old_mark));
    EXPECT_TRUE(epoch.is_marked(new_mark));
}

}  // namespace
}  // namespace planed
