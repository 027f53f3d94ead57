// SPDX-License-Identifier: Apache-2.0
#include "sim/zebra.hpp"

#include <algorithm>
#include <utility>

namespace planed::sim {
namespace {

constexpr std::size_t kSocketBuffer = 64 * 1024;
constexpr std::size_t kMessagesPerRound = 1000;  // `zebra zapi-packets`
constexpr Duration kReadDelay = 100us;
constexpr Duration kWorkHold = 10ms;   // zebra's work queue waits this long for more.
constexpr Duration kSweepAfter = 20s;  // `-K 20`
constexpr std::uint8_t kRereadDistance = 100;

}  // namespace

SimZebra::SimZebra(SimClock& clock, Random& random, Trace& trace, Faults& faults, SimKernel& kernel)
    : clock_(clock), random_(random), trace_(trace), faults_(faults), kernel_(kernel) {}

// The socket --------------------------------------------------------------------------------------

bool SimZebra::connect() {
    if (!running_) {
        return false;
    }
    if (ghost_) {
        complaints.push_back("connects while an earlier session is half closed");
    }
    open_ = true;
    notify_ = greeted_ = false;
    subscribed_.clear();
    watched_.clear();
    in_.clear();
    out_.clear();
    delivered_.clear();
    ++connection_;
    return true;
}

std::size_t SimZebra::write(std::span<const std::uint8_t> bytes) {
    const std::size_t room = kSocketBuffer - std::min(kSocketBuffer, in_.size());
    std::size_t count = std::min(room, bytes.size());
    if (faults_.short_writes && count > 0 && random_.percent(50)) {
        count = 1 + random_.below(count);
    }
    in_.insert(in_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count));
    schedule_read(kReadDelay);
    return count;
}

ByteString SimZebra::read() {
    return std::exchange(delivered_, {});
}

/// What planed has written before is still read: only then does zebra see the end.
void SimZebra::close() {
    if (!open_) {
        return;
    }
    open_ = false;
    out_.clear();
    delivered_.clear();
    if (running_) {
        ghost_ = true;
        schedule_read(kReadDelay);
    }
}

void SimZebra::schedule_read(Duration delay) {
    if (read_scheduled_ || !running_) {
        return;
    }
    read_scheduled_ = true;
    const TimePoint at = std::max(clock_.now() + delay, stalled_until_);
    clock_.at(at, [this, life = life_] {
        if (life == life_) {
            read_scheduled_ = false;
            read_input();
        }
    });
}

void SimZebra::read_input() {
    if (is_stalled()) {
        schedule_read(0us);
        return;
    }
    std::size_t budget = faults_.torn_reads ? 1 + random_.below(8) : kMessagesPerRound;
    for (; budget > 0; --budget) {
        const auto message = take_message(release, in_);
        if (!message) {
            break;
        }
        std::visit([this](const auto& what) { on(what); }, *message);
    }
    if (budget == 0) {
        schedule_read(pace(kReadDelay));
    } else if (ghost_) {
        ghost_ = false;
        in_.clear();
        session_ended();
    }
    deliver();
    readable();
}

void SimZebra::deliver() {
    if (out_.empty() || !open_) {
        return;
    }
    const std::size_t count = faults_.torn_reads ? 1 + random_.below(out_.size()) : out_.size();
    const auto end = out_.begin() + static_cast<std::ptrdiff_t>(count);
    delivered_.insert(delivered_.end(), out_.begin(), end);
    out_.erase(out_.begin(), end);
    if (!out_.empty()) {
        clock_.after(200us, [this, connection = connection_] {
            if (connection == connection_) {
                deliver();
            }
        });
    }
    readable();
}

Duration SimZebra::pace(Duration usual) {
    return faults_.zebra_slow ? random_.between(usual, 300ms) : usual;
}

std::chrono::seconds SimZebra::second() const {
    return std::chrono::duration_cast<std::chrono::seconds>(clock_.uptime());
}

// Messages ----------------------------------------------------------------------------------------

