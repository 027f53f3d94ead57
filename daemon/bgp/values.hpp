// SPDX-License-Identifier: Apache-2.0
// Small values of BGP's wire that several of its parts share.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "net/big_endian.hpp"
#include "net/ip_address.hpp"

namespace planed::bgp {

using Bytes = std::vector<std::uint8_t>;

enum class AsNumber : std::uint32_t {};
/// What stands for an AS number above 65535 where there are only two octets (RFC 6793).
inline constexpr AsNumber kAsTrans{23456};

/// A BGP identifier: an IPv4 address in form, a number without reachability in meaning (RFC 6286).
enum class RouterId : std::uint32_t { None = 0 };
std::string to_string(RouterId id);  // "10.66.0.1"
RouterId router_id_of(const IpAddress& v4);

/// The address family of everything here: L2VPN EVPN (RFC 7432 7).
inline constexpr std::uint16_t kAfiL2vpn = 25;
inline constexpr std::uint8_t kSafiEvpn = 70;

/// Ethernet Segment Identifier as on the wire, type first. Any ten octets: what they mean, and
/// which of them name a segment, is evpn/'s affair.
using EsiBytes = std::array<std::uint8_t, 10>;

/// The Ethernet tag of a type 1 route that stands for the whole segment.
inline constexpr std::uint32_t kMaxEthernetTag = 0xFFFF'FFFF;

/// Three octets. With VXLAN all 24 bits are the VNI (RFC 8365 5.1.3): nothing is shifted here.
using Label = std::uint32_t;
inline constexpr Label kLabelMax = 0xFF'FFFF;

/// Eight octets that keep routes of different leaves and VRFs apart. Compared, never taken to
/// pieces: what a peer numbers by is its own affair (FRR's is an internal index).
class RouteDistinguisher {
public:
    static constexpr std::size_t kSize = 8;
    using Octets = std::array<std::uint8_t, kSize>;

    constexpr RouteDistinguisher() = default;
    constexpr explicit RouteDistinguisher(const Octets& octets) : octets_(octets) {}
    /// Type 1 (RFC 4364 4.2), which types 1 per segment and 4 must use (RFC 7432 8.2.1).
    static RouteDistinguisher of(RouterId address, std::uint16_t index);

    [[nodiscard]] constexpr const Octets& octets() const { return octets_; }
    [[nodiscard]] std::string to_string() const;  // "10.66.0.1:100", "65000:100"; else hex.

    friend constexpr bool operator==(const RouteDistinguisher& a, const RouteDistinguisher& b) {
        return a.word() == b.word();
    }
    friend constexpr std::strong_ordering operator<=>(const RouteDistinguisher& a,
                                                      const RouteDistinguisher& b) {
        return a.word() <=> b.word();
    }
    template <class H>
    friend H AbslHashValue(H state, const RouteDistinguisher& rd) {
        return H::combine(std::move(state), rd.word());
    }

private:
    [[nodiscard]] constexpr std::uint64_t word() const { return big_endian<kSize>(&octets_[0]); }

    Octets octets_{};
};

}  // namespace planed::bgp
