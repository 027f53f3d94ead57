// SPDX-License-Identifier: Apache-2.0
#include "config/diff.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace planed::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Config changed() {
    Config config;
    config.state_dir = "/tmp";
    config.interfaces.push_back({.name = "swp1"});
    config.routes.distance = 7;
    config.routes.damping.hold = 1s;
    config.frr.stale_time = 1min;
    config.api.tls.key = "/k";
    config.metrics.listen = "127.0.0.1:9464";
    config.plugins.push_back({.path = "/p", .options = {}});
    return config;
}

TEST(Diff, IsEmptyBetweenEquals) {
    EXPECT_EQ(diff(changed(), changed()), Changes{});
}

TEST(Diff, NamesWhatChangedInTheOrderOfTheFile) {
    const Changes changes = diff(Config{}, changed());

    EXPECT_THAT(changes.keys,
                ElementsAre("state_dir",
                            "interfaces",
                            "routes.distance",
                            "routes.damping.hold",
                            "frr.stale_time",
                            "api.tls.key",
                            "metrics.listen",
                            "plugins"));
    EXPECT_THAT(
        changes.parts,
        ElementsAre("state_dir", "interfaces", "routes", "frr", "api", "metrics", "plugins"));
    EXPECT_THAT(changes.needs_restart,
                ElementsAre("state_dir", "frr.stale_time", "api.tls.key", "plugins"));
}

TEST(Diff, SeesAChangeInsideAListElement) {
    Config before;
    before.interfaces.push_back({.name = "swp1"});
    Config after = before;
    after.interfaces[0].hosts.push_back(
        {.address = IpAddress::v4(10, 0, 0, 5), .mac = {}, .port = ""});

    EXPECT_THAT(diff(before, after).keys, ElementsAre("interfaces"));
    EXPECT_THAT(diff(before, after).needs_restart, IsEmpty());
}

TEST(Diff, TakesEvpnLive) {
    Config after;
    after.evpn.router_id = IpAddress::v4(10, 66, 0, 1);
    after.evpn.peers.push_back({.address = IpAddress::v4(10, 66, 0, 2), .remote_as = 1});

    EXPECT_THAT(diff(Config{}, after).keys, ElementsAre("evpn.router_id", "evpn.peers"));
    EXPECT_THAT(diff(Config{}, after).needs_restart, IsEmpty());
    EXPECT_EQ(live_part(Config{}, after), after);
}

TEST(Diff, TakesSegmentsLive) {
    Config before;
    before.evpn.vrfs = {{.vrf = "default", .vni = 1, .route_targets = {{.as = 1}}}};
    before.evpn.segments = {{.port = "a", .system_mac = MacAddress({2, 0, 0, 0, 0, 1}), .id = 1}};
    Config after = before;
    after.evpn.hold = 1s;
    after.evpn.startup_delay = 1s;
    after.evpn.df_wait = 1s;
    after.evpn.vrfs[0].route_targets[0].number = 1;
    after.evpn.segments[0].df.preference = 1;

    EXPECT_THAT(
        diff(before, after).keys,
        ElementsAre(
            "evpn.hold", "evpn.startup_delay", "evpn.df_wait", "evpn.vrfs", "evpn.segments"));
    EXPECT_THAT(diff(before, after).needs_restart, IsEmpty());
    EXPECT_EQ(live_part(before, after), after);
}

// Another spelling of the same is told from it: a segment may be renamed without being another one.
TEST(Diff, TellsTheSpellingsOfASegment) {
    Config before;
    before.evpn.segments = {{.port = "a", .system_mac = MacAddress({2, 0, 0, 0, 0, 1}), .id = 1}};
    Config after;
    after.evpn.segments = {{.port = "a", .esi = before.evpn.segments[0].identifier()}};

    EXPECT_EQ(after.evpn.segments[0].identifier(), before.evpn.segments[0].identifier());
    EXPECT_THAT(diff(before, after).keys, ElementsAre("evpn.segments"));
}

TEST(LivePart, IsAllButWhatNeedsARestart) {
    const Config before;
    const Config after = changed();

    const Config live = live_part(before, after);

    EXPECT_THAT(
        diff(before, live).keys,
        ElementsAre("interfaces", "routes.distance", "routes.damping.hold", "metrics.listen"));
    EXPECT_EQ(diff(live, after).keys, diff(before, after).needs_restart);
}

}  // namespace
}  // namespace planed::config
