// SPDX-License-Identifier: Apache-2.0
#include "api/desk.hpp"

#include <algorithm>
#include <utility>

namespace planed::api {
namespace {

// Of one turn; half a millisecond.
constexpr std::size_t kItemsPerTurnMax = 1024;

template <class Key>
void deduplicate(std::vector<Key>& keys) {
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

}  // namespace

bool Desk::ask(const SnapshotParts& parts, Ready ready) {
    if (waiting_.size() >= kWaitingMax) {
        return false;
    }
    waiting_.push_back({.parts = parts, .ready = std::move(ready)});
    return true;
}

void Desk::begin(TimePoint now) {
    served_ = std::exchange(waiting_, {});
    SnapshotParts all;
    for (const Question& question : served_) {
        all.hosts = all.hosts || question.parts.hosts;
        all.routes = all.routes || question.parts.routes;
        all.proxies = all.proxies || question.parts.proxies;
    }
    builder_.emplace(all);
    began_ = now;
}

bool Desk::turn(const EngineView& view, TimePoint now) {
    if (!builder_) {
        if (waiting_.empty() || now < not_before_) {
            return false;
        }
        begin(now);
    }
    if (!builder_->advance(view, kRowsPerTurn)) {
        return true;
    }
    const auto snapshot = builder_->take();
    builder_.reset();
    not_before_ = now + std::max<Duration>(kPauseMin, (now - began_) * kPauseShare);
    for (Question& question : std::exchange(served_, {})) {
        question.ready(snapshot);
    }
    return false;
}

std::optional<TimePoint> Desk::wake_at() const {
    return builder_ || waiting_.empty() ? std::nullopt : std::optional(not_before_);
}

std::optional<std::vector<std::shared_ptr<const WatchItem>>> items_of(Changes changes,
                                                                      const EngineView& view,
                                                                      TimePoint now) {
    deduplicate(changes.hosts);
    deduplicate(changes.routes);
    deduplicate(changes.interfaces);
    const std::size_t count =
        changes.hosts.size() + changes.routes.size() + changes.interfaces.size();
    if (changes.renamed || count > kItemsPerTurnMax) {
        return std::nullopt;
    }
    std::vector<std::shared_ptr<const WatchItem>> items;
    items.reserve(count);
    const auto tell = [&](auto now_there, auto name_only) {
        const bool gone = !now_there;
        items.push_back(std::make_shared<const WatchItem>(
            WatchItem{.at = now,
                      .gone = gone,
                      .object = gone ? std::move(name_only) : *std::move(now_there)}));
    };
    for (const IfIndex link : changes.interfaces) {
        tell(view.interface(link), InterfaceView{.link = link, .name = view.name_of(link)});
    }
    for (const NeighborKey& key : changes.hosts) {
        tell(view.host(key),
             HostView{
                 .key = key, .vrf = view.vrf_of(key.link), .interface = view.name_of(key.link)});
    }
    for (const RouteKey& key : changes.routes) {
        tell(view.route(key), RouteView{.key = key, .vrf = view.name_of(key.vrf)});
    }
    return items;
}

}  // namespace planed::api
