// SPDX-License-Identifier: Apache-2.0
#include "core/route_delays.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "support/builders.hpp"

namespace planed::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr RouteDelays::Arrival kHere{.link = IfIndex{10}, .since = kStart};

RouteKey delayed(std::string_view address) {
    return route_key(VrfId::Default, ip(address));
}
RouteDelays with(const RoutesConfig& routes) {
    RouteDelays delays;
    delays.configure(routes);
    return delays;
}

TEST(RouteDelays, AreIdleWhileNothingIsConfigured) {
    RouteDelays delays = with({});

    EXPECT_TRUE(delays.idle());
    EXPECT_TRUE(delays.admits(delayed("10.0.0.5"), kHere, kStart));
    EXPECT_FALSE(delays.keeps(delayed("10.0.0.5"), Loss::Silent, kStart));
    EXPECT_FALSE(delays.keeps(delayed("10.0.0.5"), Loss::PortDown, kStart));
    EXPECT_TRUE(delays.idle());
    EXPECT_EQ(delays.wake_at(), std::nullopt);
}

TEST(RouteDelays, AdmitANewHostWhenItsTimeHasCome) {
    RouteDelays delays = with({.add_delay = 5s});

    EXPECT_FALSE(delays.admits(delayed("10.0.0.5"), kHere, kStart));
    EXPECT_FALSE(delays.admits(delayed("10.0.0.5"), kHere, kStart + 4s));
    EXPECT_EQ(delays.wake_at(), kStart + 5s);
    EXPECT_THAT(delays.due(kStart + 5s, 10), ElementsAre(delayed("10.0.0.5")));
    EXPECT_TRUE(delays.admits(delayed("10.0.0.5"), kHere, kStart + 5s));
    EXPECT_EQ(delays.wake_at(), std::nullopt);
}

TEST(RouteDelays, CountFromTheStartAfterAnInterruption) {
    RouteDelays delays = with({.add_delay = 5s});
    (void)delays.admits(delayed("10.0.0.5"), kHere, kStart);

    delays.refuse(delayed("10.0.0.5"));

    const RouteDelays::Arrival again{.link = IfIndex{10}, .since = kStart + 6s};
    EXPECT_FALSE(delays.admits(delayed("10.0.0.5"), again, kStart + 6s));
    EXPECT_EQ(delays.announced_at(delayed("10.0.0.5")), kStart + 11s);
}

TEST(RouteDelays, AdmitAtOnceWhoHasLeftAnotherLink) {
    RouteDelays delays = with({.add_delay = 5s});
    delays.withdrawn(delayed("10.0.0.5"), kHere.link, kStart);
    delays.withdrawn(delayed("10.0.0.6"), kHere.link, kStart);

    const RouteDelays::Arrival there{.link = IfIndex{11}, .since = kStart + 1s};
    EXPECT_TRUE(delays.admits(delayed("10.0.0.5"), there, kStart + 1s));
    const RouteDelays::Arrival here{.link = IfIndex{10}, .since = kStart + 1s};
    EXPECT_FALSE(delays.admits(delayed("10.0.0.6"), here, kStart + 1s));
    EXPECT_THAT(delays.due(kStart + 5s, 10), IsEmpty());
}

TEST(RouteDelays, KeepARouteAsLongAsItsLossSays) {
    RouteDelays delays = with({.withdraw_delay = {.silent = 3s, .port_down = 7s}});

    EXPECT_TRUE(delays.keeps(delayed("10.0.0.5"), Loss::Silent, kStart));
    EXPECT_TRUE(delays.keeps(delayed("10.0.0.6"), Loss::PortDown, kStart));
    EXPECT_FALSE(delays.keeps(delayed("10.0.0.7"), Loss::Administrative, kStart));

    EXPECT_THAT(delays.due(kStart + 3s, 10), ElementsAre(delayed("10.0.0.5")));
    EXPECT_FALSE(delays.keeps(delayed("10.0.0.5"), Loss::Silent, kStart + 3s));
    EXPECT_EQ(delays.wake_at(), kStart + 7s);
}

TEST(RouteDelays, NeverKeepALostRouteLongerForALaterLoss) {
    RouteDelays delays = with({.withdraw_delay = {.silent = 3s, .port_down = 7s}});

    EXPECT_TRUE(delays.keeps(delayed("10.0.0.5"), Loss::Silent, kStart));
    EXPECT_TRUE(delays.keeps(delayed("10.0.0.5"), Loss::PortDown, kStart + 2s));
    EXPECT_EQ(delays.leaves_at(delayed("10.0.0.5")), kStart + 3s);

    EXPECT_TRUE(delays.keeps(delayed("10.0.0.6"), Loss::PortDown, kStart));
    EXPECT_TRUE(delays.keeps(delayed("10.0.0.6"), Loss::Silent, kStart + 1s));
    EXPECT_EQ(delays.leaves_at(delayed("10.0.0.6")), kStart + 7s);
}

TEST(RouteDelays, EndAtOnceForAnAdministrativeCause) {
    RouteDelays delays = with({.withdraw_delay = {.silent = 3s}});
    (void)delays.keeps(delayed("10.0.0.5"), Loss::Silent, kStart);

    EXPECT_FALSE(delays.keeps(delayed("10.0.0.5"), Loss::Administrative, kStart + 1s));
    EXPECT_TRUE(delays.idle());
}

TEST(RouteDelays, FollowANewConfigurationFromWhenTheyBegan) {
    RouteDelays delays = with({.add_delay = 5s, .withdraw_delay = {.silent = 30s}});
    (void)delays.admits(delayed("10.0.0.5"), kHere, kStart);
    (void)delays.keeps(delayed("10.0.0.6"), Loss::Silent, kStart);

    delays.configure({.add_delay = 2s, .withdraw_delay = {.silent = 10s}});

    EXPECT_EQ(delays.announced_at(delayed("10.0.0.5")), kStart + 2s);
    EXPECT_EQ(delays.leaves_at(delayed("10.0.0.6")), kStart + 10s);
}

TEST(RouteDelays, KeepNoMoreThanTheLimit) {
    RouteDelays delays = with({.withdraw_delay = {.silent = 1h}});
    const auto nth = [](std::size_t n) {
        return RouteKey{.vrf = VrfId{static_cast<std::uint32_t>(n)},
                        .prefix = host_prefix(ip("10.0.0.5"))};
    };
    for (std::size_t n = 0; n < limits::kLeavingMax; ++n) {
        ASSERT_TRUE(delays.keeps(nth(n), Loss::Silent, kStart));
    }

    EXPECT_FALSE(delays.keeps(nth(limits::kLeavingMax), Loss::Silent, kStart));
    EXPECT_EQ(delays.count_leaving(), limits::kLeavingMax);
}

}  // namespace
}  // namespace planed::test
