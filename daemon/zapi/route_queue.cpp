// SPDX-License-Identifier: Apache-2.0
#include "zapi/route_queue.hpp"

namespace planed::zapi {

namespace {

constexpr std::size_t kIndexSlack = 4096;  // Entries without a node that are tolerated.

}  // namespace

void RouteQueue::put(const Route& route) {
    const NodeId id = node_for({route.vrf, route.prefix}, route, Lane::Normal);
    nodes_[id].what = route;
}

void RouteQueue::remove(const Removal& removal) {
    const NodeId id = node_for({removal.vrf, removal.prefix}, removal, Lane::Urgent);
    nodes_[id].what = removal;
    if (nodes_[id].lane == Lane::Normal) {
        unlink(id);
        link_back(id, Lane::Urgent);
    }
}

void RouteQueue::add(const Control& control) {
    const NodeId id = add_node(control);
    if (control.kind == Control::Kind::AnnounceVrf) {
        link_front(id, Lane::Urgent);
    } else {
        link_back(id, Lane::Normal);
    }
}

std::optional<Outgoing> RouteQueue::pop() {
    const NodeId urgent = ends_of(Lane::Urgent).first;
    const NodeId id = urgent != kNone ? urgent : ends_of(Lane::Normal).first;
    if (id == kNone) {
        return std::nullopt;
    }
    const Outgoing outgoing = nodes_[id].what;
    unlink(id);
    link_back(id, Lane::Free);
    --size_;
    if (empty() && nodes_.size() > kIndexSlack) {
        clear();  // Gives the memory of a burst back.
    }
    return outgoing;
}

void RouteQueue::clear() {
    nodes_.clear();
    lanes_ = {};
    index_ = {};
    size_ = 0;
}

/// A queue that is never empty would collect an entry for every key that ever waited.
void RouteQueue::forget_stale_keys() {
    absl::erase_if(index_, [this](const auto& entry) {
        const Node& node = nodes_[entry.second];
        return node.lane == Lane::Free || key_of(node.what) != entry.first;
    });
}

std::optional<RouteQueue::Key> RouteQueue::key_of(const Outgoing& outgoing) {
    if (const auto* const route = std::get_if<Route>(&outgoing)) {
        return Key{route->vrf, route->prefix};
    }
    if (const auto* const removal = std::get_if<Removal>(&outgoing)) {
        return Key{removal->vrf, removal->prefix};
    }
    return std::nullopt;
}

RouteQueue::NodeId RouteQueue::node_for(const Key& key, const Outgoing& outgoing, Lane lane) {
    const auto [found, is_new] = index_.try_emplace(key, kNone);
    NodeId& id = found->second;
    if (!is_new && nodes_[id].lane != Lane::Free && key_of(nodes_[id].what) == key) {
        return id;
    }
    const NodeId added = id = add_node(outgoing);
    link_back(added, lane);
    if (index_.size() > 2 * size_ + kIndexSlack) {
        forget_stale_keys();
    }
    return added;
}

RouteQueue::NodeId RouteQueue::add_node(const Outgoing& outgoing) {
    ++size_;
    const NodeId free = ends_of(Lane::Free).first;
    if (free == kNone) {
        nodes_.push_back({.what = outgoing});
        return static_cast<NodeId>(nodes_.size() - 1);
    }
    unlink(free);
    nodes_[free].what = outgoing;
    return free;
}

void RouteQueue::link_back(NodeId id, Lane lane) {
    Ends& ends = ends_of(lane);
    Node& node = nodes_[id];
    node.lane = lane;
    node.before = ends.last;
    node.after = kNone;
    (ends.last == kNone ? ends.first : nodes_[ends.last].after) = id;
    ends.last = id;
}

void RouteQueue::link_front(NodeId id, Lane lane) {
    Ends& ends = ends_of(lane);
    Node& node = nodes_[id];
    node.lane = lane;
    node.before = kNone;
    node.after = ends.first;
    (ends.first == kNone ? ends.last : nodes_[ends.first].before) = id;
    ends.first = id;
}

void RouteQueue::unlink(NodeId id) {
    const Node& node = nodes_[id];
    Ends& ends = ends_of(node.lane);
    (node.before == kNone ? ends.first : nodes_[node.before].after) = node.after;
    (node.after == kNone ? ends.last : nodes_[node.after].before) = node.before;
}

}  // namespace planed::zapi
