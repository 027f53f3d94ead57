// SPDX-License-Identifier: Apache-2.0
// Values for tests, with the unimportant filled in. A wrong literal ends the test program: it is
// the test's own fault.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "config/config.hpp"
#include "core/facts.hpp"
#include "core/output.hpp"
#include "core/planner.hpp"
#include "core/route.hpp"
#include "net/assert.hpp"

namespace planed::test {

/// Monotonic clocks do not start at zero.
inline constexpr TimePoint kStart{1h};

inline IpAddress ip(std::string_view text) {
    const auto address = IpAddress::parse(text);
    PLANED_ASSERT(address.has_value());
    return *address;
}
inline IpPrefix prefix(std::string_view text) {
    const auto parsed = IpPrefix::parse(text);
    PLANED_ASSERT(parsed.has_value());
    return *parsed;
}
/// The n-th host's MAC: locally administered, unicast.
inline MacAddress mac(std::uint16_t n) {
    return MacAddress(
        {0x02, 0, 0, 0, static_cast<std::uint8_t>(n >> 8U), static_cast<std::uint8_t>(n & 0xFFU)});
}
inline MacAddress mac(std::string_view text) {
    const auto parsed = MacAddress::parse(text);
    PLANED_ASSERT(parsed.has_value());
    return *parsed;
}

// Links: up, with carrier, with a MAC of their own
// -------------------------------------------------

inline MacAddress link_mac(IfIndex index) {
    return MacAddress({0x06,
                       0,
                       0,
                       0,
                       static_cast<std::uint8_t>(number(index) >> 8U & 0xFFU),
                       static_cast<std::uint8_t>(number(index) & 0xFFU)});
}
inline Link routed_port(IfIndex index, std::string name) {
    return {.index = index,
            .name = std::move(name),
            .mac = link_mac(index),
            .admin_up = true,
            .carrier = true,
            .oper = OperState::Up};
}
inline Link bridge(IfIndex index, std::string name) {
    Link link = routed_port(index, std::move(name));
    link.kind = LinkKind::Bridge;
    return link;
}
inline Link filtering_bridge(IfIndex index, std::string name, VlanId default_pvid = VlanId{1}) {
    Link link = bridge(index, std::move(name));
    link.vlan_filtering = true;
    link.default_pvid = default_pvid;
    return link;
}
inline Link bridge_port(IfIndex index, std::string name, IfIndex bridge) {
    Link link = routed_port(index, std::move(name));
    link.kind = LinkKind::Veth;
    link.master = bridge;
    link.bridge_port = true;
    return link;
}
inline Link vlan_interface(IfIndex index, std::string name, IfIndex lower, VlanId vlan) {
    Link link = routed_port(index, std::move(name));
    link.kind = LinkKind::Vlan;
    link.lower = lower;
    link.vlan = vlan;
    return link;
}
inline Link vrf_device(IfIndex index, std::string name, std::uint32_t table) {
    Link link = routed_port(index, std::move(name));
    link.kind = LinkKind::Vrf;
    link.vrf_table = table;
    return link;
}
inline Link bond(IfIndex index, std::string name) {
    Link link = routed_port(index, std::move(name));
    link.kind = LinkKind::Bond;
    return link;
}
inline Link in_master(Link link, IfIndex master) {
    link.master = master;
    return link;
}
inline Link with_mac(Link link, MacAddress address) {
    link.mac = address;
    return link;
}
/// The carrier is lost, and the kernel's counter tells.
inline Link without_carrier(Link link) {
    link.carrier = false;
    link.oper = OperState::Down;
    ++link.carrier_down_count;
    return link;
}
inline Link with_carrier(Link link) {
    link.carrier = true;
    link.oper = OperState::Up;
    return link;
}
inline Link admin_down(Link link) {
    link.admin_up = false;
    return without_carrier(std::move(link));
}
/// Down and up again between two looks at it.
inline Link flapped(Link link) {
    ++link.carrier_down_count;
    return link;
}

// Neighbours --------------------------------------------------------------------------------------

inline Neighbor in_state(Nud state, MacAddress mac) {
    return {.mac = mac, .state = state};
}
inline Neighbor reachable(MacAddress mac) {
    return in_state(Nud::Reachable, mac);
}
inline Neighbor stale(MacAddress mac) {
    return in_state(Nud::Stale, mac);
}
inline Neighbor failed() {
    return in_state(Nud::Failed, {});
}
/// As the kernel shows an entry that we wrote.
inline Neighbor written_by_us(Nud state, MacAddress mac) {
    return {.mac = mac, .state = state, .ext_learned = true, .protocol = kNeighborProtocol};
}

// Configuration and routes ------------------------------------------------------------------------

inline InterfaceConfig interface_config(std::string name) {
    InterfaceConfig config;
    config.name = std::move(name);
    return config;
}
/// Nobody is asked merely because time goes by.
inline Config serving(std::initializer_list<std::string> names) {
    Config config;
    config.learning.refresh = 24h * 3650;
    for (const std::string& name : names) {
        config.interfaces.push_back(interface_config(name));
    }
    return config;
}
/// The route that a default configuration plans for a host on this link.
inline HostRoute route_via(IfIndex link) {
    const RoutesConfig defaults;
    return {
        .out = link, .distance = defaults.distance, .metric = defaults.metric, .tag = defaults.tag};
}
inline SendRoute announces(std::string_view address, IfIndex link, VrfId vrf = VrfId::Default) {
    return {.key = route_key(vrf, ip(address)), .put = route_via(link)};
}
inline SendRoute withdraws(std::string_view address, VrfId vrf = VrfId::Default) {
    return {.key = route_key(vrf, ip(address)), .put = std::nullopt};
}

}  // namespace planed::test
