// SPDX-License-Identifier: Apache-2.0
#include "core/neighbor_table.hpp"

#include "core/limits.hpp"

namespace planed {

NeighborRecord* NeighborTable::see(const NeighborSeen& seen, TimePoint now) {
    const auto found = records_.find(seen.key);
    const bool known = found != records_.end();
    if (seen.source == Source::Dump &&
        !epoch_.accepts_row(seen.key, known ? &found->second->mark : nullptr)) {
        return nullptr;
    }
    if (!known) {
        if (records_.size() >= limits::kNeighborsMax) {
            ++refused_;
            return nullptr;
        }
        auto record = std::make_unique<NeighborRecord>();
        record->neighbor = seen.neighbor;
        record->changed = now;
        epoch_.mark(record->mark);
        index(seen.key, seen.neighbor.mac);
        return records_.emplace(seen.key, std::move(record)).first->second.get();
    }
    NeighborRecord& record = *found->second;
    epoch_.mark(record.mark);
    if (record.neighbor == seen.neighbor && record.in_kernel) {
        return nullptr;
    }
    if (record.neighbor.mac != seen.neighbor.mac) {
        unindex(seen.key, record.neighbor.mac);
        index(seen.key, seen.neighbor.mac);
    }
    record.neighbor = seen.neighbor;
    record.changed = now;
    record.in_kernel = true;
    return &record;
}

void NeighborTable::note_deleted(const NeighborKey& key) {
    epoch_.note_deleted(key);
    // The engine may keep the record of what was collected.
    if (NeighborRecord* record = find(key); record != nullptr) {
        epoch_.mark(record->mark);
    }
}

void NeighborTable::note_written(const NeighborKey& key) {
    if (NeighborRecord* record = find(key); record != nullptr) {
        record->in_kernel = true;
        epoch_.mark(record->mark);
    }
}

std::optional<NeighborRecord> NeighborTable::erase(const NeighborKey& key) {
    const auto found = records_.find(key);
    if (found == records_.end()) {
        return std::nullopt;
    }
    const NeighborRecord record = *found->second;
    unindex(key, record.neighbor.mac);
    records_.erase(found);
    return record;
}

std::vector<NeighborKey> NeighborTable::dump_finish(bool complete) {
    std::vector<NeighborKey> absent;
    if (!epoch_.finish(complete)) {
        return absent;
    }
    for (const auto& [key, record] : records_) {
        if (!epoch_.is_marked(record->mark) && record->in_kernel) {
            absent.push_back(key);
        }
    }
    return absent;
}

NeighborRecord* NeighborTable::find(const NeighborKey& key) {
    const auto found = records_.find(key);
    return found == records_.end() ? nullptr : found->second.get();
}

const NeighborRecord* NeighborTable::find(const NeighborKey& key) const {
    const auto found = records_.find(key);
    return found == records_.end() ? nullptr : found->second.get();
}

std::vector<IfIndex> NeighborTable::links_with(const IpAddress& address) const {
    std::vector<IfIndex> links;
    for (auto at = records_.lower_bound({.link = IfIndex{}, .address = address});
         at != records_.end() && at->first.address == address;
         ++at) {
        links.push_back(at->first.link);
    }
    return links;
}

std::vector<IpAddress> NeighborTable::addresses_of(IfIndex link, const MacAddress& mac) const {
    std::vector<IpAddress> addresses;
    for (auto at = by_mac_.lower_bound({.link = link, .mac = mac, .address = {}});
         at != by_mac_.end() && at->link == link && at->mac == mac;
         ++at) {
        addresses.push_back(at->address);
    }
    return addresses;
}

bool NeighborTable::has_mac(IfIndex link, const MacAddress& mac) const {
    if (mac.is_zero()) {
        return false;
    }
    const auto at = by_mac_.lower_bound({.link = link, .mac = mac, .address = {}});
    return at != by_mac_.end() && at->link == link && at->mac == mac;
}

std::vector<NeighborKey> NeighborTable::on_link(IfIndex link) const {
    std::vector<NeighborKey> keys;
    for (auto at = by_mac_.lower_bound({.link = link, .mac = {}, .address = {}});
         at != by_mac_.end() && at->link == link;
         ++at) {
        keys.push_back({.link = link, .address = at->address});
    }
    return keys;
}

std::vector<NeighborKey> NeighborTable::probed() const {
    std::vector<NeighborKey> keys;
    for (const auto& [key, record] : records_) {
        if (record->probed) {
            keys.push_back(key);
        }
    }
    return keys;
}

void NeighborTable::index(const NeighborKey& key, const MacAddress& mac) {
    by_mac_.insert({.link = key.link, .mac = mac, .address = key.address});
}

void NeighborTable::unindex(const NeighborKey& key, const MacAddress& mac) {
    by_mac_.erase({.link = key.link, .mac = mac, .address = key.address});
}

}  // namespace planed
