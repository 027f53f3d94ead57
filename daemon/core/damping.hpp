// SPDX-License-Identifier: Apache-2.0
// Hosts that come and go: how often each was withdrawn of late, and until when its route is held
// back for it. Data with deadlines; never decides what is a flap, and keeps nothing of a host that
// has been quiet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "config/config.hpp"
#include "core/deadlines.hpp"
#include "core/route.hpp"
#include "net/time.hpp"

namespace planed {

class Damping {
public:
    struct Held {
        TimePoint until{};
        std::uint32_t flaps = 0;  // Within the window, when it was last held.
        Duration hold{};          // How long it is held this time.
        bool operator==(const Held&) const = default;
    };
    struct Counters {
        std::uint64_t flaps = 0;    // Withdrawals that count as one.
        std::uint64_t held = 0;     // Times that a host was held back, or for longer.
        std::uint64_t refused = 0;  // Flaps that the full table had no room for.
        bool operator==(const Counters&) const = default;
    };

    /// max_flaps 0 forgets everything and releases everybody. Who is held stays so until its time;
    /// a new window or hold counts from the next flap on.
    void configure(const DampingConfig& config);
    /// No host has flapped of late: nobody is held.
    [[nodiscard]] bool idle() const { return histories_.empty(); }
    [[nodiscard]] bool is_on() const { return config_.max_flaps > 0; }

    /// It was withdrawn, or while it is held, lost. True: it is held from now on, or for longer.
    bool flapped(const RouteKey& key, TimePoint now);
    [[nodiscard]] std::optional<Held> held(const RouteKey& key, TimePoint now) const;

    /// Hosts whose time is over, or whose history is; each is to be passed on to expire().
    [[nodiscard]] std::vector<RouteKey> due(TimePoint now, std::size_t most) const {
        return histories_.due(now, most);
    }
    /// True: the host was held until now, and its route is to be decided again.
    bool expire(const RouteKey& key, TimePoint now);
    [[nodiscard]] std::optional<TimePoint> wake_at() const { return histories_.next(); }

    [[nodiscard]] std::size_t size() const { return histories_.size(); }
    [[nodiscard]] std::size_t count_held() const { return held_; }
    [[nodiscard]] const Counters& counters() const { return counters_; }

private:
    struct History {
        std::vector<TimePoint> flaps{};    // Within the window, in order; max_flaps at most.
        std::uint8_t level = 0;            // The next hold is so many times doubled.
        std::optional<TimePoint> until{};  // Held until then.
        Duration hold{};
    };

    void keep(const RouteKey& key, History history, TimePoint now);

    DampingConfig config_{};
    Deadlines<RouteKey, History> histories_;
    std::size_t held_ = 0;
    Counters counters_;
};

}  // namespace planed
