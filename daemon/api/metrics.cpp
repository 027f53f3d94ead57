// SPDX-License-Identifier: Apache-2.0
#include "api/metrics.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include <fmt/core.h>

#include "telemetry/open_metrics.hpp"

namespace planed::api {
namespace {

constexpr double kPerMicrosecond = 1e-6;

double seconds(Duration duration) {
    return std::chrono::duration<double>(duration).count();
}

/// A counter of `planectl counters`. Who adds one there says here what it is.
struct Described {
    std::string_view counter{};
    MetricType type{};
    std::string_view help{};
};
constexpr auto kDescribed = std::to_array<Described>({
    {"api_tables", MetricType::Gauge, "Tables that clients of the API are reading."},
    {"api_watchers", MetricType::Gauge, "Clients of the API that watch."},
    {"audit_differences_addresses",
     MetricType::Counter,
     "Addresses of served interfaces whose change the kernel did not tell."},
    {"audit_differences_forwarding",
     MetricType::Counter,
     "Forwarding entries whose change the kernel did not tell."},
    {"audit_differences_links", MetricType::Counter, "Links whose change the kernel did not tell."},
    {"audit_differences_neighbors",
     MetricType::Counter,
     "Neighbours whose change the kernel did not tell."},
    {"audit_differences_proxies",
     MetricType::Counter,
     "Proxy entries that were not in the kernel as wanted."},
    {"audit_differences_routes", MetricType::Counter, "Routes that were not in zebra as wanted."},
    {"audit_differences_rows", MetricType::Counter, "Rows that were not in Redis as wanted."},
    {"audit_differences_settings",
     MetricType::Counter,
     "Kernel settings of interfaces that were not as planed had left them."},
    {"audit_reads",
     MetricType::Counter,
     "Tables that were read and compared, by the minute or on request."},
    {"audits", MetricType::Counter, "Audits that operators have asked for."},
    {"claims_refused",
     MetricType::Counter,
     "Frames that claim an address which is ours, static or frozen."},
    {"evpn_faults", MetricType::Counter, "Faults of peers' messages that their sessions survived."},
    {"evpn_hosts_synced",
     MetricType::Gauge,
     "Addresses behind our Ethernet segments that other leaves know."},
    {"evpn_peers", MetricType::Gauge, "Peers of evpn.peers."},
    {"evpn_peers_up", MetricType::Gauge, "Of those, peers whose session is established."},
    {"evpn_routes", MetricType::Gauge, "Routes that EVPN peers have told, stale ones included."},
    {"evpn_strangers", MetricType::Counter, "BGP connections from addresses that are no peer's."},
    {"evpn_unwanted", MetricType::Counter, "Connections of peers that came too many or too soon."},
    {"facts_refused", MetricType::Counter, "Facts that a full table had no room for."},
    {"frames_heard", MetricType::Counter, "ARP, NS and NA frames that named a host."},
    {"frames_ignored", MetricType::Counter, "Of those, frames whose host may not be one here."},
    {"hosts_damped", MetricType::Counter, "Times that a flapping host was held back, or longer."},
    {"hosts_delayed", MetricType::Counter, "New hosts that had to wait for routes.add_delay."},
    {"hosts_flapped", MetricType::Counter, "Withdrawals that count for routes.damping."},
    {"hosts_frozen", MetricType::Counter, "Times that an address was frozen to its first MAC."},
    {"hosts_kept_mute",
     MetricType::Counter,
     "Times that a host did not answer, but lived by other evidence."},
    {"hosts_over_limit", MetricType::Counter, "Hosts for which there was no room."},
    {"hosts_refreshed", MetricType::Counter, "Hosts asked because learning.refresh was over."},
    {"hosts_written", MetricType::Counter, "Neighbours written to the kernel for heard hosts."},
    {"neighbors",
     MetricType::Gauge,
     "Neighbours of the kernel, on interfaces that are not served too."},
    {"netlink_overruns", MetricType::Counter, "Times that the kernel dropped notifications."},
    {"netlink_resyncs", MetricType::Counter, "Tables that were read whole again for that reason."},
    {"plane_routes", MetricType::Gauge, "Hosts of other leaves of this plane."},
    {"plugin_calls",
     MetricType::Counter,
     "Times that plug-ins were asked of a host or told of a change."},
    {"plugin_changes_queued",
     MetricType::Gauge,
     "Hosts and routes that observers are to be told of."},
    {"plugin_denials", MetricType::Counter, "Times that a plug-in denied a host."},
    {"plugin_strikes",
     MetricType::Counter,
     "Calls of plug-ins that took too long or answered nonsense."},
    {"plugins_fenced", MetricType::Gauge, "Plug-ins that are not called any more."},
    {"probes", MetricType::Counter, "Times that the kernel was told to ask a host."},
    {"probes_queued", MetricType::Gauge, "Hosts that wait to be asked."},
    {"proxies", MetricType::Gauge, "Addresses that the kernel answers for, or is to."},
    {"proxies_queued", MetricType::Gauge, "Proxy entries that wait for the kernel."},
    {"redis_rows", MetricType::Gauge, "Rows of ours in STATE_DB, or to be there."},
    {"redis_rows_queued", MetricType::Gauge, "Rows that wait to be written."},
    {"redis_unanswered", MetricType::Gauge, "Commands that Redis has not answered yet."},
    {"routes_guarded", MetricType::Counter, "Routes that routes.max_withdraw has kept."},
    {"routes_in_flight", MetricType::Gauge, "Routes sent to zebra and not answered yet."},
    {"routes_kept", MetricType::Counter, "Routes that routes.withdraw_delay has kept."},
    {"routes_queued", MetricType::Gauge, "Routes that wait to be handed to zebra's session."},
    {"routes_returned", MetricType::Counter, "Of the kept and guarded, those whose host lives."},
    {"turn_longest_us",
     MetricType::Gauge,
     "The longest turn of the loop since planed was started."},
    {"turns", MetricType::Counter, "Turns of the loop."},
    {"zapi_queued", MetricType::Gauge, "Messages that wait to be written to zebra."},
});
constexpr std::string_view kMicroseconds = "_us";

class Renderer {
public:
    Renderer(const Snapshot& snapshot, const NodeWords& words, TimePoint now)
        : snapshot_(snapshot), health_(snapshot.health), words_(words), now_(now) {}

