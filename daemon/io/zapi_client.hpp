// SPDX-License-Identifier: Apache-2.0
// The unix socket around zapi::Probe and zapi::Session: connects, probes the wire family on a
// connection of its own, runs the session on a second one, and starts over when it ends. It decides
// nothing about routes. All of it runs on the loop that it is given; nothing here blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>

#include "io/clock.hpp"
#include "net/result.hpp"
#include "net/time.hpp"
#include "zapi/probe.hpp"
#include "zapi/session.hpp"

namespace planed::io {

struct ZapiClientOptions {
    std::string path = "/run/frr/zserv.api";  // '@name': the abstract namespace.
    std::optional<std::string> release;       // "8.4": the probe must agree.
    zapi::RouteType route_type = zapi::RouteType::Babel;
    std::uint32_t stale_seconds = 900;

    Duration backoff_first = 100ms;
    Duration backoff_max = 30s;
    /// While nobody listens on the path: routes have to be back within 2 s of FRR's return, and a
    /// connect(2) that fails costs microseconds.
    Duration backoff_absent = 1s;
    Duration watch_interval = 1s;  // In a longer back-off: has the socket's file changed?
    Duration settle_poll = 10ms;
    Duration settle_after = 50ms;  // Once zebra has closed an earlier session of ours.
    Duration settle_blind = 1s;    // Where sock_diag cannot tell.
    Duration settle_deadline = 10s;
    Duration drain_deadline = 1s;  // close() waits no longer for zebra to read.
    Duration leak_pause = 50ms;    // See zapi::leaks_on_close().

    std::uint64_t seed = std::random_device{}();  // Of the back-off's jitter.
    TimePoint (*now)() = &io::now;
};

struct ZapiCallbacks {
    /// Everything that the session says, Ready first: from then on session() may be used.
    std::function<void(const zapi::Event&)> on_event;
    /// The session has ended; or, before there was one, why there is none, once per reason.
    std::function<void(const Error&)> on_down;
};

class ZapiClient {
public:
    ZapiClient(boost::asio::io_context& loop, ZapiClientOptions options, ZapiCallbacks callbacks);

    void start();
    /// Null unless zebra is ready for routes.
    zapi::Session* session();
    /// Writes what waits, as far as zebra takes it now; the rest follows by itself. At the end of
    /// every turn.
    void flush();
    /// Writes what waits, for `withdraw` instead that the routes shall go; closes once zebra has
    /// handled it; calls `done`, never from within this call. Nothing else is called afterwards.
    void close(bool withdraw, std::function<void()> done);

private:
    using Socket = boost::asio::local::stream_protocol::socket;
    enum class State : std::uint8_t {
        Stopped,
        BackingOff,
        Settling,  // Connected; zebra may not have closed an earlier connection of ours yet.
        Probing,
        Talking,
    };
    enum class Cause : std::uint8_t { Absent, Wrong };  // What the back-off goes by.
    struct FileIdentity {
        std::uint64_t device = 0;
        std::uint64_t inode = 0;
        std::int64_t changed_ns = 0;  // ctime: also when owner or mode change.
        bool operator==(const FileIdentity&) const = default;
    };

    void attempt();
    std::optional<Error> connect();
    void disconnect();
    void begin_settling();
    void settle();
    void look_for_half_closed(TimePoint now);
    void probe();
    void after_probe();
    void talk(zapi::WireFamily family);

    void read();
    void on_read(const boost::system::error_code& error, std::size_t count);
    void take(std::span<const std::uint8_t> bytes);
    void hand_out_events();
    std::span<const std::uint8_t> pending();
    void write();
    std::size_t write_some(std::span<const std::uint8_t> bytes, boost::system::error_code& error);
    void wait_writable();
    void on_end();

    void lose(const Error& why, Cause cause = Cause::Wrong);
    void back_off(TimePoint now, Cause cause);
    void report(const Error& why);
    [[nodiscard]] FileIdentity identify() const;

    [[nodiscard]] std::optional<TimePoint> wake_at() const;
    void arm();
    void tick();
    void tick_back_off(TimePoint now);
    void tick_session(TimePoint now);

    void drained();
    void finish();

    boost::asio::io_context& loop_;
    ZapiClientOptions options_;
    ZapiCallbacks callbacks_;
    std::optional<zapi::WireFamily> pinned_;
    std::mt19937_64 random_;

    State state_ = State::Stopped;
    Socket socket_;
    std::uint64_t epoch_ = 0;  // Of the connection: a handler of an earlier one does nothing.
    std::vector<std::uint8_t> read_buffer_;
    bool waiting_writable_ = false;
    std::optional<zapi::Probe> probe_;  // At most one of these two.
    std::unique_ptr<zapi::Session> session_;
    std::optional<zapi::WireFamily> family_;  // Of this zebra, once the probe has told it.
    std::optional<TimePoint> up_since_;

    TimePoint settle_at_{};  // The next look, or (settled_) the probe or the session.
    TimePoint settle_deadline_{};
    bool settled_ = false;
    bool saw_half_closed_ = false;
    bool zebra_hung_up_ = false;  // It ended the last session, so it holds none of ours.

    boost::asio::steady_timer timer_;
    std::optional<TimePoint> armed_at_;
    TimePoint retry_at_{};
    TimePoint watch_at_{};
    unsigned failures_ = 0;    // Since the last session that stood.
    FileIdentity tried_file_;  // Of the last attempt.
    std::string reported_;

    bool closing_ = false;
    bool withdraw_ = false;
    TimePoint drain_deadline_{};
    std::optional<TimePoint> finish_at_;
    std::function<void()> done_;
};

}  // namespace planed::io
