// SPDX-License-Identifier: Apache-2.0
// Core isolation: with every uplink down this leaf leads nowhere, so nothing behind it is
// announced, and (`uplinks_down: shut`) its server ports are taken down, so that servers stop using
// it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "core/link_table.hpp"
#include "core/served_interfaces.hpp"

namespace planed {

/// Is this link one of the configured uplinks (exact names or globs)?
bool is_uplink(const Config& config, const Link& link);

/// True if uplinks are configured and none of them is up. A link that does not exist is down.
bool is_isolated(const Config& config, const LinkTable& links);

/// The server ports: the bridge ports of served interfaces and the served interfaces that have
/// none, uplinks left out. In order of index.
std::vector<IfIndex> server_ports(const Config& config,
                                  const LinkTable& links,
                                  const ServedInterfaces& served);

}  // namespace planed
