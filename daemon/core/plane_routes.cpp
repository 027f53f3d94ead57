// SPDX-License-Identifier: Apache-2.0
#include "core/plane_routes.hpp"

#include <algorithm>

#include "core/limits.hpp"

namespace planed {

bool PlaneRoutes::see(const RouteKey& key) {
    if (const auto found = routes_.find(key); found != routes_.end()) {
        found->second = {.epoch = epoch_};
        return false;
    }
    if (routes_.size() >= limits::kPlaneRoutesMax) {
        ++refused_;
        return false;
    }
    routes_.emplace(key, Entry{.epoch = epoch_});
    return true;
}

void PlaneRoutes::gone(const RouteKey& key, TimePoint now) {
    const auto found = routes_.find(key);
    if (found == routes_.end() || found->second.epoch != epoch_ || found->second.leaving) {
        return;
    }
    found->second.leaving = true;
    first_left_ = leaving_.empty() ? now : first_left_;
    last_left_ = now;
    leaving_.push_back(key);
}

void PlaneRoutes::dumped(VrfId vrf, TimePoint now) {
    known_.insert(vrf);
    if (epoch_ > 1) {
        sweep_at_[vrf] = now + limits::kPlaneGrace;
    }
}

void PlaneRoutes::doubt(TimePoint now) {
    begin_epoch();
    for (const VrfId vrf : known_) {
        sweep_at_[vrf] = now + limits::kPlaneGrace;
    }
}

void PlaneRoutes::lost() {
    begin_epoch();
    sweep_at_.clear();
}

void PlaneRoutes::begin_epoch() {
    ++epoch_;
    leaving_.clear();
}

void PlaneRoutes::keep_only(const absl::btree_set<VrfId>& vrfs) {
    absl::erase_if(routes_, [&](const auto& entry) { return !vrfs.contains(entry.first.vrf); });
    absl::erase_if(known_, [&](VrfId vrf) { return !vrfs.contains(vrf); });
}

std::vector<RouteKey> PlaneRoutes::sweep(TimePoint now) {
    std::vector<RouteKey> swept;
    if (!leaving_.empty() && leaves_at() <= now) {
        remove_gone(swept);
    }
    const auto due = [now](const auto& entry) { return entry.second <= now; };
    if (std::any_of(sweep_at_.begin(), sweep_at_.end(), due)) {
        remove_doubtful(now, swept);
        absl::erase_if(sweep_at_, due);
    }
    return swept;
}

void PlaneRoutes::remove_gone(std::vector<RouteKey>& swept) {
    for (const RouteKey& key : leaving_) {
        const auto found = routes_.find(key);
        if (found != routes_.end() && found->second.leaving) {
            swept.push_back(key);
            routes_.erase(found);
        }
    }
    leaving_.clear();
}

void PlaneRoutes::remove_doubtful(TimePoint now, std::vector<RouteKey>& swept) {
    for (auto at = routes_.begin(); at != routes_.end();) {
        const auto sweep_at = sweep_at_.find(at->first.vrf);
        const bool over = sweep_at != sweep_at_.end() && sweep_at->second <= now;
        if (over && at->second.epoch != epoch_) {
            swept.push_back(at->first);
            at = routes_.erase(at);
        } else {
            ++at;
        }
    }
}

// As long as more of them go, it may be the end of bgpd.
TimePoint PlaneRoutes::leaves_at() const {
    return std::min(first_left_ + limits::kPlaneGoneMost, last_left_ + limits::kPlaneGoneQuiet);
}

std::optional<TimePoint> PlaneRoutes::wake_at() const {
    std::optional<TimePoint> at;
    if (!leaving_.empty()) {
        at = leaves_at();
    }
    for (const auto& [vrf, due] : sweep_at_) {
        at = at ? std::min(*at, due) : due;
    }
    return at;
}

}  // namespace planed
