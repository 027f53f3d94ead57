// SPDX-License-Identifier: Apache-2.0
// The audits of the engine's tables: which reads an operator waits for, what they found, and what
// only looked like a difference. Heals nothing: whoever reads a table does that, audit or not.
//
// Of the kernel's facts a dump's row may be ahead of its notification, which waits in another
// socket: what a dump shows to be otherwise is a candidate, and a difference only if no
// notification has named it until a while after the dump (limits::kAuditGrace and the like).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <absl/container/btree_map.h>

#include "core/audit.hpp"
#include "core/facts.hpp"
#include "core/input.hpp"
#include "net/ip_prefix.hpp"
#include "net/time.hpp"

namespace planed {

AuditTable audit_table(DumpKind kind);

class Audits {
public:
    /// What a candidate is about.
    using Key = std::variant<IfIndex, std::pair<IfIndex, IpPrefix>, NeighborKey, FdbKey>;

    // An operator's audit. One at a time: another one begins anew.
    void begin();
    void end();
    /// Somebody waits for words: whoever finds a difference makes them.
    [[nodiscard]] bool is_collecting() const { return collecting_; }
    /// Every table has been read since begin(), and its candidates are judged.
    [[nodiscard]] bool is_done() const;
    /// Differences stand in no order.
    [[nodiscard]] AuditReport report() const;
    /// The same for one who is the last to ask: there may be many.
    [[nodiscard]] AuditReport take_report();

    // Reads.
    /// It is to be read, and has not been asked for yet.
    [[nodiscard]] bool wants(AuditTable table) const;
    void asked(AuditTable table) { state(table).stage = Stage::Asked; }
    /// A read begins. `compares`: it is not the first one, which only shows what there is.
    void read_begins(AuditTable table, bool compares, TimePoint now);
    void entry_read(AuditTable table) { ++state(table).entries; }
    [[nodiscard]] bool is_reading(AuditTable table) const { return state(table).reading; }
    /// `complete` false: it will be read again, and that counts.
    void read_ends(AuditTable table, bool complete, TimePoint now);
    /// It cannot be read.
    void cannot_read(AuditTable table, std::string trouble, std::string_view action);

    // What reads find.
    /// Of this read something may be said.
    [[nodiscard]] bool compares(AuditTable table) const { return state(table).compares; }
    void found(AuditTable table, std::size_t count = 1) {
        counters_.differences[static_cast<std::size_t>(table)] += count;
    }
    /// The words of one that was counted, where is_collecting().
    void tell(Difference difference);
    /// It may be one; words where is_collecting().
    void suspect(const Key& key, std::optional<Difference> difference);
    /// A notification has named it.
    void explained(const Key& key) {
        if (!candidates_.empty()) {
            candidates_.erase(key);
        }
    }
    /// Candidates that nothing has explained in time are differences. `all_read`: no notification
    /// waits unread.
    void judge(bool all_read, TimePoint now);

    [[nodiscard]] std::optional<TimePoint> wake_at() const;
    [[nodiscard]] const AuditCounters& counters() const { return counters_; }

private:
    enum class Stage : std::uint8_t { Idle, Wanted, Asked, Reading, Read };
    struct State {
        Stage stage = Stage::Idle;
        bool reading = false;   // Asked for by an operator or not.
        bool compares = false;  // The read that goes on, or was the last.
        std::optional<TimePoint> began{};
        std::uint64_t entries = 0;
        std::optional<TimePoint> judged_at{};  // Its candidates.
        std::string trouble{};
        std::string_view action{};
    };

    [[nodiscard]] const State& state(AuditTable table) const {
        return states_[static_cast<std::size_t>(table)];
    }
    State& state(AuditTable table) { return states_[static_cast<std::size_t>(table)]; }

    std::array<State, kAuditTables> states_{};  // Rows are others' business.
    bool collecting_ = false;
    absl::btree_map<Key, std::optional<Difference>> candidates_;
    std::vector<Difference> differences_;
    std::uint64_t left_out_ = 0;
    AuditCounters counters_;
};

}  // namespace planed
