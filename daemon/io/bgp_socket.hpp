// SPDX-License-Identifier: Apache-2.0
// What a BGP connection asks of its TCP socket beyond connect(2): who it may come from, how far
// away that one may be, and what it proves itself with.
#pragma once

#include <cstdint>
#include <string>

#include "net/ip_address.hpp"
#include "net/result.hpp"

namespace planed::io {

/// TCP MD5 (RFC 2385) with one peer, on a socket that connects or listens; an empty password takes
/// it back. At most 80 bytes.
Result<void> set_tcp_password(int fd, const IpAddress& peer, const std::string& password);

/// GTSM (RFC 5082): only packets of peers that are at most `hops` away; 0: of any. What does not
/// fit, the kernel drops without a word.
Result<void> set_hops_max(int fd, bool v4, std::uint8_t hops);

/// Sends with a TTL of 255, which peers with GTSM insist on, as routing traffic (CS6).
Result<void> set_sending(int fd, bool v4);

}  // namespace planed::io
