// SPDX-License-Identifier: Apache-2.0
#include "io/bgp_socket.hpp"

#include <algorithm>
#include <cstring>

#include <netinet/in.h>
#include <netinet/tcp.h>

#include "io/socket_options.hpp"
#include "net/assert.hpp"

namespace planed::io {
namespace {

constexpr int kMinHopCount = 73;     // IPV6_MINHOPCOUNT, linux/in6.h; glibc has no name for it.
constexpr int kTtl = 255;            // RFC 5082 3
constexpr int kRoutingClass = 0xC0;  // DSCP CS6, RFC 4594 3.2

}  // namespace

Result<void> set_tcp_password(int fd, const IpAddress& peer, const std::string& password) {
    tcp_md5sig signature{};
    PLANED_ASSERT(password.size() <= sizeof signature.tcpm_key);
    if (peer.is_v4()) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        std::copy_n(peer.bytes().begin(),
                    sizeof address.sin_addr,
                    reinterpret_cast<std::uint8_t*>(&address.sin_addr));
        std::memcpy(&signature.tcpm_addr, &address, sizeof address);
    } else {
        sockaddr_in6 address{};
        address.sin6_family = AF_INET6;
        std::copy_n(peer.bytes().begin(),
                    sizeof address.sin6_addr,
                    reinterpret_cast<std::uint8_t*>(&address.sin6_addr));
        std::memcpy(&signature.tcpm_addr, &address, sizeof address);
    }
    signature.tcpm_keylen = static_cast<std::uint16_t>(password.size());
    std::memcpy(signature.tcpm_key, password.data(), password.size());
    if (::setsockopt(fd, IPPROTO_TCP, TCP_MD5SIG, &signature, sizeof signature) == 0 ||
        (password.empty() && errno == ENOENT)) {
        return {};
    }
    return system_error("TCP MD5");
}

Result<void> set_hops_max(int fd, bool v4, std::uint8_t hops) {
    const int least = hops == 0 ? 0 : kTtl + 1 - hops;
    const bool set = v4 ? set_option(fd, IPPROTO_IP, IP_MINTTL, least)
                        : set_option(fd, IPPROTO_IPV6, kMinHopCount, least);
    if (!set) {
        return system_error("TTL security");
    }
    return {};
}

Result<void> set_sending(int fd, bool v4) {
    const bool set = v4 ? set_option(fd, IPPROTO_IP, IP_TTL, kTtl) &&
                              set_option(fd, IPPROTO_IP, IP_TOS, kRoutingClass)
                        : set_option(fd, IPPROTO_IPV6, IPV6_UNICAST_HOPS, kTtl) &&
                              set_option(fd, IPPROTO_IPV6, IPV6_TCLASS, kRoutingClass);
    if (!set) {
        return system_error("TTL and traffic class");
    }
    return {};
}

}  // namespace planed::io
