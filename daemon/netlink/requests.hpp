// SPDX-License-Identifier: Apache-2.0
// What we ask of rtnetlink, as bytes ready to be sent. `sequence` comes back in the answer. All are
// written for NETLINK_GET_STRICT_CHK: full headers, no field set that is no filter.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/input.hpp"
#include "core/output.hpp"
#include "net/ids.hpp"

namespace planed::netlink {

/// A whole table of both families; links without their statistics.
std::vector<std::uint8_t> dump_request(DumpKind kind, std::uint32_t sequence);

/// One link; answered by RTM_NEWLINK, or by an error (ENODEV) where it is gone. The kernel catches
/// up with a carrier change that it has not announced yet when the link itself is read
/// (net/core/link_watch.c), and announces it too.
std::vector<std::uint8_t> read_link_request(IfIndex link, std::uint32_t sequence);
/// All links with this master; a dump, ended by NLMSG_DONE.
std::vector<std::uint8_t> read_ports_request(IfIndex master, std::uint32_t sequence);

/// Creates or replaces the entry, with our NDA_PROTOCOL. Asks for an acknowledgement, as all below.
std::vector<std::uint8_t> write_neighbor_request(const WriteNeighbor& write,
                                                 std::uint32_t sequence);
/// RTM_GETNEIGH of one forwarding entry (rtnl_fdb_get() in net/core/rtnetlink.c), answered by the
/// entry or by ENOENT.
std::vector<std::uint8_t> read_forwarding_request(const ReadForwarding& read,
                                                  std::uint32_t sequence);
std::vector<std::uint8_t> write_forwarding_request(const WriteForwarding& write,
                                                   std::uint32_t sequence);
std::vector<std::uint8_t> delete_neighbor_request(const DeleteNeighbor& remove,
                                                  std::uint32_t sequence);

/// A proxied neighbour (NTF_PROXY), with our NDA_PROTOCOL; a removal asks nobody whose it is.
std::vector<std::uint8_t> proxy_request(const SendProxy& send, std::uint32_t sequence);

/// Nullopt where netlink cannot set it and /proc/sys/net must (AcceptUntrackedNa, ProxyNdp).
std::optional<std::vector<std::uint8_t>> setting_request(const ApplySetting& apply,
                                                         std::uint32_t sequence);

/// Administrative state only; leaves all else of the link as it is.
std::vector<std::uint8_t> link_up_request(const SetLinkUp& set, std::uint32_t sequence);

}  // namespace planed::netlink
