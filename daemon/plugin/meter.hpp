// SPDX-License-Identifier: Apache-2.0
// How a call's time is measured: by its own effort, so that a machine that did not let the daemon
// run is nobody's fault.
#pragma once

#include <cstdint>
#include <functional>

#include "net/time.hpp"

namespace planed::plugin {

/// Of the calling thread, each since some moment in the past.
struct Reading {
    Duration wall{};
    Duration busy{};          // On a processor.
    std::uint64_t waits = 0;  // Times that it gave the processor away by itself.
};
using Meter = std::function<Reading()>;

}  // namespace planed::plugin
