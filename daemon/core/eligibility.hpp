// SPDX-License-Identifier: Apache-2.0
// May this neighbour have a host route, and why or why not? A pure function of facts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/facts.hpp"
#include "core/served_interfaces.hpp"

namespace planed {

/// The first condition that fails, in the order of judging; Eligible if none does.
enum class Reason : std::uint8_t {
    Eligible,
    NotServed,        // The interface is not one of the configuration's.
    Isolated,         // All uplinks are down: this leaf leads nowhere.
    InterfaceDown,    // No carrier, or administratively down.
    NotUnicast,       // Multicast, unspecified, loopback, reserved.
    LinkLocal,        // 169.254.0.0/16 or fe80::/10: never more than one link's business.
    OwnAddress,       // Configured on this machine, the gateway included.
    SubnetAddress,    // The network or broadcast address, the subnet-router anycast address.
    OutsidePrefixes,  // In none of the interface's prefixes.
    Excluded,         // By the configuration.
    BgpPeer,     // A numbered BGP peer: up to FRR 9.1 a host route blackholes what it announces.
    Failed,      // NUD FAILED: it did not answer six requests.
    Unresolved,  // NUD INCOMPLETE or NONE: nobody has answered yet.
    NoArpNotLearned,  // NUD NOARP without externally learned: a kernel internal.
    NoMac,            // Zero or absent.
    BadMac,           // Multicast or broadcast.
    OwnMac,           // One of this machine's interfaces.
    PortDown,         // The bridge port behind which the MAC was last seen has no carrier.
    PortLeft,         // That port is not a member of the bridge any more, or is deleted.
    PortUnconfirmed,  // That port came back, but the host has not been heard since.
    Denied,           // By a plug-in.
    // Nothing speaks against it, and yet it is not announced for now. judge() never says so.
    AddDelay,   // It is new.
    Damped,     // It came and went too often.
    OverLimit,  // The interface has max_hosts announced hosts.
    Drained,    // An operator holds it back.
};

/// The word for JSON fields and log lines: `port_down`.
std::string_view word(Reason reason);

/// What is known of the bridge port behind which a MAC lives.
struct PortFacts {
    enum class State : std::uint8_t { NotBridged, Unknown, Up, Down, Left, Unconfirmed };
    State state = State::NotBridged;
    IfIndex port{};
    bool operator==(const PortFacts&) const = default;
};

struct HostFacts {
    const IpAddress& address;
    const Neighbor& neighbor;
    const ServedInterface* served = nullptr;  // Null: the interface is not served.
    PortFacts port{};
    bool isolated = false;
    bool own_address = false;
    bool own_mac = false;
    bool bgp_peer = false;
    bool denied = false;
};

Reason judge(const HostFacts& host);

/// The part of judge() that depends on the kernel's state alone: Eligible, Failed, Unresolved or
/// NoArpNotLearned.
Reason judge_state(const Neighbor& neighbor);
/// The kernel asks this one if it is told to; a living PERMANENT or NOARP entry is never in doubt.
bool can_be_asked(const Neighbor& neighbor);

/// A sentence for people: "port swp3 has no carrier".
std::string describe(Reason reason, const ServedInterface* served, std::string_view port_name);

std::string_view word(Nud state);  // "REACHABLE", as `ip neigh` prints it.

}  // namespace planed
