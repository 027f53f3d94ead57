// SPDX-License-Identifier: Apache-2.0
#include "core/snapshot.hpp"

#include "core/engine.hpp"
#include "core/planner.hpp"

namespace planed {
namespace {

/// Of a route, in zebra's hands or on the way there.
std::string_view reason_of(SinkState state, const Engine& engine, const RouteKey& key) {
    const bool wished = state == SinkState::Held || state == SinkState::Pending;
    const auto hold = wished ? engine.hold_of(key) : std::nullopt;
    if (hold && !hold->route.empty()) {
        return hold->route;
    }
    switch (state) {
        case SinkState::Held: return word(Reason::Eligible);
        case SinkState::Pending: return "waits_for_zebra";
        case SinkState::Rejected: return "zebra_prefers_another";
        case SinkState::Absent:
        case SinkState::Withdrawing: break;
    }
    std::string_view reason = "host_gone";
    engine.neighbors().for_each_place(key.prefix.address(), [&](const NeighborRecord& record) {
        const ServedInterface* served = engine.served().find(record.key.link);
        const bool here = served != nullptr && served->vrf == key.vrf;
        if (here && record.reason != Reason::Eligible && reason == "host_gone") {
            reason = word(record.reason);
        }
    });
    return reason;
}

/// Of a host; one that is alive and not announced for now says why.
Reason reason_of(const NeighborRecord& record,
                 const ServedInterface& served,
                 const Engine& engine) {
    if (record.reason != Reason::Eligible) {
        return record.reason;
    }
    const auto hold = engine.hold_of(route_key(served.vrf, record.key.address));
    return hold ? hold->host : Reason::Eligible;
}

/// The sink tells when it answered; what waits for it began to when it was sent.
std::optional<TimePoint> since_of(SinkState state, const RouteSink::Routes::History& history) {
    switch (state) {
        case SinkState::Held:
        case SinkState::Rejected: return history.answered;
        case SinkState::Pending:
        case SinkState::Withdrawing: return history.in_flight ? history.sent : std::nullopt;
        case SinkState::Absent: break;
    }
    return std::nullopt;
}

HostOrigin origin_of(const NeighborRecord& record, const Engine& engine) {
    if (engine.is_static(record.key)) {
        return HostOrigin::Static;
    }
    if (is_synced(record.neighbor)) {
        return HostOrigin::Evpn;
    }
    return record.snooped ? HostOrigin::Snooped : HostOrigin::Kernel;
}

/// Of the host that its route is for; the last known one of the address if that is gone.
HostOrigin origin_of(const RouteKey& key, const Engine& engine) {
    HostOrigin origin = HostOrigin::Kernel;
    bool claimed = false;
    engine.neighbors().for_each_place(key.prefix.address(), [&](const NeighborRecord& record) {
        const ServedInterface* served = engine.served().find(record.key.link);
        if (served != nullptr && served->vrf == key.vrf && !claimed) {
            origin = origin_of(record, engine);
            claimed = record.claim == key.vrf;
        }
    });
    return origin;
}

std::optional<TimePoint> known(TimePoint at) {
    return at == TimePoint{} ? std::nullopt : std::optional(at);
}

Answers answers_of(const NeighborRecord& record) {
    if (record.mute) {
        return Answers::Data;
    }
    const bool spoke = record.answered != TimePoint{} || record.heard != TimePoint{};
    return spoke ? Answers::Both : Answers::None;
}

}  // namespace

std::string_view word(HostOrigin origin) {
    switch (origin) {
        case HostOrigin::Kernel: return "kernel";
        case HostOrigin::Snooped: return "snooped";
        case HostOrigin::Static: return "static";
        case HostOrigin::Evpn: return "evpn";
        case HostOrigin::Remembered: return "remembered";
    }
    return "unknown";
}

std::string_view word(SinkState state) {
    switch (state) {
        case SinkState::Absent: return "absent";
        case SinkState::Pending: return "pending";
        case SinkState::Held: return "installed";
        case SinkState::Rejected: return "rejected";
        case SinkState::Withdrawing: return "withdrawing";
    }
    return "unknown";
}

std::string_view word(Answers answers) {
    switch (answers) {
        case Answers::None: return "none";
        case Answers::Data: return "data";
        case Answers::Both: return "both";
    }
    return "unknown";
}

std::string_view word(ProxyArp mode) {
    switch (mode) {
        case ProxyArp::Off: return "off";
        case ProxyArp::Routed: return "routed";
        case ProxyArp::Pvlan: return "pvlan";
    }
    return "unknown";
}

bool EngineView::is_whole() const {
    return engine_.has_planned();
}

std::optional<HostView> EngineView::host(const NeighborKey& key) const {
    const NeighborRecord* record = engine_.neighbors().find(key);
    const ServedInterface* served = engine_.served().find(key.link);
    if (record == nullptr || served == nullptr || record->judged == TimePoint{} ||
        record->reason == Reason::NotUnicast) {
        return std::nullopt;
    }
    const PortFacts port = engine_.port_of(key);
    const std::string* denied = engine_.denied(key);
    return HostView{
        .key = key,
        .vrf = vrf_name(served->vrf),
        .interface = served->name,
        .mac = record->neighbor.mac,
        .port = link_name(port.port),
        .state = record->neighbor.state,
        .origin = origin_of(*record, engine_),
        .reason = reason_of(*record, *served, engine_),
        .since = record->judged,
        .denied = denied == nullptr ? std::string() : *denied,
        .answers = answers_of(*record),
        .last_seen = known(record->proven()),
        .last_answer = known(record->answered),
        .last_heard = known(record->heard),
        .last_data = known(record->sent),
    };
}

std::optional<RouteView> EngineView::route(const RouteKey& key) const {
    const RouteSink::Routes& routes = engine_.routes();
    const SinkState state = routes.state(key);
    if (state == SinkState::Absent) {
        return std::nullopt;
    }
    return RouteView{
        .key = key,
        .vrf = vrf_name(key.vrf),
        .interface = link_name(routes.shown(key).out),
        .origin = origin_of(key, engine_),
        .state = state,
        .reason = reason_of(state, engine_, key),
        .since = since_of(state, routes.history(key)),
    };
}

std::optional<ProxyView> EngineView::proxy(const NeighborKey& key) const {
    const SinkState state = engine_.proxies().entries().state(key);
    if (state == SinkState::Absent) {
        return std::nullopt;
    }
    return ProxyView{.key = key, .interface = link_name(key.link), .state = state};
}

std::optional<InterfaceView> EngineView::interface(IfIndex link) const {
    const ServedInterface* served = engine_.served().find(link);
    if (served == nullptr) {
        return std::nullopt;
    }
    return InterfaceView{
        .link = link,
        .name = served->name,
        .vrf = vrf_name(served->vrf),
        .carrier = served->up,
        .proxy_arp = served->config.proxy_arp,
        .proxy_nd = served->config.proxy_nd,
        .max_hosts = served->config.max_hosts,
        .prefixes = served->allowed(),
    };
}

NodeView EngineView::node() const {
    return {.name = engine_.config().node.name,
            .plane = engine_.config().node.plane,
            .ready = engine_.milestones().at(Milestone::Ready).has_value()};
}

HealthView EngineView::health() const {
    const Engine::Totals counters = engine_.counters();
    HealthView health{
        .drains = engine_.drains().describe(),
        .zebra_up = engine_.zebra_is_up(),
        .redis_wanted = engine_.config().redis.endpoint != "off",
        .redis_well = !engine_.degraded().contains("redis"),
        .neighbors = counters.neighbors,
        .overruns = counters.overruns,
        .resyncs = counters.resyncs,
        .refused = counters.refused,
        .routes_queued = engine_.routes().queued(),
        .routes_in_flight = engine_.routes().puts_in_flight(),
        .probes_queued = engine_.probes_queued(),
        .hosts_delayed = engine_.delays().counters().delayed,
        .hosts_flapped = engine_.damping().counters().flaps,
        .hosts_damped = engine_.damping().counters().held,
        .routes_kept = engine_.delays().counters().kept,
        .routes_guarded = engine_.shield().counters().guarded,
        .routes_returned = engine_.delays().counters().returned + engine_.shield().counters().saved,
        .plane_routes = engine_.plane().size(),
        .proxies = engine_.proxies().entries().size(),
        .proxies_queued = engine_.proxies().entries().queued(),
        .learn_to_installed = engine_.times().learn_to_installed(),
        .port_down_to_withdrawn = engine_.times().port_down_to_withdrawn()};
    for (const auto& [what, why] : engine_.degraded()) {
        health.degraded.push_back(what + ": " + why);
    }
    for (std::size_t i = 0; i < kMilestones; ++i) {
        const auto milestone = static_cast<Milestone>(i);
        health.milestones.push_back(
            {.name = word(milestone), .at = engine_.milestones().at(milestone)});
    }
    return health;
}

std::vector<NeighborKey> EngineView::hosts_after(const std::optional<NeighborKey>& after,
                                                 std::size_t count) const {
    return engine_.neighbors().keys_after(after, count);
}

std::vector<RouteKey> EngineView::routes_after(const std::optional<RouteKey>& after,
                                               std::size_t count) const {
    return engine_.routes().keys_after(after, count);
}

std::vector<NeighborKey> EngineView::proxies_after(const std::optional<NeighborKey>& after,
                                                   std::size_t count) const {
    return engine_.proxies().entries().keys_after(after, count);
}

std::vector<NeighborKey> EngineView::all_proxies() const {
    std::vector<NeighborKey> keys;
    keys.reserve(engine_.proxies().entries().size());
    engine_.proxies().entries().for_each(
        [&](const NeighborKey& key, const auto&, SinkState) { keys.push_back(key); });
    return keys;
}

std::vector<NeighborKey> EngineView::all_hosts() const {
    std::vector<NeighborKey> keys;
    keys.reserve(engine_.neighbors().size());
    engine_.neighbors().for_each([&](const NeighborKey& key, const NeighborRecord&) {
        if (engine_.served().find(key.link) != nullptr) {
            keys.push_back(key);
        }
    });
    return keys;
}

std::vector<RouteKey> EngineView::all_routes() const {
    std::vector<RouteKey> keys;
    keys.reserve(engine_.routes().size());
    engine_.routes().for_each(
        [&](const RouteKey& key, const auto&, SinkState) { keys.push_back(key); });
    return keys;
}

std::vector<IfIndex> EngineView::all_interfaces() const {
    std::vector<IfIndex> links;
    for (const auto& [link, served] : engine_.served().all()) {
        links.push_back(link);
    }
    return links;
}

std::string EngineView::vrf_of(IfIndex link) const {
    const ServedInterface* served = engine_.served().find(link);
    return served == nullptr ? std::string() : vrf_name(served->vrf);
}

std::string_view EngineView::reason_of_route(SinkState state, const RouteKey& key) const {
    return reason_of(state, engine_, key);
}

std::string EngineView::vrf_name(VrfId vrf) const {
    return vrf == VrfId::Default ? "default" : link_name(IfIndex{number(vrf)});
}

std::string EngineView::link_name(IfIndex link) const {
    return link == IfIndex::None ? std::string() : std::string(engine_.links().name_of(link));
}

}  // namespace planed
