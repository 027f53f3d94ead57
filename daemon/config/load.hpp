// SPDX-License-Identifier: Apache-2.0
// planed.yaml -> Config, or every fault it has. The same code serves start, --check and reload. No
// exception leaves it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "config/fault.hpp"

namespace planed::config {

/// Bounds of what is read at all; those of single values are in keys.hpp.
inline constexpr std::size_t kFileMax = 1U << 20U;  // Bytes.
inline constexpr std::size_t kDepthMax = 16;        // Maps and lists within each other.

struct Loaded {
    Config config;                // To be used only if there are no faults.
    std::vector<Fault> faults;    // By place.
    std::vector<Fault> warnings;  // By place: it works, but hardly as meant. None beside faults.
    Places written;               // Every key the file has.

    [[nodiscard]] bool ok() const { return faults.empty(); }
};

/// `name` is what faults call the file.
Loaded load_text(std::string_view text, const std::string& name);

/// A file that cannot be read is a fault at 1:1.
Loaded load_file(const std::string& path);

}  // namespace planed::config
