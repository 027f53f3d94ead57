// SPDX-License-Identifier: Apache-2.0
// What pure code may say: a level, a dotted id that never changes (it is the counter's name too)
// and `key=value` words. Pure code does not log; it hands out notes and the shell prints them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace planed {

enum class Level : std::uint8_t {
    Error,  // A person must act.
    Warn,   // Degraded; we go on, and the text says how.
    Info,   // A session, the configuration or a milestone changed.
    Debug,  // One neighbour, one route.
    Trace,  // Bytes.
};

struct Note {
    Level level = Level::Info;
    std::string_view id{};  // A string literal: outlives every note.
    std::string text{};
    bool operator==(const Note&) const = default;
};

}  // namespace planed
