// SPDX-License-Identifier: Apache-2.0
// The ICMPv6 checksum (RFC 4443 2.3, RFC 8200 8.1).
#pragma once

#include <cstdint>
#include <span>

#include "net/ip_address.hpp"

namespace planed::packet {

/// Over the pseudo-header and the whole ICMPv6 message. With the message's checksum field zero:
/// what belongs there. With the field as received: 0 if it is right.
std::uint16_t icmpv6_checksum(const IpAddress& source,
                              const IpAddress& destination,
                              std::span<const std::uint8_t> message);

}  // namespace planed::packet
