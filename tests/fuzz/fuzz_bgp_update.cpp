// SPDX-License-Identifier: Apache-2.0
// The body of an UPDATE, behind one byte that says where from: even the same AS, odd another. What
// is taken without a fault can be written, and reads back as itself.
#include <cstddef>
#include <cstdint>
#include <span>

#include "bgp/update.hpp"
#include "net/assert.hpp"

namespace planed::bgp {
namespace {

void check_fault(const Fault& fault, std::size_t size) {
    PLANED_ASSERT(name_of(fault.kind) != "?");
    PLANED_ASSERT(fault.error.offset.has_value());
    PLANED_ASSERT(*fault.error.offset <= kHeaderSize + size);
}

void check_reachable(const Update& update, PeerKind peer) {
    Bytes out;
    const std::size_t count =
        encode_reachable(update.path, update.reachable, kExtendedMessageMax, out);
    if (count != update.reachable.size()) {
        return;  // The attributes have grown by a longer head.
    }
    const auto again = decode_update(std::span(out).subspan(kHeaderSize), peer);
    PLANED_ASSERT(again.has_value());
    PLANED_ASSERT(again->reachable == update.reachable);
    PLANED_ASSERT(again->path == update.path);
    PLANED_ASSERT(again->faults.empty());
}

void check_withdrawn(const Update& update, PeerKind peer) {
    Bytes out;
    const std::size_t count = encode_withdrawn(update.withdrawn, kExtendedMessageMax, out);
    PLANED_ASSERT(count > 0);
    const auto again = decode_update(std::span(out).subspan(kHeaderSize), peer);
    PLANED_ASSERT(again.has_value());
    PLANED_ASSERT(again->withdrawn.size() == count);
    for (std::size_t i = 0; i < count; ++i) {
        PLANED_ASSERT(again->withdrawn[i] == update.withdrawn[i]);
    }
}

void check(std::span<const std::uint8_t> body, PeerKind peer) {
    const auto update = decode_update(body, peer);
    if (!update) {
        PLANED_ASSERT(update.error().notification.code == Notification::kUpdate);
        PLANED_ASSERT(update.error().error.offset.has_value());
        return;
    }
    for (const Fault& fault : update->faults) {
        check_fault(fault, body.size());
    }
    PLANED_ASSERT(!update->end_of_rib || update->withdrawn.empty());
    if (!update->reachable.empty()) {
        check_reachable(*update, peer);
    }
    if (!update->withdrawn.empty()) {
        check_withdrawn(*update, peer);
    }
}

}  // namespace
}  // namespace planed::bgp

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::size_t kLongestBody = planed::bgp::kExtendedMessageMax;
    if (size == 0 || size > kLongestBody) {
        return 0;
    }
    const bool outside = (data[0] & 1U) != 0;
    planed::bgp::check({data + 1, size - 1},
                       outside ? planed::bgp::PeerKind::External : planed::bgp::PeerKind::Internal);
    return 0;
}
