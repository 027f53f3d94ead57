// SPDX-License-Identifier: Apache-2.0
// What becomes of hosts that appear, speak, fall silent, move and die.
#include "sim/leaf_sim.hpp"

namespace planed::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(LeafSim, AHostThatSpeaksBecomesARoute) {
    start();

    add_host("10.0.0.5,fd00::5", "swp3");
    world.run_for(1s);

    EXPECT_THAT(world.routes(), ElementsAre("10.0.0.5/32", "fd00::5/128"));
    EXPECT_TRUE(world.in_fib("10.0.0.5"));
}

TEST_F(LeafSim, HostsOnEveryShapeOfInterfaceAreServedAndOthersAreNot) {
    start();

    add_host("10.0.0.5", "swp3");
    add_host("10.100.0.5", "swp20", VlanId{100});
    add_host("10.30.0.5", "swp30");
    add_host("192.0.2.5", "mgmt0");
    world.run_for(1s);

    EXPECT_THAT(world.routes(), ElementsAre("10.0.0.5/32", "10.30.0.5/32", "10.100.0.5/32"));
}

TEST_F(LeafSim, TheRoundOfStatesOfALivingHostChangesNoRoute) {
    start();
    SimHost& host = add_host("10.0.0.5", "swp3");
    world.run_for(1s);
    std::size_t left = 0;
    world.zebra.on_left = [&left](const RouteKey&, Left) { ++left; };

    world.hosts.set_chatter(host, 20s);
    world.checker.expect_silence();
    world.run_for(10min);

    EXPECT_EQ(left, 0U);
    EXPECT_TRUE(world.has_route("10.0.0.5"));
}

TEST_F(LeafSim, AHostThatOnlyAsksForOthersIsLearnedFromItsFrames) {
    start();
    SimHost& host = world.hosts.add("10.0.0.5,fd00::5", "swp3");
    world.hosts.speak(host, Speech::AsksAnother);

    world.run_for(100ms);

    EXPECT_THAT(world.routes(), ElementsAre("10.0.0.5/32", "fd00::5/128"));
}

TEST_F(LeafSim, ADeadHostThatNobodyAsksForIsGoneWithinRefreshAndProbes) {
    start();
    SimHost& host = add_host("10.0.0.5,fd00::5", "swp3");
    world.run_for(60s);

    world.hosts.die(host);
    world.run_for(34s);  // refresh + probe_interval * (probe_attempts + 1)

    EXPECT_THAT(world.routes(), IsEmpty());
}

// The other leaf gets its answers: a bond that sends no ARP twice.
TEST_F(LeafSim, AHostWhoseAnswersGoElsewhereStaysAsLongAsItIsHeard) {
    start();
    SimHost& host = add_host("10.0.0.5,fd00::5", "swp3");
    host.mute = true;
    std::size_t left = 0;
    world.zebra.on_left = [&left](const RouteKey&, Left) { ++left; };

    for (int second = 0; second < 120; ++second) {
        world.hosts.speak(host, Speech::AsksAnother);
        world.run_for(1s);
    }
    EXPECT_EQ(left, 0U);
    world.hosts.die(host);
    world.run_for(34s);

    EXPECT_THAT(world.routes(), IsEmpty());
}

TEST_F(LeafSim, AHostThatOnlySendsHereStaysAndGoesInTimeWhenItDies) {
    start();
    SimHost& host = add_host("10.0.0.5,10.0.0.6,fd00::5", "swp3");
    host.mute = true;
    std::size_t left = 0;
    world.zebra.on_left = [&left](const RouteKey&, Left) { ++left; };
    std::size_t failed = 0;
    const auto count_failed = [&] {
        for (const auto& [key, entry] : world.kernel.neighbors()) {
            failed += entry.state == Nud::Failed ? 1U : 0U;
        }
    };

    for (int step = 0; step < 60; ++step) {
        world.hosts.send(host);
        world.run_for(3s);
        count_failed();
    }
    EXPECT_EQ(left, 0U);
    EXPECT_EQ(failed, 0U);  // The kernel forwards to it all the time.
    world.hosts.die(host);
    world.run_for(34s);

    EXPECT_THAT(world.routes(), IsEmpty());
}

