// SPDX-License-Identifier: Apache-2.0
// SimKernel: forwarding entries and neighbours, as net/bridge/br_fdb.c and net/core/neighbour.c
// keep them.
#include <algorithm>

#include "core/eligibility.hpp"
#include "sim/kernel.hpp"

namespace planed::sim {
namespace {

constexpr Duration kFdbAge = 300s;
constexpr Duration kReachableLeast = 15s;  // Half to one and a half of base_reachable_time, 30 s.
constexpr Duration kReachableMost = 45s;
constexpr Duration kDelay = 5s;             // delay_first_probe_time
constexpr std::uint32_t kRetransMs = 1000;  // retrans_time_ms
constexpr Duration kStaleTime = 60s;        // gc_stale_time
constexpr unsigned kUnicastTries = 3;       // ucast_solicit
constexpr unsigned kBroadcastTries = 3;     // mcast_solicit

bool has_mac(Nud state) {
    return state != Nud::None && state != Nud::Incomplete && state != Nud::Failed;
}

bool has_timer(Nud state) {
    return state == Nud::Incomplete || state == Nud::Reachable || state == Nud::Delay ||
           state == Nud::Probe;
}

}  // namespace

// Forwarding --------------------------------------------------------------------------------------

void SimKernel::learn(IfIndex port, VlanId vlan, const MacAddress& mac) {
    const IfIndex bridge = find(port)->master;
    const FdbKey key{.bridge = bridge, .vlan = vlan, .mac = mac};
    const auto [at, is_new] = fdb_.try_emplace(key);
    const bool moved = at->second.entry.port != port;
    // br_fdb_update(): one that a control plane has written stays so until it moves.
    const bool ages = is_new || (moved && at->second.entry.ext_learned);
    at->second.entry.ext_learned = !ages && at->second.entry.ext_learned;
    at->second.entry.port = port;
    at->second.heard = clock_.now();
    if (ages) {
        clock_.after(kFdbAge, [this, key] { check_age(key); });
    }
    if (is_new || moved) {
        neighbor_events.push(FdbSeen{.key = key, .entry = at->second.entry});
    }
}

void SimKernel::check_age(const FdbKey& key) {
    const auto found = fdb_.find(key);
    if (found == fdb_.end() || found->second.entry.ext_learned) {
        return;
    }
    const TimePoint end = found->second.heard + kFdbAge;
    if (end > clock_.now()) {
        clock_.at(end, [this, key] { check_age(key); });
        return;
    }
    const IfIndex port = found->second.entry.port;
    fdb_.erase(found);
    neighbor_events.push(FdbGone{.key = key, .port = port});
}

void SimKernel::flush_port(IfIndex port) {
    for (auto at = fdb_.begin(); at != fdb_.end();) {
        if (at->second.entry.port != port) {
            ++at;
            continue;
        }
        neighbor_events.push(FdbGone{.key = at->first, .port = port});
        at = fdb_.erase(at);
    }
}

const FdbEntry* SimKernel::forwarding(const FdbKey& key) const {
    const auto found = fdb_.find(key);
    return found == fdb_.end() ? nullptr : &found->second.entry;
}

// Neighbours --------------------------------------------------------------------------------------

IfIndex SimKernel::interface_for(IfIndex port, VlanId vlan) const {
    const Link* link = find(port);
    if (link == nullptr || !link->bridge_port) {
        return link == nullptr ? IfIndex::None : port;
    }
    const Link* bridge = find(link->master);
    if (!bridge->vlan_filtering) {
        return bridge->index;
    }
    for (const auto& [index, candidate] : devices_) {
        if (candidate.link.lower == bridge->index && candidate.link.vlan == vlan) {
            return index;
        }
    }
    return IfIndex::None;
}

bool SimKernel::accepts(const NeighborKey& key, Speech speech) const {
    if (neighbors_.contains(key) || speech == Speech::AsksGateway) {
        return true;
    }
    const auto which = key.address.is_v4() ? Setting::ArpAccept : Setting::AcceptUntrackedNa;
    return speech == Speech::Announces && setting(key.link, which) != 0;
}

void SimKernel::hear(const std::string& port_name,
                     VlanId vlan,
                     const MacAddress& mac,
                     const IpAddress& address,
                     Speech speech) {
    const Link* port = find(port_name);
    if (port == nullptr || !is_up(port->index)) {
        return;
    }
    if (port->bridge_port) {
        learn(port->index, vlan, mac);
    }
    if (listening_.contains(port->index)) {
        frames.push(HostHeard{.link = port->index, .vlan = {}, .address = address, .mac = mac});
    }
    const NeighborKey key{.link = interface_for(port->index, vlan), .address = address};
    if (!is_up(key.link) || !accepts(key, speech)) {
        return;
    }
    if (speech == Speech::Answers) {
        update(key, mac, Nud::Reachable, Actor::Kernel);
        return;
    }
    // neigh_update(): an unchanged address that is merely heard of leaves the state as it is.
    const SimNeighbor* known = neighbor(key);
    if (known == nullptr || known->mac != mac || !has_mac(known->state)) {
        update(key, mac, Nud::Stale, Actor::Kernel);
    }
    if (speech == Speech::AsksGateway) {
        use(key);
    }
}

void SimKernel::pass(const std::string& port_name, VlanId vlan, const MacAddress& mac) {
    const Link* port = find(port_name);
    if (port != nullptr && is_up(port->index) && port->bridge_port) {
        learn(port->index, vlan, mac);
    }
}

void SimKernel::update(const NeighborKey& key, const MacAddress& mac, Nud state, Actor actor) {
    const auto [at, is_new] = neighbors_.try_emplace(key);
    SimNeighbor& entry = at->second;
    if (is_new) {
        entry.used = clock_.now();
    }
    const bool fixed = entry.state == Nud::Permanent || entry.state == Nud::NoArp;
    if (fixed && actor == Actor::Kernel) {
        return;
    }
    const bool changed = entry.mac != mac || entry.state != state;
    entry.mac = mac;
    enter(key, entry, state);
    if (changed) {
        notify(key, entry);
    }
}

/// Without a word: who calls it notifies where the kernel does.
void SimKernel::enter(const NeighborKey& key, SimNeighbor& entry, Nud state) {
    entry.state = state;
    entry.entered = clock_.now();
    entry.timer = 0;
    switch (state) {
        case Nud::Reachable:
            entry.confirmed = clock_.now();
            set_timer(key, entry, random_.between(kReachableLeast, kReachableMost));
            return;
        case Nud::Delay: set_timer(key, entry, kDelay); return;
        case Nud::Probe:
        case Nud::Incomplete:
            entry.probes = 0;
            set_timer(key, entry, 0us);
            return;
        case Nud::None:
        case Nud::Stale:
        case Nud::Failed:
        case Nud::NoArp:
        case Nud::Permanent: return;
    }
}

void SimKernel::set_timer(const NeighborKey& key, SimNeighbor& entry, Duration delay) {
    const std::uint64_t timer = entry.timer = next_timer_++;
    clock_.after(delay, [this, key, timer] {
        const auto found = neighbors_.find(key);
        if (found != neighbors_.end() && found->second.timer == timer) {
            timer_fired(key);
        }
    });
}

void SimKernel::timer_fired(const NeighborKey& key) {
    SimNeighbor& entry = neighbors_.at(key);
    switch (entry.state) {
        case Nud::Reachable:
            if (entry.used + kDelay > clock_.now()) {
                enter(key, entry, Nud::Delay);
                return;
            }
            enter(key, entry, Nud::Stale);
            notify(key, entry);
            return;
        case Nud::Delay:
            enter(key, entry, Nud::Probe);
            notify(key, entry);
            return;
        case Nud::Probe:
        case Nud::Incomplete: probe_fired(key, entry); return;
        case Nud::None:
        case Nud::Stale:
        case Nud::Failed:
        case Nud::NoArp:
        case Nud::Permanent: return;
    }
}

void SimKernel::probe_fired(const NeighborKey& key, SimNeighbor& entry) {
    const bool v4 = key.address.is_v4();
    const unsigned unicast_tries =
        set_or(key.link, v4 ? Setting::UcastSolicit4 : Setting::UcastSolicit6, kUnicastTries);
    const unsigned again =
        setting(key.link, v4 ? Setting::McastResolicit4 : Setting::McastResolicit6);
    const unsigned retrans =
        set_or(key.link, v4 ? Setting::RetransTime4 : Setting::RetransTime6, kRetransMs);
    const bool unicast = entry.state == Nud::Probe && entry.probes < unicast_tries;
    const unsigned tries = entry.state == Nud::Incomplete ? kBroadcastTries : unicast_tries + again;
    if (entry.probes >= tries) {
        enter(key, entry, Nud::Failed);
        notify(key, entry);
        return;
    }
    ++entry.probes;
    set_timer(key, entry, retrans * 1ms);
    solicit({.key = key, .to = unicast ? entry.mac : MacAddress{}});
}

void SimKernel::notify(const NeighborKey& key, const SimNeighbor& entry) {
    trace_.add([&] {
        return fmt::format("kernel: newneigh {} {} {}",
                           key.address.to_string(),
                           word(entry.state),
                           entry.mac.to_string());
    });
    neighbor_events.push(
        NeighborSeen{.key = key,
                     .neighbor = {.mac = has_mac(entry.state) ? entry.mac : MacAddress{},
                                  .state = entry.state,
                                  .ext_learned = entry.ext_learned,
                                  .protocol = entry.protocol}});
}

void SimKernel::remove(const NeighborKey& key) {
    const auto found = neighbors_.find(key);
    const SimNeighbor gone = found->second;
    neighbors_.erase(found);
    trace_.add([&] {
        return fmt::format("kernel: delneigh {} {}", key.address.to_string(), word(gone.state));
    });
    neighbor_events.push(NeighborGone{.key = key,
                                      .last = {.mac = has_mac(gone.state) ? gone.mac : MacAddress{},
                                               .state = gone.state,
                                               .ext_learned = gone.ext_learned,
                                               .protocol = gone.protocol}});
}

void SimKernel::flush_neighbors(IfIndex link, bool permanent_too) {
    for (auto at = neighbors_.lower_bound({.link = link});
         at != neighbors_.end() && at->first.link == link;) {
        const NeighborKey key = at->first;
        const bool stays = at->second.state == Nud::Permanent && !permanent_too;
        ++at;
        if (!stays) {
            remove(key);
        }
    }
}

void SimKernel::use(const NeighborKey& key) {
    if (!is_up(key.link)) {
        return;
    }
    const auto [at, is_new] = neighbors_.try_emplace(key);
    SimNeighbor& entry = at->second;
    entry.used = clock_.now();
    if (is_new || entry.state == Nud::Failed) {
        enter(key, entry, Nud::Incomplete);  // No notification of this.
    } else if (entry.state == Nud::Stale) {
        enter(key, entry, Nud::Delay);  // Nor of this.
    }
}

void SimKernel::add_permanent(const NeighborKey& key, const MacAddress& mac) {
    update(key, mac, Nud::Permanent, Actor::ControlPlane);
}

void SimKernel::flush_neighbor(const NeighborKey& key) {
    if (neighbors_.contains(key)) {
        remove(key);
    }
}

// neigh_periodic_work(): what has a timer, is permanent or externally learned is spared.
void SimKernel::collect_garbage() {
    std::vector<NeighborKey> collected;
    for (const auto& [key, entry] : neighbors_) {
        const bool spared =
            entry.ext_learned || entry.state == Nud::Permanent || has_timer(entry.state);
        const TimePoint used = std::max(entry.used, entry.confirmed);
        if (!spared && (entry.state == Nud::Failed || used + kStaleTime < clock_.now())) {
            collected.push_back(key);
        }
    }
    for (const NeighborKey& key : collected) {
        remove(key);
    }
}

const SimNeighbor* SimKernel::neighbor(const NeighborKey& key) const {
    const auto found = neighbors_.find(key);
    return found == neighbors_.end() ? nullptr : &found->second;
}

}  // namespace planed::sim
