// SPDX-License-Identifier: Apache-2.0
#include "sim/world.hpp"

namespace planed::sim {
namespace {

constexpr Duration kQuiet = 3s;
constexpr Duration kQuietMost = 300s;

}  // namespace

void SimWorld::step() {
    clock.jump();
    checker.after_step();
}

void SimWorld::run_for(Duration length) {
    const TimePoint end = clock.now() + length;
    while (!checker.failed() && clock.next() && *clock.next() <= end) {
        step();
    }
    if (!checker.failed()) {
        clock.idle_until(end);
    }
}

void SimWorld::run_until_quiet() {
    const TimePoint most = clock.now() + kQuietMost;
    while (!checker.failed() && clock.now() < most) {
        const auto before = zebra.selected();
        const auto* engine = planed.engine();
        run_for(kQuiet);
        const bool same = before == zebra.selected() && engine == planed.engine();
        const bool ready = engine != nullptr && engine->milestones().at(Milestone::Ready);
        if (same && ready && planed.session() != nullptr) {
            return;
        }
    }
}

}  // namespace planed::sim
