// SPDX-License-Identifier: Apache-2.0
#include "core/snapshot_builder.hpp"

#include <algorithm>
#include <utility>

namespace planed {

bool SnapshotBuilder::advance(const EngineView& view, std::size_t rows) {
    switch (stage_) {
        case Stage::Hosts: read_hosts(view, rows); break;
        case Stage::Routes: read_routes(view, rows); break;
        case Stage::Proxies: read_proxies(view, rows); break;
        case Stage::Done: break;
    }
    return stage_ == Stage::Done;
}

void SnapshotBuilder::read_hosts(const EngineView& view, std::size_t rows) {
    const std::vector<NeighborKey> keys = view.hosts_after(host_, rows);
    for (const NeighborKey& key : keys) {
        if (auto host = view.host(key)) {
            count(*host);
            if (parts_.hosts) {
                snapshot_->hosts.push_back(std::move(*host));
            }
        }
    }
    if (keys.size() < rows) {
        stage_ = Stage::Routes;
    } else {
        host_ = keys.back();
    }
}

void SnapshotBuilder::count(const HostView& host) {
    ++snapshot_->hosts_total;
    if (host.reason == Reason::Eligible) {
        ++snapshot_->hosts_eligible;
        note_proof(host);
    }
    if (hosts_on_.empty() || hosts_on_.back().first != host.key.link) {
        hosts_on_.emplace_back(host.key.link, 0);
    }
    ++hosts_on_.back().second;
}

void SnapshotBuilder::note_proof(const HostView& host) {
    if (host.state == Nud::Permanent || host.state == Nud::NoArp) {
        return;  // Nobody asks it.
    }
    const TimePoint proof = host.last_seen.value_or(host.since);
    auto& oldest = snapshot_->oldest_proof;
    oldest = oldest ? std::min(*oldest, proof) : proof;
}

void SnapshotBuilder::read_routes(const EngineView& view, std::size_t rows) {
    const std::vector<RouteKey> keys = view.routes_after(route_, rows);
    for (const RouteKey& key : keys) {
        auto route = view.route(key);
        if (!route) {
            continue;
        }
        snapshot_->routes_withdrawing += route->state == SinkState::Withdrawing ? 1U : 0U;
        snapshot_->routes_desired += route->state == SinkState::Withdrawing ? 0U : 1U;
        snapshot_->routes_installed += route->state == SinkState::Held ? 1U : 0U;
        snapshot_->routes_rejected += route->state == SinkState::Rejected ? 1U : 0U;
        if (parts_.routes) {
            snapshot_->routes.push_back(std::move(*route));
        }
    }
    if (keys.size() == rows) {
        route_ = keys.back();
    } else if (parts_.proxies) {
        stage_ = Stage::Proxies;
    } else {
        finish(view);
    }
}

void SnapshotBuilder::read_proxies(const EngineView& view, std::size_t rows) {
    const std::vector<NeighborKey> keys = view.proxies_after(proxy_, rows);
    for (const NeighborKey& key : keys) {
        if (auto proxy = view.proxy(key)) {
            snapshot_->proxies.push_back(std::move(*proxy));
        }
    }
    if (keys.size() == rows) {
        proxy_ = keys.back();
    } else {
        finish(view);
    }
}

void SnapshotBuilder::finish(const EngineView& view) {
    stage_ = Stage::Done;
    snapshot_->node = view.node();
    snapshot_->health = view.health();
    for (const IfIndex link : view.all_interfaces()) {
        auto interface = view.interface(link);
        if (!interface) {
            continue;
        }
        std::uint64_t hosts = 0;
        for (const auto& [on, number] : hosts_on_) {
            hosts = on == link ? number : hosts;
        }
        snapshot_->interfaces.push_back({.interface = std::move(*interface), .hosts = hosts});
    }
}

}  // namespace planed
