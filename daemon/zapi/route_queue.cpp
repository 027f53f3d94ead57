// SPDX-License-Identifier: Apache-2.0
#include "zapi/route_queue.hpp"

namespace planed::zapi {

namespace {

constexpr std::size_t kIndexKept = 4096;  // Entries; a bigger index is given back when empty.

}  // namespace

void RouteQueue::put(const Route& route) {
    const auto [found, is_new] = waiting_.try_emplace(Key{route.vrf, route.prefix});
    Place& place = found->second;
    if (is_new) {
        place.at = normal_.insert(normal_.end(), route);
    } else {
        *place.at = route;
    }
}

void RouteQueue::remove(const Removal& removal) {
    const auto [found, is_new] = waiting_.try_emplace(Key{removal.vrf, removal.prefix});
    Place& place = found->second;
    if (is_new) {
        place.at = urgent_.insert(urgent_.end(), removal);
    } else {
        if (!place.urgent) {
            urgent_.splice(urgent_.end(), normal_, place.at);
        }
        *place.at = removal;
    }
    place.urgent = true;
}

void RouteQueue::add(const Control& control) {
    if (control.kind == Control::Kind::AnnounceVrf) {
        urgent_.emplace_front(control);
    } else {
        normal_.emplace_back(control);
    }
}

std::optional<Outgoing> RouteQueue::pop() {
    Lane& lane = urgent_.empty() ? normal_ : urgent_;
    if (lane.empty()) {
        return std::nullopt;
    }
    const Outgoing outgoing = lane.front();
    forget(outgoing);
    lane.pop_front();
    return outgoing;
}

void RouteQueue::forget(const Outgoing& outgoing) {
    if (const auto* const route = std::get_if<Route>(&outgoing)) {
        waiting_.erase(Key{route->vrf, route->prefix});
    } else if (const auto* const removal = std::get_if<Removal>(&outgoing)) {
        waiting_.erase(Key{removal->vrf, removal->prefix});
    }
    if (waiting_.empty() && waiting_.capacity() > kIndexKept) {
        waiting_ = {};
    }
}

void RouteQueue::clear() {
    urgent_.clear();
    normal_.clear();
    waiting_ = {};
}

}  // namespace planed::zapi
