// SPDX-License-Identifier: Apache-2.0
// For whom the kernel answers while the plane, zebra, bgpd and the interface come and go.
#include <string>

#include <gtest/gtest.h>

#include "sim/leaf_sim.hpp"

namespace planed::sim {
namespace {

class ProxiesSim : public LeafSim {
protected:
    static RouteKey key_of(std::string_view address) {
        return {.prefix = host_prefix(IpAddress::parse(address).value())};
    }
    [[nodiscard]] bool answers_for(std::string_view address) const {
        const NeighborKey key{.link = world.kernel.find("br0")->index,
                              .address = IpAddress::parse(address).value()};
        const auto found = world.kernel.proxies().find(key);
        return found != world.kernel.proxies().end() && found->second == kNeighborProtocol;
    }
    /// One host is elsewhere, and answered for.
    void start_with_a_plane() {
        world.zebra.add_plane(key_of("fd00::77"));
        start();
        ASSERT_TRUE(world.run_until([this] { return answers_for("fd00::77"); }, 30s));
    }
    /// True if the kernel answered for it all the time.
    bool keeps_answering(Duration length) {
        return !world.run_until([this] { return !answers_for("fd00::77"); }, length);
    }
};

TEST_F(ProxiesSim, FollowThePlaneWithinASecond) {
    start_with_a_plane();

    world.zebra.add_plane(key_of("fd00::78"));
    EXPECT_TRUE(world.run_until([this] { return answers_for("fd00::78"); }, 100ms));
    world.zebra.remove_plane(key_of("fd00::78"));

    EXPECT_TRUE(world.run_until([this] { return !answers_for("fd00::78"); }, 1s));
}

TEST_F(ProxiesSim, DoNotFlapWhenZebraIsRestarted) {
    for (const auto how : {SimZebra::Stop::Cleanly, SimZebra::Stop::Killed}) {
        start_with_a_plane();

        world.zebra.stop(how);
        EXPECT_TRUE(keeps_answering(3s));
        world.zebra.start(false);

        EXPECT_TRUE(keeps_answering(2min));
        world.planed.kill();
        world.zebra.stop(SimZebra::Stop::Killed);
    }
}

TEST_F(ProxiesSim, DoNotFlapWhenBgpdIsRestarted) {
    start_with_a_plane();

    world.zebra.restart_bgpd();

    EXPECT_TRUE(keeps_answering(2min));
}

TEST_F(ProxiesSim, DoNotFlapWhenPlanedIsRestarted) {
    start_with_a_plane();

    world.planed.kill();
    world.run_for(5s);
    world.planed.start();

    EXPECT_TRUE(keeps_answering(2min));
}

TEST_F(ProxiesSim, AreBackAfterTheInterfaceWasDown) {
    start_with_a_plane();

    world.kernel.set_admin("br0", false);
    EXPECT_FALSE(answers_for("fd00::77"));
    world.run_for(10ms);
    world.kernel.set_admin("br0", true);

    EXPECT_TRUE(world.run_until([this] { return answers_for("fd00::77"); }, 1s));
}

TEST_F(ProxiesSim, AreBackWithTheNextAuditIfSomebodyFlushedThem) {
    start_with_a_plane();

    world.kernel.flush_proxies();

    EXPECT_TRUE(world.run_until([this] { return answers_for("fd00::77"); }, 61s));
}

TEST_F(ProxiesSim, EndForAHostThatIsHereNow) {
    start_with_a_plane();

    (void)add_host("fd00::77", "swp1");

    EXPECT_TRUE(world.run_until([this] { return !answers_for("fd00::77"); }, 1s));
    world.run_for(70s);
    EXPECT_FALSE(answers_for("fd00::77"));
    world.kernel.set_cable("swp1", false);
    EXPECT_TRUE(world.run_until([this] { return answers_for("fd00::77"); }, 3s));
}

TEST_F(ProxiesSim, LeaveOthersEntriesAlone) {
    const NeighborKey wanted{.link = world.kernel.find("br0")->index,
                             .address = IpAddress::parse("fd00::78").value()};
    world.kernel.add_proxy(wanted, 4);
    world.zebra.add_plane(key_of("fd00::78"));

    start_with_a_plane();
    world.run_for(2min);
    world.zebra.remove_plane(key_of("fd00::78"));
    world.run_for(2min);

    EXPECT_EQ(world.kernel.proxies().at(wanted), 4);  // The kernel complains of any touch.
}

}  // namespace
}  // namespace planed::sim
