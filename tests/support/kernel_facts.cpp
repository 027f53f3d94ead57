// SPDX-License-Identifier: Apache-2.0
#include "support/kernel_facts.hpp"

namespace planed::test {

Input KernelFacts::set(const Link& link) {
    links_[link.index] = link;
    return LinkSeen{.link = link};
}

Input KernelFacts::remove_link(IfIndex link) {
    links_.erase(link);
    std::erase_if(addresses_, [&](const auto& row) { return row.first == link; });
    std::erase_if(neighbors_, [&](const auto& row) { return row.first.link == link; });
    std::erase_if(
        fdb_, [&](const auto& row) { return row.first.bridge == link || row.second.port == link; });
    return LinkGone{.link = link};
}

Input KernelFacts::set_address(IfIndex link, const IpPrefix& address) {
    addresses_.insert({link, address});
    return AddressSeen{.link = link, .address = address};
}

Input KernelFacts::remove_address(IfIndex link, const IpPrefix& address) {
    addresses_.erase({link, address});
    return AddressGone{.link = link, .address = address};
}

Input KernelFacts::set(const NeighborKey& key, const Neighbor& neighbor) {
    neighbors_[key] = neighbor;
    return NeighborSeen{.key = key, .neighbor = neighbor};
}

Input KernelFacts::collect(const NeighborKey& key) {
    const Neighbor last = neighbors_.at(key);
    neighbors_.erase(key);
    return NeighborGone{.key = key, .last = last};
}

Input KernelFacts::remove(const NeighborKey& key) {
    neighbors_.erase(key);
    return NeighborGone{.key = key, .last = {.state = Nud::Failed}};
}

Input KernelFacts::learn(const FdbKey& key, IfIndex port, bool ext_learned) {
    fdb_[key] = {.port = port, .ext_learned = ext_learned};
    return FdbSeen{.key = key, .entry = fdb_.at(key)};
}

Input KernelFacts::unlearn(const FdbKey& key) {
    const IfIndex port = fdb_.at(key).port;
    fdb_.erase(key);
    return FdbGone{.key = key, .port = port};
}

std::vector<Input> KernelFacts::cut(const Link& port_without_carrier) {
    std::vector<Input> events;
    for (const FdbKey& key : behind(port_without_carrier.index)) {
        if (fdb_.at(key).ext_learned) {
            continue;  // br_fdb_delete_by_port() flushes none of these.
        }
        events.push_back(unlearn(key));
    }
    events.push_back(set(port_without_carrier));
    return events;
}

std::vector<Input> KernelFacts::rows(DumpKind kind) const {
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
                inputs.emplace_back(FdbSeen{.key = key, .entry = entry, .source = Source::Dump});
            }
            break;
        case DumpKind::Proxies:
            for (const auto& [key, protocol] : proxies) {
                inputs.emplace_back(ProxySeen{.key = key, .protocol = protocol});
            }
            break;
    }
    return inputs;
}

std::vector<Input> KernelFacts::dump(DumpKind kind, bool complete) const {
    std::vector<Input> inputs{DumpStarted{.kind = kind}};
    for (Input& row : rows(kind)) {
        inputs.push_back(std::move(row));
    }
    inputs.emplace_back(DumpFinished{.kind = kind, .complete = complete});
    return inputs;
}

std::vector<FdbKey> KernelFacts::behind(IfIndex port) const {
    std::vector<FdbKey> keys;
    for (const auto& [key, entry] : fdb_) {
        if (entry.port == port) {
            keys.push_back(key);
        }
    }
    return keys;
}

}  // namespace planed::test
