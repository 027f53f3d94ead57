// SPDX-License-Identifier: Apache-2.0
// A leaf switch with everything around it: kernel, zebra, servers and planed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/clock.hpp"
#include "sim/daemon.hpp"
#include "sim/faults.hpp"
#include "sim/hosts.hpp"
#include "sim/kernel.hpp"
#include "sim/random.hpp"
#include "sim/trace.hpp"
#include "sim/zebra.hpp"

namespace planed::sim {

/// Of the routes that planed sends; see SimLeaf::config().
inline constexpr std::uint32_t kTag = 100;

class SimLeaf {
public:
    SimLeaf(SimClock& clock, Random& random, Trace& trace);
    SimLeaf(const SimLeaf&) = delete;  // Its parts hold references to each other.
    SimLeaf& operator=(const SimLeaf&) = delete;
    ~SimLeaf() = default;

    Faults faults;
    SimKernel kernel;
    SimZebra zebra;
    SimDaemon planed;
    SimHosts hosts;

    /// br0 (10.0.0.0/16, fd00::/64) on swp1 to swp8, Vlan100 (10.100.0.0/16) on the filtering
    /// bridge brv with swp20 and swp21, the routed port swp30 (10.30.0.0/24), and mgmt0, which is
    /// nobody's.
    void build_leaf();
    void add_br0();
    static Config leaf_config();

    /// The prefixes that bgpd would announce, in order.
    [[nodiscard]] std::vector<std::string> routes() const;
    [[nodiscard]] bool has_route(std::string_view address) const;
    [[nodiscard]] bool in_fib(std::string_view address) const;
};

}  // namespace planed::sim
