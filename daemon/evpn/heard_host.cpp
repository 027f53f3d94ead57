// SPDX-License-Identifier: Apache-2.0
#include "evpn/heard_host.hpp"

namespace planed::evpn {
namespace {

constexpr std::uint32_t kLastVlan = 4094;

VlanId vlan_of(const bgp::MacIp& route) {
    const bool is_vlan = route.label2 && route.tag >= 1 && route.tag <= kLastVlan;
    return is_vlan ? VlanId{static_cast<std::uint16_t>(route.tag)} : VlanId::None;
}

}  // namespace

ImportTargets::ImportTargets(std::span<const VrfOptions> vrfs) {
    for (std::size_t i = 0; i < vrfs.size(); ++i) {
        for (const bgp::ExtendedCommunity& target : vrfs[i].route_targets) {
            index_.try_emplace(target, i);
        }
    }
}

const VrfOptions* ImportTargets::vrf_of(std::span<const bgp::ExtendedCommunity> communities,
                                        std::span<const VrfOptions> vrfs) const {
    std::optional<std::size_t> first;
    for (const bgp::ExtendedCommunity& community : communities) {
        const auto found = index_.find(community);
        if (found != index_.end() && (!first || found->second < *first)) {
            first = found->second;
        }
    }
    return first ? &vrfs[*first] : nullptr;
}

bool is_usable(const IpAddress& address) {
    return !address.is_unspecified() && !address.is_multicast() && !address.is_loopback() &&
           !address.is_link_local() && !address.is_reserved_v4();
}

bool is_usable(const MacAddress& mac) {
    return !mac.is_zero() && !mac.is_multicast();
}

std::string_view name_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::Taken: return "taken";
        case Verdict::OwnRoute: return "own_route";
        case Verdict::NoRouteTarget: return "no_route_target";
        case Verdict::BadMac: return "bad_mac";
        case Verdict::BadAddress: return "bad_address";
    }
    return "?";
}

Reading read_host(const bgp::MacIp& route,
                  const bgp::Path& path,
                  const IpAddress& own_next_hop,
                  const ImportTargets& targets,
                  std::span<const VrfOptions> vrfs) {
    const std::span<const bgp::ExtendedCommunity> communities = path.attributes.communities;
    if (path.next_hop.address == own_next_hop) {
        return {.verdict = Verdict::OwnRoute};
    }
    const VrfOptions* vrf = targets.vrf_of(communities, vrfs);
    if (vrf == nullptr) {
        return {.verdict = Verdict::NoRouteTarget};
    }
    if (!is_usable(route.mac)) {
        return {.verdict = Verdict::BadMac};
    }
    if (route.ip && !is_usable(*route.ip)) {
        return {.verdict = Verdict::BadAddress};
    }
    const auto mobility = bgp::first_of(communities, bgp::as_mac_mobility);
    const auto flags = bgp::first_of(communities, bgp::as_arp_nd);
    return {.host = {.vrf = vrf->name,
                     .mac = route.mac,
                     .address = route.ip,
                     .esi = route.esi,
                     .vlan = vlan_of(route),
                     .leaf = path.next_hop.address,
                     .sequence = mobility ? mobility->sequence : 0,
                     .is_static = mobility && mobility->is_static,
                     .second_hand = route.ip && flags && flags->proxy}};
}

}  // namespace planed::evpn
