// SPDX-License-Identifier: Apache-2.0
#include "io/clock.hpp"

namespace planed::io {

TimePoint now() {
    return std::chrono::time_point_cast<Duration>(std::chrono::steady_clock::now());
}

}  // namespace planed::io
