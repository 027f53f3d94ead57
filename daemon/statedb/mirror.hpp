// SPDX-License-Identifier: Apache-2.0
// The engine's state, and EVPN's, as rows of a database, and what has to be written so that the
// database shows them. Knows no Redis command, does no I/O, reads no clock. Order of calls in a
// turn: take() what has changed, settle(), then next() until it has nothing more or the connection
// has no room.
//
// A database that refuses (full, read-only) is tried twice a second with one row; meanwhile wishes
// change and nothing is queued but the names of rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>

#include "core/reconciler.hpp"
#include "core/snapshot.hpp"
#include "net/time.hpp"
#include "statedb/row_audit.hpp"
#include "statedb/schema.hpp"

namespace planed::statedb {

/// Write a whole row. `replace`: what stands there may be of another type or have other fields.
struct PutRow {
    std::uint64_t id = 0;  // Comes back in answered().
    std::string key{};
    Fields fields{};
    bool replace = false;
    bool operator==(const PutRow&) const = default;
};
struct DropRow {
    std::uint64_t id = 0;
    std::string key{};
    bool operator==(const DropRow&) const = default;
};
/// Read every row of ours. Answered by row_seen() for each, then read_back_finished().
struct ReadBack {
    bool operator==(const ReadBack&) const = default;
};
/// Read this one row. Answered by heartbeat_seen() or heartbeat_refused().
struct ReadRow {
    std::string key{};
    bool operator==(const ReadRow&) const = default;
};
using MirrorOp = std::variant<PutRow, DropRow, ReadBack, ReadRow>;

enum class Answer : std::uint8_t {
    Done,
    Created,    // Done, and the row, or a field of it, was not there before. Not said of a
                // replacement.
    Refused,    // By the database as such: full, read-only, no right.
    WrongType,  // The key holds something that is no row.
};

struct MirrorOptions {
    std::string separator = "|";
    std::string version{};
    std::string host_name{};                  // Shown where the configuration names no node.
    std::size_t planned_per_turn_max = 1024;  // About 3 ms.
    std::size_t in_flight_max = 1024;
    Duration slow_rows_every = 250ms;  // Those that count: global, interfaces, EVPN's; CONFIG_DB's.
    Duration heartbeat = 250ms;        // How often the global row is read.
    Duration second_read_back = 2s;    // After a connection began.
    Duration audit_interval = 60s;
    Duration read_back_spacing = 500ms;
    Duration refused_retry = 500ms;
    Duration hold_puts = 500ms;  // The first read-back may take so long before rows are written.
};

class Mirror {
public:
    explicit Mirror(MirrorOptions options);

    // What there is to show.
    void take(const Changes& changes);
    /// EVPN's rows may be others than were taken last. False: that was known.
    bool evpn_changed() { return !std::exchange(evpn_changed_, true); }
    /// They are to be taken now: the slow rows may be written, and these have not been asked for
    /// just before.
    [[nodiscard]] bool evpn_rows_due(TimePoint now) const;
    /// All of them; what is not among them any more is gone.
    void take(const EvpnRows& rows, TimePoint now);
    /// All rows of CONFIG_DB that are refused now.
    void take(const std::vector<ConfigRow>& refused);
    void rebuild() { rebuild_ = true; }
    void set_wall(WallOffset wall);  // Rows with times are written again.
    void settle(const EngineView& view, TimePoint now);

    // The database.
    void up(TimePoint now);
    void lost();
    [[nodiscard]] std::optional<MirrorOp> next(const EngineView& view, TimePoint now);
    void answered(std::uint64_t id,
                  const std::string& key,
                  Answer answer,
                  std::string_view words,
                  TimePoint now);
    /// A row of a read-back: name, value, name, value…
    void row_seen(const std::string& key,
                  std::span<const std::string_view> names_and_values,
                  TimePoint now);
    /// A key of ours that holds no row at all.
    void row_of_wrong_type(const std::string& key, TimePoint now);
    /// What ReadRow has found; empty: nothing.
    void heartbeat_seen(std::span<const std::string_view> names_and_values, TimePoint now);
    /// ReadRow was not answered with a row.
    void heartbeat_refused();
    void read_back_finished(bool complete, TimePoint now);

    // An operator's audit: the rows are read anew, and what is not as wanted is kept in words.
    void begin_audit() { audit_.begin(); }
    void end_audit() { audit_.end(); }
    [[nodiscard]] const RowAudit& audit() const { return audit_; }

