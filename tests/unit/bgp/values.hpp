// SPDX-License-Identifier: Apache-2.0
// The values of tests/vectors/bgp, and how values look in a failed expectation.
#pragma once

#include <ostream>
#include <string_view>

#include "bgp/update.hpp"
#include "support/print.hpp"

namespace planed::bgp {

inline constexpr EsiBytes kEsi{0x03, 0x44, 0x38, 0x39, 0xFF, 0xFF, 0x01, 0x00, 0x00, 0x01};
inline constexpr AsNumber kAs{65000};
inline constexpr RouterId kLeaf1{0x0A42'0001};
inline constexpr RouterId kLeaf2{0x0A42'0002};
inline constexpr RouterId kLeaf3{0x0A42'0003};
inline constexpr TimePoint kStart{1h};

inline RouteDistinguisher rd(RouterId leaf, std::uint16_t index) {
    return RouteDistinguisher::of(leaf, index);
}
inline IpAddress address(std::string_view text) {
    return IpAddress::parse(text).value();
}
inline MacAddress mac(std::uint8_t last) {
    return MacAddress(MacAddress::Bytes{0, 0, 0, 0, 0, last});
}

inline void PrintTo(const Route& route, std::ostream* out) {  // NOLINT: GTest's name.
    *out << to_string(route);
}
inline void PrintTo(const RouteKey& key, std::ostream* out) {  // NOLINT
    *out << to_string(key.route());
}
inline void PrintTo(const ExtendedCommunity& community, std::ostream* out) {  // NOLINT
    *out << to_string(community);
}
inline void PrintTo(const Fault& fault, std::ostream* out) {  // NOLINT
    *out << name_of(fault.kind) << ": " << fault.error.text;
}
inline void PrintTo(const Notification& notification, std::ostream* out) {  // NOLINT
    *out << to_string(notification);
}

}  // namespace planed::bgp
