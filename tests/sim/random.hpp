// SPDX-License-Identifier: Apache-2.0
// The one source of chance in a simulated world: the same seed gives the same numbers on every
// machine and library, which std's distributions do not promise.
#pragma once

#include <cstddef>
#include <cstdint>

#include "net/time.hpp"

namespace planed::sim {

class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    /// splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
    std::uint64_t next() {
        state_ += 0x9E3779B97F4A7C15U;
        std::uint64_t mixed = state_;
        mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
        mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
        return mixed ^ (mixed >> 31U);
    }
    /// 0 .. bound - 1; the bound is small, so the modulo's bias does not matter.
    std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }
    bool percent(unsigned chance) { return below(100) < chance; }
    /// A time span in microseconds' steps, both ends included.
    Duration between(Duration least, Duration most) {
        const auto steps = static_cast<std::uint64_t>((most - least) / 1us);
        return least + std::chrono::microseconds(next() % (steps + 1));
    }
    template <class Container>
    auto& pick(Container& from) {
        return from[below(from.size())];
    }

private:
    std::uint64_t state_;
};

}  // namespace planed::sim
