// SPDX-License-Identifier: Apache-2.0
// A netlink datagram as a row of messages (linux/netlink.h). Host byte order, as the kernel of this
// machine wrote it; views into the datagram, nothing is copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "net/result.hpp"

namespace planed::netlink {

using Bytes = std::span<const std::uint8_t>;

struct Message {
    std::uint16_t type = 0;      // RTM_*, or NLMSG_*.
    std::uint16_t flags = 0;     // NLM_F_*.
    std::uint32_t sequence = 0;  // Of the request that this answers; 0 in most notifications.
    Bytes payload{};             // What follows the header.
    std::size_t offset = 0;      // Of the payload, from the datagram's start.
};

class MessageReader {
public:
    explicit MessageReader(Bytes datagram) : datagram_(datagram) {}

    /// The next message; nullopt at the end. After an error the rest is unreadable: ask no more.
    Result<std::optional<Message>> next();

private:
    Bytes datagram_;
    std::size_t offset_ = 0;
};

}  // namespace planed::netlink
