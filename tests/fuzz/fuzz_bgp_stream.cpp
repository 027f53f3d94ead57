// SPDX-License-Identifier: Apache-2.0
// A byte stream: cut into messages, then the small ones read. The first byte is how many octets
// come at once.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bgp/message.hpp"
#include "net/assert.hpp"

namespace planed::bgp {
namespace {

void check_message(const Frame& frame) {
    PLANED_ASSERT(frame.header.length == kHeaderSize + frame.body.size());
    PLANED_ASSERT(name_of(frame.header.type) != "?");
    if (const auto notification = decode_notification(frame.body)) {
        PLANED_ASSERT(!to_string(*notification).empty());
        const auto text = shutdown_text(without_hard_reset(*notification));
        PLANED_ASSERT(!text || (!text->empty() && text->find('\n') == std::string::npos));
    }
    if (const auto refresh = decode_route_refresh(frame.body)) {
        Bytes out;
        encode_route_refresh(*refresh, out);
        PLANED_ASSERT(
            std::equal(out.begin() + kHeaderSize, out.end(), frame.body.begin(), frame.body.end()));
    }
}

void check(std::span<const std::uint8_t> stream, std::size_t piece) {
    Framer framer;
    if (piece % 2 == 0) {
        framer.allow_extended();
    }
    std::size_t taken = 0;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
        framer.feed(stream.subspan(at, std::min(piece, stream.size() - at)));
        for (;;) {
            const auto frame = framer.next();
            if (!frame) {
                PLANED_ASSERT(frame.error().notification.code == Notification::kHeader);
                return;
            }
            if (!*frame) {
                break;
            }
            taken += (*frame)->header.length;
            PLANED_ASSERT(taken <= stream.size());
            check_message(**frame);
        }
    }
}

}  // namespace
}  // namespace planed::bgp

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size > 0) {
        planed::bgp::check({data + 1, size - 1}, std::size_t{data[0]} + 1);
    }
    return 0;
}