    /// When settle() or next() will have something to do, by time alone. `has_room`: next() would
    /// be asked.
    [[nodiscard]] std::optional<TimePoint> wake_at(bool has_room);
    /// What the database says when it refuses; empty when it takes what we write.
    [[nodiscard]] const std::string& refusal() const { return refusal_; }
    /// What was wanted when the connection began is there, and nothing else of ours.
    [[nodiscard]] bool in_step() const { return in_step_; }
    [[nodiscard]] std::size_t rows() const { return rows_.size(); }
    [[nodiscard]] std::size_t queued() const { return rows_.queued(); }
    /// For readers and tests: (key, state), in order.
    template <class Visit>
    void for_each(Visit visit) const {
        rows_.for_each(
            [&](const std::string& key, const auto&, SinkState state) { visit(key, state); });
    }

private:
    struct Wish {
        std::uint64_t digest = 0;
        Object object{};
        // What a row is about does not show in the database.
        bool operator==(const Wish& other) const { return digest == other.digest; }
    };
    using Rows = Reconciler<std::string, Wish>;
    struct Shown {
        std::string key{};
        TimePoint since{};     // Routes: of the state.
        SinkState state{};     // Routes.
        bool counted = false;  // Among the living hosts, or the routes in zebra.
    };
    struct Rendered {
        std::string key;
        Fields fields;
    };

    void refill(const EngineView& view);
    void refresh(const Object& object, const EngineView& view, TimePoint now);
    void refresh_host(const Object& object, const EngineView& view);
    void refresh_route(const Object& object, const EngineView& view, TimePoint now);
    void refresh_proxy(const Object& object, const EngineView& view);
    void refresh_slow_rows(const EngineView& view, TimePoint now);
    [[nodiscard]] bool slow_object_exists(const Object& object, const EngineView& view) const;
    void show_slow(const Object& object, std::string key, Fields fields);
    void show(const Object& object, Shown& shown, std::string key, const Fields& fields);
    void hide(const Object& object);
    void count(const Object& object, Shown& shown, bool counted);
    [[nodiscard]] std::optional<Rendered> render(const Object& object,
                                                 const EngineView& view,
                                                 const Shown& shown) const;
    void release(const Object& object, const std::string& key);
    void compare(const std::string& key,
                 std::optional<Wish> actual,
                 std::span<const std::string_view> names_and_values);
    void describe_found(const EngineView& view);
    [[nodiscard]] Difference words_of(const RowAudit::Found& found, const EngineView& view) const;
    [[nodiscard]] bool read_back_due(TimePoint now) const;
    [[nodiscard]] bool puts_may_go(TimePoint now) const;
    [[nodiscard]] std::optional<Rows::Op> next_row(TimePoint now);
    [[nodiscard]] std::optional<MirrorOp> carry(const Rows::Op& op,
                                                const EngineView& view,
                                                TimePoint now);

    MirrorOptions options_;
    std::string global_key_;
    Rows rows_;
    WallOffset wall_{};

    absl::btree_map<Object, Shown> shown_;
    absl::btree_map<Object, Fields> slow_rows_;  // As they were last computed.
    absl::btree_map<Object, SegmentRow> segments_;
    absl::btree_map<Object, EvpnPeerRow> evpn_peers_;
    absl::btree_map<Object, ConfigRow> config_rows_;
    bool evpn_changed_ = false;  // Since they were taken.
    TimePoint evpn_not_before_{};
    absl::btree_map<IfIndex, std::size_t> hosts_on_;
    NodeCounts counts_;
    NodeView node_;
    Fields global_;         // The global row without `updated`.
    TimePoint updated_{};   // When that or any other row last changed.
    bool changed_ = false;  // A row, since the global one was computed.
    bool slow_dirty_ = true;
    TimePoint slow_not_before_{};
    TimePoint settled_at_{};

    std::vector<Object> dirty_;
    std::size_t refreshed_ = 0;  // How far dirty_ has been worked off.
    bool rebuild_ = true;
    bool filled_ = false;  // Every object has been looked at once: absence means something.

    absl::btree_set<std::string> replace_;  // Rows that were seen to be more than ours.
    bool up_ = false;
    bool reading_ = false;
    bool first_read_ = false;  // Since the connection began.
    bool read_back_wanted_ = false;
    bool heart_beating_ = false;
    bool global_row_stood_ = false;  // It was seen or written since the connection began.
    bool in_step_ = false;
    std::optional<TimePoint> puts_held_until_;
    TimePoint read_back_not_before_{};
    TimePoint audit_at_{};
    TimePoint heartbeat_at_{};

    RowAudit audit_;
    std::string refusal_;
    bool refuses_deletes_ = false;
    TimePoint try_at_{};
};

}  // namespace planed::statedb
