// SPDX-License-Identifier: Apache-2.0
// One session whose peer is played by the test, message by message.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bgp/session.hpp"
#include "unit/bgp/values.hpp"
#include "unit/bgp/vectors.hpp"

namespace planed::bgp {

inline SessionOptions options() {
    return {.local_as = kAs, .peer_as = kAs, .id = kLeaf1, .hold_seconds = 90};
}

inline Open peer_open() {
    return {.as = kAs,
            .hold_seconds = 180,
            .id = kLeaf2,
            .capabilities = {
                .families = {AddressFamily{}}, .route_refresh = true, .four_octet_as = kAs}};
}

inline Bytes encoded(const Open& open) {
    Bytes out;
    encode_open(open, out);
    return out;
}
inline Bytes keepalive() {
    Bytes out;
    encode_keepalive(out);
    return out;
}
inline Bytes notification(const Notification& notification) {
    Bytes out;
    encode_notification(notification, out);
    return out;
}
inline Bytes end_of_rib() {
    Bytes out;
    encode_end_of_rib(out);
    return out;
}
inline Route host(std::uint8_t number) {
    return MacIp{.rd = rd(kLeaf2, 100),
                 .esi = kEsi,
                 .mac = mac(number),
                 .ip = IpAddress::v4(10, 0, 0, number),
                 .label1 = 100};
}
inline const Path kPath{.next_hop = {.address = address("10.66.0.2")},
                        .attributes = {.local_pref = 100}};
inline Bytes announced(const std::vector<Route>& routes, const Path& path = kPath) {
    Bytes out;
    EXPECT_EQ(encode_reachable(path, routes, kMessageMax, out), routes.size());
    return out;
}
inline Bytes withdrawn(const Route& route) {
    Bytes out;
    const std::vector<RouteKey> keys{RouteKey(route)};
    EXPECT_EQ(encode_withdrawn(keys, kMessageMax, out), 1U);
    return out;
}

class Talk {
public:
    explicit Talk(const SessionOptions& from = options()) : session(from) {}

    /// A connection that we opened; what was written until then is taken and forgotten.
    static Talk established(const SessionOptions& from = options(),
                            const Open& peer = peer_open()) {
        Talk talk(from);
        talk.connect();
        talk.hear(encoded(peer));
        talk.hear(keepalive());
        (void)talk.take();
        talk.events.clear();
        EXPECT_EQ(talk.session.state(), State::Established);
        return talk;
    }
    void connect() {
        session.start(now);
        collect();
        session.connected(last_wanted, now);
        id = last_wanted;
    }
    void hear(const Bytes& bytes) {
        session.receive(id, bytes, now);
        collect();
    }
    void lose() {
        session.lost(id, now);
        collect();
    }
    void pass(Duration span) {
        now += span;
        session.tick(now);
        collect();
    }
    void collect() {
        while (auto event = session.poll_event()) {
            if (const auto* const wanted = std::get_if<ConnectionWanted>(&*event)) {
                last_wanted = wanted->id;
            }
            if (const auto* const unwanted = std::get_if<ConnectionUnwanted>(&*event)) {
                last_said = unwanted->last_words;
            }
            events.push_back(std::move(*event));
        }
    }
    static std::vector<Bytes> messages(std::span<const std::uint8_t> stream) {
        std::vector<Bytes> result;
        while (!stream.empty()) {
            const auto length = decode_header(stream, kExtendedMessageMax).value().length;
            result.emplace_back(stream.begin(), stream.begin() + length);
            stream = stream.subspan(length);
        }
        return result;
    }
    /// Everything written, as whole messages.
    std::vector<Bytes> take() {
        Bytes stream;
        for (auto piece = session.pending(id); !piece.empty(); piece = session.pending(id)) {
            stream.insert(stream.end(), piece.begin(), piece.end());
            session.written(id, piece.size());
        }
        return messages(stream);
    }
    template <class T>
    std::vector<T> all() {
        std::vector<T> result;
        for (const Event& event : events) {
            if (const auto* const one = std::get_if<T>(&event)) {
                result.push_back(*one);
            }
        }
        return result;
    }
    [[nodiscard]] std::vector<Bytes> last_words() const { return messages(last_said); }
    /// The last one; there must be one.
    Down down() { return all<Down>().back(); }

    Session session;
    TimePoint now = kStart;
    ConnectionId id{};
    ConnectionId last_wanted{};
    std::vector<Event> events;
    Bytes last_said;  // With the last connection that was closed.
};

}  // namespace planed::bgp