void SimZebra::on(const HelloMessage& hello) {
    if (hello.type != numbers_of(release).babel) {
        complaints.push_back("HELLO of another type");
    }
    greeted_ = true;
    notify_ = hello.notify;
    ++graceful_.serial;
    write_capabilities(release, out_);
    write_vrf_add(release, out_);
}

void SimZebra::on(const AddMessage& add) {
    Node& node = nodes_[add.key];
    node.ours = add.route;
    node.touched = true;
    node.reread = false;
    node.since = second();
    enqueue(add.key);
}

void SimZebra::on(const DeleteMessage& removal) {
    const auto found = nodes_.find(removal.key);
    if (found != nodes_.end() && found->second.ours) {
        withdraw(removal.key, found->second, Left::Deleted);
    }
}

void SimZebra::on(const RedistributeMessage& redistribute) {
    if (redistribute.of_bgp) {
        const bool again = !redistribute.on || !watched_.insert(redistribute.family).second;
        if (again) {
            complaints.push_back("asks for bgpd's routes more than once, or no longer");
        }
        for (const RouteKey& key : plane_) {
            if (key.prefix.address().family() == redistribute.family && shows_plane(key)) {
                write_plane_row(release, key, false, out_);
            }
        }
        return;
    }
    if (!redistribute.on) {
        subscribed_.erase(redistribute.family);
        return;
    }
    subscribed_.insert(redistribute.family);
    for (const auto& [key, node] : nodes_) {
        if (node.done && is_subscribed(key)) {
            write_row(release, key, *node.done, out_);
        }
    }
}

void SimZebra::on(const GracefulMessage& graceful) {
    graceful_.enabled = true;
    graceful_.stale_seconds = graceful.stale_seconds;
}

void SimZebra::on(const CompleteMessage& complete) {
    trace_.add([] { return "zebra: route update complete"; });
    purge(complete.family);
}

void SimZebra::on(const DisableMessage& /*disable*/) {
    graceful_.enabled = false;
}

void SimZebra::on(const UnknownMessage& unknown) {
    // The VRF is looked for first: 1 = no such VRF, 2 = no handler for the command.
    write_error(release, unknown.vrf, unknown.vrf == VrfId::Default ? 2 : 1, out_);
}

void SimZebra::on(const BadMessage& bad) {
    complaints.push_back(bad.why);
}

// One second is the grain: a route of the second in which its session closed counts as new.
void SimZebra::purge(std::optional<Family> family) {
    if (!graceful_.closed_at) {
        return;
    }
    for (auto& [key, node] : nodes_) {
        const bool concerned = !family || key.prefix.address().family() == *family;
        if (concerned && node.ours && node.since < *graceful_.closed_at) {
            withdraw(key, node, Left::Purged);
        }
    }
}

void SimZebra::session_ended() {
    trace_.add([&] { return fmt::format("zebra: session ended, graceful={}", graceful_.enabled); });
    if (!greeted_) {
        return;
    }
    if (!graceful_.enabled) {
        graceful_.closed_at.reset();
        for (auto& [key, node] : nodes_) {
            // Read but not worked yet: up to 10.1 such an ADD outlives its session.
            const bool leaks = is_family_a(release) && node.touched && queue_.contains(key);
            if (node.ours && !leaks) {
                withdraw(key, node, Left::Closed);
            }
        }
        return;
    }
    graceful_.closed_at = second();
    if (release == Release::Frr10_3) {
        return;  // Its stale timer does nothing.
    }
    clock_.after(std::chrono::seconds(graceful_.stale_seconds),
                 [this, life = life_, serial = graceful_.serial] {
                     if (life == life_ && serial == graceful_.serial) {
                         purge(std::nullopt);
                     }
                 });
}

// The table ---------------------------------------------------------------------------------------

void SimZebra::withdraw(const RouteKey& key, Node& node, Left why) {
    node.ours.reset();
    node.leaves = why;
    enqueue(key);
}

void SimZebra::enqueue(const RouteKey& key) {
    queue_.insert(key);
    if (work_scheduled_ || !running_) {
        return;
    }
    work_scheduled_ = true;
    clock_.after(pace(kWorkHold), [this, life = life_] {
        if (life == life_) {
            work();
        }
    });
}

