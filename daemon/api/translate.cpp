// SPDX-License-Identifier: Apache-2.0
#include "api/translate.hpp"

#include <variant>

#include "api/translate_evpn.hpp"

namespace planed::api {
namespace {

bool fits(const std::string& wanted, const std::string& actual) {
    return wanted.empty() || wanted == actual;
}

struct KindOf {
    std::string_view operator()(const HostView& /*host*/) const { return "host"; }
    std::string_view operator()(const RouteView& /*route*/) const { return "route"; }
    std::string_view operator()(const InterfaceView& /*interface*/) const { return "port"; }
    std::string_view operator()(const evpn::SegmentView& /*segment*/) const { return "segment"; }
};

// Of what is gone only the names.
struct FillObject {
    v1::WatchEvent& message;
    const WatchItem& item;
    WallOffset wall;

    void operator()(const HostView& host) const {
        if (!item.gone) {
            fill(*message.mutable_host(), host, wall);
            return;
        }
        message.mutable_host()->set_vrf(host.vrf);
        message.mutable_host()->set_interface(host.interface);
        message.mutable_host()->set_address(host.key.address.to_string());
    }
    void operator()(const RouteView& route) const {
        if (!item.gone) {
            fill(*message.mutable_route(), route, wall);
            return;
        }
        message.mutable_route()->set_vrf(route.vrf);
        message.mutable_route()->set_prefix(route.key.prefix.to_string());
    }
    void operator()(const InterfaceView& interface) const {
        if (!item.gone) {
            fill(*message.mutable_port(), interface);
            return;
        }
        message.mutable_port()->set_name(interface.name);
        message.mutable_port()->set_ifindex(number(interface.link));
    }
    void operator()(const evpn::SegmentView& segment) const {
        if (!item.gone) {
            fill(*message.mutable_segment(), segment);
            return;
        }
        message.mutable_segment()->set_esi(segment.esi.to_string());
        message.mutable_segment()->set_port(segment.port);
    }
};

void fill_plugin(v1::Plugin& message, const plugin::View& plugin) {
    message.set_name(plugin.name);
    message.set_version(plugin.version);
    message.set_path(plugin.path);
    message.set_judges(plugin.judges);
    message.set_observes(plugin.observes);
    message.set_state(plugin.fenced.empty() ? "running" : "fenced");
    message.set_reason(plugin.fenced);
    message.set_calls(plugin.totals.calls);
    message.set_denials(plugin.totals.denials);
    message.set_strikes(plugin.totals.strikes);
}

}  // namespace

void set_time(google::protobuf::Timestamp& message, TimePoint at, WallOffset wall) {
    using std::chrono::duration_cast;
    using std::chrono::microseconds;
    constexpr std::int64_t kPerSecond = 1'000'000;
    const std::int64_t total = (duration_cast<microseconds>(at.time_since_epoch()) + wall).count();
    message.set_seconds(total / kPerSecond);
    message.set_nanos(static_cast<std::int32_t>(total % kPerSecond) * 1000);
}

void fill(v1::StatusResponse& message,
          const Snapshot& snapshot,
          const NodeWords& words,
          WallOffset wall) {
    const HealthView& health = snapshot.health;
    message.set_name(snapshot.node.name.empty() ? words.host_name : snapshot.node.name);
    message.set_plane(snapshot.node.plane);
    message.set_version(words.version);
    message.set_ready(snapshot.node.ready);
    for (const std::string& what : health.degraded) {
        message.add_degraded(what);
    }
    message.set_drained(!health.drains.empty());
    for (const std::string& what : health.drains) {
        message.add_drains(what);
    }
    for (const HealthView::Reached& reached : health.milestones) {
        v1::Milestone& milestone = *message.add_milestones();
        milestone.set_name(std::string(reached.name));
        if (reached.at) {
            set_time(*milestone.mutable_at(), *reached.at, wall);
        }
    }
    v1::Frr& frr = *message.mutable_frr();
    frr.set_connected(health.zebra_up);
    frr.set_release(health.zebra_up ? words.zebra_release : std::string());
    frr.set_routes_desired(snapshot.routes_desired);
    frr.set_routes_installed(snapshot.routes_installed);
    frr.set_routes_rejected(snapshot.routes_rejected);
    message.mutable_redis()->set_connected(health.redis_wanted && health.redis_well);
    message.mutable_netlink()->set_overruns(health.overruns);
    message.mutable_netlink()->set_resyncs(health.resyncs);
    message.mutable_hosts()->set_total(snapshot.hosts_total);
    message.mutable_hosts()->set_eligible(snapshot.hosts_eligible);
    for (const plugin::View& plugin : words.plugins) {
        fill_plugin(*message.add_plugins(), plugin);
    }
}

void fill(v1::InterfacesResponse& message, const Snapshot& snapshot) {
    for (const InterfaceCount& row : snapshot.interfaces) {
        v1::Interface& interface = *message.add_interfaces();
        fill(interface, row.interface);
        interface.set_hosts(row.hosts);
    }
}

void fill(v1::Interface& message, const InterfaceView& interface) {
    message.set_name(interface.name);
    message.set_ifindex(number(interface.link));
    message.set_vrf(interface.vrf);
    message.set_carrier(interface.carrier);
    message.set_proxy_arp(std::string(word(interface.proxy_arp)));
    message.set_proxy_nd(interface.proxy_nd);
    message.set_max_hosts(interface.max_hosts);
    for (const IpPrefix& prefix : interface.prefixes) {
        message.add_prefixes(prefix.network().to_string());
    }
}

void fill(v1::Host& message, const HostView& host, WallOffset wall) {
    message.set_vrf(host.vrf);
    message.set_interface(host.interface);
    message.set_address(host.key.address.to_string());
    if (!host.mac.is_zero()) {
        message.set_mac(host.mac.to_string());
    }
    message.set_port(host.port);
    message.set_state(std::string(word(host.state)));
    message.set_origin(std::string(word(host.origin)));
    message.set_eligible(host.reason == Reason::Eligible);
    message.set_reason(std::string(word(host.reason)));
    message.set_denied(host.denied);
    set_time(*message.mutable_since(), host.since, wall);
    message.set_answers(std::string(word(host.answers)));
    const auto set = [&](const std::optional<TimePoint>& at, auto mutable_field) {
        if (at) {
            set_time(*(message.*mutable_field)(), *at, wall);
        }
    };
    set(host.last_seen, &v1::Host::mutable_last_seen);
    set(host.last_answer, &v1::Host::mutable_last_answer);
    set(host.last_heard, &v1::Host::mutable_last_heard);
    set(host.last_data, &v1::Host::mutable_last_data);
}

void fill(v1::Route& message, const RouteView& route, WallOffset wall) {
    message.set_vrf(route.vrf);
    message.set_prefix(route.key.prefix.to_string());
    message.set_interface(route.interface);
    message.set_origin(std::string(word(route.origin)));
    message.set_state(std::string(word(route.state)));
    message.set_reason(std::string(route.reason));
    if (route.since) {
        set_time(*message.mutable_since(), *route.since, wall);
    }
}

void fill(v1::Proxy& message, const ProxyView& proxy) {
    message.set_interface(proxy.interface);
    message.set_address(proxy.key.address.to_string());
    message.set_state(std::string(word(proxy.state)));
}

void fill(v1::ExplainResponse& message,
          const IpAddress& address,
          const Explanation& explanation,
          WallOffset wall) {
    message.set_address(address.to_string());
    message.set_verdict(std::string(explanation.verdict));
    message.set_reason(std::string(explanation.reason));
    for (const Cause& cause : explanation.chain) {
        v1::Cause& step = *message.add_chain();
        if (cause.at) {
            set_time(*step.mutable_at(), *cause.at, wall);
        }
        step.set_stage(std::string(cause.stage));
        step.set_text(cause.text);
    }
}

std::string_view kind_of(const WatchItem& item) {
    return std::visit(KindOf{}, item.object);
}

void fill(v1::Difference& message, const Difference& difference) {
    const std::string_view kind = difference.whole_table ? "table" : entry_word(difference.table);
    message.set_where(std::string(place_of(difference.table)));
    message.set_kind(std::string(kind));
    message.set_vrf(difference.vrf);
    message.set_interface(difference.interface);
    message.set_object(difference.object);
    message.set_wanted(difference.wanted);
    message.set_found(difference.found);
    message.set_action(std::string(difference.action));
}

void fill(v1::AuditResponse& message, const AuditReport& report, WallOffset wall) {
    for (const AuditedTable& read : report.tables) {
        v1::AuditedTable& table = *message.add_tables();
        table.set_where(std::string(place_of(read.table)));
        table.set_table(std::string(word(read.table)));
        table.set_wanted(read.wanted);
        table.set_entries(read.entries);
        if (read.began) {
            set_time(*table.mutable_began(), *read.began, wall);
        }
        table.set_trouble(read.trouble);
    }
    message.set_left_out(report.left_out);
}

void fill(v1::WatchEvent& message, const WatchItem& item, WallOffset wall) {
    set_time(*message.mutable_at(), item.at, wall);
    message.set_kind(std::string(kind_of(item)));
    message.set_gone(item.gone);
    std::visit(FillObject{.message = message, .item = item, .wall = wall}, item.object);
}

bool matches(const v1::HostsRequest& request, const HostView& host) {
    return fits(request.interface(), host.interface) && fits(request.port(), host.port) &&
           fits(request.vrf(), host.vrf);
}

bool matches(const v1::RoutesRequest& request, const RouteView& route) {
    return fits(request.vrf(), route.vrf);
}

bool matches(const v1::ProxiesRequest& request, const ProxyView& proxy) {
    return fits(request.interface(), proxy.interface);
}

}  // namespace planed::api
