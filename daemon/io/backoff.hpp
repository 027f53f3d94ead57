// SPDX-License-Identifier: Apache-2.0
// How long to wait before the next attempt to connect.
#pragma once

#include <algorithm>
#include <random>

#include "net/time.hpp"

namespace planed::io {

/// `first`, doubled for each attempt that has failed since one did not, `most` at most; less up to
/// a quarter by chance, so that those who lost the same peer do not return to it together.
inline Duration backoff(Duration first, Duration most, unsigned failures, std::mt19937_64& random) {
    Duration delay = std::min(first, most);
    for (unsigned i = 0; i < failures && delay < most; ++i) {
        delay = std::min(delay * 2, most);
    }
    std::uniform_int_distribution<Duration::rep> jitter(0, delay.count() / 4);
    return delay - Duration(jitter(random));
}

}  // namespace planed::io
