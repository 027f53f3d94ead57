// SPDX-License-Identifier: Apache-2.0
// What becomes of routes when ports, interfaces and notifications fail.
#include <fmt/format.h>

#include "sim/leaf_sim.hpp"

namespace planed::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(LeafSim, KeepsRoutesWhileEventsAreLost) {
    start();
    add_host("10.0.0.5", "swp3");
    world.run_until_quiet();
    std::size_t left = 0;
    world.zebra.on_left = [&left](const RouteKey&, Left) { ++left; };

    world.kernel.neighbor_events.overrun_next(1000);
    add_host("10.0.0.6", "swp4");
    world.run_for(500ms);

    EXPECT_GT(world.kernel.neighbor_events.dropped(), 0U);
    EXPECT_EQ(left, 0U);
    EXPECT_THAT(world.routes(), ElementsAre("10.0.0.5/32", "10.0.0.6/32"));
}

TEST_F(LeafSim, WhatDiedUnheardIsGoneAfterTheResync) {
    start();
    SimHost& host = add_host("10.0.0.5", "swp3");
    world.run_until_quiet();

    world.kernel.neighbor_events.overrun_next(1000);
    world.hosts.die(host);
    world.kernel.flush_neighbor(
        {.link = world.hosts.interface_of(host), .address = host.addresses.front()});
    world.run_for(500ms);

    EXPECT_THAT(world.routes(), IsEmpty());
}

TEST_F(LeafSim, TheEventsOfAQueueThatOverranDoNotOutliveTheDump) {
    start();
    SimHost& host = add_host("10.0.0.5", "swp3");
    world.run_until_quiet();
    const NeighborKey key{.link = world.hosts.interface_of(host),
                          .address = host.addresses.front()};

    world.faults.turn_delay_max = 50ms;  // The queue is long when planed comes to read it.
    for (int i = 0; i < 200; ++i) {
        world.kernel.flush_neighbor(key);
        world.hosts.speak(host);
    }
    world.kernel.neighbor_events.overrun_next(1);
    world.hosts.die(host);
    world.kernel.flush_neighbor(key);
    world.run_for(1s);

    EXPECT_THAT(world.routes(), IsEmpty());
}

TEST_F(LeafSim, ACutPortTakesAHundredAndTwentyEightHostsInOneTurn) {
    start();
    for (int i = 0; i < 64; ++i) {
        add_host(fmt::format("10.0.1.{},fd00::1:{}", i + 1, i + 1), "swp8");
    }
    world.run_until_quiet();
    ASSERT_THAT(world.routes(), SizeIs(128));
    std::set<TimePoint> turns;
    std::size_t withdrawn = 0;
    const auto checks = world.planed.on_output;
    world.planed.on_output = [&](const Output& output) {
        checks(output);
        if (std::holds_alternative<SendRoute>(output)) {
            turns.insert(world.clock.now());
            ++withdrawn;
        }
    };

    world.kernel.set_cable("swp8", false);
    world.run_for(100ms);

    EXPECT_EQ(withdrawn, 128U);
    EXPECT_THAT(turns, SizeIs(1));
    EXPECT_THAT(world.routes(), IsEmpty());
}

TEST_F(LeafSim, APortThatComesBackGetsItsSilentHostsAsked) {
    start();
    add_host("10.0.0.5", "swp3");
    world.run_until_quiet();
    world.kernel.set_cable("swp3", false);
    world.run_for(3s);
    ASSERT_THAT(world.routes(), IsEmpty());

    world.kernel.set_cable("swp3", true);
    world.run_for(200ms);

    EXPECT_TRUE(world.has_route("10.0.0.5"));
}

TEST_F(LeafSim, APortThatComesBackWithoutItsHostStaysWithdrawn) {
    start();
    SimHost& host = add_host("10.0.0.5", "swp3");
    add_host("10.0.0.6", "swp4");
    world.run_until_quiet();
    world.kernel.set_cable("swp3", false);
    world.hosts.die(host);
    world.run_for(3s);

    world.kernel.set_cable("swp3", true);
    world.run_for(15s);

    EXPECT_THAT(world.routes(), ElementsAre("10.0.0.6/32"));
}

TEST_F(LeafSim, ASecondLossThatLinkwatchHoldsBackIsReadFromTheLink) {
    start();
    add_host("10.0.0.5", "swp3");
    add_host("10.0.0.6", "swp4");
    add_host("10.0.0.7", "swp5");
    world.run_until_quiet();

    world.kernel.set_cable("swp3", false);
    world.run_for(100ms);
    world.kernel.set_cable("swp4", false);  // Its notification comes 900 ms from now.
    world.run_for(50ms);

    EXPECT_THAT(world.routes(), ElementsAre("10.0.0.7/32"));
}

// The bridge flushes a port only when linkwatch comes to it: a loss that planed has read from the
// link may be over before, and then the forwarding entry, never gone, is never announced again.
TEST_F(LeafSim, AHostWhoseForwardingEntryOutlivesAShortLossReturns) {
    start();
    add_host("10.0.0.5", "swp3");
    add_host("10.0.0.6", "swp4");
    world.run_until_quiet();

    world.kernel.set_cable("swp3", false);
    world.run_for(100ms);
    world.kernel.set_cable("swp4", false);
    world.run_for(100ms);
    ASSERT_THAT(world.routes(), IsEmpty());
    world.kernel.set_cable("swp4", true);
    world.run_for(500ms);

    EXPECT_THAT(world.routes(), ElementsAre("10.0.0.6/32"));
}

