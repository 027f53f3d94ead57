// SPDX-License-Identifier: Apache-2.0
#include "app/evpn_sync.hpp"

#include <algorithm>
#include <set>
#include <variant>

#include "net/overloaded.hpp"

namespace planed {
namespace {

bgp::ExtendedCommunity to_community(const RouteTargetConfig& target) {
    if (target.address) {
        return bgp::route_target(bgp::router_id_of(*target.address),
                                 static_cast<std::uint16_t>(target.number));
    }
    return bgp::route_target(bgp::AsNumber{target.as}, target.number);
}

evpn::DfOffer to_offer(const EvpnDfConfig& df) {
    const auto flag = [](bool set, std::uint16_t bit) { return set ? bit : std::uint16_t{0}; };
    return {
        .algorithm = static_cast<std::uint8_t>(df.algorithm),
        .bitmap = static_cast<std::uint16_t>(flag(df.dont_preempt, evpn::DfOffer::kDontPreempt) |
                                             flag(df.ac_df, evpn::DfOffer::kAcInfluenced)),
        .preference = df.preference};
}

evpn::MultihomingOptions to_options(const EvpnConfig& config) {
    evpn::MultihomingOptions options{.df_wait = config.df_wait,
                                     .startup_delay = config.startup_delay};
    if (!config.is_on()) {
        return options;
    }
    options.router_id = bgp::router_id_of(*config.router_id);
    options.next_hop = *config.router_id;
    for (const EvpnVrfConfig& vrf : config.vrfs) {
        evpn::VrfOptions& added = options.vrfs.emplace_back();
        added.name = vrf.vrf;
        added.vni = vrf.vni;
        added.profile = vrf.profile == EvpnProfile::L3 ? evpn::Profile::L3 : evpn::Profile::Classic;
        for (const RouteTargetConfig& target : vrf.route_targets) {
            added.route_targets.push_back(to_community(target));
        }
    }
    for (const EvpnSegmentConfig& segment : config.segments) {
        if (const auto esi = segment.identifier()) {
            options.segments.push_back(
                {.esi = *esi, .port = segment.port, .df = to_offer(segment.df)});
        }
    }
    return options;
}

}  // namespace

EvpnSync::EvpnSync(Engine& engine, EvpnPeers& peers, EvpnSyncHooks hooks)
    : engine_(engine), peers_(peers), hooks_(std::move(hooks)) {
    peers_.hold_end_of_rib(true);
    peers_.set_listener(
        [this](const IpAddress& peer, const bgp::Event& event) { listen(peer, event); });
}

void EvpnSync::configure(const EvpnConfig& config) {
    config_ = config;
    changed_ = true;
    hooks_.changed();
    hooks_.keep_changes(!config.segments.empty());
    hooks_.request_turn();
}

void EvpnSync::listen(const IpAddress& peer, const bgp::Event& event) {
    const TimePoint now = hooks_.now();
    std::visit(Overloaded{
                   [&](const bgp::RouteHeard& heard) {
                       multihoming_.heard(peer, heard.route, heard.path, now);
                   },
                   [&](const bgp::RouteGone& gone) { multihoming_.gone(peer, gone.key, now); },
                   [&](const bgp::Established&) { multihoming_.peer_up(peer, now); },
                   [&](const bgp::Down& down) {
                       if (down.was_established || down.reason == bgp::Down::Reason::Stopped) {
                           multihoming_.peer_down(peer, now);
                       }
                   },
                   [&](const bgp::EndOfRib&) { multihoming_.end_of_rib(peer, now); },
                   [](const auto&) {},
               },
               event);
    hooks_.changed();
    hooks_.request_turn();
}

// The turn ----------------------------------------------------------------------------------------

void EvpnSync::turn(const Changes& changes, TimePoint now) {
    if (!running_ && !engine_.has_planned()) {
        return;
    }
    if (changed_) {
        adopt(now);
    }
    if (!config_.segments.empty()) {
        look_at_ports(now);
        look_at_hosts(changes, now);
    }
    multihoming_.tick(now);
    carry_out(now);
    settle(now);
    peers_.flush();
}

// What the engine knows is told before the first session begins; later the peers go on.
void EvpnSync::adopt(TimePoint now) {
    changed_ = false;
    links_seen_.reset();
    multihoming_.configure(to_options(config_), now);
    std::set<IpAddress> addresses;
    for (const auto& [name, binding] : told_) {
        addresses.insert(name.first);
    }
    if (!config_.segments.empty()) {
        engine_.neighbors().for_each([&](const NeighborKey& key, const NeighborRecord& /*record*/) {
            addresses.insert(key.address);
        });
    }
    for (const IpAddress& address : addresses) {
        look_at(address, now);
    }
    if (!std::exchange(running_, true)) {
        settle_at_ = now + config_.hold;
    }
    peers_.configure(config_);
}

void EvpnSync::look_at_ports(TimePoint now) {
    if (links_seen_ == engine_.links().revision()) {
        return;
    }
    links_seen_ = engine_.links().revision();
    hooks_.changed();
    for (const EvpnSegmentConfig& segment : config_.segments) {
        const Link* port = engine_.links().find(segment.port);
        multihoming_.set_port(segment.port, port != nullptr && is_up(*port), now);
    }
}

void EvpnSync::look_at_hosts(const Changes& changes, TimePoint now) {
    if (changes.renamed) {
        changed_ = true;  // Any binding may be behind another name.
        hooks_.request_turn();
    }
    for (const NeighborKey& key : changes.hosts) {
        look_at(key.address, now);
    }
}

// An address may be on several links of a VRF for a moment: the one with the route counts.
void EvpnSync::look_at(const IpAddress& address, TimePoint now) {
    absl::btree_map<std::string, const NeighborRecord*> best;
    if (!config_.segments.empty()) {
        engine_.neighbors().for_each_place(address, [&](const NeighborRecord& record) {
            if (engine_.has_evidence(record)) {
                const NeighborRecord*& held = best[EngineView(engine_).vrf_of(record.key.link)];
                held = held == nullptr || record.claim ? &record : held;
            }
        });
    }
    for (auto told = told_.lower_bound(Name{address, ""});
         told != told_.end() && told->first.first == address;) {
        if (best.contains(told->first.second)) {
            ++told;
            continue;
        }
        multihoming_.unset_local({.vrf = told->first.second, .address = address}, now);
        told = told_.erase(told);
    }
    for (const auto& [vrf, record] : best) {
        const evpn::LocalBinding binding = binding_of(*record);
        const auto [told, fresh] = told_.try_emplace(Name{address, vrf});
        if (fresh || told->second != binding) {
            told->second = binding;
            multihoming_.set_local({.vrf = vrf, .address = address}, binding, now);
        }
    }
}

evpn::LocalBinding EvpnSync::binding_of(const NeighborRecord& record) const {
    const Link* link = engine_.links().find(record.key.link);
    const bool tagged = link != nullptr && link->kind == LinkKind::Vlan;
    IfIndex port = engine_.port_of(record.key).port;
    if (port == record.key.link && tagged) {
        port = link->lower;  // A routed sub-interface: the server is behind what it is on.
    }
    return {.mac = record.neighbor.mac,
            .port = std::string(engine_.links().name_of(port)),
            .vlan = tagged ? link->vlan : VlanId::None,
            .is_static = engine_.is_static(record.key)};
}

void EvpnSync::carry_out(TimePoint now) {
    bool told_engine = false;
    const auto tell = [&](const Input& input) {
        engine_.handle(input, now);
        told_engine = true;
    };
    while (const auto output = multihoming_.poll()) {
        hooks_.changed();
        std::visit(Overloaded{
                       [&](const evpn::Want& want) { peers_.want(want.route, *want.path); },
                       [&](const evpn::Unwant& unwant) { peers_.unwant(unwant.key); },
                       [&](const evpn::Synced& synced) {
                           tell(SyncedSeen{.vrf = synced.key.vrf,
                                           .address = synced.key.address,
                                           .mac = synced.mac,
                                           .port = synced.port,
                                           .leaf = synced.peer});
                       },
                       [&](const evpn::SyncedGone& gone) {
                           tell(SyncedGone{.vrf = gone.key.vrf, .address = gone.key.address});
                       },
                       [&](const evpn::Alarm& alarm) {
                           tell(TroubleSeen{.what = alarm.id, .text = alarm.text});
                       },
                       [&](const evpn::AlarmGone& gone) { tell(TroubleSeen{.what = gone.id}); },
                       [&](const Note& note) { hooks_.log(note); },
                   },
                   *output);
    }
    if (told_engine) {
        hooks_.request_turn();
    }
}

// Peers that never tell that they have told all are waited for no longer than a lost one.
void EvpnSync::settle(TimePoint now) {
    if (config_.segments.empty() || !multihoming_.is_starting()) {
        peers_.hold_end_of_rib(false);
    }
    if (settled_) {
        return;
    }
    const bool nobody = config_.segments.empty() || config_.peers.empty();
    if (nobody || peers_.all_have_told() || (settle_at_ && *settle_at_ <= now)) {
        settled_ = true;
        settle_at_.reset();
        engine_.handle(SyncedSettled{}, now);
        hooks_.request_turn();
    }
}

std::optional<TimePoint> EvpnSync::wake_at() const {
    std::optional<TimePoint> at = running_ ? multihoming_.wake_at() : std::nullopt;
    if (settle_at_) {
        at = at ? std::min(*at, *settle_at_) : *settle_at_;
    }
    return at;
}

}  // namespace planed
