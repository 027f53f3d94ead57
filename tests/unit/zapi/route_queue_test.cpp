// SPDX-License-Identifier: Apache-2.0
#include "zapi/route_queue.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace planed::zapi {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

Route queued(std::uint8_t host, std::uint32_t tag = 7) {
    return {.prefix = host_prefix(IpAddress::v4(10, 0, 0, host)), .out = IfIndex{3}, .tag = tag};
}
Removal removal(std::uint8_t host) {
    return {.vrf = VrfId::Default, .prefix = queued(host).prefix};
}
constexpr Control kMark{.kind = Control::Kind::Mark};
constexpr Control kAnnounce{.kind = Control::Kind::AnnounceVrf, .vrf = VrfId{9}};

std::vector<Outgoing> drain(RouteQueue& queue) {
    std::vector<Outgoing> result;
    while (auto next = queue.pop()) {
        result.push_back(*next);
    }
    return result;
}

TEST(RouteQueue, KeepsTheOrderOfAdditions) {
    RouteQueue queue;
    queue.put(queued(2));
    queue.put(queued(1));

    EXPECT_THAT(drain(queue), ElementsAre(Outgoing(queued(2)), Outgoing(queued(1))));
    EXPECT_TRUE(queue.empty());
}

TEST(RouteQueue, ReplacesAWaitingAdditionInItsPlace) {
    RouteQueue queue;
    queue.put(queued(1, 7));
    queue.put(queued(2));
    queue.put(queued(1, 8));

    EXPECT_EQ(queue.size(), 2U);
    EXPECT_THAT(drain(queue), ElementsAre(Outgoing(queued(1, 8)), Outgoing(queued(2))));
}

TEST(RouteQueue, KeepsTheSamePrefixOfTwoVrfsApart) {
    RouteQueue queue;
    Route other = queued(1);
    other.vrf = VrfId{9};
    queue.put(queued(1));
    queue.put(other);

    EXPECT_THAT(drain(queue), ElementsAre(Outgoing(queued(1)), Outgoing(other)));
}

TEST(RouteQueue, WithdrawsBeforeItAdds) {
    RouteQueue queue;
    queue.put(queued(1));
    queue.put(queued(2));
    queue.remove(removal(3));

    EXPECT_THAT(drain(queue),
                ElementsAre(Outgoing(removal(3)), Outgoing(queued(1)), Outgoing(queued(2))));
}

TEST(RouteQueue, TurnsAWaitingAdditionIntoItsWithdrawal) {
    RouteQueue queue;
    queue.put(queued(1));
    queue.put(queued(2));
    queue.remove(removal(2));

    EXPECT_THAT(drain(queue), ElementsAre(Outgoing(removal(2)), Outgoing(queued(1))));
}

TEST(RouteQueue, HoldsOneOperationPerKeyHoweverOftenItFlaps) {
    RouteQueue queue;
    queue.put(queued(1));
    queue.put(queued(2));
    for (int i = 0; i < 1000; ++i) {
        queue.remove(removal(1));
        queue.put(queued(1));
    }

    EXPECT_EQ(queue.size(), 2U);
    EXPECT_THAT(drain(queue), ElementsAre(Outgoing(queued(1)), Outgoing(queued(2))));
}

TEST(RouteQueue, ForgetsAKeyOnceItIsTakenOut) {
    RouteQueue queue;
    queue.put(queued(1));
    (void)queue.pop();
    queue.remove(removal(1));
    queue.put(queued(2));

    EXPECT_THAT(drain(queue), ElementsAre(Outgoing(removal(1)), Outgoing(queued(2))));
}

TEST(RouteQueue, KeepsControlMessagesBehindWhatWasQueuedBefore) {
    RouteQueue queue;
    queue.put(queued(1));
    queue.remove(removal(2));
    queue.add(kMark);
    queue.put(queued(3));

    EXPECT_THAT(
        drain(queue),
        ElementsAre(
            Outgoing(removal(2)), Outgoing(queued(1)), Outgoing(kMark), Outgoing(queued(3))));
}

TEST(RouteQueue, AnnouncesAVrfBeforeAnyRoute) {
    RouteQueue queue;
    queue.remove(removal(1));
    queue.put(queued(2));
    queue.add(kAnnounce);
    queue.put(queued(1));  // Takes the withdrawal's place.

    EXPECT_THAT(drain(queue),
                ElementsAre(Outgoing(kAnnounce), Outgoing(queued(1)), Outgoing(queued(2))));
}

TEST(RouteQueue, EmptiesAtOnce) {
    RouteQueue queue;
    queue.put(queued(1));
    queue.remove(removal(2));
    queue.add(kMark);

    queue.clear();
    queue.put(queued(1));

    EXPECT_THAT(drain(queue), ElementsAre(Outgoing(queued(1))));
}

TEST(RouteQueue, TakesManyMoreThanItKeepsMemoryFor) {
    RouteQueue queue;
    for (std::uint32_t i = 0; i < 20000; ++i) {
        Route each = queued(1);
        each.vrf = VrfId{i};
        queue.put(each);
    }

    EXPECT_THAT(drain(queue), SizeIs(20000));
    queue.put(queued(1));
    EXPECT_EQ(queue.size(), 1U);
}

TEST(RouteQueue, StaysRightThoughItIsNeverEmpty) {
    RouteQueue queue;
    Route each = queued(1);
    queue.put(each);

    for (std::uint32_t i = 1; i < 20000; ++i) {
        const Route before = each;
        each.vrf = VrfId{i};
        queue.put(each);
        ASSERT_EQ(queue.pop(), Outgoing(before));
        queue.put(before);  // Comes back as if new, and is replaced like any other.
        queue.remove({.vrf = before.vrf, .prefix = before.prefix});
        ASSERT_EQ(queue.pop(), Outgoing(Removal{.vrf = before.vrf, .prefix = before.prefix}));
    }

    EXPECT_EQ(queue.size(), 1U);
}

}  // namespace
}  // namespace planed::zapi
