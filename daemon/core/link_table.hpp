// SPDX-License-Identifier: Apache-2.0
// The observed interfaces of the machine, their addresses and MACs. Answers questions about what
// is; never decides what should be.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>

#include "core/dump_epoch.hpp"
#include "core/facts.hpp"
#include "core/input.hpp"

namespace planed {

/// What one LinkSeen or LinkGone has changed.
struct LinkChange {
    bool appeared = false;   // A new index, or a known index under a new name.
    bool structure = false;  // Anything but carrier, state and the flap counter.
    bool carrier = false;    // Up to down or down to up, admin state included.
    bool flapped = false;    // It was down in between, though it may be up before and after.
    bool operator==(const LinkChange&) const = default;
};

/// Administratively up with carrier.
inline bool is_up(const Link& link) {
    return link.admin_up && link.carrier;
}

class LinkTable {
public:
    /// Nullopt: nothing new, or a dump row that an event has overtaken.
    std::optional<LinkChange> see(const LinkSeen& seen);
    /// The link as it was; nullopt if unknown.
    std::optional<Link> gone(IfIndex index);

    void dump_begin() { epoch_.begin(); }
    /// Indices that a complete dump did not show; the caller lets each go.
    [[nodiscard]] std::vector<IfIndex> dump_finish(bool complete);

    [[nodiscard]] const Link* find(IfIndex index) const;
    [[nodiscard]] const Link* find(std::string_view name) const;
    /// Administratively up with carrier.
    [[nodiscard]] bool is_up(IfIndex index) const;
    [[nodiscard]] std::string_view name_of(IfIndex index) const;  // "?" if unknown.
    [[nodiscard]] std::vector<IfIndex> members_of(IfIndex master) const;
    [[nodiscard]] bool owns_mac(const MacAddress& mac) const { return macs_.contains(mac); }
    [[nodiscard]] std::size_t size() const { return links_.size(); }
    [[nodiscard]] std::uint64_t refused() const { return refused_; }  // For want of room.
    /// Another number after every change.
    [[nodiscard]] std::uint64_t revision() const { return revision_; }

    template <class Visit>
    void for_each(Visit visit) const {
        for (const auto& [index, entry] : links_) {
            visit(entry.link);
        }
    }

private:
    struct Entry {
        Link link;
        std::uint32_t mark = 0;
    };

    void index(const Link& link);
    void unindex(const Link& link);

    absl::btree_map<IfIndex, Entry> links_;
    absl::btree_map<std::string, IfIndex, std::less<>> by_name_;
    absl::btree_set<std::pair<IfIndex, IfIndex>> by_master_;
    absl::btree_map<MacAddress, std::uint32_t> macs_;  // How many links carry it.
    DumpEpoch<IfIndex> epoch_;
    std::uint64_t refused_ = 0;
    std::uint64_t revision_ = 0;
};

/// The addresses of the machine's own interfaces.
class AddressTable {
public:
    /// True if the table changed.
    bool see(const AddressSeen& seen);
    bool gone(IfIndex link, const IpPrefix& address);
    bool link_gone(IfIndex link);

    void dump_begin() { epoch_.begin(); }
    /// What a complete dump has removed.
    std::vector<std::pair<IfIndex, IpPrefix>> dump_finish(bool complete);

    [[nodiscard]] bool owns(const IpAddress& address) const { return owned_.contains(address); }
    /// The interface's own addresses with their lengths, in order.
    [[nodiscard]] std::vector<IpPrefix> of(IfIndex link) const;
    [[nodiscard]] std::uint64_t refused() const { return refused_; }  // For want of room.

private:
    using Key = std::pair<IfIndex, IpPrefix>;

    absl::btree_map<Key, std::uint32_t> addresses_;  // The value is the dump mark.
    absl::btree_map<IpAddress, std::uint32_t> owned_;
    DumpEpoch<Key> epoch_;
    std::uint64_t refused_ = 0;
};

}  // namespace planed
