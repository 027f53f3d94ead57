// SPDX-License-Identifier: Apache-2.0
#include "core/conflicts.hpp"

#include <algorithm>

#include "core/limits.hpp"

namespace planed {

bool Conflicts::moved(const NeighborKey& key,
                      const MacAddress& from,
                      const MacAddress& to,
                      TimePoint now,
                      const DuplicatesConfig& config) {
    if (config.max_moves == 0 ||
        (entries_.size() >= limits::kConflictsMax && !entries_.contains(key))) {
        return false;
    }
    Entry& entry = entries_[key];
    if (entry.freeze) {
        return false;
    }
    while (!entry.moves.empty() && entry.moves.front() + config.window <= now) {
        entry.moves.pop_front();
    }
    if (entry.moves.empty()) {
        entry.owner = from;
    }
    entry.moves.push_back(now);
    entry.forget_at = now + config.window;
    next_ = next_ ? std::min(*next_, entry.forget_at) : entry.forget_at;
    if (entry.moves.size() < config.max_moves) {
        return false;
    }
    // The last move may be the one back to the owner.
    entry.freeze = Freeze{
        .owner = entry.owner, .other = to == entry.owner ? from : to, .until = now + config.freeze};
    next_ = std::min(*next_, entry.freeze->until);
    return true;
}

const Conflicts::Freeze* Conflicts::frozen(const NeighborKey& key) const {
    const auto found = entries_.find(key);
    return found != entries_.end() && found->second.freeze ? &*found->second.freeze : nullptr;
}

void Conflicts::claimed(const NeighborKey& key, const MacAddress& by) {
    const auto found = entries_.find(key);
    if (found != entries_.end() && found->second.freeze) {
        found->second.freeze->other = by;
    }
}

std::vector<NeighborKey> Conflicts::thaw(TimePoint now) {
    std::vector<NeighborKey> over;
    if (!next_ || *next_ > now) {
        return over;
    }
    next_.reset();
    for (auto at = entries_.begin(); at != entries_.end();) {
        const TimePoint end = end_of(at->second);
        if (end > now) {
            next_ = next_ ? std::min(*next_, end) : end;
            ++at;
            continue;
        }
        if (at->second.freeze) {
            over.push_back(at->first);
        }
        at = entries_.erase(at);
    }
    return over;
}

}  // namespace planed
