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
    Input set(const Link& link) {
        links_[link.index] = link;
        return LinkSeen{.link = link};
    }
    Input remove_link(IfIndex link) {
        links_.erase(link);
        std::erase_if(addresses_, [&](const auto& row) { return row.first == link; });
        std::erase_if(neighbors_, [&](const auto& row) { return row.first.link == link; });
        std::erase_if(fdb_, [&](const auto& row) {
            return row.first.bridge == link || row.second.port == link;
        });
        return LinkGone{.link = link};
    }

    Input set_address(IfIndex link, const IpPrefix& address) {
        addresses_.insert({link, address});
        return AddressSeen{.link = link, .address = address};
    }
    Input remove_address(IfIndex link, const IpPrefix& address) {
        addresses_.erase({link, address});
        return AddressGone{.link = link, .address = address};
    }

    Input set(const NeighborKey& key, const Neighbor& neighbor) {
        neighbors_[key] = neighbor;
        return NeighborSeen{.key = key, .neighbor = neighbor};
    }
    /// The garbage collector, or a flush: the message carries the entry as it was.
    Input collect(const NeighborKey& key) {
        const Neighbor last = neighbors_.at(key);
        neighbors_.erase(key);
        return NeighborGone{.key = key, .last = last};
    }
    /// `ip neigh del`, or the end of a FAILED entry.
    Input remove(const NeighborKey& key) {
        neighbors_.erase(key);
        return NeighborGone{.key = key, .last = {.state = Nud::Failed}};
    }

    Input learn(const FdbKey& key, IfIndex port) {
        fdb_[key] = {.port = port};
        return FdbSeen{.key = key, .entry = {.port = port}};
    }
    Input unlearn(const FdbKey& key) {
        const IfIndex port = fdb_.at(key).port;
        fdb_.erase(key);
        return FdbGone{.key = key, .port = port};
    }
    /// A port loses its carrier as a bridge tells it: first the forwarding entries, then the link.
    std::vector<Input> cut(const Link& port_without_carrier) {
        std::vector<Input> events;
        for (const FdbKey& key : behind(port_without_carrier.index)) {
            events.push_back(unlearn(key));
        }
        events.push_back(set(port_without_carrier));
        return events;
    }

    /// Rows only.
    [[nodiscard]] std::vector<Input> rows(DumpKind kind) const {
        std::vector<Input> inputs;
        switch (kind) {
            case DumpKind::Links:
                for (const auto& [index, link] : links_) {
                    inputs.emplace_back(LinkSeen{.link = link, .source = Source::Dump});
                }
                break;
            case DumpKind::Addresses:
                for (const auto& [link, address] : addresses_) {
                    inputs.emplace_back(
                        AddressSeen{.link = link, .address = address, .source = Source::Dump});
                }
                break;
            case DumpKind::Neighbors:
                for (const auto& [key, neighbor] : neighbors_) {
                    inputs.emplace_back(
                        NeighborSeen{.key = key, .neighbor = neighbor, .source = Source::Dump});
                }
                break;
            case DumpKind::Fdb:
                for (const auto& [key, entry] : fdb_) {
                    inputs.emplace_back(
                        FdbSeen{.key = key, .entry = entry, .source = Source::Dump});
                }
                break;
        }
        return inputs;
    }
    /// A whole dump, begin to end.
    [[nodiscard]] std::vector<Input> dump(DumpKind kind, bool complete = true) const {
        std::vector<Input> inputs{DumpStarted{.kind = kind}};
        for (Input& row : rows(kind)) {
            inputs.push_back(std::move(row));
        }
        inputs.emplace_back(DumpFinished{.kind = kind, .complete = complete});
        return inputs;
    }

    [[nodiscard]] const Link& link(IfIndex index) const { return links_.at(index); }
    [[nodiscard]] const std::map<IfIndex, Link>& links() const { return links_; }
    [[nodiscard]] const std::map<NeighborKey, Neighbor>& neighbors() const { return neighbors_; }
    [[nodiscard]] const std::map<FdbKey, FdbEntry>& fdb() const { return fdb_; }
    [[nodiscard]] std::vector<FdbKey> behind(IfIndex port) const {
        std::vector<FdbKey> keys;
        for (const auto& [key, entry] : fdb_) {
            if (entry.port == port) {
                keys.push_back(key);
            }
        }
        return keys;
    }

private:
    std::map<IfIndex, Link> links_;
    std::set<std::pair<IfIndex, IpPrefix>> addresses_;
    std::map<NeighborKey, Neighbor> neighbors_;
    std::map<FdbKey, FdbEntry> fdb_;
};

}  // namespace planed::test
