// SPDX-License-Identifier: Apache-2.0
// The observed neighbours of the machine, with an index by MAC for when a port goes. Keeps what the
// kernel said and what the engine noted beside it; never decides.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <absl/container/btree_map.h>
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/container/inlined_vector.h>
#include <absl/hash/hash.h>

#include "core/dump_epoch.hpp"
#include "core/eligibility.hpp"
#include "core/facts.hpp"
#include "core/indexed_map.hpp"
#include "core/input.hpp"
#include "net/time.hpp"

namespace planed {

struct NeighborRecord {
    NeighborKey key{};
    Neighbor neighbor{};
    TimePoint changed{};  // Last time the kernel's word of it changed.
    TimePoint judged{};   // Last time the reason changed.
    std::uint32_t mark = 0;
    Reason reason = Reason::NotServed;
    bool in_kernel = true;  // False: the garbage collector took it and we have not put it back yet.
    bool dirty = false;     // Waits to be planned.
    bool probed = false;    // A probe was asked for since the doubt arose.
    bool snooped = false;   // The kernel has it because we heard it.
    bool mute = false;      // Did not answer when last asked, and lives by other evidence.
    bool doubted = false;   // An operator does not believe that it has the address.
    std::optional<VrfId> claim{};  // Of its host route in this VRF.
    TimePoint claimed_at{};
    // The last signs of life since planed runs, each the epoch if there was none:
    TimePoint answered{};    // It answered the kernel (REACHABLE).
    TimePoint heard{};       // It spoke ARP or ND.
    TimePoint sent{};        // Its MAC sent something, by the bridge's word.
    TimePoint refresh_at{};  // Its place in the RefreshQueue; the epoch: none.

    [[nodiscard]] TimePoint proven() const { return std::max({answered, heard, sent}); }

private:
    friend class NeighborTable;
    NeighborRecord* next_place_ = nullptr;  // The same address on a later link.
};

class NeighborTable {
public:
    /// What one NeighborSeen has changed.
    struct Change {
        /// Null: nothing new, a dump row that an event has overtaken, or the table is full.
        NeighborRecord* record = nullptr;
        Neighbor before{};           // Zero if it was not known.
        bool was_in_kernel = false;  // False for what was not known, too.
    };

    Change see(const NeighborSeen& seen, TimePoint now);
    /// Forgets the entry; the record as it was.
    std::optional<NeighborRecord> erase(const NeighborKey& key);
    /// An event says it is gone from the kernel: the running dump's row will not bring it back.
    void note_deleted(const NeighborKey& key);
    /// False for a dump's row that an event has overtaken.
    [[nodiscard]] bool is_news(const NeighborSeen& seen) const;
    /// The kernel has it, in a state that is not taken over for now.
    void note_present(const NeighborKey& key);
    /// The kernel took it from us. Its notification may be lost: from now on a dump's word counts.
    void note_written(const NeighborKey& key);

    void dump_begin() { epoch_.begin(); }
    [[nodiscard]] std::vector<NeighborKey> dump_finish(bool complete);

    [[nodiscard]] NeighborRecord* find(const NeighborKey& key);
    [[nodiscard]] const NeighborRecord* find(const NeighborKey& key) const;
    /// Brings into the cache what see() and find() will read first.
    void prefetch(const IpAddress& address) const { by_address_.prefetch(address); }
    void prefetch(IfIndex link, const MacAddress& mac) const {
        by_mac_.prefetch({.link = link, .mac = mac});
    }
    /// visit(record) of this address on each of its links, in order.
    template <class Visit>
    void for_each_place(const IpAddress& address, Visit visit) {
        for (NeighborRecord* at = first_place(address); at != nullptr; at = at->next_place_) {
            visit(*at);
        }
    }
    template <class Visit>
    void for_each_place(const IpAddress& address, Visit visit) const {
        for (const NeighborRecord* at = first_place(address); at != nullptr; at = at->next_place_) {
            visit(*at);
        }
    }
    /// All addresses behind this MAC on this link, in order; valid until the table changes.
    [[nodiscard]] std::span<const IpAddress> addresses_of(IfIndex link,
                                                          const MacAddress& mac) const;
    [[nodiscard]] bool has_mac(IfIndex link, const MacAddress& mac) const;
    /// All neighbours of a link in order, those without a MAC too.
    [[nodiscard]] std::vector<NeighborKey> on_link(IfIndex link) const;
    [[nodiscard]] std::size_t count_on(IfIndex link) const;
    /// At most `count` neighbours behind `after`, in order; nullopt: from the first one on.
    [[nodiscard]] std::vector<NeighborKey> keys_after(const std::optional<NeighborKey>& after,
                                                      std::size_t count) const;
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
    struct MacKey {
        IfIndex link{};
        MacAddress mac{};
        auto operator<=>(const MacKey&) const = default;

        template <class H>
        friend H AbslHashValue(H state, const MacKey& key) {
            return H::combine(std::move(state), key.link, key.mac);
        }
    };
    using Addresses = absl::InlinedVector<IpAddress, 3>;  // In order.

    // The sets find hash and key in what they point to: their own entries stay in the processor's
    // cache, and what they lead to is read anyway.
    struct AddressHash {
        using is_transparent = void;
        std::size_t operator()(const IpAddress& address) const {
            return absl::Hash<IpAddress>{}(address);
        }
        std::size_t operator()(const NeighborRecord* record) const {
            return (*this)(record->key.address);
        }
    };
    struct AddressEqual {
        using is_transparent = void;
        bool operator()(const NeighborRecord* a, const NeighborRecord* b) const {
            return a->key.address == b->key.address;
        }
        bool operator()(const NeighborRecord* a, const IpAddress& b) const {
            return a->key.address == b;
        }
        bool operator()(const IpAddress& a, const NeighborRecord* b) const {
            return b->key.address == a;
        }
    };

    [[nodiscard]] NeighborRecord* first_place(const IpAddress& address) const {
        const auto found = by_address_.find(address);
        return found == by_address_.end() ? nullptr : *found;
    }
    NeighborRecord* add(const NeighborSeen& seen, TimePoint now);
    void link_place(NeighborRecord& record);
    void unlink_place(NeighborRecord& record);
    void index_mac(const NeighborKey& key, const MacAddress& mac);
    void unindex_mac(const NeighborKey& key, const MacAddress& mac);

    absl::btree_map<NeighborKey, std::unique_ptr<NeighborRecord>> records_;  // To be walked.
    // Looked up, never walked. The record on the first link of each address:
    absl::flat_hash_set<NeighborRecord*, AddressHash, AddressEqual> by_address_;
    IndexedMap<MacKey, Addresses> by_mac_;
    absl::flat_hash_map<IfIndex, std::size_t> counts_;  // Neighbours of each link.
    DumpEpoch<NeighborKey> epoch_;
    std::uint64_t refused_ = 0;
};

}  // namespace planed
