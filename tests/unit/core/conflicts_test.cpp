// SPDX-License-Identifier: Apache-2.0
#include "core/conflicts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "support/builders.hpp"

namespace planed {
namespace {

using test::ip;
using test::mac;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr TimePoint kNow{1h};
constexpr DuplicatesConfig kConfig{.max_moves = 3, .window = 60s, .freeze = 100s};

NeighborKey host(std::uint32_t n = 5) {
    return {.link = IfIndex{10}, .address = ip("10.0.0." + std::to_string(n))};
}

TEST(Conflicts, FreezeToTheFirstOwner) {
    Conflicts conflicts;

    EXPECT_FALSE(conflicts.moved(host(), mac(1), mac(2), kNow, kConfig));
    EXPECT_FALSE(conflicts.moved(host(), mac(2), mac(1), kNow + 1s, kConfig));
    EXPECT_EQ(conflicts.frozen(host()), nullptr);
    EXPECT_TRUE(conflicts.moved(host(), mac(1), mac(2), kNow + 2s, kConfig));

    ASSERT_NE(conflicts.frozen(host()), nullptr);
    EXPECT_EQ(conflicts.frozen(host())->owner, mac(1));
    EXPECT_EQ(conflicts.frozen(host())->other, mac(2));
    EXPECT_EQ(conflicts.frozen(host())->until, kNow + 102s);
    EXPECT_FALSE(conflicts.moved(host(), mac(1), mac(2), kNow + 3s, kConfig));  // Once.
}

TEST(Conflicts, NameTheOtherOneAlsoAfterAMoveBack) {
    Conflicts conflicts;
    DuplicatesConfig config = kConfig;
    config.max_moves = 2;

    (void)conflicts.moved(host(), mac(1), mac(2), kNow, config);
    EXPECT_TRUE(conflicts.moved(host(), mac(2), mac(1), kNow, config));

    EXPECT_EQ(conflicts.frozen(host())->owner, mac(1));
    EXPECT_EQ(conflicts.frozen(host())->other, mac(2));
}

TEST(Conflicts, AreNoneWhereMovesAreFarApart) {
    Conflicts conflicts;

    for (int i = 0; i < 10; ++i) {
        EXPECT_FALSE(conflicts.moved(host(), mac(1), mac(2), kNow + i * 30s, kConfig));
    }
}

TEST(Conflicts, AreNoneIfSwitchedOff) {
    Conflicts conflicts;
    DuplicatesConfig config = kConfig;
    config.max_moves = 0;

    for (int i = 0; i < 10; ++i) {
        EXPECT_FALSE(conflicts.moved(host(), mac(1), mac(2), kNow, config));
    }
    EXPECT_TRUE(conflicts.empty());
}

TEST(Conflicts, EndInTime) {
    Conflicts conflicts;
    (void)conflicts.moved(host(6), mac(6), mac(7), kNow, kConfig);
    for (int i = 0; i < 3; ++i) {
        (void)conflicts.moved(host(), mac(1), mac(2), kNow, kConfig);
    }

    EXPECT_EQ(conflicts.wake_at(), kNow + 60s);
    EXPECT_THAT(conflicts.thaw(kNow + 60s), IsEmpty());
    EXPECT_EQ(conflicts.size(), 1U);  // Who moved once is forgotten.
    EXPECT_EQ(conflicts.wake_at(), kNow + 100s);
    EXPECT_THAT(conflicts.thaw(kNow + 100s), ElementsAre(host()));
    EXPECT_EQ(conflicts.wake_at(), std::nullopt);
}

TEST(Conflicts, AreBounded) {
    Conflicts conflicts;
    for (std::uint32_t n = 0; n < 2 * limits::kConflictsMax; ++n) {
        const NeighborKey key{.link = IfIndex{n + 1}, .address = ip("10.0.0.5")};
        (void)conflicts.moved(key, mac(1), mac(2), kNow, kConfig);
    }

    EXPECT_EQ(conflicts.size(), limits::kConflictsMax);
}

}  // namespace
}  // namespace planed