TEST_F(LeafSim, AnAddressThatItsHostHasDroppedGoesThoughTheHostSends) {
    start();
    SimHost& host = add_host("10.0.0.5,10.0.0.6", "swp3");
    world.hosts.remove_address(host, host.addresses.back());

    for (int second = 0; second < 40; ++second) {
        world.hosts.send(host);
        world.run_for(1s);
    }

    EXPECT_THAT(world.routes(), ElementsAre("10.0.0.5/32"));
}

TEST_F(LeafSim, ADeadHostGoesWhenTheKernelHasAskedSixTimes) {
    without_refresh();
    start();
    SimHost& host = add_host("10.0.0.5", "swp3");
    world.run_for(60s);

    world.hosts.die(host);
    world.kernel.use({.link = world.hosts.interface_of(host), .address = host.addresses.front()});
    world.run_for(10s);  // DELAY 5 s, then unicast.
    EXPECT_TRUE(world.has_route("10.0.0.5"));
    world.run_for(2s);

    EXPECT_FALSE(world.has_route("10.0.0.5"));
}

TEST_F(LeafSim, ASilentHostOutlivesTheGarbageCollector) {
    without_refresh();
    start();
    SimHost& host = add_host("10.0.0.5", "swp3");
    world.run_for(5min);
    std::size_t left = 0;
    world.zebra.on_left = [&left](const RouteKey&, Left) { ++left; };

    world.kernel.collect_garbage();
    world.run_for(5s);

    const NeighborKey key{.link = world.hosts.interface_of(host),
                          .address = host.addresses.front()};
    ASSERT_NE(world.kernel.neighbor(key), nullptr);
    EXPECT_TRUE(world.kernel.neighbor(key)->ext_learned);
    EXPECT_EQ(left, 0U);
    EXPECT_TRUE(world.has_route("10.0.0.5"));
}

TEST_F(LeafSim, AHostThatDiedBeforeTheCollectorCameGoes) {
    without_refresh();
    start();
    SimHost& host = add_host("10.0.0.5", "swp3");
    world.run_for(5min);
    world.hosts.die(host);

    world.kernel.collect_garbage();
    world.run_for(10s);

    EXPECT_FALSE(world.has_route("10.0.0.5"));
    EXPECT_THAT(world.kernel.neighbors(), IsEmpty());
}

TEST_F(LeafSim, AHostThatMovesKeepsItsRouteWithoutAGap) {
    start();
    SimHost& host = add_host("10.0.0.5", "swp3");
    world.run_for(10s);
    std::size_t left = 0;
    world.zebra.on_left = [&left](const RouteKey&, Left) { ++left; };

    world.hosts.move(host, "swp4");
    world.hosts.speak(host);
    world.run_for(1s);
    world.kernel.set_cable("swp3", false);
    world.run_for(5s);

    EXPECT_EQ(left, 0U);
    EXPECT_TRUE(world.has_route("10.0.0.5"));
}

TEST_F(LeafSim, AChangeOfMacIsNoGap) {
    start();
    SimHost& host = add_host("10.0.0.5", "swp3");
    world.run_for(10s);
    std::size_t left = 0;
    world.zebra.on_left = [&left](const RouteKey&, Left) { ++left; };

    host.mac = MacAddress({0x02, 0xBB, 0, 0, 0, 1});
    world.hosts.speak(host);
    world.run_for(1s);

    EXPECT_EQ(left, 0U);
    EXPECT_TRUE(world.has_route("10.0.0.5"));
}

TEST_F(LeafSim, TwoAddressesOnOneMacAreTwoHostsWithOnePort) {
    start();
    add_host("10.0.0.5,10.0.0.6", "swp3");
    world.run_for(10s);
    ASSERT_THAT(world.routes(), ElementsAre("10.0.0.5/32", "10.0.0.6/32"));

    world.kernel.set_cable("swp3", false);
    world.run_for(1500ms);

    EXPECT_THAT(world.routes(), IsEmpty());
}

}  // namespace
}  // namespace planed::sim
