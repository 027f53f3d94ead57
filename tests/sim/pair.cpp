// SPDX-License-Identifier: Apache-2.0
#include "sim/pair.hpp"

#include <fmt/format.h>

namespace planed::sim {
namespace {

constexpr Duration kQuiet = 5s;
constexpr Duration kQuietMost = 300s;

EvpnConfig evpn_of(std::size_t side) {
    const auto address = [](std::size_t of) {
        return IpAddress::parse(fmt::format("192.0.2.{}", of + 1)).value();
    };
    EvpnConfig evpn{
        .router_id = address(side), .local_as = 65000, .hold = 30s, .startup_delay = 10s};
    evpn.peers.push_back({.address = address(1 - side), .remote_as = 65000, .hold_time = 9s});
    evpn.vrfs.push_back(
        {.vrf = "default", .vni = 4000, .route_targets = {{.as = 65000, .number = 4000}}});
    for (std::uint32_t i = 1; i <= 6; ++i) {
        evpn.segments.push_back({.port = fmt::format("swp{}", i),
                                 .system_mac = MacAddress({0x02, 0xEE, 0, 0, 0, 1}),
                                 .id = i,
                                 .df = {.preference = static_cast<std::uint16_t>(100 + side)}});
    }
    return evpn;
}

}  // namespace

SimPair::SimPair(std::uint64_t seed)
    : SimTime(seed),
      leaves{std::make_unique<SimLeaf>(clock, random, traces[0]),
             std::make_unique<SimLeaf>(clock, random, traces[1])},
      servers(clock, random, leaves),
      checker(clock, leaves, servers, link) {
    for (std::size_t side = 0; side < 2; ++side) {
        SimLeaf& leaf = *leaves.at(side);
        leaf.build_leaf();
        leaf.planed.config = std::make_shared<const Config>(pair_config(side));
        leaf.planed.join(link, side);
    }
}

Config SimPair::pair_config(std::size_t side) {
    Config config = SimLeaf::leaf_config();
    config.learning.refresh = 10s;
    config.evpn = evpn_of(side);
    return config;
}

void SimPair::start() {
    for (const auto& leaf : leaves) {
        leaf->zebra.start(false);
        leaf->planed.start();
    }
    run_until_quiet();
}

void SimPair::run_for(Duration length) {
    const TimePoint end = clock.now() + length;
    while (!checker.failed() && clock.next() && *clock.next() <= end) {
        clock.jump();
        checker.after_step();
    }
    if (!checker.failed()) {
        clock.idle_until(end);
    }
}

void SimPair::run_until_quiet() {
    const TimePoint most = clock.now() + kQuietMost;
    while (!checker.failed() && clock.now() < most) {
        const auto a_before = a().zebra.selected();
        const auto b_before = b().zebra.selected();
        const std::uint64_t told = checker.updates();
        run_for(kQuiet);
        if (a_before == a().zebra.selected() && b_before == b().zebra.selected() &&
            told == checker.updates()) {
            return;
        }
    }
}

}  // namespace planed::sim
