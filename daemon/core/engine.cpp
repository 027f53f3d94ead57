// SPDX-License-Identifier: Apache-2.0
// Engine: every input becomes facts and dirty keys. What follows from them is in
// engine_plan.cpp.
#include "core/engine.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fmt/core.h>

#include "core/limits.hpp"
#include "core/planner.hpp"

namespace planed {
namespace {

// The state of an entry that was alive when the kernel let go of it.
bool was_alive(const Neighbor& last) {
    switch (last.state) {
        case Nud::Reachable:
        case Nud::Stale:
        case Nud::Delay:
        case Nud::Probe: return !last.mac.is_zero();
        case Nud::None:
        case Nud::Incomplete:
        case Nud::Failed:
        case Nud::NoArp:
        case Nud::Permanent: return false;
    }
    return false;
}

}  // namespace

Engine::Engine(std::shared_ptr<const Config> config) : config_(std::move(config)) {
    configure_holds();
    for (std::size_t i = 0; i < kDumpKinds; ++i) {
        dumps_.request(static_cast<DumpKind>(i));
    }
}

void Engine::handle(const Input& input, TimePoint now) {
    now_ = now;
    if (witness_ != nullptr) {
        witness_->saw(input, now);
    }
    std::visit([&](const auto& what) { on(what, now); }, input);
}

void Engine::handle(std::span<const Input> inputs, TimePoint now) {
    while (!inputs.empty()) {
        const auto some = inputs.first(std::min(inputs.size(), limits::kFetchedAhead));
        fetch_ahead(some);
        for (const Input& input : some) {
            handle(input, now);
        }
        inputs = inputs.subspan(some.size());
    }
}

// In passes: where a hash points to, then what stands there, then what that names. Changes nothing,
// and what it leaves out is only slower.
void Engine::fetch_ahead(std::span<const Input> inputs) const {
    if (inputs.size() < 2) {
        return;
    }
    const auto for_each_neighbor = [&](auto&& visit) {
        for (const Input& input : inputs) {
            const auto* seen = std::get_if<NeighborSeen>(&input);
            const auto* served = seen == nullptr ? nullptr : served_.find(seen->key.link);
            if (served != nullptr) {
                visit(*seen, *served);
            }
        }
    };
    for_each_neighbor([&](const NeighborSeen& seen, const ServedInterface& served) {
        neighbors_.prefetch(seen.key.address);
        neighbors_.prefetch(seen.key.link, seen.neighbor.mac);
        fdb_.prefetch(fdb_key(served, seen.neighbor.mac));
        sink_.prefetch(route_key(served.vrf, seen.key.address));
    });
    for_each_neighbor([&](const NeighborSeen& seen, const ServedInterface& served) {
        // Looking up reads the key beside what is found: that it is read is all that matters.
        __builtin_prefetch(fdb_.find(fdb_key(served, seen.neighbor.mac)));
        __builtin_prefetch(neighbors_.addresses_of(seen.key.link, seen.neighbor.mac).data());
        __builtin_prefetch(&sink_.routes().desired(route_key(served.vrf, seen.key.address)));
        if (const NeighborRecord* record = neighbors_.find(seen.key); record != nullptr) {
            __builtin_prefetch(record + 1);  // It is longer than a cache line.
            neighbors_.prefetch(seen.key.link, record->neighbor.mac);
        }
    });
    for_each_neighbor([&](const NeighborSeen& seen, const ServedInterface&) {
        if (const NeighborRecord* record = neighbors_.find(seen.key); record != nullptr) {
            __builtin_prefetch(neighbors_.addresses_of(seen.key.link, record->neighbor.mac).data());
        }
    });
}

// Links and addresses -----------------------------------------------------------------------------

void Engine::on(const LinkSeen& seen, TimePoint now) {
    const Link* known = links_.find(seen.link.index);
    const bool audited = seen.source == Source::Dump && audits_.compares(AuditTable::Links);
    const auto before = audited && known != nullptr ? std::optional(*known) : std::nullopt;
    // A link that appears has left no bridge: its forwarding entries may have been read before it.
    const IfIndex old_master = known == nullptr ? seen.link.master : known->master;
    const MacAddress old_mac = known == nullptr ? MacAddress{} : known->mac;
    const bool was_known = known != nullptr;
    const auto change = links_.see(seen);
    audit_link(seen, before);
    if (!change) {
        return;
    }
    if (change->appeared) {
        for (const FdbKey& key : fdb_.link_appeared(seen.link, links_)) {
            mark_mac_dirty(key);
        }
    }
    if (change->appeared && was_known) {
        changes_.renamed = keeps_changes_;
        for (const FdbKey& key : fdb_.behind(seen.link.index)) {
            fdb_.find(key)->saved = false;  // The state file has the old name.
            mark_mac_dirty(key);
        }
    }
    if (change->structure || change->appeared) {
        mark_statics_dirty(seen.link.name);
    }
    if (change->structure || change->carrier) {
        served_dirty_ = true;
        isolation_dirty_ = true;
    }
    if (change->structure && old_master != seen.link.master) {
        for (const FdbKey& key : fdb_.distrust(seen.link.index)) {
            mark_mac_dirty(key);
        }
    }
    if (change->structure && old_mac != seen.link.mac) {
        mark_mac_dirty(old_mac);
        mark_mac_dirty(seen.link.mac);
    }
    if (change->carrier || change->flapped) {
        port_changed(seen.link, *change, now);
    }
}

void Engine::port_changed(const Link& link, const LinkChange& change, TimePoint now) {
    const bool up = is_up(link);
    if (up) {
        times_.port_up(link.index);
    } else {
        times_.port_down(link.index, now);
    }
    const bool returned = up && delays_.any_leaving();  // The kernel has dropped what was kept.
    if ((change.flapped || returned) && served_.find(link.index) != nullptr) {
        flapped_.insert(link.index);
        dumps_.request(DumpKind::Proxies);  // The kernel has flushed them.
    }
    mark_statics_dirty(link.name);
    for (const FdbKey& key : up ? fdb_.port_up(link.index) : fdb_.distrust(link.index)) {
        mark_mac_dirty(key);
        for (const NeighborKey& place : steered_by(key)) {
            unsynced_.push_back(place);  // Whom others know too may be behind another port.
        }
    }
    if (up) {
        raised_.insert(link.index);
    }
    if (facts_whole_) {
        link_reads_until_ = now + limits::kLinkReadWindow;
    }
}

void Engine::on(const LinkGone& gone, TimePoint now) {
    audits_.explained(gone.link);
    const auto link = links_.gone(gone.link);
    if (!link) {
        return;
    }
    for (const FdbKey& key : fdb_.behind(gone.link)) {
        mark_mac_dirty(key);
    }
    fdb_.link_gone(*link, links_);
    if (addresses_.link_gone(gone.link)) {
        mark_all_dirty();
    }
    for (const NeighborKey& key : neighbors_.on_link(gone.link)) {
        remove_neighbor(key, now);
    }
    mark_mac_dirty(link->mac);
    mark_statics_dirty(link->name);
    times_.port_up(gone.link);
    settings_.forget(gone.link);
    proxies_.forget(gone.link, now);
    recover(fmt::format("proxies {}", link->name));
    link_retries_.erase(gone.link);
    recover(fmt::format("port {}", link->name));
    for (const Setting setting : kSettings) {
        recover("setting " + setting_name(setting, link->name));
    }
    flapped_.erase(gone.link);
    served_dirty_ = true;
    isolation_dirty_ = true;
    if (facts_whole_) {
        link_reads_until_ = now + limits::kLinkReadWindow;
    }
}

void Engine::on(const AddressSeen& seen, TimePoint /*now*/) {
    const bool dumped = seen.source == Source::Dump;
    if (!dumped) {
        audits_.explained(std::pair(seen.link, seen.address));
    } else if (served_.find(seen.link) != nullptr) {
        audits_.entry_read(AuditTable::Addresses);
    }
    if (addresses_.see(seen)) {
        if (dumped) {
            audit_address(seen.link, seen.address, true);
        }
        served_dirty_ = true;
        mark_address_dirty(seen.address.address());
        proxies_.mark(seen.address.address());
    }
}

void Engine::on(const AddressGone& gone, TimePoint /*now*/) {
    audits_.explained(std::pair(gone.link, gone.address));
    if (addresses_.gone(gone.link, gone.address)) {
        served_dirty_ = true;
        mark_address_dirty(gone.address.address());
        proxies_.mark(gone.address.address());
    }
}

// Neighbours and forwarding entries ---------------------------------------------------------------

void Engine::on(const NeighborSeen& seen, TimePoint now) {
    if (seen.source != Source::Dump) {
        audits_.explained(seen.key);
    } else if (served_.find(seen.key.link) != nullptr && !seen.key.address.is_multicast()) {
        audits_.entry_read(AuditTable::Neighbors);
    }
    if (seen.neighbor.state == Nud::Failed && is_our_deletion(seen.key)) {
        return;  // The kernel says so of what it is about to delete; that is told next.
    }
    const bool judged = has_verdict(seen);  // Before the table knows it.
    if (!puts_off(seen, now)) {
        take_over(seen, now);
    }
    if (judged) {
        note_verdict(seen);
    }
}

void Engine::take_over(const NeighborSeen& seen, TimePoint now) {
    const NeighborTable::Change change = neighbors_.see(seen, now);
    NeighborRecord* record = change.record;
    if (record == nullptr) {
        return;
    }
    const Neighbor& old = change.before;
    const bool compared = change.was_in_kernel || old == Neighbor{};  // Else we put it back.
    if (seen.source == Source::Dump && compared && audits_.compares(AuditTable::Neighbors)) {
        audit_neighbor(seen.key, old, seen.neighbor);
    }
    crowds_changed_ = crowds_changed_ || old == Neighbor{};
    if (!old.mac.is_zero() && old.mac != seen.neighbor.mac) {
        note_mac(*record, old.mac);
        note_move(seen.key, old.mac, seen.neighbor.mac);
        release_mac(seen.key.link, old.mac);
        record->probed = false;
    }
    if (seen.source == Source::Event) {
        note_evidence(*record, seen, old);
    }
    if (is_synced(seen.neighbor)) {
        // From now on it is another leaf's word; what it takes for evidence begins anew.
        record->answered = TimePoint{};
        record->heard = TimePoint{};
        record->sent = TimePoint{};
    }
    const bool left = is_synced(seen.neighbor) && !is_synced(old);
    if ((left || seen.neighbor.state == Nud::Failed) && vouched_.contains(seen.key)) {
        unsynced_.push_back(seen.key);
    }
    if (keeps_host_away(*record)) {
        failed_.emplace_back(now + limits::kFailedGrace, seen.key);
    }
    if (seen.source == Source::Event && seen.neighbor.state == Nud::Reachable) {
        confirm_port(seen.key.link, seen.neighbor.mac);
    }
    // REACHABLE, STALE, DELAY and PROBE follow each other all day: to us they are one. From
    // another leaf's word or an operator's they come to be asked from time to time.
    const bool same = change.was_in_kernel && old.mac == seen.neighbor.mac &&
                      judge_state(old) == judge_state(seen.neighbor) &&
                      can_be_asked(old) == can_be_asked(seen.neighbor);
    if (!same) {
        mark_dirty(*record);
    } else {
        note_changed(seen.key);
    }
}

// A FAILED entry that we wrote is collected by nobody. One of an IPv6 host makes the kernel deaf to
// its advertisements (ndisc_recv_na() in net/ipv6/ndisc.c ignores them for FAILED entries), and
// below gc_thresh1 it stays for ever.
bool Engine::keeps_host_away(const NeighborRecord& record) const {
    const Neighbor& neighbor = record.neighbor;
    if (neighbor.state != Nud::Failed || !record.in_kernel) {
        return false;
    }
    return is_ours(neighbor) ||
           (!record.key.address.is_v4() && served_.find(record.key.link) != nullptr);
}

// The host came back to life while we asked the kernel to delete its FAILED entry: what is deleted
// is the living one then.
bool Engine::is_our_deletion(const NeighborKey& key) const {
    const NeighborRecord* record = neighbors_.find(key);
    return record != nullptr && judge_state(record->neighbor) == Reason::Eligible &&
           deletions_.contains(key);
}

void Engine::on(const NeighborGone& gone, TimePoint now) {
    audits_.explained(gone.key);
    neighbors_.note_deleted(gone.key);
    const bool by_us = is_our_deletion(gone.key);
    deletions_.erase(gone.key);
    doubts_.erase(gone.key);
    NeighborRecord* record = neighbors_.find(gone.key);
    if (record == nullptr) {
        return;
    }
    if (by_us) {
        neighbor_lost(gone.key, now);
        return;
    }
    if (!was_alive(gone.last) || record->neighbor.mac != gone.last.mac) {
        remove_neighbor(gone.key, now);
        return;
    }
    neighbor_lost(gone.key, now);
}

// The garbage collector took a host that was alive (over gc_thresh1, machine-wide, idle for a
// minute), or the interface went down and says so in a moment. The host stays until the interface
// is known to be down; it goes back into the kernel's table, marked as one that is not collected,
// and is asked.
void Engine::neighbor_lost(const NeighborKey& key, TimePoint now) {
    NeighborRecord* record = neighbors_.find(key);
    if (served_.find(key.link) == nullptr) {
        remove_neighbor(key, now);
        return;
    }
    record->in_kernel = false;
    record->changed = now;
    probes_.add(key, now + limits::kCollectedGrace);
    mark_dirty(key);
}

void Engine::remove_neighbor(const NeighborKey& key, TimePoint now) {
    NeighborRecord* known = neighbors_.find(key);
    if (known == nullptr) {
        return;
    }
    note_mac(*known, known->neighbor.mac);
    // While it is known where the host lived: that may say why it is lost.
    if (known->reason == Reason::OverLimit) {
        note_over_limit(key, false);
    }
    if (const auto claim = std::exchange(known->claim, std::nullopt)) {
        uncount_claim(key);
        decide_route(route_key(*claim, key.address), now);
    }
    const auto record = neighbors_.erase(key);
    denied_.erase(key);
    if (vouched_.contains(key)) {
        unsynced_.push_back(key);
    }
    crowds_changed_ = true;
    note_changed(key);
    proxies_.mark(key.address);
    probes_.remove(key);
    doubts_.erase(key);
    if (!record->neighbor.mac.is_zero()) {
        release_mac(key.link, record->neighbor.mac);
    }
}

// A host has answered. If its forwarding entry stands, the answer came in by that port: the bridge
// refreshes an entry without a word, and one that outlived a short loss of carrier is never new.
void Engine::confirm_port(IfIndex link, const MacAddress& mac) {
    const ServedInterface* served = served_.find(link);
    if (served == nullptr || served->bridge == IfIndex::None) {
        return;
    }
    const FdbKey key = fdb_key(*served, mac);
    PortBinding* binding = fdb_.find(key);
    if (binding != nullptr && binding->live && binding->unconfirmed &&
        links_.is_up(binding->port)) {
        binding->unconfirmed = false;
        mark_mac_dirty(key);
    }
}

// The last host with this MAC is gone: the memory of its port goes too.
void Engine::release_mac(IfIndex link, const MacAddress& mac) {
    const ServedInterface* served = served_.find(link);
    if (served == nullptr || served->bridge == IfIndex::None) {
        return;
    }
    for (const IfIndex sharing : served_.on_bridge(served->bridge, served->vlan)) {
        if (neighbors_.has_mac(sharing, mac)) {
            return;
        }
    }
    const FdbKey key = fdb_key(*served, mac);
    const PortBinding* binding = fdb_.find(key);
    if (binding == nullptr) {
        return;
    }
    if (binding->saved) {
        outputs_.emplace_back(RememberPort{.bridge = std::string(links_.name_of(key.bridge)),
                                           .vlan = key.vlan,
                                           .mac = mac,
                                           .port = std::nullopt});
    }
    fdb_.forget(key, links_.name_of(key.bridge));
}

void Engine::on(const FdbSeen& seen, TimePoint /*now*/) {
    if (seen.entry.local || seen.entry.port == seen.key.bridge) {
        return;
    }
    note_synced_moved(seen);
    const bool dumped = seen.source == Source::Dump;
    if (!dumped) {
        audits_.explained(seen.key);
    } else if (!served_.on_bridge(seen.key.bridge, seen.key.vlan).empty()) {
        audits_.entry_read(AuditTable::Forwarding);
    }
    const bool compared = dumped && audits_.compares(AuditTable::Forwarding);
    const auto before = compared ? live_port_of(seen.key) : std::nullopt;
    if (fdb_.see(seen, links_.is_up(seen.entry.port))) {
        mark_mac_dirty(seen.key);
    }
    if (compared) {
        audit_forwarding(seen.key, before, live_port_of(seen.key));
    }
}

std::optional<IfIndex> Engine::live_port_of(const FdbKey& key) const {
    const PortBinding* binding = fdb_.find(key);
    return binding != nullptr && binding->live ? std::optional(binding->port) : std::nullopt;
}

void Engine::on(const FdbGone& gone, TimePoint /*now*/) {
    audits_.explained(gone.key);
    fdb_.gone(gone);
    for (const NeighborKey& key : steered_by(gone.key)) {
        unsynced_.push_back(key);
    }
}

// zebra -------------------------------------------------------------------------------------------

void Engine::on(const RouteAnswered& answered, TimePoint now) {
    if (answered.answer == RouteAnswer::FailedInstall ||
        answered.answer == RouteAnswer::RemoveFailed) {
        say(Level::Warn,
            "zapi.route.failed",
            fmt::format(
                "prefix={} vrf={} text=\"zebra could not install or remove it, will try again\"",
                answered.key.prefix.to_string(),
                number(answered.key.vrf)));
    }
    if (answered.answer == RouteAnswer::BetterWon) {
        say(Level::Warn,
            "zapi.route.rejected",
            fmt::format("prefix={} vrf={} text=\"zebra prefers another route\"",
                        answered.key.prefix.to_string(),
                        number(answered.key.vrf)));
    }
    sink_.answered(answered, now);
    note_settled(answered.key, now);
}

void Engine::on(const RouteSeen& seen, TimePoint now) {
    if (seen.route) {
        audits_.entry_read(AuditTable::Routes);
    }
    sink_.seen(seen, now);
    note_settled(seen.key, now);
}

void Engine::on(const ReadBackFinished& finished, TimePoint now) {
    sink_.read_back_finished(finished, now);
    note_routes_found();
    if (audits_.is_reading(AuditTable::Routes)) {
        audits_.read_ends(AuditTable::Routes, finished.complete, now);
    }
    if (finished.complete) {
        times_.audited([this](const RouteKey& key) { return sink_.routes().state(key); });
    }
}

void Engine::note_settled(const RouteKey& key, TimePoint now) {
    if (times_.waits_for(key)) {
        times_.settled(key, sink_.routes().state(key), now);
    }
}

void Engine::on(const ZapiUp& up, TimePoint now) {
    announced_vrfs_.clear();
    plane_session_began();
    restart_completed_ = false;
    if (peers_matter_ != up.resolves_over_ours) {
        peers_matter_ = up.resolves_over_ours;
        for (const IpAddress& peer : bgp_peers_) {
            mark_address_dirty(peer);
        }
    }
    sink_.up(now);
    reach(Milestone::ZapiUp, now);
    say(Level::Info, "zapi.up", fmt::format("family={}", up.family));
    recover("zebra");
}

void Engine::on(const ZapiLost& lost, TimePoint /*now*/) {
    sink_.lost();
    audits_.cannot_read(AuditTable::Routes, "not connected", "connects again");
    plane_.lost();
    degrade("zebra", lost.why.text);
}

void Engine::on(const BgpPeersSeen& seen, TimePoint /*now*/) {
    absl::btree_set<IpAddress> peers(seen.peers.begin(), seen.peers.end());
    std::swap(peers, bgp_peers_);
    if (!peers_matter_) {
        return;
    }
    for (const auto* list : {&peers, &bgp_peers_}) {
        for (const IpAddress& peer : *list) {
            mark_address_dirty(peer);
        }
    }
}

// The rest ----------------------------------------------------------------------------------------

void Engine::on(const KernelAnswered& answered, TimePoint now) {
    if (const auto outcome = settings_.answered(answered)) {
        note_setting_found(*outcome);
        if (outcome->error) {
            degrade("setting " + outcome->name, outcome->error->text);
        } else {
            recover("setting " + outcome->name);
        }
        return;
    }
    if (note_link_answer(answered, now) || note_proxy_answer(answered, now)) {
        return;
    }
    const auto write = neighbor_writes_.find(answered.request);
    if (write == neighbor_writes_.end()) {
        if (answered.error) {
            // Nothing was deleted (it was gone already): no notification follows.
            absl::erase_if(deletions_, [&](const auto& d) { return d.second == answered.request; });
            const bool gone_already = answered.error->system_errno == ENOENT;
            say(gone_already ? Level::Debug : Level::Warn,
                "kernel.refused",
                fmt::format("text=\"{}\"", answered.error->text));
        }
        return;
    }
    const NeighborKey key = write->second;
    neighbor_writes_.erase(write);
    if (!answered.error) {
        recover("neighbour table");
        neighbors_.note_written(key);
        return;
    }
    if (shield_.is_up()) {
        ask_again_later(key, now);
    }
    const NeighborRecord* record = neighbors_.find(key);
    if (record != nullptr && !record->in_kernel) {
        degrade(
            "neighbour table",
            fmt::format("cannot put {} back: {}", key.address.to_string(), answered.error->text));
        probes_.add(key, now + limits::kProbeRetry);
    }
}

// A port that could not be set is set again in a while: one that stays down cuts a server off.
bool Engine::note_link_answer(const KernelAnswered& answered, TimePoint now) {
    const auto request = link_requests_.find(answered.request);
    if (request == link_requests_.end()) {
        return false;
    }
    const auto [link, up] = request->second;
    link_requests_.erase(request);
    const std::string id = fmt::format("port {}", links_.name_of(link));
    if (!answered.error) {
        recover(id);
    } else if (links_.find(link) != nullptr) {
        degrade(id, answered.error->text);
        link_retries_[link] = {.up = up, .at = now + limits::kLinkRetry};
    }
    return true;
}

void Engine::on(const PortRemembered& remembered, TimePoint /*now*/) {
    fdb_.remember(remembered, links_);
}

void Engine::on(const ShutRemembered& remembered, TimePoint /*now*/) {
    shut_ports_.try_emplace(remembered.port, IfIndex::None);
    isolation_dirty_ = true;
}

void Engine::on(const NeighborTableSeen& seen, TimePoint /*now*/) {
    const std::string_view family = seen.family == Family::V4 ? "ipv4" : "ipv6";
    const std::string id = fmt::format("{} neighbour table", family);
    constexpr std::uint32_t kAlarmPercent = 80;
    const std::uint64_t alarm = std::uint64_t{seen.gc_thresh3} * kAlarmPercent / 100;
    if (seen.entries >= alarm && seen.gc_thresh3 > 0) {
        degrade(id,
                fmt::format(
                    "{} of {} entries (net.{}.neigh.default.gc_thresh3, machine-wide): raise it, "
                    "or new hosts cannot be learned",
                    seen.entries,
                    seen.gc_thresh3,
                    family));
    } else {
        recover(id);
    }
}

void Engine::on(const MirrorSeen& seen, TimePoint /*now*/) {
    if (seen.trouble.empty()) {
        recover("redis");
    } else {
        degrade("redis", seen.trouble);
    }
}

void Engine::on(const ApiSeen& seen, TimePoint /*now*/) {
    if (seen.trouble.empty()) {
        recover("api");
    } else {
        degrade("api", seen.trouble);
    }
}

void Engine::on(const TroubleSeen& seen, TimePoint /*now*/) {
    if (seen.text.empty()) {
        recover(seen.what);
    } else {
        degrade(seen.what, seen.text);
    }
}

void Engine::on(const ConfigChanged& changed, TimePoint now) {
    const bool all_differ =
        config_->routes != changed.config->routes || config_->learning != changed.config->learning;
    config_ = changed.config;
    configure_holds();
    served_dirty_ = true;
    isolation_dirty_ = true;
    if (all_differ) {
        mark_all_dirty();
    }
    reach(Milestone::ConfigLoaded, now);
}

void Engine::on(const StopRequested& /*requested*/, TimePoint /*now*/) {
    if (std::exchange(stopping_, true)) {
        return;  // Asked twice before the end of it was heard.
    }
    const bool withdraw = config_->on_exit == OnExit::Withdraw;
    if (withdraw) {
        settings_.undo_all();
        remove_proxies();
        remove_synced();
        open_shut_ports();
    } else if (!shut_ports_.empty()) {
        say(Level::Warn,
            "uplinks.shut.kept",
            fmt::format("ports={} text=\"server ports stay down while planed is stopped\"",
                        shut_ports_.size()));
    }
    run_settings();
    outputs_.emplace_back(Finish{.withdraw = withdraw});
}

// Dirty keys --------------------------------------------------------------------------------------

void Engine::mark_dirty(const NeighborKey& key) {
    NeighborRecord* record = neighbors_.find(key);
    if (record != nullptr) {
        mark_dirty(*record);
    }
}

// Until all tables have been read nothing can be planned, and then everything is, in order.
void Engine::mark_dirty(NeighborRecord& record) {
    if (facts_whole_ && !record.dirty) {
        record.dirty = true;
        dirty_.push_back(record.key);
    }
}

void Engine::mark_address_dirty(const IpAddress& address) {
    neighbors_.for_each_place(address, [this](NeighborRecord& record) { mark_dirty(record); });
}

void Engine::mark_mac_dirty(const FdbKey& key) {
    for (const IfIndex link : served_.on_bridge(key.bridge, key.vlan)) {
        for (const IpAddress& address : neighbors_.addresses_of(link, key.mac)) {
            mark_dirty({.link = link, .address = address});
        }
    }
}

// A MAC has become ours, or is not any more.
void Engine::mark_mac_dirty(const MacAddress& mac) {
    if (mac.is_zero()) {
        return;
    }
    for (const auto& [link, served] : served_.all()) {
        for (const IpAddress& address : neighbors_.addresses_of(link, mac)) {
            mark_dirty({.link = link, .address = address});
        }
    }
}

void Engine::mark_link_dirty(IfIndex link) {
    for (const NeighborKey& key : neighbors_.on_link(link)) {
        mark_dirty(key);
    }
}

void Engine::mark_all_dirty() {
    std::vector<NeighborKey> keys;
    keys.reserve(neighbors_.size());
    neighbors_.for_each(
        [&](const NeighborKey& key, const NeighborRecord&) { keys.push_back(key); });
    for (const NeighborKey& key : keys) {
        mark_dirty(key);
    }
}

// Changes -----------------------------------------------------------------------------------------

void Engine::keep_changes(bool keep) {
    keeps_changes_ = keep;
    changes_ = {};
    sink_.keep_journal(keep);
    proxies_.keep_journal(keep);
}

Changes Engine::take_changes() {
    std::vector<RouteKey> journal = sink_.take_journal();
    changes_.routes.insert(changes_.routes.end(), journal.begin(), journal.end());
    changes_.proxies = proxies_.take_journal();
    return std::exchange(changes_, {});
}

// Words -------------------------------------------------------------------------------------------

void Engine::say(Level level, std::string_view id, std::string text) {
    if (level <= level_) {
        outputs_.emplace_back(Say{.note = {.level = level, .id = id, .text = std::move(text)}});
    }
}

void Engine::degrade(const std::string& id, std::string text) {
    const auto [entry, inserted] = degraded_.try_emplace(id);
    if (!inserted && entry->second == text) {
        return;
    }
    entry->second = std::move(text);
    say(Level::Warn, "degraded.begin", fmt::format("what=\"{}\" text=\"{}\"", id, entry->second));
}

void Engine::recover(const std::string& id) {
    if (degraded_.erase(id) > 0) {
        say(Level::Info, "degraded.end", fmt::format("what=\"{}\"", id));
    }
}

}  // namespace planed
