// SPDX-License-Identifier: Apache-2.0
// A leaf whose uplinks are all down leads nowhere.
#include "sim/leaf_sim.hpp"

namespace planed::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class UplinkSim : public LeafSim {
protected:
    UplinkSim() {
        world.kernel.add_routed_port("up1");
        world.kernel.add_routed_port("up2");
    }
    void start_with(UplinksDown what) {
        Config config = SimWorld::leaf_config();
        config.uplinks = {"up*"};
        config.uplinks_down = what;
        world.planed.config = std::make_shared<const Config>(config);
        start();
        add_host("10.0.0.5", "swp3");
        world.run_until_quiet();
        world.checker.excuse(1h);  // Isolation takes the healthy along.
    }
    void set_uplinks(bool connected) {
        world.kernel.set_cable("up1", connected);
        world.kernel.set_cable("up2", connected);
    }
    [[nodiscard]] bool is_admin_up(const char* link) const {
        return world.kernel.find(link)->admin_up;
    }
};

TEST_F(UplinkSim, OneUplinkIsEnough) {
    start_with(UplinksDown::Withdraw);

    world.kernel.set_cable("up1", false);
    world.run_for(5s);

    EXPECT_THAT(world.routes(), ElementsAre("10.0.0.5/32"));
}

TEST_F(UplinkSim, WithoutAnyNothingIsAnnouncedUntilOneReturns) {
    start_with(UplinksDown::Withdraw);

    set_uplinks(false);
    world.run_for(1500ms);
    EXPECT_THAT(world.routes(), IsEmpty());

    world.kernel.set_cable("up2", true);
    world.run_for(1s);
    EXPECT_THAT(world.routes(), ElementsAre("10.0.0.5/32"));
}

TEST_F(UplinkSim, ShutTakesServerPortsDownAndUpAgainAlsoOverARestart) {
    start_with(UplinksDown::Shut);
    world.kernel.set_admin("swp6", false);  // By an operator: stays so.

    set_uplinks(false);
    world.run_for(2s);
    EXPECT_FALSE(is_admin_up("swp3"));
    EXPECT_FALSE(is_admin_up("swp30"));
    EXPECT_TRUE(is_admin_up("mgmt0"));

    world.planed.kill();
    set_uplinks(true);
    world.run_for(1s);
    world.planed.start();
    world.run_for(5s);
    EXPECT_TRUE(is_admin_up("swp3"));
    EXPECT_TRUE(is_admin_up("swp30"));
    EXPECT_FALSE(is_admin_up("swp6"));
}

}  // namespace
}  // namespace planed::sim
