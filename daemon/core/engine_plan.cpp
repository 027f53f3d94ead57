// SPDX-License-Identifier: Apache-2.0
// Engine: dirty keys become wishes, and time becomes outputs.
#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "core/engine.hpp"
#include "core/limits.hpp"
#include "core/planner.hpp"
#include "core/uplinks.hpp"

namespace planed {
namespace {

// The kernel has let go of a neighbour whose port or whose leaf is out of order: when that is over,
// the host is asked (bonded hosts do not announce themselves when their port recovers).
bool may_return(Reason reason, const ServedInterface* served) {
    const bool waits = reason == Reason::PortDown || reason == Reason::PortUnconfirmed ||
                       reason == Reason::Isolated || reason == Reason::Drained;
    return waits && served != nullptr && served->up;
}

}  // namespace

void Engine::settle(TimePoint now) {
    now_ = now;
    if (finished_) {
        return;  // What still comes in would undo what has just been undone.
    }
    const bool recheck = served_dirty_ || isolation_dirty_;
    if (served_dirty_ && dumps_.synced(DumpKind::Links)) {
        update_served(now);
    }
    if (facts_whole_) {
        if (isolation_dirty_) {
            update_isolation(now);
        }
        run_drains(now);
        plan_dirty(now);
        if (recheck) {
            recheck_leaving(now);
        }
        reinstall_flapped();
        run_holds(now);
        run_shield(now);
        if (std::exchange(crowds_changed_, false)) {
            watch_crowds();
        }
    }
    run_audits(now);
    run_proxies(now);
    run_routes(now);
    run_refresh(now);
    run_heard(now);
    run_asked(now);
    run_revivals();
    run_thaws(now);
    run_pins(now);
    run_synced(now);
    run_alarms(now);
    run_probes(now);
    run_link_reads(now);
    run_link_retries(now);
    run_deletions(now);
    run_dumps(now);
    run_settings();
    neighbors_waiting_ = false;
    raised_.clear();
}

// Wishes ------------------------------------------------------------------------------------------

void Engine::update_served(TimePoint /*now*/) {
    served_dirty_ = false;
    crowds_changed_ = true;
    for (const IfIndex link : served_.update(*config_, links_, addresses_)) {
        const ServedInterface* served = served_.find(link);
        if (served == nullptr) {
            settings_.unserve(link);
        }
        update_proxied(link);
        mark_link_dirty(link);
        if (keeps_changes_) {
            changes_.interfaces.push_back(link);
        }
    }
    update_listening();
    update_statics();
    update_synced();
    for (const auto& [link, served] : served_.all()) {
        serve_settings(served);
        if (sink_.is_up() && announced_vrfs_.insert(served.vrf).second &&
            served.vrf != VrfId::Default) {
            outputs_.emplace_back(AnnounceVrf{.vrf = served.vrf});
        }
    }
}

void Engine::update_isolation(TimePoint /*now*/) {
    isolation_dirty_ = false;
    const bool before = isolated_;
    isolated_ = is_isolated(*config_, links_);
    if (isolated_ != before) {
        for (const auto& [link, served] : served_.all()) {
            mark_link_dirty(link);
        }
        if (isolated_) {
            degrade("uplinks", "all uplinks are down: no host is announced");
        } else {
            admits_all_ = true;
            recover("uplinks");
        }
    }
    const bool shut = isolated_ && config_->uplinks_down == UplinksDown::Shut;
    if (shut) {
        for (const IfIndex port : server_ports(*config_, links_, served_)) {
            const Link& link = *links_.find(port);
            // Who was down before us stays down after us.
            if (link.admin_up) {
                shut_port(link);
            }
        }
        return;
    }
    open_shut_ports();
}

// Once for each link: whoever takes a port up meanwhile has his reasons. One made anew is another.
void Engine::shut_port(const Link& link) {
    const auto [entry, inserted] = shut_ports_.try_emplace(link.name, IfIndex::None);
    if (inserted) {
        outputs_.emplace_back(RememberShut{.port = link.name, .shut = true});
    }
    if (std::exchange(entry->second, link.index) != link.index) {
        set_link(link.index, false);
    }
}

void Engine::open_shut_ports() {
    for (const auto& [name, link] : shut_ports_) {
        const Link* known = links_.find(name);
        if (known != nullptr) {
            set_link(known->index, true);
        }
        outputs_.emplace_back(RememberShut{.port = name, .shut = false});
    }
    shut_ports_.clear();
}

void Engine::set_link(IfIndex link, bool up) {
    const std::uint64_t request = next_request_++;
    link_retries_.erase(link);
    link_requests_[request] = {link, up};
    outputs_.emplace_back(SetLinkUp{.request = request, .link = link, .up = up});
}

void Engine::plan_dirty(TimePoint now) {
    std::size_t budget = limits::kPlannedPerTurnMax;
    while (planned_ < dirty_.size() && budget > 0) {
        const std::size_t some =
            std::min({limits::kFetchedAhead, budget, dirty_.size() - planned_});
        fetch_ahead(std::span<const NeighborKey>(dirty_).subspan(planned_, some));
        for (const std::size_t end = planned_ + some; planned_ < end; ++planned_) {
            const NeighborKey key = dirty_[planned_];  // More may become dirty meanwhile.
            plan(key, now);
        }
        budget -= some;
    }
    if (planned_ == dirty_.size()) {
        dirty_.clear();
        planned_ = 0;
        admits_all_ = false;
    }
}

void Engine::fetch_ahead(std::span<const NeighborKey> keys) const {
    if (keys.size() < 2) {
        return;
    }
    for (const NeighborKey& key : keys) {
        neighbors_.prefetch(key.address);
    }
    for (const NeighborKey& key : keys) {
        const NeighborRecord* record = neighbors_.find(key);
        const ServedInterface* served = served_.find(key.link);
        if (record != nullptr && served != nullptr) {
            fdb_.prefetch(fdb_key(*served, record->neighbor.mac));
            sink_.prefetch(route_key(served->vrf, key.address));
        }
    }
}

void Engine::plan(const NeighborKey& key, TimePoint now) {
    NeighborRecord* record = neighbors_.find(key);
    if (record == nullptr) {
        return;
    }
    record->dirty = false;
    note_changed(key);
    proxies_.mark(key.address);
    const Whereabouts where = whereabouts_of(key, record->neighbor.mac);
    Reason reason = judge_neighbor(key, *record, where.served, where.port);
    if (reason == Reason::Eligible && is_drained(key.address, where.port)) {
        reason = Reason::Drained;
    }
    if (reason == Reason::Eligible && is_over_limit(*record, *where.served)) {
        reason = Reason::OverLimit;
    }
    if (reason == Reason::OverLimit || record->reason == Reason::OverLimit) {
        note_over_limit(key, reason == Reason::OverLimit);
    }
    if (reason != record->reason) {
        record->reason = reason;
        record->judged = now;
        record->probed = false;  // Another doubt, if any: a port may bounce twice a minute.
        if (level_ >= Level::Debug) {
            say(Level::Debug, "host", describe_neighbor(key, *record));
        }
    }
    const bool eligible = reason == Reason::Eligible;
    const std::optional<VrfId> before = record->claim;
    record->claim = eligible ? std::optional(where.served->vrf) : std::nullopt;
    if (eligible && before != record->claim) {
        record->claimed_at = now;
    }
    if (eligible && !before) {
        count_claim(key);
    } else if (!eligible && before) {
        uncount_claim(key);
    }
    if (before && before != record->claim) {
        decide_route(route_key(*before, key.address), now);
    } else if (!eligible && is_held(*record)) {
        decide_route(route_key(where.served->vrf, key.address), now);
    }
    if (eligible) {
        decide_route(route_key(where.served->vrf, key.address), now);
    }
    if (is_kept_alive(*record)) {
        schedule_refresh(*record, now);
        if (where.binding != nullptr) {
            remember_port(*where.served, record->neighbor.mac, *where.binding);
        }
    }
    if (!record->in_kernel && !eligible && !may_return(reason, where.served)) {
        // Collected or flushed, and something else speaks against it: it is not put back.
        remove_neighbor(key, now);
        return;
    }
    // Behind a dead port it could not answer and would be FAILED when the port comes back; what was
    // heard while the question waited need not be asked.
    const bool heard = where.port.state == PortFacts::State::NotBridged ||
                       (where.port.state == PortFacts::State::Up && !where.is_remembered());
    if (where.port.state == PortFacts::State::Down || (record->in_kernel && heard)) {
        probes_.remove(key);
    }
    probe_if_in_doubt(key, *record, where, now);
    check_pin(*record, now);
    check_synced(*record, now);
}

// Among the links on which an address is eligible, the one where it appeared last: a host that
// moves is heard on the new link before the old one forgets it.
const NeighborRecord* Engine::claimant_of(const RouteKey& key) const {
    const NeighborRecord* best = nullptr;
    neighbors_.for_each_place(key.prefix.address(), [&](const NeighborRecord& record) {
        const bool later = best == nullptr || record.claimed_at > best->claimed_at;
        if (record.claim == key.vrf && later) {
            best = &record;
        }
    });
    return best;
}

void Engine::decide_route(const RouteKey& key, TimePoint now) {
    const NeighborRecord* best = claimant_of(key);
    const ServedInterface* served = best == nullptr ? nullptr : served_.find(best->key.link);
    if (served == nullptr) {
        let_go(key, now);
    } else {
        announce(key, *best, *served, now);
    }
}

Engine::Whereabouts Engine::whereabouts_of(const NeighborKey& key, const MacAddress& mac) {
    Whereabouts where{.served = served_.find(key.link)};
    if (where.served == nullptr) {
        return where;
    }
    const ServedInterface& served = *where.served;
    if (served.bridge != IfIndex::None) {
        where.binding = fdb_.find(fdb_key(served, mac));
        confirm_by_others(key, where.binding);
    }
    where.port = static_port(key, served)
                     .value_or(with_synced_port(key, served, port_of(served, where.binding)));
    return where;
}

PortFacts Engine::port_of(IfIndex link, const MacAddress& mac) const {
    const ServedInterface* served = served_.find(link);
    if (served == nullptr) {
        return {};
    }
    return port_of(*served, fdb_.find(fdb_key(*served, mac)));
}

PortFacts Engine::port_of(const ServedInterface& served, const PortBinding* binding) const {
    if (served.bridge == IfIndex::None) {
        return {.state = PortFacts::State::NotBridged, .port = served.link};
    }
    if (binding == nullptr) {
        return {.state = PortFacts::State::Unknown};
    }
    const Link* port = links_.find(binding->port);
    if (port == nullptr || port->master != served.bridge) {
        return {.state = PortFacts::State::Left, .port = binding->port};
    }
    if (!is_up(*port)) {
        return {.state = PortFacts::State::Down, .port = port->index};
    }
    const auto state = binding->unconfirmed ? PortFacts::State::Unconfirmed : PortFacts::State::Up;
    return {.state = state, .port = port->index};
}

PortFacts Engine::port_of(const NeighborKey& key) const {
    const NeighborRecord* record = neighbors_.find(key);
    if (record == nullptr) {
        return {};
    }
    const ServedInterface* served = served_.find(key.link);
    const PortFacts learned = port_of(key.link, record->neighbor.mac);
    if (served == nullptr) {
        return learned;
    }
    return static_port(key, *served).value_or(with_synced_port(key, *served, learned));
}

Reason Engine::judge_neighbor(const NeighborKey& key,
                              const NeighborRecord& record,
                              const ServedInterface* served,
                              const PortFacts& port) const {
    return judge({.address = key.address,
                  .neighbor = record.neighbor,
                  .served = served,
                  .port = port,
                  .isolated = isolated_,
                  .own_address = addresses_.owns(key.address),
                  .own_mac = links_.owns_mac(record.neighbor.mac),
                  .bgp_peer = peers_matter_ && bgp_peers_.contains(key.address),
                  .denied = denied(key) != nullptr});
}

// Three doubts are settled by asking the host: no port was ever seen for it; its port came back and
// it has not spoken since; its port is known from the state file alone.
void Engine::probe_if_in_doubt(const NeighborKey& key,
                               NeighborRecord& record,
                               const Whereabouts& where,
                               TimePoint now) {
    if (record.probed || record.neighbor.mac.is_zero() || record.neighbor.state == Nud::Permanent ||
        record.neighbor.state == Nud::NoArp || judge_state(record.neighbor) != Reason::Eligible) {
        return;
    }
    if (where.served == nullptr || !where.served->up) {
        return;
    }
    const PortFacts::State port = where.port.state;
    const bool unconfirmed = record.reason == Reason::PortUnconfirmed;
    const bool unknown = record.reason == Reason::Eligible && port == PortFacts::State::Unknown;
    const bool known = port != PortFacts::State::NotBridged && port != PortFacts::State::Unknown;
    const bool remembered = known && where.is_remembered();
    if (unconfirmed || unknown || remembered) {
        record.probed = true;
        probes_.add(key, unknown ? now + limits::kPortUnknownGrace : now);
    }
}

void Engine::remember_port(const ServedInterface& served,
                           const MacAddress& mac,
                           PortBinding& binding) {
    if (binding.saved || binding.port == IfIndex::None) {
        return;
    }
    binding.saved = true;
    outputs_.emplace_back(RememberPort{.bridge = std::string(links_.name_of(served.bridge)),
                                       .vlan = served.vlan,
                                       .mac = mac,
                                       .port = std::string(links_.name_of(binding.port))});
}

// The kernel drops an interface's routes when it goes down, zebra does not notice, and an identical
// ADD does not repair it on every release: delete, wait, add.
void Engine::reinstall_flapped() {
    for (const IfIndex link : flapped_) {
        if (!links_.is_up(link)) {
            continue;  // Everything on it has just been withdrawn.
        }
        for (const NeighborKey& key : neighbors_.on_link(link)) {
            const NeighborRecord* record = neighbors_.find(key);
            if (record->claim) {
                sink_.reinstall(route_key(*record->claim, key.address));
            }
        }
        reinstall_leaving(link);
    }
    flapped_.clear();
}

// Time --------------------------------------------------------------------------------------------

void Engine::run_routes(TimePoint now) {
    const bool planned = facts_whole_ && dirty_.empty();
    if (sink_.is_up() && planned && !restart_completed_) {
        restart_completed_ = true;
        for (const auto& [link, served] : served_.all()) {
            if (announced_vrfs_.insert(served.vrf).second && served.vrf != VrfId::Default) {
                outputs_.emplace_back(AnnounceVrf{.vrf = served.vrf});
            }
        }
        CompleteRestart complete;
        for (const VrfId vrf : announced_vrfs_) {
            if (vrf != VrfId::Default) {
                complete.vrfs.push_back(vrf);
            }
        }
        outputs_.emplace_back(std::move(complete));
        sink_.request_read_back();
    }
    if (restart_completed_ && sink_.read_back_due(now)) {
        audits_.read_begins(AuditTable::Routes, sink_.read_back_done(), now);
        outputs_.emplace_back(StartReadBack{});
    }
    if (restart_completed_ && sink_.is_up() && sink_.read_back_done() && sink_.quiet()) {
        reach(Milestone::RoutesSynced, now);
        reach(Milestone::Ready, now);
    }
}

// What is written to the kernel's table must not undo what it has told and nobody has read yet: a
// deletion by hand, another MAC, a host that returned.
bool Engine::knows_neighbors() const {
    return !neighbors_waiting_ && !overrun_.contains(DumpKind::Neighbors);
}

void Engine::run_probes(TimePoint now) {
    if (!knows_neighbors()) {
        return;
    }
    while (const auto key = probes_.poll(now)) {
        const NeighborRecord* record = neighbors_.find(*key);
        if (record == nullptr || record->neighbor.mac.is_zero()) {
            continue;
        }
        write_neighbor({.key = *key,
                        .mac = record->neighbor.mac,
                        .state = Nud::Probe,
                        .ext_learned = record->neighbor.ext_learned || !record->in_kernel});
    }
}

void Engine::write_neighbor(WriteNeighbor write) {
    learning_.asked += write.state == Nud::Probe || write.resolve ? 1U : 0U;
    write.request = next_request_++;
    neighbor_writes_[write.request] = write.key;
    outputs_.emplace_back(std::move(write));
}

void Engine::run_dumps(TimePoint now) {
    while (const auto kind = dumps_.poll(now)) {
        if (*kind == DumpKind::Proxies) {
            proxies_.dump_begin(now);
        }
        read_begins(*kind, now);
        outputs_.emplace_back(StartDump{.kind = *kind});
    }
}

void Engine::run_link_reads(TimePoint now) {
    if (!link_reads_until_ || next_link_read_ > now) {
        return;
    }
    if (*link_reads_until_ < now) {
        link_reads_until_.reset();
        return;
    }
    next_link_read_ = now + limits::kLinkReadInterval;
    std::set<IfIndex> links;
    std::set<IfIndex> masters;
    for (const auto& [link, served] : served_.all()) {
        links.insert(link);
        if (served.bridge != IfIndex::None) {
            // A VLAN interface shows what its bridge has last announced: the bridge is read too.
            links.insert(served.bridge);
            masters.insert(served.bridge);
        }
    }
    links_.for_each([&](const Link& link) {
        if (is_uplink(*config_, link)) {
            links.insert(link.index);
        }
    });
    outputs_.emplace_back(ReadLinks{.links = {links.begin(), links.end()},
                                    .masters = {masters.begin(), masters.end()}});
}

void Engine::run_link_retries(TimePoint now) {
    std::vector<std::pair<IfIndex, bool>> due;
    for (const auto& [link, retry] : link_retries_) {
        if (retry.at <= now) {
            due.emplace_back(link, retry.up);
        }
    }
    for (const auto& [link, up] : due) {
        set_link(link, up);
    }
}

// Somebody who deletes an entry makes it FAILED first, and may put another one there at once: what
// is deleted has been FAILED for a moment.
void Engine::run_deletions(TimePoint now) {
    if (!knows_neighbors()) {
        return;
    }
    while (!failed_.empty() && failed_.front().first <= now) {
        const NeighborKey key = failed_.front().second;
        failed_.pop_front();
        const NeighborRecord* record = neighbors_.find(key);
        if (record != nullptr && keeps_host_away(*record) && !deletions_.contains(key)) {
            const std::uint64_t request = next_request_++;
            deletions_[key] = request;
            outputs_.emplace_back(DeleteNeighbor{.request = request, .key = key});
        }
    }
}

void Engine::run_settings() {
    while (auto apply = settings_.poll(next_request_)) {
        outputs_.emplace_back(std::move(*apply));
    }
}

void Engine::reach(Milestone milestone, TimePoint now) {
    if (milestones_.reach(milestone, now)) {
        say(Level::Info, "milestone", fmt::format("name={}", word(milestone)));
        if (milestone == Milestone::Ready) {
            end_waiting_drains();
        }
    }
}

std::optional<Output> Engine::poll() {
    // What was handed to zebra's session before (VRFs) goes first; the session keeps that order.
    const bool leaves_all = stopping_ && config_->on_exit == OnExit::Withdraw;
    if (facts_whole_ && !leaves_all) {
        if (auto route = sink_.next(now_)) {
            return *route;
        }
    }
    if (auto proxy = next_proxy()) {
        return *proxy;
    }
    if (outputs_.empty()) {
        return std::nullopt;
    }
    Output output = std::move(outputs_.front());
    outputs_.pop_front();
    finished_ = finished_ || std::holds_alternative<Finish>(output);
    return output;
}

std::optional<TimePoint> Engine::wake_at() {
    if (finished_) {
        return std::nullopt;
    }
    // Before that nothing is asked of zebra, by whatever deadline.
    std::optional<TimePoint> at = restart_completed_ ? sink_.wake_at() : std::nullopt;
    const auto sooner = [&at](std::optional<TimePoint> candidate) {
        if (candidate) {
            at = at ? std::min(*at, *candidate) : *candidate;
        }
    };
    sooner(dumps_.wake_at());
    sooner(audits_.wake_at());
    if (!routes_found_.empty() || !proxies_found_.empty()) {
        sooner(now_);
    }
    if (facts_whole_) {
        sooner(plane_.wake_at());
        sooner(proxies_.wake_at(now_));
        sooner(refreshes_.wake_at());
        if (!asked_.empty()) {
            sooner(asked_.front().first);
        }
        if (next_resolve_ != TimePoint{}) {
            sooner(next_resolve_);
        }
        sooner(conflicts_.wake_at());
        sooner(delays_.wake_at());
        sooner(damping_.wake_at());
        sooner(shield_.wake_at());
        if (!moving_.empty()) {
            sooner(next_move_);
        }
    }
    for (const auto& [id, end] : alarms_) {
        sooner(end);
    }
    if (knows_neighbors()) {
        sooner(probes_.wake_at());
        sooner(asks_.wake_at());
        if (!heard_.empty()) {
            sooner(heard_.begin()->first);
        }
        if (!revivals_.empty() || !pins_.empty()) {
            sooner(now_);
        }
    }
    if (link_reads_until_) {
        sooner(next_link_read_);
    }
    for (const auto& [link, retry] : link_retries_) {
        sooner(retry.at);
    }
    if (!failed_.empty() && knows_neighbors()) {
        sooner(failed_.front().first);
    }
    if (!dirty_.empty() && facts_whole_) {
        sooner(now_);
    }
    return at;
}

// Words -------------------------------------------------------------------------------------------

std::string Engine::describe_neighbor(const NeighborKey& key, const NeighborRecord& record) const {
    const ServedInterface* served = served_.find(key.link);
    const PortFacts port = port_of(key);
    return fmt::format("address={} interface={} mac={} nud={} verdict={} text=\"{}\"",
                       key.address.to_string(),
                       links_.name_of(key.link),
                       record.neighbor.mac.to_string(),
                       word(record.neighbor.state),
                       word(record.reason),
                       describe(record.reason, served, links_.name_of(port.port)));
}

Verdict Engine::explain(const IpAddress& address) const {
    Verdict verdict{.eligible = false, .reason = "no neighbour entry"};
    neighbors_.for_each_place(address, [&](const NeighborRecord& record) {
        if (verdict.eligible) {
            return;
        }
        const ServedInterface* served = served_.find(record.key.link);
        const PortFacts port = port_of(record.key);
        const Reason reason = judge_neighbor(record.key, record, served, port);
        verdict = {.eligible = reason == Reason::Eligible,
                   .reason = describe(reason, served, links_.name_of(port.port))};
    });
    return verdict;
}

Engine::Totals Engine::counters() const {
    return {.neighbors = neighbors_.size(),
            .overruns = overruns_,
            .resyncs = resyncs_,
            .refused = links_.refused() + addresses_.refused() + neighbors_.refused() +
                       fdb_.refused() + plane_.refused() + proxies_.refused()};
}

Engine::Totals Engine::totals() const {
    Totals totals = counters();
    neighbors_.for_each([&](const NeighborKey&, const NeighborRecord& record) {
        totals.eligible += record.reason == Reason::Eligible ? 1U : 0U;
    });
    sink_.routes().for_each(
        [&](const RouteKey&, const std::optional<HostRoute>& desired, SinkState state) {
            totals.routes_desired += desired ? 1U : 0U;
            totals.routes_installed += state == SinkState::Held ? 1U : 0U;
            totals.routes_rejected += state == SinkState::Rejected ? 1U : 0U;
        });
    return totals;
}

}  // namespace planed
