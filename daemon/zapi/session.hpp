// SPDX-License-Identifier: Apache-2.0
// One conversation with zebra, without the socket: eats bytes and time, hands out bytes and events.
// It never reconnects, decides nothing about routes, and sends no route before zebra's CAPABILITIES
// has confirmed the wire family.
//
// Route operations wait in a queue coalesced per (VRF, prefix) until pending() encodes them into a
// small write buffer: a newer operation replaces one that still waits, so the queue is bounded by
// the number of keys however long zebra does not read. Withdrawals overtake waiting additions of
// other prefixes. Control messages keep their place behind everything queued before them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "net/result.hpp"
#include "net/time.hpp"
#include "zapi/codec.hpp"
#include "zapi/dialect.hpp"
#include "zapi/messages.hpp"
#include "zapi/route_queue.hpp"

namespace planed::zapi {

struct SessionOptions {
    WireFamily family{};
    RouteType type = RouteType::Babel;
    /// How long zebra keeps our routes after the session ends; 0 = no graceful restart, they go at
    /// once.
    std::uint32_t stale_seconds = 900;
};

/// CAPABILITIES came and fits the family. Routes that were put before go out from now on.
struct Ready {
    WireFamily family{};
    Capabilities capabilities{};
    bool operator==(const Ready&) const = default;
};
/// A selected route of our type, during a read-back. The last word on a prefix counts: a route that
/// changes meanwhile comes again.
struct ReadBackRow {
    RedistributedRoute route{};
    bool operator==(const ReadBackRow&) const = default;
};
/// The route left while the read-back ran, after its row.
struct ReadBackGone {
    VrfId vrf{};
    IpPrefix prefix{};
    bool operator==(const ReadBackGone&) const = default;
};
/// All rows were reported. zebra dumps what it has *processed*: an addition that was written in the
/// last moments may be missing from the rows without having been refused.
struct ReadBackDone {
    bool operator==(const ReadBackDone&) const = default;
};
/// zebra did not finish the dump in time: nothing may be concluded from a row's absence.
struct ReadBackFailed {
    bool operator==(const ReadBackFailed&) const = default;
};
/// bgpd's route for this host is the selected one, or was and is no more. Told of host prefixes in
/// the VRFs of watch_plane() alone; again when the route changes.
struct PlaneRow {
    VrfId vrf{};
    IpPrefix prefix{};
    bool gone = false;
    bool operator==(const PlaneRow&) const = default;
};
/// bgpd has ended; what it had taken back shortly before, it had for that reason. Told only where a
/// plane is watched.
struct PlaneDoubted {
    bool operator==(const PlaneDoubted&) const = default;
};
/// All that the plane had in this VRF when watch_plane() was handled has been told.
struct PlaneDumped {
    VrfId vrf{};
    bool operator==(const PlaneDumped&) const = default;
};
/// zebra has handled everything that was written before sync().
struct Synced {
    bool operator==(const Synced&) const = default;
};
/// An ERROR that is not the answer to an end mark; `error.vrf` is the VRF of the message it
/// refused.
struct ServerRefused {
    ServerError error{};
    bool operator==(const ServerRefused&) const = default;
};
/// zebra has not read for kStallAfter although operations wait; said once, until it reads again.
struct Stalled {
    std::size_t backlog = 0;
    bool operator==(const Stalled&) const = default;
};
struct Resumed {
    bool operator==(const Resumed&) const = default;
};

using Event = std::variant<Ready,
                           OwnerNotice,
                           ReadBackRow,
                           ReadBackGone,
                           ReadBackDone,
                           ReadBackFailed,
                           PlaneRow,
                           PlaneDoubted,
                           PlaneDumped,
                           Synced,
                           ServerRefused,
                           Stalled,
                           Resumed>;

class Session {
public:
    static constexpr Duration kHelloDeadline = 10s;     // HELLO written → CAPABILITIES.
    static constexpr Duration kReadBackDeadline = 30s;  // Without any row or written byte.
    static constexpr Duration kStallAfter = 5s;
    /// Small, for a withdrawal waits behind what is in it: 64 KiB are 1,600 additions, 16 ms of
    /// zebra's time.
    static constexpr std::size_t kWriteBuffer = std::size_t{64} * 1024;

    explicit Session(const SessionOptions& options);

