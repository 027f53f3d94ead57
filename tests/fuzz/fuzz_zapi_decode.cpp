// SPDX-License-Identifier: Apache-2.0
// The first byte chooses the family, the rest is a stream from zebra: framing, then every decoder
// on every message, whatever its command.
#include <cstddef>
#include <cstdint>
#include <span>

#include "net/assert.hpp"
#include "zapi/codec.hpp"

namespace {

using namespace planed::zapi;

void decode(WireFamily family, const Frame& frame) {
    PLANED_ASSERT(frame.header.length == kHeaderSize + frame.body.size());
    (void)decode_capabilities(family, frame.body);
    (void)decode_error(frame);
    if (const auto notice = decode_owner_notice(frame)) {
        PLANED_ASSERT(notice->state <= OwnerState::RemoveFail);
    }
    if (const auto row = decode_redistributed(family, frame)) {
        PLANED_ASSERT(!row->opaque || row->next_hops.empty());
        // What looks like a route of ours encodes to one that decodes to itself in zebra's eyes.
        if (const auto route = as_route(*row)) {
            Bytes out;
            encode_route_add(family, RouteType::Babel, *route, out);
            PLANED_ASSERT(out.size() <= kLongestSent);
            PLANED_ASSERT(decode_header(out)->length == out.size());
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const auto family = kWireFamilies.at(data[0] % kWireFamilies.size());
    Framer framer;
    framer.feed(std::span(data + 1, size - 1));
    for (auto frame = framer.next(); frame && *frame; frame = framer.next()) {
        decode(family, **frame);
    }
    return 0;
}
