// SPDX-License-Identifier: Apache-2.0
#include "core/damping.hpp"

#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "support/builders.hpp"

namespace planed::test {
namespace {

const RouteKey kRoute = route_key(VrfId::Default, ip("10.0.0.5"));

Damping after(std::uint32_t max_flaps) {
    Damping damping;
    damping.configure({.max_flaps = max_flaps, .window = 60s, .hold = 100s});
    return damping;
}
// What the engine does when time has come.
void pass(Damping& damping, TimePoint until) {
    while (damping.wake_at() && *damping.wake_at() <= until) {
        const TimePoint at = *damping.wake_at();
        for (const RouteKey& key : damping.due(at, 100)) {
            (void)damping.expire(key, at);
        }
    }
}

TEST(Damping, IsOffWithoutAMaximum) {
    Damping damping = after(0);

    EXPECT_FALSE(damping.flapped(kRoute, kStart));
    EXPECT_TRUE(damping.idle());
}

TEST(Damping, HoldsAHostAtTheLastFlapWithinTheWindow) {
    Damping damping = after(3);

    EXPECT_FALSE(damping.flapped(kRoute, kStart));
    EXPECT_FALSE(damping.flapped(kRoute, kStart + 10s));
    EXPECT_TRUE(damping.flapped(kRoute, kStart + 59s));
    EXPECT_EQ(damping.held(kRoute, kStart + 60s),
              (Damping::Held{.until = kStart + 159s, .flaps = 3, .hold = 100s}));
    EXPECT_EQ(damping.held(kRoute, kStart + 159s), std::nullopt);
}

TEST(Damping, ForgetsFlapsThatAreOutOfTheWindow) {
    Damping damping = after(3);
    (void)damping.flapped(kRoute, kStart);
    (void)damping.flapped(kRoute, kStart + 10s);

    EXPECT_FALSE(damping.flapped(kRoute, kStart + 60s));
    pass(damping, kStart + 120s);
    EXPECT_TRUE(damping.idle());
}

TEST(Damping, DoublesTheHoldWithEachFurtherFlapUpToTheLimit) {
    Damping damping = after(1);
    (void)damping.flapped(kRoute, kStart);
    EXPECT_EQ(damping.held(kRoute, kStart)->hold, 100s);

    for (const Duration hold : {200s, 400s, 800s, 800s}) {
        (void)damping.flapped(kRoute, kStart + 1s);
        EXPECT_EQ(damping.held(kRoute, kStart + 1s)->hold, hold);
    }
    EXPECT_EQ(damping.held(kRoute, kStart + 1s)->until, kStart + 801s);
    EXPECT_EQ(damping.count_held(), 1U);
}

TEST(Damping, HalvesTheHoldForEachHoldThatPassesInQuiet) {
    Damping damping = after(1);
    for (int i = 0; i < 4; ++i) {
        (void)damping.flapped(kRoute, kStart);
    }
    pass(damping, kStart + 800s);
    EXPECT_EQ(damping.held(kRoute, kStart + 800s), std::nullopt);

    pass(damping, kStart + 900s);  // One doubling of three is forgiven.

    (void)damping.flapped(kRoute, kStart + 950s);
    EXPECT_EQ(damping.held(kRoute, kStart + 950s)->hold, 400s);
    pass(damping, kStart + 1h);
    EXPECT_TRUE(damping.idle());
    EXPECT_EQ(damping.count_held(), 0U);
}

TEST(Damping, ReleasesEverybodyWhenItIsTurnedOff) {
    Damping damping = after(1);
    (void)damping.flapped(kRoute, kStart);

    damping.configure({.max_flaps = 0});

    EXPECT_TRUE(damping.idle());
    EXPECT_EQ(damping.held(kRoute, kStart), std::nullopt);
}

TEST(Damping, KeepsNoMoreHistoriesThanTheLimit) {
    Damping damping = after(1);
    const auto nth = [](std::size_t n) {
        return route_key(VrfId{static_cast<std::uint32_t>(n)}, ip("10.0.0.5"));
    };
    for (std::size_t n = 0; n < limits::kFlapHistoriesMax; ++n) {
        ASSERT_TRUE(damping.flapped(nth(n), kStart));
    }

    EXPECT_FALSE(damping.flapped(nth(limits::kFlapHistoriesMax), kStart));
    EXPECT_EQ(damping.counters().refused, 1U);
    EXPECT_EQ(damping.size(), limits::kFlapHistoriesMax);
}

}  // namespace
}  // namespace planed::test
