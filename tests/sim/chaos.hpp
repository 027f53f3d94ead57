// SPDX-License-Identifier: Apache-2.0
// One seed's life: a leaf with servers, a minute or more in which anything may happen, then peace:
// faults end, the world settles, and an hour passes in which nothing may be said any more.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/world.hpp"

namespace planed::sim {

struct Outcome {
    std::vector<std::string> violations;
    std::string trace;  // Only if asked for.
};

/// `trace_steps` 0: run for the verdict alone, which is much faster. `routes`: what may stand
/// between verdicts and routes. `prepare` gets the world before anything happens in it.
Outcome run_seed(
    std::uint64_t seed,
    std::size_t trace_steps,
    const RoutesConfig& routes = {},
    const std::function<void(SimWorld&)>& prepare = [](SimWorld&) {});

}  // namespace planed::sim
