// SPDX-License-Identifier: Apache-2.0
// What the engine shows to readers (the mirror in Redis, the API): one object at a time, as a value
// with its names resolved, and which objects have changed. A view decides nothing and keeps
// nothing; what it hands out is true for the turn in which it was asked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "core/eligibility.hpp"
#include "core/facts.hpp"
#include "core/histogram.hpp"
#include "core/reconciler.hpp"
#include "core/route.hpp"
#include "net/time.hpp"

namespace planed {

class Engine;
struct NeighborRecord;
struct ServedInterface;

/// How we know of a host.
enum class HostOrigin : std::uint8_t { Kernel, Snooped, Static, Evpn, Remembered };

/// What a host does on this leaf. One bond may answer all that it is asked by its port to the other
/// leaf: comparing both leaves shows whether a NIC answers on both.
enum class Answers : std::uint8_t {
    None,  // No sign of life since planed runs.
    Data,  // Sends, or speaks ARP or ND by itself, but did not answer when last asked.
    Both,  // Answers too.
};

std::string_view word(HostOrigin origin);
std::string_view word(Answers answers);
std::string_view word(SinkState state);  // "installed"; "absent" is never shown.
std::string_view word(ProxyArp mode);

/// What has changed since it was last taken. An object may be named more than once, and may be gone
/// by now or be as it was.
struct Changes {
    std::vector<NeighborKey> hosts{};
    std::vector<RouteKey> routes{};
    std::vector<NeighborKey> proxies{};
    std::vector<IfIndex> interfaces{};
    bool renamed = false;  // An interface has another name: any object may be called otherwise.
    bool operator==(const Changes&) const = default;
};

/// A neighbour on a served interface.
struct HostView {
    NeighborKey key{};
    std::string vrf{};  // "default", or the VRF device's name.
    std::string interface {};
    MacAddress mac{};    // Zero: unknown.
    std::string port{};  // Where the MAC lives; the interface itself if it is none of a bridge;
                         // empty: unknown.
    Nud state{};
    HostOrigin origin{};
    Reason reason{};
    TimePoint since{};     // Of the reason.
    std::string denied{};  // The plug-in that denies it, and why; empty: none does.
    Answers answers{};
    // Signs of life; absent: none of the kind since planed runs. `last_seen`: of any kind.
    std::optional<TimePoint> last_seen{};
    std::optional<TimePoint> last_answer{};  // To the kernel's request.
    std::optional<TimePoint> last_heard{};   // ARP or ND that it sent by itself.
    std::optional<TimePoint> last_data{};    // Any frame; asked of the bridge only in doubt.
    bool operator==(const HostView&) const = default;
};

struct RouteView {
    RouteKey key{};
    std::string vrf{};
    std::string interface {};  // Empty: not known any more.
    HostOrigin origin{};
    SinkState state{};
    std::string_view reason{};         // A word: why it is in this state.
    std::optional<TimePoint> since{};  // Of the state, as far as it is known.
    bool operator==(const RouteView&) const = default;
};

/// An address for which the kernel answers neighbour solicitations, or is to.
struct ProxyView {
    NeighborKey key{};
    std::string interface {};
    SinkState state{};
    bool operator==(const ProxyView&) const = default;
};

struct InterfaceView {
    IfIndex link{};
    std::string name{};
    std::string vrf{};
    bool carrier = false;
    ProxyArp proxy_arp{};
    bool proxy_nd = false;
    std::uint32_t max_hosts = 0;
    std::vector<IpPrefix> prefixes{};  // Where hosts may live.
    bool operator==(const InterfaceView&) const = default;
};

struct NodeView {
    std::string name{};  // As configured; empty: the host name.
    std::string plane{};
    bool ready = false;
    bool operator==(const NodeView&) const = default;
};

/// The node as a whole, without what would need a walk through the tables.
struct HealthView {
    struct Reached {
        std::string_view name{};
        std::optional<TimePoint> at{};
        bool operator==(const Reached&) const = default;
    };
    std::vector<std::string> drains{};    // What operators hold back: "leaf", "port swp3".
    std::vector<std::string> degraded{};  // "zebra: nobody listens on /run/frr/zserv.api".
    std::vector<Reached> milestones{};    // In order.
    bool zebra_up = false;
    bool redis_wanted = false;
    bool redis_well = false;
    std::uint64_t neighbors = 0;  // All of the kernel's, on interfaces that are not served too.
    std::uint64_t overruns = 0;
    std::uint64_t resyncs = 0;
    std::uint64_t refused = 0;  // Facts that a full table had no room for.
    std::uint64_t routes_queued = 0;
    std::uint64_t routes_in_flight = 0;  // Sent to zebra, and not answered yet.
    std::uint64_t probes_queued = 0;     // Hosts that wait to be asked.
    // What stood between verdicts and routes, since the start.
    std::uint64_t hosts_delayed = 0;    // New ones that had to wait.
    std::uint64_t hosts_flapped = 0;    // Withdrawals that count for damping.
    std::uint64_t hosts_damped = 0;     // Times that one was held back, or for longer.
    std::uint64_t routes_kept = 0;      // After a loss, by routes.withdraw_delay.
    std::uint64_t routes_guarded = 0;   // After a loss, by routes.max_withdraw.
    std::uint64_t routes_returned = 0;  // Kept or guarded ones whose host lives.
    std::uint64_t plane_routes = 0;     // Hosts of other leaves.
    std::uint64_t proxies = 0;          // Wanted, or possibly in the kernel.
    std::uint64_t proxies_queued = 0;
    // See core/route_times.hpp.
    Histogram learn_to_installed{};
    Histogram port_down_to_withdrawn{};
    bool operator==(const HealthView&) const = default;
};

/// One step between what was seen and what zebra holds.
struct Cause {
    std::optional<TimePoint> at{};  // Nullopt: not known, or true of no moment.
    std::string_view stage{};
    std::string text{};  // A sentence.
    bool operator==(const Cause&) const = default;
};

/// Why an address is, or is not, a route.
struct Explanation {
    std::string_view verdict{};  // The state of its route; "none": it has none.
    std::string_view reason{};   // A word: "eligible", or the first condition that fails.
    std::vector<Cause> chain{};  // From the cause to the effect.
    bool operator==(const Explanation&) const = default;
};

/// Reads an engine. Borrowed: for the duration of a call, on the engine's thread.
class EngineView {
public:
    explicit EngineView(const Engine& engine) : engine_(engine) {}

