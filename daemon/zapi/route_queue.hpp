// SPDX-License-Identifier: Apache-2.0
// What waits to be written to zebra: at most one operation per (VRF, prefix), the newest, and
// control messages. Withdrawals go first, for a dead host must not wait behind 100,000 additions;
// everything else keeps its order. An operation may move forward, never back, so a control message
// is always preceded by the newest word on every key that was queued before it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <absl/container/flat_hash_set.h>
#include <absl/hash/hash.h>

#include "zapi/messages.hpp"

namespace planed::zapi {

struct Removal {
    VrfId vrf{};
    IpPrefix prefix{};
    bool operator==(const Removal&) const = default;
};

/// A message that is not about one route.
struct Control {
    enum class Kind : std::uint8_t {
        AnnounceVrf,
        DisableRestart,
        CompleteRestart,
        RedistributeAdd,
        RedistributeDelete,
        WatchPlane,
        Mark,
    };
    Kind kind{};
    VrfId vrf{};
    Afi afi = Afi::V4;
    bool operator==(const Control&) const = default;
};

using Outgoing = std::variant<Route, Removal, Control>;

class RouteQueue {
public:
    RouteQueue();

    void put(const Route& route);
    void remove(const Removal& removal);
    /// Behind everything that waits now, except AnnounceVrf, which goes to the very front: it must
    /// precede the VRF's routes, and those may move forward.
    void add(const Control& control);
    /// The next to write, taken out.
    std::optional<Outgoing> pop();
    void clear();

    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    using NodeId = std::uint32_t;
    static constexpr NodeId kNone = ~NodeId{0};

    enum class Lane : std::uint8_t { Free, Urgent, Normal };
    static constexpr std::size_t kLanes = 3;

    struct Node {
        Outgoing what{};
        std::size_t hash = 0;   // Of its key; unused for a Control.
        NodeId before = kNone;  // Neighbours in its lane.
        NodeId after = kNone;
        Lane lane = Lane::Free;
    };
    struct Ends {
        NodeId first = kNone;
        NodeId last = kNone;
    };

    /// Grows without moving what it holds: a vector's moves and fresh pages cost a burst of 100,000
    /// as much again.
    class Nodes {
    public:
        Node& operator[](NodeId id) { return chunks_[id / kChunk][id % kChunk]; }
        const Node& operator[](NodeId id) const { return chunks_[id / kChunk][id % kChunk]; }
        [[nodiscard]] std::size_t size() const { return size_; }
        NodeId add();

    private:
        static constexpr std::size_t kChunk = 1024;
        std::vector<std::unique_ptr<Node[]>> chunks_;
        std::size_t size_ = 0;
    };

    struct Key {
        VrfId vrf{};
        IpPrefix prefix{};
        std::size_t hash = 0;
    };
    static Key key_of(VrfId vrf, const IpPrefix& prefix);
    static bool has_key(const Outgoing& outgoing, const Key& key);

    // The index holds node numbers alone and finds hashes and keys in the nodes: 5 bytes an entry
    // stay in the processor's cache where 29 do not.
    struct Hash {
        using is_transparent = void;
        const Nodes* nodes;
        std::size_t operator()(NodeId id) const { return (*nodes)[id].hash; }
        std::size_t operator()(const Key& key) const { return key.hash; }
    };
    struct Equal {
        using is_transparent = void;
        const Nodes* nodes;
        bool operator()(NodeId a, NodeId b) const { return a == b; }
        bool operator()(NodeId id, const Key& key) const { return has_key((*nodes)[id].what, key); }
        bool operator()(const Key& key, NodeId id) const { return (*this)(id, key); }
    };
    using Index = absl::flat_hash_set<NodeId, Hash, Equal>;

    [[nodiscard]] Index empty_index() const;
    Ends& ends_of(Lane lane) { return lanes_[static_cast<std::size_t>(lane)]; }
    NodeId add_node(const Outgoing& outgoing);
    /// `outgoing` takes the place of what waits with this key, or a new one in `lane`.
    NodeId place(const Key& key, const Outgoing& outgoing, Lane lane);
    void link_back(NodeId id, Lane lane);
    void link_front(NodeId id, Lane lane);
    void unlink(NodeId id);

    std::unique_ptr<Nodes> nodes_;      // Free ones are in Lane::Free.
    std::array<Ends, kLanes> lanes_{};  // Urgent: withdrawals, and what replaced one.
    std::size_t size_ = 0;
    Index index_;  // Looked up, never walked.
};

}  // namespace planed::zapi
