// SPDX-License-Identifier: Apache-2.0
// Drives a loop until something is true, never longer than five seconds.
#pragma once

#include <functional>

#include <boost/asio/io_context.hpp>

#include "io/clock.hpp"

namespace planed::io {

/// False if the claim does not hold by then, or the loop has run out of work before.
inline bool run_until(boost::asio::io_context& loop, const std::function<bool()>& claim) {
    const TimePoint end = now() + 5s;
    loop.restart();
    while (!claim()) {
        if (now() >= end || loop.run_one_until(end) == 0) {
            return claim();
        }
    }
    return true;
}

}  // namespace planed::io
