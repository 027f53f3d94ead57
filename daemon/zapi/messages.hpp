// SPDX-License-Identifier: Apache-2.0
// The ZAPI messages that we send and read, as values. Numbers are those that all releases share;
// what differs is in dialect.hpp. Layouts: codec.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "net/ids.hpp"
#include "net/ip_prefix.hpp"

namespace planed::zapi {

inline constexpr std::size_t kHeaderSize = 10;
inline constexpr std::size_t kMessageMax = 16384;  // FRR's own limit, header included.
inline constexpr std::uint8_t kMarker = 254;
inline constexpr std::uint8_t kVersion = 6;

struct Header {
    std::uint16_t length = kHeaderSize;  // Whole message, header included.
    VrfId vrf{};
    std::uint16_t command = 0;
    bool operator==(const Header&) const = default;
};

/// A received message: the body points into the bytes it was framed from.
struct Frame {
    Header header{};
    std::span<const std::uint8_t> body{};
};

enum class Afi : std::uint8_t { V4 = 1, V6 = 2 };

/// What we ask zebra to hold, keyed by VRF and prefix. Next hop: the interface alone, or
/// (gateway_is_host) the prefix' own address on that interface, onlink.
struct Route {
    VrfId vrf{};
    IpPrefix prefix{};
    IfIndex out{};
    bool gateway_is_host = false;
    std::uint8_t distance = 0;
    std::uint32_t metric = 0;  // Zero is not sent.
    std::uint32_t tag = 0;
    bool operator==(const Route&) const = default;
};

/// zebra's word on a route of ours: coalesced, sometimes absent, without a number.
enum class OwnerState : std::uint8_t {
    FailInstall = 0,     // The kernel refused, or the next hop's interface is down or unknown.
    BetterAdminWon = 1,  // A route of another type is selected instead.
    Installed = 2,
    Removed = 3,
    RemoveFail = 4,
};

struct OwnerNotice {
    VrfId vrf{};
    IpPrefix prefix{};
    OwnerState state{};
    std::uint32_t table = 0;  // The kernel's routing table number.
    bool operator==(const OwnerNotice&) const = default;
};

enum class NextHopType : std::uint8_t {
    IfIndex = 1,
    V4 = 2,
    V4IfIndex = 3,
    V6 = 4,
    V6IfIndex = 5,
    Blackhole = 6,
};

struct NextHop {
    VrfId vrf{};
    NextHopType type = NextHopType::IfIndex;
    IfIndex out{};
    std::optional<IpAddress> gateway{};
    bool onlink = false;
    bool operator==(const NextHop&) const = default;
};

/// REDISTRIBUTE_ROUTE_ADD or _DEL: a selected route of the type we asked for.
struct RedistributedRoute {
    VrfId vrf{};
    std::uint8_t type = 0;  // The family's number.
    std::uint16_t instance = 0;
    IpPrefix prefix{};
    std::vector<NextHop> next_hops{};
    std::uint8_t distance = 0;
    std::uint32_t metric = 0;
    std::uint32_t tag = 0;
    /// It has a form of next hop that we never send and do not read (labels, SRv6, backups): what
    /// comes after the prefix is unknown here.
    bool opaque = false;
    bool operator==(const RedistributedRoute&) const = default;
};

/// The route as we would have sent it; nullopt if we never send one like it.
std::optional<Route> as_route(const RedistributedRoute& seen);

/// zebra's answer to HELLO. Absent fields are not on this release's wire.
struct Capabilities {
    std::uint32_t vrf_backend = 0;  // 0 = VRF devices, 1 = network namespaces.
    bool mpls = false;
    std::uint32_t multipath = 0;
    std::uint8_t mlag_role = 0;
    std::optional<bool> v6_with_v4_next_hop{};  // 9.1 and later.
    std::optional<bool> restarting{};           // 10.2 and later: zebra itself in graceful restart.
    bool operator==(const Capabilities&) const = default;
};

/// ERROR does not say which message was wrong, but its VRF is that message's.
struct ServerError {
    static constexpr std::uint32_t kUnknown = 0;
    static constexpr std::uint32_t kNoSuchVrf = 1;
    static constexpr std::uint32_t kNoHandler = 2;

    VrfId vrf{};
    std::uint32_t code = 0;
    bool operator==(const ServerError&) const = default;
};

}  // namespace planed::zapi
