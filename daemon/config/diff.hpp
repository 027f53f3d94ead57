// SPDX-License-Identifier: Apache-2.0
// What a reload changes, by name, and what of it only a restart can bring about.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"

namespace planed::config {

struct Changes {
    std::vector<std::string> keys;           // "routes.distance", "interfaces"; lists as a whole.
    std::vector<std::string> parts;          // The top-level keys of those: "routes".
    std::vector<std::string> needs_restart;  // Those of `keys` that do not apply live.
    bool operator==(const Changes&) const = default;
};

/// In the order of planed.yaml; all empty where the two are equal.
Changes diff(const Config& before, const Config& after);

/// What runs after a reload without a restart: `after`, but the restart-only keys as `before`.
Config live_part(const Config& before, Config after);

}  // namespace planed::config
