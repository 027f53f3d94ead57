// SPDX-License-Identifier: Apache-2.0
// One peer, without the sockets: eats bytes and time, hands out bytes and events (RFC 4271 8). It
// decides when a connection is wanted and which of two that collide stays, keeps the timers, tells
// the peer what is wanted of us and says what the peer has told. It judges no route.
//
// The shell opens and closes connections as the events say; each has a number, and what comes late
// for one that is gone is ignored. After every call: poll_event() until empty, then write pending()
// of each connection.
//
// The peer's routes outlive a connection that was lost without a word, for that is a cut cable and
// no dead leaf: they stay until the peer is back and has sent End-of-RIB, or the time is over. A
// peer that says goodbye takes them with it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <absl/container/btree_map.h>

#include "bgp/advertisements.hpp"
#include "bgp/message.hpp"
#include "bgp/open.hpp"
#include "bgp/update.hpp"
#include "net/result.hpp"
#include "net/time.hpp"

namespace planed::bgp {

enum class ConnectionId : std::uint32_t { None = 0 };

struct SessionOptions {
    AsNumber local_as{};
    AsNumber peer_as{};
    RouterId id = RouterId::None;
    /// Proposed; the lower of both sides' counts. 0: no hold timer and no KEEPALIVEs; else >= 3.
    std::uint16_t hold_seconds = 90;
    bool passive = false;  // Waits for the peer's connection.
    /// Between attempts to connect; doubled up to Session::kRetryMax, with jitter.
    Duration connect_retry = 5s;
    /// Announced by graceful restart (RFC 4724): how long the peer shall keep our routes while we
    /// are away. 0: not at all.
    std::uint16_t restart_seconds = 0;
    bool restarting = false;  // We have just restarted, for the first session only.
    bool state_kept = false;  // And what the routes stand for has survived.
    /// How long the peer's routes outlive a lost connection; its own announcement may make it
    /// longer.
    Duration keep{};
    std::size_t routes_max = 0;  // From the peer; more end the session. 0: no bound.
    std::uint64_t seed = 1;      // Of the jitter.
};

enum class State : std::uint8_t { Idle, Connect, Active, OpenSent, OpenConfirm, Established };
std::string_view name_of(State state);  // "established"

/// Open a TCP connection, then connected() or connect_failed().
struct ConnectionWanted {
    ConnectionId id{};
    bool operator==(const ConnectionWanted&) const = default;
};
/// Write these, if the socket takes them, and close. Also gives up an attempt to connect.
struct ConnectionUnwanted {
    ConnectionId id{};
    Bytes last_words{};
    bool operator==(const ConnectionUnwanted&) const = default;
};
struct Established {
    ConnectionId id{};
    Open peer{};
    std::uint16_t hold_seconds = 0;  // Agreed.
    bool operator==(const Established&) const = default;
};
/// A connection ended that was established, or failed before.
struct Down {
    enum class Reason : std::uint8_t {
        Lost,         // The connection broke.
        HoldExpired,  // Nothing was heard in the hold time.
        Refused,      // We sent a NOTIFICATION.
        Notified,     // The peer sent one.
        Stopped,      // stop().
        Replaced,     // The peer has a new one; nothing is wrong.
    };
    Reason reason{};
    std::string text{};
    bool was_established = false;
    bool routes_kept = false;
    bool operator==(const Down&) const = default;
};
struct RouteHeard {
    Route route{};
    std::shared_ptr<const Path> path{};  // Shared by all routes of one UPDATE.
};
struct RouteGone {
    RouteKey key{};
    bool operator==(const RouteGone&) const = default;
};
/// The peer has sent all it has; what it had before and did not repeat is gone.
struct EndOfRib {
    bool operator==(const EndOfRib&) const = default;
};
/// Something was wrong and has been survived.
struct Faulty {
    Fault fault{};
    bool operator==(const Faulty&) const = default;
};
/// Three quarters of routes_max; once a session.
struct NearRoutesMax {
    std::size_t routes = 0;
    bool operator==(const NearRoutesMax&) const = default;
};

using Event = std::variant<ConnectionWanted,
                           ConnectionUnwanted,
                           Established,
                           Down,
                           RouteHeard,
                           RouteGone,
                           EndOfRib,
                           Faulty,
                           NearRoutesMax>;

/// Of all connections since the session object was made.
struct Traffic {
    std::uint64_t messages_received = 0;
    std::uint64_t messages_sent = 0;  // Or waiting to be.
    std::uint64_t updates_received = 0;
    std::uint64_t updates_sent = 0;
    bool operator==(const Traffic&) const = default;
};

class Session {
public:
    static constexpr Duration kOpenHold = 4min;  // In OpenSent (RFC 4271 8.2.2).
    static constexpr Duration kRetryFirst = 5s;  // Unless the options say otherwise.
    static constexpr Duration kRetryMax = 60s;
    static constexpr Duration kIdleFirst = 1s;  // After an error; doubled up to the maximum.
    static constexpr Duration kIdleMax = 60s;
    static constexpr Duration kPrefixPause = 5min;    // After too many routes.
    static constexpr Duration kSendHoldLeast = 8min;  // RFC 9687
    /// The peer's End-of-RIB is waited for so long; GoBGP sends none by default.
    static constexpr Duration kEndOfRibBound = 30s;
    static constexpr std::size_t kWriteBuffer = std::size_t{64} * 1024;

    explicit Session(const SessionOptions& options);

    void start(TimePoint now);
    /// Says goodbye with a text for the other operator (RFC 9003), which may be empty. All routes
    /// of the peer are gone.
    void stop(std::string_view text, TimePoint now);

