// SPDX-License-Identifier: Apache-2.0
// What stands between a verdict and a route, in a world where hosts answer or do not.
#include <memory>
#include <set>
#include <string>

#include "sim/leaf_sim.hpp"

namespace planed::sim {
namespace {

using ::testing::ElementsAre;

TEST_F(LeafSim, HostsThatFallSilentAtOnceAreAskedAndOnlyTheDeadGo) {
    Config config = *world.planed.config;
    config.routes.max_withdraw = {.share_percent = 0, .at_least = 1, .window = 1s};
    world.planed.config = std::make_shared<const Config>(config);
    start();
    add_host("10.0.0.11,fd00::11", "swp1");
    add_host("10.0.0.12,fd00::12", "swp2");
    add_host("10.0.0.13,fd00::13", "swp3");
    world.run_for(1s);
    std::set<std::string> left;
    world.zebra.on_left = [&left](const RouteKey& key, Left) {
        left.insert(key.prefix.to_string());
    };
    const auto is_shielded = [this] {
        return world.planed.engine()->degraded().contains("max_withdraw");
    };

    world.hosts.die(world.hosts.find("10.0.0.12"));
    for (auto& [name, host] : world.hosts.all()) {
        host.mute = true;
    }
    const auto neighbors = world.kernel.neighbors();
    for (const auto& [key, entry] : neighbors) {
        world.kernel.use(key);
    }
    ASSERT_TRUE(world.run_until(is_shielded, 60s));
    for (auto& [name, host] : world.hosts.all()) {
        host.mute = false;
    }
    world.run_for(60s);

    EXPECT_FALSE(is_shielded());
    EXPECT_THAT(left, ElementsAre("10.0.0.12/32", "fd00::12/128"));
    EXPECT_THAT(world.routes(),
                ElementsAre("10.0.0.11/32", "10.0.0.13/32", "fd00::11/128", "fd00::13/128"));
}

TEST_F(LeafSim, APortThatIsBackInTimeCostsNoRouteWhereThatIsDelayed) {
    Config config = *world.planed.config;
    config.routes.withdraw_delay.port_down = 5s;
    world.planed.config = std::make_shared<const Config>(config);
    start();
    add_host("10.0.0.5,fd00::5", "swp3");
    add_host("10.0.0.6", "swp4");
    world.run_for(1s);
    std::size_t left = 0;
    world.zebra.on_left = [&left](const RouteKey&, Left) { ++left; };

    world.kernel.set_cable("swp3", false);
    world.run_for(3s);
    world.kernel.set_cable("swp3", true);
    world.run_for(60s);

    EXPECT_EQ(left, 0U);
    EXPECT_THAT(world.routes(), ElementsAre("10.0.0.5/32", "10.0.0.6/32", "fd00::5/128"));
}

}  // namespace
}  // namespace planed::sim
