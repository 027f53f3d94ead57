// SPDX-License-Identifier: Apache-2.0
// What peers tell: from their routes to what is derived of them, and back when they go.
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "evpn/multihoming.hpp"
#include "net/assert.hpp"

namespace planed::evpn {

// --- Sessions. ---

void Multihoming::peer_up(const IpAddress& peer, TimePoint now) {
    Peer& entry = peers_[peer];
    entry.up = true;
    entry.told_all = false;
    entry.target_said = false;
    settle(now);
}

void Multihoming::end_of_rib(const IpAddress& peer, TimePoint now) {
    peers_[peer].told_all = true;
    consider_start(now);
    settle(now);
}

void Multihoming::peer_down(const IpAddress& peer, TimePoint now) {
    Peer& entry = peers_[peer];
    entry.up = false;
    entry.told_all = false;
    consider_start(now);
    settle(now);
}

// --- Routes. ---

void Multihoming::heard(const IpAddress& peer,
                        const bgp::Route& route,
                        std::shared_ptr<const bgp::Path> path,
                        TimePoint now) {
    const bool is_ours_to_read = std::holds_alternative<bgp::EthernetAd>(route) ||
                                 std::holds_alternative<bgp::MacIp>(route) ||
                                 std::holds_alternative<bgp::Segment>(route);
    if (!is_ours_to_read) {
        return;
    }
    const RouteId id{.peer = peer, .key = bgp::RouteKey(route)};
    const auto [entry, fresh] = heard_.try_emplace(id);
    Told& told = entry->second;
    if (!fresh && told.route == route && *told.path == *path) {
        return;
    }
    Told before = std::exchange(told, {.route = route, .path = std::move(path)});
    if (std::holds_alternative<bgp::EthernetAd>(route)) {
        apply(id, told);  // First, so that an A-D that is told anew closes no gate.
        if (!fresh) {
            retract(id, before);
        }
    } else {
        if (!fresh) {
            retract(id, before);
        }
        apply(id, told);
    }
    note_heard(id, told);
    settle(now);
}

void Multihoming::gone(const IpAddress& peer, const bgp::RouteKey& key, TimePoint now) {
    const auto found = heard_.find(RouteId{.peer = peer, .key = key});
    if (found == heard_.end()) {
        return;
    }
    retract(found->first, found->second);
    heard_.erase(found);
    settle(now);
}

void Multihoming::apply(const RouteId& id, Told& told) {
    if (const auto* ad = std::get_if<bgp::EthernetAd>(&told.route)) {
        apply_ad(*ad, *told.path, true);
    } else if (const auto* segment = std::get_if<bgp::Segment>(&told.route)) {
        apply_segment(id, *segment, *told.path, true);
    } else if (std::holds_alternative<bgp::MacIp>(told.route)) {
        apply_host(id, told);
    }
}

void Multihoming::retract(const RouteId& id, Told& told) {
    if (const auto* ad = std::get_if<bgp::EthernetAd>(&told.route)) {
        apply_ad(*ad, *told.path, false);
    } else if (const auto* segment = std::get_if<bgp::Segment>(&told.route)) {
        apply_segment(id, *segment, *told.path, false);
    } else if (std::holds_alternative<bgp::MacIp>(told.route)) {
        retract_host(id, told);
    }
}

void Multihoming::forget_heard() {
    for (auto& [esi, segment] : segments_) {
        segment.roles.forget_heard();
    }
    for (auto& [key, mac] : macs_) {
        mac.mobility.forget_claims();
        dirty_macs_.insert(key);
    }
    for (auto& [key, binding] : bindings_) {
        binding.sources.clear();
        dirty_bindings_.insert(key);
    }
    for (auto at = gates_.begin(); at != gates_.end();) {
        if (!at->second.known) {
            at = gates_.erase(at);
            continue;
        }
        at->second = {.known = true};
        idle_gates_.insert(at->first);
        ++at;
    }
    for (const auto& [esi, ids] : impostors_) {
        dirty_segments_.insert(esi);
    }
    impostors_.clear();
    for (auto& [address, peer] : peers_) {
        peer.without_target = 0;
        dirty_peers_.insert(address);
    }
    for (auto& [id, told] : heard_) {
        told.reading = {};
        told.counts = false;
    }
}

// --- Types 1 and 4. ---

Multihoming::Segment* Multihoming::own_segment(const bgp::EsiBytes& bytes) {
    const auto esi = Esi::received(bytes);
    const auto found = esi ? segments_.find(*esi) : segments_.end();
    return found == segments_.end() ? nullptr : &found->second;
}

void Multihoming::apply_ad(const bgp::EthernetAd& ad, const bgp::Path& path, bool add) {
    const IpAddress& leaf = path.next_hop.address;
    if (leaf == options_.next_hop || !Esi::received(ad.esi)) {
        return;
    }
    std::uint32_t tag = 0;  // The segment's.
    if (ad.tag == bgp::kMaxEthernetTag) {
        apply_segment_ad({.leaf = leaf, .esi = ad.esi}, add);
    } else {
        const VrfOptions* of = targets_.vrf_of(path.attributes.communities, options_.vrfs);
        if (of == nullptr) {
            return;
        }
        tag = of->vni;  // Its label says nothing: FRR 8.4 as a reflector zeroes it.
    }
    if (Segment* segment = own_segment(ad.esi)) {
        if (add) {
            segment->roles.add_ad(leaf, tag);
        } else {
            segment->roles.remove_ad(leaf, tag);
        }
        dirty_segments_.insert(segment->options.esi);
    }
}

/// The gate of all hosts that the leaf has behind the segment.
void Multihoming::apply_segment_ad(const GateKey& key, bool add) {
    Gate& gate = gates_[key];
    const bool was_open = gate.is_open();
    gate.known = true;
    gate.standing += add ? 1U : 0U;
    gate.standing -= add ? 0U : 1U;
    if (gate.is_open() != was_open) {
        counters_.mass_withdrawals += was_open ? 1 : 0;
        for (const RouteId& host : gate.hosts) {
            set_counts(host, heard_.at(host), gate.is_open());
        }
    }
    tidy_gate(key);
}

void Multihoming::tidy_gate(const GateKey& key) {
    const auto found = gates_.find(key);
    if (found == gates_.end() || found->second.standing > 0 || !found->second.hosts.empty()) {
        idle_gates_.erase(key);
        return;
    }
    if (!found->second.known) {
        gates_.erase(found);
        return;
    }
    idle_gates_.insert(key);
    if (idle_gates_.size() > kIdleGatesMax) {
        gates_.erase(*idle_gates_.begin());
        idle_gates_.erase(idle_gates_.begin());
    }
}

void Multihoming::apply_segment(const RouteId& id,
                                const bgp::Segment& route,
                                const bgp::Path& path,
                                bool add) {
    Segment* segment = own_segment(route.esi);
    if (segment == nullptr) {
        return;
    }
    const Esi& esi = segment->options.esi;
    if (route.originator == options_.next_hop) {
        // Our own one comes back by a reflector: nothing. Under another RD or next hop somebody
        // else has taken our address.
        const bool is_echo = path.next_hop.address == options_.next_hop &&
                             route.rd == bgp::RouteDistinguisher::of(options_.router_id, 0);
        if (is_echo) {
            return;
        }
        auto& ids = impostors_[esi];
        if (add) {
            ids[id] = path.next_hop.address;
        } else {
            ids.erase(id);
        }
        if (ids.empty()) {
            impostors_.erase(esi);
        }
        dirty_segments_.insert(esi);
        return;
    }
    if (add) {
        const bgp::DfElection said = bgp::df_election_of(path.attributes.communities);
        segment->roles.put(
            route.originator,
            id,
            {.algorithm = said.algorithm, .bitmap = said.bitmap, .preference = said.preference});
    } else {
        segment->roles.remove(route.originator, id);
    }
    dirty_segments_.insert(esi);
}

// --- Type 2. ---

MacMobility::Claim Multihoming::claim_of(const HeardHost& host) {
    return {.esi = host.esi,
            .sequence = host.sequence,
            .is_static = host.is_static,
            .second_hand = host.second_hand,
            .leaf = host.leaf};
}

void Multihoming::apply_host(const RouteId& id, Told& told) {
    const auto& route = std::get<bgp::MacIp>(told.route);
    told.reading = read_host(route, *told.path, options_.next_hop, targets_, options_.vrfs);
    if (told.reading.verdict == Verdict::NoRouteTarget && own_segment(route.esi) != nullptr) {
        note_target(id.peer, 1);
    }
    if (told.reading.verdict != Verdict::Taken) {
        return;
    }
    if (!Esi::received(route.esi)) {
        set_counts(id, told, true);  // Single-homed: there is no gate.
        return;
    }
    const GateKey key{.leaf = told.reading.host.leaf, .esi = route.esi};
    Gate& gate = gates_[key];
    gate.hosts.insert(id);
    idle_gates_.erase(key);
    if (gate.is_open()) {
        set_counts(id, told, true);
    }
}

void Multihoming::retract_host(const RouteId& id, Told& told) {
    const auto& route = std::get<bgp::MacIp>(told.route);
    if (told.reading.verdict == Verdict::NoRouteTarget && own_segment(route.esi) != nullptr) {
        note_target(id.peer, -1);
    }
    if (told.counts) {
        set_counts(id, told, false);
    }
    if (told.reading.verdict == Verdict::Taken && Esi::received(route.esi)) {
        const GateKey key{.leaf = told.reading.host.leaf, .esi = route.esi};
        gates_.at(key).hosts.erase(id);
        tidy_gate(key);
    }
}

void Multihoming::set_counts(const RouteId& id, Told& told, bool counts) {
    PLANED_ASSERT(told.counts != counts);
    told.counts = counts;
    const HeardHost& host = told.reading.host;
    const MacKey mac_key{.vrf = host.vrf, .mac = host.mac};
    MacMobility& mobility = macs_[mac_key].mobility;
    dirty_macs_.insert(mac_key);
    if (counts) {
        mobility.add(claim_of(host));
    } else {
        mobility.remove(claim_of(host));
    }

    const Segment* segment = own_segment(host.esi);
    if (segment == nullptr || !host.address || host.second_hand) {
        return;
    }
    const BindingKey key{.vrf = host.vrf, .address = *host.address};
    const Source source{.below_top = std::numeric_limits<std::uint32_t>::max() - host.sequence,
                        .moves = !host.is_static,
                        .leaf = host.leaf,
                        .mac = host.mac,
                        .esi = segment->options.esi,
                        .vlan = host.vlan,
                        .id = id};
    if (counts) {
        bindings_[key].sources.insert(source);
    } else {
        bindings_.at(key).sources.erase(source);
    }
    dirty_bindings_.insert(key);
}

// --- What there is to say of it. ---

void Multihoming::note_target(const IpAddress& peer, int change) {
    std::size_t& count = peers_[peer].without_target;
    count = change > 0 ? count + 1 : count - 1;
    dirty_peers_.insert(peer);
}

void Multihoming::note_heard(const RouteId& id, const Told& told) {
    if (std::holds_alternative<bgp::MacIp>(told.route)) {
        ++counters_.hosts_heard[static_cast<std::size_t>(told.reading.verdict)];
        counters_.second_hand += told.reading.host.second_hand ? 1U : 0U;
        return;
    }
    const auto* route = std::get_if<bgp::Segment>(&told.route);
    const Segment* segment = route != nullptr ? own_segment(route->esi) : nullptr;
    if (segment == nullptr) {
        return;
    }
    const auto target =
        bgp::first_of<MacAddress>(told.path->attributes.communities, bgp::as_es_import);
    if (target != segment->options.esi.import_target()) {
        ++counters_.wrong_es_import;  // The ESI decides; FRR 8.4 takes it as well.
        say(Level::Warn,
            "evpn.es_import",
            fmt::format("peer={} esi={} originator={} es_import={}",
                        id.peer.to_string(),
                        segment->options.esi.to_string(),
                        route->originator.to_string(),
                        target ? target->to_string() : "none"));
    }
}

}  // namespace planed::evpn
