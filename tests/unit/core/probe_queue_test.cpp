// SPDX-License-Identifier: Apache-2.0
#include "core/probe_queue.hpp"

#include <gtest/gtest.h>

#include "support/builders.hpp"

namespace planed {
namespace {

using test::ip;
using test::kStart;

NeighborKey asked(std::uint8_t a, std::uint8_t b = 0) {
    return {.link = IfIndex{1}, .address = IpAddress::v4(10, 0, a, b)};
}

TEST(ProbeQueue, HandsOutInOrderOfTime) {
    ProbeQueue queue;
    queue.add(asked(1), kStart + 2ms);
    queue.add(asked(2), kStart + 1ms);

    EXPECT_EQ(queue.poll(kStart), std::nullopt);
    EXPECT_EQ(queue.wake_at(), kStart + 1ms);
    EXPECT_EQ(queue.poll(kStart + 2ms), asked(2));
    EXPECT_EQ(queue.poll(kStart + 2ms), asked(1));
    EXPECT_EQ(queue.poll(kStart + 2ms), std::nullopt);
    EXPECT_EQ(queue.wake_at(), std::nullopt);
}

TEST(ProbeQueue, KeepsTheEarlierOfTwoTimes) {
    ProbeQueue queue;
    queue.add(asked(1), kStart + 5ms);
    queue.add(asked(1), kStart + 1ms);
    queue.add(asked(1), kStart + 9ms);

    EXPECT_EQ(queue.size(), 1U);
    EXPECT_EQ(queue.wake_at(), kStart + 1ms);
}

TEST(ProbeQueue, ForgetsWhatWasRemoved) {
    ProbeQueue queue;
    queue.add(asked(1), kStart);
    queue.remove(asked(1));
    queue.remove(asked(2));

    EXPECT_EQ(queue.poll(kStart), std::nullopt);
    EXPECT_EQ(queue.size(), 0U);
}

TEST(ProbeQueue, HandsOutSixtyFourEveryTenMilliseconds) {
    ProbeQueue queue;
    for (std::uint8_t i = 0; i < 130; ++i) {
        queue.add(asked(1, i), kStart);
    }

    std::vector<std::size_t> rounds;
    TimePoint now = kStart;
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
        queue.add(asked(1, i), kStart);
        (void)queue.poll(kStart);
    }
    queue.add(asked(2), kStart + 1s);

    EXPECT_EQ(queue.wake_at(), kStart + 1s);
    EXPECT_EQ(queue.poll(kStart + 1s), asked(2));
}

}  // namespace
}  // namespace planed
