// SPDX-License-Identifier: Apache-2.0
// A change as one line of JSON.
#pragma once

#include <string>

#include "planed/plugin.h"

namespace change_log {

/// With its newline. Of a change that is gone the names alone.
std::string line_of(const planed_change& change);

}  // namespace change_log
