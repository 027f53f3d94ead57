// SPDX-License-Identifier: Apache-2.0
// What one peer has told us, as told (Adj-RIB-In, RFC 4271 3.2): every route with its path, kept to
// be shown and to be used. Its bound is the session's: routes_max and one message more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <absl/container/btree_map.h>

#include "bgp/session.hpp"
#include "net/time.hpp"

namespace planed::bgp {

class RibIn {
public:
    struct Entry {
        Route route{};
        std::shared_ptr<const Path> path{};
        TimePoint since{};  // When this route with this path came first.
        std::uint64_t epoch = 0;
    };
    using Entries = absl::btree_map<RouteKey, Entry>;

    void take(const RouteHeard& heard, TimePoint now) {
        const auto [entry, fresh] = entries_.try_emplace(RouteKey(heard.route));
        Entry& kept = entry->second;
        const bool same = !fresh && kept.route == heard.route && *kept.path == *heard.path;
        kept = {.route = heard.route,
                .path = heard.path,
                .since = same ? kept.since : now,
                .epoch = epoch_};
    }
    void take(const RouteGone& gone) { entries_.erase(gone.key); }
    /// The session is gone; what stays is stale until the peer repeats it.
    void end_session() { ++epoch_; }

    [[nodiscard]] bool is_stale(const Entry& entry) const { return entry.epoch != epoch_; }
    [[nodiscard]] const Entries& entries() const { return entries_; }
    [[nodiscard]] std::size_t size() const { return entries_.size(); }

private:
    Entries entries_;
    std::uint64_t epoch_ = 0;
};

}  // namespace planed::bgp
