// SPDX-License-Identifier: Apache-2.0
// How long something took, counted in fixed classes. Ranges from what one leaf does by itself
// (milliseconds) to what only a broken neighbour makes of it (seconds).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "net/time.hpp"

namespace planed {

class Histogram {
public:
    /// The longest time of each class; one more class is for what took longer than all of them.
    static constexpr std::array<Duration, 16> kBounds{250us,
                                                      500us,
                                                      1ms,
                                                      2500us,
                                                      5ms,
                                                      10ms,
                                                      25ms,
                                                      50ms,
                                                      100ms,
                                                      250ms,
                                                      500ms,
                                                      1s,
                                                      2500ms,
                                                      5s,
                                                      10s,
                                                      30s};
    using Counts = std::array<std::uint64_t, kBounds.size() + 1>;

    void record(Duration took) {
        const auto bound = std::lower_bound(kBounds.begin(), kBounds.end(), took);
        ++counts_[static_cast<std::size_t>(bound - kBounds.begin())];
        sum_ += took;
    }
    [[nodiscard]] const Counts& counts() const { return counts_; }  // Of each class alone.
    [[nodiscard]] Duration sum() const { return sum_; }
    [[nodiscard]] std::uint64_t count() const {
        return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
    }
    bool operator==(const Histogram&) const = default;

private:
    Counts counts_{};
    Duration sum_{};
};

}  // namespace planed