    void connected(ConnectionId id, TimePoint now);
    void connect_failed(ConnectionId id, TimePoint now);
    /// The peer has connected. Nullopt: close it.
    std::optional<ConnectionId> accepted(TimePoint now);
    void receive(ConnectionId id, std::span<const std::uint8_t> bytes, TimePoint now);
    /// Closed by the peer, or broken.
    void lost(ConnectionId id, TimePoint now);

    void tick(TimePoint now);
    [[nodiscard]] std::optional<TimePoint> wake_at() const;
    std::optional<Event> poll_event();

    /// Bytes to write. Valid until the next call of any other non-const member.
    std::span<const std::uint8_t> pending(ConnectionId id);
    void written(ConnectionId id, std::size_t count);

    /// Wanted state: kept while there is no session, sent whole at the beginning of each.
    Result<void> want(const Route& route, const Path& path) {
        return advertisements_.want(route, path);
    }
    void unwant(const RouteKey& key) { advertisements_.unwant(key); }
    /// See Advertisements::hold_end_of_rib().
    void hold_end_of_rib(bool hold) { advertisements_.hold_end_of_rib(hold); }
    /// Asks the peer for all its routes once more; false if it cannot.
    bool ask_refresh();

    [[nodiscard]] State state() const;
    [[nodiscard]] std::size_t backlog() const { return advertisements_.backlog(); }
    [[nodiscard]] const Traffic& traffic() const { return traffic_; }
    /// Of the peer, stale ones included.
    [[nodiscard]] std::size_t routes_heard() const { return heard_.size(); }

private:
    /// One TCP connection, from its OPEN on.
    struct Link {
        ConnectionId id{};
        bool ours = false;  // We connected.
        State state = State::OpenSent;
        Framer framer{};
        Bytes outbox{};
        std::size_t outbox_begin = 0;  // Bytes before it have been written.
        Open peer{};
        std::uint16_t hold_seconds = 0;
        std::size_t longest = kMessageMax;
        std::optional<TimePoint> hold_at{};
        std::optional<TimePoint> keepalive_at{};
        std::optional<TimePoint> stalled_at{};  // Since when its bytes wait.
    };

    Link* find(ConnectionId id);
    [[nodiscard]] const Link* find_established() const;
    void add_link(ConnectionId id, bool ours, TimePoint now);
    [[nodiscard]] Open our_open() const;
    [[nodiscard]] PeerKind peer_kind() const;

    // Each of these may end the link, and with it what the frame points to.
    void handle(Link& link, const Frame& frame, TimePoint now);
    void handle_in_open_sent(Link& link, const Frame& frame, TimePoint now);
    void handle_in_open_confirm(Link& link, const Frame& frame, TimePoint now);
    void handle_in_established(Link& link, const Frame& frame, TimePoint now);
    void handle_notification(ConnectionId id, const Frame& frame, TimePoint now);
    void handle_open(ConnectionId id, const Frame& frame, TimePoint now);
    void handle_update(ConnectionId id, const Frame& frame, TimePoint now);
    void handle_refresh(ConnectionId id, const Frame& frame, TimePoint now);
    /// False: the link has lost.
    bool resolve_collisions(ConnectionId id, const Open& peer, TimePoint now);
    void hear(Update update);
    void check_routes_max(ConnectionId id, TimePoint now);

    [[nodiscard]] std::optional<ProtocolError> objection(const Open& peer) const;
    [[nodiscard]] bool keeps_own_connection(const Open& peer) const;
    [[nodiscard]] bool is_looped(const Attributes& attributes) const;
    void confirm(Link& link, const Open& peer, TimePoint now);
    void establish(ConnectionId id, TimePoint now);
    static void restart_hold(Link& link, TimePoint now);
    void plan_keepalive(Link& link, TimePoint now);
    void send_keepalive(Link& link);

    struct End {
        Down::Reason reason{};
        std::string text{};
        std::optional<Notification> notification{};  // Sent or received.
    };
    void end_link(ConnectionId id, const End& end, TimePoint now);
    void refuse(ConnectionId id, const ProtocolError& error, TimePoint now);
    void refuse_message(const Link& link, const Frame& frame, TimePoint now);
    void yield(ConnectionId id, TimePoint now);
    void end_session(const Link& link, const End& end, TimePoint now);
    [[nodiscard]] bool is_final(const Link& link, const End& end) const;
    [[nodiscard]] Duration time_kept(const Link& link, const End& end) const;
    void plan_next(const End& end, TimePoint now);
    void abandon_attempt();
    void connect(TimePoint now);
    void retry_later(TimePoint now);

    void forget(const RouteKey& key);
    void forget_all();
    void sweep();

    void tick_link(ConnectionId id, TimePoint now);
    Duration jittered(Duration span);

    SessionOptions options_;
    bool enabled_ = false;
    std::uint32_t last_id_ = 0;
    ConnectionId attempt_ = ConnectionId::None;  // Being connected.
    std::vector<std::unique_ptr<Link>> links_;   // One established, and one more each way, at most.
    std::optional<TimePoint> retry_at_;
    std::optional<TimePoint> idle_until_;
    Duration retry_;
    Duration idle_ = kIdleFirst;
    TimePoint established_at_{};
    std::uint64_t random_;
    bool has_restarted_;  // Said in OPEN until the first session.

    std::deque<Event> events_;
    Advertisements advertisements_;
    /// The peer's routes, with the number of the session that they were last heard in.
    absl::btree_map<RouteKey, std::uint64_t> heard_;
    std::uint64_t epoch_ = 0;
    std::optional<TimePoint> stale_until_;
    bool near_max_said_ = false;
    Traffic traffic_;
};

}  // namespace planed::bgp
