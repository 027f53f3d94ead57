// SPDX-License-Identifier: Apache-2.0
// "did you mean": the nearest of the words that would have been right.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace planed::config {

/// The candidate that the fewest slips of the fingers (a letter more, fewer, other, or two swapped)
/// lead to, if that is at most a third of the word; case does not count.
std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> candidates);

/// " (did you mean X?)", or nothing.
std::string hint(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace planed::config
