// SPDX-License-Identifier: Apache-2.0
#include "netlink/message.hpp"

#include <algorithm>
#include <cstring>

#include <linux/netlink.h>

namespace planed::netlink {

Result<std::optional<Message>> MessageReader::next() {
    const std::size_t left = datagram_.size() - offset_;
    if (left == 0) {
        return std::nullopt;
    }
    nlmsghdr header{};
    if (left < sizeof header) {
        return fail_at(offset_, Errc::Truncated, "netlink message header cut short");
    }
    std::memcpy(&header, datagram_.data() + offset_, sizeof header);
    if (header.nlmsg_len < sizeof header) {
        return fail_at(offset_, Errc::Malformed, "netlink message shorter than its header");
    }
    if (header.nlmsg_len > left) {
        return fail_at(offset_, Errc::Truncated, "netlink message cut short");
    }
    const std::size_t length = header.nlmsg_len;
    const Message message{
        .type = header.nlmsg_type,
        .flags = header.nlmsg_flags,
        .sequence = header.nlmsg_seq,
        .payload = datagram_.subspan(offset_ + sizeof header, length - sizeof header),
        .offset = offset_ + sizeof header,
    };
    // The last message of a datagram may lack its padding.
    offset_ += std::min(left, (length + NLMSG_ALIGNTO - 1) & ~std::size_t{NLMSG_ALIGNTO - 1});
    return message;
}

}  // namespace planed::netlink
