// SPDX-License-Identifier: Apache-2.0
// What EVPN's VRFs and timers may be, and what is said of the rest.
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.hpp"
#include "unit/config/evpn_text.hpp"
#include "unit/config/lines.hpp"

namespace planed::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// The keys of the only VRF are line 6, from column 8 on.
std::vector<std::string> faults_of_vrf(std::string_view keys) {
    return faults_of(speaker_and(fmt::format("  vrfs:\n    - {{{}}}\n", keys)));
}

TEST(EvpnTimers, MayBeAnythingInTheirRange) {
    EXPECT_THAT(faults_of(speaker_and("  hold: 24h\n  startup_delay: 1h\n  df_wait: 60s\n")),
                IsEmpty());

    const Loaded none =
        load_text(speaker_and("  hold: 0s\n  startup_delay: 0s\n  df_wait: 0s\n"), "f");

    EXPECT_THAT(lines(none.faults), IsEmpty());
    EXPECT_EQ(none.config.evpn.hold, 0s);
    EXPECT_EQ(none.config.evpn.startup_delay, 0s);
    EXPECT_EQ(none.config.evpn.df_wait, 0s);
}

TEST(EvpnTimers, SayWhatIsWrong) {
    EXPECT_THAT(
        faults_of(speaker_and("  hold: 86401s\n  startup_delay: 3601s\n  df_wait: 60001ms\n")),
        ElementsAre("f:5:9: evpn.hold: must be from 0s to 24h, not \"86401s\"",
                    "f:6:18: evpn.startup_delay: must be from 0s to 1h, not \"3601s\"",
                    "f:7:12: evpn.df_wait: must be from 0s to 1m, not \"60001ms\""));
    EXPECT_THAT(faults_of(speaker_and("  hold: 120\n")),
                ElementsAre("f:5:9: evpn.hold: must be a duration such as 900ms, 30s or 5m (units: "
                            "us, ms, s, m, h), not \"120\" (did you mean 120s?)"));
}

TEST(EvpnTimers, AreNoReasonToSpeakByThemselves) {
    EXPECT_THAT(faults_of("evpn: {hold: 2m, startup_delay: 30s, df_wait: 3s}"), IsEmpty());
    EXPECT_THAT(faults_of("evpn: {hold: 1m}"),
                ElementsAre(HasSubstr("lacks the key router_id"), HasSubstr("key local_as")));
}

TEST(EvpnVrf, HasAProfile) {
    const Loaded loaded = load_text(
        speaker_and(
            "  vrfs:\n"
            "    - {vrf: default, vni: 1, route_targets: ['1:1', 10.0.0.1:1]}\n"
            "    - {vrf: Vrf-red, vni: 16777215, route_targets: ['1:2'], profile: classic}\n"),
        "f");

    EXPECT_THAT(lines(loaded.faults), IsEmpty());
    EXPECT_EQ(loaded.config.evpn.vrfs,
              (std::vector<EvpnVrfConfig>{
                  {.vrf = "default",
                   .vni = 1,
                   .route_targets = {{.address = {}, .as = 1, .number = 1},
                                     {.address = IpAddress::v4(10, 0, 0, 1), .as = 0, .number = 1}},
                   .profile = EvpnProfile::L3},
                  {.vrf = "Vrf-red",
                   .vni = 16777215,
                   .route_targets = {{.address = {}, .as = 1, .number = 2}},
                   .profile = EvpnProfile::Classic}}));
}

TEST(EvpnVrf, LacksWhatItNeeds) {
    EXPECT_THAT(faults_of_vrf(""),
                ElementsAre("f:6:7: evpn.vrfs[0]: lacks the key vrf",
                            "f:6:7: evpn.vrfs[0]: lacks the key vni",
                            "f:6:7: evpn.vrfs[0]: lacks the key route_targets"));
}

