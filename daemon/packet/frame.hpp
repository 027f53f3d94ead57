// SPDX-License-Identifier: Apache-2.0
// An Ethernet frame as a socket hands it over, and as it is once its header has been read. Views
// into the caller's bytes; never owns or changes them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <tl/expected.hpp>

#include "net/byte_writer.hpp"
#include "net/ids.hpp"
#include "net/mac_address.hpp"
#include "packet/heard.hpp"

namespace planed::packet {

using Bytes = std::span<const std::uint8_t>;

inline constexpr std::uint16_t kTypeArp = 0x0806;   // RFC 826
inline constexpr std::uint16_t kTypeIpv6 = 0x86DD;  // RFC 2464 3
inline constexpr std::uint16_t kTypeVlan = 0x8100;  // IEEE 802.1Q, the customer's tag.

/// An IEEE 802.1Q tag.
struct Tag {
    std::uint16_t protocol = kTypeVlan;  // TPID
    std::uint16_t control = 0;  // TCI: 3 bits of priority, 1 of drop eligibility, 12 of VLAN.
    bool operator==(const Tag&) const = default;
};

struct Frame {
    Bytes bytes{};  // From the destination address on; without FCS, with padding or without.
    /// The outer tag where the kernel has taken it out of the bytes (PACKET_AUXDATA, packet(7)).
    std::optional<Tag> tag{};
};

struct Ethernet {
    MacAddress destination{};
    MacAddress source{};
    VlanId vlan = VlanId::None;  // None: no tag, or one of VLAN 0, which is for priority alone.
    std::uint16_t type = 0;      // Of the payload, past the tag.
    Bytes payload{};             // Padding included.
};

/// Refuses a tag in a tag and one that is not 802.1Q: a bridge takes what is inside for a payload
/// that it does not know.
tl::expected<Ethernet, Refusal> read_ethernet(const Frame& frame);

/// `type` is the payload's; VlanId::None writes no tag. No padding: the driver's or the card's
/// business, as for the kernel's own.
void write_ethernet(ByteWriter& out, const Ethernet& header);

}  // namespace planed::packet
