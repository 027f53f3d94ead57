// SPDX-License-Identifier: Apache-2.0
#include "config/duration.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <limits>

#include <fmt/core.h>

namespace planed::config {
namespace {

struct Unit {
    std::string_view name;
    Duration length;
};

// Largest first: formatting takes the first that fits.
constexpr std::array<Unit, 5> kUnits{Unit{.name = "h", .length = 1h},
                                     Unit{.name = "m", .length = 1min},
                                     Unit{.name = "s", .length = 1s},
                                     Unit{.name = "ms", .length = 1ms},
                                     Unit{.name = "us", .length = 1us}};

}  // namespace

std::optional<Duration> parse_duration(std::string_view text) {
    std::uint64_t count = 0;
    const char* end = text.data() + text.size();
    const auto [digits_end, error] = std::from_chars(text.data(), end, count);
    if (error != std::errc{}) {
        return std::nullopt;
    }
    const std::string_view name = text.substr(static_cast<std::size_t>(digits_end - text.data()));
    for (const Unit& unit : kUnits) {
        if (name != unit.name) {
            continue;
        }
        const auto length = static_cast<std::uint64_t>(unit.length.count());
        constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<Duration::rep>::max());
        if (count > kMax / length) {
            return std::nullopt;
        }
        return Duration(static_cast<Duration::rep>(count * length));
    }
    return std::nullopt;
}

std::string format_duration(Duration duration) {
    if (duration < 1us) {
        return "0s";
    }
    const Duration whole = duration - duration % 1us;
    for (const Unit& unit : kUnits) {
        if (whole % unit.length == Duration::zero()) {
            return fmt::format("{}{}", whole / unit.length, unit.name);
        }
    }
    return fmt::format("{}us", whole / 1us);
}

}  // namespace planed::config
