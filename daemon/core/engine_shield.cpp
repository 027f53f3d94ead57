// SPDX-License-Identifier: Apache-2.0
// Engine: the blast shield. The routes of hosts that fall silent, without a port having
// gone down, are judged together at the end of each turn. Too many of them: they stay, each host is
// asked by a write to the kernel's table, and what the host does decides. An answer keeps the
// route; silence ends it, but only a few at a time.
#include <algorithm>

#include <fmt/core.h>

#include "core/engine.hpp"
#include "core/limits.hpp"
#include "core/planner.hpp"

namespace planed {

void Engine::suspect(const RouteKey& key, IfIndex link) {
    const BlastShield::Guarded* guarded = shield_.find(key);
    if (guarded == nullptr) {
        const NeighborKey place{.link = link, .address = key.prefix.address()};
        shield_.add({.key = key, .place = place, .mac = last_mac_of(place)});
    } else if (guarded->phase == BlastShield::Phase::Probed) {
        shield_.note_silent(key);
    }
}

/// A guarded host is in the kernel's table again: because it answered, or because we asked.
void Engine::note_returned(const RouteKey& key, const NeighborRecord& host) {
    const BlastShield::Guarded guarded = *shield_.find(key);
    const bool asked = guarded.phase != BlastShield::Phase::Waits;
    if (!asked || host.proven() > guarded.asked) {
        shield_.release(key, true);
        note_hold(key);
    } else if (guarded.phase == BlastShield::Phase::Asked) {
        shield_.note_probed(key);
    }
}

void Engine::note_mac(const NeighborRecord& record, const MacAddress& mac) {
    if (record.claim && !mac.is_zero() && shield_.is_on()) {
        last_macs_[record.key] = mac;
    }
}

MacAddress Engine::last_mac_of(const NeighborKey& place) const {
    const NeighborRecord* record = neighbors_.find(place);
    if (record != nullptr && !record->neighbor.mac.is_zero()) {
        return record->neighbor.mac;
    }
    const auto found = last_macs_.find(place);
    return found == last_macs_.end() ? MacAddress{} : found->second;
}

void Engine::run_shield(TimePoint now) {
    if (shield_.has_lost()) {
        judge_losses(now);
    }
    ask_guarded(now);  // Whoever is guarded no more leaves the queue as well.
    if (shield_.is_up()) {
        settle_guarded(now);
    }
    if (shielded_ && !shield_.is_up()) {
        shielded_ = false;
        recover("max_withdraw");
    }
    // A MAC is kept for those whose loss is not decided yet.
    if (!last_macs_.empty() && dirty_.empty() && !delays_.any_leaving()) {
        last_macs_.clear();
    } else if (last_macs_.size() > 2 * delays_.count_leaving() + limits::kPlannedPerTurnMax &&
               dirty_.empty()) {
        absl::erase_if(last_macs_, [this](const auto& entry) {
            const ServedInterface* served = served_.find(entry.first.link);
            return served == nullptr ||
                   delays_.leaving(route_key(served->vrf, entry.first.address)) == nullptr;
        });
    }
}

void Engine::judge_losses(TimePoint now) {
    std::vector<BlastShield::Lost> losses = shield_.take_lost();
    std::erase_if(losses, [this](const BlastShield::Lost& lost) {
        return !sink_.routes().desired(lost.key) || claimant_of(lost.key) != nullptr;
    });
    const std::size_t announced = sink_.routes().wanted();
    const bool stops = shield_.stops(losses.size(), announced, now);
    if (stops && !std::exchange(shielded_, true)) {
        degrade("max_withdraw",
                fmt::format("{} of {} announced hosts fell silent at once though no port went "
                            "down: such routes stay while each host is asked again, and go a "
                            "few at a time if it does not answer (routes.max_withdraw)",
                            losses.size(),
                            announced));
    }
    for (const BlastShield::Lost& lost : losses) {
        if (stops && shield_.count_guarded() < limits::kGuardedMax) {
            if (shield_.find(lost.key) == nullptr) {
                shield_.guard(lost, now);
                asks_.add(lost.place, now);
                note_hold(lost.key);
            }
        } else if (sink_.routes().desired(lost.key)) {
            shield_.note_withdrawn(now);
            withdraw(lost.key, Loss::Silent, now);
        }
    }
}

void Engine::ask_guarded(TimePoint now) {
    if (!knows_neighbors()) {
        return;
    }
    while (const auto place = asks_.poll(now)) {
        const ServedInterface* served = served_.find(place->link);
        if (served == nullptr) {
            continue;
        }
        const RouteKey key = route_key(served->vrf, place->address);
        const BlastShield::Guarded* guarded = shield_.find(key);
        if (guarded == nullptr || guarded->phase != BlastShield::Phase::Waits) {
            continue;
        }
        const NeighborRecord* record = neighbors_.find(*place);
        write_neighbor({.key = *place,
                        .mac = guarded->mac,
                        .state = Nud::Probe,
                        .ext_learned = record == nullptr || record->neighbor.ext_learned});
        shield_.note_asked(key, now);
    }
}

/// The kernel would not take it: it could not be asked yet.
void Engine::ask_again_later(const NeighborKey& place, TimePoint now) {
    const ServedInterface* served = served_.find(place.link);
    const RouteKey key = route_key(served == nullptr ? VrfId::Default : served->vrf, place.address);
    const BlastShield::Guarded* guarded = shield_.find(key);
    if (guarded != nullptr && guarded->phase == BlastShield::Phase::Asked) {
        shield_.note_refused(key);
        asks_.add(place, now + limits::kProbeRetry);
    }
}

void Engine::settle_guarded(TimePoint now) {
    for (const RouteKey& key : shield_.due(now, limits::kPlannedPerTurnMax)) {
        if (const NeighborRecord* host = claimant_of(key)) {
            shield_.release(key, host->proven() > shield_.find(key)->asked);
        } else {
            shield_.note_silent(key);
        }
        note_hold(key);
    }
    while (shield_.has_room(now)) {
        const auto key = shield_.next_silent();
        if (!key) {
            return;
        }
        const bool lives = claimant_of(*key) != nullptr;
        shield_.release(*key, lives);
        note_hold(*key);
        if (!lives && sink_.routes().desired(*key)) {
            shield_.note_withdrawn(now);
            withdraw(*key, Loss::Silent, now);
        }
    }
}

}  // namespace planed
