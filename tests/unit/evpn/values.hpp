// SPDX-License-Identifier: Apache-2.0
// The leaves and segments of these tests, and how values look in a failed expectation.
#pragma once

#include <ostream>
#include <string_view>

#include "evpn/df_election.hpp"
#include "evpn/esi.hpp"
#include "evpn/own_routes.hpp"
#include "support/print.hpp"

namespace planed::bgp {

inline void PrintTo(const Route& route, std::ostream* out) {  // NOLINT: GTest's name.
    *out << to_string(route);
}
inline void PrintTo(const RouteKey& key, std::ostream* out) {  // NOLINT
    *out << to_string(key.route());
}
inline void PrintTo(const ExtendedCommunity& community, std::ostream* out) {  // NOLINT
    *out << to_string(community);
}

}  // namespace planed::bgp

namespace planed::evpn {

inline const Esi kEs1 = Esi::parse("03:44:38:39:ff:ff:01:00:00:01").value();
inline const Esi kEs2 = Esi::parse("03:44:38:39:ff:ff:01:00:00:02").value();
inline const Esi kElsewhere = Esi::parse("03:44:38:39:ff:ff:09:00:00:09").value();
inline constexpr bgp::Label kVni = 100;
inline const bgp::ExtendedCommunity kTarget = bgp::route_target(bgp::AsNumber{65000}, kVni);

inline IpAddress ip(std::string_view text) {
    return IpAddress::parse(text).value();
}
inline MacAddress mac(std::uint8_t last) {
    return MacAddress(MacAddress::Bytes{0, 0, 0, 0, 0, last});
}
inline DfOffer preference(std::uint16_t value, std::uint16_t bitmap = 0) {
    return {.algorithm = 2, .bitmap = bitmap, .preference = value};
}
inline Speaker leaf(std::uint8_t last) {
    return {.router_id = bgp::RouterId{0x0A42'0000U + last},
            .next_hop = IpAddress::v4(10, 66, 0, last)};
}
inline VrfOptions vrf(Profile profile = Profile::Classic) {
    return {.name = "default", .vni = kVni, .route_targets = {kTarget}, .profile = profile};
}

}  // namespace planed::evpn
