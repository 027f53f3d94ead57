// SPDX-License-Identifier: Apache-2.0
// What a peer's route of type 2 says of a host, and whether it is of any use to us: a pure function
// of the route, its path and our route targets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <absl/container/btree_map.h>

#include "bgp/attributes.hpp"
#include "bgp/communities.hpp"
#include "bgp/routes.hpp"
#include "evpn/own_routes.hpp"
#include "net/ids.hpp"
#include "net/ip_address.hpp"
#include "net/mac_address.hpp"

namespace planed::evpn {

/// Which VRF takes a route: the first of the configuration that one of its targets names.
class ImportTargets {
public:
    ImportTargets() = default;
    explicit ImportTargets(std::span<const VrfOptions> vrfs);

    [[nodiscard]] const VrfOptions* vrf_of(std::span<const bgp::ExtendedCommunity> communities,
                                           std::span<const VrfOptions> vrfs) const;

private:
    absl::btree_map<bgp::ExtendedCommunity, std::size_t> index_;
};

/// Can it be a host's: no multicast, loopback, link-local, reserved or unspecified address.
bool is_usable(const IpAddress& address);
/// Neither zero nor a group.
bool is_usable(const MacAddress& mac);

struct HeardHost {
    std::string vrf{};
    MacAddress mac{};
    std::optional<IpAddress> address{};
    bgp::EsiBytes esi{};
    VlanId vlan = VlanId::None;  // What an L3 route has as tag; the tag of others means nothing.
    IpAddress leaf{};            // The path's next hop: the session's peer may be a reflector.
    std::uint32_t sequence = 0;
    bool is_static = false;
    /// The proxy flag: the leaf has it from another one and has not seen the host itself. Two
    /// leaves that believed each other in this would keep a dead host alive for ever.
    bool second_hand = false;
};

enum class Verdict : std::uint8_t { Taken, OwnRoute, NoRouteTarget, BadMac, BadAddress };
inline constexpr std::size_t kVerdicts = 5;
std::string_view name_of(Verdict verdict);  // "no_route_target"

struct Reading {
    Verdict verdict = Verdict::Taken;
    HeardHost host{};  // Whole only if taken.
};
Reading read_host(const bgp::MacIp& route,
                  const bgp::Path& path,
                  const IpAddress& own_next_hop,
                  const ImportTargets& targets,
                  std::span<const VrfOptions> vrfs);

}  // namespace planed::evpn
