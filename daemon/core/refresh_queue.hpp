// SPDX-License-Identifier: Apache-2.0
// When each host is to prove again that it lives, spread in time. Each host is in here once and is
// looked at when its time has come; evidence that comes in between costs nothing here.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <tuple>
#include <vector>

#include "config/config.hpp"
#include "core/facts.hpp"
#include "net/time.hpp"

namespace planed {

class RefreshQueue {
public:
    struct Due {
        TimePoint at{};
        NeighborKey key{};
        auto operator<=>(const Due&) const = default;
    };

    void add(const Due& due) {
        heap_.push_back(due);
        std::push_heap(heap_.begin(), heap_.end(), std::greater<>{});
    }
    std::optional<Due> poll(TimePoint now) {
        if (heap_.empty() || heap_.front().at > now) {
            return std::nullopt;
        }
        std::pop_heap(heap_.begin(), heap_.end(), std::greater<>{});
        const Due due = heap_.back();
        heap_.pop_back();
        return due;
    }
    [[nodiscard]] std::optional<TimePoint> wake_at() const {
        return heap_.empty() ? std::nullopt : std::optional(heap_.front().at);
    }
    [[nodiscard]] std::size_t size() const { return heap_.size(); }
    /// Drops what nobody waits for any more: hosts that have come and gone.
    template <class IsStale>
    void purge(IsStale is_stale) {
        std::erase_if(heap_, is_stale);
        std::make_heap(heap_.begin(), heap_.end(), std::greater<>{});
    }

    /// After the last proof, somewhere in the window in which a host has to give the next: late
    /// enough to be cheap, early enough that one that does not answer is gone in time. Spread, and
    /// the same in every run.
    TimePoint next(TimePoint proof, Duration refresh) {
        return proof + refresh / 100 * (kEarliest + static_cast<int>(spread(kLatest - kEarliest)));
    }
    /// For one whose last proof nobody knows.
    TimePoint first(TimePoint now, Duration refresh) {
        return now + refresh / 1000 * static_cast<int>(spread(10 * kLatest));
    }
    /// Proven so lately that it need not be asked.
    static bool is_fresh(TimePoint proof, TimePoint now, Duration refresh) {
        return proof + refresh / 100 * kEarliest > now;
    }

private:
    // Percent of `refresh`. The kernel needs six seconds to give a host up (three unicast, three
    // broadcast requests, net/core/neighbour.c), learning.probe_interval times probe_attempts + 1
    // are four: within the default 30 s the sum holds.
    static constexpr int kEarliest = 70;
    static constexpr int kLatest = 85;

    // Marsaglia's xorshift with a fixed seed.
    int spread() {
        state_ ^= state_ << 13U;
        state_ ^= state_ >> 17U;
        state_ ^= state_ << 5U;
        return state_ % static_cast<std::uint32_t>(below);
    }

    std::vector<Due> heap_;
    std::uint32_t state_ = 2463534242U;
};

}  // namespace planed
