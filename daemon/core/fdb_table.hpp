// SPDX-License-Identifier: Apache-2.0
// Behind which bridge port does a MAC live? The kernel's forwarding entries, and the memory of them
// after they are gone: the kernel deletes an entry before it says that the port lost its carrier,
// so without memory no host could be tied to the port that took it away. The memory survives the
// port's deletion (by name) and, through the state file, planed's own restart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>
#include <absl/container/flat_hash_map.h>

#include "core/dump_epoch.hpp"
#include "core/facts.hpp"
#include "core/indexed_map.hpp"
#include "core/input.hpp"
#include "core/link_table.hpp"

namespace planed {

struct PortBinding {
    IfIndex port{};            // None: the port's link does not exist now.
    bool live = false;         // The kernel has the entry.
    bool unconfirmed = false;  // The port was down since the MAC was last heard.
    bool heard_early = false;  // Unconfirmed, but heard again before the port was seen to be up.
    bool remembered = false;   // From the state file, not seen live yet.
    bool saved = false;        // The state file has it as it stands here.
    bool written = false;      // Live, and by a control plane's word, not by a frame.
    std::uint32_t mark = 0;
};

class FdbTable {
public:
    /// True if the MAC's port, or our trust in it, changed. `port_up`: does that port have carrier?
    bool see(const FdbSeen& seen, bool port_up);
    /// The kernel's entry is gone; the memory stays. Never changes where the MAC lives.
    void gone(const FdbGone& gone);
    /// Drops the memory of a MAC that no host has any more; a live entry stays.
    void forget(const FdbKey& key, std::string_view bridge_name);

    /// The port lost its carrier, left its bridge or was deleted: what is behind it must speak
    /// again. Returns its MACs.
    std::vector<FdbKey> distrust(IfIndex port);
    [[nodiscard]] std::vector<FdbKey> behind(IfIndex port) const;
    [[nodiscard]] std::size_t count_behind(IfIndex port) const;
    /// The port has its carrier again. Links and forwarding entries come by two sockets: what was
    /// learned since the carrier was lost, and not flushed, is trusted. Returns its MACs.
    std::vector<FdbKey> port_up(IfIndex port);

    void remember(const PortRemembered& remembered, const LinkTable& links);
    /// A link is known by this name now: what was remembered by names finds its indices. Returns
    /// the bindings that came to life.
    std::vector<FdbKey> link_appeared(const Link& link, const LinkTable& links);
    void link_gone(const Link& link, const LinkTable& links);

    void dump_begin() { epoch_.begin(); }
    /// Entries that the kernel has no more, by a complete dump; their memory stays.
    std::vector<FdbKey> dump_finish(bool complete);

    void prefetch(const FdbKey& key) const { bindings_.prefetch(key); }
    [[nodiscard]] PortBinding* find(const FdbKey& key);
    [[nodiscard]] const PortBinding* find(const FdbKey& key) const;
    [[nodiscard]] std::size_t size() const { return bindings_.size(); }
    [[nodiscard]] std::uint64_t refused() const { return refused_; }  // For want of room.

private:
    using Names = std::pair<std::string, std::string>;  // Bridge, port.
    using Mac = std::pair<VlanId, MacAddress>;

    void move_to(const FdbKey& key, PortBinding& binding, IfIndex port);
    void drop(const FdbKey& key);
    void leave_port(const FdbKey& key, const PortBinding& binding);
    void keep_name(const Names& names, const Mac& mac);

    IndexedMap<FdbKey, PortBinding> bindings_;
    absl::btree_set<std::pair<IfIndex, FdbKey>> by_port_;
    absl::flat_hash_map<IfIndex, std::size_t> counts_;  // Of by_port_.
    absl::btree_map<Names, absl::btree_set<Mac>>
        by_name_;            // Remembered; at least one link is missing.
    std::size_t named_ = 0;  // MACs in there.
    DumpEpoch<FdbKey> epoch_;
    std::uint64_t refused_ = 0;
};

}  // namespace planed
