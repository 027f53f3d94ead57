// SPDX-License-Identifier: Apache-2.0
// RTM_NEWNEIGH and RTM_DELNEIGH (linux/neighbour.h): IPv4 and IPv6 neighbours, and bridge
// forwarding entries, which are neighbours of family AF_BRIDGE.
#pragma once

#include <optional>

#include "core/input.hpp"
#include "net/result.hpp"
#include "netlink/message.hpp"

namespace planed::netlink {

/// NeighborSeen, NeighborGone, FdbSeen or FdbGone. Nothing for proxy entries (NTF_PROXY), for what
/// a device keeps in its own filter (AF_BRIDGE without NDA_MASTER: NTF_SELF, VXLAN remotes), for
/// other link layers' forwarding entries and other families.
Result<std::optional<Input>> decode_neighbor(const Message& message, Source source);

}  // namespace planed::netlink