    std::string run(const Counters& counters) {
        node();
        degraded();
        milestones();
        hosts();
        routes();
        interfaces();
        connections();
        latencies();
        for (const auto& [name, value] : counters) {
            counter(name, value);
        }
        return std::move(metrics_).finish();
    }

private:
    void gauge(std::string_view name, std::string_view help, std::uint64_t value) {
        metrics_.family({.name = name, .help = help});
        metrics_.sample(value);
    }
    void flag(std::string_view name, std::string_view help, bool value) {
        gauge(name, help, value ? 1 : 0);
    }

    void node() {
        const std::string& name = snapshot_.node.name;
        metrics_.family({.name = "planed_node",
                         .type = MetricType::Info,
                         .help = "Which leaf this is, and which planed runs on it."});
        metrics_.info({{"node", name.empty() ? words_.host_name : name},
                       {"plane", snapshot_.node.plane},
                       {"version", words_.version}});
        flag("planed_ready",
             "Everything wanted has been in zebra once since planed was started.",
             snapshot_.node.ready);
    }

    // The text of a condition changes all the time: what it is about is the label, and the text is
    // for planectl status.
    void degraded() {
        gauge("planed_degraded_conditions",
              "How many things are wrong now; planectl status says which.",
              health_.degraded.size());
        metrics_.family({.name = "planed_degraded", .help = "1 for each thing that is wrong now."});
        for (const std::string& condition : health_.degraded) {
            const std::string_view what(condition);
            metrics_.sample({{"what", what.substr(0, what.find(": "))}}, 1);
        }
    }

    void milestones() {
        std::optional<TimePoint> start;
        for (const HealthView::Reached& milestone : health_.milestones) {
            start = start ? start : milestone.at;
        }
        metrics_.family({.name = "planed_uptime_seconds",
                         .unit = "seconds",
                         .help = "Since planed has its configuration."});
        if (start) {
            metrics_.sample_seconds({}, seconds(now_ - *start));
        }
        metrics_.family({.name = "planed_milestone_seconds",
                         .unit = "seconds",
                         .help = "From then to each step of the start that was reached."});
        for (const HealthView::Reached& milestone : health_.milestones) {
            if (milestone.at) {
                metrics_.sample_seconds({{"milestone", milestone.name}},
                                        seconds(*milestone.at - *start));
            }
        }
    }

    void hosts() {
        gauge("planed_hosts", "Neighbours on served interfaces.", snapshot_.hosts_total);
        gauge("planed_hosts_eligible",
              "Of those, hosts that may have a route.",
              snapshot_.hosts_eligible);
        metrics_.family({.name = "planed_oldest_proof_seconds",
                         .unit = "seconds",
                         .help = "Age of the last sign of life of the eligible host that has been "
                                 "silent for longest."});
        if (snapshot_.oldest_proof) {
            metrics_.sample_seconds({}, seconds(now_ - *snapshot_.oldest_proof));
        }
    }

