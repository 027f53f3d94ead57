// SPDX-License-Identifier: Apache-2.0
// The observed neighbours of the machine, with an index by MAC for when a port goes. Keeps what the
// kernel said and what the engine noted beside it; never decides.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>

#include "core/dump_epoch.hpp"
#include "core/eligibility.hpp"
#include "core/facts.hpp"
#include "core/input.hpp"
#include "net/time.hpp"

namespace planed {

struct NeighborRecord {
    Neighbor neighbor;
    TimePoint changed{};  // Last time the kernel's word of it changed.
    TimePoint judged{};   // Last time the reason changed.
    std::uint32_t mark = 0;
    Reason reason = Reason::NotServed;
    bool in_kernel = true;  // False: the garbage collector took it and we have not put it back yet.
    bool dirty = false;     // Waits to be planned.
    std::optional<VrfId> claim{};  // Of its host route in this VRF.
    TimePoint claimed_at{};
    bool probed = false;  // A probe was asked for since the doubt arose.
};

class NeighborTable {
public:
    /// Null: nothing new, a dump row that an event has overtaken, or the table is full.
    NeighborRecord* see(const NeighborSeen& seen, TimePoint now);
    /// Forgets the entry; the record as it was.
    std::optional<NeighborRecord> erase(const NeighborKey& key);
    /// An event says it is gone from the kernel: the running dump's row will not bring it back.
    void note_deleted(const NeighborKey& key);
    /// The kernel took it from us. Its notification may be lost: from now on a dump's word counts.
    void note_written(const NeighborKey& key);

    void dump_begin() { epoch_.begin(); }
    [[nodiscard]] std::vector<NeighborKey> dump_finish(bool complete);

    [[nodiscard]] NeighborRecord* find(const NeighborKey& key);
    [[nodiscard]] const NeighborRecord* find(const NeighborKey& key) const;
    /// All links on which this address is known, in order.
    [[nodiscard]] std::vector<IfIndex> links_with(const IpAddress& address) const;
    /// All addresses behind this MAC on this link, in order.
    [[nodiscard]] std::vector<IpAddress> addresses_of(IfIndex link, const MacAddress& mac) const;
    [[nodiscard]] bool has_mac(IfIndex link, const MacAddress& mac) const;
    /// All neighbours of a link, those without a MAC too.
    [[nodiscard]] std::vector<NeighborKey> on_link(IfIndex link) const;
    /// Those for which a probe was asked for.
    [[nodiscard]] std::vector<NeighborKey> probed() const;
    [[nodiscard]] std::size_t size() const { return records_.size(); }
    [[nodiscard]] std::uint64_t refused() const { return refused_; }  // For want of room.

    template <class Visit>
    void for_each(Visit visit) const {
        for (const auto& [key, record] : records_) {
            visit(key, *record);
        }
    }

private:
    // By address first: the links that share an address stand together.
    struct ByAddress {
        bool operator()(const NeighborKey& a, const NeighborKey& b) const {
            const auto order = a.address <=> b.address;
            return order != 0 ? order < 0 : a.link < b.link;
        }
    };
    struct MacIndexKey {
        IfIndex link{};
        MacAddress mac;
        IpAddress address;
        auto operator<=>(const MacIndexKey&) const = default;
    };

    void index(const NeighborKey& key, const MacAddress& mac);
    void unindex(const NeighborKey& key, const MacAddress& mac);

    absl::btree_map<NeighborKey, std::unique_ptr<NeighborRecord>, ByAddress> records_;
    absl::btree_set<MacIndexKey> by_mac_;
    DumpEpoch<NeighborKey> epoch_;
    std::uint64_t refused_ = 0;
};

}  // namespace planed