TEST(EvpnVrf, SaysWhatIsWrongWithAKey) {
    const auto one = [](std::string_view keys, std::string_view fault) {
        EXPECT_THAT(faults_of_vrf(keys), ElementsAre(fmt::format("f:6:{}", fault))) << keys;
    };
    const std::string vrf = "vrf: a, vni: 1, route_targets: ";  // Ends in column 38.

    one("vni: 1, route_targets: ['1:1'], vrf: ''", "45: evpn.vrfs[0].vrf: must name an interface");
    one("vni: 1, route_targets: ['1:1'], vrf: a b",
        "45: evpn.vrfs[0].vrf: must be an interface name, which has no space, / or :, not \"a b\"");
    one("vni: 1, route_targets: ['1:1'], vrf: Vrf*",
        "45: evpn.vrfs[0].vrf: must be one interface's name, not a glob, not \"Vrf*\"");
    one("vrf: a, route_targets: ['1:1'], vni: 0",
        "45: evpn.vrfs[0].vni: must be a whole number from 1 to 16777215, not \"0\"");
    one("vrf: a, route_targets: ['1:1'], vni: 16777216",
        "45: evpn.vrfs[0].vni: must be a whole number from 1 to 16777215, not \"16777216\"");
    one(vrf + "[]", "39: evpn.vrfs[0].route_targets: must have at least one route target");
    one(vrf + "'1:1'", "39: evpn.vrfs[0].route_targets: must be a list, not \"1:1\"");
    one(vrf + "{a: b}", "39: evpn.vrfs[0].route_targets: must be a list, not a map");
    one(vrf + "['1:1', 7]",
        "47: evpn.vrfs[0].route_targets[1]: must be a route target such as 65000:100 or "
        "10.66.0.1:100, not \"7\"");
    one(vrf + "[[]]", "40: evpn.vrfs[0].route_targets[0]: must be a route target, not a list");
    one(vrf + "['0:1']", "40: evpn.vrfs[0].route_targets[0]: 0 is no AS number");
    one(vrf + "['1:1', '1:2', '1:1']",
        "54: evpn.vrfs[0].route_targets[2]: is listed twice, first in line 6");
    one(vrf + "['1:1'], profile: l2",
        "57: evpn.vrfs[0].profile: must be l3 or classic, not \"l2\" (did you mean l3?)");
    one(vrf + "['1:1'], rd: auto", "48: evpn.vrfs[0].rd: is no key of planed");
}

TEST(EvpnVrf, TakesSixteenRouteTargets) {
    std::string targets;
    for (int i = 0; i < 16; ++i) {
        targets += fmt::format("'1:{}', ", i);
    }

    EXPECT_THAT(faults_of_vrf("vrf: a, vni: 1, route_targets: [" + targets + "]"), IsEmpty());
    EXPECT_THAT(faults_of_vrf("vrf: a, vni: 1, route_targets: [" + targets + "'2:1']"),
                ElementsAre("f:6:39: evpn.vrfs[0].route_targets: has 17 elements; at most 16 are "
                            "taken"));
}

TEST(EvpnVrf, SaysWhatIsWrongAmongVrfs) {
    EXPECT_THAT(
        faults_of(speaker_and("  vrfs:\n"
                              "    - {vrf: a, vni: 100, route_targets: ['1:1']}\n"
                              "    - {vrf: b, vni: 65636, route_targets: ['1:2']}\n"
                              "    - {vrf: a, vni: 101, route_targets: ['1:3']}\n"
                              "    - {vrf: c, vni: 100, route_targets: ['1:1']}\n"
                              "    - {vrf: d, vni: x, route_targets: ['1:1']}\n"
                              "    - {vrf: e, vni: x, route_targets: ['1:1']}\n")),
        ElementsAre("f:7:21: evpn.vrfs[1].vni: 65636 and 100 (evpn.vrfs[0]) have the same low 16 "
                    "bits, which number route distinguishers",
                    "f:8:13: evpn.vrfs[2].vrf: \"a\" is already evpn.vrfs[0], in line 6",
                    "f:9:21: evpn.vrfs[3].vni: 100 is already evpn.vrfs[0], in line 6",
                    "f:10:21: evpn.vrfs[4].vni: must be a whole number from 1 to 16777215, not "
                    "\"x\"",
                    "f:11:21: evpn.vrfs[5].vni: must be a whole number from 1 to 16777215, not "
                    "\"x\""));
}

TEST(EvpnVrf, IsOneOfSoMany) {
    std::string text = speaker_and("  vrfs:\n");
    for (int i = 1; i <= 64; ++i) {
        text += fmt::format("    - {{vrf: v{}, vni: {}, route_targets: ['1:1']}}\n", i, i);
    }

    EXPECT_THAT(faults_of(text), IsEmpty());
    EXPECT_THAT(faults_of(text + "    - {vrf: v, vni: 65, route_targets: ['1:1']}\n"),
                ElementsAre("f:6:5: evpn.vrfs: has 65 elements; at most 64 are taken"));
}

/// Twenty VRFs with `count` route targets each, none of them twice.
std::string twenty_vrfs(int count) {
    std::string text = "  vrfs:\n";
    for (int vrf = 1; vrf <= 20; ++vrf) {
        text += fmt::format("    - vrf: v{}\n      vni: {}\n      route_targets:\n", vrf, vrf);
        for (int i = 0; i < count; ++i) {
            text += fmt::format("        - '{}:{}'\n", vrf, i);
        }
    }
    return speaker_and(text);
}

TEST(EvpnVrf, SharesTheRouteOfASegment) {
    EXPECT_THAT(faults_of(twenty_vrfs(12)), IsEmpty());
    EXPECT_THAT(faults_of(twenty_vrfs(13)),
                ElementsAre("f:6:5: evpn.vrfs: have 260 route targets together; 256 fit the route "
                            "of a segment"));
}

}  // namespace
}  // namespace planed::config
