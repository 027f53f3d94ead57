// SPDX-License-Identifier: Apache-2.0
// The metrics of a leaf: each value where it belongs, and no counter without a word on what it is.
#include "api/metrics.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace planed::api {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr TimePoint kNow{1h};
const NodeWords kWords{.host_name = "leaf", .version = "1.2", .zebra_release = "FRR 8.4 to 9.0"};

Snapshot some_snapshot() {
    Snapshot snapshot;
    snapshot.node = {.name = "leaf-a1", .plane = "A", .ready = true};
    snapshot.health = {.degraded = {"port swp3: the kernel refused: no", "zebra: away"},
                       .milestones = {{.name = "CONFIG_LOADED", .at = kNow - 90s},
                                      {.name = "ZAPI_UP", .at = std::nullopt},
                                      {.name = "READY", .at = kNow - 88500ms}},
                       .zebra_up = true,
                       .redis_wanted = true,
                       .redis_well = false};
    snapshot.health.learn_to_installed.record(3ms);
    snapshot.health.port_down_to_withdrawn.record(40s);
    snapshot.hosts_total = 9;
    snapshot.hosts_eligible = 8;
    snapshot.routes_desired = 8;
    snapshot.routes_installed = 5;
    snapshot.routes_rejected = 1;
    snapshot.routes_withdrawing = 4;
    snapshot.oldest_proof = kNow - 21500ms;
    snapshot.interfaces = {
        {.interface = {.name = "Vlan100", .vrf = "default", .carrier = true, .max_hosts = 64},
         .hosts = 7},
        {.interface = {.name = "Vlan200", .vrf = "blue", .carrier = false, .max_hosts = 16},
         .hosts = 2}};
    return snapshot;
}

std::string rendered(const Snapshot& snapshot, const Counters& counters = {}) {
    return to_open_metrics(snapshot, kWords, counters, kNow);
}

/// Without what describes the families.
std::string samples_of(const std::string& text) {
    std::istringstream lines(text);
    std::string samples;
    for (std::string line; std::getline(lines, line);) {
        const bool sample = !line.starts_with('#') && line.find("_bucket") == std::string::npos;
        samples += sample ? line + '\n' : "";
    }
    return samples;
}

TEST(Metrics, ShowASnapshotWhole) {
    EXPECT_EQ(samples_of(rendered(some_snapshot())),
              R"(planed_node_info{node="leaf-a1",plane="A",version="1.2"} 1
planed_ready 1
planed_degraded_conditions 2
planed_degraded{what="port swp3"} 1
planed_degraded{what="zebra"} 1
planed_uptime_seconds 90
planed_milestone_seconds{milestone="CONFIG_LOADED"} 0
planed_milestone_seconds{milestone="READY"} 1.5
planed_hosts 9
planed_hosts_eligible 8
planed_oldest_proof_seconds 21.5
planed_routes{state="pending"} 2
planed_routes{state="installed"} 5
planed_routes{state="rejected"} 1
planed_routes{state="withdrawing"} 4
planed_interface_hosts{interface="Vlan100",vrf="default"} 7
planed_interface_hosts{interface="Vlan200",vrf="blue"} 2
planed_interface_max_hosts{interface="Vlan100",vrf="default"} 64
planed_interface_max_hosts{interface="Vlan200",vrf="blue"} 16
planed_interface_up{interface="Vlan100",vrf="default"} 1
planed_interface_up{interface="Vlan200",vrf="blue"} 0
planed_zebra_connected 1
planed_zebra_info{release="FRR 8.4 to 9.0"} 1
planed_redis_wanted 1
planed_redis_connected 0
planed_learn_to_installed_seconds_count 1
planed_learn_to_installed_seconds_sum 0.003
planed_port_down_to_withdrawn_seconds_count 1
planed_port_down_to_withdrawn_seconds_sum 40
)");
}

TEST(Metrics, ShowLatenciesInClassesUpToTheEnd) {
    const std::string text = rendered(some_snapshot());

    EXPECT_THAT(text,
                HasSubstr("# TYPE planed_learn_to_installed_seconds histogram\n"
                          "# UNIT planed_learn_to_installed_seconds seconds\n"
                          "# HELP planed_learn_to_installed_seconds "));
    EXPECT_THAT(text,
                HasSubstr("planed_learn_to_installed_seconds_bucket{le=\"0.0025\"} 0\n"
                          "planed_learn_to_installed_seconds_bucket{le=\"0.005\"} 1\n"));
    EXPECT_THAT(text,
                HasSubstr("planed_port_down_to_withdrawn_seconds_bucket{le=\"30.0\"} 0\n"
                          "planed_port_down_to_withdrawn_seconds_bucket{le=\"+Inf\"} 1\n"));
    EXPECT_TRUE(text.ends_with("\n# EOF\n"));
}

TEST(Metrics, OfALeafThatHasJustStartedAreWhole) {
    const std::string text = rendered(Snapshot{});

    EXPECT_THAT(text, HasSubstr("planed_node_info{node=\"leaf\",plane=\"\",version=\"1.2\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("\nplaned_hosts 0\n"));
    EXPECT_THAT(text, Not(HasSubstr("\nplaned_uptime_seconds ")));
    EXPECT_THAT(text, Not(HasSubstr("planed_zebra_info{")));
    EXPECT_TRUE(text.ends_with("\n# EOF\n"));
}

TEST(Metrics, HaveEveryCounter) {
    const std::string text = rendered(Snapshot{},
                                      {{"netlink_overruns", 3},
                                       {"probes_queued", 4},
                                       {"turn_longest_us", 1500},
                                       {"turns", 18446744073709551615U},
                                       {"what_nobody_described", 7}});

    EXPECT_THAT(text,
                HasSubstr("# TYPE planed_netlink_overruns counter\n"
                          "# HELP planed_netlink_overruns Times that the kernel dropped "
                          "notifications.\n"
                          "planed_netlink_overruns_total 3\n"
                          "# TYPE planed_probes_queued gauge\n"
                          "# HELP planed_probes_queued Hosts that wait to be asked.\n"
                          "planed_probes_queued 4\n"
                          "# TYPE planed_turn_longest_seconds gauge\n"
                          "# UNIT planed_turn_longest_seconds seconds\n"));
    EXPECT_THAT(text, HasSubstr("\nplaned_turn_longest_seconds 0.0015\n"));
    EXPECT_THAT(text, HasSubstr("\nplaned_turns_total 18446744073709551615\n"));
    EXPECT_THAT(text,
                HasSubstr("# TYPE planed_what_nobody_described unknown\n"
                          "planed_what_nobody_described 7\n"));
}

}  // namespace
}  // namespace planed::api
