// SPDX-License-Identifier: Apache-2.0
// A shared object becomes what it says of itself, if that can be believed. It stays loaded until
// the process ends: nothing that it may have left behind (threads, handlers) is pulled from under
// it.
#pragma once

#include <string>

#include "net/result.hpp"
#include "planed/plugin.h"

namespace planed::plugin {

/// Errors, without the path: no such file, no entry, another ABI, too small, or it does nothing.
Result<const planed_plugin*> load(const std::string& path);

}  // namespace planed::plugin
