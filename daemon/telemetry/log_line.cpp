// SPDX-License-Identifier: Apache-2.0
#include "telemetry/log_line.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace planed {
namespace {

constexpr std::array<std::pair<Level, std::string_view>, 5> kLevels{{
    {Level::Error, "error"},
    {Level::Warn, "warn"},
    {Level::Info, "info"},
    {Level::Debug, "debug"},
    {Level::Trace, "trace"},
}};

}  // namespace

std::string_view word(Level level) {
    return kLevels.at(static_cast<std::size_t>(level)).second;
}

std::optional<Level> parse_level(std::string_view word) {
    for (const auto& [level, name] : kLevels) {
        if (name == word) {
            return level;
        }
    }
    return std::nullopt;
}

RateLimit::Decision RateLimit::ask(std::string_view id, TimePoint now) {
    Window& window = windows_[id];
    if (now >= window.ends) {
        const std::uint64_t left_out = std::exchange(window.left_out, 0);
        window.ends = now + 1s;
        window.passed = 1;
        return {.pass = true, .left_out = left_out};
    }
    if (window.passed < kPerSecond) {
        ++window.passed;
        return {.pass = true, .left_out = 0};
    }
    ++window.left_out;
    return {.pass = false, .left_out = 0};
}

std::string log_line(const Note& note, std::string_view context, std::uint64_t left_out) {
    std::string line = fmt::format("{} {}", word(note.level), note.id);
    for (const std::string_view part : {context, std::string_view(note.text)}) {
        if (!part.empty()) {
            line += ' ';
            line += part;
        }
    }
    if (left_out > 0) {
        line += fmt::format(" left_out={}", left_out);
    }
    const auto is_control = [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    };
    std::replace_if(line.begin(), line.end(), is_control, ' ');
    return line;
}

}  // namespace planed
