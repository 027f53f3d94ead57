// SPDX-License-Identifier: Apache-2.0
// The kernel's table of proxied neighbours (NTF_PROXY, IPv6) as a sink: for which hosts of other
// leaves this leaf answers neighbour solicitations, on which interface. A Reconciler, and the dumps
// that tell what the kernel really has: it says nothing when it loses these entries, as it does
// with each loss of carrier, and takes one for another's word without asking.
//
// Entries of other programs (another NDA_PROTOCOL) are left alone: where one stands, ours is not
// wanted, for the kernel has one entry for an address on an interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>

#include "core/facts.hpp"
#include "core/input.hpp"
#include "core/output.hpp"
#include "core/reconciler.hpp"
#include "core/served_interfaces.hpp"
#include "net/time.hpp"

namespace planed {

/// An entry has no value but that it is there.
struct ProxyEntry {
    bool operator==(const ProxyEntry&) const = default;
};

/// What decides about one address on one interface.
struct ProxyFacts {
    bool in_plane = false;     // bgpd has learned a route to it.
    bool is_here = false;      // A host behind this interface has it and answers for itself.
    bool own_address = false;  // One of this machine's.
};
/// Is the kernel to answer for this address there? `served` is taken to be up: an interface that is
/// down keeps its wishes.
[[nodiscard]] bool wants_proxy(const ServedInterface& served,
                               const IpAddress& address,
                               const ProxyFacts& facts);

class Proxies {
public:
    using Entries = Reconciler<NeighborKey, ProxyEntry>;

    Proxies();

    // Wishes.
    /// Answers are given on this interface; its hosts are marked by the caller.
    void serve(const ServedInterface& served);
    /// No longer. Our entries there are removed.
    void unserve(IfIndex link);
    /// The link is gone and its entries with it.
    void forget(IfIndex link, TimePoint now);
    /// Something that decides about this address has changed.
    void mark(const IpAddress& address);
    /// Decides about at most `most` of the marked addresses: `facts(key)` as they are now.
    template <class Facts>
    void plan(std::size_t most, Facts facts) {
        for (; most > 0 && !marked_.empty(); --most) {
            const IpAddress address = *marked_.begin();
            marked_.erase(marked_.begin());
            for (const auto& [link, served] : served_) {
                const NeighborKey key{.link = link, .address = address};
                decide(key, wants_proxy(served, address, facts(key)));
            }
        }
    }
    [[nodiscard]] bool has_planned() const { return marked_.empty(); }

    // What the kernel has.
    void dump_begin(TimePoint now);
    void see(const ProxySeen& seen, TimePoint now);
    void dump_finish(bool complete, TimePoint now);
    /// Entries that the dump showed to be there, or not, against our wish, with nothing under way
    /// that explains it.
    struct Found {
        NeighborKey key{};
        bool there = false;
        bool operator==(const Found&) const = default;
    };
    [[nodiscard]] std::vector<Found> take_found() { return std::exchange(found_, {}); }

    // Operations.
    /// From now on they are handed out: until then it is not known what is wanted.
    void trust() { trusted_ = true; }
    [[nodiscard]] bool is_trusted() const { return trusted_; }
    /// A turn may hand out limits::kProxiesPerTurnMax.
    void begin_turn();
    [[nodiscard]] std::optional<SendProxy> next(std::uint64_t& next_request, TimePoint now);
    /// For the end: every entry of ours goes.
    [[nodiscard]] std::vector<SendProxy> remove_all(std::uint64_t& next_request);
    struct Outcome {
        NeighborKey key{};
        std::optional<Error> error{};  // The kernel did not do it; it will be asked again.
    };
    /// Nullopt: no request of ours.
    std::optional<Outcome> answered(const KernelAnswered& answer, TimePoint now);
    /// Everything wanted has been handed over and answered.
    [[nodiscard]] bool is_settled() const;
    [[nodiscard]] std::optional<TimePoint> wake_at(TimePoint now);

    [[nodiscard]] const absl::btree_map<IfIndex, ServedInterface>& served() const {
        return served_;
    }
    [[nodiscard]] const Entries& entries() const { return entries_; }
    [[nodiscard]] std::uint64_t refused() const { return refused_; }  // For want of room.
    void keep_journal(bool keep) { entries_.keep_journal(keep); }
    [[nodiscard]] std::vector<NeighborKey> take_journal() { return entries_.take_journal(); }

private:
    void decide(const NeighborKey& key, bool wanted);
    void see_foreign(const NeighborKey& key, TimePoint now);
    void compare(const NeighborKey& key, bool there);
    [[nodiscard]] std::vector<NeighborKey> on_link(IfIndex link) const;

    absl::btree_map<IfIndex, ServedInterface> served_;  // As if all were up.
    absl::btree_set<IpAddress> marked_;
    Entries entries_;
    absl::btree_set<NeighborKey> foreign_;         // Other programs'.
    absl::btree_set<NeighborKey> foreign_so_far_;  // Of the running dump.
    std::vector<Found> found_;                     // By the running dump.
    absl::btree_map<std::uint64_t, Entries::Op> asked_;
    std::size_t budget_ = 0;
    bool trusted_ = false;
    std::uint64_t refused_ = 0;
};

}  // namespace planed
