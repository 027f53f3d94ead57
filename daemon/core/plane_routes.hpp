// SPDX-License-Identifier: Apache-2.0
// The hosts that the plane has elsewhere: the /32 and /128 that bgpd has learned and zebra has
// selected, per VRF. Keeps what zebra said; never decides.
//
// A living host must not vanish because a daemon of FRR is restarted, so what is known is marked
// and swept. When the session with zebra or bgpd ends, all is in doubt but stays; what is not named
// again within a while is forgotten: a bgpd that has just begun knows nothing of the plane until it
// has its peers back. One that is stopped takes its routes back first and ends a moment later
// (measured on 8.4 and 10.3): a route that goes is believed to be gone only when that moment is
// over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>

#include "core/route.hpp"
#include "net/ids.hpp"
#include "net/ip_prefix.hpp"
#include "net/time.hpp"

namespace planed {

class PlaneRoutes {
public:
    /// True if it was not known. A full table forgets it and counts.
    bool see(const RouteKey& key);
    /// It goes a moment later, if it is not seen again.
    void gone(const RouteKey& key, TimePoint now);
    /// All that there was in this VRF when this session began to watch it has been told.
    void dumped(VrfId vrf, TimePoint now);
    /// bgpd has ended.
    void doubt(TimePoint now);
    /// The session with zebra has ended.
    void lost();
    /// Only these VRFs matter any more; what was known of others is forgotten.
    void keep_only(const absl::btree_set<VrfId>& vrfs);
    /// Forgets what has gone and what was in doubt for too long, and names it.
    [[nodiscard]] std::vector<RouteKey> sweep(TimePoint now);
    [[nodiscard]] std::optional<TimePoint> wake_at() const;

    [[nodiscard]] bool has(const RouteKey& key) const { return routes_.contains(key); }
    /// It has been read whole once.
    [[nodiscard]] bool is_known(VrfId vrf) const { return known_.contains(vrf); }
    [[nodiscard]] std::size_t size() const { return routes_.size(); }
    [[nodiscard]] std::uint64_t refused() const { return refused_; }  // For want of room.

    /// visit(address) for the hosts of this VRF inside `prefix`, in order.
    template <class Visit>
    void for_each_in(VrfId vrf, const IpPrefix& prefix, Visit visit) const {
        const RouteKey first{.vrf = vrf, .prefix = host_prefix(prefix.network().address())};
        for (auto at = routes_.lower_bound(first); at != routes_.end(); ++at) {
            const IpAddress& address = at->first.prefix.address();
            if (at->first.vrf != vrf || !prefix.contains(address)) {
                return;
            }
            visit(address);
        }
    }

private:
    struct Entry {
        std::uint32_t epoch = 0;  // When it was last named; not the current one: in doubt.
        bool leaving = false;
    };
    // What went shortly before the end of bgpd, or of the session, went because of it.
    void begin_epoch();
    void remove_gone(std::vector<RouteKey>& swept);
    void remove_doubtful(TimePoint now, std::vector<RouteKey>& swept);
    [[nodiscard]] TimePoint leaves_at() const;

    absl::btree_map<RouteKey, Entry> routes_;
    std::uint32_t epoch_ = 1;
    std::vector<RouteKey> leaving_;
    TimePoint first_left_{};
    TimePoint last_left_{};
    absl::btree_set<VrfId> known_;
    absl::btree_map<VrfId, TimePoint> sweep_at_;
    std::uint64_t refused_ = 0;
};

}  // namespace planed