TEST_F(LeafSim, TheLastPortOfABridgeTakesTheInterfaceAndAllHosts) {
    start();
    for (int i = 1; i <= 8; ++i) {
        add_host(fmt::format("10.0.0.{}", i + 1), fmt::format("swp{}", i));
    }
    world.run_until_quiet();

    for (int i = 1; i <= 8; ++i) {
        world.kernel.set_cable(fmt::format("swp{}", i), false);
    }
    world.run_for(1500ms);
    EXPECT_THAT(world.routes(), IsEmpty());

    for (int i = 1; i <= 8; ++i) {
        world.kernel.set_cable(fmt::format("swp{}", i), true);
    }
    world.run_for(10ms);  // Until the bridge has noticed.
    for (auto& [name, host] : world.hosts.all()) {
        world.hosts.speak(host);
    }
    world.run_for(3s);
    EXPECT_THAT(world.routes(), SizeIs(8));
    world.checker.at_rest();
}

TEST_F(LeafSim, AFlapOfTheInterfaceDoesNotLeaveZebraWithRoutesThatTheKernelLacks) {
    start();
    world.zebra.release = Release::Master;
    SimHost& host = add_host("10.0.0.5", "swp3");
    world.run_until_quiet();

    world.kernel.set_admin("br0", false);
    world.kernel.set_admin("br0", true);
    world.hosts.speak(host);
    world.run_for(5s);

    EXPECT_TRUE(world.has_route("10.0.0.5"));
    EXPECT_TRUE(world.in_fib("10.0.0.5"));
}

TEST_F(LeafSim, AFlapOfARoutedPortThatItsHostSurvivesIsRepaired) {
    start();
    world.zebra.release = Release::Master;
    SimHost& host = add_host("10.30.0.5", "swp30");
    world.run_until_quiet();

    world.kernel.set_cable("swp30", false);
    world.run_for(100ms);
    world.kernel.set_cable("swp30", true);
    world.hosts.speak(host);
    world.run_for(5s);

    EXPECT_TRUE(world.in_fib("10.30.0.5"));
    world.checker.at_rest();
}

TEST_F(LeafSim, AnInterfaceMadeAnewServesTheSameHostsUnderANewIndex) {
    start();
    SimHost& host = add_host("10.0.0.5", "swp3");
    world.run_until_quiet();
    const IfIndex before = world.kernel.find("br0")->index;

    for (int i = 1; i <= 8; ++i) {
        world.kernel.delete_link(fmt::format("swp{}", i));
    }
    world.kernel.delete_link("br0");
    world.run_for(2s);
    EXPECT_THAT(world.routes(), IsEmpty());
    world.add_br0();
    world.run_for(1s);
    world.hosts.speak(host);
    world.run_for(1s);

    EXPECT_NE(world.kernel.find("br0")->index, before);
    EXPECT_THAT(world.routes(), ElementsAre("10.0.0.5/32"));
    world.checker.at_rest();
}

TEST_F(LeafSim, ARenamedInterfaceIsNoLongerServed) {
    start();
    add_host("10.30.0.5", "swp30");
    world.run_until_quiet();

    world.checker.excuse(1h);  // The host is healthy, but no longer ours.
    world.kernel.rename("swp30", "other");
    world.run_for(1s);
    EXPECT_THAT(world.routes(), IsEmpty());

    world.kernel.rename("other", "swp30");
    world.run_for(1s);
    EXPECT_THAT(world.routes(), ElementsAre("10.30.0.5/32"));
}

TEST_F(LeafSim, APortThatMovesToAnotherBridgeTakesItsHostsAlong) {
    start();
    add_host("10.0.0.5", "swp3");
    add_host("10.0.0.6", "swp4");
    world.run_until_quiet();

    world.kernel.set_master("swp3", "brv");
    world.run_for(1s);

    EXPECT_THAT(world.routes(), ElementsAre("10.0.0.6/32"));
}

TEST_F(LeafSim, TheLastAddressOfAnInterfaceTakesTheSubnetAlong) {
    start();
    add_host("10.0.0.5,fd00::5", "swp3");
    world.run_until_quiet();

    world.checker.excuse(1h);  // These hosts are healthy, but no longer ours.
    world.kernel.remove_address("br0", "10.0.0.1/16");
    world.run_for(1s);
    EXPECT_THAT(world.routes(), ElementsAre("fd00::5/128"));

    world.kernel.add_address("br0", "10.0.0.1/16");
    world.run_for(1s);
    EXPECT_THAT(world.routes(), ElementsAre("10.0.0.5/32", "fd00::5/128"));
}

TEST_F(LeafSim, DumpsThatFailOrAreInterruptedDelayButTakeNothing) {
    start();
    add_host("10.0.0.5", "swp3");
    world.run_until_quiet();
    std::size_t left = 0;
    world.zebra.on_left = [&left](const RouteKey&, Left) { ++left; };

    world.faults.dump_fails_percent = 50;
    world.faults.dump_interrupted_percent = 50;
    world.faults.slow_dumps = true;
    world.kernel.neighbor_events.overrun_next(1000);
    add_host("10.0.0.6", "swp4");
    world.run_for(10min);

    EXPECT_EQ(left, 0U);
    EXPECT_THAT(world.routes(), ElementsAre("10.0.0.5/32", "10.0.0.6/32"));
}

}  // namespace
}  // namespace planed::sim
