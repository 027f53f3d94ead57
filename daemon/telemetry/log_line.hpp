// SPDX-License-Identifier: Apache-2.0
// A note as the line that operators read: `level id node=… plane=… key=value …`; and how many lines
// of one id a second may have, so that a broken network cannot turn the log into a second problem.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "net/time.hpp"
#include "telemetry/note.hpp"

namespace planed {

std::string_view word(Level level);
std::optional<Level> parse_level(std::string_view word);

/// Lets ten notes of one id pass a second and counts the rest; the first one of the next second
/// says how many were left out.
class RateLimit {
public:
    static constexpr std::uint32_t kPerSecond = 10;

    struct Decision {
        bool pass = false;
        std::uint64_t left_out = 0;  // Before this one.
    };
    Decision ask(std::string_view id, TimePoint now);

private:
    struct Window {
        TimePoint ends{};
        std::uint32_t passed = 0;
        std::uint64_t left_out = 0;
    };
    std::map<std::string_view, Window> windows_;  // Ids are literals, and few.
};

/// `context` is "node=leaf-a1 plane=A" or empty. No newline at the end; control characters of the
/// text are replaced, so that one event stays one line.
std::string log_line(const Note& note, std::string_view context, std::uint64_t left_out);

}  // namespace planed
