// SPDX-License-Identifier: Apache-2.0
// What differs between FRR releases on ZAPI's wire. The protocol carries no release number and its
// version byte has been 6 throughout although commands and route types were renumbered three times,
// so a conversation speaks one of four families, found by zapi::Probe and confirmed by the length
// of CAPABILITIES. Nothing that we use changes inside a family but for the three places where a
// decoder goes by length: CAPABILITIES (10.6), ROUTE_NOTIFY_OWNER (10.3) and next hop weights
// (10.1).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "net/ids.hpp"

namespace planed::zapi {

enum class WireFamily : std::uint8_t {
    A,  // FRR 8.4, 8.5, 9.0
    B,  // FRR 9.1: INTERFACE_VRF_UPDATE (36) left, every later command is one less
    C,  // FRR 10.0, 10.1: INTERFACE_SET_ARP (7) came, every later command is one more; LOCAL routes
    D,  // FRR 10.2 and later: VRF_UNREGISTER (33) left, three SRV6 commands came at 117
};

inline constexpr std::array kWireFamilies{
    WireFamily::A, WireFamily::B, WireFamily::C, WireFamily::D};

std::string_view name_of(WireFamily family);  // "A"
std::optional<WireFamily> family_named(std::string_view name);
std::string_view releases_of(WireFamily family);  // "FRR 8.4 to 9.0"
/// "8.4", "10.3", also with a patch level or suffix ("8.4.4", "10.3-dev"). Nullopt for anything
/// that is no release, and for releases that we do not speak.
std::optional<WireFamily> family_of_release(std::string_view release);

/// The command numbers that we send or read.
struct Commands {
    std::uint16_t hello;
    std::uint16_t capabilities;
    std::uint16_t client_capabilities;
    std::uint16_t error;
    std::uint16_t route_add;
    std::uint16_t route_delete;
    std::uint16_t route_notify_owner;
    std::uint16_t route_notify_request;
    std::uint16_t redistribute_add;
    std::uint16_t redistribute_delete;
    std::uint16_t redistribute_route_add;
    std::uint16_t redistribute_route_del;
    std::uint16_t client_close_notify;
};
const Commands& commands_of(WireFamily family);

/// No release has this command: zebra answers it with ERROR (no handler), and says so in its log.
inline constexpr std::uint16_t kUnknownCommand = 0xFFFF;
/// No interface has this index and no network namespace this number. zebra looks for the VRF first
/// and answers any message for this one with ERROR (no such VRF), without a word in its log.
inline constexpr VrfId kNoVrf{0xFFFF'FFFE};

/// The route types that bgpd can redistribute and no other daemon of a leaf uses.
enum class RouteType : std::uint8_t { Babel, Openfabric, Table, Sharp };
std::uint8_t number_of(RouteType type, WireFamily family);
/// The type of the routes that bgpd has learned from others.
std::uint8_t bgp_number(WireFamily family);

/// HELLO lost its "receive notify" byte in 10.0; from then on ROUTE_NOTIFY_REQUEST asks for owner
/// notices.
constexpr bool hello_asks_for_notices(WireFamily family) {
    return family == WireFamily::A || family == WireFamily::B;
}

/// Before 10.0 zebra does not walk on to the connected route when a next hop resolves over a
/// host route of ours: a numbered BGP peer with such a route loses everything it announces.
constexpr bool resolves_over_host_routes(WireFamily family) {
    return family == WireFamily::A || family == WireFamily::B;
}

/// Before 10.2 routes that zebra has read but not yet processed survive the close of their session
/// (FRR pull request 16494).
constexpr bool leaks_on_close(WireFamily family) {
    return family != WireFamily::D;
}

/// Whole messages, header included: CAPABILITIES of this length belongs to this family.
bool is_capabilities_length(WireFamily family, std::size_t length);

}  // namespace planed::zapi
