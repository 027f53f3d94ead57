// SPDX-License-Identifier: Apache-2.0
// Time as a value. Pure code gets `now` as an argument and never asks for it: `io/clock` alone
// does.
#pragma once

#include <chrono>

namespace planed {

using Duration = std::chrono::nanoseconds;
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace): literals only.

}  // namespace planed
