// SPDX-License-Identifier: Apache-2.0
// A whole session: the input is a script of what zebra says and what we ask, step by step. Whatever
// comes, what we write stays within its buffer and is a stream of whole messages.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "net/assert.hpp"
#include "zapi/session.hpp"

namespace {

using namespace planed;
using namespace planed::zapi;

/// The script; zeros once it is used up.
class Script {
public:
    explicit Script(std::span<const std::uint8_t> bytes) : rest_(bytes) {}
    [[nodiscard]] bool done() const { return rest_.empty(); }
    std::uint8_t byte() {
        const auto piece = take(1);
        return piece.empty() ? std::uint8_t{0} : piece.front();
    }
    std::span<const std::uint8_t> take(std::size_t count) {
        const auto piece = rest_.first(std::min(count, rest_.size()));
        rest_ = rest_.subspan(piece.size());
        return piece;
    }

private:
    std::span<const std::uint8_t> rest_;
};

/// zebra's end of what we write.
class Reader {
public:
    void read(std::span<const std::uint8_t> bytes) {
        framer_.feed(bytes);
        for (;;) {
            const auto frame = framer_.next();
            PLANED_ASSERT(frame.has_value());
            if (!*frame) {
                return;
            }
        }
    }

private:
    Framer framer_;
};

Route route(Script& script) {
    Route result{.vrf = VrfId{script.byte() % 3U},
                 .prefix = host_prefix(IpAddress::v4(10, 0, 0, script.byte() % 8U)),
                 .out = IfIndex{3},
                 .distance = 5};
    if (script.byte() % 2U == 0) {
        IpAddress::Bytes bytes{0xFD};
        bytes[15] = script.byte() % 8U;
        result.prefix = host_prefix(IpAddress::v6(bytes));
        result.gateway_is_host = true;
    }
    return result;
}

void write_some(Session& session, std::size_t most, Reader& reader) {
    const auto bytes = session.pending();
    PLANED_ASSERT(bytes.size() <= Session::kWriteBuffer);
    const auto piece = bytes.first(std::min(most, bytes.size()));
    reader.read(piece);
    session.written(piece.size());
}

bool step(Session& session, Script& script, TimePoint& now, Reader& reader) {
    const std::array vrfs{VrfId{script.byte() % 3U}};
    switch (script.byte() % 10U) {
        case 0: session.put(route(script)); break;
        case 1: {
            const Route gone = route(script);
            session.remove(gone.vrf, gone.prefix);
            break;
        }
        case 2: write_some(session, script.byte(), reader); break;
        case 3: write_some(session, Session::kWriteBuffer, reader); break;
        case 4: (void)session.start_read_back(vrfs, now); break;
        case 5: session.complete_restart(vrfs); break;
        case 6: session.announce_vrf(vrfs[0]); break;
        case 7: now += 1s * script.byte(); return session.tick(now).has_value();
        case 8: session.disable_restart(); break;
        default: return session.receive(script.take(script.byte()), now).has_value();
    }
    return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Script script(std::span(data, size));
    const WireFamily family = kWireFamilies.at(script.byte() % kWireFamilies.size());
    Session session({.family = family, .stale_seconds = script.byte() % 2U * 60U});
    Reader reader;
    TimePoint now{1h};
    session.connected(now);
    bool alive = true;
    while (alive && !script.done()) {
        alive = step(session, script, now, reader);
        while (session.poll_event()) {
        }
        PLANED_ASSERT(session.backlog() <= 2 * size + 64);
    }
    PLANED_ASSERT(alive || !session.wake_at());
    return 0;
}
