// SPDX-License-Identifier: Apache-2.0
// With whom does this machine speak BGP? Questions to sock_diag (linux/inet_diag.h) and their
// answers, as bytes. Up to FRR 9.1 a host route for a numbered BGP peer makes everything that the
// peer announces inactive, so its address must be known.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "net/ip_address.hpp"
#include "net/result.hpp"
#include "netlink/message.hpp"

namespace planed::netlink {

/// A dump request for TCP sockets of this family in states SYN_SENT, SYN_RECV and ESTABLISHED.
std::vector<std::uint8_t> dump_tcp_sockets(Family family, std::uint32_t sequence);

/// The remote address of a row whose local or remote port is 179; nullopt for any other row.
/// IPv4-mapped addresses come out as IPv4.
Result<std::optional<IpAddress>> decode_bgp_peer(const Message& message);

}  // namespace planed::netlink
