// SPDX-License-Identifier: Apache-2.0
// How full are the kernel's neighbour tables? RTM_GETNEIGHTBL (net/core/neighbour.c): thresholds
// and numbers are machine-wide, also when asked from a network namespace.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/input.hpp"
#include "net/result.hpp"
#include "netlink/message.hpp"

namespace planed::netlink {

std::vector<std::uint8_t> dump_neighbor_tables(std::uint32_t sequence);

/// Nullopt for the rows of single devices and for tables of other families.
Result<std::optional<NeighborTableSeen>> decode_neighbor_table(const Message& message);

}  // namespace planed::netlink
