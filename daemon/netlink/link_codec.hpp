// SPDX-License-Identifier: Apache-2.0
// RTM_NEWLINK and RTM_DELLINK (linux/if_link.h, linux/rtnetlink.h).
#pragma once

#include <optional>

#include "core/input.hpp"
#include "net/result.hpp"
#include "netlink/message.hpp"

namespace planed::netlink {

/// LinkSeen or LinkGone. Nothing for family AF_BRIDGE: those speak of a port's bridge settings, and
/// their RTM_DELLINK says that the link left its bridge, not that it is gone; a full message of
/// family AF_UNSPEC comes with each.
Result<std::optional<Input>> decode_link(const Message& message, Source source);

}  // namespace planed::netlink
