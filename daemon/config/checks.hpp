// SPDX-License-Identifier: Apache-2.0
// What one text value may be. Each check says what is wrong with the text, as the end of a sentence
// that begins with the key: "must be an absolute path", or nothing.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/ip_address.hpp"

namespace planed::config {

using Problem = std::optional<std::string>;
using TextCheck = Problem (*)(std::string_view);
using AddressCheck = Problem (*)(const IpAddress&);

/// FRR releases whose ZAPI dialect is known (their source was compared tag by tag).
inline constexpr std::array<std::string_view, 12> kFrrReleases{
    "8.4", "8.5", "9.0", "9.1", "10.0", "10.1", "10.2", "10.3", "10.4", "10.5", "10.6", "10.7"};

Problem check_any(std::string_view text);
Problem check_node_name(std::string_view text);  // Empty: the host name.
Problem check_label(std::string_view text);      // Up to 64 printable characters.
Problem check_path(std::string_view text);
Problem check_path_or_empty(std::string_view text);
Problem check_socket_path(std::string_view text);        // sockaddr_un's limit too, unix(7).
Problem check_interface_name(std::string_view text);     // As the kernel's dev_valid_name().
Problem check_port_or_empty(std::string_view text);      // Empty: any.
Problem check_interface_pattern(std::string_view text);  // A name or a glob.
Problem check_frr_release(std::string_view text);        // auto, or one of kFrrReleases.
Problem check_redis_endpoint(std::string_view text);     // auto, off, unix:PATH, tcp:HOST:PORT.
Problem check_listen_address(std::string_view text);     // unix:PATH, ADDRESS:PORT, [ADDRESS]:PORT.
Problem check_tcp_address_or_empty(std::string_view text);  // Of the same, but no unix:PATH.

/// Only this machine can connect to it; false for what is no ADDRESS:PORT.
bool is_loopback(std::string_view listen_address);

/// The kernel's limit, linux/tcp.h. The text is not in what it says.
Problem check_tcp_password(std::string_view text);

/// Why no server can have this address, if so: "is a multicast address".
Problem host_address_problem(const IpAddress& address);
/// Why nobody can be reached at this address by TCP, if so.
Problem peer_address_problem(const IpAddress& address);
/// Why nobody can wait for connections there; the unspecified address is any of ours.
Problem bgp_listen_problem(const IpAddress& address);
/// A BGP identifier is any IPv4 address but 0.0.0.0 (RFC 6286).
Problem router_id_problem(const IpAddress& address);
/// Why nobody can have this AS number, if so: "0 is no AS number".
Problem as_number_problem(std::uint32_t number);

/// The text in quotes, cut to what fits a line, without anything a terminal could act on.
std::string quoted(std::string_view text);

}  // namespace planed::config
