// SPDX-License-Identifier: Apache-2.0
// Neighbours that the kernel is to ask (or to take back), paced: a port that comes back with a
// hundred hosts, or a garbage collector's sweep, must not become a burst of requests.
#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <absl/container/flat_hash_map.h>

#include "core/facts.hpp"
#include "core/limits.hpp"
#include "net/time.hpp"

namespace planed {

class ProbeQueue {
public:
    /// Once per key; an earlier time wins.
    void add(const NeighborKey& key, TimePoint at) {
        const auto found = due_.find(key);
        if (found != due_.end()) {
            if (found->second <= at) {
                return;
            }
            order_.erase({found->second, key});
        }
        due_[key] = at;
        order_.insert({at, key});
    }
    void remove(const NeighborKey& key) {
        const auto found = due_.find(key);
        if (found != due_.end()) {
            order_.erase({found->second, key});
            due_.erase(found);
        }
    }

    /// The next neighbour whose time has come, as far as the round's budget goes.
    std::optional<NeighborKey> poll(TimePoint now) {
        if (order_.empty() || order_.begin()->first > now) {
            return std::nullopt;
        }
        if (now >= round_ends_) {
            round_ends_ = now + limits::kProbeRound;
            budget_ = limits::kProbesPerRound;
        }
        if (budget_ == 0) {
            return std::nullopt;
        }
        --budget_;
        const NeighborKey key = order_.begin()->second;
        order_.erase(order_.begin());
        due_.erase(key);
        return key;
    }
    [[nodiscard]] std::optional<TimePoint> wake_at() const {
        if (order_.empty()) {
            return std::nullopt;
        }
        const TimePoint due = order_.begin()->first;
        return budget_ == 0 ? std::max(due, round_ends_) : due;
    }
    [[nodiscard]] std::size_t size() const { return order_.size(); }

private:
    std::set<std::pair<TimePoint, NeighborKey>> order_;
    absl::flat_hash_map<NeighborKey, TimePoint> due_;
    TimePoint round_ends_{};
    std::size_t budget_ = limits::kProbesPerRound;
};

}  // namespace planed
