// SPDX-License-Identifier: Apache-2.0
// Neighbour solicitations and advertisements over Ethernet (RFC 4861, 4862, 2464): reading what
// others send, writing what planed sends. Only where ICMPv6 follows the IPv6 header at once: hosts
// put no extension header there, and a fragmented one must be ignored (RFC 6980 5).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tl/expected.hpp>

#include "net/ids.hpp"
#include "net/ip_address.hpp"
#include "net/mac_address.hpp"
#include "packet/frame.hpp"
#include "packet/heard.hpp"

namespace planed::packet {

tl::expected<Heard, Refusal> parse_nd(const Ethernet& frame);

/// ff02::1:ffXX:XXXX (RFC 4291 2.7.1).
IpAddress solicited_node(const IpAddress& address);
/// 33:33 and the group's last four bytes (RFC 2464 7).
MacAddress multicast_mac(const IpAddress& group);

struct Solicitation {
    MacAddress source_mac{};  // In the source link-layer address option too.
    IpAddress source{};       // Ours, not ::; planed never does DAD for another.
    IpAddress target{};
    std::optional<MacAddress> to{};  // Unicast, to the target; absent: its solicited-node group.
    VlanId vlan = VlanId::None;      // None: untagged.
};
/// A whole frame, as all that follow.
std::vector<std::uint8_t> solicitation(const Solicitation& ask);

struct Receiver {
    IpAddress address{};
    MacAddress mac{};
};

struct Advertisement {
    MacAddress mac{};  // The answer: `target` is at `mac`; the frame's source too.
    IpAddress target{};
    IpAddress source{};            // Ours; need not be the target.
    std::optional<Receiver> to{};  // Absent: all nodes, ff02::1.
    AdvertisementFlags flags{};    // `solicited` only to a receiver (RFC 4861 7.1.2).
    VlanId vlan = VlanId::None;
};
std::vector<std::uint8_t> advertisement(const Advertisement& tell);

}  // namespace planed::packet
