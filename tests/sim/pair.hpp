// SPDX-License-Identifier: Apache-2.0
// Two leaves of different planes, a management link between them, and servers whose bonds have a
// port in each: what a server says comes in by one of them, or by both.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/aux_link.hpp"
#include "sim/leaf.hpp"
#include "sim/pair_checker.hpp"
#include "sim/server.hpp"
#include "sim/world.hpp"

namespace planed::sim {

class SimPair : public SimTime {
public:
    explicit SimPair(std::uint64_t seed);

    std::array<Trace, 2> traces{Trace(trace, "a: "), Trace(trace, "b: ")};
    AuxLink link{clock, random, trace};
    std::array<std::unique_ptr<SimLeaf>, 2> leaves;
    SimServers servers;
    PairChecker checker;

    SimLeaf& a() { return *leaves.at(0); }
    SimLeaf& b() { return *leaves.at(1); }

    /// As SimLeaf::leaf_config(), and with a segment on each of swp1 to swp6. Asks every 10 s.
    static Config pair_config(std::size_t side);

    void start();
    /// Until a violation at most.
    void run_for(Duration length);
    /// Until neither has sent a route operation or an UPDATE for five seconds.
    void run_until_quiet();
};

}  // namespace planed::sim
