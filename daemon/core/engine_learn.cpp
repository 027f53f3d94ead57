// SPDX-License-Identifier: Apache-2.0
// Engine: hosts that were heard and the kernel does not have, and hosts that must prove
// again that they live.
#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "core/engine.hpp"
#include "core/limits.hpp"

namespace planed {
namespace {

bool is_being_asked(const Neighbor& neighbor) {
    return neighbor.state == Nud::Delay || neighbor.state == Nud::Probe;
}

}  // namespace

// Refresh -----------------------------------------------------------------------------------------

RefreshQueue::Window Engine::refresh_window() const {
    return RefreshQueue::window(config_->learning);
}

void Engine::schedule_refresh(NeighborRecord& record, TimePoint now) {
    const RefreshQueue::Window window = refresh_window();
    const bool waits = record.refresh_at != TimePoint{} && record.refresh_at <= now + window.latest;
    if (waits || !can_be_asked(record.neighbor)) {
        return;
    }
    const TimePoint proven = record.proven();
    record.refresh_at =
        proven == TimePoint{} ? refreshes_.first(now, window) : refreshes_.next(proven, window);
    refreshes_.add({.at = record.refresh_at, .key = record.key});
}

void Engine::run_refresh(TimePoint now) {
    if (!facts_whole_) {
        return;
    }
    const RefreshQueue::Window window = refresh_window();
    while (const auto due = refreshes_.poll(now)) {
        NeighborRecord* record = neighbors_.find(due->key);
        if (record == nullptr || record->refresh_at != due->at) {
            continue;  // Another host by the same name, or one that waits for another time.
        }
        record->refresh_at = TimePoint{};
        if (!is_kept_alive(*record) || !can_be_asked(record->neighbor)) {
            continue;
        }
        TimePoint from = record->proven();
        if (!RefreshQueue::is_fresh(from, now, window)) {
            from = now;  // By then it has answered, or is gone.
            if (!is_being_asked(record->neighbor)) {
                ++learning_.refreshed;
                probes_.add(due->key, now);
            }
        }
        record->refresh_at = refreshes_.next(from, window);
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
        record->heard = now;
        record->doubted = false;
        confirm_heard_port(served, heard.mac, heard.link);
        if (is_synced(record->neighbor)) {
            queue_heard(key, heard.mac, now);  // From now on this leaf knows it itself.
        }
        return;
    }
    if (const auto pinned = pinned_mac(key); pinned && *pinned != heard.mac) {
        refuse_claim(heard, served);
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
                                 .bgp_peer = false,
                                 .denied = !heard.denied.empty()});
    const bool fixed =
        record != nullptr &&
        (record->neighbor.state == Nud::Permanent || record->neighbor.state == Nud::NoArp) &&
        !is_synced(record->neighbor);
    if (reason == Reason::OwnAddress && !links_.owns_mac(heard.mac)) {
        refuse_claim(heard, served);
        return;
    }
    if (reason != Reason::Eligible || fixed) {
        ++learning_.ignored;
        return;
    }
    if (record == nullptr && !heard_hosts_.contains(key) && is_crowded(served, heard.mac)) {
        ++learning_.over_limit;
        return;
    }
    queue_heard(key, heard.mac, alive ? now + limits::kHeardGrace : now);
}

void Engine::queue_heard(const NeighborKey& key, const MacAddress& mac, TimePoint due) {
    const auto waiting = heard_hosts_.find(key);
    if (waiting != heard_hosts_.end()) {
        waiting->second = mac;
        return;
    }
    if (heard_hosts_.size() >= limits::kHeardMax) {
        ++learning_.over_limit;
        return;
    }
    heard_hosts_[key] = mac;
    heard_.insert({due, key});
}

// No room for another host: on this interface, or of this server. What is on its way to the kernel
// and back counts, whosever it is.
bool Engine::is_crowded(const ServedInterface& served, const MacAddress& mac) const {
    const std::size_t on_the_way = heard_hosts_.size() + neighbor_writes_.size();
    return neighbors_.count_on(served.link) + on_the_way >= served.config.max_hosts ||
           fills_port(served, mac, on_the_way) ||
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
        const MacAddress mac = heard_hosts_.extract(key).mapped();
        const NeighborRecord* record = neighbors_.find(key);
        const bool alive = record != nullptr && judge_state(record->neighbor) == Reason::Eligible;
        const ServedInterface* served = served_.find(key.link);
        const bool known = alive && record->neighbor.mac == mac && !is_synced(record->neighbor);
        if (known || served == nullptr) {
            continue;  // The kernel has learned it itself.
        }
        if (record == nullptr && is_crowded(*served, mac)) {
            ++learning_.over_limit;
            continue;
        }
        ++learning_.written;
        write_neighbor({.key = key,
                        .mac = mac,
                        .state = Nud::Stale,
                        .ext_learned = true,
                        .only_new = record == nullptr});
    }
}

