// SPDX-License-Identifier: Apache-2.0
#include "core/conflicts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "support/builders.hpp"

namespace planed {
namespace {

using test::ip;
using test::kStart;
using test::mac;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr DuplicatesConfig kConfig{.max_moves = 3, .window = 60s, .freeze = 100s};

NeighborKey claimed(std::uint32_t n = 5) {
    return {.link = IfIndex{10}, .address = ip("10.0.0." + std::to_string(n))};
}

TEST(Conflicts, FreezeToTheFirstOwner) {
    Conflicts conflicts;

    EXPECT_FALSE(conflicts.moved(claimed(), mac(1), mac(2), kStart, kConfig));
    EXPECT_FALSE(conflicts.moved(claimed(), mac(2), mac(1), kStart + 1s, kConfig));
    EXPECT_EQ(conflicts.frozen(claimed()), nullptr);
    EXPECT_TRUE(conflicts.moved(claimed(), mac(1), mac(2), kStart + 2s, kConfig));

    ASSERT_NE(conflicts.frozen(claimed()), nullptr);
    EXPECT_EQ(conflicts.frozen(claimed())->owner, mac(1));
    EXPECT_EQ(conflicts.frozen(claimed())->other, mac(2));
    EXPECT_EQ(conflicts.frozen(claimed())->until, kStart + 102s);
    EXPECT_FALSE(conflicts.moved(claimed(), mac(1), mac(2), kStart + 3s, kConfig));  // Once.
}

TEST(Conflicts, NameTheOtherOneAlsoAfterAMoveBack) {
    Conflicts conflicts;
    DuplicatesConfig config = kConfig;
    config.max_moves = 2;

    (void)conflicts.moved(claimed(), mac(1), mac(2), kStart, config);
    EXPECT_TRUE(conflicts.moved(claimed(), mac(2), mac(1), kStart, config));

    EXPECT_EQ(conflicts.frozen(claimed())->owner, mac(1));
    EXPECT_EQ(conflicts.frozen(claimed())->other, mac(2));
}

TEST(Conflicts, AreNoneWhereMovesAreFarApart) {
    Conflicts conflicts;

    for (int i = 0; i < 10; ++i) {
        EXPECT_FALSE(conflicts.moved(claimed(), mac(1), mac(2), kStart + i * 30s, kConfig));
    }
}

TEST(Conflicts, AreNoneIfSwitchedOff) {
    Conflicts conflicts;
    DuplicatesConfig config = kConfig;
    config.max_moves = 0;

    for (int i = 0; i < 10; ++i) {
        EXPECT_FALSE(conflicts.moved(claimed(), mac(1), mac(2), kStart, config));
    }
    EXPECT_TRUE(conflicts.empty());
}

TEST(Conflicts, EndInTime) {
    Conflicts conflicts;
    (void)conflicts.moved(claimed(6), mac(6), mac(7), kStart, kConfig);
    for (int i = 0; i < 3; ++i) {
        (void)conflicts.moved(claimed(), mac(1), mac(2), kStart, kConfig);
    }

    EXPECT_EQ(conflicts.wake_at(), kStart + 60s);
    EXPECT_THAT(conflicts.thaw(kStart + 60s), IsEmpty());
    EXPECT_EQ(conflicts.size(), 1U);  // Who moved once is forgotten.
    EXPECT_EQ(conflicts.wake_at(), kStart + 100s);
    EXPECT_THAT(conflicts.thaw(kStart + 100s), ElementsAre(claimed()));
    EXPECT_EQ(conflicts.wake_at(), std::nullopt);
}

TEST(Conflicts, AreBounded) {
    Conflicts conflicts;
    for (std::uint32_t n = 0; n < 2 * limits::kConflictsMax; ++n) {
        const NeighborKey key{.link = IfIndex{n + 1}, .address = ip("10.0.0.5")};
        (void)conflicts.moved(key, mac(1), mac(2), kStart, kConfig);
    }

    EXPECT_EQ(conflicts.size(), limits::kConflictsMax);
}

}  // namespace
}  // namespace planed
