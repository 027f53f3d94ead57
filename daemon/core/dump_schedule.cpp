// SPDX-License-Identifier: Apache-2.0
#include "core/dump_schedule.hpp"

#include <algorithm>

#include "core/limits.hpp"

namespace planed {

void DumpSchedule::request(DumpKind kind) {
    state(kind).wanted = true;
}

void DumpSchedule::started(DumpKind kind) {
    state(kind).running = true;
}

void DumpSchedule::finished(DumpKind kind, bool complete, bool conclusive, TimePoint now) {
    State& dump = state(kind);
    dump.running = false;
    dump.audit_at = now + limits::kAuditInterval;
    if (complete) {
        dump.synced = dump.synced || conclusive;
        dump.pause = Duration::zero();
        dump.not_before = now + limits::kDumpSpacing;
        return;
    }
    dump.wanted = true;
    dump.pause = std::clamp(dump.pause * 2, limits::kDumpRetryFirst, limits::kDumpRetryMax);
    dump.not_before = now + dump.pause;
}

std::optional<DumpKind> DumpSchedule::poll(TimePoint now) {
    for (std::size_t i = 0; i < kDumpKinds; ++i) {
        State& dump = states_[i];
        const bool audit = dump.audit_at && *dump.audit_at <= now;
        if (!dump.running && (dump.wanted || audit) && dump.not_before <= now) {
            dump.wanted = false;
            dump.running = true;
            dump.audit_at.reset();
            return static_cast<DumpKind>(i);
        }
    }
    return std::nullopt;
}

std::optional<TimePoint> DumpSchedule::wake_at() const {
    std::optional<TimePoint> at;
    for (const State& dump : states_) {
        if (dump.running || (!dump.wanted && !dump.audit_at)) {
            continue;
        }
        const TimePoint due =
            dump.wanted ? dump.not_before : std::max(*dump.audit_at, dump.not_before);
        at = at ? std::min(*at, due) : due;
    }
    return at;
}

bool DumpSchedule::all_synced() const {
    return std::all_of(states_.begin(), states_.begin() + kFactDumps, [](const State& dump) {
        return dump.synced;
    });
}

}  // namespace planed
