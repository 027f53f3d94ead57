// SPDX-License-Identifier: Apache-2.0
// Joins the engine, statedb::Mirror and the connection to Redis. The engine's turn comes first:
// this takes what has changed once the turn's routes are out, and sends a bounded part of it. What
// is shown of EVPN it asks for, from whoever has it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "config/config.hpp"
#include "core/engine.hpp"
#include "io/redis_client.hpp"
#include "statedb/mirror.hpp"
#include "telemetry/note.hpp"

namespace planed {

struct StateMirrorOptions {
    std::string version{};
    std::string host_name{};
    std::function<void()> request_turn;
    std::function<void(const Note&)> log;
    std::function<void(bool)> keep_changes{};  // Unset: nobody else reads the engine's changes.
    /// All of EVPN's rows, as they are now. Asked for when a mirror begins, then after
    /// evpn_changed(), within a turn and at most four times a second. Unset: there are none.
    std::function<statedb::EvpnRows()> evpn_rows{};
};

class StateMirror {
public:
    StateMirror(boost::asio::io_context& loop, Engine& engine, StateMirrorOptions options);

    /// Begins, moves or ends the mirror; what is as it was goes on undisturbed.
    void configure(const RedisConfig& config);
    /// At the end of a turn, with what it has changed.
    void turn(const Changes& changes, TimePoint now);
    /// The same for who shares the engine's changes with nobody.
    void turn(TimePoint now) { turn(mirror_ ? engine_.take_changes() : Changes{}, now); }
    /// EVPN's rows may have changed. Costs next to nothing, however often it is said; of those that
    /// come before the rows are asked for, only the first requests a turn.
    void evpn_changed();
    /// All rows of CONFIG_DB that are refused now.
    void show(std::vector<statedb::ConfigRow> refused);
    [[nodiscard]] std::optional<TimePoint> wake_at();

    // An operator's audit of the rows; a turn after this.
    void begin_audit();
    void end_audit();
    /// They have been read, or cannot be.
    [[nodiscard]] bool audit_is_done() const;
    void add_to(AuditReport& report) const;
    void add_to(AuditCounters& counters) const;

    // How much there is, and how much of it waits; zero without Redis.
    [[nodiscard]] std::size_t rows() const { return mirror_ ? mirror_->rows() : 0; }
    [[nodiscard]] std::size_t rows_queued() const { return mirror_ ? mirror_->queued() : 0; }
    [[nodiscard]] std::size_t unanswered() const { return client_ ? client_->under_way() : 0; }

private:
    void begin();
    void end_mirror();
    void begin_mirror(const std::string& separator);
    io::RedisCallbacks callbacks();
    void connected(const io::RedisPlace& place);
    void keep_changes(bool keep);
    void follow_wall_clock(TimePoint now);
    void send(TimePoint now);
    void tell_trouble(TimePoint now);

    boost::asio::io_context& loop_;
    Engine& engine_;
    StateMirrorOptions options_;
    RedisConfig config_{.endpoint = "off"};
    std::optional<statedb::Mirror> mirror_;
    std::string separator_;
    std::unique_ptr<io::RedisClient> client_;
    std::vector<statedb::ConfigRow> refused_;
    std::string trouble_;  // As the engine was told.
    bool auditing_ = false;
    AuditCounters audited_;  // By mirrors that are no more.
    std::chrono::microseconds wall_{};
    TimePoint wall_checked_{};
};

}  // namespace planed
