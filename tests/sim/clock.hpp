// SPDX-License-Identifier: Apache-2.0
// Time in a simulated world: it stands still while something runs and then jumps to the next
// deadline. An hour without events costs nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "net/assert.hpp"
#include "net/time.hpp"

namespace planed::sim {

class SimClock {
public:
    using What = std::function<void()>;

    [[nodiscard]] TimePoint now() const { return now_; }
    [[nodiscard]] Duration uptime() const { return now_.time_since_epoch(); }

    /// Deadlines of the same instant run in the order in which they were set.
    void at(TimePoint when, What what) {
        deadlines_.emplace(std::pair(when < now_ ? now_ : when, ++serial_), std::move(what));
    }
    void after(Duration delay, What what) { at(now_ + delay, std::move(what)); }

    [[nodiscard]] std::optional<TimePoint> next() const {
        return deadlines_.empty() ? std::nullopt : std::optional(deadlines_.begin()->first.first);
    }
    void jump() {
        PLANED_ASSERT(!deadlines_.empty());
        const auto first = deadlines_.begin();
        now_ = first->first.first;
        const What what = std::move(first->second);
        deadlines_.erase(first);
        what();
    }
    /// Nothing was due in between.
    void idle_until(TimePoint when) {
        PLANED_ASSERT(!next() || *next() > when);
        now_ = when;
    }

private:
    // Not the epoch: a zero TimePoint in the code under test must not look like "just now".
    TimePoint now_{std::chrono::hours(1)};
    std::map<std::pair<TimePoint, std::uint64_t>, What> deadlines_;
    std::uint64_t serial_ = 0;
};

}  // namespace planed::sim
