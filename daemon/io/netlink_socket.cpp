// SPDX-License-Identifier: Apache-2.0
#include "io/netlink_socket.hpp"

#include <cerrno>
#include <utility>

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <fmt/core.h>
#include <linux/netlink.h>

#include "io/socket_options.hpp"

namespace planed::io {

Result<NetlinkSocket> NetlinkSocket::open(const Options& options) {
    const int fd = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, options.protocol);
    if (fd < 0) {
        return system_error("cannot open a netlink socket");
    }
    NetlinkSocket socket(fd);
    set_receive_buffer(fd, options.receive_buffer);
    // Refusals with words (since 4.12) and filters that are checked (since 4.20): useful, not
    // needed.
    (void)set_option(fd, SOL_NETLINK, NETLINK_EXT_ACK, 1);
    (void)set_option(fd, SOL_NETLINK, NETLINK_CAP_ACK, 1);
    (void)set_option(fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, 1);
    sockaddr_nl address{};
    address.nl_family = AF_NETLINK;
    if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        return system_error("cannot bind a netlink socket");
    }
    for (const unsigned group : options.groups) {
        if (!set_option(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, static_cast<int>(group))) {
            return system_error(fmt::format("cannot join netlink group {}", group));
        }
    }
    return socket;
}

NetlinkSocket::~NetlinkSocket() {
    if (fd_ >= 0) {
        (void)::close(fd_);
    }
}

NetlinkSocket::NetlinkSocket(NetlinkSocket&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), gap_open_(std::exchange(other.gap_open_, false)) {}

NetlinkSocket& NetlinkSocket::operator=(NetlinkSocket&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(gap_open_, other.gap_open_);
    return *this;
}

NetlinkSocket::Received NetlinkSocket::receive(std::span<std::uint8_t> buffer) {
    sockaddr_nl sender{};
    iovec part{.iov_base = buffer.data(), .iov_len = buffer.size()};
    msghdr header{};
    header.msg_name = &sender;
    header.msg_namelen = sizeof sender;
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    ssize_t count = -1;
    do {
        count = ::recvmsg(fd_, &header, 0);
    } while (count < 0 && errno == EINTR);
    if (count < 0) {
        return {.kind = without_datagram(errno)};
    }
    if (sender.nl_pid != 0) {
        return {.kind = Kind::Foreign};  // Any process may send to us; only the kernel is port 0.
    }
    if ((static_cast<unsigned>(header.msg_flags) & MSG_TRUNC) != 0) {
        return {.kind = Kind::Cut};
    }
    return {.kind = Kind::Datagram, .bytes = buffer.first(static_cast<std::size_t>(count))};
}

NetlinkSocket::Kind NetlinkSocket::without_datagram(int error) {
    if (error == EAGAIN) {
        return std::exchange(gap_open_, false) ? Kind::Overrun : Kind::Nothing;
    }
    if (error == ENOBUFS) {
        gap_open_ = true;
        return Kind::Overrun;
    }
    return Kind::Failed;
}

Result<void> NetlinkSocket::send(std::span<const std::uint8_t> bytes) {
    sockaddr_nl kernel{};
    kernel.nl_family = AF_NETLINK;
    ssize_t count = -1;
    do {
        count = ::sendto(fd_,
                         bytes.data(),
                         bytes.size(),
                         0,
                         reinterpret_cast<const sockaddr*>(&kernel),
                         sizeof kernel);
    } while (count < 0 && errno == EINTR);
    if (count < 0) {
        return system_error("cannot send a netlink request");
    }
    return {};
}

int NetlinkSocket::receive_buffer() const {
    int value = 0;
    socklen_t size = sizeof value;
    (void)::getsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &value, &size);
    return value;
}

}  // namespace planed::io
