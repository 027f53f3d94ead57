// SPDX-License-Identifier: Apache-2.0
// Moments of CLOCK_MONOTONIC, shared by everything that is compared here.
#pragma once

#include <cstdint>

namespace planed::bench {

using Nanoseconds = std::int64_t;

inline constexpr Nanoseconds kMicrosecond = 1'000;
inline constexpr Nanoseconds kMillisecond = 1'000'000;
inline constexpr Nanoseconds kSecond = 1'000'000'000;

Nanoseconds now();
void sleep_until(Nanoseconds moment);
inline void sleep_for(Nanoseconds duration) {
    sleep_until(now() + duration);
}

/// This thread runs before all ordinary ones from here on (SCHED_FIFO), so that a moment is taken
/// when something happens and not when the scheduler gets round to us. Children do not inherit it.
void run_first();

/// What went wrong, and the end of the program: a bench that half works measures nothing.
[[noreturn]] void die(const char* what);

}  // namespace planed::bench
