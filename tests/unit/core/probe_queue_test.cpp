// SPDX-License-Identifier: Apache-2.0
#include "core/probe_queue.hpp"

#include <gtest/gtest.h>

#include "support/builders.hpp"

namespace planed {
namespace {

using test::ip;

NeighborKey host(std::uint8_t a, std::uint8_t b = 0) {
    return {.link = IfIndex{1}, .address = IpAddress::v4(10, 0, a, b)};
}

constexpr TimePoint kNow{1h};

TEST(ProbeQueue, HandsOutInOrderOfTime) {
    ProbeQueue queue;
    queue.add(host(1), kNow + 2ms);
    queue.add(host(2), kNow + 1ms);

    EXPECT_EQ(queue.poll(kNow), std::nullopt);
    EXPECT_EQ(queue.wake_at(), kNow + 1ms);
    EXPECT_EQ(queue.poll(kNow + 2ms), host(2));
    EXPECT_EQ(queue.poll(kNow + 2ms), host(1));
    EXPECT_EQ(queue.poll(kNow + 2ms), std::nullopt);
    EXPECT_EQ(queue.wake_at(), std::nullopt);
}

TEST(ProbeQueue, KeepsTheEarlierOfTwoTimes) {
    ProbeQueue queue;
    queue.add(host(1), kNow + 5ms);
    queue.add(host(1), kNow + 1ms);
    queue.add(host(1), kNow + 9ms);

    EXPECT_EQ(queue.size(), 1U);
    EXPECT_EQ(queue.wake_at(), kNow + 1ms);
}

TEST(ProbeQueue, ForgetsWhatWasRemoved) {
    ProbeQueue queue;
    queue.add(host(1), kNow);
    queue.remove(host(1));
    queue.remove(host(2));

    EXPECT_EQ(queue.poll(kNow), std::nullopt);
    EXPECT_EQ(queue.size(), 0U);
}

TEST(ProbeQueue, HandsOutSixtyFourEveryTenMilliseconds) {
    ProbeQueue queue;
    for (std::uint8_t i = 0; i < 130; ++i) {
        queue.add(host(1, i), kNow);
    }

    std::vector<std::size_t> rounds;
    TimePoint now = kNow;
    for (int round = 0; round < 4; ++round) {
        std::size_t count = 0;
        while (queue.poll(now)) {
            ++count;
        }
        rounds.push_back(count);
        if (queue.size() > 0) {
            EXPECT_EQ(queue.wake_at(), now + 10ms);
        }
        now += 10ms;
    }

    EXPECT_EQ(rounds, (std::vector<std::size_t>{64, 64, 2, 0}));
}

TEST(ProbeQueue, DoesNotWakeInThePastOnceARoundIsOver) {
    ProbeQueue queue;
    for (std::uint8_t i = 0; i < 64; ++i) {
        queue.add(host(1, i), kNow);
        (void)queue.poll(kNow);
    }
    queue.add(host(2), kNow + 1s);

    EXPECT_EQ(queue.wake_at(), kNow + 1s);
    EXPECT_EQ(queue.poll(kNow + 1s), host(2));
}

}  // namespace
}  // namespace planed
