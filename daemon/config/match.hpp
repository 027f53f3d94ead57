// SPDX-License-Identifier: Apache-2.0
// Which entry of `interfaces` an interface belongs to. A name without `*`, `?` and `[` is exact and
// wins over every glob; of several globs the one with more literal characters wins, then the one
// with more fixed positions. Two globs that tie and can match the same name are refused at load.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/config.hpp"

namespace planed::config {

/// IFNAMSIZ without its terminator (linux/if.h).
inline constexpr std::size_t kInterfaceNameMax = 15;
inline constexpr std::size_t kGlobMax = 64;

bool is_glob(std::string_view pattern);

/// What is wrong with the glob, if anything: an open bracket, a backslash, a named class.
std::optional<std::string> glob_problem(std::string_view glob);

/// As fnmatch(3) in the C locale, for globs without a problem.
bool glob_matches(std::string_view glob, std::string_view name);

/// Whether some name of at most kInterfaceNameMax characters matches both.
bool globs_overlap(std::string_view a, std::string_view b);

/// The greater wins.
struct Specificity {
    std::uint32_t literals = 0;
    std::uint32_t positions = 0;  // Everything but `*`.
    auto operator<=>(const Specificity&) const = default;
};
Specificity specificity(std::string_view glob);

/// The entry that manages the interface of this name; nullptr: it is none of ours.
const InterfaceConfig* interface_for(const Config& config, std::string_view name);

}  // namespace planed::config
