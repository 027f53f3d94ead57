// SPDX-License-Identifier: Apache-2.0
// One leaf and its checker, from one seed.
#pragma once

#include <cstdint>

#include "sim/checker.hpp"
#include "sim/clock.hpp"
#include "sim/leaf.hpp"
#include "sim/random.hpp"
#include "sim/trace.hpp"

namespace planed::sim {

/// What everything in a world goes by.
struct SimTime {
    explicit SimTime(std::uint64_t seed) : random(seed) {}

    SimClock clock;
    Random random;
    Trace trace{clock};
};

class SimWorld : public SimTime, public SimLeaf {
public:
    explicit SimWorld(std::uint64_t seed) : SimTime(seed), SimLeaf(clock, random, trace) {}

    Checker checker{clock, kernel, zebra, planed, hosts};

    /// Until a violation at most.
    void run_for(Duration length);
    /// Until planed has sent no route operation for three seconds and waits for no answer.
    void run_until_quiet();
    /// Runs until `holds` does; false if it still does not after `most`.
    template <class Holds>
    bool run_until(Holds holds, Duration most) {
        const TimePoint end = clock.now() + most;
        while (!holds() && !checker.failed() && clock.next() && *clock.next() <= end) {
            step();
        }
        return holds();
    }

private:
    void step();
};

}  // namespace planed::sim
