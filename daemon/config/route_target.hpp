// SPDX-License-Identifier: Apache-2.0
// Route targets as planed.yaml writes them: `65000:100`, `4200000001:100`, `10.66.0.1:100`.
#pragma once

#include <string>
#include <string_view>

#include "config/config.hpp"
#include "net/result.hpp"

namespace planed::config {

/// Decimal, without leading zeros. Refuses AS numbers and addresses that nobody can have, and what
/// does not fit: after an address (RFC 4360 3.2) or an AS above 65535 (RFC 5668) there is room for
/// 16 bits. The text of an error is the end of a sentence that begins with the key.
Result<RouteTargetConfig> parse_route_target(std::string_view text);

std::string format_route_target(const RouteTargetConfig& target);

}  // namespace planed::config
