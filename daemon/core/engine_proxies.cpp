// SPDX-License-Identifier: Apache-2.0
// Engine: what the plane has elsewhere, and for whom the kernel is to answer.
#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "core/engine.hpp"
#include "core/limits.hpp"
#include "core/planner.hpp"

namespace planed {

// The plane ---------------------------------------------------------------------------------------

void Engine::on(const PlaneRouteSeen& seen, TimePoint /*now*/) {
    if (plane_.see(seen.key)) {
        proxies_.mark(seen.key.prefix.address());
    }
    if (plane_.refused() > 0) {
        degrade("plane",
                fmt::format("more than {} hosts: planed does not answer for the others",
                            limits::kPlaneRoutesMax));
    }
}

void Engine::on(const PlaneRouteGone& gone, TimePoint now) {
    plane_.gone(gone.key, now);
}

void Engine::on(const PlaneDoubted& /*doubted*/, TimePoint now) {
    plane_.doubt(now);
}

void Engine::on(const PlaneDumped& dumped, TimePoint now) {
    plane_.dumped(dumped.vrf, now);
}

void Engine::watch_planes(TimePoint now) {
    if (sink_.is_up()) {
        for (const auto& [link, served] : proxies_.served()) {
            if (watched_planes_.insert(served.vrf).second) {
                outputs_.emplace_back(WatchPlane{.vrf = served.vrf});
            }
        }
    }
    for (const RouteKey& key : plane_.sweep(now)) {
        proxies_.mark(key.prefix.address());
    }
}

void Engine::plane_session_began() {
    watched_planes_.clear();
    absl::btree_set<VrfId> vrfs;
    for (const auto& [link, served] : proxies_.served()) {
        vrfs.insert(served.vrf);
    }
    plane_.keep_only(vrfs);
}

// Interfaces --------------------------------------------------------------------------------------

// What the kernel has may have gone with the change: it says nothing of that.
void Engine::update_proxied(IfIndex link) {
    dumps_.request(DumpKind::Proxies);
    const ServedInterface* served = served_.find(link);
    if (served == nullptr || !served->config.proxy_nd) {
        proxies_.unserve(link);
        return;
    }
    proxies_.serve(*served);
    for (const IpPrefix& prefix : served->allowed()) {
        plane_.for_each_in(
            served->vrf, prefix, [this](const IpAddress& address) { proxies_.mark(address); });
    }
}

// The kernel is not told to answer before its entries can be trusted: those of an earlier run may
// be of hosts that have moved.
void Engine::serve_settings(const ServedInterface& served) {
    ServedInterface shown = served;
    shown.config.proxy_nd = shown.config.proxy_nd && answers_nd_;
    settings_.serve(shown, config_->learning);
}

// Turns -------------------------------------------------------------------------------------------

// Behind this interface is who has a living neighbour entry there, unless its port leads nowhere. A
// port that came back and whose host has not spoken since counts as well: its first word may be a
// check whether its own address is in use.
bool Engine::is_behind(const NeighborKey& key) const {
    const NeighborRecord* record = neighbors_.find(key);
    if (record == nullptr || judge_state(record->neighbor) != Reason::Eligible) {
        return false;
    }
    const PortFacts::State port = port_of(key).state;
    return port != PortFacts::State::Down && port != PortFacts::State::Left;
}

void Engine::run_proxies(TimePoint now) {
    proxies_.begin_turn();
    if (!facts_whole_) {
        return;
    }
    watch_planes(now);
    proxies_.plan(limits::kPlannedPerTurnMax, [this](const NeighborKey& key) {
        const ServedInterface* served = served_.find(key.link);
        const bool known = served != nullptr && plane_.has(route_key(served->vrf, key.address));
        return ProxyFacts{.in_plane = known,
                          .is_here = known && is_behind(key),
                          .own_address = addresses_.owns(key.address)};
    });
    if (!proxies_.is_trusted() && knows_proxies()) {
        proxies_.trust();
    }
    if (!answers_nd_ && proxies_.is_settled()) {
        answers_nd_ = true;
        for (const auto& [link, served] : served_.all()) {
            serve_settings(served);
        }
    }
}

// The kernel's table has been read, and so has the plane of every VRF that matters.
bool Engine::knows_proxies() const {
    const auto& served = proxies_.served();
    const bool planes = std::all_of(served.begin(), served.end(), [this](const auto& entry) {
        return plane_.is_known(entry.second.vrf);
    });
    return planes && dumps_.synced(DumpKind::Proxies) && dirty_.empty() && proxies_.has_planned();
}

std::optional<SendProxy> Engine::next_proxy() {
    return stopping_ ? std::nullopt : proxies_.next(next_request_, now_);
}

void Engine::remove_proxies() {
    for (SendProxy& removal : proxies_.remove_all(next_request_)) {
        outputs_.emplace_back(std::move(removal));
    }
}

// The kernel --------------------------------------------------------------------------------------

void Engine::on(const ProxySeen& seen, TimePoint now) {
    proxies_.see(seen, now);
}

bool Engine::note_proxy_answer(const KernelAnswered& answered, TimePoint now) {
    const auto outcome = proxies_.answered(answered, now);
    if (!outcome) {
        return false;
    }
    const std::string id = fmt::format("proxies {}", links_.name_of(outcome->key.link));
    if (!outcome->error) {
        recover(id);
    } else if (!degraded_.contains(id)) {
        degrade(id, outcome->error->text);  // Of one of them: the others fail for the same reason.
    }
    return true;
}

}  // namespace planed
