// SPDX-License-Identifier: Apache-2.0
// What must have happened before the daemon is ready, in order, each with its time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "net/time.hpp"

namespace planed {

enum class Milestone : std::uint8_t {
    ConfigLoaded,
    LinksSynced,
    NeighborsSynced,  // Addresses and forwarding entries with them: facts are whole.
    ZapiUp,
    RoutesSynced,  // Everything wanted is in zebra, and what is not wanted is not.
    Ready,
};
inline constexpr std::size_t kMilestones = 6;

constexpr std::string_view word(Milestone milestone) {
    switch (milestone) {
        case Milestone::ConfigLoaded: return "CONFIG_LOADED";
        case Milestone::LinksSynced: return "LINKS_SYNCED";
        case Milestone::NeighborsSynced: return "NEIGHBORS_SYNCED";
        case Milestone::ZapiUp: return "ZAPI_UP";
        case Milestone::RoutesSynced: return "ROUTES_SYNCED";
        case Milestone::Ready: return "READY";
    }
    return "UNKNOWN";
}

class Milestones {
public:
    /// True the first time.
    bool reach(Milestone milestone, TimePoint now) {
        auto& at = at_[static_cast<std::size_t>(milestone)];
        if (at) {
            return false;
        }
        at = now;
        return true;
    }
    [[nodiscard]] std::optional<TimePoint> at(Milestone milestone) const {
        return at_[static_cast<std::size_t>(milestone)];
    }

private:
    std::array<std::optional<TimePoint>, kMilestones> at_{};
};

}  // namespace planed
