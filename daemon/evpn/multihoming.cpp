// SPDX-License-Identifier: Apache-2.0
#include "evpn/multihoming.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace planed::evpn {

bool operator==(const Want& a, const Want& b) {
    return a.route == b.route && *a.path == *b.path;
}

// --- Views. ---

std::string_view role_of(const SegmentView& segment, const VrfRoleView& vrf) {
    if (!segment.announced) {
        return "down";
    }
    return vrf.elected ? name_of(vrf.role) : std::string_view("waiting");
}

std::string_view role_of(const SegmentView& segment) {
    std::string_view role;
    for (const VrfRoleView& vrf : segment.roles) {
        const std::string_view here = role_of(segment, vrf);
        if (!role.empty() && role != here) {
            return "differs";
        }
        role = here;
    }
    return role.empty() ? "down" : role;
}

std::optional<IpAddress> forwarder_of(const SegmentView& segment) {
    if (!segment.announced || segment.roles.empty()) {
        return std::nullopt;
    }
    const std::optional<IpAddress>& first = segment.roles.front().result.forwarder;
    const bool same = std::ranges::all_of(segment.roles, [&first](const VrfRoleView& vrf) {
        return vrf.elected && vrf.result.forwarder == first;
    });
    return same ? first : std::nullopt;
}

// --- Configuration and startup. ---

void Multihoming::configure(const MultihomingOptions& options, TimePoint now) {
    if (configured_ && options == options_) {
        return;
    }
    if (!configured_) {
        configured_ = true;
        configured_at_ = now;
    }
    forget_heard();
    adopt(options);
    for (auto& [id, told] : heard_) {
        apply(id, told);
    }

    // Everything of ours is said once more; what is not said any more is taken back.
    ++epoch_;
    for (auto& [esi, segment] : segments_) {
        refresh_segment(segment, now);
        dirty_segments_.insert(esi);
    }
    for (const auto& [key, local] : locals_) {
        refresh_local(key);
    }
    for (const auto& [key, mac] : macs_) {
        dirty_macs_.insert(key);
    }
    consider_start(now);
    settle(now);
    for (auto& [key, mac] : macs_) {
        settle_mac_route(key, mac);
    }
    for (auto& [esi, segment] : segments_) {
        if (segment.announced) {
            say_segment(segment);
        }
    }
    sweep();
}

void Multihoming::adopt(const MultihomingOptions& options) {
    options_ = options;
    options_.segments.clear();
    options_.vrfs.clear();
    for (const VrfOptions& wanted : options.vrfs) {
        if (vrf(wanted.name) != nullptr) {
            say(Level::Warn, "evpn.vrf_ignored", fmt::format("vrf={} reason=twice", wanted.name));
            continue;
        }
        options_.vrfs.push_back(wanted);
    }
    targets_ = ImportTargets(options_.vrfs);
    adopt_segments(options.segments);
    // Compared with what is asked for next time.
    options_.segments = options.segments;
}

void Multihoming::adopt_segments(const std::vector<SegmentOptions>& wanted) {
    by_port_.clear();
    absl::btree_map<Esi, Segment> kept = std::move(segments_);
    segments_.clear();
    for (const SegmentOptions& options : wanted) {
        if (segments_.contains(options.esi) || by_port_.contains(options.port)) {
            say(Level::Warn,
                "evpn.segment_ignored",
                fmt::format("esi={} port={} reason=twice", options.esi.to_string(), options.port));
            continue;
        }
        by_port_.emplace(options.port, options.esi);
        const auto known = kept.find(options.esi);
        if (known == kept.end()) {
            segments_.emplace(options.esi,
                              Segment{.options = options, .roles = DfRoles(roles_of(options))});
            continue;
        }
        Segment& segment = known->second;
        segment.options = options;
        segment.roles.configure(roles_of(options));
        segments_.emplace(options.esi, std::move(segment));
    }
}

DfRoles::Options Multihoming::roles_of(const SegmentOptions& segment) const {
    DfRoles::Options options{.esi = segment.esi,
                             .self = options_.next_hop,
                             .configured = segment.df,
                             .wait = options_.df_wait};
    for (const VrfOptions& each : options_.vrfs) {
        options.tags.push_back(each.vni);
    }
    return options;
}

Speaker Multihoming::speaker() const {
    return {.router_id = options_.router_id, .next_hop = options_.next_hop};
}

const VrfOptions* Multihoming::vrf(std::string_view name) const {
    const auto found = std::ranges::find(options_.vrfs, name, &VrfOptions::name);
    return found == options_.vrfs.end() ? nullptr : &*found;
}

