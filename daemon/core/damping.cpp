// SPDX-License-Identifier: Apache-2.0
#include "core/damping.hpp"

#include <algorithm>
#include <utility>

#include "core/limits.hpp"

namespace planed {

void Damping::configure(const DampingConfig& config) {
    config_ = config;
    if (!is_on()) {
        histories_ = {};
        held_ = 0;
    }
}

bool Damping::flapped(const RouteKey& key, TimePoint now) {
    const History* known = histories_.find(key);
    if (!is_on() || (known == nullptr && histories_.size() >= limits::kFlapHistoriesMax)) {
        counters_.refused += is_on() ? 1U : 0U;
        return false;
    }
    ++counters_.flaps;
    History history = known == nullptr ? History{} : *known;
    std::erase_if(history.flaps, [&](TimePoint flap) { return flap + config_.window <= now; });
    history.flaps.push_back(now);
    while (history.flaps.size() > config_.max_flaps) {
        history.flaps.erase(history.flaps.begin());
    }
    const bool was_held = history.until && *history.until > now;
    const bool holds = was_held || history.flaps.size() >= config_.max_flaps;
    if (holds) {
        if (was_held) {
            history.level = std::min<std::uint8_t>(history.level + 1U, limits::kHoldDoublingsMax);
        } else {
            ++held_;
        }
        ++counters_.held;
        history.hold = config_.hold * (1 << history.level);
        history.until = now + history.hold;
    }
    keep(key, std::move(history), now);
    return holds;
}

// Until the hold ends; after that until one doubling is forgiven; else until the last flap is out
// of the window.
void Damping::keep(const RouteKey& key, History history, TimePoint now) {
    TimePoint at = history.flaps.empty() ? now : history.flaps.back() + config_.window;
    if (history.until) {
        at = *history.until;
    } else if (history.level > 0) {
        at = now + config_.hold;
    }
    histories_.put(key, at, std::move(history));
}

std::optional<Damping::Held> Damping::held(const RouteKey& key, TimePoint now) const {
    const History* history = histories_.find(key);
    if (history == nullptr || !history->until || *history->until <= now) {
        return std::nullopt;
    }
    return Held{.until = *history->until,
                .flaps = static_cast<std::uint32_t>(history->flaps.size()),
                .hold = history->hold};
}

// After its hold a host begins anew, but what it was held for is forgiven by halves: for each
// `hold` without another flap one doubling.
bool Damping::expire(const RouteKey& key, TimePoint now) {
    const History* known = histories_.find(key);
    if (known == nullptr || histories_.at(key) > now) {
        return false;
    }
    History history = *known;
    const bool released = history.until.has_value();
    if (released) {
        --held_;
        history.until.reset();
        history.flaps.clear();
    } else if (history.level > 0) {
        --history.level;
    }
    std::erase_if(history.flaps, [&](TimePoint flap) { return flap + config_.window <= now; });
    if (history.level == 0 && history.flaps.empty()) {
        histories_.erase(key);
    } else {
        keep(key, std::move(history), now);
    }
    return released;
}

}  // namespace planed
