// SPDX-License-Identifier: Apache-2.0
// Rules between the keys of `evpn`: a part of validate().
#pragma once

#include "config/config.hpp"
#include "config/fault.hpp"

namespace planed::config {

/// Adds every violation, not the first. `written` only gives the places; it may be empty.
void validate_evpn(const Config& config,
                   const Places& written,
                   FaultList& faults,
                   FaultList& warnings);

}  // namespace planed::config
