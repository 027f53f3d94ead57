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
    TimePoint least = kNow + 24h;
    TimePoint most = kNow;
    for (int i = 0; i < 1000; ++i) {
        const TimePoint at = queue.next(kNow, 30s);
        least = std::min(least, at);
        most = std::max(most, at);
    }

    EXPECT_EQ(least, kNow + 21s);  // 70 %
    EXPECT_GT(most, kNow + 25s);
    EXPECT_LT(most, kNow + 25500ms);  // 85 %
    EXPECT_TRUE(RefreshQueue::is_fresh(kNow, kNow + 20s, 30s));
    EXPECT_FALSE(RefreshQueue::is_fresh(kNow, kNow + 21s, 30s));
}

}  // namespace
}  // namespace planed
