// SPDX-License-Identifier: Apache-2.0
#include "config/suggest.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/core.h>

namespace planed::config {
namespace {

constexpr std::size_t kLongest = 32;  // No key is longer; a longer word is none of ours.

char lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

// Optimal string alignment distance over the two words in lower case.
std::size_t distance(std::string_view a, std::string_view b) {
    std::array<std::array<std::size_t, kLongest + 1>, kLongest + 1> cost{};
    for (std::size_t i = 0; i <= a.size(); ++i) {
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                cost[i][j] = i + j;
                continue;
            }
            const auto same = [&](std::size_t x, std::size_t y) {
                return lower(a[x]) == lower(b[y]);
            };
            const std::size_t change = same(i - 1, j - 1) ? 0 : 1;
            cost[i][j] =
                std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + change});
            if (i > 1 && j > 1 && same(i - 1, j - 2) && same(i - 2, j - 1)) {
                cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
            }
        }
    }
    return cost[a.size()][b.size()];
}

}  // namespace

std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> candidates) {
    std::optional<std::string_view> best;
    std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
    if (word.empty() || word.size() > kLongest) {
        return best;
    }
    for (const std::string_view candidate : candidates) {
        if (candidate.size() > kLongest) {
            continue;
        }
        const std::size_t found = distance(word, candidate);
        if (found < best_distance) {
            best = candidate;
            best_distance = found;
        }
    }
    return best;
}

std::string hint(std::string_view word, std::span<const std::string_view> candidates) {
    const auto found = nearest(word, candidates);
    return found ? fmt::format(" (did you mean {}?)", *found) : std::string();
}

}  // namespace planed::config
