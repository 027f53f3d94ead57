// SPDX-License-Identifier: Apache-2.0
// What there is to show of the peers and of their routes: copies that outlive what they were made
// of and may go to another thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "bgp/session.hpp"
#include "net/ip_address.hpp"
#include "net/time.hpp"

namespace planed::bgp {

struct PeerView {
    IpAddress address{};
    AsNumber remote_as{};
    std::string description{};
    bool enabled = true;
    bool passive = false;
    State state = State::Idle;
    std::optional<TimePoint> since{};  // When it came up or went down last.
    std::size_t routes = 0;            // Stale ones included.
    std::size_t routes_max = 0;
    Traffic traffic{};
    std::uint64_t sessions = 0;
    std::uint64_t faults = 0;  // That sessions have survived.
    std::string last_error{};
    std::optional<TimePoint> last_error_at{};
    std::optional<Open> open{};  // The peer's, of the last session.
    std::uint16_t hold_seconds = 0;
    bool end_of_rib = false;
};

/// The state as a word; "disabled" where the configuration wants no session.
inline std::string_view state_of(const PeerView& peer) {
    return peer.enabled ? name_of(peer.state) : std::string_view("disabled");
}

struct RouteRow {
    IpAddress peer{};
    Route route{};
    std::shared_ptr<const Path> path{};
    TimePoint since{};
    bool stale = false;
};

/// How far a reader of all routes has come: behind this route of this peer. Empty: not begun.
struct RouteCursor {
    std::optional<IpAddress> peer{};
    std::optional<RouteKey> key{};
};

}  // namespace planed::bgp
