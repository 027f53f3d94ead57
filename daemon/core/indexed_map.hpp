// SPDX-License-Identifier: Apache-2.0
// A table that is walked in the order of its keys and looked up by hash. Every event looks keys up,
// and few make or remove one: a look-up costs two or three cache misses where an ordered one costs
// one or two a level, and what is walked is the same in every run. Values stay where they are.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <absl/container/btree_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/hash/hash.h>

#include "net/assert.hpp"

namespace planed {

template <class Key, class Value>
class IndexedMap {
public:
    struct Node {
        explicit Node(const Key& of) : key(of) {}
        Key key;
        Value value{};
    };

    [[nodiscard]] Value* find(const Key& key) {
        const auto found = index_.find(key);
        return found == index_.end() ? nullptr : &(*found)->value;
    }
    [[nodiscard]] const Value* find(const Key& key) const {
        const auto found = index_.find(key);
        return found == index_.end() ? nullptr : &(*found)->value;
    }
    /// Of a key that is there.
    [[nodiscard]] Value& at(const Key& key) {
        Value* value = find(key);
        PLANED_ASSERT(value != nullptr);
        return *value;
    }
    /// The value, and whether it is new (value-initialized).
    std::pair<Value&, bool> try_emplace(const Key& key) {
        if (Value* value = find(key); value != nullptr) {
            return {*value, false};
        }
        auto node = std::make_unique<Node>(key);
        Node* const added = node.get();
        ordered_.emplace(key, std::move(node));
        index_.insert(added);
        return {added->value, true};
    }
    bool erase(const Key& key) { return index_.erase(key) > 0 && ordered_.erase(key) > 0; }
    /// Brings into the cache what find() will read first.
    void prefetch(const Key& key) const { index_.prefetch(key); }

    /// visit(key, value) from the smallest key on; it must not add or remove.
    template <class Visit>
    void for_each(Visit visit) {
        for (const auto& [key, node] : ordered_) {
            visit(key, node->value);
        }
    }
    template <class Visit>
    void for_each(Visit visit) const {
        for (const auto& [key, node] : ordered_) {
            visit(key, std::as_const(node->value));
        }
    }
    /// The keys from `first` on, in order, as long as `in(key)`.
    template <class In>
    [[nodiscard]] std::vector<Key> keys_from(const Key& first, In in) const {
        std::vector<Key> keys;
        for (auto at = ordered_.lower_bound(first); at != ordered_.end() && in(at->first); ++at) {
            keys.push_back(at->first);
        }
        return keys;
    }
    /// At most `count` keys behind `after`, in order; nullopt: from the first one on.
    [[nodiscard]] std::vector<Key> keys_after(const std::optional<Key>& after,
                                              std::size_t count) const {
        std::vector<Key> keys;
        auto at = after ? ordered_.upper_bound(*after) : ordered_.begin();
        for (; at != ordered_.end() && keys.size() < count; ++at) {
            keys.push_back(at->first);
        }
        return keys;
    }
    [[nodiscard]] std::size_t size() const { return ordered_.size(); }

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(const Key& key) const { return absl::Hash<Key>{}(key); }
        std::size_t operator()(const Node* node) const { return (*this)(node->key); }
    };
    struct Equal {
        using is_transparent = void;
        bool operator()(const Node* a, const Node* b) const { return a == b; }
        bool operator()(const Node* node, const Key& key) const { return node->key == key; }
        bool operator()(const Key& key, const Node* node) const { return node->key == key; }
    };

    absl::btree_map<Key, std::unique_ptr<Node>> ordered_;
    absl::flat_hash_set<Node*, Hash, Equal> index_;  // Looked up, never walked.
};

}  // namespace planed
