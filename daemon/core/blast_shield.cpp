// SPDX-License-Identifier: Apache-2.0
#include "core/blast_shield.hpp"

#include <algorithm>

#include "core/limits.hpp"

namespace planed {

void BlastShield::prune(TimePoint now) {
    while (!withdrawn_.empty() && withdrawn_.front() + config_.window <= now) {
        withdrawn_.pop_front();
    }
}

bool BlastShield::stops(std::size_t losses, std::size_t announced, TimePoint now) {
    prune(now);
    if (!is_on()) {
        return false;
    }
    const std::size_t going = losses + withdrawn_.size();
    const std::size_t were_there = announced + withdrawn_.size();
    return is_up() ||
           (going >= config_.at_least && going * 100 > were_there * config_.share_percent);
}

bool BlastShield::has_room(TimePoint now) {
    prune(now);
    return withdrawn_.size() < std::max(config_.at_least, std::uint32_t{1});
}

void BlastShield::guard(const Lost& lost, TimePoint now) {
    counters_.raised += is_up() ? 0U : 1U;
    ++counters_.guarded;
    guarded_.put(
        lost.key, now + limits::kAskedWithin, {.place = lost.place, .mac = lost.mac, .since = now});
    if (lost.mac.is_zero()) {
        note_silent(lost.key);
    }
}

void BlastShield::note_asked(const RouteKey& key, TimePoint now) {
    Guarded guarded = guarded_.value(key);
    guarded.phase = Phase::Asked;
    guarded.asked = now;
    guarded_.put(key, now + limits::kAnswerWithin, guarded);
}

void BlastShield::note_refused(const RouteKey& key) {
    Guarded guarded = guarded_.value(key);
    guarded.phase = Phase::Waits;
    guarded_.put(key, guarded.since + limits::kAskedWithin, guarded);
}

void BlastShield::note_probed(const RouteKey& key) {
    Guarded guarded = guarded_.value(key);
    guarded.phase = Phase::Probed;
    guarded_.put(key, guarded_.at(key), guarded);
}

void BlastShield::note_silent(const RouteKey& key) {
    Guarded guarded = guarded_.value(key);
    if (guarded.phase != Phase::Silent) {
        guarded.phase = Phase::Silent;
        guarded_.put(key, TimePoint::max(), guarded);
        silent_.push_back(key);
    }
}

void BlastShield::release(const RouteKey& key, bool lives) {
    const bool was_guarded = guarded_.erase(key);
    counters_.saved += was_guarded && lives ? 1U : 0U;
    while (!silent_.empty()) {
        const Guarded* guarded = guarded_.find(silent_.front());
        if (guarded != nullptr && guarded->phase == Phase::Silent) {
            break;
        }
        silent_.pop_front();
    }
}

std::optional<RouteKey> BlastShield::next_silent() const {
    return silent_.empty() ? std::nullopt : std::optional(silent_.front());
}

std::optional<TimePoint> BlastShield::wake_at() const {
    std::optional<TimePoint> at = guarded_.next();
    if (at == TimePoint::max()) {
        at.reset();
    }
    if (!silent_.empty()) {
        const bool full = withdrawn_.size() >= std::max(config_.at_least, std::uint32_t{1});
        const TimePoint turn = full ? withdrawn_.front() + config_.window : TimePoint{};
        at = at ? std::min(*at, turn) : turn;
    }
    return at;
}

}  // namespace planed
