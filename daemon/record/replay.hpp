// SPDX-License-Identifier: Apache-2.0
// Tells an engine what a recording says, and hands out what it decides, a line of JSON each.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "telemetry/note.hpp"

namespace planed::record {

struct Replayed {
    std::uint64_t inputs = 0;
    std::uint64_t turns = 0;
    std::uint64_t decisions = 0;  // Notes not counted.
    // "FILE:LINE: what", of the first line that is damaged, or the first turn that decides another
    // number of things than when it was recorded. Empty: neither.
    std::string problem{};
    // The last line has no end: planed was killed while it wrote. It is left out.
    bool cut = false;
};

/// The next line with its newline, which the last one may lack; nullopt: there is none.
using NextLine = std::function<std::optional<std::string>()>;

/// `print` gets each decision, and notes up to `level`. Stops at a damaged line; goes on after a
/// turn that differs. `name` is what problems call the file.
Replayed replay(const NextLine& next,
                const std::string& name,
                Level level,
                const std::function<void(std::string_view)>& print);

}  // namespace planed::record
