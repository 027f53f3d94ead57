// SPDX-License-Identifier: Apache-2.0
#include "io/thread_meter.hpp"

#include <sys/resource.h>
#include <time.h>

#include "io/clock.hpp"

namespace planed::io {

plugin::Reading read_thread_meter() {
    // Not what getrusage(2) says of the time: that may be a tick late.
    timespec busy{};
    (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &busy);
    rusage usage{};
    (void)::getrusage(RUSAGE_THREAD, &usage);
    return {.wall = now().time_since_epoch(),
            .busy = std::chrono::seconds(busy.tv_sec) + std::chrono::nanoseconds(busy.tv_nsec),
            .waits = static_cast<std::uint64_t>(usage.ru_nvcsw)};
}

}  // namespace planed::io
