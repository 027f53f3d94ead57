// SPDX-License-Identifier: Apache-2.0
// What follows from what has changed: numbers of MACs first, for routes carry them; then routes,
// bindings and roles. Each looks at what it concerns alone.
#include <utility>

#include <fmt/format.h>

#include "evpn/multihoming.hpp"

namespace planed::evpn {
namespace {

std::string text_of(const bgp::EsiBytes& bytes) {
    const auto esi = Esi::received(bytes);
    return esi ? "ESI " + esi->to_string() : "no ESI";
}

std::string mac_words(const std::string& vrf, const MacAddress& mac) {
    return vrf == "default" ? mac.to_string() : fmt::format("{} {}", vrf, mac.to_string());
}

}  // namespace

void Multihoming::settle(TimePoint now) {
    for (const MacKey& key : std::exchange(dirty_macs_, {})) {
        settle_mac(key, now);
    }
    for (const BindingKey& key : std::exchange(dirty_locals_, {})) {
        settle_local(key);
    }
    for (const BindingKey& key : std::exchange(dirty_bindings_, {})) {
        settle_binding(key);
    }
    for (const Esi& esi : std::exchange(dirty_segments_, {})) {
        settle_segment(esi, now);
    }
    for (const IpAddress& peer : std::exchange(dirty_peers_, {})) {
        settle_peer(peer);
    }
}

void Multihoming::settle_mac(const MacKey& key, TimePoint now) {
    const auto found = macs_.find(key);
    if (found == macs_.end()) {
        return;
    }
    Mac& mac = found->second;
    const std::uint64_t rises = mac.mobility.rises();
    if (mac.mobility.weigh(now)) {
        dirty_locals_.insert(mac.keys.begin(), mac.keys.end());
    }
    counters_.moves += mac.mobility.rises() - rises;
    settle_mac_route(key, mac);
    settle_alarms(key, mac);
    tidy_mac(key);
}

/// The classic profile's route of the MAC alone.
void Multihoming::settle_mac_route(const MacKey& key, Mac& mac) {
    const VrfOptions* of = vrf(key.vrf);
    const auto esi = mac.mobility.esi();
    if (of == nullptr || !esi || of->profile != Profile::Classic) {
        replace(mac.route, std::nullopt);
        return;
    }
    replace(
        mac.route,
        host_route(speaker(), *of, {.esi = *esi, .mac = key.mac, .mobility = mac.mobility.said()}));
}

void Multihoming::settle_alarms(const MacKey& key, const Mac& mac) {
    const std::string words = mac_words(key.vrf, key.mac);
    const MacMobility::Claim* rival = mac.mobility.rival();
    std::optional<std::string> mismatch;
    std::optional<std::string> fixed;
    if (rival != nullptr) {
        const std::string who = fmt::format("{} is on our segment {} and with {} on leaf {}",
                                            words,
                                            mac.mobility.esi()->to_string(),
                                            text_of(rival->esi),
                                            rival->leaf.to_string());
        if (rival->is_static || mac.mobility.said().is_static) {
            fixed = fmt::format("{}, and static {}",
                                who,
                                !rival->is_static               ? "here"
                                : mac.mobility.said().is_static ? "on both"
                                                                : "there");
        } else {
            mismatch = who + (mac.mobility.is_frozen() ? fmt::format("; its number stays at {}",
                                                                     mac.mobility.said().sequence)
                                                       : "");
        }
    }
    alarm("evpn.esi_mismatch " + words, mismatch);
    alarm("evpn.static_claimed " + words, fixed);

    const bgp::EsiBytes* first = nullptr;
    std::optional<std::string> shared;
    for (const auto& [claim, count] : mac.mobility.claims()) {
        if (claim.second_hand || own_segment(claim.esi) == nullptr) {
            continue;
        }
        if (first != nullptr && *first != claim.esi) {
            shared = fmt::format("{} is claimed on two of our segments: {} and {} (leaf {})",
                                 words,
                                 text_of(*first),
                                 text_of(claim.esi),
                                 claim.leaf.to_string());
            break;
        }
        first = &claim.esi;
    }
    alarm("evpn.mac_on_two_segments " + words, shared);
}

void Multihoming::tidy_mac(const MacKey& key) {
    const auto found = macs_.find(key);
    if (found->second.mobility.is_blank()) {
        macs_.erase(found);
        return;
    }
    if (!found->second.mobility.is_idle()) {
        idle_macs_.erase(key);
        return;
    }
    idle_macs_.insert(key);
    if (idle_macs_.size() > kIdleNumbersMax) {
        macs_.erase(*idle_macs_.begin());
        idle_macs_.erase(idle_macs_.begin());
    }
}

void Multihoming::settle_local(const BindingKey& key) {
    const auto found = locals_.find(key);
    if (found == locals_.end()) {
        return;
    }
    Local& local = found->second;
    if (!local.counted) {
        replace(local.route, std::nullopt);
        return;
    }
    const MacMobility& mobility = macs_.at({.vrf = key.vrf, .mac = local.counted->mac}).mobility;
    replace(local.route,
            host_route(speaker(),
                       *vrf(key.vrf),
                       {.esi = local.counted->esi,
                        .mac = local.counted->mac,
                        .address = key.address,
                        .vlan = local.binding.vlan,
                        .router = local.binding.router,
                        .mobility = mobility.said()}));
}

void Multihoming::settle_binding(const BindingKey& key) {
    const auto found = bindings_.find(key);
    if (found == bindings_.end()) {
        return;
    }
    Binding& binding = found->second;
    const auto count = [this](const std::optional<Synced>& said, std::size_t more) {
        const auto segment = said ? segments_.find(said->esi) : segments_.end();
        if (segment != segments_.end()) {
            segment->second.synced += more;
        }
    };
    std::optional<Synced> now;
    if (!binding.sources.empty()) {
        const Source& best = *binding.sources.begin();
        now = Synced{.key = key,
                     .mac = best.mac,
                     .esi = best.esi,
                     .port = segments_.at(best.esi).options.port,
                     .vlan = best.vlan,
                     .peer = best.leaf,
                     .is_static = !best.moves};
    }
    if (now != binding.said) {
        count(binding.said, static_cast<std::size_t>(-1));
        count(now, 1);
        if (now) {
            outputs_.push_back(*now);
        } else {
            outputs_.push_back(SyncedGone{.key = key});
        }
        binding.said = now;
    }
    if (!now) {
        bindings_.erase(found);
    }
}

void Multihoming::settle_segment(const Esi& esi, TimePoint now) {
    const auto impostor = impostors_.find(esi);
    alarm("evpn.same_originator " + esi.to_string(),
          impostor == impostors_.end()
              ? std::nullopt
              : std::optional(fmt::format(
                    "segment {}: the leaf with next hop {} names {} as its originator, as we do",
                    esi.to_string(),
                    impostor->second.begin()->second.to_string(),
                    options_.next_hop.to_string())));
    const auto found = segments_.find(esi);
    if (found == segments_.end()) {
        return;
    }
    Segment& segment = found->second;
    segment.roles.settle(now);
    segment.roles.tick(now);
    if (segment.announced && segment.offer != segment.roles.offer()) {
        say_segment(segment);
    }
}

void Multihoming::settle_peer(const IpAddress& address) {
    Peer& peer = peers_[address];
    const bool stands = peer.without_target > 0;
    alarm("evpn.route_target " + address.to_string(),
          stands ? std::optional(fmt::format("peer {} tells of hosts on our segments with no route "
                                             "target of ours: the targets of the leaves differ",
                                             address.to_string()))
                 : std::nullopt);
    if (stands && !peer.target_said) {
        peer.target_said = true;
        say(Level::Warn, "evpn.route_target", "peer=" + address.to_string());
    }
}

void Multihoming::alarm(const std::string& id, const std::optional<std::string>& text) {
    const auto found = alarms_.find(id);
    if (!text) {
        if (found != alarms_.end()) {
            alarms_.erase(found);
            outputs_.push_back(AlarmGone{.id = id});
        }
        return;
    }
    if (found != alarms_.end() && found->second == *text) {
        return;
    }
    alarms_[id] = *text;
    outputs_.push_back(Alarm{.id = id, .text = *text});
}

void Multihoming::say(Level level, std::string_view id, std::string text) {
    outputs_.push_back(Note{.level = level, .id = id, .text = std::move(text)});
}

}  // namespace planed::evpn