void SimZebra::work() {
    if (is_stalled()) {
        clock_.at(stalled_until_, [this, life = life_] {
            if (life == life_) {
                work();
            }
        });
        return;
    }
    work_scheduled_ = false;
    for (const RouteKey& key : std::exchange(queue_, {})) {
        const auto found = nodes_.find(key);
        if (found == nodes_.end()) {
            continue;
        }
        process(key, found->second);
        if (!found->second.ours) {
            nodes_.erase(found);
        }
    }
    deliver();
}

void SimZebra::process(const RouteKey& key, Node& node) {
    const bool touched = std::exchange(node.touched, false);
    const bool was_selected = node.done.has_value();
    if (!node.ours) {
        leave(key, node, node.leaves);
        if (was_selected) {
            notice(key, Notice::Removed);
        }
        return;
    }
    if (!kernel_.is_up(node.ours->out)) {
        if (touched) {
            leave(key, node, Left::Inactive);
            notice(key, Notice::FailInstall);
        }
        return;  // Untouched, it stays selected: zebra does not look.
    }
    if (better_.contains(key)) {
        leave(key, node, Left::Beaten);
        if (was_selected || (touched && !is_family_a(release))) {
            notice(key, Notice::BetterAdminWon);
        }
        return;
    }
    if (touched || !was_selected) {
        select(key, node);
    }
}

void SimZebra::select(const RouteKey& key, Node& node) {
    const bool identical = node.done == node.ours;
    const bool skips = identical && release == Release::Master;
    if (!skips && !kernel_.install(key, node.ours->out)) {
        leave(key, node, Left::Inactive);
        notice(key, Notice::FailInstall);
        return;
    }
    const bool is_new = !node.done;
    const bool shown = shows_plane(key);
    node.done = node.ours;
    tell_plane(key, shown);
    trace_.add([&] { return fmt::format("zebra: installed {}", key.prefix.to_string()); });
    notice(key, Notice::Installed);
    if (!identical && is_subscribed(key)) {
        write_row(release, key, *node.done, out_);
    }
    if (is_new) {
        on_selected(key);
    }
}

void SimZebra::leave(const RouteKey& key, Node& node, Left why) {
    if (!node.done) {
        return;
    }
    trace_.add([&] {
        return fmt::format("zebra: removed {} ({})", key.prefix.to_string(), static_cast<int>(why));
    });
    on_left(key, why);
    kernel_.uninstall(key);
    if (is_subscribed(key)) {
        write_row_gone(release, key, *node.done, out_);
    }
    const bool shown = shows_plane(key);
    node.done.reset();
    tell_plane(key, shown);
}

// bgpd --------------------------------------------------------------------------------------------

/// Of two routes to one host ours is the better one.
bool SimZebra::shows_plane(const RouteKey& key) const {
    return bgpd_up_ && plane_.contains(key) && !is_selected(key);
}

void SimZebra::tell_plane(const RouteKey& key, bool shown_before) {
    const bool shown = shows_plane(key);
    if (open_ && shown != shown_before && watched_.contains(key.prefix.address().family())) {
        write_plane_row(release, key, !shown, out_);
    }
}

void SimZebra::add_plane(const RouteKey& key) {
    const bool shown = shows_plane(key);
    plane_.insert(key);
    tell_plane(key, shown);
    deliver();
}

void SimZebra::remove_plane(const RouteKey& key) {
    const bool shown = shows_plane(key);
    plane_.erase(key);
    tell_plane(key, shown);
    deliver();
}

/// It takes its routes back, and zebra tells that it has gone, before or after.
void SimZebra::end_bgpd() {
    ++bgpd_life_;
    if (!bgpd_up_) {
        return;
    }
    const bool tells_first = random_.percent(50);
    const auto say_closed = [this] {
        if (open_) {
            write_bgp_closed(release, out_);
        }
    };
    if (tells_first) {
        say_closed();
    }
    std::set<RouteKey> shown;
    for (const RouteKey& key : plane_) {
        if (shows_plane(key)) {
            shown.insert(key);
        }
    }
    bgpd_up_ = false;
    for (const RouteKey& key : shown) {
        tell_plane(key, true);
    }
    if (!tells_first) {
        say_closed();
    }
}

