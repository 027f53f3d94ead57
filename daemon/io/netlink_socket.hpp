// SPDX-License-Identifier: Apache-2.0
// One netlink socket, non-blocking: bytes in, bytes out, and the word when some were lost. Knows
// nothing of what the bytes mean. Move-only; closes its descriptor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "net/result.hpp"

namespace planed::io {

class NetlinkSocket {
public:
    /// 40,000 changes fit while we are away (by SO_RCVBUFFORCE); without CAP_NET_ADMIN the kernel's
    /// limit holds and `receive_buffer()` says what became of it.
    static constexpr int kReceiveBuffer = 16 * 1024 * 1024;

    struct Options {
        int protocol = 0;                     // NETLINK_ROUTE, NETLINK_SOCK_DIAG.
        std::vector<unsigned> groups{};       // RTNLGRP_*.
        int receive_buffer = kReceiveBuffer;  // Bytes.
    };
    enum class Kind : std::uint8_t {
        Nothing,   // Read it all.
        Datagram,  // `bytes` is one, whole.
        Overrun,   // The kernel dropped messages for want of room (ENOBUFS).
        Cut,       // A datagram longer than the buffer; the rest is lost.
        Foreign,   // Not from the kernel: ignore.
        Failed,    // Any other error.
    };
    struct Received {
        Kind kind = Kind::Nothing;
        std::span<const std::uint8_t> bytes{};  // Into the caller's buffer.
    };

    static Result<NetlinkSocket> open(const Options& options);
    ~NetlinkSocket();
    NetlinkSocket(NetlinkSocket&& other) noexcept;
    NetlinkSocket& operator=(NetlinkSocket&& other) noexcept;
    NetlinkSocket(const NetlinkSocket&) = delete;
    NetlinkSocket& operator=(const NetlinkSocket&) = delete;

    [[nodiscard]] int fd() const { return fd_; }
    /// An overrun is told twice: where the kernel says ENOBUFS, and once more when the queue is
    /// empty. Until then it drops everything new without another word (NETLINK_S_CONGESTED,
    /// net/netlink/af_netlink.c), so only a dump that is asked for after the second is whole.
    Received receive(std::span<std::uint8_t> buffer);
    /// A request to the kernel, whole or not at all.
    Result<void> send(std::span<const std::uint8_t> bytes);
    /// Bytes, as the kernel accounts them: twice what was granted (socket(7)).
    [[nodiscard]] int receive_buffer() const;

private:
    explicit NetlinkSocket(int fd) : fd_(fd) {}

    Kind without_datagram(int error);

    int fd_ = -1;
    bool gap_open_ = false;  // From ENOBUFS until the queue was seen empty.
};

}  // namespace planed::io
