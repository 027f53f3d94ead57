// SPDX-License-Identifier: Apache-2.0
#include "core/refresh_queue.hpp"

#include <gtest/gtest.h>

#include "support/builders.hpp"

namespace planed {
namespace {

using test::kStart;

NeighborKey refreshed(std::uint8_t n) {
    return {.link = IfIndex{1}, .address = IpAddress::v4(10, 0, 0, n)};
}

TEST(RefreshQueue, HandsOutInOrderOfTime) {
    RefreshQueue queue;
    queue.add({.at = kStart + 2s, .key = refreshed(1)});
    queue.add({.at = kStart + 1s, .key = refreshed(2)});

    EXPECT_EQ(queue.wake_at(), kStart + 1s);
    EXPECT_EQ(queue.poll(kStart), std::nullopt);
    EXPECT_EQ(queue.poll(kStart + 2s)->key, refreshed(2));
    EXPECT_EQ(queue.poll(kStart + 2s)->key, refreshed(1));
    EXPECT_EQ(queue.wake_at(), std::nullopt);
}

TEST(RefreshQueue, DropsWhatIsStale) {
    RefreshQueue queue;
    for (std::uint8_t n = 1; n <= 100; ++n) {
        queue.add({.at = kStart + std::chrono::seconds(n), .key = refreshed(n)});
    }

    queue.purge([](const RefreshQueue::Due& due) { return due.at <= kStart + 98s; });

    EXPECT_EQ(queue.size(), 2U);
    EXPECT_EQ(queue.wake_at(), kStart + 99s);
}

TEST(RefreshQueue, SpreadsOverTheWindow) {
    RefreshQueue queue;
    const RefreshQueue::Window window = RefreshQueue::window({.refresh = 30s});
    TimePoint least = kStart + 24h;
    TimePoint most = kStart;
    for (int i = 0; i < 1000; ++i) {
        const TimePoint at = queue.next(kStart, window);
        least = std::min(least, at);
        most = std::max(most, at);
    }

    EXPECT_EQ(least, kStart + 21s);  // 70 %
    EXPECT_GT(most, kStart + 25s);
    EXPECT_LT(most, kStart + 25500ms);  // 85 %
    EXPECT_TRUE(RefreshQueue::is_fresh(kStart, kStart + 20s, window));
    EXPECT_FALSE(RefreshQueue::is_fresh(kStart, kStart + 21s, window));
}

// A host that is last proven just before it dies is gone after `refresh` and one interval more than
// it has attempts, as long as there is room for that.
TEST(RefreshQueue, LeavesRoomForTheAsking) {
    for (const LearningConfig& learning :
         {LearningConfig{},
          LearningConfig{.refresh = 10s, .probe_interval = 1s, .probe_attempts = 3},
          LearningConfig{.refresh = 30s, .probe_interval = 250ms, .probe_attempts = 5},
          LearningConfig{.refresh = 60s, .probe_interval = 2s, .probe_attempts = 8}}) {
        const RefreshQueue::Window window = RefreshQueue::window(learning);
        const Duration bound =
            learning.refresh + (learning.probe_attempts + 1) * learning.probe_interval;

        EXPECT_LE(window.latest + RefreshQueue::asking(learning), bound);
        EXPECT_LT(window.earliest, window.latest);
        EXPECT_GT(window.earliest, 0s);
    }
}

}  // namespace
}  // namespace planed
