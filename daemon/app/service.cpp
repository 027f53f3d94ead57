// SPDX-License-Identifier: Apache-2.0
#include "app/service.hpp"

#include <utility>

#include <fmt/core.h>

namespace planed {
namespace {

io::ServicePhase phase_of(const ServiceFacts& facts, io::ServicePhase before) {
    if (facts.stopping) {
        return io::ServicePhase::Stopping;
    }
    const bool can_do_no_more = facts.synced || facts.degraded.contains("zebra");
    if (before == io::ServicePhase::Starting && !(facts.planned && can_do_no_more)) {
        return io::ServicePhase::Starting;
    }
    return facts.reloading ? io::ServicePhase::Reloading : io::ServicePhase::Ready;
}

std::string doing(io::ServicePhase phase, const ServiceFacts& facts) {
    switch (phase) {
        case io::ServicePhase::Starting:
            return facts.planned ? "Bringing zebra up to date" : "Reading the kernel's tables";
        case io::ServicePhase::Ready: return facts.degraded.empty() ? "Ready" : "Degraded";
        case io::ServicePhase::Reloading: return "Reloading";
        case io::ServicePhase::Stopping: return "Stopping";
    }
    return "";
}

}  // namespace

io::ServiceReport service_report(const ServiceFacts& facts, io::ServicePhase before) {
    const io::ServicePhase phase = phase_of(facts, before);
    std::string status = fmt::format("{}; host routes: {}", doing(phase, facts), facts.routes);
    if (facts.faults != 0) {
        status += fmt::format("; configuration refused, faults: {}, the earlier one is in force",
                              facts.faults);
    }
    for (const auto& [what, text] : facts.degraded) {
        status += fmt::format("; {}: {}", what, text);
    }
    return {.phase = phase, .status = std::move(status)};
}

void Service::start() {
    notifier_.start([this] {
        facts_.routes = engine_.routes().size();
        report();
    });
}

void Service::turn() {
    if (!notifier_.has_manager()) {
        return;
    }
    const bool planned = engine_.has_planned();
    const bool synced = engine_.milestones().at(Milestone::Ready).has_value();
    const bool reloading = facts_.reloading && !planned;
    if (planned == facts_.planned && synced == facts_.synced && reloading == facts_.reloading &&
        engine_.degraded() == facts_.degraded) {
        return;
    }
    facts_.planned = planned;
    facts_.synced = synced;
    facts_.reloading = reloading;
    facts_.degraded = engine_.degraded();
    facts_.routes = engine_.routes().size();
    report();
}

void Service::reloading() {
    facts_.reloading = true;
    facts_.faults = 0;
    report();
}

void Service::stopping() {
    facts_.stopping = true;
    report();
}

void Service::report() {
    io::ServiceReport report = service_report(facts_, phase_);
    phase_ = report.phase;
    notifier_.tell(std::move(report));
}

}  // namespace planed
