// SPDX-License-Identifier: Apache-2.0
// Rules between keys: what no single value can tell.
#pragma once

#include "config/config.hpp"
#include "config/fault.hpp"

namespace planed::config {

/// Adds every violation, not the first. `written` only gives the places; it may be empty.
void validate(const Config& config, const Places& written, FaultList& faults, FaultList& warnings);

}  // namespace planed::config
