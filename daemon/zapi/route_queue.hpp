// SPDX-License-Identifier: Apache-2.0
// What waits to be written to zebra: at most one operation per (VRF, prefix), the newest, and
// control messages. Withdrawals go first, for a dead host must not wait behind 100,000 additions;
// everything else keeps its order. An operation may move forward, never back, so a control message
// is always preceded by the newest word on every key that was queued before it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <absl/container/flat_hash_map.h>

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
    struct Key {
        VrfId vrf{};
        IpPrefix prefix{};
        bool operator==(const Key&) const = default;

        template <class H>
        friend H AbslHashValue(H state, const Key& key) {
            return H::combine(std::move(state), key.vrf, key.prefix);
        }
    };

    using NodeId = std::uint32_t;
    static constexpr NodeId kNone = ~NodeId{0};

    enum class Lane : std::uint8_t { Free, Urgent, Normal };
    static constexpr std::size_t kLanes = 3;

    struct Node {
        Outgoing what{};
        NodeId before = kNone;  // Neighbours in its lane.
        NodeId after = kNone;
        Lane lane = Lane::Free;
    };
    struct Ends {
        NodeId first = kNone;
        NodeId last = kNone;
    };

    static std::optional<Key> key_of(const Outgoing& outgoing);

    Ends& ends_of(Lane lane) { return lanes_[static_cast<std::size_t>(lane)]; }
    NodeId add_node(const Outgoing& outgoing);
    /// The node that waits with this key; a new one in `lane` if there is none.
    NodeId node_for(const Key& key, const Outgoing& outgoing, Lane lane);
    void link_back(NodeId id, Lane lane);
    void link_front(NodeId id, Lane lane);
    void unlink(NodeId id);
    void forget_stale_keys();

    std::vector<Node> nodes_;           // Free ones are in Lane::Free.
    std::array<Ends, kLanes> lanes_{};  // Urgent: withdrawals, and what replaced one.
    std::size_t size_ = 0;
    // Where a key waits, if the node there still has this key: an entry is not erased when its node
    // is taken out, for the second look-up would cost as much as everything else in pop().
    absl::flat_hash_map<Key, NodeId> index_;
};

}  // namespace planed::zapi
