// SPDX-License-Identifier: Apache-2.0
#include "core/eligibility.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace planed {
namespace {

bool any_contains(const std::vector<IpPrefix>& prefixes, const IpAddress& address) {
    return std::any_of(prefixes.begin(), prefixes.end(), [&](const IpPrefix& prefix) {
        return prefix.contains(address);
    });
}

// The all-zeros host (IPv4 network, IPv6 subnet-router anycast, RFC 4291 2.6.1) and the IPv4
// broadcast address of the subnet. /31, /32, /127 and /128 have no such addresses (RFC 3021, RFC
// 6164).
bool is_subnet_address(const IpPrefix& subnet, const IpAddress& address) {
    if (subnet.length() + 1 >= subnet.address().bits() || !subnet.contains(address)) {
        return false;
    }
    return address == subnet.network().address() || subnet.broadcast() == address;
}

Reason judge_address(const HostFacts& host) {
    const IpAddress& address = host.address;
    if (address.is_multicast() || address.is_unspecified() || address.is_loopback() ||
        address.is_reserved_v4()) {
        return Reason::NotUnicast;
    }
    if (address.is_link_local()) {
        return Reason::LinkLocal;
    }
    if (host.own_address) {
        return Reason::OwnAddress;
    }
    const auto& subnets = host.served->subnets;
    const bool subnet_address =
        std::any_of(subnets.begin(), subnets.end(), [&](const IpPrefix& subnet) {
            return is_subnet_address(subnet, address);
        });
    if (subnet_address) {
        return Reason::SubnetAddress;
    }
    if (!any_contains(host.served->allowed(), address)) {
        return Reason::OutsidePrefixes;
    }
    if (any_contains(host.served->config.exclude, address)) {
        return Reason::Excluded;
    }
    return host.bgp_peer ? Reason::BgpPeer : Reason::Eligible;
}

Reason judge_mac(const HostFacts& host) {
    const MacAddress& mac = host.neighbor.mac;
    if (mac.is_zero()) {
        return Reason::NoMac;
    }
    if (mac.is_multicast()) {
        return Reason::BadMac;
    }
    return host.own_mac ? Reason::OwnMac : Reason::Eligible;
}

Reason judge_port(const PortFacts& port) {
    switch (port.state) {
        case PortFacts::State::NotBridged:
        case PortFacts::State::Unknown:  // Never seen anywhere: keep, and probe.
        case PortFacts::State::Up: return Reason::Eligible;
        case PortFacts::State::Down: return Reason::PortDown;
        case PortFacts::State::Left: return Reason::PortLeft;
        case PortFacts::State::Unconfirmed: return Reason::PortUnconfirmed;
    }
    return Reason::Eligible;
}

}  // namespace

Reason judge_state(const Neighbor& neighbor) {
    switch (neighbor.state) {
        case Nud::Reachable:
        case Nud::Stale:
        case Nud::Delay:
        case Nud::Probe:
        case Nud::Permanent: return Reason::Eligible;
        case Nud::NoArp: return neighbor.ext_learned ? Reason::Eligible : Reason::NoArpNotLearned;
        case Nud::Failed: return Reason::Failed;
        case Nud::None:
        case Nud::Incomplete: return Reason::Unresolved;
    }
    return Reason::Unresolved;  // A combination of bits that no kernel sends.
}

bool can_be_asked(const Neighbor& neighbor) {
    return judge_state(neighbor) == Reason::Eligible && neighbor.state != Nud::Permanent &&
           neighbor.state != Nud::NoArp;
}

Reason judge(const HostFacts& host) {
    if (host.served == nullptr) {
        return Reason::NotServed;
    }
    if (host.isolated) {
        return Reason::Isolated;
    }
    if (!host.served->up) {
        return Reason::InterfaceDown;
    }
    for (const Reason reason : {judge_address(host),
                                judge_state(host.neighbor),
                                judge_mac(host),
                                judge_port(host.port)}) {
        if (reason != Reason::Eligible) {
            return reason;
        }
    }
    return host.denied ? Reason::Denied : Reason::Eligible;
}

