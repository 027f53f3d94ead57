// SPDX-License-Identifier: Apache-2.0
// How long routes take: from the wish for a host's route to zebra's word that it is installed, and
// from a port's loss of carrier to its word that a route behind it is gone. Keeps only what is
// under way at the moment. Nothing is decided by it.
#pragma once

#include <array>
#include <cstddef>

#include <absl/container/flat_hash_map.h>

#include "core/histogram.hpp"
#include "core/limits.hpp"
#include "core/reconciler.hpp"
#include "core/route.hpp"
#include "net/ids.hpp"
#include "net/time.hpp"

namespace planed {

class RouteTimes {
public:
    void port_down(IfIndex port, TimePoint now) { down_.try_emplace(port, now); }
    void port_up(IfIndex port) { down_.erase(port); }  // Or is no more.

    /// A host has become one to announce, here or on another link than before.
    void wished(const RouteKey& key, TimePoint now) {
        withdrawals_.erase(key);
        if (wishes_.size() < limits::kTimedRoutesMax) {
            wishes_.try_emplace(key, now);
        }
    }
    /// Its route is taken back, for another cause than a port.
    void withdrawn(const RouteKey& key) { wishes_.erase(key); }
    /// The same because one of these went down: the first of them that did counts.
    void withdrawn(const RouteKey& key, const std::array<IfIndex, 2>& places) {
        wishes_.erase(key);
        for (const IfIndex place : places) {
            const auto went = down_.find(place);
            if (went != down_.end()) {
                if (withdrawals_.size() < limits::kTimedRoutesMax) {
                    withdrawals_.try_emplace(key, went->second);
                }
                return;
            }
        }
    }

    [[nodiscard]] bool waits_for(const RouteKey& key) const {
        return wishes_.contains(key) || withdrawals_.contains(key);
    }
    /// zebra has said something about it; this is what it has come to.
    void settled(const RouteKey& key, SinkState state, TimePoint now) {
        finish(wishes_, key, state, SinkState::Pending, SinkState::Held, installed_, now);
        finish(
            withdrawals_, key, state, SinkState::Withdrawing, SinkState::Absent, withdrawn_, now);
    }
    /// An audit has settled what zebra did not answer; when it came about, nobody knows.
    template <class StateOf>
    void audited(StateOf state_of) {
        absl::erase_if(wishes_,
                       [&](const auto& w) { return state_of(w.first) != SinkState::Pending; });
        absl::erase_if(withdrawals_,
                       [&](const auto& w) { return state_of(w.first) != SinkState::Withdrawing; });
    }

    [[nodiscard]] const Histogram& learn_to_installed() const { return installed_; }
    [[nodiscard]] const Histogram& port_down_to_withdrawn() const { return withdrawn_; }

private:
    using Begun = absl::flat_hash_map<RouteKey, TimePoint>;  // Looked up, never walked in order.

    static void finish(Begun& begun,
                       const RouteKey& key,
                       SinkState state,
                       SinkState under_way,
                       SinkState done,
                       Histogram& times,
                       TimePoint now) {
        const auto found = begun.find(key);
        if (found == begun.end() || state == under_way) {
            return;
        }
        if (state == done) {
            times.record(now - found->second);
        }
        begun.erase(found);
    }

    absl::flat_hash_map<IfIndex, TimePoint> down_;  // Links without carrier that had it.
    Begun wishes_;
    Begun withdrawals_;
    Histogram installed_;
    Histogram withdrawn_;
};

}  // namespace planed
