// SPDX-License-Identifier: Apache-2.0
// Many hosts that fall silent at once are more likely one fault of ours than the death of all of
// them. Past a share of the announced hosts their routes stay, each is asked anew, and those that
// still do not answer go a few at a time. Counts and remembers; it never asks or withdraws itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "config/config.hpp"
#include "core/deadlines.hpp"
#include "core/facts.hpp"
#include "core/route.hpp"
#include "net/mac_address.hpp"
#include "net/time.hpp"

namespace planed {

class BlastShield {
public:
    /// A silent host whose route would go now.
    struct Lost {
        RouteKey key{};
        NeighborKey place{};  // Where it was announced.
        MacAddress mac{};     // Zero: not known, so it cannot be asked.
        bool operator==(const Lost&) const = default;
    };
    enum class Phase : std::uint8_t {
        Waits,   // To be asked.
        Asked,   // The kernel was told to ask, and has not said that it does.
        Probed,  // The kernel asks.
        Silent,  // It did not answer: its route goes when its turn comes.
    };
    struct Guarded {
        NeighborKey place{};
        MacAddress mac{};
        Phase phase = Phase::Waits;
        TimePoint since{};
        TimePoint asked{};
        bool operator==(const Guarded&) const = default;
    };
    struct Counters {
        std::uint64_t raised = 0;   // Times that the shield went up.
        std::uint64_t guarded = 0;  // Routes that stayed for it.
        std::uint64_t saved = 0;    // Of those, hosts that live.
        bool operator==(const Counters&) const = default;
    };

    void configure(const MaxWithdraw& config) { config_ = config; }
    /// Nothing is kept: no loss of this turn is undecided, and the shield is down.
    [[nodiscard]] bool idle() const { return lost_.empty() && guarded_.empty(); }
    /// A share of 100 % cannot be exceeded.
    [[nodiscard]] bool is_on() const { return config_.share_percent < 100; }
    [[nodiscard]] bool is_up() const { return !guarded_.empty(); }

    /// Losses are judged together, once a turn.
    void add(const Lost& lost) { lost_.push_back(lost); }
    [[nodiscard]] bool has_lost() const { return !lost_.empty(); }
    [[nodiscard]] std::vector<Lost> take_lost() { return std::exchange(lost_, {}); }
    /// Would so many more withdrawals, of so many announced hosts, be too many?
    [[nodiscard]] bool stops(std::size_t losses, std::size_t announced, TimePoint now);
    /// A silent host's route goes; true: by the pace at which that is allowed while the shield is
    /// up.
    [[nodiscard]] bool has_room(TimePoint now);
    void note_withdrawn(TimePoint now) { withdrawn_.push_back(now); }

    void guard(const Lost& lost, TimePoint now);
    void note_asked(const RouteKey& key, TimePoint now);
    void note_refused(const RouteKey& key);
    void note_probed(const RouteKey& key);
    void note_silent(const RouteKey& key);
    /// The host lives, or something else decides about its route.
    void release(const RouteKey& key, bool lives);
    [[nodiscard]] const Guarded* find(const RouteKey& key) const { return guarded_.find(key); }

    /// Guarded hosts whose patience is over.
    [[nodiscard]] std::vector<RouteKey> due(TimePoint now, std::size_t most) const {
        return guarded_.due(now, most);
    }
    /// The silent one that has waited longest.
    [[nodiscard]] std::optional<RouteKey> next_silent() const;
    [[nodiscard]] std::optional<TimePoint> wake_at() const;

    [[nodiscard]] std::vector<RouteKey> guarded() const { return guarded_.keys(); }
    [[nodiscard]] std::size_t count_guarded() const { return guarded_.size(); }
    [[nodiscard]] const Counters& counters() const { return counters_; }

private:
    void prune(TimePoint now);

    MaxWithdraw config_{};
    std::vector<Lost> lost_;
    std::deque<TimePoint> withdrawn_;  // Silent hosts' routes, within the window.
    Deadlines<RouteKey, Guarded> guarded_;
    std::deque<RouteKey> silent_;  // In order; one that was released meanwhile is skipped.
    Counters counters_;
};

}  // namespace planed
