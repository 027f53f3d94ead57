// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "bench/clock.hpp"
#include "bench/figures.hpp"
#include "evpn/multihoming.hpp"
#include "net/time.hpp"

namespace planed::bench {
namespace {

constexpr bgp::Label kVni = 100;

evpn::Speaker leaf(std::uint8_t number) {
    const IpAddress address = IpAddress::v4(10, 66, 0, number);
    return {.router_id = bgp::router_id_of(address), .next_hop = address};
}

evpn::DfOffer preference(std::uint16_t value) {
    return {.algorithm = static_cast<std::uint8_t>(evpn::DfAlgorithm::HighestPreference),
            .preference = value};
}

std::string port(std::size_t number) {
    return fmt::format("bond{}", number);
}

/// Leaf 1, on whose segments leaf 2 is preferred.
evpn::MultihomingOptions options_for(std::size_t segments) {
    const evpn::Speaker self = leaf(1);
    evpn::MultihomingOptions options{.router_id = self.router_id, .next_hop = self.next_hop};
    const MacAddress system(MacAddress::Bytes{0x44, 0x38, 0x39, 0xff, 0xff, 0x01});
    for (std::size_t i = 1; i <= segments; ++i) {
        const auto esi = evpn::Esi::of_mac(system, static_cast<std::uint32_t>(i));
        options.segments.push_back({.esi = *esi, .port = port(i), .df = preference(100)});
    }
    options.vrfs.push_back({.name = "default",
                            .vni = kVni,
                            .route_targets = {bgp::route_target(bgp::AsNumber{65000}, kVni)}});
    return options;
}

/// What leaf 2 tells of the same segments.
std::vector<evpn::Advertised> told(const evpn::MultihomingOptions& options) {
    const evpn::Speaker other = leaf(2);
    std::vector<evpn::Advertised> routes;
    for (const evpn::SegmentOptions& segment : options.segments) {
        routes.push_back(evpn::segment_ad(other, segment.esi, options.vrfs));
        routes.push_back(evpn::vrf_ad(other, segment.esi, options.vrfs.front()));
        routes.push_back(evpn::segment_route(other, segment.esi, preference(200)));
    }
    return routes;
}

void drain(evpn::Multihoming& multihoming) {
    while (multihoming.poll()) {
    }
}

void expect(const evpn::Multihoming& multihoming, evpn::DfRole role, const char* otherwise) {
    const auto segments = multihoming.segments();
    const bool holds = std::ranges::all_of(segments, [role](const evpn::SegmentView& segment) {
        return segment.roles.size() == 1 && segment.roles.front().elected &&
               segment.roles.front().role == role;
    });
    if (!holds) {
        die(otherwise);
    }
}

}  // namespace

void measure_election(const Options& options) {
    const evpn::MultihomingOptions config = options_for(options.segments);
    const std::vector<evpn::Advertised> routes = told(config);
    const IpAddress peer = leaf(2).next_hop;
    TimePoint time{1h};
    evpn::Multihoming multihoming;
    multihoming.configure(config, time);
    for (std::size_t i = 1; i <= options.segments; ++i) {
        multihoming.set_port(port(i), true, time);
    }
    std::vector<Nanoseconds> taken;
    run_first();
    for (std::size_t round = 0; round < options.rounds; ++round) {
        multihoming.peer_up(peer, time);
        for (const evpn::Advertised& route : routes) {
            multihoming.heard(peer, route.route, route.path, time);
        }
        time += config.df_wait;
        multihoming.tick(time);
        drain(multihoming);
        expect(multihoming, evpn::DfRole::Backup, "the peer has not been elected");

        const Nanoseconds began = now();
        multihoming.peer_down(peer, time);
        for (const evpn::Advertised& route : routes) {
            multihoming.gone(peer, bgp::RouteKey(route.route), time);
        }
        drain(multihoming);
        taken.push_back(now() - began);
        expect(multihoming, evpn::DfRole::Df, "the elections were not held");
    }
    fmt::print("{{\"latency\":{}}}\n", distribution(taken));
}

}  // namespace planed::bench
