// SPDX-License-Identifier: Apache-2.0
// The operators' API: gRPC in threads of its own, beside the loop. Those threads do two things:
// they post into the loop, and they write what it has answered. Nothing of gRPC is in here.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bgp/view.hpp"
#include "core/audit.hpp"
#include "core/input.hpp"
#include "core/snapshot.hpp"
#include "evpn/multihoming.hpp"
#include "net/result.hpp"
#include "plugin/view.hpp"
#include "telemetry/note.hpp"

namespace planed::api {

/// Who has connected to the unix socket (SO_PEERCRED).
struct Peer {
    std::int64_t pid = 0;
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    bool operator==(const Peer&) const = default;
};

/// PEM files.
struct TlsFiles {
    std::string certificate{};
    std::string key{};
    std::string client_ca{};
};

struct Reloaded {
    std::vector<std::string> faults{};  // Not empty: nothing was changed.
    std::vector<std::string> changed{};
    std::vector<std::string> needs_restart{};
};

struct Checked {
    std::vector<std::string> faults{};
    std::vector<std::string> warnings{};
    std::vector<std::string> changed{};
    std::vector<std::string> needs_restart{};
};

/// What the API needs of the daemon. Called in the loop, but for the first three.
struct Hooks {
    std::function<void(std::function<void()>)> post;  // Into the loop; from any thread.
    std::function<std::chrono::microseconds()> wall;  // See translate.hpp; from any thread.
    // Against the running configuration; from any thread.
    std::function<Checked(std::string_view text, const std::string& name)> check_config;

    std::function<TimePoint()> now;
    std::function<void()> request_turn;
    std::function<void(bool)> keep_changes;  // See Engine::keep_changes.
    std::function<EngineView()> view;
    std::function<Reloaded()> reload;
    // How many hosts it concerns, or why it is refused; see Engine::concerned_by().
    std::function<Result<std::size_t>(const Command&)> command;
    std::function<Level(Level)> set_level;  // The level until now.
    std::function<std::string()> show_config;
    std::function<std::string()> zebra_release;
    std::function<std::vector<plugin::View>()> plugins;
    std::function<std::vector<std::pair<std::string, std::uint64_t>>()> counters;
    std::function<std::vector<evpn::SegmentView>()> evpn_segments;
    std::function<std::vector<bgp::PeerView>()> evpn_peers;
    /// Appends up to `max` routes behind the cursor and moves it; true: there are more.
    std::function<bool(bgp::RouteCursor& cursor, std::size_t max, std::vector<bgp::RouteRow>& rows)>
        evpn_routes;
    /// Everything is read and compared; `ready` is called by `until`, with what is known then.
    /// False: too many wait already.
    std::function<bool(TimePoint until, std::function<void(std::shared_ptr<const AuditReport>)>)>
        audit;
    std::function<void(const Note&)> log;
};

/// The text of all metrics; nullopt: too many readers wait already. In a thread of the server.
using MetricsReady = std::function<void(std::optional<std::string>)>;

struct ServerOptions {
    std::string host_name{};
    std::string version{};
};

class Server {
public:
    Server(ServerOptions options, Hooks hooks);
    ~Server();  // In the loop's thread, when the loop has ended.
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    Server(Server&&) = delete;
    Server& operator=(Server&&) = delete;

    /// A connection of the unix socket, non-blocking; it is ours from now on. From one thread,
    /// which need not be the loop's: the first one makes gRPC, which costs some milliseconds.
    void adopt(int connection, const Peer& peer);
    /// A TCP address ("10.0.0.5:50051"), for clients with a certificate of the authority.
    Result<void> listen(const std::string& address, const TlsFiles& files);

    /// Renders all metrics once the loop has a snapshot of now; from any thread. Not called once
    /// the server was stopped.
    void metrics(MetricsReady ready);

    /// At the end of a turn. True: there is more to do, and now.
    bool turn(const Changes& changes, TimePoint now);
    /// What Hooks::evpn_segments has to say may be something else now; followed by a turn.
    void evpn_changed();
    [[nodiscard]] std::optional<TimePoint> wake_at() const;
    /// Every call ends at once, by UNAVAILABLE.
    void stop();

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace planed::api