// Hosts that do not answer ------------------------------------------------------------------------
//
// The answer to a request of this leaf may go elsewhere: a bond sends it by the port that it
// chooses for it, which may be the other leaf's. So the kernel's word FAILED is not the last one
// while something else shows that the host lives: a frame of its ARP or ND, or any frame of its MAC
// by the port where it is known to be.

void Engine::note_evidence(NeighborRecord& record, const NeighborSeen& seen, const Neighbor& old) {
    doubts_.erase(seen.key);  // What the kernel says now is newer.
    switch (seen.neighbor.state) {
        case Nud::Reachable:
            record.answered = now_;
            record.doubted = false;
            record.mute = false;
            break;
        case Nud::Stale:
            if (old.mac == seen.neighbor.mac) {
                return;
            }
            record.heard = now_;
            break;
        case Nud::Probe:
            if (old.state != Nud::Probe) {
                asked_.emplace_back(now_ + RefreshQueue::asking(config_->learning) * 3 / 4,
                                    seen.key);
            }
            return;
        case Nud::None:
        case Nud::Incomplete:
        case Nud::Delay:
        case Nud::Failed:
        case Nud::NoArp:
        case Nud::Permanent: return;
    }
    record.snooped = record.snooped || (old.state == Nud::None && is_ours(seen.neighbor));
    if (shield_.is_up()) {
        mark_dirty(record);  // It may have been asked whether it lives.
    }
}

// The kernel gives a host up. True if that is not believed, or not yet.
bool Engine::puts_off(const NeighborSeen& seen, TimePoint now) {
    if (seen.neighbor.state != Nud::Failed) {
        return false;
    }
    NeighborRecord* record = neighbors_.find(seen.key);
    if (record == nullptr || !is_kept_alive(*record) || record->neighbor.state != Nud::Probe ||
        !neighbors_.is_news(seen)) {
        return false;
    }
    if (lives_otherwise(*record, now)) {
        neighbors_.note_present(seen.key);
        keep_mute(*record, false, now);
        return true;
    }
    if (ask_bridge(*record, seen.neighbor)) {
        neighbors_.note_present(seen.key);
        return true;
    }
    if (is_vouched_for(*record)) {
        neighbors_.note_present(seen.key);
        leave_to_others(*record, false, now);
        return true;
    }
    return false;
}

// Those that the kernel still asks after most of its attempts: whoever lives by other evidence is
// told to the kernel as living before that gives it up, so that nothing sent to it is lost.
void Engine::run_asked(TimePoint now) {
    while (!asked_.empty() && asked_.front().first <= now) {
        const auto [due, key] = asked_.front();
        asked_.pop_front();
        NeighborRecord* record = neighbors_.find(key);
        const Duration waited = RefreshQueue::asking(config_->learning) / 2;
        if (record == nullptr || !is_kept_alive(*record) || record->neighbor.state != Nud::Probe ||
            record->changed + waited > now) {
            continue;  // It has answered, and may be asked again by now.
        }
        if (lives_otherwise(*record, now)) {
            keep_mute(*record, true, now);
        } else if (!ask_siblings(*record, now) && !ask_bridge(*record, std::nullopt) &&
                   is_vouched_for(*record)) {
            leave_to_others(*record, true, now);
        }
    }
}

bool Engine::ask_bridge(const NeighborRecord& record, const std::optional<Neighbor>& given_up) {
    const ServedInterface* served = served_.find(record.key.link);
    if (served == nullptr || served->bridge == IfIndex::None) {
        return false;
    }
    const FdbKey key = fdb_key(*served, record.neighbor.mac);
    const PortBinding* binding = fdb_.find(key);
    if (binding == nullptr || !binding->live || !links_.is_up(binding->port)) {
        return false;
    }
    Doubt& doubt = doubts_[record.key];
    doubt.given_up = given_up ? given_up : doubt.given_up;
    if (doubt.request == 0) {
        doubt.request = next_request_++;
        forwarding_reads_[doubt.request] = record.key;
        outputs_.emplace_back(ReadForwarding{.request = doubt.request, .key = key});
    }
    return true;
}

