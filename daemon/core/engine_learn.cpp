// SPDX-License-Identifier: Apache-2.0
// Engine, third part: hosts that were heard and the kernel does not have, and hosts that must prove
// again that they live.
#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "core/engine.hpp"
#include "core/limits.hpp"

namespace planed {
namespace {

// The kernel will ask if it is told to; of the others it is never in doubt.
bool can_be_asked(const Neighbor& neighbor) {
    return judge_state(neighbor) == Reason::Eligible && neighbor.state != Nud::Permanent &&
           neighbor.state != Nud::NoArp;
}

bool is_being_asked(const Neighbor& neighbor) {
    return neighbor.state == Nud::Delay || neighbor.state == Nud::Probe;
}

}  // namespace

// Refresh -----------------------------------------------------------------------------------------

void Engine::schedule_refresh(NeighborRecord& record, TimePoint now) {
    const Duration refresh = config_->learning.refresh;
    const bool waits = record.refresh_at != TimePoint{} && record.refresh_at <= now + refresh;
    if (waits || !can_be_asked(record.neighbor)) {
        return;
    }
    record.refresh_at = record.proven == TimePoint{} ? refreshes_.first(now, refresh)
                                                     : refreshes_.next(record.proven, refresh);
    refreshes_.add({.at = record.refresh_at, .key = record.key});
}

void Engine::run_refresh(TimePoint now) {
    if (!facts_whole_) {
        return;
    }
    const Duration refresh = config_->learning.refresh;
    while (const auto due = refreshes_.poll(now)) {
        NeighborRecord* record = neighbors_.find(due->key);
        if (record == nullptr || record->refresh_at != due->at) {
            continue;  // Another host by the same name, or one that waits for another time.
        }
        record->refresh_at = TimePoint{};
        if (!record->claim || !can_be_asked(record->neighbor)) {
            continue;
        }
        TimePoint from = record->proven;
        if (!RefreshQueue::is_fresh(record->proven, now, refresh)) {
            from = now;  // By then it has answered, or is gone.
            if (!is_being_asked(record->neighbor)) {
                ++learning_.refreshed;
                probes_.add(due->key, now);
            }
        }
        record->refresh_at = refreshes_.next(from, refresh);
        refreshes_.add({.at = record->refresh_at, .key = due->key});
    }
    // Hosts that came and went leave their places behind.
    if (refreshes_.size() > 2 * neighbors_.size() + 1024) {
        refreshes_.purge([this](const RefreshQueue::Due& due) {
            const NeighborRecord* record = neighbors_.find(due.key);
            return record == nullptr || record->refresh_at != due.at;
        });
    }
}

// Frames ------------------------------------------------------------------------------------------

// All ports of the bridges on which an interface is served, and the served interfaces that are
// none.
void Engine::update_listening() {
    absl::btree_map<IfIndex, bool> wanted;  // Routed?
    for (const auto& [link, served] : served_.all()) {
        if (!served.config.snoop) {
            continue;
        }
        if (served.bridge == IfIndex::None) {
            wanted[link] = true;
            continue;
        }
        for (const IfIndex port : links_.members_of(served.bridge)) {
            wanted[port] = false;
        }
    }
    std::vector<IfIndex> links;
    Listen listen;
    for (const auto& [link, routed] : wanted) {
        links.push_back(link);
        listen.places.push_back(
            {.link = link, .name = std::string(links_.name_of(link)), .routed = routed});
    }
    if (links != listening_) {
        listening_ = std::move(links);
        outputs_.emplace_back(std::move(listen));
    }
}

void Engine::on(const Listening& listening, TimePoint /*now*/) {
    const std::string id = fmt::format("snooping {}", listening.interface);
    if (listening.error) {
        degrade(id, listening.error->text);
    } else {
        recover(id);
    }
}

// On a bridge that filters VLANs an untagged frame belongs to its port's own VLAN, which is not
// known here: the bridge has learned its MAC there, or it is not believed.
const ServedInterface* Engine::served_at(const HostHeard& heard) const {
    if (const ServedInterface* routed = served_.find(heard.link); routed != nullptr) {
        const bool believed = routed->bridge == IfIndex::None && heard.vlan == VlanId::None;
        return believed ? routed : nullptr;
    }
    const Link* port = links_.find(heard.link);
    const Link* bridge = port == nullptr ? nullptr : links_.find(port->master);
    if (bridge == nullptr || bridge->kind != LinkKind::Bridge) {
        return nullptr;
    }
    const ServedInterface* found = nullptr;
    for (const auto& [link, served] : served_.all()) {
        if (served.bridge != bridge->index) {
            continue;
        }
        const Link* own = links_.find(link);
        const VlanId tag = own->kind == LinkKind::Vlan ? own->vlan : VlanId::None;
        bool here = tag == heard.vlan;
        if (bridge->vlan_filtering && heard.vlan == VlanId::None) {
            const PortBinding* binding = fdb_.find(fdb_key(served, heard.mac));
            here = binding != nullptr && binding->live && binding->port == heard.link;
        }
        if (here && found != nullptr) {
            return nullptr;  // It may be either.
        }
        found = here ? &served : found;
    }
    return found;
}

void Engine::on(const HostHeard& heard, TimePoint now) {
    ++learning_.heard;
    const ServedInterface* served = served_at(heard);
    // A frame that waited while its port went down is from before that.
    const bool timely = links_.is_up(heard.link) && !raised_.contains(heard.link);
    if (served == nullptr || !served->config.snoop || !timely || !facts_whole_) {
        ++learning_.ignored;
        return;
    }
    hear(heard, *served, now);
}

void Engine::hear(const HostHeard& heard, const ServedInterface& served, TimePoint now) {
    const NeighborKey key{.link = served.link, .address = heard.address};
    NeighborRecord* record = neighbors_.find(key);
    const bool alive = record != nullptr && judge_state(record->neighbor) == Reason::Eligible;
    if (alive && record->neighbor.mac == heard.mac) {
        record->proven = now;
        record->heard = now;
        confirm_heard_port(served, heard.mac, heard.link);
        return;
    }
    if (heard.claim == Claim::Confirms || (alive && heard.claim == Claim::Creates)) {
        return;
    }
    const Neighbor neighbor{.mac = heard.mac, .state = Nud::Stale};
    const auto bridged = PortFacts{.state = PortFacts::State::Up, .port = heard.link};
    const Reason reason = judge({.address = heard.address,
                                 .neighbor = neighbor,
                                 .served = &served,
                                 .port = served.bridge == IfIndex::None ? PortFacts{} : bridged,
                                 .isolated = false,
                                 .own_address = addresses_.owns(heard.address),
                                 .own_mac = links_.owns_mac(heard.mac),
                                 .bgp_peer = false});
    const bool fixed = record != nullptr && (record->neighbor.state == Nud::Permanent ||
                                             record->neighbor.state == Nud::NoArp);
    if (reason != Reason::Eligible || fixed) {
        ++learning_.ignored;
        return;
    }
    const auto waiting = heard_hosts_.find(key);
    if (waiting != heard_hosts_.end()) {
        waiting->second.mac = heard.mac;
        return;
    }
    if (heard_hosts_.size() >= limits::kHeardMax ||
        (record == nullptr && is_crowded(served, heard.mac))) {
        ++learning_.over_limit;
        return;
    }
    const TimePoint due = alive ? now + limits::kHeardGrace : now;
    heard_hosts_[key] = {.mac = heard.mac, .due = due};
    heard_.insert({due, key});
}

// No room for another host: on this interface, or of this server. What is on its way to the kernel
// and back counts, whosever it is.
bool Engine::is_crowded(const ServedInterface& served, const MacAddress& mac) const {
    const std::size_t on_the_way = heard_hosts_.size() + neighbor_writes_.size();
    return neighbors_.count_on(served.link) + on_the_way >= served.config.max_hosts ||
           neighbors_.addresses_of(served.link, mac).size() >= limits::kAddressesPerMacMax;
}

// The frame came in by that port, so it carries.
void Engine::confirm_heard_port(const ServedInterface& served,
                                const MacAddress& mac,
                                IfIndex port) {
    if (served.bridge == IfIndex::None) {
        return;
    }
    const FdbKey key = fdb_key(served, mac);
    PortBinding* binding = fdb_.find(key);
    if (binding != nullptr && binding->unconfirmed && binding->port == port) {
        binding->unconfirmed = false;
        mark_mac_dirty(key);
    }
}

void Engine::run_heard(TimePoint now) {
    if (!knows_neighbors()) {
        return;
    }
    for (std::size_t budget = limits::kHeardPerTurnMax; budget > 0; --budget) {
        if (heard_.empty() || heard_.begin()->first > now) {
            return;
        }
        const NeighborKey key = heard_.begin()->second;
        heard_.erase(heard_.begin());
        const MacAddress mac = heard_hosts_.extract(key).mapped().mac;
        const NeighborRecord* record = neighbors_.find(key);
        const bool alive = record != nullptr && judge_state(record->neighbor) == Reason::Eligible;
        const ServedInterface* served = served_.find(key.link);
        if ((alive && record->neighbor.mac == mac) || served == nullptr) {
            continue;  // The kernel has learned it itself.
        }
        if (record == nullptr && is_crowded(*served, mac)) {
            ++learning_.over_limit;
            continue;
        }
        const std::uint64_t request = next_request_++;
        neighbor_writes_[request] = key;
        ++learning_.written;
        outputs_.emplace_back(WriteNeighbor{.request = request,
                                            .key = key,
                                            .mac = mac,
                                            .state = Nud::Stale,
                                            .ext_learned = true,
                                            .only_new = record == nullptr});
    }
}

// The kernel gives a host up that was heard while it asked: what it answers goes elsewhere (to the
// other leaf of its bond, say).
bool Engine::is_mute(const NeighborSeen& seen, TimePoint now) const {
    if (seen.neighbor.state != Nud::Failed) {
        return false;
    }
    const NeighborRecord* record = neighbors_.find(seen.key);
    return record != nullptr && record->claim && record->neighbor.state == Nud::Probe &&
           record->heard > record->changed && record->heard + limits::kMuteWindow > now;
}

}  // namespace planed
