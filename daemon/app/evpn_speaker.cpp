// SPDX-License-Identifier: Apache-2.0
#include "app/evpn_speaker.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "net/ids.hpp"

namespace planed {
namespace {

/// What a session does not depend on may change beside it.
bool same_session(EvpnPeerConfig a, const EvpnPeerConfig& b) {
    a.description = b.description;
    return a == b;
}

std::string_view word(bgp::Down::Reason reason) {
    switch (reason) {
        case bgp::Down::Reason::Lost: return "lost";
        case bgp::Down::Reason::HoldExpired: return "hold_expired";
        case bgp::Down::Reason::Refused: return "refused";
        case bgp::Down::Reason::Notified: return "notified";
        case bgp::Down::Reason::Stopped: return "stopped";
        case bgp::Down::Reason::Replaced: return "replaced";
    }
    return "?";
}

/// The other operator's words may have quotes in them.
std::string quoted(std::string text) {
    std::ranges::replace(text, '"', '\'');
    return '"' + text + '"';
}

}  // namespace

EvpnSpeaker::EvpnSpeaker(boost::asio::io_context& loop, Log log, io::BgpTransportOptions options)
    : log_(std::move(log)), options_(options), transport_(loop, options, callbacks()) {}

io::BgpCallbacks EvpnSpeaker::callbacks() {
    return {.on_event = [this](const IpAddress& address,
                               const bgp::Event& event) { handle(address, event); },
            .on_unreachable =
                [this](const IpAddress& address, const Error& why) {
                    if (const auto found = peers_.find(address); found != peers_.end()) {
                        fail(address, found->second, why.text);
                    }
                },
            .log = log_};
}

// The configuration -------------------------------------------------------------------------------

void EvpnSpeaker::configure(const EvpnConfig& config) {
    if (config == config_) {
        return;
    }
    const EvpnConfig before = std::exchange(config_, config);
    const bool same_node =
        before.router_id == config.router_id && before.local_as == config.local_as;
    const std::vector<EvpnPeerConfig> none;
    const auto& wanted = config.is_on() ? config.peers : none;
    for (auto entry = peers_.begin(); entry != peers_.end();) {
        const auto here = entry++;
        const auto found = std::ranges::find_if(
            wanted, [&](const EvpnPeerConfig& peer) { return peer.address == here->first; });
        if (found == wanted.end()) {
            remove(here, "no longer configured");
        } else if (!same_node || !same_session(here->second.config, *found)) {
            remove(here, "the configuration has changed");
        } else {
            here->second.config = *found;
        }
    }
    transport_.listen(config.is_on() ? config.listen : std::vector<IpAddress>(),
                      config.listen_port);
    for (const EvpnPeerConfig& peer : wanted) {
        if (!peers_.contains(peer.address)) {
            begin(peer);
        }
    }
}

void EvpnSpeaker::remove(Peers::iterator entry, std::string_view why) {
    const auto& [address, peer] = *entry;
    if (peer.up) {
        say(Level::Info,
            "bgp.peer.down",
            address,
            fmt::format("reason=stopped routes=0 text=\"{}\"", why));
    }
    transport_.remove(address, why);
    const auto gone = peers_.extract(entry);
    for (const auto& [key, route] : gone.mapped().rib.entries()) {
        note(gone.key(), bgp::RouteGone{.key = key});
    }
    note(gone.key(), bgp::Down{.reason = bgp::Down::Reason::Stopped, .text = std::string(why)});
}

void EvpnSpeaker::begin(const EvpnPeerConfig& config) {
    peers_.emplace(config.address, Peer{.config = config, .since = options_.now()});
    if (!config.enabled) {
        return;
    }
    transport_.add(options_for(config));
    for (const auto& [key, wanted] : wanted_) {
        tell(config, wanted.route, wanted.path);
    }
}

io::BgpPeer EvpnSpeaker::options_for(const EvpnPeerConfig& config) {
    return {.address = config.address,
            .port = config.port,
            .source = config.source,
            .password = config.password,
            .hops_max = config.ttl_security,
            .session = session_options(config_, config, random_())};
}

// What peers shall know ---------------------------------------------------------------------------

void EvpnSpeaker::want(const bgp::Route& route, const bgp::Path& path) {
    wanted_.insert_or_assign(bgp::RouteKey(route), Wanted{.route = route, .path = path});
    for (const auto& [address, peer] : peers_) {
        tell(peer.config, route, path);
    }
}

void EvpnSpeaker::unwant(const bgp::RouteKey& key) {
    wanted_.erase(key);
    for (const auto& [address, peer] : peers_) {
        transport_.unwant(address, key);
    }
}

void EvpnSpeaker::tell(const EvpnPeerConfig& peer, const bgp::Route& route, const bgp::Path& path) {
    if (const auto told = transport_.want(peer.address, route, path_for(config_, peer, path));
        !told) {
        say(Level::Error,
            "bgp.route.too_long",
            peer.address,
            fmt::format("route={} text={}", bgp::to_string(route), quoted(told.error().text)));
    }
}

bool EvpnSpeaker::all_have_told() const {
    return std::ranges::all_of(peers_, [](const auto& entry) {
        return !entry.second.config.enabled || entry.second.end_of_rib;
    });
}

void EvpnSpeaker::close(std::function<void()> done) {
    transport_.close("planed is stopping", std::move(done));
}

// What sessions say -------------------------------------------------------------------------------

void EvpnSpeaker::handle(const IpAddress& address, const bgp::Event& event) {
    const auto found = peers_.find(address);
    if (found == peers_.end()) {
        return;
    }
    Peer& peer = found->second;
    if (const auto* const heard = std::get_if<bgp::RouteHeard>(&event)) {
        peer.rib.take(*heard, options_.now());
    } else if (const auto* const gone = std::get_if<bgp::RouteGone>(&event)) {
        peer.rib.take(*gone);
    } else if (const auto* const up = std::get_if<bgp::Established>(&event)) {
        handle(address, peer, *up);
    } else if (const auto* const down = std::get_if<bgp::Down>(&event)) {
        handle(address, peer, *down);
    } else if (std::holds_alternative<bgp::EndOfRib>(event)) {
        peer.end_of_rib = true;
        say(Level::Info, "bgp.peer.synced", address, fmt::format("routes={}", peer.rib.size()));
    } else if (const auto* const faulty = std::get_if<bgp::Faulty>(&event)) {
        ++peer.faults;
        say(Level::Warn,
            "bgp.fault",
            address,
            fmt::format("kind={} text={}",
                        bgp::name_of(faulty->fault.kind),
                        quoted(faulty->fault.error.text)));
    } else if (const auto* const near = std::get_if<bgp::NearRoutesMax>(&event)) {
        say(Level::Warn,
            "bgp.peer.near_max",
            address,
            fmt::format("routes={} max={}", near->routes, peer.config.max_prefixes));
    }
    note(address, event);
}

void EvpnSpeaker::handle(const IpAddress& address, Peer& peer, const bgp::Established& up) {
    peer.up = true;
    peer.since = options_.now();
    peer.open = up.peer;
    peer.hold_seconds = up.hold_seconds;
    peer.end_of_rib = false;
    ++peer.sessions;
    say(Level::Info,
        "bgp.peer.up",
        address,
        fmt::format("as={} router_id={} hold={}s",
                    number(up.peer.as),
                    bgp::to_string(up.peer.id),
                    up.hold_seconds));
}

void EvpnSpeaker::handle(const IpAddress& address, Peer& peer, const bgp::Down& down) {
    if (!down.was_established) {
        fail(address, peer, down.text);
        return;
    }
    peer.up = false;
    peer.since = options_.now();
    peer.rib.end_session();
    peer.last_error = down.text;
    peer.last_error_at = options_.now();
    say(Level::Warn,
        "bgp.peer.down",
        address,
        fmt::format("reason={} routes={} text={}",
                    word(down.reason),
                    down.routes_kept ? peer.rib.size() : 0,
                    quoted(down.text)));
}

/// Attempts go on, so the same reason is said once.
void EvpnSpeaker::fail(const IpAddress& address, Peer& peer, const std::string& why) {
    peer.last_error_at = options_.now();
    if (std::exchange(peer.last_error, why) != why) {
        say(Level::Warn, "bgp.peer.failed", address, "text=" + quoted(why));
    }
}

void EvpnSpeaker::say(Level level,
                      std::string_view id,
                      const IpAddress& peer,
                      const std::string& words) {
    log_({.level = level, .id = id, .text = fmt::format("peer={} {}", peer.to_string(), words)});
}

// What there is to show ---------------------------------------------------------------------------

bgp::PeerView EvpnSpeaker::view_of(const IpAddress& address, const Peer& peer) const {
    bgp::PeerView view{.address = address,
                       .remote_as = bgp::AsNumber{peer.config.remote_as},
                       .description = peer.config.description,
                       .enabled = peer.config.enabled,
                       .passive = peer.config.passive,
                       .routes = peer.rib.size(),
                       .routes_max = peer.config.max_prefixes,
                       .sessions = peer.sessions,
                       .faults = peer.faults,
                       .last_error = peer.last_error,
                       .last_error_at = peer.last_error_at,
                       .open = peer.open,
                       .hold_seconds = peer.hold_seconds,
                       .end_of_rib = peer.end_of_rib};
    if (const bgp::Session* const session = transport_.session(address)) {
        view.state = session->state();
        view.since = peer.since;
        view.traffic = session->traffic();
    }
    return view;
}

std::vector<bgp::PeerView> EvpnSpeaker::peers() const {
    std::vector<bgp::PeerView> views;
    for (const auto& [address, peer] : peers_) {
        views.push_back(view_of(address, peer));
    }
    return views;
}

bool EvpnSpeaker::read_routes(bgp::RouteCursor& cursor,
                              std::size_t max,
                              std::vector<bgp::RouteRow>& rows) const {
    auto entry = cursor.peer ? peers_.lower_bound(*cursor.peer) : peers_.begin();
    for (; entry != peers_.end(); ++entry) {
        const auto& [address, peer] = *entry;
        const bgp::RibIn::Entries& routes = peer.rib.entries();
        const bool goes_on = cursor.peer == address && cursor.key;
        for (auto route = goes_on ? routes.upper_bound(*cursor.key) : routes.begin();
             route != routes.end();
             ++route) {
            if (max == 0) {
                return true;
            }
            --max;
            rows.push_back({.peer = address,
                            .route = route->second.route,
                            .path = route->second.path,
                            .since = route->second.since,
                            .stale = peer.rib.is_stale(route->second)});
            cursor = {.peer = address, .key = route->first};
        }
    }
    return false;
}

EvpnSpeaker::Counters EvpnSpeaker::counters() const {
    std::uint64_t up = 0;
    std::uint64_t routes = 0;
    std::uint64_t faults = 0;
    for (const auto& [address, peer] : peers_) {
        up += peer.up ? 1 : 0;
        routes += peer.rib.size();
        faults += peer.faults;
    }
    const io::BgpTransport::Counters& transport = transport_.counters();
    return {{"evpn_faults", faults},
            {"evpn_peers", peers_.size()},
            {"evpn_peers_up", up},
            {"evpn_routes", routes},
            {"evpn_strangers", transport.strangers},
            {"evpn_unwanted", transport.unwanted}};
}

}  // namespace planed
