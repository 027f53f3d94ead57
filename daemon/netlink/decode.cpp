// SPDX-License-Identifier: Apache-2.0
#include "netlink/decode.hpp"

#include <linux/rtnetlink.h>

#include "netlink/address_codec.hpp"
#include "netlink/link_codec.hpp"
#include "netlink/neighbor_codec.hpp"

namespace planed::netlink {

Result<std::optional<Input>> decode(const Message& message, Source source) {
    switch (message.type) {
        case RTM_NEWLINK:
        case RTM_DELLINK: return decode_link(message, source);
        case RTM_NEWADDR:
        case RTM_DELADDR: return decode_address(message, source);
        case RTM_NEWNEIGH:
        case RTM_DELNEIGH: return decode_neighbor(message, source);
        default: return std::nullopt;
    }
}

}  // namespace planed::netlink
