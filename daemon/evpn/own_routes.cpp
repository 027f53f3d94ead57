// SPDX-License-Identifier: Apache-2.0
#include "evpn/own_routes.hpp"

#include <algorithm>
#include <utility>

namespace planed::evpn {
namespace {

using Communities = std::vector<bgp::ExtendedCommunity>;

constexpr std::uint32_t kLocalPref = 100;
constexpr std::uint16_t kSegmentIndex = 0;  // Of the RD of what is about no VRF.

/// By value, each once: FRR sorts so, and compares sets octet by octet.
std::shared_ptr<const bgp::Path> path_with(const Speaker& speaker, Communities communities) {
    communities.push_back(bgp::encapsulation(bgp::Encapsulation::Vxlan));
    std::ranges::sort(communities);
    communities.erase(std::unique(communities.begin(), communities.end()), communities.end());
    bgp::Path path;
    path.next_hop.address = speaker.next_hop;
    path.attributes.local_pref = kLocalPref;
    path.attributes.communities = std::move(communities);
    return std::make_shared<const bgp::Path>(std::move(path));
}

bgp::RouteDistinguisher segment_rd(const Speaker& speaker) {
    return bgp::RouteDistinguisher::of(speaker.router_id, kSegmentIndex);
}

bgp::RouteDistinguisher vrf_rd(const Speaker& speaker, const VrfOptions& vrf) {
    return bgp::RouteDistinguisher::of(speaker.router_id,
                                       static_cast<std::uint16_t>(vrf.vni & 0xFFFFU));
}

}  // namespace

Advertised segment_route(const Speaker& speaker, const Esi& esi, const DfOffer& offer) {
    return {.route =
                bgp::Segment{
                    .rd = segment_rd(speaker), .esi = esi.octets(), .originator = speaker.next_hop},
            .path = path_with(speaker,
                              {bgp::es_import(esi.octets()),
                               bgp::df_election({.algorithm = offer.algorithm,
                                                 .bitmap = offer.bitmap,
                                                 .preference = offer.preference})})};
}

Advertised segment_ad(const Speaker& speaker, const Esi& esi, std::span<const VrfOptions> vrfs) {
    Communities communities{bgp::esi_label({})};
    for (const VrfOptions& vrf : vrfs) {
        communities.insert(communities.end(), vrf.route_targets.begin(), vrf.route_targets.end());
    }
    return {.route =
                bgp::EthernetAd{
                    .rd = segment_rd(speaker), .esi = esi.octets(), .tag = bgp::kMaxEthernetTag},
            .path = path_with(speaker, std::move(communities))};
}

Advertised vrf_ad(const Speaker& speaker, const Esi& esi, const VrfOptions& vrf) {
    return {
        .route = bgp::EthernetAd{.rd = vrf_rd(speaker, vrf), .esi = esi.octets(), .label = vrf.vni},
        .path = path_with(speaker, vrf.route_targets)};
}

Advertised host_route(const Speaker& speaker, const VrfOptions& vrf, const Spoken& host) {
    Communities communities = vrf.route_targets;
    if (host.mobility.is_static || host.mobility.sequence > 0) {
        communities.push_back(bgp::mac_mobility(host.mobility));
    }
    if (host.address && !host.address->is_v4()) {
        // All of our hosts answer for themselves: O. RFC 9047 wants one on each of IPv6.
        communities.push_back(bgp::arp_nd({.router = host.router, .overrides = true}));
    }
    bgp::MacIp route{
        .rd = vrf_rd(speaker, vrf), .esi = host.esi.octets(), .mac = host.mac, .ip = host.address};
    switch (vrf.profile) {
        case Profile::Classic: route.label1 = vrf.vni; break;
        case Profile::L3:
            route.tag = number(host.vlan);
            route.label2 = vrf.vni;
            break;
    }
    return {.route = route, .path = path_with(speaker, std::move(communities))};
}

}  // namespace planed::evpn
