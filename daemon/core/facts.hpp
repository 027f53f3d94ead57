// SPDX-License-Identifier: Apache-2.0
// What the kernel can tell us, as values: links, neighbours, forwarding entries. No decision is in
// here, and nothing that only Linux headers could explain: netlink/ translates.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "net/ids.hpp"
#include "net/ip_address.hpp"
#include "net/ip_prefix.hpp"
#include "net/mac_address.hpp"

namespace planed {

/// IFLA_INFO_KIND, as far as a decision depends on it.
enum class LinkKind : std::uint8_t { Other, Bridge, Vlan, Bond, Vrf, Veth };

/// IFLA_OPERSTATE, RFC 2863 ifOperStatus; the numbers are those of linux/if.h IF_OPER_*.
enum class OperState : std::uint8_t {
    Unknown = 0,
    NotPresent = 1,
    Down = 2,
    LowerLayerDown = 3,
    Testing = 4,
    Dormant = 5,
    Up = 6,
};

/// One network interface as RTM_NEWLINK shows it (linux/if_link.h).
struct Link {
    IfIndex index{};
    std::string name{};
    MacAddress mac{};  // Zero where the link layer is not Ethernet.
    LinkKind kind = LinkKind::Other;
    bool admin_up = false;  // IFF_UP.
    bool carrier =
        false;  // IFF_LOWER_UP: read from the device itself, so never late (lab-measured:
                // operstate and RTM_NEWLINK can lag a second behind, linkwatch.c).
    OperState oper = OperState::Unknown;
    // IFLA_CARRIER_DOWN_COUNT: tells of a flap whose two notifications were missed or merged.
    std::uint32_t carrier_down_count = 0;
    IfIndex master{};             // IFLA_MASTER: bridge, bond or VRF; None if absent.
    bool bridge_port = false;     // IFLA_INFO_SLAVE_KIND is "bridge".
    bool bond_port = false;       // IFLA_INFO_SLAVE_KIND is "bond".
    IfIndex lower{};              // IFLA_LINK of a VLAN interface, same namespace only.
    VlanId vlan{};                // LinkKind::Vlan only.
    std::uint32_t vrf_table = 0;  // LinkKind::Vrf only.
    bool vlan_filtering = false;  // LinkKind::Bridge only: IFLA_BR_VLAN_FILTERING.
    VlanId default_pvid{};        // LinkKind::Bridge only: IFLA_BR_VLAN_DEFAULT_PVID.
    bool operator==(const Link&) const = default;
};

/// Neighbour unreachability detection state; the numbers are NUD_* of linux/neighbour.h.
enum class Nud : std::uint16_t {
    None = 0x00,
    Incomplete = 0x01,
    Reachable = 0x02,
    Stale = 0x04,
    Delay = 0x08,
    Probe = 0x10,
    Failed = 0x20,
    NoArp = 0x40,
    Permanent = 0x80,
};

struct NeighborKey {
    IfIndex link{};
    IpAddress address{};
    auto operator<=>(const NeighborKey&) const = default;

    template <class H>
    friend H AbslHashValue(H state, const NeighborKey& key) {
        return H::combine(std::move(state), key.link, key.address);
    }
};

/// One entry of the kernel's neighbour table.
struct Neighbor {
    MacAddress mac{};  // Zero if the kernel has none (INCOMPLETE, FAILED).
    Nud state = Nud::None;
    bool ext_learned = false;   // NTF_EXT_LEARNED: written by a control plane, never collected.
    std::uint8_t protocol = 0;  // NDA_PROTOCOL: who wrote it; 0 = kernel.
    bool operator==(const Neighbor&) const = default;
};

/// A bridge forwarding entry's identity (AF_BRIDGE neighbour with NDA_MASTER).
struct FdbKey {
    IfIndex bridge{};
    VlanId vlan{};  // None on a bridge that does not filter VLANs.
    MacAddress mac{};
    auto operator<=>(const FdbKey&) const = default;

    template <class H>
    friend H AbslHashValue(H state, const FdbKey& key) {
        return H::combine(std::move(state), key.bridge, key.vlan, key.mac);
    }
};

struct FdbEntry {
    IfIndex port{};
    bool local = false;        // NUD_PERMANENT: an address of the bridge or the port itself.
    bool ext_learned = false;  // NTF_EXT_LEARNED: written by a control plane, never aged.
    bool operator==(const FdbEntry&) const = default;
};

/// NDA_PROTOCOL of everything we write: not used by any daemon in iproute2's rt_protos.
inline constexpr std::uint8_t kNeighborProtocol = 201;

/// An entry that we wrote, in this run or in an earlier one.
inline bool is_ours(const Neighbor& neighbor) {
    return neighbor.ext_learned && neighbor.protocol == kNeighborProtocol;
}

/// One that we wrote because another leaf knows the host. The kernel neither asks it nor changes it
/// for what it hears, so as long as it stands this leaf has no evidence of its own.
inline bool is_synced(const Neighbor& neighbor) {
    return neighbor.state == Nud::NoArp && is_ours(neighbor);
}

}  // namespace planed