void SimZebra::begin_bgpd() {
    clock_.after(random_.between(500ms, 15s), [this, life = bgpd_life_] {
        if (life != bgpd_life_ || !running_) {
            return;
        }
        bgpd_up_ = true;
        for (const RouteKey& key : plane_) {
            tell_plane(key, false);
        }
        deliver();
    });
}

void SimZebra::restart_bgpd() {
    if (running_) {
        end_bgpd();
        deliver();
        begin_bgpd();
    }
}

bool SimZebra::is_subscribed(const RouteKey& key) const {
    return subscribed_.contains(key.prefix.address().family());
}

void SimZebra::notice(const RouteKey& key, Notice what) {
    const bool muted = what == Notice::Installed && !faults_.acks_installed;
    if (open_ && notify_ && !muted && !random_.percent(faults_.acks_lost_percent)) {
        write_notice(release, key, what, out_);
    }
}

std::map<RouteKey, HostRoute> SimZebra::selected() const {
    std::map<RouteKey, HostRoute> routes;
    for (const auto& [key, node] : nodes_) {
        if (node.done) {
            routes.emplace(key, *node.done);
        }
    }
    return routes;
}

bool SimZebra::is_selected(const RouteKey& key) const {
    const auto found = nodes_.find(key);
    return found != nodes_.end() && found->second.done.has_value();
}

// What happens to zebra ---------------------------------------------------------------------------

void SimZebra::stop(Stop how) {
    trace_.add(
        [&] { return fmt::format("zebra: stopped {}", how == Stop::Killed ? "hard" : "cleanly"); });
    if (how == Stop::Cleanly) {
        end_bgpd();
        delivered_.insert(delivered_.end(), out_.begin(), out_.end());
        out_.clear();
    }
    ++bgpd_life_;
    bgpd_up_ = false;
    for (auto& [key, node] : nodes_) {
        if (!node.done) {
            continue;
        }
        if (how == Stop::Cleanly) {
            kernel_.uninstall(key);
        }
        on_left(key, Left::Restarted);
    }
    ++life_;
    running_ = open_ = ghost_ = read_scheduled_ = work_scheduled_ = false;
    stalled_until_ = {};
    graceful_ = {};
    nodes_.clear();
    queue_.clear();
    in_.clear();
    out_.clear();
    if (how == Stop::Killed) {
        delivered_.clear();  // Else what zebra has said last is still read.
    }
    readable();
}

// What the kernel still has comes back without distance and tag (-K, and from 10.x on without it
// too), and is swept later (-K) or never.
void SimZebra::start(bool keeps_kernel_routes) {
    trace_.add([] { return "zebra: started"; });
    running_ = true;
    begin_bgpd();
    const bool rereads = keeps_kernel_routes || !is_family_a(release);
    const std::map<RouteKey, IfIndex> left_behind = kernel_.fib();
    for (const auto& [key, out] : left_behind) {
        if (!rereads) {
            kernel_.uninstall(key);
            continue;
        }
        Node& node = nodes_[key];
        node.ours = node.done = HostRoute{.out = out, .distance = kRereadDistance};
        node.reread = true;
        node.since = second();
    }
    if (!keeps_kernel_routes) {
        return;
    }
    clock_.after(kSweepAfter, [this, life = life_] {
        if (life != life_) {
            return;
        }
        for (auto& [key, node] : nodes_) {
            if (node.ours && node.reread) {
                withdraw(key, node, Left::Restarted);
            }
        }
    });
}

void SimZebra::stall(Duration length) {
    trace_.add([] { return "zebra: stalls"; });
    stalled_until_ = std::max(stalled_until_, clock_.now() + length);
}

void SimZebra::add_better(const RouteKey& key) {
    better_.insert(key);
    enqueue(key);
}

void SimZebra::remove_better(const RouteKey& key) {
    better_.erase(key);
    enqueue(key);
}

void SimZebra::remove_unasked(const RouteKey& key) {
    const auto found = nodes_.find(key);
    if (found != nodes_.end() && found->second.ours) {
        withdraw(key, found->second, Left::Taken);
    }
}

}  // namespace planed::sim
