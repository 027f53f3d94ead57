// SPDX-License-Identifier: Apache-2.0
// FRR's zebra as far as a ZAPI client can tell it from a real one, measured on 8.4.4, 10.3 and
// master: it reads messages at its own pace, works a queue of prefixes 10 ms later, and says of
// each what became of it by then: once, late, or not at all.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "sim/clock.hpp"
#include "sim/faults.hpp"
#include "sim/kernel.hpp"
#include "sim/random.hpp"
#include "sim/trace.hpp"
#include "sim/zebra_codec.hpp"

namespace planed::sim {

/// Why a selected route of ours left zebra's table.
enum class Left : std::uint8_t {
    Deleted,    // planed's DELETE.
    Purged,     // ROUTE_UPDATE_COMPLETE, or the stale timer.
    Closed,     // Its session ended without graceful restart.
    Beaten,     // A better route.
    Inactive,   // Its interface was down when it was put again.
    Taken,      // By the end of another client with our type.
    Restarted,  // zebra itself went.
};

class SimZebra {
public:
    SimZebra(SimClock& clock, Random& random, Trace& trace, Faults& faults, SimKernel& kernel);

    Release release = Release::Frr10_3;

    // The socket, planed's side.
    [[nodiscard]] bool connect();
    [[nodiscard]] bool is_open() const { return open_; }
    std::size_t write(std::span<const std::uint8_t> bytes);  // How many were taken.
    ByteString read();
    void close();
    /// An earlier connection's end has not been seen yet: sock_diag shows a half-closed socket. Two
    /// graceful sessions at once can bring zebra down, so nobody connects now.
    [[nodiscard]] bool is_half_closed() const { return ghost_; }
    std::function<void()> readable = [] {};  // Bytes, room to write, or the end.

    // What happens to zebra.
    enum class Stop : std::uint8_t { Cleanly, Killed };
    void stop(Stop how);
    void start(bool keeps_kernel_routes);  // `-K`, as watchfrr and SONiC start it.
    [[nodiscard]] bool is_running() const { return running_; }
    void stall(Duration length);  // Reads nothing, says nothing.
    void add_better(const RouteKey& key);
    void remove_better(const RouteKey& key);
    void remove_unasked(const RouteKey& key);  // Another client of our type has closed.
    /// bgpd learns a host of another leaf, or that it has gone.
    void add_plane(const RouteKey& key);
    void remove_plane(const RouteKey& key);
    void restart_bgpd();  // Its routes go, and are back some seconds later.

    // The truth: what bgpd redistributes.
    [[nodiscard]] std::map<RouteKey, HostRoute> selected() const;
    [[nodiscard]] bool is_selected(const RouteKey& key) const;
    [[nodiscard]] const std::set<RouteKey>& better() const { return better_; }
    /// What bgpd would have learned, were it up.
    [[nodiscard]] const std::set<RouteKey>& plane() const { return plane_; }
    [[nodiscard]] bool is_stalled() const { return stalled_until_ > clock_.now(); }
    std::function<void(const RouteKey&, Left)> on_left = [](const RouteKey&, Left) {};
    std::function<void(const RouteKey&)> on_selected = [](const RouteKey&) {};
    /// What no client may send, in words.
    std::vector<std::string> complaints;

private:
    struct Node {
        std::optional<HostRoute> ours{};
        std::optional<HostRoute> done{};  // What was selected when the queue was last worked.
        bool touched = false;             // By an ADD since then.
        bool reread = false;              // From the kernel, after a restart of zebra.
        Left leaves = Left::Deleted;
        std::chrono::seconds since{};  // When the ADD was read: graceful restart counts seconds.
    };
    struct Graceful {
        bool enabled = false;
        std::uint32_t stale_seconds = 0;
        std::optional<std::chrono::seconds> closed_at{};  // The session that came before.
        std::uint64_t serial = 0;
    };

    void on(const HelloMessage& hello);
    void on(const NotifyMessage& notify) { notify_ = notify.on; }
    void on(const AddMessage& add);
    void on(const DeleteMessage& removal);
    void on(const RedistributeMessage& redistribute);
    void on(const GracefulMessage& graceful);
    void on(const CompleteMessage& complete);
    void on(const DisableMessage& disable);
    void on(const UnknownMessage& unknown);
    void on(const BadMessage& bad);

    void read_input();
    void schedule_read(Duration delay);
    void enqueue(const RouteKey& key);
    void work();
    void process(const RouteKey& key, Node& node);
    void leave(const RouteKey& key, Node& node, Left why);
    void select(const RouteKey& key, Node& node);
    void withdraw(const RouteKey& key, Node& node, Left why);
    [[nodiscard]] bool is_subscribed(const RouteKey& key) const;
    void notice(const RouteKey& key, Notice what);
    void purge(std::optional<Family> family);
    void session_ended();
    void end_bgpd();
    void begin_bgpd();
    [[nodiscard]] bool shows_plane(const RouteKey& key) const;
    void tell_plane(const RouteKey& key, bool shown_before);
    [[nodiscard]] Duration pace(Duration usual);
    [[nodiscard]] std::chrono::seconds second() const;
    void deliver();

    SimClock& clock_;
    Random& random_;
    Trace& trace_;
    Faults& faults_;
    SimKernel& kernel_;

    bool running_ = false;
    std::uint64_t life_ = 0;  // Deadlines of an earlier process mean nothing.
    TimePoint stalled_until_{};

    bool open_ = false;
    bool notify_ = false;
    bool greeted_ = false;
    bool ghost_ = false;
    std::uint64_t connection_ = 0;
    bool read_scheduled_ = false;
    std::set<Family> subscribed_;
    std::set<Family> watched_;  // Of bgpd's routes.
    ByteString in_;             // From planed, not handled yet.
    ByteString out_;            // To planed, still in zebra.
    ByteString delivered_;      // In planed's socket buffer.

    std::map<RouteKey, Node> nodes_;
    std::set<RouteKey> queue_;
    bool work_scheduled_ = false;
    std::set<RouteKey> better_;
    std::set<RouteKey> plane_;
    bool bgpd_up_ = false;
    std::uint64_t bgpd_life_ = 0;
    Graceful graceful_;
};

}  // namespace planed::sim
