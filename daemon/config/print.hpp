// SPDX-License-Identifier: Apache-2.0
// The whole configuration, defaults included, as YAML that loads back to an equal Config.
#pragma once

#include <string>

#include "config/config.hpp"

namespace planed::config {

std::string to_yaml(const Config& config);

}  // namespace planed::config
