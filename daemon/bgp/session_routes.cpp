// SPDX-License-Identifier: Apache-2.0
// The part of a session that is about the peer's routes.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "bgp/session.hpp"
#include "net/byte_writer.hpp"

namespace planed::bgp {

void Session::handle_update(ConnectionId id, const Frame& frame, TimePoint now) {
    ++traffic_.updates_received;
    auto update = decode_update(frame.body, peer_kind());
    if (!update) {
        refuse(id, update.error(), now);
        return;
    }
    hear(std::move(*update));
    check_routes_max(id, now);
}

/// Our own routes that come back by way of a reflector or another AS.
bool Session::is_looped(const Attributes& attributes) const {
    return passed_through(attributes, options_.local_as) || attributes.originator == options_.id ||
           std::ranges::find(attributes.clusters, options_.id) != attributes.clusters.end();
}

void Session::hear(Update update) {
    for (Fault& fault : update.faults) {
        events_.emplace_back(Faulty{std::move(fault)});
    }
    for (const RouteKey& key : update.withdrawn) {
        forget(key);
    }
    const bool looped = is_looped(update.path.attributes);
    const auto path = std::make_shared<const Path>(std::move(update.path));
    for (const Route& route : update.reachable) {
        const RouteKey key(route);
        if (looped) {
            forget(key);  // What the peer had before, it has no more.
            continue;
        }
        heard_[key] = epoch_;
        events_.emplace_back(RouteHeard{.route = route, .path = path});
    }
    if (update.end_of_rib) {
        sweep();
        events_.emplace_back(EndOfRib{});
    }
}

void Session::check_routes_max(ConnectionId id, TimePoint now) {
    const std::size_t most = options_.routes_max;
    if (most == 0) {
        return;
    }
    if (heard_.size() > most) {
        Bytes data;
        ByteWriter out(data);
        out.u16(kAfiL2vpn);
        out.u8(kSafiEvpn);
        out.u32(static_cast<std::uint32_t>(most));
        refuse(id,
               {.notification = {.code = Notification::kCease,
                                 .subcode = Notification::kMaxPrefixes,
                                 .data = std::move(data)},
                .error = {.code = Errc::Refused,
                          .text = fmt::format("{} routes where {} may be", heard_.size(), most)}},
               now);
        return;
    }
    const bool near = heard_.size() * 4 >= most * 3;
    if (near && !std::exchange(near_max_said_, true)) {
        events_.emplace_back(NearRoutesMax{.routes = heard_.size()});
    }
}

void Session::handle_refresh(ConnectionId id, const Frame& frame, TimePoint now) {
    const auto refresh = decode_route_refresh(frame.body);
    if (!refresh) {
        refuse(id, refresh.error(), now);
        return;
    }
    if (*refresh == RouteRefresh{}) {
        advertisements_.resend();
    }
}

bool Session::ask_refresh() {
    const Link* const established = find_established();
    if (established == nullptr || !established->peer.capabilities.route_refresh) {
        return false;
    }
    encode_route_refresh({}, find(established->id)->outbox);
    ++traffic_.messages_sent;
    return true;
}

void Session::forget(const RouteKey& key) {
    if (heard_.erase(key) != 0) {
        events_.emplace_back(RouteGone{key});
    }
}

void Session::forget_all() {
    stale_until_.reset();
    for (const auto& [key, epoch] : heard_) {
        events_.emplace_back(RouteGone{key});
    }
    heard_.clear();
}

/// What was heard in an earlier session and not in this one is gone.
void Session::sweep() {
    stale_until_.reset();
    for (auto entry = heard_.begin(); entry != heard_.end();) {
        if (entry->second == epoch_) {
            ++entry;
            continue;
        }
        events_.emplace_back(RouteGone{entry->first});
        entry = heard_.erase(entry);
    }
}

}  // namespace planed::bgp