    void routes() {
        const std::uint64_t settled = snapshot_.routes_installed + snapshot_.routes_rejected;
        metrics_.family(
            {.name = "planed_routes",
             .help = "Host routes by state: pending, not confirmed by zebra yet; installed; "
                     "rejected, zebra prefers another; withdrawing."});
        metrics_.sample({{"state", "pending"}}, snapshot_.routes_desired - settled);
        metrics_.sample({{"state", "installed"}}, snapshot_.routes_installed);
        metrics_.sample({{"state", "rejected"}}, snapshot_.routes_rejected);
        metrics_.sample({{"state", "withdrawing"}}, snapshot_.routes_withdrawing);
    }

    template <class Value>
    void per_interface(std::string_view name, std::string_view help, Value value) {
        metrics_.family({.name = name, .help = help});
        for (const InterfaceCount& interface : snapshot_.interfaces) {
            metrics_.sample(
                {{"interface", interface.interface.name}, {"vrf", interface.interface.vrf}},
                value(interface));
        }
    }
    void interfaces() {
        per_interface("planed_interface_hosts",
                      "Neighbours on this served interface, eligible or not.",
                      [](const InterfaceCount& i) { return i.hosts; });
        per_interface("planed_interface_max_hosts",
                      "max_hosts of this served interface.",
                      [](const InterfaceCount& i) { return i.interface.max_hosts; });
        per_interface("planed_interface_up",
                      "Whether this served interface is up, with carrier.",
                      [](const InterfaceCount& i) { return i.interface.carrier ? 1U : 0U; });
    }

    void connections() {
        flag("planed_zebra_connected", "The session with zebra takes routes.", health_.zebra_up);
        metrics_.family({.name = "planed_zebra",
                         .type = MetricType::Info,
                         .help = "The releases of FRR that zebra speaks like; while connected."});
        if (health_.zebra_up) {
            metrics_.info({{"release", words_.zebra_release}});
        }
        flag("planed_redis_wanted", "redis.endpoint is not off.", health_.redis_wanted);
        flag("planed_redis_connected",
             "The mirror in STATE_DB is in working order.",
             health_.redis_wanted && health_.redis_well);
    }

    void latency(std::string_view name, std::string_view help, const Histogram& histogram) {
        std::array<double, Histogram::kBounds.size()> bounds{};
        std::transform(
            Histogram::kBounds.begin(), Histogram::kBounds.end(), bounds.begin(), seconds);
        metrics_.family(
            {.name = name, .type = MetricType::Histogram, .unit = "seconds", .help = help});
        metrics_.histogram(bounds, histogram.counts(), seconds(histogram.sum()));
    }
    void latencies() {
        latency("planed_learn_to_installed_seconds",
                "From when a host may be announced to zebra's word that its route is installed. "
                "Hosts that were there when planed started do not count.",
                health_.learn_to_installed);
        latency("planed_port_down_to_withdrawn_seconds",
                "From when planed sees that a port is down to zebra's word that a route behind it "
                "is gone, routes.withdraw_delay included.",
                health_.port_down_to_withdrawn);
    }

    void counter(std::string_view name, std::uint64_t value) {
        const auto found = std::find_if(
            kDescribed.begin(), kDescribed.end(), [&](const auto& d) { return d.counter == name; });
        const bool known = found != kDescribed.end();
        const MetricType type = known ? found->type : MetricType::Unknown;
        const std::string_view help = known ? found->help : "";
        if (name.ends_with(kMicroseconds)) {
            name.remove_suffix(kMicroseconds.size());
            metrics_.family({.name = fmt::format("planed_{}_seconds", name),
                             .type = type,
                             .unit = "seconds",
                             .help = help});
            metrics_.sample_seconds({}, static_cast<double>(value) * kPerMicrosecond);
        } else {
            metrics_.family({.name = fmt::format("planed_{}", name), .type = type, .help = help});
            metrics_.sample(value);
        }
    }

    const Snapshot& snapshot_;
    const HealthView& health_;
    const NodeWords& words_;
    TimePoint now_;
    OpenMetrics metrics_;
};

}  // namespace

std::vector<std::string_view> described_counters() {
    std::vector<std::string_view> names;
    for (const Described& described : kDescribed) {
        names.push_back(described.counter);
    }
    return names;
}

std::string to_open_metrics(const Snapshot& snapshot,
                            const NodeWords& words,
                            const Counters& counters,
                            TimePoint now) {
    return Renderer(snapshot, words, now).run(counters);
}

}  // namespace planed::api
