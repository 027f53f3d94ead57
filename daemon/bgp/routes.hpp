// SPDX-License-Identifier: Apache-2.0
// EVPN routes (NLRI) as values, and their bytes: type u8, length u8, body. Types 1 to 5; all
// integers big-endian, lengths of addresses in bits. Layouts: RFC 7432 7.1 to 7.4, RFC 9136 3.1.
// Says nothing of who may advertise what.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "bgp/values.hpp"
#include "net/ip_address.hpp"
#include "net/ip_prefix.hpp"
#include "net/mac_address.hpp"
#include "net/result.hpp"

namespace planed::bgp {

/// Type 1, Ethernet A-D. Per segment with kMaxEthernetTag and label 0, else per EVI. Peers send any
/// label: FRR 8.4 as a reflector zeroes it.
struct EthernetAd {
    RouteDistinguisher rd{};
    EsiBytes esi{};
    std::uint32_t tag = 0;
    Label label = 0;
    friend auto operator<=>(const EthernetAd&, const EthernetAd&) = default;
};

/// Type 2, MAC/IP. One address a route; without one it is about the MAC alone. The profiles differ
/// in labels and tag: `classic` has the VNI in label1 and tag 0; `l3` has label1 0, the VRF's VNI
/// in label2 and the VLAN as tag.
struct MacIp {
    RouteDistinguisher rd{};
    EsiBytes esi{};
    std::uint32_t tag = 0;
    MacAddress mac{};
    std::optional<IpAddress> ip{};
    Label label1 = 0;
    std::optional<Label> label2{};
    friend auto operator<=>(const MacIp&, const MacIp&) = default;
};

/// Type 3, inclusive multicast.
struct Multicast {
    RouteDistinguisher rd{};
    std::uint32_t tag = 0;
    IpAddress originator{};
    friend auto operator<=>(const Multicast&, const Multicast&) = default;
};

/// Type 4, Ethernet segment.
struct Segment {
    RouteDistinguisher rd{};
    EsiBytes esi{};
    IpAddress originator{};
    friend auto operator<=>(const Segment&, const Segment&) = default;
};

/// Type 5, IP prefix. The gateway is of the prefix' family; unspecified: there is none.
struct Prefix {
    RouteDistinguisher rd{};
    EsiBytes esi{};
    std::uint32_t tag = 0;
    IpPrefix prefix{};
    IpAddress gateway{};
    Label label = 0;
    friend auto operator<=>(const Prefix&, const Prefix&) = default;
};

using Route = std::variant<EthernetAd, MacIp, Multicast, Segment, Prefix>;

/// What tells a route from another one, and all that a withdrawal means: the route with everything
/// else zero. ESI, labels and next hop of a type 2 are no part of it, and FRR withdraws with both
/// zeroed; the label of a type 1, and ESI, gateway and label of a type 5, are none either.
class RouteKey {
public:
    RouteKey() = default;
    explicit RouteKey(const Route& route);

    /// A route with this key, fit to be withdrawn.
    [[nodiscard]] const Route& route() const { return route_; }
    friend auto operator<=>(const RouteKey&, const RouteKey&) = default;

    template <class H>
    friend H AbslHashValue(H state, const RouteKey& key) {
        return key.hash(std::move(state));
    }

private:
    template <class H>
    struct HashOf;
    template <class H>
    H hash(H state) const;

    Route route_{};
};

/// 1 to 5.
std::uint8_t type_of(const Route& route);
/// As FRR writes it: "[2]:[0]:[48]:[00:00:00:00:00:11]:[32]:[45.0.0.11]", with the RD before it.
std::string to_string(const Route& route);

/// Octets on the wire, the two of type and length included.
std::size_t encoded_size(const Route& route);
/// The longest of them, an IPv6 type 5.
inline constexpr std::size_t kLongestRoute = 60;
void encode_route(const Route& route, Bytes& out);

/// One body, without type and length. Nullopt: a type that we do not speak, which is no error
/// (RFC 7606 5.4). The error's offset counts from the body's beginning.
Result<std::optional<Route>> decode_route(std::uint8_t type, std::span<const std::uint8_t> body);

// --- Only the compiler reads on. ---

template <class H>
struct RouteKey::HashOf {
    H state;

    H operator()(const EthernetAd& r) { return H::combine(std::move(state), r.rd, r.esi, r.tag); }
    H operator()(const MacIp& r) {
        return H::combine(
            std::move(state), r.rd, r.tag, r.mac, r.ip.has_value(), r.ip.value_or(IpAddress()));
    }
    H operator()(const Multicast& r) {
        return H::combine(std::move(state), r.rd, r.tag, r.originator);
    }
    H operator()(const Segment& r) {
        return H::combine(std::move(state), r.rd, r.esi, r.originator);
    }
    H operator()(const Prefix& r) { return H::combine(std::move(state), r.rd, r.tag, r.prefix); }
};

template <class H>
H RouteKey::hash(H state) const {
    return std::visit(HashOf<H>{H::combine(std::move(state), route_.index())}, route_);
}

}  // namespace planed::bgp
