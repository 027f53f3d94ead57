// SPDX-License-Identifier: Apache-2.0
#include "bgp/rib_in.hpp"

#include <memory>

#include <gtest/gtest.h>

#include "unit/bgp/session_talk.hpp"

namespace planed::bgp {
namespace {

RouteHeard heard(const Route& route, const Path& path = kPath) {
    return {.route = route, .path = std::make_shared<const Path>(path)};
}

const RibIn::Entry& only(const RibIn& rib) {
    EXPECT_EQ(rib.size(), 1U);
    return rib.entries().begin()->second;
}

TEST(RibIn, KeepsARouteWithItsPath) {
    RibIn rib;

    rib.take(heard(host(1)), kStart);

    EXPECT_EQ(only(rib).route, host(1));
    EXPECT_EQ(*only(rib).path, kPath);
    EXPECT_EQ(only(rib).since, kStart);
    EXPECT_FALSE(rib.is_stale(only(rib)));
}

TEST(RibIn, HasOneRouteAKeyTheNewest) {
    MacIp moved = std::get<MacIp>(host(1));
    moved.esi = {};
    moved.label1 = 200;
    RibIn rib;

    rib.take(heard(host(1)), kStart);
    rib.take(heard(moved), kStart + 1s);

    EXPECT_EQ(only(rib).route, Route(moved));
    EXPECT_EQ(only(rib).since, kStart + 1s);
}

TEST(RibIn, DatesARouteFromItsLastChange) {
    Path longer = kPath;
    longer.attributes.local_pref = 50;
    RibIn rib;
    rib.take(heard(host(1)), kStart);

    rib.take(heard(host(1)), kStart + 1s);
    EXPECT_EQ(only(rib).since, kStart);

    rib.take(heard(host(1), longer), kStart + 2s);
    EXPECT_EQ(only(rib).since, kStart + 2s);
}

TEST(RibIn, ForgetsWhatIsGone) {
    RibIn rib;
    rib.take(heard(host(1)), kStart);

    rib.take(RouteGone{RouteKey(host(2))});
    EXPECT_EQ(rib.size(), 1U);

    rib.take(RouteGone{RouteKey(host(1))});
    EXPECT_EQ(rib.size(), 0U);
}

TEST(RibIn, CallsRoutesStaleUntilTheyAreRepeated) {
    RibIn rib;
    rib.take(heard(host(1)), kStart);
    rib.take(heard(host(2)), kStart);

    rib.end_session();
    rib.take(heard(host(1)), kStart + 1s);

    EXPECT_FALSE(rib.is_stale(rib.entries().at(RouteKey(host(1)))));
    EXPECT_TRUE(rib.is_stale(rib.entries().at(RouteKey(host(2)))));
    EXPECT_EQ(rib.entries().at(RouteKey(host(1))).since, kStart);
}

}  // namespace
}  // namespace planed::bgp
