// SPDX-License-Identifier: Apache-2.0
// ARP for IPv4 over Ethernet (RFC 826, 5227): reading what others send, writing what planed sends.
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

tl::expected<Heard, Refusal> parse_arp(const Ethernet& frame);

struct ArpRequest {
    MacAddress source_mac{};
    IpAddress source{};  // 0.0.0.0 asks without claiming anything: a probe.
    IpAddress target{};
    std::optional<MacAddress> to{};  // Unicast (RFC 1122 2.3.2.1 (2)); absent: broadcast.
    VlanId vlan = VlanId::None;      // None: untagged.
};
/// A whole frame, as all that follow.
std::vector<std::uint8_t> arp_request(const ArpRequest& request);

struct ArpReply {
    MacAddress mac{};  // The answer: `address` is at `mac`; the frame's source too.
    IpAddress address{};
    MacAddress to{};
    IpAddress to_address{};  // The asker's, 0.0.0.0 for a probe.
    VlanId vlan = VlanId::None;
};
std::vector<std::uint8_t> arp_reply(const ArpReply& reply);

}  // namespace planed::packet
