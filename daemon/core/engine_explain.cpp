// SPDX-License-Identifier: Apache-2.0
// Why an address is, or is not, a route, as a chain of causes: what the kernel knows, where the MAC
// lives, what was judged, what was wished, sent and answered. For an address that nobody has, the
// first condition that fails.
#include <fmt/core.h>

#include "core/engine.hpp"
#include "core/planner.hpp"
#include "core/snapshot.hpp"

namespace planed {
namespace {

using History = RouteSink::Routes::History;

constexpr std::string_view kNoRoute = "none";

std::string_view verdict_of(SinkState state) {
    return state == SinkState::Absent ? kNoRoute : word(state);
}

const IpPrefix* prefix_with(const ServedInterface& served, const IpAddress& address) {
    for (const IpPrefix& prefix : served.allowed()) {
        if (prefix.contains(address)) {
            return &prefix;
        }
    }
    return nullptr;
}

std::string port_text(const PortFacts& port, const MacAddress& mac, std::string_view name) {
    switch (port.state) {
        case PortFacts::State::NotBridged:
            return fmt::format("{} is reached through {} itself", mac.to_string(), name);
        case PortFacts::State::Unknown:
            return fmt::format("no forwarding entry was ever seen for {}", mac.to_string());
        case PortFacts::State::Up:
            return fmt::format("{} is behind {}, which has carrier", mac.to_string(), name);
        case PortFacts::State::Down:
            return fmt::format("{} is behind {}, which has no carrier", mac.to_string(), name);
        case PortFacts::State::Left:
            return fmt::format(
                "{} was behind {}, which has left the bridge", mac.to_string(), name);
        case PortFacts::State::Unconfirmed:
            return fmt::format("{} was behind {}, and has not been heard since that came back",
                               mac.to_string(),
                               name);
    }
    return {};
}

std::string neighbor_text(const NeighborRecord& record, std::string_view interface) {
    const Neighbor& neighbor = record.neighbor;
    const std::string mac =
        neighbor.mac.is_zero() ? std::string("no MAC") : "MAC " + neighbor.mac.to_string();
    return fmt::format(
        "{} on {}, {}, {}{}",
        record.key.address.to_string(),
        interface,
        mac,
        word(neighbor.state),
        record.in_kernel ? "" : ", collected by the kernel and about to be put back");
}

std::string mute_text(const NeighborRecord& record) {
    return fmt::format(
        "did not answer when last asked, lives by {}: its answers may go to another leaf",
        record.heard >= record.sent ? "ARP or ND that it sent by itself"
                                    : "frames of its MAC, as its port shows");
}

std::string route_text(const RouteKey& key, const HostRoute& route, std::string_view interface) {
    return fmt::format("{} {}dev {} distance {} metric {} tag {}",
                       key.prefix.to_string(),
                       route.gateway_is_host ? "via itself onlink " : "",
                       interface,
                       route.distance,
                       route.metric,
                       route.tag);
}

std::string_view answer_text(SinkState state, const History& history, bool zebra_up) {
    switch (state) {
        case SinkState::Held: return "installed";
        case SinkState::Rejected: return "zebra prefers another route to this prefix";
        case SinkState::Absent: return "removed";
        case SinkState::Pending:
        case SinkState::Withdrawing: break;
    }
    if (!zebra_up) {
        return "zebra is away, this waits for it";
    }
    return history.in_flight ? "not answered yet" : "waits to be sent";
}

/// Of the places where an address is known, the one that its route is for; else the last judged.
const NeighborRecord* place_to_explain(const NeighborTable& neighbors, const IpAddress& address) {
    const NeighborRecord* best = nullptr;
    neighbors.for_each_place(address, [&](const NeighborRecord& record) {
        const bool claims = record.claim.has_value();
        if (best == nullptr || claims > best->claim.has_value()) {
            best = &record;
        } else if (claims == best->claim.has_value()) {
            const bool later =
                claims ? record.claimed_at > best->claimed_at : record.judged > best->judged;
            best = later ? &record : best;
        }
    });
    return best;
}

}  // namespace

Reason Engine::judge_unseen(const IpAddress& address, const ServedInterface& served) const {
    return judge({.address = address,
                  .neighbor = Neighbor{},
                  .served = &served,
                  .isolated = isolated_,
                  .own_address = addresses_.owns(address),
                  .bgp_peer = peers_matter_ && bgp_peers_.contains(address)});
}

Explanation EngineView::explain(const IpAddress& address) const {
    const NeighborRecord* record = place_to_explain(engine_.neighbors(), address);
    if (record != nullptr) {
        return explain_neighbor(*record);
    }
    for (const auto& [link, served] : engine_.served().all()) {
        const IpPrefix* prefix = prefix_with(served, address);
        if (prefix != nullptr) {
            return explain_unseen(address, served, *prefix);
        }
    }
    Explanation explanation{.verdict = kNoRoute, .reason = word(Reason::OutsidePrefixes)};
    explanation.chain.push_back({.stage = "interface", .text = uncovered_text()});
    return explanation;
}

std::string EngineView::uncovered_text() const {
    std::string known;
    for (const auto& [link, served] : engine_.served().all()) {
        for (const IpPrefix& prefix : served.allowed()) {
            known += fmt::format(
                "{}{} {}", known.empty() ? "" : ", ", served.name, prefix.network().to_string());
        }
    }
    return known.empty() ? "no served interface exists, or none has an address"
                         : fmt::format("in no prefix of a served interface: {}", known);
}

Explanation EngineView::explain_unseen(const IpAddress& address,
                                       const ServedInterface& served,
                                       const IpPrefix& prefix) const {
    const Reason reason = engine_.judge_unseen(address, served);
    const bool nobody = reason == Reason::Unresolved;
    Explanation explanation{.verdict = kNoRoute,
                            .reason = nobody ? std::string_view("no_neighbor") : word(reason)};
    explanation.chain.push_back(
        {.stage = "interface",
         .text = fmt::format(
             "in {}, so its place would be on {}", prefix.network().to_string(), served.name)});
    explanation.chain.push_back(
        {.stage = nobody ? "neighbor" : "verdict",
         .text = nobody ? fmt::format("no neighbour entry: nobody on {} has used this address",
                                      served.name)
                        : describe(reason, &served, served.name)});
    const RouteKey key = route_key(served.vrf, address);
    explain_hold(key, explanation);
    explain_route(key, std::nullopt, explanation);
    return explanation;
}

Explanation EngineView::explain_neighbor(const NeighborRecord& record) const {
    const ServedInterface* served = engine_.served().find(record.key.link);
    const PortFacts port = engine_.port_of(record.key);
    Explanation explanation{.verdict = kNoRoute, .reason = word(record.reason)};
    std::vector<Cause>& chain = explanation.chain;
    chain.push_back({.at = record.changed,
                     .stage = "neighbor",
                     .text = neighbor_text(record, link_name(record.key.link))});
    if (served != nullptr && !record.neighbor.mac.is_zero()) {
        const IfIndex shown = port.port == IfIndex::None ? record.key.link : port.port;
        chain.push_back(
            {.stage = "port", .text = port_text(port, record.neighbor.mac, link_name(shown))});
    }
    if (const Conflicts::Freeze* freeze = engine_.frozen(record.key); freeze != nullptr) {
        chain.push_back({.stage = "conflict",
                         .text = fmt::format("claimed by {} too: kept with {} for a while",
                                             freeze->other.to_string(),
                                             freeze->owner.to_string())});
    }
    if (const Engine::Synced* host = engine_.synced(record.key); host != nullptr) {
        chain.push_back({.at = host->since,
                         .stage = "evpn",
                         .text = fmt::format("leaf {} knows it with MAC {}, on the segment of {}",
                                             host->leaf.to_string(),
                                             host->mac.to_string(),
                                             host->port)});
    }
    if (record.mute) {
        chain.push_back({.at = record.proven(), .stage = "evidence", .text = mute_text(record)});
    }
    if (record.judged == TimePoint{}) {
        const bool waits = served != nullptr;
        explanation.reason = waits ? std::string_view("not_judged") : word(Reason::NotServed);
        chain.push_back({.stage = "verdict",
                         .text = waits ? "not judged yet: the kernel's tables are still being read"
                                       : describe(Reason::NotServed, served, "")});
    } else {
        chain.push_back({.at = record.judged,
                         .stage = "verdict",
                         .text = describe(record.reason, served, link_name(port.port))});
    }
    if (const std::string* denied = engine_.denied(record.key); denied != nullptr) {
        chain.push_back({.stage = "plugin", .text = *denied});
    }
    engine_.neighbors().for_each_place(record.key.address, [&](const NeighborRecord& other) {
        if (&other != &record) {
            chain.push_back({.at = other.changed,
                             .stage = "elsewhere",
                             .text = fmt::format("also {}: {}",
                                                 neighbor_text(other, link_name(other.key.link)),
                                                 word(other.reason))});
        }
    });
    if (served != nullptr) {
        const RouteKey key = route_key(served->vrf, record.key.address);
        explain_hold(key, explanation);
        explain_route(key, record.claimed_at, explanation);
    }
    return explanation;
}

// What stands between the verdict and the route; `at` is when that ends.
void EngineView::explain_hold(const RouteKey& key, Explanation& explanation) const {
    const auto hold = engine_.hold_of(key);
    if (!hold) {
        return;
    }
    if (explanation.reason == word(Reason::Eligible)) {
        explanation.reason = word(hold->host);
    }
    explanation.chain.push_back({.at = hold->until, .stage = "hold", .text = hold->text});
}

void EngineView::explain_route(const RouteKey& key,
                               std::optional<TimePoint> wished,
                               Explanation& explanation) const {
    const RouteSink::Routes& routes = engine_.routes();
    const SinkState state = routes.state(key);
    explanation.verdict = verdict_of(state);
    if (state == SinkState::Absent) {
        return;
    }
    if (explanation.reason == word(Reason::Eligible)) {
        explanation.reason = reason_of_route(state, key);
    }
    const History history = routes.history(key);
    if (const auto& wish = routes.desired(key)) {
        explanation.chain.push_back(
            {.at = wished, .stage = "route", .text = route_text(key, *wish, link_name(wish->out))});
    }
    if (history.sent) {
        explanation.chain.push_back(
            {.at = history.sent,
             .stage = "sent",
             .text = fmt::format("{} to zebra", history.was_put ? "add" : "delete")});
    }
    const bool answered = state == SinkState::Held || state == SinkState::Rejected;
    explanation.chain.push_back(
        {.at = answered ? history.answered : std::nullopt,
         .stage = "zebra",
         .text = std::string(answer_text(state, history, engine_.zebra_is_up()))});
}

}  // namespace planed
