// SPDX-License-Identifier: Apache-2.0
// The last steps of a world, for a person who reads why a seed failed. Off while seeds run by the
// hundred: a failed seed is run once more with the trace on, for it does exactly the same again.
#pragma once

#include <cstddef>
#include <deque>
#include <string>

#include <fmt/format.h>

#include "sim/clock.hpp"

namespace planed::sim {

class Trace {
public:
    explicit Trace(const SimClock& clock) : clock_(clock) {}

    void turn_on(std::size_t steps) { steps_ = steps; }

    /// `line` is called only if somebody will read it.
    template <class Line>
    void add(Line line) {
        if (steps_ == 0) {
            return;
        }
        const double seconds = std::chrono::duration<double>(clock_.uptime()).count() - 3600;
        lines_.push_back(fmt::format("{:12.6f} {}", seconds, line()));
        if (lines_.size() > steps_) {
            lines_.pop_front();
        }
    }
    [[nodiscard]] std::string text() const { return fmt::format("{}\n", fmt::join(lines_, "\n")); }

private:
    const SimClock& clock_;
    std::size_t steps_ = 0;
    std::deque<std::string> lines_;
};

}  // namespace planed::sim
