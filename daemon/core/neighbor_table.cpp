// SPDX-License-Identifier: Apache-2.0
#include "core/neighbor_table.hpp"

#include <algorithm>

#include "core/limits.hpp"

namespace planed {

NeighborTable::Change NeighborTable::see(const NeighborSeen& seen, TimePoint now) {
    NeighborRecord* known = find(seen.key);
    if (seen.source == Source::Dump &&
        !epoch_.accepts_row(seen.key, known != nullptr ? &known->mark : nullptr)) {
        return {};
    }
    if (known == nullptr) {
        return {.record = add(seen, now)};
    }
    NeighborRecord& record = *known;
    epoch_.mark(record.mark);
    if (record.neighbor == seen.neighbor && record.in_kernel) {
        return {};
    }
    if (record.neighbor.mac != seen.neighbor.mac) {
        unindex_mac(seen.key, record.neighbor.mac);
        index_mac(seen.key, seen.neighbor.mac);
    }
    record.changed = now;
    return {.record = &record,
            .before = std::exchange(record.neighbor, seen.neighbor),
            .was_in_kernel = std::exchange(record.in_kernel, true)};
}

NeighborRecord* NeighborTable::add(const NeighborSeen& seen, TimePoint now) {
    if (records_.size() >= limits::kNeighborsMax) {
        ++refused_;
        return nullptr;
    }
    auto created = std::make_unique<NeighborRecord>();
    NeighborRecord& record = *created;
    record.key = seen.key;
    record.neighbor = seen.neighbor;
    record.changed = now;
    epoch_.mark(record.mark);
    records_.emplace(seen.key, std::move(created));
    ++counts_[seen.key.link];
    link_place(record);
    index_mac(seen.key, seen.neighbor.mac);
    return &record;
}

void NeighborTable::note_deleted(const NeighborKey& key) {
    epoch_.note_deleted(key);
    // The engine may keep the record of what was collected.
    if (NeighborRecord* record = find(key); record != nullptr) {
        epoch_.mark(record->mark);
    }
}

bool NeighborTable::is_news(const NeighborSeen& seen) const {
    const NeighborRecord* known = find(seen.key);
    return seen.source != Source::Dump ||
           epoch_.accepts_row(seen.key, known != nullptr ? &known->mark : nullptr);
}

void NeighborTable::note_present(const NeighborKey& key) {
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
    NeighborRecord* known = find(key);
    if (known == nullptr) {
        return std::nullopt;
    }
    unindex_mac(key, known->neighbor.mac);
    unlink_place(*known);
    const NeighborRecord record = *known;
    records_.erase(key);
    if (const auto count = counts_.find(key.link); --count->second == 0) {
        counts_.erase(count);
    }
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
    return const_cast<NeighborRecord*>(std::as_const(*this).find(key));
}

const NeighborRecord* NeighborTable::find(const NeighborKey& key) const {
    const NeighborRecord* at = first_place(key.address);
    while (at != nullptr && at->key.link != key.link) {
        at = at->next_place_;
    }
    return at;
}

std::span<const IpAddress> NeighborTable::addresses_of(IfIndex link, const MacAddress& mac) const {
    const Addresses* addresses = by_mac_.find({.link = link, .mac = mac});
    return addresses == nullptr ? std::span<const IpAddress>{} : std::span(*addresses);
}

bool NeighborTable::has_mac(IfIndex link, const MacAddress& mac) const {
    return by_mac_.find({.link = link, .mac = mac}) != nullptr;
}

std::vector<NeighborKey> NeighborTable::on_link(IfIndex link) const {
    std::vector<NeighborKey> keys;
    for (auto at = records_.lower_bound({.link = link, .address = {}});
         at != records_.end() && at->first.link == link;
         ++at) {
        keys.push_back(at->first);
    }
    return keys;
}

std::size_t NeighborTable::count_on(IfIndex link) const {
    const auto count = counts_.find(link);
    return count == counts_.end() ? 0 : count->second;
}

std::vector<NeighborKey> NeighborTable::keys_after(const std::optional<NeighborKey>& after,
                                                   std::size_t count) const {
    std::vector<NeighborKey> keys;
    auto at = after ? records_.upper_bound(*after) : records_.begin();
    for (; at != records_.end() && keys.size() < count; ++at) {
        keys.push_back(at->first);
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

void NeighborTable::link_place(NeighborRecord& record) {
    NeighborRecord* before = nullptr;
    NeighborRecord* after = first_place(record.key.address);
    while (after != nullptr && after->key.link < record.key.link) {
        before = std::exchange(after, after->next_place_);
    }
    record.next_place_ = after;
    if (before != nullptr) {
        before->next_place_ = &record;
        return;
    }
    by_address_.erase(record.key.address);
    by_address_.insert(&record);
}

void NeighborTable::unlink_place(NeighborRecord& record) {
    NeighborRecord* before = first_place(record.key.address);
    if (before == &record) {
        by_address_.erase(record.key.address);
        if (record.next_place_ != nullptr) {
            by_address_.insert(record.next_place_);
        }
        return;
    }
    while (before->next_place_ != &record) {
        before = before->next_place_;
    }
    before->next_place_ = record.next_place_;
}

// A host that has no MAC now is found by none.
void NeighborTable::index_mac(const NeighborKey& key, const MacAddress& mac) {
    if (mac.is_zero()) {
        return;
    }
    Addresses& addresses = by_mac_.try_emplace({.link = key.link, .mac = mac}).first;
    addresses.insert(std::ranges::lower_bound(addresses, key.address), key.address);
}

void NeighborTable::unindex_mac(const NeighborKey& key, const MacAddress& mac) {
    Addresses* addresses = by_mac_.find({.link = key.link, .mac = mac});
    if (addresses == nullptr) {
        return;
    }
    addresses->erase(std::ranges::lower_bound(*addresses, key.address));
    if (addresses->empty()) {
        by_mac_.erase({.link = key.link, .mac = mac});
    }
}

}  // namespace planed
