// SPDX-License-Identifier: Apache-2.0
// What waits for a moment of its own: values by key, each with a time, walked in the order of these
// times. Never drops anything by itself: who asks what is due says what becomes of it.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <absl/container/btree_set.h>
#include <absl/container/flat_hash_map.h>

#include "net/time.hpp"

namespace planed {

template <class Key, class Value>
class Deadlines {
public:
    /// A known key gets this value and this time instead.
    void put(const Key& key, TimePoint at, Value value) {
        const auto [entry, inserted] = entries_.try_emplace(key);
        if (!inserted) {
            order_.erase({entry->second.at, key});
        }
        entry->second = {.at = at, .value = std::move(value)};
        order_.insert({at, key});
    }
    bool erase(const Key& key) {
        const auto found = entries_.find(key);
        if (found == entries_.end()) {
            return false;
        }
        order_.erase({found->second.at, key});
        entries_.erase(found);
        return true;
    }

    [[nodiscard]] const Value* find(const Key& key) const {
        const auto found = entries_.find(key);
        return found == entries_.end() ? nullptr : &found->second.value;
    }
    /// Of a key that is there.
    [[nodiscard]] TimePoint at(const Key& key) const { return entries_.at(key).at; }
    [[nodiscard]] const Value& value(const Key& key) const { return entries_.at(key).value; }

    /// At most `most` keys whose time has come, the longest due first.
    [[nodiscard]] std::vector<Key> due(TimePoint now, std::size_t most) const {
        std::vector<Key> keys;
        for (auto at = order_.begin(); at != order_.end() && at->first <= now && keys.size() < most;
             ++at) {
            keys.push_back(at->second);
        }
        return keys;
    }
    [[nodiscard]] std::vector<Key> keys() const { return due(TimePoint::max(), order_.size()); }
    [[nodiscard]] std::optional<TimePoint> next() const {
        return order_.empty() ? std::nullopt : std::optional(order_.begin()->first);
    }
    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    [[nodiscard]] bool empty() const { return entries_.empty(); }

private:
    struct Entry {
        TimePoint at{};
        Value value{};
    };

    absl::flat_hash_map<Key, Entry> entries_;  // Looked up, never walked.
    absl::btree_set<std::pair<TimePoint, Key>> order_;
};

}  // namespace planed
