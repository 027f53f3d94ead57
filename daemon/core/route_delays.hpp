// SPDX-License-Identifier: Apache-2.0
// Between a verdict and a wish: how long a new host waits before it is announced, and how long the
// route of a lost one stays. Keeps only what waits at the moment, and nothing while no delay is
// configured. Never asks why a host is lost: the engine says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "core/deadlines.hpp"
#include "core/route.hpp"
#include "net/time.hpp"

namespace planed {

/// Why the host of a route has no claim to it any more.
enum class Loss : std::uint8_t {
    Silent,          // Its own evidence ended: FAILED, or gone from the kernel's table.
    PortDown,        // Its port lost carrier, or its interface went down.
    Administrative,  // Somebody wants it so: configuration, isolation, a link that was deleted.
};

/// A sentence's end for people: "its port went down".
std::string_view describe(Loss loss);

class RouteDelays {
public:
    struct Leaving {
        Loss loss{};
        TimePoint since{};
        bool operator==(const Leaving&) const = default;
    };
    struct Counters {
        std::uint64_t delayed = 0;   // Hosts that had to wait before they were announced.
        std::uint64_t kept = 0;      // Routes that were kept after a loss.
        std::uint64_t returned = 0;  // Of those, hosts that came back in time.
        bool operator==(const Counters&) const = default;
    };

    /// What waits already waits by the new delays, from when it began to.
    void configure(const RoutesConfig& routes);
    /// Nothing is configured and nothing waits: every question below has the plain answer.
    [[nodiscard]] bool idle() const {
        return add_delay_ == Duration{} && waiting_.empty() && leaving_.empty();
    }

    struct Arrival {
        IfIndex link{};
        TimePoint since{};  // Eligible there.
    };
    /// A host without a route has become eligible, or still is: may it be announced?
    bool admits(const RouteKey& key, const Arrival& arrival, TimePoint now);
    /// It is not eligible any more, before it was announced.
    void refuse(const RouteKey& key) { waiting_.erase(key); }

    /// The host of a wished route is lost, or still is: does the route stay for now? Once a port
    /// was down, silence is its consequence. No later loss makes the time longer.
    bool keeps(const RouteKey& key, Loss loss, TimePoint now);
    /// The host is back: true if its route was only there because it was kept.
    bool regain(const RouteKey& key);
    /// The route was withdrawn: the host may turn up on another link, and is no new one there.
    void withdrawn(const RouteKey& key, IfIndex link, TimePoint now);

    /// Routes to be decided again, for their time has come.
    [[nodiscard]] std::vector<RouteKey> due(TimePoint now, std::size_t most);
    [[nodiscard]] std::optional<TimePoint> wake_at() const;

    /// Kept after a loss, in the order in which they will go.
    [[nodiscard]] std::vector<RouteKey> leaving() const { return leaving_.keys(); }
    [[nodiscard]] bool any_leaving() const { return !leaving_.empty(); }
    [[nodiscard]] const Leaving* leaving(const RouteKey& key) const { return leaving_.find(key); }
    /// When the route of a lost host goes; nullopt: it is not kept.
    [[nodiscard]] std::optional<TimePoint> leaves_at(const RouteKey& key) const;
    /// When a new host will be announced; nullopt: it does not wait.
    [[nodiscard]] std::optional<TimePoint> announced_at(const RouteKey& key) const;
    [[nodiscard]] std::size_t count_waiting() const { return waiting_.size(); }
    [[nodiscard]] std::size_t count_leaving() const { return leaving_.size(); }
    [[nodiscard]] const Counters& counters() const { return counters_; }

private:
    [[nodiscard]] Duration delay_of(Loss loss) const;

    Duration add_delay_{};
    WithdrawDelay withdraw_delay_{};
    Deadlines<RouteKey, TimePoint> waiting_;  // Eligible since.
    Deadlines<RouteKey, Leaving> leaving_;
    Deadlines<RouteKey, IfIndex> departed_;  // From which link, for as long as that matters.
    Counters counters_;
};

}  // namespace planed
