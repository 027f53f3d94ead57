// SPDX-License-Identifier: Apache-2.0
// What a kernel holds, as plain tables. Each change returns the notification that a kernel sends
// for it, and dump() answers with rows in the kernel's manner, so that events and dumps of a test
// never contradict each other. It has no timers: the test says what ages and when.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/input.hpp"
#include "net/assert.hpp"

namespace planed::test {

class KernelFacts {
public:
    Input set(const Link& link);
    Input remove_link(IfIndex link);

    Input set_address(IfIndex link, const IpPrefix& address);
    Input remove_address(IfIndex link, const IpPrefix& address);

    Input set(const NeighborKey& key, const Neighbor& neighbor);
    /// The garbage collector, or a flush: the message carries the entry as it was.
    Input collect(const NeighborKey& key);
    /// `ip neigh del`, or the end of a FAILED entry.
    Input remove(const NeighborKey& key);

    Input learn(const FdbKey& key, IfIndex port, bool ext_learned = false);
    Input unlearn(const FdbKey& key);
    /// A port loses its carrier as a bridge tells it: first the forwarding entries, then the link.
    std::vector<Input> cut(const Link& port_without_carrier);

    /// Rows only.
    [[nodiscard]] std::vector<Input> rows(DumpKind kind) const;
    /// A whole dump, begin to end.
    [[nodiscard]] std::vector<Input> dump(DumpKind kind, bool complete = true) const;

    std::map<NeighborKey, std::uint8_t> proxies;  // By whom; it tells nobody of a change.

    [[nodiscard]] const Link& link(IfIndex index) const { return links_.at(index); }
    [[nodiscard]] const std::map<IfIndex, Link>& links() const { return links_; }
    [[nodiscard]] const std::map<NeighborKey, Neighbor>& neighbors() const { return neighbors_; }
    [[nodiscard]] const std::map<FdbKey, FdbEntry>& fdb() const { return fdb_; }
    [[nodiscard]] std::vector<FdbKey> behind(IfIndex port) const;

private:
    std::map<IfIndex, Link> links_;
    std::set<std::pair<IfIndex, IpPrefix>> addresses_;
    std::map<NeighborKey, Neighbor> neighbors_;
    std::map<FdbKey, FdbEntry> fdb_;
};

}  // namespace planed::test
