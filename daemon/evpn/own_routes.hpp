// SPDX-License-Identifier: Apache-2.0
// What this leaf says of its segments and of the hosts behind them, as EVPN routes: pure functions
// of the options. Decides nothing about when.
//
// LOCAL_PREF is 100 and the AS path empty, as within one AS: what a session with another AS needs
// instead is added where that session is known.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bgp/attributes.hpp"
#include "bgp/communities.hpp"
#include "bgp/routes.hpp"
#include "evpn/df_election.hpp"
#include "evpn/esi.hpp"
#include "net/ids.hpp"
#include "net/ip_address.hpp"
#include "net/mac_address.hpp"

namespace planed::evpn {

/// How bindings are told. Both forms are taken from peers at any time.
enum class Profile : std::uint8_t {
    Classic,  // Tag 0, label1 the VNI, and one route of the MAC alone besides.
    L3,       // Tag the VLAN, label1 0, label2 the VNI (draft-ietf-bess-evpn-l3mh-proto).
};

struct VrfOptions {
    std::string name{};
    bgp::Label vni = 0;  // Not 0, and of no other VRF in its low 16 bits: they number the RD.
    std::vector<bgp::ExtendedCommunity> route_targets{};
    Profile profile = Profile::Classic;
    bool operator==(const VrfOptions&) const = default;
};

/// Who speaks: the next hop is also the originator of type 4, for peers match the two.
struct Speaker {
    bgp::RouterId router_id{};
    IpAddress next_hop{};
    bool operator==(const Speaker&) const = default;
};

struct Advertised {
    bgp::Route route{};
    std::shared_ptr<const bgp::Path> path{};
};

/// A host behind a segment, as told to peers.
struct Spoken {
    Esi esi;
    MacAddress mac{};
    std::optional<IpAddress> address{};  // Without: the MAC alone.
    VlanId vlan = VlanId::None;          // The L3 profile's tag.
    bool router = false;                 // IPv6: the R flag.
    bgp::MacMobility mobility{};
};

/// Type 4.
Advertised segment_route(const Speaker& speaker, const Esi& esi, const DfOffer& offer);
/// Type 1 of the whole segment, with the targets of all VRFs.
Advertised segment_ad(const Speaker& speaker, const Esi& esi, std::span<const VrfOptions> vrfs);
/// Type 1 of one VRF on it.
Advertised vrf_ad(const Speaker& speaker, const Esi& esi, const VrfOptions& vrf);
/// Type 2.
Advertised host_route(const Speaker& speaker, const VrfOptions& vrf, const Spoken& host);

}  // namespace planed::evpn