void Multihoming::consider_start(TimePoint now) {
    if (started_ || !configured_) {
        return;
    }
    bool some_up = false;
    bool all_told = true;
    for (const auto& [address, peer] : peers_) {
        some_up = some_up || peer.up;
        all_told = all_told && (!peer.up || peer.told_all);
    }
    if (now < configured_at_ + options_.startup_delay && !(some_up && all_told)) {
        return;
    }
    started_ = true;
    for (auto& [esi, segment] : segments_) {
        refresh_segment(segment, now);
    }
}

// --- Ports and segments. ---

Multihoming::Segment* Multihoming::segment_of_port(const std::string& port) {
    const auto found = by_port_.find(port);
    return found == by_port_.end() ? nullptr : &segments_.at(found->second);
}

bool Multihoming::is_port_up(const std::string& port) const {
    const auto found = ports_.find(port);
    return found != ports_.end() && found->second;
}

void Multihoming::set_port(const std::string& name, bool up, TimePoint now) {
    ports_[name] = up;
    if (Segment* segment = segment_of_port(name)) {
        refresh_segment(*segment, now);
    }
    settle(now);
}

void Multihoming::refresh_segment(Segment& segment, TimePoint now) {
    const bool announced = started_ && is_port_up(segment.options.port);
    if (announced == segment.announced) {
        return;
    }
    segment.announced = announced;
    dirty_segments_.insert(segment.options.esi);
    if (announced) {
        segment.roles.come_up(now);
        say_segment(segment);
    } else {
        segment.roles.go_down();
        take_segment_back(segment);
    }
    refresh_port(segment.options.port);
}

void Multihoming::say_segment(Segment& segment) {
    const Esi& esi = segment.options.esi;
    segment.offer = segment.roles.offer();
    want(segment_route(speaker(), esi, *segment.offer));
    want(segment_ad(speaker(), esi, options_.vrfs));
    for (const VrfOptions& each : options_.vrfs) {
        want(vrf_ad(speaker(), esi, each));
    }
}

void Multihoming::take_segment_back(const Segment& segment) {
    const Esi& esi = segment.options.esi;
    unwant(bgp::RouteKey(segment_route(speaker(), esi, segment.options.df).route));
    unwant(bgp::RouteKey(segment_ad(speaker(), esi, options_.vrfs).route));
    for (const VrfOptions& each : options_.vrfs) {
        unwant(bgp::RouteKey(vrf_ad(speaker(), esi, each).route));
    }
}

void Multihoming::refresh_port(const std::string& port) {
    const auto found = locals_by_port_.find(port);
    if (found == locals_by_port_.end()) {
        return;
    }
    for (const BindingKey& key : found->second) {
        refresh_local(key);
    }
}

// --- Hosts of ours. ---

void Multihoming::set_local(const BindingKey& key, const LocalBinding& binding, TimePoint now) {
    const auto [entry, fresh] = locals_.try_emplace(key);
    Local& local = entry->second;
    if (!fresh && local.binding == binding) {
        return;
    }
    if (!fresh && local.binding.port != binding.port) {
        leave_port(key, local.binding.port);
    }
    locals_by_port_[binding.port].insert(key);
    local.binding = binding;
    refresh_local(key);
    settle(now);
}

void Multihoming::unset_local(const BindingKey& key, TimePoint now) {
    const auto found = locals_.find(key);
    if (found == locals_.end()) {
        return;
    }
    Local& local = found->second;
    leave_port(key, local.binding.port);
    uncount(key, local);
    replace(local.route, std::nullopt);
    locals_.erase(found);
    settle(now);
}

void Multihoming::leave_port(const BindingKey& key, const std::string& port) {
    const auto found = locals_by_port_.find(port);
    found->second.erase(key);
    if (found->second.empty()) {
        locals_by_port_.erase(found);
    }
}

void Multihoming::refresh_local(const BindingKey& key) {
    Local& local = locals_.at(key);
    const std::optional<Counted> counted = count(key, local.binding);
    if (counted != local.counted) {
        uncount(key, local);
        local.counted = counted;
        if (counted) {
            const MacKey mac_key{.vrf = key.vrf, .mac = counted->mac};
            Mac& mac = macs_[mac_key];
            idle_macs_.erase(mac_key);
            mac.mobility.add_local(counted->esi, counted->is_static);
            mac.keys.insert(key);
            ++segments_.at(counted->esi).local;
            dirty_macs_.insert(mac_key);
        }
    }
    dirty_locals_.insert(key);
}