    /// The socket is connected: writes HELLO. Once.
    void connected(TimePoint now);
    /// Bytes as they came, cut anywhere. An error is a protocol violation or a family that does not
    /// fit: drop the connection; the session takes no more bytes.
    Result<void> receive(std::span<const std::uint8_t> bytes, TimePoint now);
    /// Deadlines. An error as in receive().
    Result<void> tick(TimePoint now);
    [[nodiscard]] std::optional<TimePoint> wake_at() const;
    std::optional<Event> poll_event();

    /// Bytes to write; refills the write buffer from the queue. Valid until the next call of any
    /// other non-const member.
    std::span<const std::uint8_t> pending();
    /// The socket took the first `count` of them.
    void written(std::size_t count);

    void put(const Route& route);
    void remove(VrfId vrf, const IpPrefix& prefix);
    /// Graceful restart for this VRF too (the default VRF is announced by connected()); before its
    /// first route. Nothing happens the second time.
    void announce_vrf(VrfId vrf);
    /// Every route that is still wanted has been put: zebra may drop what it kept from an earlier
    /// session. For the default VRF and these, both address families.
    void complete_restart(std::span<const VrfId> vrfs);
    /// Reads back our selected routes, both address families, of the default VRF and these. False
    /// if one runs already.
    bool start_read_back(std::span<const VrfId> vrfs, TimePoint now);
    /// Tells of what bgpd has learned in this VRF, from now to the session's end, both address
    /// families: what is there, PlaneDumped, then what changes. Nothing happens the second time.
    void watch_plane(VrfId vrf);
    /// `on_exit: withdraw`: the routes shall go when the connection closes: drops what still waits
    /// and ends graceful restart in every announced VRF. Nothing can be put afterwards.
    void disable_restart();

    /// Asks for Synced once zebra has handled what was put, removed and asked so far. Before a
    /// close: what zebra has read but not handled goes with the connection (seen on 10.3).
    void sync();

    [[nodiscard]] bool is_ready() const { return state_ == State::Ready; }
    [[nodiscard]] bool is_reading_back() const { return read_back_.has_value(); }
    /// Nothing waits to be written and no read-back runs.
    [[nodiscard]] bool idle() const;
    /// Operations and control messages not yet encoded. Bytes not yet written come on top, at most
    /// kWriteBuffer.
    [[nodiscard]] std::size_t backlog() const { return queue_.size(); }
    [[nodiscard]] WireFamily family() const { return options_.family; }

private:
    enum class State : std::uint8_t { Unconnected, AwaitingCapabilities, Ready, Failed };

    struct ReadBack {
        std::uint64_t mark = 0;  // The answer to this end mark is its end.
        TimePoint deadline;
        bool bytes_moved = false;  // Since the deadline was set.
    };

    Result<void> handle(const Frame& frame, TimePoint now);
    Result<void> handle_capabilities(const Frame& frame);
    Result<void> handle_owner(const Frame& frame);
    Result<void> handle_row(const Frame& frame, TimePoint now);
    void handle_plane_row(const Frame& frame, const IpPrefix& prefix);
    Result<void> handle_error(const Frame& frame);
    Result<void> handle_client_close(const Frame& frame);
    tl::unexpected<Error> give_up(Error error);
    void become_ready(const Capabilities& capabilities);
    void check_read_back(TimePoint now);
    void check_stall(TimePoint now);

    void refill();
    void encode(const Outgoing& outgoing);
    void encode_control(const Control& control);
    std::uint64_t add_mark();
    [[nodiscard]] bool is_writing() const;
    [[nodiscard]] bool accepts_routes() const;

    SessionOptions options_;
    const Commands& commands_;
    State state_ = State::Unconnected;
    TimePoint last_now_{};
    TimePoint hello_deadline_{};
    Framer framer_;
    std::deque<Event> events_;

    RouteQueue queue_;
    Bytes outbox_;
    std::size_t outbox_begin_ = 0;       // Bytes before it have been written.
    std::optional<TimePoint> stall_at_;  // Since bytes wait and a tick has seen it.
    bool stalled_ = false;

    std::set<VrfId> announced_;
    bool restart_disabled_ = false;
    std::optional<ReadBack> read_back_;
    std::set<VrfId> watched_;                                  // Their plane.
    std::deque<std::pair<std::uint64_t, VrfId>> plane_marks_;  // Each ends a dump of a plane.
    std::uint64_t sync_mark_ = 0;                              // The last one asked for; 0: none.
    std::uint64_t marks_queued_ = 0;  // Marks are answered in the order they were sent.
    std::uint64_t marks_encoded_ = 0;
    std::uint64_t marks_answered_ = 0;
};

}  // namespace planed::zapi
