// SPDX-License-Identifier: Apache-2.0
// Numbers in files below /proc/sys: what netlink cannot set, and what is there before we do. The
// files are in memory: they do not block.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "net/result.hpp"

namespace planed::io {

/// Nullopt if the file is absent, unreadable or no number.
std::optional<std::uint32_t> read_sysctl(const std::string& path);
Result<void> write_sysctl(const std::string& path, std::uint32_t value);

}  // namespace planed::io
