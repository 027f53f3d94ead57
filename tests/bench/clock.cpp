// SPDX-License-Identifier: Apache-2.0
#include "bench/clock.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <sched.h>

namespace planed::bench {

Nanoseconds now() {
    timespec time{};
    (void)::clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * kSecond + time.tv_nsec;
}

void sleep_until(Nanoseconds moment) {
    const timespec time{.tv_sec = moment / kSecond, .tv_nsec = moment % kSecond};
    while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) == EINTR) {
    }
}

void run_first() {
    const sched_param parameter{.sched_priority = 2};
    if (::sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &parameter) != 0) {
        std::perror("no SCHED_FIFO, figures are noisier");
    }
}

void die(const char* what) {
    const int number = errno;
    std::fprintf(stderr, "bench: %s (errno: %s)\n", what, std::strerror(number));
    std::exit(1);
}

}  // namespace planed::bench
