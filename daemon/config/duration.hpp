// SPDX-License-Identifier: Apache-2.0
// Durations as planed.yaml writes them: one whole number and one unit, `900ms`, `30s`, `5m`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "net/time.hpp"

namespace planed::config {

/// Digits, then us, ms, s, m or h; nothing before, between or after. Nullopt also where it does not
/// fit a Duration (292 years).
std::optional<Duration> parse_duration(std::string_view text);

/// The largest unit that needs no fraction: 900s gives "15m". What is finer than a microsecond is
/// cut, negative durations are "0s": neither can come from a file.
std::string format_duration(Duration duration);

}  // namespace planed::config
