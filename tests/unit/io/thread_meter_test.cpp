// SPDX-License-Identifier: Apache-2.0
#include "io/thread_meter.hpp"

#include <poll.h>

#include <gtest/gtest.h>

namespace planed::io {
namespace {

TEST(ThreadMeter, CountsComputingAsBusy) {
    const plugin::Reading before = read_thread_meter();
    plugin::Reading after = before;
    while (after.busy < before.busy + 2ms) {
        after = read_thread_meter();
    }

    EXPECT_GT(after.wall - before.wall, 1ms);  // The two clocks need not agree.
}

TEST(ThreadMeter, CountsWaitingAsWaiting) {
    const plugin::Reading before = read_thread_meter();

    (void)::poll(nullptr, 0, 5);

    const plugin::Reading after = read_thread_meter();
    EXPECT_GT(after.waits, before.waits);
    EXPECT_GE(after.wall - before.wall, 5ms);
    EXPECT_LT(after.busy - before.busy, 5ms);
}

}  // namespace
}  // namespace planed::io
