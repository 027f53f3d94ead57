// SPDX-License-Identifier: Apache-2.0
// Engine: what reads of whole tables show that was not known, or not wanted. It is healed by those
// who read; here it is only told and counted.
#include <utility>

#include <fmt/core.h>

#include "core/engine.hpp"
#include "core/limits.hpp"
#include "core/snapshot.hpp"
#include "core/uplinks.hpp"

namespace planed {
namespace {

constexpr std::string_view kTakenOver = "taken over";  // The kernel is right about its own facts.
constexpr std::string_view kThere = "there";

bool lives(const Neighbor& neighbor) {
    return judge_state(neighbor) == Reason::Eligible && !neighbor.mac.is_zero();
}

std::string words_of_neighbor(const Neighbor& neighbor) {
    if (neighbor == Neighbor{}) {
        return {};
    }
    return neighbor.mac.is_zero()
               ? std::string(word(neighbor.state))
               : fmt::format("{} {}", neighbor.mac.to_string(), word(neighbor.state));
}

std::string words_of_link(const Link& link, const LinkTable& links) {
    std::string text = is_up(link) ? "up" : link.admin_up ? "no carrier" : "down";
    if (link.master != IfIndex::None) {
        text += fmt::format(" in {}", links.name_of(link.master));
    }
    return fmt::format("{} {}", link.name, text);
}

std::string words_of_route(const RouteKey& key, const HostRoute& route, const LinkTable& links) {
    if (route.out == IfIndex::None) {
        return "a next hop that planed never writes";
    }
    const std::string via =
        route.gateway_is_host ? fmt::format("via {} ", key.prefix.address().to_string()) : "";
    return fmt::format("{}dev {} distance {} metric {} tag {}",
                       via,
                       links.name_of(route.out),
                       route.distance,
                       route.metric,
                       route.tag);
}

}  // namespace

void Engine::on(const AuditRequested& /*requested*/, TimePoint /*now*/) {
    audits_.begin();
}

void Engine::on(const AuditEnded& /*ended*/, TimePoint /*now*/) {
    audits_.end();
    proxies_found_.clear();
    routes_found_.clear();
}

// Reads -------------------------------------------------------------------------------------------

// A table that is being read right now is asked for when that has ended: a dump that began before
// the question does not answer it, and to ask for another one meanwhile would mean that this one is
// not to be believed.
void Engine::run_audits(TimePoint now) {
    for (std::size_t i = 0; i < kDumpKinds; ++i) {
        const auto kind = static_cast<DumpKind>(i);
        const AuditTable table = audit_table(kind);
        if (!audits_.wants(table) || dumps_.running(kind)) {
            continue;
        }
        if (kind == DumpKind::Proxies && facts_whole_ && !proxies_.is_trusted()) {
            audits_.cannot_read(table, "what the plane has is not known yet", "waits for zebra");
            continue;
        }
        dumps_.request(kind);
        audits_.asked(table);
    }
    if (audits_.wants(AuditTable::Routes)) {
        if (!sink_.is_up()) {
            audits_.cannot_read(AuditTable::Routes, "not connected", "connects again");
        } else if (sink_.read_back_done()) {
            sink_.request_read_back();
            audits_.asked(AuditTable::Routes);
        }
    }
    if (audits_.is_reading(AuditTable::Settings) && settings_.is_idle()) {
        audits_.read_ends(AuditTable::Settings, true, now);
    }
    audits_.judge(knows_neighbors(), now);
    tell_found();
}

void Engine::read_begins(DumpKind kind, TimePoint now) {
    const bool trusted = kind != DumpKind::Proxies || proxies_.is_trusted();
    audits_.read_begins(audit_table(kind), dumps_.synced(kind) && trusted, now);
}

void Engine::read_ends(DumpKind kind, bool conclusive, TimePoint now) {
    if (kind == DumpKind::Proxies) {
        note_proxies_found();
    }
    audits_.read_ends(audit_table(kind), conclusive, now);
}

// They are read with the links, one by one.
void Engine::audit_settings(TimePoint now) {
    settings_.audit();
    if (audits_.wants(AuditTable::Settings)) {
        audits_.asked(AuditTable::Settings);
    }
    audits_.read_begins(AuditTable::Settings, true, now);
    for (std::size_t i = 0; i < settings_.size(); ++i) {
        audits_.entry_read(AuditTable::Settings);
    }
}

// What the kernel has -----------------------------------------------------------------------------

bool Engine::concerns_us(const Link& link) const {
    for (const auto& [index, served] : served_.all()) {
        const bool below = served.bridge != IfIndex::None &&
                           (link.index == served.bridge || link.master == served.bridge);
        if (link.index == index || below) {
            return true;
        }
    }
    return is_uplink(*config_, link);
}

void Engine::audit_link(const LinkSeen& seen, const std::optional<Link>& before) {
    const IfIndex index = seen.link.index;
    if (seen.source != Source::Dump) {
        audits_.explained(index);
        return;
    }
    if (!concerns_us(seen.link)) {
        return;
    }
    audits_.entry_read(AuditTable::Links);
    const Link* after = links_.find(index);
    if (!audits_.compares(AuditTable::Links) || after == nullptr) {
        return;
    }
    const std::string found = words_of_link(*after, links_);
    const std::string known = before ? words_of_link(*before, links_) : "";
    if (known != found) {
        audits_.suspect(index,
                        Difference{.table = AuditTable::Links,
                                   .interface = after->name,
                                   .object = after->name,
                                   .wanted = known,
                                   .found = found,
                                   .action = kTakenOver});
    }
}

void Engine::audit_link_gone(const Link& link) {
    if (audits_.compares(AuditTable::Links) && concerns_us(link)) {
        audits_.suspect(link.index,
                        Difference{.table = AuditTable::Links,
                                   .interface = link.name,
                                   .object = link.name,
                                   .wanted = words_of_link(link, links_),
                                   .action = kTakenOver});
    }
}

void Engine::audit_address(IfIndex link, const IpPrefix& address, bool there) {
    const ServedInterface* served = served_.find(link);
    if (served == nullptr || !audits_.compares(AuditTable::Addresses)) {
        return;
    }
    audits_.suspect(std::pair(link, address),
                    Difference{.table = AuditTable::Addresses,
                               .vrf = EngineView(*this).name_of(served->vrf),
                               .interface = served->name,
                               .object = address.to_string(),
                               .wanted = there ? "" : std::string(kThere),
                               .found = there ? std::string(kThere) : "",
                               .action = kTakenOver});
}

// That a host answers, or has to be asked again, is not always told; that it lives, and with which
// MAC, is.
void Engine::audit_neighbor(const NeighborKey& key, const Neighbor& before, const Neighbor& after) {
    const ServedInterface* served = served_.find(key.link);
    const bool same = lives(before) == lives(after) && (!lives(after) || before.mac == after.mac);
    if (served == nullptr || same) {
        return;
    }
    std::optional<Difference> words;
    if (audits_.is_collecting()) {
        words = Difference{.table = AuditTable::Neighbors,
                           .vrf = EngineView(*this).name_of(served->vrf),
                           .interface = served->name,
                           .object = key.address.to_string(),
                           .wanted = words_of_neighbor(before),
                           .found = words_of_neighbor(after),
                           .action = kTakenOver};
    }
    audits_.suspect(key, std::move(words));
}

void Engine::audit_forwarding(const FdbKey& key,
                              std::optional<IfIndex> before,
                              std::optional<IfIndex> after) {
    if (before == after || served_.on_bridge(key.bridge, key.vlan).empty()) {
        return;
    }
    std::optional<Difference> words;
    if (audits_.is_collecting()) {
        const auto port = [this](std::optional<IfIndex> link) {
            return link ? std::string(links_.name_of(*link)) : std::string();
        };
        words = Difference{
            .table = AuditTable::Forwarding,
            .interface = std::string(links_.name_of(key.bridge)),
            .object = key.vlan == VlanId::None
                          ? key.mac.to_string()
                          : fmt::format("{} vlan {}", key.mac.to_string(), number(key.vlan)),
            .wanted = port(before),
            .found = port(after),
            .action = kTakenOver};
    }
    audits_.suspect(key, std::move(words));
}

// What planed has written -------------------------------------------------------------------------

// Words for 64,000 of them take longer than a turn may.
void Engine::note_proxies_found() {
    std::vector<Proxies::Found> found = proxies_.take_found();
    audits_.found(AuditTable::Proxies, found.size());
    if (audits_.is_collecting()) {
        proxies_found_.insert(proxies_found_.end(), found.begin(), found.end());
    }
}

void Engine::note_routes_found() {
    std::vector<RouteSink::Found> found = sink_.take_found();
    audits_.found(AuditTable::Routes, found.size());
    if (audits_.is_collecting()) {
        routes_found_.insert(routes_found_.end(), found.begin(), found.end());
    }
}

void Engine::tell_found() {
    for (std::size_t told = 0; told < limits::kToldPerTurnMax; ++told) {
        if (!routes_found_.empty()) {
            audits_.tell(words_of(routes_found_.back()));
            routes_found_.pop_back();
        } else if (!proxies_found_.empty()) {
            audits_.tell(words_of(proxies_found_.back()));
            proxies_found_.pop_back();
        } else {
            return;
        }
    }
}

Difference Engine::words_of(const Proxies::Found& found) const {
    const ServedInterface* served = served_.find(found.key.link);
    return {.table = AuditTable::Proxies,
            .vrf = served == nullptr ? "" : EngineView(*this).name_of(served->vrf),
            .interface = std::string(links_.name_of(found.key.link)),
            .object = found.key.address.to_string(),
            .wanted = found.there ? "" : std::string(kThere),
            .found = found.there ? std::string(kThere) : "",
            .action = found.there ? "removed" : "written again"};
}

Difference Engine::words_of(const RouteSink::Found& found) const {
    const IfIndex out = found.wanted ? found.wanted->out : found.route->out;
    Difference difference{.table = AuditTable::Routes,
                          .vrf = EngineView(*this).name_of(found.key.vrf),
                          .interface = out == IfIndex::None ? "" : std::string(links_.name_of(out)),
                          .object = found.key.prefix.to_string(),
                          .action = found.wanted ? "sent again" : "removed"};
    if (found.wanted) {
        difference.wanted = words_of_route(found.key, *found.wanted, links_);
    }
    if (found.route) {
        difference.found = words_of_route(found.key, *found.route, links_);
    } else if (found.rejected) {
        difference.found = "zebra prefers another route";
    }
    return difference;
}

void Engine::note_setting_found(const KernelSettings::Outcome& outcome) {
    if (outcome.differs) {
        audits_.found(AuditTable::Settings);
        audits_.tell({.table = AuditTable::Settings,
                      .interface = std::string(links_.name_of(outcome.link)),
                      .object = outcome.name,
                      .wanted = fmt::format("{}", outcome.wanted),
                      .found = outcome.found ? fmt::format("{}", *outcome.found) : "",
                      .action = outcome.error ? "cannot be set" : "set again"});
    }
}

}  // namespace planed
