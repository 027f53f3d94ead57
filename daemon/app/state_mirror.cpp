// SPDX-License-Identifier: Apache-2.0
#include "app/state_mirror.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "core/snapshot.hpp"
#include "io/clock.hpp"

namespace planed {
namespace {

// About a millisecond; the rest goes with the next turn.
constexpr std::size_t kSentPerTurnMax = 256;
// The clock was set, and not just read a moment later than the other one.
constexpr Duration kClockStep = 100ms;
constexpr Duration kClockCheck = 1s;

}  // namespace

StateMirror::StateMirror(boost::asio::io_context& loop, Engine& engine, StateMirrorOptions options)
    : loop_(loop), engine_(engine), options_(std::move(options)) {}

void StateMirror::configure(const RedisConfig& config) {
    if (config.endpoint == config_.endpoint && config.database_config == config_.database_config) {
        return;
    }
    config_ = config;
    client_.reset();
    end_mirror();
    keep_changes(false);
    if (config_.endpoint != "off") {
        begin();
    }
}

void StateMirror::begin() {
    client_ = std::make_unique<io::RedisClient>(
        loop_,
        io::RedisClientOptions{.config = config_, .name_space = io::sonic_namespace()},
        callbacks());
    client_->start();
}

void StateMirror::begin_mirror(const std::string& separator) {
    separator_ = separator;
    end_mirror();
    mirror_.emplace(statedb::MirrorOptions{
        .separator = separator, .version = options_.version, .host_name = options_.host_name});
    wall_ = io::wall_offset();
    mirror_->set_wall(wall_);
    mirror_->take(refused_);
    evpn_changed();
    keep_changes(true);
    if (auditing_) {
        mirror_->begin_audit();
    }
}

void StateMirror::end_mirror() {
    add_to(audited_);
    mirror_.reset();
}

void StateMirror::keep_changes(bool keep) {
    if (options_.keep_changes) {
        options_.keep_changes(keep);
    } else {
        engine_.keep_changes(keep);
    }
}

io::RedisCallbacks StateMirror::callbacks() {
    return {
        .on_up = [this](const io::RedisPlace& place) { connected(place); },
        .on_down =
            [this] {
                if (mirror_) {
                    mirror_->lost();
                }
                options_.request_turn();
            },
        .on_answer =
            [this](std::uint64_t id,
                   const std::string& key,
                   statedb::Answer answer,
                   std::string_view words) {
                mirror_->answered(id, key, answer, words, io::now());
            },
        .on_row =
            [this](const std::string& key, std::span<const std::string_view> row) {
                mirror_->row_seen(key, row, io::now());
            },
        .on_wrong_type =
            [this](const std::string& key) { mirror_->row_of_wrong_type(key, io::now()); },
        .on_read_back = [this](bool complete) { mirror_->read_back_finished(complete, io::now()); },
        .on_heartbeat =
            [this](std::span<const std::string_view> row) {
                mirror_->heartbeat_seen(row, io::now());
            },
        .on_heartbeat_refused = [this] { mirror_->heartbeat_refused(); },
        .on_progress = [this] { options_.request_turn(); },
    };
}

void StateMirror::connected(const io::RedisPlace& place) {
    options_.log({.level = Level::Info,
                  .id = "redis.up",
                  .text = fmt::format("at={} database={}", io::to_string(place), place.database)});
    // A leaf without Redis does not pay for one.
    if (!mirror_ || place.separator != separator_) {
        begin_mirror(place.separator);
    }
    mirror_->up(io::now());
    options_.request_turn();
}

// The turn ----------------------------------------------------------------------------------------

void StateMirror::turn(const Changes& changes, TimePoint now) {
    if (mirror_) {
        follow_wall_clock(now);
        mirror_->take(changes);
        if (mirror_->evpn_rows_due(now)) {
            mirror_->take(options_.evpn_rows(), now);
        }
        mirror_->settle(EngineView(engine_), now);
        send(now);
    }
    tell_trouble(now);
}

void StateMirror::evpn_changed() {
    if (mirror_ && options_.evpn_rows && mirror_->evpn_changed()) {
        options_.request_turn();
    }
}

void StateMirror::show(std::vector<statedb::ConfigRow> refused) {
    refused_ = std::move(refused);
    if (mirror_) {
        mirror_->take(refused_);
        options_.request_turn();
    }
}

void StateMirror::follow_wall_clock(TimePoint now) {
    if (now < wall_checked_ + kClockCheck) {
        return;
    }
    wall_checked_ = now;
    const auto wall = io::wall_offset();
    if (std::chrono::abs(wall - wall_) > kClockStep) {
        wall_ = wall;
        mirror_->set_wall(wall);
    }
}

void StateMirror::send(TimePoint now) {
    const EngineView view(engine_);
    std::size_t sent = 0;
    while (client_->has_room()) {
        if (sent == kSentPerTurnMax) {
            options_.request_turn();
            return;
        }
        const auto op = mirror_->next(view, now);
        if (!op) {
            return;
        }
        client_->carry_out(*op);
        ++sent;
    }
}

// Audits ------------------------------------------------------------------------------------------

void StateMirror::begin_audit() {
    auditing_ = true;
    if (mirror_) {
        mirror_->begin_audit();
    }
}

void StateMirror::end_audit() {
    auditing_ = false;
    if (mirror_) {
        mirror_->end_audit();
    }
}

bool StateMirror::audit_is_done() const {
    return !client_ || !trouble_.empty() || (mirror_ && mirror_->audit().is_done());
}

void StateMirror::add_to(AuditReport& report) const {
    AuditedTable table{.table = AuditTable::Rows, .wanted = client_ != nullptr};
    if (!trouble_.empty()) {
        table.trouble = trouble_;
        table.action = "tried again";
    } else if (mirror_) {
        const statedb::RowAudit& audit = mirror_->audit();
        table = audit.table();
        const auto& found = audit.differences();
        report.differences.insert(report.differences.end(), found.begin(), found.end());
        report.left_out += audit.left_out();
    } else if (client_) {
        table.trouble = "not connected";
        table.action = "connects again";
    }
    report.tables.push_back(std::move(table));
}

void StateMirror::add_to(AuditCounters& counters) const {
    constexpr auto kRows = static_cast<std::size_t>(AuditTable::Rows);
    if (&counters != &audited_) {
        counters.reads += audited_.reads;
        counters.differences[kRows] += audited_.differences[kRows];
    }
    if (mirror_) {
        counters.reads += mirror_->audit().reads();
        counters.differences[kRows] += mirror_->audit().total();
    }
}

/// What ails the mirror stays until the rows are right again, not only until somebody answers.
void StateMirror::tell_trouble(TimePoint now) {
    std::string trouble;
    if (client_) {
        trouble = client_->trouble();
        if (trouble.empty() && mirror_ && !mirror_->refusal().empty()) {
            trouble = fmt::format("Redis refuses what is written: {}", mirror_->refusal());
        }
        if (trouble.empty() && mirror_ && !mirror_->in_step()) {
            trouble = trouble_;
        }
    }
    if (trouble != trouble_) {
        trouble_ = trouble;
        engine_.handle(MirrorSeen{.trouble = std::move(trouble)}, now);
        options_.request_turn();
    }
}

std::optional<TimePoint> StateMirror::wake_at() {
    return mirror_ ? mirror_->wake_at(client_->has_room()) : std::nullopt;
}

}  // namespace planed
