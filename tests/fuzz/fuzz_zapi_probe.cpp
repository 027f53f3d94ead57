// SPDX-License-Identifier: Apache-2.0
// What anything that listens on zebra's path may say to the probe: it ends with a result, and
// writes no more than its three questions.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "net/assert.hpp"
#include "zapi/probe.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace planed;
    using namespace planed::zapi;
    const TimePoint now{1h};
    Probe probe;
    probe.connected(now);
    std::span<const std::uint8_t> rest(data, size);
    while (!rest.empty()) {  // A length, then as many bytes in one read.
        const std::size_t count = std::min<std::size_t>(rest.front(), rest.size() - 1);
        probe.receive(rest.subspan(1, count), now);
        rest = rest.subspan(1 + count);
    }
    PLANED_ASSERT(probe.pending().size() <= 3 * kHeaderSize);
    if (size % 2 == 0) {
        probe.closed();
    } else {
        probe.tick(now + Probe::kDeadline);
    }
    PLANED_ASSERT(probe.result().has_value());
    PLANED_ASSERT(!probe.wake_at());
    return 0;
}