    /// The facts are whole and all of them have been judged: absence means something.
    [[nodiscard]] bool is_whole() const;

    /// Nullopt: no such neighbour, or none on a served interface, or not judged yet, or no unicast
    /// address (the kernel keeps entries for its own multicast groups).
    [[nodiscard]] std::optional<HostView> host(const NeighborKey& key) const;
    [[nodiscard]] std::optional<RouteView> route(const RouteKey& key) const;
    [[nodiscard]] std::optional<ProxyView> proxy(const NeighborKey& key) const;
    [[nodiscard]] std::optional<InterfaceView> interface(IfIndex link) const;
    [[nodiscard]] NodeView node() const;
    [[nodiscard]] HealthView health() const;
    [[nodiscard]] Explanation explain(const IpAddress& address) const;  // engine_explain.cpp

    /// Names also of what there is no view of any more; empty: not known.
    [[nodiscard]] std::string name_of(IfIndex link) const { return link_name(link); }
    [[nodiscard]] std::string name_of(VrfId vrf) const { return vrf_name(vrf); }
    [[nodiscard]] std::string vrf_of(IfIndex link) const;

    /// Everything that there may be a view of. These walk the tables.
    [[nodiscard]] std::vector<NeighborKey> all_hosts() const;
    [[nodiscard]] std::vector<RouteKey> all_routes() const;
    [[nodiscard]] std::vector<NeighborKey> all_proxies() const;
    [[nodiscard]] std::vector<IfIndex> all_interfaces() const;
    /// The same in pieces of at most `count`, behind `after`; fewer than that: these were the last.
    /// There may be no view of some of them.
    [[nodiscard]] std::vector<NeighborKey> hosts_after(const std::optional<NeighborKey>& after,
                                                       std::size_t count) const;
    [[nodiscard]] std::vector<RouteKey> routes_after(const std::optional<RouteKey>& after,
                                                     std::size_t count) const;
    [[nodiscard]] std::vector<NeighborKey> proxies_after(const std::optional<NeighborKey>& after,
                                                         std::size_t count) const;

private:
    [[nodiscard]] Explanation explain_neighbor(const NeighborRecord& record) const;
    [[nodiscard]] Explanation explain_unseen(const IpAddress& address,
                                             const ServedInterface& served,
                                             const IpPrefix& prefix) const;
    void explain_hold(const RouteKey& key, Explanation& explanation) const;
    void explain_route(const RouteKey& key,
                       std::optional<TimePoint> wished,
                       Explanation& explanation) const;
    [[nodiscard]] std::string uncovered_text() const;
    [[nodiscard]] std::string_view reason_of_route(SinkState state, const RouteKey& key) const;
    [[nodiscard]] std::string vrf_name(VrfId vrf) const;
    [[nodiscard]] std::string link_name(IfIndex link) const;

    const Engine& engine_;
};

}  // namespace planed
