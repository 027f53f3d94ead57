// SPDX-License-Identifier: Apache-2.0
// Engine: what plug-ins say of hosts. They are asked outside, and their verdict comes with the
// fact: a host that one denies is known like any other, and has no route.
#include "core/engine.hpp"

namespace planed {

const std::string* Engine::denied(const NeighborKey& key) const {
    if (denied_.empty()) {
        return nullptr;  // As on most leaves.
    }
    const auto found = denied_.find(key);
    return found == denied_.end() ? nullptr : &found->second;
}

// A row that an event has overtaken was judged by what is not so any more.
bool Engine::has_verdict(const NeighborSeen& seen) const {
    const bool matters = !seen.denied.empty() || denied(seen.key) != nullptr;
    return matters && !seen.neighbor.mac.is_zero() && neighbors_.is_news(seen);
}

void Engine::note_verdict(const NeighborSeen& seen) {
    NeighborRecord* record = neighbors_.find(seen.key);
    if (record == nullptr) {
        return;  // There was no room for it.
    }
    const std::string* before = denied(seen.key);
    const bool same = before == nullptr ? seen.denied.empty() : *before == seen.denied;
    if (same) {
        return;
    }
    if (seen.denied.empty()) {
        denied_.erase(seen.key);
    } else {
        denied_[seen.key] = seen.denied;
    }
    mark_dirty(*record);
}

void Engine::on(const JudgesChanged& /*changed*/, TimePoint /*now*/) {
    dumps_.request(DumpKind::Neighbors);
}

}  // namespace planed
