// SPDX-License-Identifier: Apache-2.0
// Keys that this release takes and does not act on yet. They are accepted so that one file serves
// every release, and named at start so that nobody believes in them.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "config/fault.hpp"

namespace planed::config {

/// The keys of the file, by path, that ask for something which is not built yet; in the file's
/// order. A key that asks for nothing (`snoop: false`, `plugins: []`) is not among them.
std::vector<std::string> not_acted_on(const Config& config, const Places& written);

}  // namespace planed::config
