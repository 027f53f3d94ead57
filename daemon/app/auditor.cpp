// SPDX-License-Identifier: Apache-2.0
#include "app/auditor.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace planed {

Auditor::Auditor(Engine& engine, AuditorHooks hooks) : engine_(engine), hooks_(std::move(hooks)) {}

bool Auditor::ask(TimePoint until, Ready ready) {
    if (waiting_.size() + next_.size() >= kWaitingMax) {
        return false;
    }
    next_.push_back({.until = until, .ready = std::move(ready)});
    hooks_.request_turn();
    return true;
}

void Auditor::turn(TimePoint now) {
    if (!waiting_.empty()) {
        answer(engine_.audit_is_done() && hooks_.rows_are_read(), now);
    }
    if (waiting_.empty() && !next_.empty()) {
        begin(now);
    }
}

void Auditor::begin(TimePoint now) {
    waiting_ = std::exchange(next_, {});
    engine_.handle(AuditRequested{}, now);
    hooks_.begin_rows();
    hooks_.request_turn();  // The engine's turn is over.
}

void Auditor::answer(bool all, TimePoint now) {
    const auto still = std::stable_partition(
        waiting_.begin(), waiting_.end(), [&](const Waiting& w) { return !all && w.until > now; });
    if (still == waiting_.end()) {
        return;
    }
    std::vector<Waiting> answered(std::make_move_iterator(still),
                                  std::make_move_iterator(waiting_.end()));
    waiting_.erase(still, waiting_.end());
    const auto told = report();
    if (waiting_.empty()) {
        end(now);
    }
    for (const Waiting& waiting : answered) {
        waiting.ready(told);
    }
}

void Auditor::end(TimePoint now) {
    engine_.handle(AuditEnded{}, now);
    hooks_.end_rows();
}

std::shared_ptr<const AuditReport> Auditor::report() {
    AuditReport report = waiting_.empty() ? engine_.take_audit() : engine_.audits().report();
    hooks_.add_rows(report);
    for (const AuditedTable& table : report.tables) {
        if (!table.trouble.empty()) {
            report.differences.push_back({.table = table.table,
                                          .object = std::string(word(table.table)),
                                          .wanted = "read",
                                          .found = table.trouble,
                                          .action = table.action,
                                          .whole_table = true});
        }
    }
    return std::make_shared<const AuditReport>(std::move(report));
}

std::optional<TimePoint> Auditor::wake_at() const {
    std::optional<TimePoint> at;
    for (const auto* list : {&waiting_, &next_}) {
        for (const Waiting& waiting : *list) {
            at = at ? std::min(*at, waiting.until) : waiting.until;
        }
    }
    return at;
}

}  // namespace planed
