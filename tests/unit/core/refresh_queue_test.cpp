// SPDX-License-Identifier: Apache-2.0
#include "core/refresh_queue.hpp"

#include <gtest/gtest.h>

#include "support/builders.hpp"

namespace planed {
namespace {

constexpr TimePoint kNow{1h};

NeighborKey host(std::uint8_t n) {
    return {.link = IfIndex{1}, .address = IpAddress::v4(10, 0, 0, n)};
}

TEST(RefreshQueue, HandsOutInOrderOfTime) {
    RefreshQueue queue;
    queue.add({.at = kNow + 2s, .key = host(1)});
    queue.add({.at = kNow + 1s, .key = host(2)});

    EXPECT_EQ(queue.wake_at(), kNow + 1s);
    EXPECT_EQ(queue.poll(kNow), std::nullopt);
    EXPECT_EQ(queue.poll(kNow + 2s)->key, host(2));
    EXPECT_EQ(queue.poll(kNow + 2s)->key, host(1));
    EXPECT_EQ(queue.wake_at(), std::nullopt);
}

TEST(RefreshQueue, DropsWhatIsStale) {
    RefreshQueue queue;
    for (std::uint8_t n = 1; n <= 100; ++n) {
        queue.add({.at = kNow + std::chrono::seconds(n), .key = host(n)});
    }

    queue.purge([](const RefreshQueue::Due& due) { return due.at <= kNow + 98s; });

    EXPECT_EQ(queue.size(), 2U);
    EXPECT_EQ(queue.wake_at(), kNow + 99s);
}

TEST(RefreshQueue, SpreadsOverTheWindow) {
    RefreshQueue queue;
    const RefreshQueue::Window window = RefreshQueue::window({.refresh = 30s});
    TimePoint least = kNow + 24h;
    TimePoint most = kNow;
    for (int i = 0; i < 1000; ++i) {
        const TimePoint at = queue.next(kNow, window);
        least = std::min(least, at);
        most = std::max(most, at);
    }

    EXPECT_EQ(least, kNow + 21s);  // 70 %
    EXPECT_GT(most, kNow + 25s);
    EXPECT_LT(most, kNow + 25500ms);  // 85 %
    EXPECT_TRUE(RefreshQueue::is_fresh(kNow, kNow + 20s, window));
    EXPECT_FALSE(RefreshQueue::is_fresh(kNow, kNow + 21s, window));
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
