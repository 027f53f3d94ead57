// SPDX-License-Identifier: Apache-2.0
// The one place that asks what time it is.
#pragma once

#include "net/time.hpp"

namespace planed::io {

TimePoint now();

/// The wall clock (UTC) where now() is zero. It moves only when somebody sets the clock.
std::chrono::microseconds wall_offset();

}  // namespace planed::io
