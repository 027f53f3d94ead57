// SPDX-License-Identifier: Apache-2.0
// The body of an OPEN. What is taken can be written, and reads back as itself.
#include <cstddef>
#include <cstdint>
#include <span>

#include "bgp/open.hpp"
#include "net/assert.hpp"

namespace planed::bgp {
namespace {

/// An OPEN that we write ourselves has less than 255 octets of parameters.
bool can_be_written(const Capabilities& capabilities) {
    constexpr std::size_t kParametersMax = 254;
    constexpr std::size_t kLongest = 8;  // Any of ours but graceful restart.
    std::size_t size = kLongest * (capabilities.families.size() + 4);
    if (capabilities.graceful_restart) {
        size += 6 + 4 * capabilities.graceful_restart->kept.size();
    }
    for (const RawCapability& other : capabilities.others) {
        size += 4 + other.value.size();
    }
    return size <= kParametersMax;
}

void check(std::span<const std::uint8_t> body) {
    const auto open = decode_open(body);
    if (!open) {
        PLANED_ASSERT(open.error().notification.code == Notification::kOpen);
        PLANED_ASSERT(open.error().error.offset.has_value());
        return;
    }
    PLANED_ASSERT(open->id != RouterId::None);
    PLANED_ASSERT(open->hold_seconds == 0 || open->hold_seconds >= 3);
    if (!can_be_written(open->capabilities)) {
        return;
    }
    Bytes out;
    encode_open(*open, out);
    PLANED_ASSERT(decode_open(std::span(out).subspan(kHeaderSize)) == *open);
}

}  // namespace
}  // namespace planed::bgp

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    planed::bgp::check({data, size});
    return 0;
}