/// Nullopt: it is not advertised. A host on a port that is no segment would be told here as well,
/// without ESI, by a profile that tells peers of single-homed hosts.
std::optional<Multihoming::Counted> Multihoming::count(const BindingKey& key,
                                                       const LocalBinding& binding) {
    const Segment* segment = segment_of_port(binding.port);
    if (segment == nullptr || !segment->announced || vrf(key.vrf) == nullptr) {
        return std::nullopt;
    }
    if (!is_usable(key.address) || !is_usable(binding.mac)) {
        return std::nullopt;
    }
    return Counted{.mac = binding.mac, .esi = segment->options.esi, .is_static = binding.is_static};
}

void Multihoming::uncount(const BindingKey& key, Local& local) {
    if (!local.counted) {
        return;
    }
    const MacKey mac_key{.vrf = key.vrf, .mac = local.counted->mac};
    Mac& mac = macs_.at(mac_key);
    mac.mobility.remove_local(local.counted->esi, local.counted->is_static);
    mac.keys.erase(key);
    if (const auto segment = segments_.find(local.counted->esi); segment != segments_.end()) {
        --segment->second.local;
    }
    dirty_macs_.insert(mac_key);
    local.counted.reset();
}

// --- What is wanted. ---

void Multihoming::want(const Advertised& advertised) {
    const auto [entry, fresh] = wanted_.try_emplace(bgp::RouteKey(advertised.route));
    Wanted& wanted = entry->second;
    wanted.epoch = epoch_;
    const bool same = !fresh && wanted.advertised.route == advertised.route &&
                      *wanted.advertised.path == *advertised.path;
    if (same) {
        return;
    }
    wanted.advertised = advertised;
    outputs_.push_back(Want{.route = advertised.route, .path = advertised.path});
}

void Multihoming::unwant(const bgp::RouteKey& key) {
    if (wanted_.erase(key) > 0) {
        outputs_.push_back(Unwant{.key = key});
    }
}

void Multihoming::replace(std::optional<bgp::RouteKey>& held,
                          const std::optional<Advertised>& now) {
    const auto key = now ? std::optional(bgp::RouteKey(now->route)) : std::nullopt;
    if (held && held != key) {
        unwant(*held);
    }
    if (now) {
        want(*now);
    }
    held = key;
}

void Multihoming::sweep() {
    for (auto at = wanted_.begin(); at != wanted_.end();) {
        if (at->second.epoch == epoch_) {
            ++at;
            continue;
        }
        outputs_.push_back(Unwant{.key = at->first});
        at = wanted_.erase(at);
    }
}

// --- Time and views. ---

void Multihoming::tick(TimePoint now) {
    consider_start(now);
    for (auto& [esi, segment] : segments_) {
        if (segment.roles.wake_at() && *segment.roles.wake_at() <= now) {
            dirty_segments_.insert(esi);
        }
    }
    settle(now);
}

std::optional<TimePoint> Multihoming::wake_at() const {
    std::optional<TimePoint> first;
    if (configured_ && !started_) {
        first = configured_at_ + options_.startup_delay;
    }
    for (const auto& [esi, segment] : segments_) {
        if (const auto at = segment.roles.wake_at()) {
            first = first ? std::min(*first, *at) : *at;
        }
    }
    return first;
}

std::optional<Output> Multihoming::poll() {
    if (outputs_.empty()) {
        return std::nullopt;
    }
    Output output = std::move(outputs_.front());
    outputs_.pop_front();
    return output;
}

std::vector<SegmentView> Multihoming::segments() const {
    std::vector<SegmentView> views;
    for (const auto& [esi, segment] : segments_) {
        SegmentView view{.esi = esi,
                         .port = segment.options.port,
                         .up = is_port_up(segment.options.port),
                         .announced = segment.announced,
                         .offer = segment.roles.offer(),
                         .local = segment.local,
                         .synced = segment.synced};
        for (const VrfOptions& each : options_.vrfs) {
            const DfResult* result = segment.roles.result(each.vni);
            view.roles.push_back({.vrf = each.name,
                                  .vni = each.vni,
                                  .role = segment.roles.role(each.vni),
                                  .result = result != nullptr ? *result : DfResult{},
                                  .elected = result != nullptr,
                                  .candidates = segment.roles.candidates(each.vni)});
        }
        views.push_back(std::move(view));
    }
    return views;
}

MultihomingCounters Multihoming::counters() const {
    MultihomingCounters all = counters_;
    for (const auto& [esi, segment] : segments_) {
        all.elections += segment.roles.elections();
    }
    return all;
}

}  // namespace planed::evpn
