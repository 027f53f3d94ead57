// SPDX-License-Identifier: Apache-2.0
#include "core/audits.hpp"

#include <algorithm>
#include <utility>

#include "core/limits.hpp"

namespace planed {
namespace {

constexpr std::size_t kEngineTables = kAuditTables - 1;  // All but the rows.

// So long a notification may come after what it tells shows in a dump.
Duration grace_of(AuditTable table) {
    switch (table) {
        case AuditTable::Links: return limits::kAuditGraceLinks;
        case AuditTable::Addresses: return limits::kAuditGraceAddresses;
        case AuditTable::Neighbors:
        case AuditTable::Forwarding:
        case AuditTable::Proxies:
        case AuditTable::Settings:
        case AuditTable::Routes:
        case AuditTable::Rows: break;
    }
    return limits::kAuditGrace;
}

struct TableOf {
    AuditTable operator()(IfIndex /*link*/) const { return AuditTable::Links; }
    AuditTable operator()(const std::pair<IfIndex, IpPrefix>& /*address*/) const {
        return AuditTable::Addresses;
    }
    AuditTable operator()(const NeighborKey& /*neighbor*/) const { return AuditTable::Neighbors; }
    AuditTable operator()(const FdbKey& /*entry*/) const { return AuditTable::Forwarding; }
};

}  // namespace

std::string_view word(AuditTable table) {
    switch (table) {
        case AuditTable::Links: return "links";
        case AuditTable::Addresses: return "addresses";
        case AuditTable::Neighbors: return "neighbors";
        case AuditTable::Forwarding: return "forwarding";
        case AuditTable::Proxies: return "proxies";
        case AuditTable::Settings: return "settings";
        case AuditTable::Routes: return "routes";
        case AuditTable::Rows: return "rows";
    }
    return "unknown";
}

std::string_view entry_word(AuditTable table) {
    switch (table) {
        case AuditTable::Links: return "link";
        case AuditTable::Addresses: return "address";
        case AuditTable::Neighbors: return "neighbor";
        case AuditTable::Forwarding: return "forwarding";
        case AuditTable::Proxies: return "proxy";
        case AuditTable::Settings: return "setting";
        case AuditTable::Routes: return "route";
        case AuditTable::Rows: return "row";
    }
    return "unknown";
}

std::string_view place_of(AuditTable table) {
    switch (table) {
        case AuditTable::Links:
        case AuditTable::Addresses:
        case AuditTable::Neighbors:
        case AuditTable::Forwarding:
        case AuditTable::Proxies:
        case AuditTable::Settings: return "kernel";
        case AuditTable::Routes: return "zebra";
        case AuditTable::Rows: return "redis";
    }
    return "unknown";
}

AuditTable audit_table(DumpKind kind) {
    switch (kind) {
        case DumpKind::Links: return AuditTable::Links;
        case DumpKind::Addresses: return AuditTable::Addresses;
        case DumpKind::Neighbors: return AuditTable::Neighbors;
        case DumpKind::Fdb: return AuditTable::Forwarding;
        case DumpKind::Proxies: return AuditTable::Proxies;
    }
    return AuditTable::Links;
}

// An operator's audit -----------------------------------------------------------------------------

void Audits::begin() {
    end();
    collecting_ = true;
    ++counters_.audits;
    for (std::size_t i = 0; i < kEngineTables; ++i) {
        states_[i].stage = Stage::Wanted;
        states_[i].began.reset();
        states_[i].entries = 0;
    }
}

void Audits::end() {
    collecting_ = false;
    for (State& state : states_) {
        state.stage = Stage::Idle;
        state.trouble.clear();
    }
    differences_ = {};
    left_out_ = 0;
}

bool Audits::is_done() const {
    return std::all_of(states_.begin(), states_.begin() + kEngineTables, [](const State& state) {
        return state.stage == Stage::Read && !state.judged_at;
    });
}

AuditReport Audits::take_report() {
    std::vector<Difference> differences = std::exchange(differences_, {});
    AuditReport all = report();
    all.differences = std::move(differences);
    return all;
}

AuditReport Audits::report() const {
    AuditReport report{.differences = differences_, .left_out = left_out_};
    for (std::size_t i = 0; i < kEngineTables; ++i) {
        const State& state = states_[i];
        const bool read = state.stage == Stage::Read && state.trouble.empty();
        AuditedTable table{.table = static_cast<AuditTable>(i),
                           .began = read ? state.began : std::nullopt,
                           .entries = read ? state.entries : 0,
                           .trouble = state.trouble,
                           .action = state.action};
        if (!read && table.trouble.empty()) {
            table.trouble = "not read in time";
            table.action = "read again";
        }
        report.tables.push_back(std::move(table));
    }
    return report;
}

// Reads -------------------------------------------------------------------------------------------

bool Audits::wants(AuditTable table) const {
    return state(table).stage == Stage::Wanted;
}

void Audits::read_begins(AuditTable table, bool compares, TimePoint now) {
    State& read = state(table);
    read.reading = true;
    read.compares = compares;
    if (read.stage == Stage::Asked || read.stage == Stage::Reading) {
        read.stage = Stage::Reading;
        read.began = now;
        read.entries = 0;
    }
}

void Audits::read_ends(AuditTable table, bool complete, TimePoint now) {
    State& read = state(table);
    read.reading = false;
    const auto concerns = [table](const auto& candidate) {
        return std::visit(TableOf{}, candidate.first) == table;
    };
    if (std::any_of(candidates_.begin(), candidates_.end(), concerns)) {
        read.judged_at = now + grace_of(table);
    }
    if (!complete) {
        return;
    }
    counters_.reads += read.compares ? 1U : 0U;
    if (read.stage == Stage::Reading) {
        // What was read for the first time is compared by the next read.
        read.stage = read.compares ? Stage::Read : Stage::Wanted;
    }
}

void Audits::cannot_read(AuditTable table, std::string trouble, std::string_view action) {
    State& read = state(table);
    if (read.stage == Stage::Idle || read.stage == Stage::Read) {
        return;
    }
    read.stage = Stage::Read;
    read.trouble = std::move(trouble);
    read.action = action;
}

// What they find ----------------------------------------------------------------------------------

void Audits::tell(Difference difference) {
    if (!collecting_) {
        return;
    }
    if (differences_.size() >= limits::kDifferencesMax) {
        ++left_out_;
        return;
    }
    differences_.push_back(std::move(difference));
}

void Audits::suspect(const Key& key, std::optional<Difference> difference) {
    if (candidates_.size() < limits::kDifferencesMax) {
        candidates_.try_emplace(key, std::move(difference));
    } else {
        found(std::visit(TableOf{}, key));
        left_out_ += difference ? 1U : 0U;
    }
}

void Audits::judge(bool all_read, TimePoint now) {
    for (std::size_t i = 0; i < kEngineTables; ++i) {
        State& state = states_[i];
        if (!state.judged_at || *state.judged_at > now) {
            continue;
        }
        const auto table = static_cast<AuditTable>(i);
        if (!all_read) {
            state.judged_at = now + grace_of(table);
            continue;
        }
        state.judged_at.reset();
        for (auto at = candidates_.begin(); at != candidates_.end();) {
            if (std::visit(TableOf{}, at->first) != table) {
                ++at;
                continue;
            }
            found(table);
            if (at->second) {
                tell(std::move(*at->second));
            }
            at = candidates_.erase(at);
        }
    }
}

std::optional<TimePoint> Audits::wake_at() const {
    std::optional<TimePoint> at;
    for (const State& state : states_) {
        if (state.judged_at) {
            at = at ? std::min(*at, *state.judged_at) : *state.judged_at;
        }
    }
    return at;
}

}  // namespace planed
