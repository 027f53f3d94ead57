// SPDX-License-Identifier: Apache-2.0
#include "netlink/socket_diag.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>

namespace planed::netlink {
namespace {

constexpr std::uint16_t kBgpPort = 179;

std::optional<IpAddress> unmapped(const IpAddress& address) {
    constexpr std::array<std::uint8_t, 12> kMappedPrefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
    const auto bytes = address.bytes();
    if (address.is_v4() || !std::equal(kMappedPrefix.begin(), kMappedPrefix.end(), bytes.begin())) {
        return address;
    }
    return IpAddress::from_bytes(Family::V4, bytes.subspan(kMappedPrefix.size()));
}

}  // namespace

std::vector<std::uint8_t> dump_tcp_sockets(Family family, std::uint32_t sequence) {
    struct {
        nlmsghdr header;
        inet_diag_req_v2 request;
    } message{};
    message.header.nlmsg_len = sizeof message;
    message.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    message.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    message.header.nlmsg_seq = sequence;
    message.request.sdiag_family = family == Family::V4 ? AF_INET : AF_INET6;
    message.request.sdiag_protocol = IPPROTO_TCP;
    message.request.idiag_states =
        (1U << TCP_ESTABLISHED) | (1U << TCP_SYN_SENT) | (1U << TCP_SYN_RECV);
    std::vector<std::uint8_t> bytes(sizeof message);
    std::memcpy(bytes.data(), &message, sizeof message);
    return bytes;
}

Result<std::optional<IpAddress>> decode_bgp_peer(const Message& message) {
    inet_diag_msg row{};
    if (message.type != SOCK_DIAG_BY_FAMILY) {
        return std::nullopt;
    }
    if (message.payload.size() < sizeof row) {
        return fail_at(message.offset, Errc::Truncated, "socket row too short");
    }
    std::memcpy(&row, message.payload.data(), sizeof row);
    const bool is_bgp =
        ntohs(row.id.idiag_sport) == kBgpPort || ntohs(row.id.idiag_dport) == kBgpPort;
    if (!is_bgp) {
        return std::nullopt;
    }
    std::array<std::uint8_t, 16> remote{};
    static_assert(sizeof row.id.idiag_dst == remote.size());
    std::memcpy(remote.data(), row.id.idiag_dst, remote.size());
    switch (row.idiag_family) {
        case AF_INET: return IpAddress::from_bytes(Family::V4, std::span(remote).first(4));
        case AF_INET6: return unmapped(IpAddress::v6(remote));
        default: return fail_at(message.offset, Errc::Malformed, "socket row of unknown family");
    }
}

}  // namespace planed::netlink
