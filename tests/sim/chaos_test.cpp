// SPDX-License-Identifier: Apache-2.0
// Seeds: PLANED_SIM_SEED=n runs that one, PLANED_SIM_SEEDS=n how many fresh ones (200), and
// seeds.txt holds those that once found a bug.
#include "sim/chaos.hpp"

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/deeds.hpp"

namespace planed::sim {
namespace {

constexpr std::uint64_t kFreshSeeds = 200;
constexpr std::size_t kTraceSteps = 300;

// A failed assertion aborts: then this is all that can still be said.
std::string g_running;  // NOLINT: read by a signal handler.

extern "C" void tell_seed(int /*signal*/) {
    (void)::write(STDERR_FILENO, g_running.data(), g_running.size());
}

std::size_t trace_steps() {
    return number_from("PLANED_SIM_TRACE", kTraceSteps);
}

// Everything that may stand between a verdict and a route, short enough to be over at rest.
RoutesConfig with_holds() {
    return {.add_delay = 2s,
            .withdraw_delay = {.silent = 3s, .port_down = 1s},
            .damping = {.max_flaps = 3, .window = 30s, .hold = 5s},
            .max_withdraw = {.share_percent = 10, .at_least = 3, .window = 1s}};
}

void expect_passes(std::uint64_t seed, const RoutesConfig& routes = {}) {
    g_running = fmt::format("PLANED_SIM_SEED={}\n", seed);
    std::signal(SIGABRT, tell_seed);
    if (run_seed(seed, 0, routes).violations.empty()) {
        return;
    }
    const Outcome again = run_seed(seed, trace_steps(), routes);
    ADD_FAILURE() << again.trace << "PLANED_SIM_SEED=" << seed << "\n"
                  << fmt::format("{}", fmt::join(again.violations, "\n"));
}

TEST(Chaos, SeedsOfPastBugsPass) {
    std::ifstream file(std::string(PLANED_TESTS_DIR) + "/sim/seeds.txt");
    ASSERT_TRUE(file) << "tests/sim/seeds.txt cannot be read";
    std::string line;
    while (std::getline(file, line)) {
        if (!line.empty() && line.front() != '#') {
            expect_passes(std::strtoull(line.c_str(), nullptr, 10));
        }
    }
}

TEST(Chaos, FreshSeedsPass) {
    const std::uint64_t only = number_from("PLANED_SIM_SEED", 0);
    if (only != 0) {
        expect_passes(only);
        return;
    }
    const std::uint64_t count = number_from("PLANED_SIM_SEEDS", kFreshSeeds);
    for (std::uint64_t seed = 1; seed <= count && !::testing::Test::HasFailure(); ++seed) {
        expect_passes(seed);
    }
}

TEST(Chaos, FreshSeedsPassWithAllThatHoldsRoutesUp) {
    const std::uint64_t only = number_from("PLANED_SIM_SEED", 0);
    const std::uint64_t count = number_from("PLANED_SIM_SEEDS", kFreshSeeds) / 4;
    for (std::uint64_t seed = only != 0 ? only : 1;
         (only != 0 ? seed == only : seed <= count) && !::testing::Test::HasFailure();
         ++seed) {
        expect_passes(seed, with_holds());
    }
}

TEST(Chaos, ASeedIsTheSameWorldEachTime) {
    const Outcome once = run_seed(42, 2000);
    const Outcome again = run_seed(42, 2000);

    EXPECT_EQ(once.trace, again.trace);
}

}  // namespace
}  // namespace planed::sim
