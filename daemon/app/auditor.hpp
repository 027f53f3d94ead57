// SPDX-License-Identifier: Apache-2.0
// Operators' audits: has the engine and the mirror read everything anew, waits for both, and hands
// out what they have found. One audit at a time. Who asks while one goes on waits for the next,
// together with all others who do: nobody is told what was read before he asked.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/audit.hpp"
#include "core/engine.hpp"
#include "net/time.hpp"

namespace planed {

struct AuditorHooks {
    std::function<void()> request_turn;
    // The rows in Redis, see StateMirror.
    std::function<void()> begin_rows;
    std::function<void()> end_rows;
    std::function<bool()> rows_are_read;
    std::function<void(AuditReport&)> add_rows;
};

class Auditor {
public:
    using Ready = std::function<void(std::shared_ptr<const AuditReport>)>;
    static constexpr std::size_t kWaitingMax = 64;

    Auditor(Engine& engine, AuditorHooks hooks);

    /// `ready` is called within turn(), by `until` with what has been read by then. False: too many
    /// wait already.
    bool ask(TimePoint until, Ready ready);
    /// At the end of a turn.
    void turn(TimePoint now);
    [[nodiscard]] std::optional<TimePoint> wake_at() const;

private:
    struct Waiting {
        TimePoint until{};
        Ready ready;
    };

    void begin(TimePoint now);
    void answer(bool all, TimePoint now);
    void end(TimePoint now);
    [[nodiscard]] std::shared_ptr<const AuditReport> report();

    Engine& engine_;
    AuditorHooks hooks_;
    std::vector<Waiting> waiting_;  // For the audit that goes on; none: none does.
    std::vector<Waiting> next_;
};

}  // namespace planed
