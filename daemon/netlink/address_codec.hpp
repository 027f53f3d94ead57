// SPDX-License-Identifier: Apache-2.0
// RTM_NEWADDR and RTM_DELADDR (linux/if_addr.h): an interface's own addresses.
#pragma once

#include <optional>

#include "core/input.hpp"
#include "net/result.hpp"
#include "netlink/message.hpp"

namespace planed::netlink {

/// AddressSeen or AddressGone; nothing for other families. The prefix keeps its host bits. Of an
/// address with a peer outside of which it lies, only the address itself is a subnet of ours.
Result<std::optional<Input>> decode_address(const Message& message, Source source);

}  // namespace planed::netlink
