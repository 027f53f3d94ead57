// SPDX-License-Identifier: Apache-2.0
// What each UPDATE of tests/vectors/bgp/updates.txt means, written down by hand from its octets.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "unit/bgp/values.hpp"

namespace planed::bgp::expected {

inline const ExtendedCommunity kTarget = route_target(kAs, 100);
inline const ExtendedCommunity kVxlan = encapsulation(Encapsulation::Vxlan);
inline const ExtendedCommunity kImport = es_import(kEsi);
inline const IpAddress kHost11 = IpAddress::v4(45, 0, 0, 11);

inline NextHop via(std::uint8_t leaf) {
    return {.address = IpAddress::v4(10, 66, 0, leaf)};
}

/// Of a speaker in our AS.
inline Update internal(std::uint8_t leaf, Route route, std::vector<ExtendedCommunity> communities) {
    return {.reachable = {std::move(route)},
            .path = {.next_hop = via(leaf),
                     .attributes = {.local_pref = 100, .communities = std::move(communities)}}};
}

/// As GoBGP in its place as a reflector sends it.
inline Update gobgps(Route route, std::vector<ExtendedCommunity> communities) {
    Update update = internal(2, std::move(route), std::move(communities));
    update.path.attributes.origin = Origin::Incomplete;
    update.path.attributes.originator = kLeaf2;
    update.path.attributes.clusters = {kLeaf2};
    return update;
}

/// From AS 65003 by way of AS 65000.
inline Update external(Route route, std::vector<ExtendedCommunity> communities) {
    return {.reachable = {std::move(route)},
            .path = {.next_hop = via(3),
                     .attributes = {.as_path = {{.numbers = {kAs, AsNumber{65003}}}},
                                    .communities = std::move(communities)}}};
}

inline Update withdrawn(std::vector<Route> routes) {
    Update update;
    for (const Route& route : routes) {
        update.withdrawn.emplace_back(route);
    }
    return update;
}

inline Update reflected_three() {
    MacIp route{.rd = rd(kLeaf2, 100), .esi = kEsi, .mac = mac(0x11), .label1 = 100};
    Update update = gobgps(route, {kTarget, kVxlan});
    update.path.attributes.clusters = {kLeaf1, kLeaf2};
    route.ip = address("2001:db8:45::11");
    update.reachable.emplace_back(route);
    route.ip = kHost11;
    update.reachable.emplace_back(route);
    return update;
}

inline Update multicast() {
    Update update =
        gobgps(Multicast{.rd = rd(kLeaf2, 100), .originator = via(2).address}, {kTarget, kVxlan});
    update.path.attributes.pmsi = PmsiTunnel{.label = 100, .id = {10, 66, 0, 2}};
    return update;
}

inline MacIp mac_ip(const RouteDistinguisher& leaf, std::uint8_t last, std::string_view ip = {}) {
    MacIp route{.rd = leaf, .esi = kEsi, .mac = mac(last), .label1 = 100};
    if (!ip.empty()) {
        route.ip = address(ip);
    }
    return route;
}

inline EthernetAd per_es(const RouteDistinguisher& leaf) {
    return {.rd = leaf, .esi = kEsi, .tag = kMaxEthernetTag};
}

inline Segment segment(const RouteDistinguisher& leaf, std::uint8_t originator) {
    return {.rd = leaf, .esi = kEsi, .originator = via(originator).address};
}

/// By "origin | name".
inline std::map<std::string, Update> updates() {
    const ExtendedCommunity proxy = arp_nd({.proxy = true});
    const ExtendedCommunity all_active = esi_label({});
    return {
        {"gobgp 3.10 | ad_per_es", gobgps(per_es(rd(kLeaf2, 2)), {kTarget, kVxlan, all_active})},
        {"gobgp 3.10 | ad_per_evi",
         gobgps(EthernetAd{.rd = rd(kLeaf2, 100), .esi = kEsi, .label = 100}, {kTarget, kVxlan})},
        {"gobgp 3.10 | mac_ip_v4",
         gobgps(mac_ip(rd(kLeaf2, 100), 0x11, "45.0.0.11"), {kTarget, kVxlan})},
        {"gobgp 3.10 | mac_ip_v6",
         gobgps(mac_ip(rd(kLeaf2, 100), 0x11, "2001:db8:45::11"), {kTarget, kVxlan})},
        {"gobgp 3.10 | mac_only", gobgps(mac_ip(rd(kLeaf2, 100), 0x11), {kTarget, kVxlan})},
        {"gobgp 3.10 | multicast", multicast()},
        {"gobgp 3.10 | segment", gobgps(segment(rd(kLeaf2, 2), 2), {kVxlan, kImport})},
        {"gobgp 3.10 | prefix",
         gobgps(Prefix{.rd = rd(kLeaf2, 5), .prefix = host_prefix(kHost11), .label = 4001},
                {route_target(kAs, 4001),
                 kVxlan,
                 router_mac(MacAddress::parse("02:00:00:00:02:02").value())})},
        {"speaker | segment_dont_preempt",
         internal(3,
                  segment(rd(kLeaf3, 2), 3),
                  {kVxlan,
                   kImport,
                   df_election(
                       {.algorithm = 2, .bitmap = DfElection::kDontPreempt, .preference = 500})})},
        {"speaker | mac_ip_mobility_proxy",
         internal(3,
                  mac_ip(rd(kLeaf3, 100), 0x11, "45.0.0.11"),
                  {kTarget, kVxlan, mac_mobility({.sequence = 5}), proxy})},
        {"speaker | mac_ip_v6_router_override",
         internal(3,
                  mac_ip(rd(kLeaf3, 100), 0x11, "2001:db8:45::11"),
                  {kTarget, kVxlan, arp_nd({.router = true, .overrides = true})})},
        {"speaker | mac_only_sticky",
         internal(3,
                  mac_ip(rd(kLeaf3, 100), 0x12),
                  {kTarget, kVxlan, mac_mobility({.is_static = true})})},
        {"speaker | withdraw_ad_per_es", withdrawn({per_es(rd(kLeaf3, 2))})},
        {"speaker | end_of_rib", {.end_of_rib = true}},
        {"frr 8.4.4 | ad_per_es",
         internal(2, per_es(rd(kLeaf2, 3)), {kVxlan, all_active, kTarget})},
        {"frr 8.4.4 | ad_per_evi",
         internal(
             2, EthernetAd{.rd = rd(kLeaf2, 2), .esi = kEsi, .label = 100}, {kVxlan, kTarget})},
        {"frr 8.4.4 | segment_preference",
         internal(2,
                  segment(rd(kLeaf2, 3), 2),
                  {kVxlan, kImport, df_election({.algorithm = 2, .preference = 200})})},
        {"frr 8.4.4 | mac_only_proxy",
         internal(2, mac_ip(rd(kLeaf2, 2), 0x11), {kVxlan, kTarget, proxy})},
        {"frr 8.4.4 | mac_ip_mobility_proxy",
         internal(1,
                  mac_ip(rd(kLeaf1, 2), 0x21, "45.0.0.21"),
                  {kVxlan, kTarget, proxy, mac_mobility({.sequence = 3})})},
        {"frr 8.4.4 | mac_ip_v6_router_proxy",
         internal(1,
                  mac_ip(rd(kLeaf1, 2), 0x14, "2001:db8:45::14"),
                  {kVxlan, kTarget, arp_nd({.router = true, .proxy = true})})},
        {"frr 8.4.4 | segment_down", withdrawn({segment(rd(kLeaf1, 3), 1), per_es(rd(kLeaf1, 3))})},
        {"frr 8.4.4 | withdraw_mac_ip", withdrawn({mac_ip(rd(kLeaf1, 2), 0x21, "45.0.0.21")})},
        {"frr 8.4.4 | reflected_three_mac_ip", reflected_three()},
        {"frr 8.4.4 | ebgp_ad_per_evi",
         external(EthernetAd{.rd = rd(kLeaf3, 100), .esi = kEsi},
                  {route_target(AsNumber{65003}, 100), kVxlan})},
        {"frr 8.4.4 | l3_profile_mac_ip",
         external(MacIp{.rd = rd(kLeaf3, 4001),
                        .esi = kEsi,
                        .tag = 100,
                        .mac = mac(0x12),
                        .ip = address("45.0.0.12"),
                        .label1 = 0,
                        .label2 = 4001},
                  {route_target(AsNumber{65003}, 4001), kVxlan, arp_nd({.router = true})})},
    };
}

}  // namespace planed::bgp::expected
