// SPDX-License-Identifier: Apache-2.0
#include "core/route_delays.hpp"

#include <algorithm>

#include "core/limits.hpp"

namespace planed {

std::string_view describe(Loss loss) {
    switch (loss) {
        case Loss::Silent: return "it fell silent";
        case Loss::PortDown: return "its port went down";
        case Loss::Administrative: return "the configuration or the leaf's state speaks against it";
    }
    return "unknown";
}

void RouteDelays::configure(const RoutesConfig& routes) {
    if (add_delay_ != routes.add_delay) {
        add_delay_ = routes.add_delay;
        for (const RouteKey& key : waiting_.keys()) {
            const TimePoint since = waiting_.value(key);
            waiting_.put(key, since + add_delay_, since);
        }
    }
    if (withdraw_delay_ != routes.withdraw_delay) {
        withdraw_delay_ = routes.withdraw_delay;
        for (const RouteKey& key : leaving_.keys()) {
            const Leaving leaving = leaving_.value(key);
            leaving_.put(key, leaving.since + delay_of(leaving.loss), leaving);
        }
    }
}

Duration RouteDelays::delay_of(Loss loss) const {
    switch (loss) {
        case Loss::Silent: return withdraw_delay_.silent;
        case Loss::PortDown: return withdraw_delay_.port_down;
        case Loss::Administrative: break;
    }
    return Duration{};
}

bool RouteDelays::admits(const RouteKey& key, const Arrival& arrival, TimePoint now) {
    const TimePoint* waits = waiting_.find(key);
    const TimePoint since = waits == nullptr ? arrival.since : *waits;
    const IfIndex* left = departed_.find(key);
    const bool moved = left != nullptr && *left != arrival.link;
    if (moved || since + add_delay_ <= now) {
        waiting_.erase(key);
        departed_.erase(key);
        return true;
    }
    if (waits == nullptr) {
        ++counters_.delayed;
        waiting_.put(key, since + add_delay_, since);
    }
    return false;
}

bool RouteDelays::keeps(const RouteKey& key, Loss loss, TimePoint now) {
    const Leaving* known = leaving_.find(key);
    if (loss == Loss::Administrative) {
        leaving_.erase(key);
        return false;
    }
    if (known == nullptr) {
        const TimePoint until = now + delay_of(loss);
        if (until > now && leaving_.size() >= limits::kLeavingMax) {
            return false;
        }
        if (until > now) {
            ++counters_.kept;
            leaving_.put(key, until, {.loss = loss, .since = now});
        }
        return until > now;
    }
    TimePoint until = leaving_.at(key);
    if (loss == Loss::PortDown && known->loss == Loss::Silent) {
        until = std::min(until, now + delay_of(loss));
        leaving_.put(key, until, {.loss = loss, .since = known->since});
    }
    if (until <= now) {
        leaving_.erase(key);
    }
    return until > now;
}

bool RouteDelays::regain(const RouteKey& key) {
    const bool was_leaving = leaving_.erase(key);
    counters_.returned += was_leaving ? 1U : 0U;
    return was_leaving;
}

void RouteDelays::withdrawn(const RouteKey& key, IfIndex link, TimePoint now) {
    if (add_delay_ > Duration{} && departed_.size() < limits::kDepartedMax) {
        departed_.put(key, now + add_delay_, link);
    }
}

std::vector<RouteKey> RouteDelays::due(TimePoint now, std::size_t most) {
    for (const RouteKey& key : departed_.due(now, most)) {
        departed_.erase(key);
    }
    std::vector<RouteKey> keys = leaving_.due(now, most);
    for (const RouteKey& key : waiting_.due(now, most - keys.size())) {
        keys.push_back(key);
    }
    return keys;
}

std::optional<TimePoint> RouteDelays::wake_at() const {
    const std::optional<TimePoint> leaves = leaving_.next();
    const std::optional<TimePoint> waits = waiting_.next();
    return leaves && waits ? std::min(leaves, waits) : leaves ? leaves : waits;
}

std::optional<TimePoint> RouteDelays::leaves_at(const RouteKey& key) const {
    return leaving_.find(key) == nullptr ? std::nullopt : std::optional(leaving_.at(key));
}

std::optional<TimePoint> RouteDelays::announced_at(const RouteKey& key) const {
    return waiting_.find(key) == nullptr ? std::nullopt : std::optional(waiting_.at(key));
}

}  // namespace planed
