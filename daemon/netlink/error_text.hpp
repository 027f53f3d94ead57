// SPDX-License-Identifier: Apache-2.0
// The kernel's answer to a request: NLMSG_ERROR, whose error may be zero (an acknowledgement), or
// NLMSG_DONE, which ends a dump and may carry an error too: under strict checking a refused dump
// request comes that way. Both may have attributes with words (NETLINK_EXT_ACK).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "net/result.hpp"
#include "netlink/message.hpp"

namespace planed::netlink {

struct Answer {
    std::uint32_t sequence = 0;
    std::optional<Error> error{};  // Errc::Refused, with errno; absent: done as asked.
    std::string warning{};         // Done, but the kernel has a remark; mostly empty.
    bool operator==(const Answer&) const = default;
};

/// An NLMSG_ERROR or NLMSG_DONE; Errc::Malformed for a message of any other type.
Result<Answer> decode_answer(const Message& message);

/// "No such device (ENODEV)".
std::string errno_text(int number);

}  // namespace planed::netlink
