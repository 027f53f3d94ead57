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

    /// How long after its last proof a host is asked for the next.
    struct Window {
        Duration earliest{};
        Duration latest{};
    };
    /// How long the kernel asks before it gives a host up: so many unicast requests and as many
    /// broadcast ones, `probe_interval` apart (net/core/neighbour.c).
    static Duration asking(const LearningConfig& learning) {
        return 2 * learning.probe_attempts * learning.probe_interval;
    }
    /// Late enough to be cheap; early enough that one that does not answer is gone within `refresh`
    /// and `probe_attempts` + 1 intervals after its last proof, where `refresh` leaves room for
    /// that.
    static Window window(const LearningConfig& learning) {
        const Duration tries = (learning.probe_attempts + 1) * learning.probe_interval;
        const Duration refresh = learning.refresh;
        const Duration slack = refresh / 20;
        const Duration room = refresh + tries - asking(learning) - slack;
        const Duration latest = std::clamp(room, refresh / 2, refresh / 100 * 85);
        return {.earliest = latest - refresh / 100 * 15, .latest = latest};
    }

    /// Somewhere in the window. Spread, and the same in every run.
    TimePoint next(TimePoint proof, Window window) {
        return proof + window.earliest + (window.latest - window.earliest) / kSteps * spread();
    }
    /// For one whose last proof nobody knows.
    TimePoint first(TimePoint now, Window window) {
        return now + window.latest / kSteps * spread();
    }
    /// Proven so lately that it need not be asked.
    static bool is_fresh(TimePoint proof, TimePoint now, Window window) {
        return proof + window.earliest > now;
    }

private:
    static constexpr int kSteps = 1000;

    // Marsaglia's xorshift with a fixed seed.
    int spread() {
        state_ ^= state_ << 13U;
        state_ ^= state_ >> 17U;
        state_ ^= state_ << 5U;
        return static_cast<int>(state_ % std::uint32_t{kSteps});
    }

    std::vector<Due> heap_;
    std::uint32_t state_ = 2463534242U;
};

}  // namespace planed