void Engine::on(const ForwardingRead& read, TimePoint now) {
    const auto asked = forwarding_reads_.find(read.request);
    if (asked == forwarding_reads_.end()) {
        note_located(read, now);
        return;
    }
    const NeighborKey key = asked->second;
    forwarding_reads_.erase(asked);
    const auto found = doubts_.find(key);
    NeighborRecord* record = neighbors_.find(key);
    if (found == doubts_.end() || found->second.request != read.request || record == nullptr) {
        return;
    }
    const Doubt doubt = found->second;
    doubts_.erase(found);
    if (read.error) {
        say(Level::Warn, "kernel.refused", fmt::format("text=\"{}\"", read.error->text));
        if (read.error->code == Errc::Lost && ask_bridge(*record, doubt.given_up)) {
            return;
        }
    }
    if (read.silent && !is_our_writing(*record, now - *read.silent)) {
        record->sent = std::max(record->sent, now - *read.silent);
    }
    if (lives_otherwise(*record, now)) {
        keep_mute(*record, !doubt.given_up, now);
    } else if (is_vouched_for(*record)) {
        leave_to_others(*record, !doubt.given_up, now);
    } else if (doubt.given_up) {
        take_over({.key = key, .neighbor = *doubt.given_up}, now);
    }
}

bool Engine::lives_otherwise(const NeighborRecord& record, TimePoint now) const {
    const Duration lately = std::max(std::min(refresh_window().earliest, limits::kEvidenceMax),
                                     RefreshQueue::asking(config_->learning));
    const auto is_fresh = [&](TimePoint at) { return at != TimePoint{} && at + lately > now; };
    // That the MAC sends says nothing of an address that an operator doubts.
    const bool sends = !record.doubted && is_fresh(record.sent);
    return is_fresh(record.heard) || (sends && !sibling_answers(record));
}

// Frames show that a MAC lives, not which of its addresses. ARP replies of one MAC to another take
// one way, whatever the addresses in them: if one was answered here since this host was asked, this
// one would have been. An NA may take another way for each address.
bool Engine::sibling_answers(const NeighborRecord& record) const {
    return std::ranges::any_of(v4_siblings_of(record), [&](const NeighborRecord* sibling) {
        return sibling->answered > record.changed;
    });
}

// True if there is one to ask.
bool Engine::ask_siblings(const NeighborRecord& record, TimePoint now) {
    bool any = false;
    for (const NeighborRecord* sibling : v4_siblings_of(record)) {
        if (!is_kept_alive(*sibling) || !can_be_asked(sibling->neighbor)) {
            continue;
        }
        any = true;
        if (!is_being_asked(sibling->neighbor) && sibling->answered <= record.changed) {
            probes_.add(sibling->key, now);
        }
    }
    return any;
}

// The other IPv4 addresses of an IPv4 host's MAC; none of an IPv6 one.
std::vector<const NeighborRecord*> Engine::v4_siblings_of(const NeighborRecord& record) const {
    std::vector<const NeighborRecord*> siblings;
    if (!record.key.address.is_v4()) {
        return siblings;
    }
    for (const IpAddress& address : neighbors_.addresses_of(record.key.link, record.neighbor.mac)) {
        if (address.is_v4() && address != record.key.address) {
            siblings.push_back(neighbors_.find({.link = record.key.link, .address = address}));
        }
    }
    return siblings;
}

// `in_kernel`: its entry there has not failed yet.
void Engine::keep_mute(NeighborRecord& record, bool in_kernel, TimePoint now) {
    ++learning_.mute;
    if (!record.mute) {
        record.mute = true;
        say(Level::Info,
            "host.mute",
            fmt::format(
                "address={} interface={} mac={} text=\"does not answer here, and lives: kept\"",
                record.key.address.to_string(),
                links_.name_of(record.key.link),
                record.neighbor.mac.to_string()));
    }
    note_changed(record.key);
    if (!in_kernel) {
        record.in_kernel = false;
        record.changed = now;
    }
    revivals_.push_back(record.key);
}

void Engine::run_revivals() {
    if (!knows_neighbors()) {
        return;
    }
    for (const NeighborKey& key : std::exchange(revivals_, {})) {
        const NeighborRecord* record = neighbors_.find(key);
        if (record == nullptr || !is_kept_alive(*record) || !can_be_asked(record->neighbor)) {
            continue;
        }
        write_neighbor(
            {.key = key,
             .mac = record->neighbor.mac,
             .state = record->mute ? Nud::Stale : Nud::NoArp,
             .ext_learned = !record->mute || record->neighbor.ext_learned || !record->in_kernel});
    }
}

}  // namespace planed
