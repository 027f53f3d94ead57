// SPDX-License-Identifier: Apache-2.0
#include "io/clock.hpp"

namespace planed::io {

TimePoint now() {
    return std::chrono::time_point_cast<Duration>(std::chrono::steady_clock::now());
}

std::chrono::microseconds wall_offset() {
    using std::chrono::duration_cast;
    using std::chrono::microseconds;
    return duration_cast<microseconds>(std::chrono::system_clock::now().time_since_epoch()) -
           duration_cast<microseconds>(now().time_since_epoch());
}

}  // namespace planed::io
