// SPDX-License-Identifier: Apache-2.0
// The answer that a question deserves, in the form that its asker expects. Whether to answer at all
// is for who calls.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "net/ip_address.hpp"
#include "net/mac_address.hpp"
#include "packet/heard.hpp"

namespace planed::packet {

/// Who answers for another, on the interface where the question was heard.
struct Proxy {
    MacAddress mac{};  // Where the asker shall send.
    /// Of this interface: an NA's IPv6 source. Not needed for ARP.
    IpAddress source = IpAddress::v6({});
    bool router = true;  // The NA's router flag: a leaf forwards.
    /// The NA's override flag. One who answers for others should not set it (RFC 4861 7.2.8), and
    /// Linux does not, so that the owner's own answer wins. Without it an asker who has another MAC
    /// keeps that until it fails (7.2.5).
    bool overrides = false;
};

/// "The target is at `proxy.mac`", in the question's VLAN, by unicast:
/// - an ARP request or probe: a reply;
/// - an NS: a solicited NA to its source;
/// - a DAD NS: an unsolicited NA to all nodes, as its asker has no address yet (RFC 4861 7.2.4).
/// The override flag is not set, as one who answers for others must not (7.2.8). Nothing for what
/// is no question, and for an NS or DAD where `proxy.source` is ::.
std::optional<std::vector<std::uint8_t>> answer(const Heard& question, const Proxy& proxy);

}  // namespace planed::packet