std::string_view word(Reason reason) {
    switch (reason) {
        case Reason::Eligible: return "eligible";
        case Reason::NotServed: return "not_served";
        case Reason::Isolated: return "isolated";
        case Reason::InterfaceDown: return "interface_down";
        case Reason::NotUnicast: return "not_unicast";
        case Reason::LinkLocal: return "link_local";
        case Reason::OwnAddress: return "own_address";
        case Reason::SubnetAddress: return "subnet_address";
        case Reason::OutsidePrefixes: return "outside_prefixes";
        case Reason::Excluded: return "excluded";
        case Reason::BgpPeer: return "bgp_peer";
        case Reason::Failed: return "failed";
        case Reason::Unresolved: return "unresolved";
        case Reason::NoArpNotLearned: return "noarp_not_learned";
        case Reason::NoMac: return "no_mac";
        case Reason::BadMac: return "bad_mac";
        case Reason::OwnMac: return "own_mac";
        case Reason::PortDown: return "port_down";
        case Reason::PortLeft: return "port_left";
        case Reason::PortUnconfirmed: return "port_unconfirmed";
        case Reason::Denied: return "denied";
        case Reason::AddDelay: return "add_delay";
        case Reason::Damped: return "damped";
        case Reason::OverLimit: return "over_limit";
        case Reason::Drained: return "drained";
    }
    return "unknown";
}

std::string describe(Reason reason, const ServedInterface* served, std::string_view port_name) {
    const std::string_view name = served == nullptr ? std::string_view("?") : served->name;
    switch (reason) {
        case Reason::Eligible: return fmt::format("host is alive on {}", name);
        case Reason::NotServed: return "the interface is not in the configuration";
        case Reason::Isolated: return "all uplinks are down";
        case Reason::InterfaceDown: return fmt::format("interface {} is down", name);
        case Reason::NotUnicast: return "not a unicast address";
        case Reason::LinkLocal: return "link-local address";
        case Reason::OwnAddress: return "address of this machine";
        case Reason::SubnetAddress: return fmt::format("network or broadcast address of {}", name);
        case Reason::OutsidePrefixes: return fmt::format("outside the prefixes of {}", name);
        case Reason::Excluded: return fmt::format("excluded by the configuration of {}", name);
        case Reason::BgpPeer: return "a BGP peer's own address (FRR before 10.0 cannot have both)";
        case Reason::Failed: return "does not answer (FAILED)";
        case Reason::Unresolved: return "not resolved (INCOMPLETE)";
        case Reason::NoArpNotLearned: return "NOARP entry that no control plane has written";
        case Reason::NoMac: return "no MAC address";
        case Reason::BadMac: return "multicast MAC address";
        case Reason::OwnMac: return "MAC address of this machine";
        case Reason::PortDown: return fmt::format("port {} has no carrier", port_name);
        case Reason::PortLeft: return fmt::format("port {} left the bridge", port_name);
        case Reason::PortUnconfirmed:
            return fmt::format("not heard since port {} came back", port_name);
        case Reason::Denied: return "denied by a plug-in";
        case Reason::AddDelay: return "new: announced when it has been here for routes.add_delay";
        case Reason::OverLimit:
            return fmt::format("{} has max_hosts announced hosts already", name);
        case Reason::Drained: return "held back by an operator (planectl undrain)";
        case Reason::Damped: return "held back: it came and went too often (routes.damping)";
    }
    return "unknown";
}

std::string_view word(Nud state) {
    switch (state) {
        case Nud::None: return "NONE";
        case Nud::Incomplete: return "INCOMPLETE";
        case Nud::Reachable: return "REACHABLE";
        case Nud::Stale: return "STALE";
        case Nud::Delay: return "DELAY";
        case Nud::Probe: return "PROBE";
        case Nud::Failed: return "FAILED";
        case Nud::NoArp: return "NOARP";
        case Nud::Permanent: return "PERMANENT";
    }
    return "UNKNOWN";
}

}  // namespace planed
