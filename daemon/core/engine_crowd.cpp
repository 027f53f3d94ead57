// SPDX-License-Identifier: Apache-2.0
// Engine: max_hosts. So many hosts of an interface are announced and no more; one that
// is announced is never withdrawn for it, and whoever waits follows when another one goes. As with
// the delays, whoever lives when planed starts or isolation ends was announced before, and is
// again.
#include <algorithm>

#include <fmt/core.h>

#include "core/engine.hpp"
#include "core/limits.hpp"
#include "core/planner.hpp"

namespace planed {

/// It is behind a port that has taken its share of what there is room for on the interface.
bool Engine::fills_port(const ServedInterface& served,
                        const MacAddress& mac,
                        std::size_t on_the_way) const {
    const PortBinding* binding =
        served.bridge == IfIndex::None ? nullptr : fdb_.find(fdb_key(served, mac));
    if (binding == nullptr || binding->port == IfIndex::None) {
        return false;
    }
    const std::size_t share =
        std::max<std::size_t>(limits::kHostsPerPortLeast, served.config.max_hosts / 2);
    return fdb_.count_behind(binding->port) + on_the_way > share;
}

/// Nothing but the room on its interface, or for its port, speaks against it.
bool Engine::is_over_limit(const NeighborRecord& record, const ServedInterface& served) const {
    if (record.claim || admits_all_) {
        return false;
    }
    const auto claims = claims_.find(record.key.link);
    const bool full = claims != claims_.end() && claims->second >= served.config.max_hosts;
    return (full || fills_port(served, record.neighbor.mac, 0)) &&
           !sink_.routes().desired(route_key(served.vrf, record.key.address));
}

void Engine::count_claim(const NeighborKey& key) {
    ++claims_[key.link];
}

/// One has gone: the first of those that wait on its interface is judged again.
void Engine::uncount_claim(const NeighborKey& key) {
    if (--claims_[key.link] == 0) {
        claims_.erase(key.link);
    }
    const auto next = over_limit_.lower_bound({.link = key.link, .address = {}});
    if (next != over_limit_.end() && next->link == key.link) {
        mark_dirty(*next);
    }
}

void Engine::note_over_limit(const NeighborKey& key, bool over) {
    if (over) {
        over_limit_.insert(key);
    } else {
        over_limit_.erase(key);
    }
}

/// The alarm comes before the limit does, and goes when there is some room again.
void Engine::watch_crowds() {
    constexpr std::size_t kAlarmPercent = 80;
    constexpr std::size_t kCalmPercent = 75;
    for (const auto& [link, served] : served_.all()) {
        const std::size_t most = served.config.max_hosts;
        const std::size_t hosts = neighbors_.count_on(link);
        const bool alarmed = crowded_.contains(link);
        const std::size_t limit = most * (alarmed ? kCalmPercent : kAlarmPercent);
        const bool crowded = hosts * 100 >= limit && hosts > 0;
        if (crowded && !alarmed) {
            crowded_[link] = served.name;
            degrade(
                "hosts on " + served.name,
                fmt::format(
                    "{} of {} (max_hosts): above that new ones are not announced", hosts, most));
        } else if (alarmed && !crowded) {
            recover("hosts on " + crowded_[link]);
            crowded_.erase(link);
        }
    }
    absl::erase_if(crowded_, [this](const auto& entry) {
        const bool gone = served_.find(entry.first) == nullptr;
        if (gone) {
            recover("hosts on " + entry.second);
        }
        return gone;
    });
}

}  // namespace planed
