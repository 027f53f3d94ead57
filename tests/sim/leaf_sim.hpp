// SPDX-License-Identifier: Apache-2.0
// A leaf without faults, up and quiet: where a scenario begins. Its trace is printed if it fails.
#pragma once

#include <cstdio>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/world.hpp"

namespace planed::sim {

class LeafSim : public ::testing::Test {
protected:
    static constexpr std::size_t kTraceSteps = 200;

    LeafSim() {
        world.trace.turn_on(kTraceSteps);
        world.build_leaf();
    }
    void start() {
        world.zebra.start(false);
        world.planed.start();
        world.run_until_quiet();
    }
    /// Nobody is asked merely because time goes by. Before start().
    void without_refresh() {
        Config config = *world.planed.config;
        config.learning.refresh = 24h;
        world.planed.config = std::make_shared<const Config>(config);
    }
    /// A host that has spoken once and then keeps silent.
    SimHost& add_host(std::string_view addresses,
                      const std::string& port,
                      VlanId vlan = VlanId::None) {
        SimHost& host = world.hosts.add(addresses, port, vlan);
        world.hosts.speak(host);
        return host;
    }
    void TearDown() override {
        for (const std::string& violation : world.checker.violations()) {
            ADD_FAILURE() << violation;
        }
        if (HasFailure()) {
            std::fputs(world.trace.text().c_str(), stderr);
        }
    }

    SimWorld world{1};
};

}  // namespace planed::sim
