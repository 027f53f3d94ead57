// SPDX-License-Identifier: Apache-2.0
// Engine: hosts that another leaf of their Ethernet segment knows. A bond sends each frame by one
// of its ports, so a server may speak to one leaf alone and yet be reached through both. As long as
// a leaf *vouches* for a host, that it does not answer here proves nothing: its entry is NOARP,
// which the kernel never asks. What this leaf finds out itself comes before another's word, and
// when that word ends the host is asked: whoever answers stays.
#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "core/engine.hpp"

namespace planed {

void Engine::on(const SyncedSeen& seen, TimePoint now) {
    const SyncedName name{seen.vrf, seen.address};
    const auto [entry, fresh] = synced_.try_emplace(name);
    Synced& host = entry->second;
    if (fresh || host.mac != seen.mac || host.port != seen.port) {
        host.told = now;
        host.located = Synced::Located::Unasked;
    }
    host.mac = seen.mac;
    host.port = seen.port;
    host.leaf = seen.leaf;
    host.since = fresh ? now : host.since;
    place_synced(name, host);
}

void Engine::on(const SyncedGone& gone, TimePoint /*now*/) {
    const auto found = synced_.find(SyncedName{gone.vrf, gone.address});
    if (found == synced_.end()) {
        return;
    }
    const std::optional<NeighborKey> place = found->second.place;
    if (place) {
        vouched_.erase(*place);
    }
    unsteer(found->second);
    synced_.erase(found);
    if (place) {
        mark_dirty(*place);
    }
}

void Engine::on(const SyncedSettled& /*settled*/, TimePoint /*now*/) {
    synced_settled_ = true;
    recheck_synced();
}

const Engine::Synced* Engine::synced(const NeighborKey& key) const {
    if (vouched_.empty()) {
        return nullptr;  // As on most leaves.
    }
    const auto found = vouched_.find(key);
    return found == vouched_.end() ? nullptr : found->second;
}

// Places ------------------------------------------------------------------------------------------

void Engine::update_synced() {
    for (auto& [name, host] : synced_) {
        place_synced(name, host);
    }
}

void Engine::place_synced(const SyncedName& name, Synced& host) {
    const std::optional<NeighborKey> place = place_of(name, host);
    if (host.place && host.place != place) {
        vouched_.erase(*host.place);
        mark_dirty(*host.place);
    }
    host.place = place;
    if (place) {
        vouched_[*place] = &host;
        mark_dirty(*place);
        unsynced_.push_back(*place);
    }
    steer(host);
}

// What a server that is silent here is sent would be flooded to all ports: the bridge has nowhere
// to learn from where it is.
void Engine::steer(Synced& host) {
    const ServedInterface* served = host.place ? served_.find(host.place->link) : nullptr;
    const auto wanted = served != nullptr && served->bridge != IfIndex::None
                            ? std::optional(fdb_key(*served, host.mac))
                            : std::nullopt;
    if (host.steered == wanted) {
        return;
    }
    unsteer(host);
    host.steered = wanted;
    if (wanted) {
        ++steered_[*wanted].hosts;
    }
}

void Engine::unsteer(Synced& host) {
    const auto key = std::exchange(host.steered, std::nullopt);
    const auto found = key ? steered_.find(*key) : steered_.end();
    if (found == steered_.end() || --found->second.hosts > 0) {
        return;
    }
    steered_.erase(found);
    const PortBinding* binding = fdb_.find(*key);
    const Link* port = links_.find(host.port);
    if (binding != nullptr && binding->live && binding->written && port != nullptr &&
        binding->port == port->index) {
        outputs_.emplace_back(WriteForwarding{
            .request = next_request_++, .key = *key, .port = port->index, .put = false});
    }
}

// An entry of a port where the MAC is not any more is replaced, ours at once; where the word's own
// port is down there is nothing to put in its place.
void Engine::write_forwarding(const FdbKey& key, const Synced& host) {
    const PortBinding* binding = fdb_.find(key);
    const Link* port = links_.find(host.port);
    const auto steered = steered_.find(key);
    const bool known = binding != nullptr && binding->live;
    const bool wrong = known && port != nullptr && binding->port != port->index &&
                       (binding->written || host.located == Synced::Located::AsTold);
    const bool put = port != nullptr && is_up(*port);
    if (steered == steered_.end() || (known && !wrong) || (!put && !wrong)) {
        return;
    }
    if (!wrong && steered->second.written + limits::kForwardingRetry > now_) {
        return;
    }
    steered->second.written = now_;
    outputs_.emplace_back(WriteForwarding{.request = next_request_++,
                                          .key = key,
                                          .port = put ? port->index : binding->port,
                                          .put = put});
}

// Places of synced hosts whose MAC this is.
std::vector<NeighborKey> Engine::steered_by(const FdbKey& key) const {
    std::vector<NeighborKey> places;
    if (steered_.empty() || !steered_.contains(key)) {
        return places;
    }
    for (const IfIndex link : served_.on_bridge(key.bridge, key.vlan)) {
        for (const IpAddress& address : neighbors_.addresses_of(link, key.mac)) {
            places.push_back({.link = link, .address = address});
        }
    }
    return places;
}

// A frame of it has come in by another port than the word says, after that word.
void Engine::note_synced_moved(const FdbSeen& seen) {
    if (seen.source != Source::Event || seen.entry.ext_learned) {
        return;
    }
    for (const NeighborKey& key : steered_by(seen.key)) {
        const auto vouched = vouched_.find(key);
        if (vouched == vouched_.end() || vouched->second->located != Synced::Located::AsTold) {
            continue;
        }
        const Link* port = links_.find(vouched->second->port);
        if (port == nullptr || port->index != seen.entry.port) {
            vouched->second->located = Synced::Located::Elsewhere;
            mark_dirty(key);
        }
    }
}

// The bridge keeps an entry for minutes after the last frame. Has it heard the MAC there since the
// word came?
bool Engine::is_disputed(const Synced& host) const {
    const PortBinding* binding = host.steered ? fdb_.find(*host.steered) : nullptr;
    const Link* port = links_.find(host.port);
    const bool open =
        host.located == Synced::Located::Unasked || host.located == Synced::Located::Asked;
    return open && binding != nullptr && binding->live && !binding->written && port != nullptr &&
           binding->port != port->index;
}

void Engine::locate(const NeighborKey& key, Synced& host) {
    if (host.located != Synced::Located::Asked) {
        host.located = Synced::Located::Asked;
        locating_[next_request_] = key;
        outputs_.emplace_back(ReadForwarding{.request = next_request_++, .key = *host.steered});
    }
}

void Engine::note_located(const ForwardingRead& read, TimePoint now) {
    const auto asked = locating_.extract(read.request);
    const auto vouched = asked.empty() ? vouched_.end() : vouched_.find(asked.mapped());
    if (vouched == vouched_.end()) {
        return;
    }
    Synced& host = *vouched->second;
    if (host.located == Synced::Located::Asked) {
        const bool later =
            read.silent && now - *read.silent >= host.told + limits::kForwardingWritten;
        const bool unknown = read.error && read.error->code != Errc::Lost;
        host.located = later || unknown ? Synced::Located::Elsewhere : Synced::Located::AsTold;
        if (read.error && !unknown) {
            host.located = Synced::Located::Unasked;  // Once more.
        }
    }
    mark_dirty(vouched->first);
    unsynced_.push_back(vouched->first);
}

// Of the interfaces that the segment's port leads to, the one in whose subnet the address is.
std::optional<NeighborKey> Engine::place_of(const SyncedName& name, const Synced& host) const {
    const auto& [vrf, address] = name;
    const Link* port = links_.find(host.port);
    if (port == nullptr) {
        return std::nullopt;
    }
    for (const auto& [link, served] : served_.all()) {
        const Link* own = links_.find(link);
        const bool leads = served.bridge == IfIndex::None
                               ? link == port->index || own->lower == port->index
                               : port->master == served.bridge;
        const bool here = vrf == EngineView(*this).name_of(served.vrf);
        const auto& allowed = served.allowed();
        if (leads && here && std::ranges::any_of(allowed, [&](const IpPrefix& prefix) {
                return prefix.contains(address);
            })) {
            return NeighborKey{.link = link, .address = address};
        }
    }
    return std::nullopt;
}

// The segment says where it is, unless this leaf knows the host itself or has seen its MAC
// elsewhere since. Whether the host has been heard since the port came back does not matter: it
// lives, and its bond has this port.
PortFacts Engine::with_synced_port(const NeighborKey& key,
                                   const ServedInterface& served,
                                   const PortFacts& learned) const {
    const Synced* host = synced(key);
    const Link* port = host == nullptr ? nullptr : links_.find(host->port);
    if (port == nullptr || served.bridge == IfIndex::None) {
        return without_word(key, learned);
    }
    const NeighborRecord* record = neighbors_.find(key);
    const PortBinding* binding = fdb_.find(fdb_key(served, host->mac));
    const bool own = record != nullptr && !is_synced(record->neighbor) &&
                     judge_state(record->neighbor) == Reason::Eligible;
    const bool seen = binding != nullptr && binding->live && !binding->written &&
                      host->located != Synced::Located::AsTold;
    if (learned.state == PortFacts::State::Up && learned.port != port->index && (own || seen)) {
        return learned;
    }
    return {.state = is_up(*port) ? PortFacts::State::Up : PortFacts::State::Down,
            .port = port->index};
}

// Of whom only another leaf knew, and the bridge has no entry: behind a port that was down, or
// there would be ours. It gets no route by that, and keeps the one it has.
PortFacts Engine::without_word(const NeighborKey& key, const PortFacts& learned) const {
    if (config_->evpn.segments.empty()) {
        return learned;
    }
    const NeighborRecord* record = neighbors_.find(key);
    const ServedInterface* served = served_.find(key.link);
    if (record == nullptr || record->claim || !is_ours(record->neighbor) || served == nullptr ||
        served->bridge == IfIndex::None) {
        return learned;
    }
    const PortBinding* binding = fdb_.find(fdb_key(*served, record->neighbor.mac));
    if (binding != nullptr && binding->live) {
        return learned;
    }
    const bool asked = record->neighbor.state == Nud::Probe && record->proven() == TimePoint{};
    return asked || is_synced(record->neighbor)
               ? PortFacts{.state = PortFacts::State::Unconfirmed, .port = learned.port}
               : learned;
}

// The bridge takes an entry that we write for a frame just heard.
bool Engine::is_our_writing(const NeighborRecord& record, TimePoint sent) const {
    const ServedInterface* served = served_.find(record.key.link);
    if (steered_.empty() || served == nullptr || served->bridge == IfIndex::None) {
        return false;
    }
    const auto steered = steered_.find(fdb_key(*served, record.neighbor.mac));
    return steered != steered_.end() && sent < steered->second.written + limits::kForwardingWritten;
}

// So it stays when that word ends, until the host has been asked.
void Engine::confirm_by_others(const NeighborKey& key, PortBinding* binding) const {
    const Synced* host = binding == nullptr ? nullptr : synced(key);
    const Link* port = host == nullptr ? nullptr : links_.find(host->port);
    if (port != nullptr && binding->port == port->index && is_up(*port)) {
        binding->unconfirmed = false;
    }
}

// Evidence ----------------------------------------------------------------------------------------

// Nor is it evidence that a host is being asked which was another leaf's until now: two leaves that
// took it for that would keep a dead host alive by turns.
bool Engine::has_evidence(const NeighborRecord& record) const {
    const ServedInterface* served = served_.find(record.key.link);
    const bool asked = record.neighbor.state == Nud::Probe && record.proven() == TimePoint{};
    if (served == nullptr || asked || is_synced(record.neighbor)) {
        return false;
    }
    // Where this leaf knows it, not where another says that it is.
    const PortFacts port =
        static_port(record.key, *served).value_or(port_of(record.key.link, record.neighbor.mac));
    const bool placed =
        port.state == PortFacts::State::NotBridged || port.state == PortFacts::State::Up;
    return placed &&
           judge({.address = record.key.address,
                  .neighbor = record.neighbor,
                  .served = served,
                  .port = port,
                  .isolated = false,  // Its servers may still be heard by this leaf alone.
                  .own_address = addresses_.owns(record.key.address),
                  .own_mac = links_.owns_mac(record.neighbor.mac),
                  .denied = denied(record.key) != nullptr}) == Reason::Eligible;
}

// Before the peers have told all they know, whoever is behind a segment may be known to one of
// them.
bool Engine::is_vouched_for(const NeighborRecord& record) const {
    if (!synced_settled_ && !config_->evpn.segments.empty()) {
        const std::string_view port = links_.name_of(port_of(record.key).port);
        return std::ranges::any_of(config_->evpn.segments, [port](const EvpnSegmentConfig& each) {
            return each.port == port;
        });
    }
    const Synced* host = synced(record.key);
    return host != nullptr && host->mac == record.neighbor.mac;
}

// It does not answer here and another leaf knows it: from now on it is theirs. `in_kernel`: its
// entry there has not failed yet.
void Engine::leave_to_others(NeighborRecord& record, bool in_kernel, TimePoint now) {
    record.mute = false;
    note_changed(record.key);
    if (!in_kernel) {
        record.in_kernel = false;
        record.changed = now;
    }
    revivals_.push_back(record.key);
    if (const Synced* host = synced(record.key); host != nullptr && host->steered) {
        write_forwarding(*host->steered, *host);
    }
}

// Nobody vouches for it any more.
void Engine::check_synced(const NeighborRecord& record, TimePoint now) {
    if (synced_settled_ && record.in_kernel && is_synced(record.neighbor) &&
        !vouched_.contains(record.key)) {
        probes_.add(record.key, now);
    }
}

void Engine::recheck_synced() {
    neighbors_.for_each([this](const NeighborKey& key, const NeighborRecord& record) {
        if (is_synced(record.neighbor) && !vouched_.contains(key)) {
            mark_dirty(key);
        }
    });
    for (const auto& [key, host] : vouched_) {
        unsynced_.push_back(key);
    }
    std::ranges::sort(unsynced_);  // The map has no order.
}

// What is in the kernel by another leaf's word alone goes with us.
void Engine::remove_synced() {
    for (auto& [name, host] : synced_) {
        const NeighborRecord* record = host.place ? neighbors_.find(*host.place) : nullptr;
        if (record != nullptr && record->in_kernel && is_synced(record->neighbor)) {
            outputs_.emplace_back(DeleteNeighbor{.request = next_request_++, .key = *host.place});
        }
        unsteer(host);
    }
    vouched_.clear();
    synced_.clear();
}

void Engine::run_synced(TimePoint now) {
    if (!knows_neighbors() || !facts_whole_) {
        return;
    }
    // What this leaf knows of it was heard by a port that is down, and others have it behind one
    // that is not: from now on it is theirs.
    const auto has_lost_its_port = [this](const NeighborRecord& record, const Synced& host) {
        const PortFacts learned = port_of(record.key.link, record.neighbor.mac);
        const bool lost =
            learned.state == PortFacts::State::Down || learned.state == PortFacts::State::Left;
        const Link* port = links_.find(host.port);
        return lost && port != nullptr && is_up(*port) && learned.port != port->index;
    };
    for (const NeighborKey& key : std::exchange(unsynced_, {})) {
        const auto vouched = vouched_.find(key);
        const ServedInterface* served = served_.find(key.link);
        if (vouched == vouched_.end() || served == nullptr || !served->up || pinned_mac(key)) {
            continue;
        }
        Synced* host = vouched->second;
        const NeighborRecord* record = neighbors_.find(key);
        const bool alive = record != nullptr && record->in_kernel &&
                           judge_state(record->neighbor) == Reason::Eligible;
        const bool own =
            alive && !is_synced(record->neighbor) && !has_lost_its_port(*record, *host);
        if (!own && is_disputed(*host)) {
            locate(key, *host);
            continue;
        }
        if (host->steered) {
            write_forwarding(*host->steered, *host);
        }
        if (alive && record->neighbor.mac == host->mac && (own || is_synced(record->neighbor))) {
            continue;
        }
        if (own) {
            probes_.add(key, now);  // Another MAC has it here: is that so still?
            continue;
        }
        if (record == nullptr && is_crowded(*served, host->mac)) {
            ++learning_.over_limit;
            continue;
        }
        write_neighbor({.key = key,
                        .mac = host->mac,
                        .state = Nud::NoArp,
                        .ext_learned = true,
                        .only_new = record == nullptr});
    }
}

}  // namespace planed
