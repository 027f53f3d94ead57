// SPDX-License-Identifier: Apache-2.0
// A leaf switch with everything around it, from one seed: kernel, zebra, servers and planed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/checker.hpp"
#include "sim/clock.hpp"
#include "sim/daemon.hpp"
#include "sim/faults.hpp"
#include "sim/hosts.hpp"
#include "sim/kernel.hpp"
#include "sim/random.hpp"
#include "sim/trace.hpp"
#include "sim/zebra.hpp"

namespace planed::sim {

class SimWorld {
public:
    explicit SimWorld(std::uint64_t seed);

    SimClock clock;
    Random random;
    Trace trace{clock};
    Faults faults;
    SimKernel kernel{clock, random, trace, faults};
    SimZebra zebra{clock, random, trace, faults, kernel};
    SimDaemon planed{clock, random, trace, faults, kernel, zebra};
    SimHosts hosts{clock, random, trace, kernel};
    Checker checker{clock, kernel, zebra, planed, hosts};

    /// br0 (10.0.0.0/16, fd00::/64) on swp1 to swp8, Vlan100 (10.100.0.0/16) on the filtering
    /// bridge brv with swp20 and swp21, the routed port swp30 (10.30.0.0/24), and mgmt0, which is
    /// nobody's.
    void build_leaf();
    void add_br0();
    static Config leaf_config();

    /// Until a violation at most.
    void run_for(Duration length);
    /// Until planed has sent no route operation for three seconds and waits for no answer.
    void run_until_quiet();
    /// Runs until `holds` does; false if it still does not after `most`.
    template <class Holds>
    bool run_until(Holds holds, Duration most) {
        const TimePoint end = clock.now() + most;
        while (!holds() && !checker.failed() && clock.next() && *clock.next() <= end) {
            step();
        }
        return holds();
    }

    /// The prefixes that bgpd would announce, in order.
    [[nodiscard]] std::vector<std::string> routes() const;
    [[nodiscard]] bool has_route(std::string_view address) const;
    [[nodiscard]] bool in_fib(std::string_view address) const;

private:
    void step();
};

}  // namespace planed::sim
