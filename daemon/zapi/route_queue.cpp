// SPDX-License-Identifier: Apache-2.0
#include "zapi/route_queue.hpp"

namespace planed::zapi {

namespace {

constexpr std::size_t kNodesKept = 4096;  // More are given back once the queue is empty.

}  // namespace

RouteQueue::NodeId RouteQueue::Nodes::add() {
    if (size_ % kChunk == 0) {
        chunks_.push_back(std::make_unique<Node[]>(kChunk));
    }
    return static_cast<NodeId>(size_++);
}

RouteQueue::Key RouteQueue::key_of(VrfId vrf, const IpPrefix& prefix) {
    return {.vrf = vrf, .prefix = prefix, .hash = absl::HashOf(vrf, prefix)};
}

bool RouteQueue::has_key(const Outgoing& outgoing, const Key& key) {
    if (const auto* const route = std::get_if<Route>(&outgoing)) {
        return route->prefix == key.prefix && route->vrf == key.vrf;
    }
    const auto* const removal = std::get_if<Removal>(&outgoing);
    return removal != nullptr && removal->prefix == key.prefix && removal->vrf == key.vrf;
}

RouteQueue::RouteQueue() : nodes_(std::make_unique<Nodes>()), index_(empty_index()) {}

RouteQueue::Index RouteQueue::empty_index() const {
    return Index(0, Hash{nodes_.get()}, Equal{nodes_.get()});
}

void RouteQueue::put(const Route& route) {
    (void)place(key_of(route.vrf, route.prefix), route, Lane::Normal);
}

void RouteQueue::remove(const Removal& removal) {
    const NodeId id = place(key_of(removal.vrf, removal.prefix), removal, Lane::Urgent);
    if ((*nodes_)[id].lane == Lane::Normal) {
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
    const Outgoing outgoing = (*nodes_)[id].what;
    if (!std::holds_alternative<Control>(outgoing)) {
        index_.erase(id);
    }
    unlink(id);
    link_back(id, Lane::Free);
    --size_;
    if (empty() && nodes_->size() > kNodesKept) {
        clear();
    }
    return outgoing;
}

void RouteQueue::clear() {
    nodes_ = std::make_unique<Nodes>();
    lanes_ = {};
    index_ = empty_index();
    size_ = 0;
}

RouteQueue::NodeId RouteQueue::place(const Key& key, const Outgoing& outgoing, Lane lane) {
    const auto found = index_.find(key);
    if (found != index_.end()) {
        (*nodes_)[*found].what = outgoing;
        return *found;
    }
    const NodeId id = add_node(outgoing);
    (*nodes_)[id].hash = key.hash;
    link_back(id, lane);
    index_.insert(id);
    return id;
}

RouteQueue::NodeId RouteQueue::add_node(const Outgoing& outgoing) {
    ++size_;
    NodeId id = ends_of(Lane::Free).first;
    if (id == kNone) {
        id = nodes_->add();
    } else {
        unlink(id);
    }
    (*nodes_)[id].what = outgoing;
    return id;
}

void RouteQueue::link_back(NodeId id, Lane lane) {
    Ends& ends = ends_of(lane);
    Node& node = (*nodes_)[id];
    node.lane = lane;
    node.before = ends.last;
    node.after = kNone;
    (ends.last == kNone ? ends.first : (*nodes_)[ends.last].after) = id;
    ends.last = id;
}

void RouteQueue::link_front(NodeId id, Lane lane) {
    Ends& ends = ends_of(lane);
    Node& node = (*nodes_)[id];
    node.lane = lane;
    node.before = kNone;
    node.after = ends.first;
    (ends.first == kNone ? ends.last : (*nodes_)[ends.first].before) = id;
    ends.first = id;
}

void RouteQueue::unlink(NodeId id) {
    const Node& node = (*nodes_)[id];
    Ends& ends = ends_of(node.lane);
    (node.before == kNone ? ends.first : (*nodes_)[node.before].after) = node.after;
    (node.after == kNone ? ends.last : (*nodes_)[node.after].before) = node.before;
}

}  // namespace planed::zapi
