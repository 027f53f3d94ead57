// SPDX-License-Identifier: Apache-2.0
// When is which kernel table to be read whole? At the start, after a loss, as an audit every
// minute; a failed or interrupted dump again after a growing pause. Never two dumps of one table at
// once.
#pragma once

#include <array>
#include <optional>

#include "core/input.hpp"
#include "net/time.hpp"

namespace planed {

class DumpSchedule {
public:
    /// Read this table as soon as spacing allows, again if it is being read right now.
    void request(DumpKind kind);
    void started(DumpKind kind);
    /// `conclusive`: complete, and no event of this table was lost meanwhile.
    void finished(DumpKind kind, bool complete, bool conclusive, TimePoint now);

    /// The next dump to ask for, if one is due.
    std::optional<DumpKind> poll(TimePoint now);
    [[nodiscard]] std::optional<TimePoint> wake_at() const;

    /// Has this table been read whole once, with every event of that time?
    [[nodiscard]] bool synced(DumpKind kind) const { return state(kind).synced; }
    [[nodiscard]] bool all_synced() const;  // Of those that hosts are judged by.
    [[nodiscard]] bool running(DumpKind kind) const { return state(kind).running; }
    /// Asked for again since the last dump of it began.
    [[nodiscard]] bool requested(DumpKind kind) const { return state(kind).wanted; }

private:
    struct State {
        bool wanted = false;
        bool running = false;
        bool synced = false;
        TimePoint not_before{};
        Duration pause{};  // Of the last failure; zero after a success.
        std::optional<TimePoint> audit_at;
    };

    [[nodiscard]] const State& state(DumpKind kind) const {
        return states_[static_cast<std::size_t>(kind)];
    }
    State& state(DumpKind kind) { return states_[static_cast<std::size_t>(kind)]; }

    std::array<State, kDumpKinds> states_{};
};

}  // namespace planed
