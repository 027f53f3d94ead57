// SPDX-License-Identifier: Apache-2.0
// Addresses that more than one MAC claims. Counts how often each has changed its MAC; one that does
// so too often belongs to its first owner for a while (the idea of RFC 7432 15.1, which counts
// moves in the same way: five in 180 s). Keeps no word on hosts that never moved.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include <absl/container/btree_map.h>

#include "config/config.hpp"
#include "core/facts.hpp"
#include "net/time.hpp"

namespace planed {

class Conflicts {
public:
    struct Freeze {
        MacAddress owner{};  // Had the address before the first move that counted.
        MacAddress other{};  // Claimed it last.
        TimePoint until{};
    };

    /// The kernel has another MAC for this address now. True if that makes it frozen.
    bool moved(const NeighborKey& key,
               const MacAddress& from,
               const MacAddress& to,
               TimePoint now,
               const DuplicatesConfig& config);
    /// Null: not frozen.
    [[nodiscard]] const Freeze* frozen(const NeighborKey& key) const;
    /// Somebody else claims an address that is frozen: nothing changes but whom the alarm names.
    void claimed(const NeighborKey& key, const MacAddress& by);
    /// Addresses whose time is over; they begin anew.
    [[nodiscard]] std::vector<NeighborKey> thaw(TimePoint now);
    void forget(const NeighborKey& key) { entries_.erase(key); }
    [[nodiscard]] std::optional<TimePoint> wake_at() const { return next_; }
    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    [[nodiscard]] bool empty() const { return entries_.empty(); }

private:
    struct Entry {
        MacAddress owner{};
        std::deque<TimePoint> moves;  // Within the window.
        std::optional<Freeze> freeze;
        TimePoint forget_at{};
    };

    static TimePoint end_of(const Entry& entry) {
        return entry.freeze ? entry.freeze->until : entry.forget_at;
    }

    absl::btree_map<NeighborKey, Entry> entries_;
    std::optional<TimePoint> next_;  // No entry ends before; nullopt: there is none.
};

}  // namespace planed
