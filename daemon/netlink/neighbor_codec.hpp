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

/// From a forwarding entry: how long ago its MAC last sent by its port (NDA_CACHEINFO ndm_updated,
/// br_fdb.c). Hundredths of a second: USER_HZ is 100 on every architecture that Linux leaves run
/// on.
Result<Duration> decode_silence(const Message& message);

}  // namespace planed::netlink
