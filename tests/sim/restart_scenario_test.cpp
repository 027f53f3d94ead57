// SPDX-License-Identifier: Apache-2.0
// What becomes of routes when planed or zebra starts late, stops, is killed or comes back.
#include "sim/leaf_sim.hpp"

namespace planed::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::shared_ptr<const Config> withdrawing() {
    Config config = SimWorld::leaf_config();
    config.on_exit = OnExit::Withdraw;
    return std::make_shared<const Config>(config);
}

TEST_F(LeafSim, PlanedMayStartBeforeZebra) {
    world.planed.start();
    world.run_for(20s);
    SimHost& host = add_host("10.0.0.5", "swp3");
    world.run_for(20s);
    EXPECT_THAT(world.routes(), IsEmpty());

    world.zebra.start(false);
    world.run_for(45s);  // The back-off has grown to 30 s.

    EXPECT_TRUE(world.has_route("10.0.0.5"));
    EXPECT_EQ(host.heard_on, "swp3");
}

TEST_F(LeafSim, HostsThatTheKernelKnewBeforePlanedAreServed) {
    world.zebra.start(false);
    add_host("10.0.0.5", "swp3");
    world.run_for(30s);

    world.planed.start();
    world.run_for(2s);

    EXPECT_TRUE(world.has_route("10.0.0.5"));
}

TEST_F(LeafSim, NothingIsLeftOfAPlanedThatWasKilledAndComesBack) {
    start();
    add_host("10.0.0.5,fd00::5", "swp3");
    world.run_until_quiet();
    std::size_t left = 0;
    world.zebra.on_left = [&left](const RouteKey&, Left) { ++left; };

    for (int i = 0; i < 20; ++i) {
        world.planed.kill();
        world.run_for(world.random.between(0us, 3s));
        world.planed.start();
        world.run_for(world.random.between(0us, 3s));
    }
    world.run_until_quiet();

    EXPECT_EQ(left, 0U);
    EXPECT_THAT(world.routes(), ElementsAre("10.0.0.5/32", "fd00::5/128"));
    world.checker.at_rest();
}

// The forwarding table is read in a moment, the many links in a second part a little later.
TEST_F(LeafSim, APortMayBeReadAfterTheForwardingEntriesBehindIt) {
    start();
    add_host("10.0.0.5", "swp8");
    world.run_until_quiet();
    std::size_t left = 0;
    world.zebra.on_left = [&left](const RouteKey&, Left) { ++left; };

    world.planed.kill();
    world.faults.slow_dumps = true;
    world.planed.start();
    world.run_for(5s);

    EXPECT_EQ(left, 0U);
}

TEST_F(LeafSim, WhatDiedWhilePlanedWasDeadIsGoneTwoSecondsAfterItsReturn) {
    start();
    add_host("10.0.0.5", "swp3");
    add_host("10.0.0.6", "swp4");
    world.run_until_quiet();

    world.planed.kill();
    world.kernel.set_cable("swp3", false);
    world.run_for(10s);
    world.planed.start();
    world.run_for(2s);

    EXPECT_THAT(world.routes(), ElementsAre("10.0.0.6/32"));
}

// zebra's purge counts seconds: a route of the very second in which its session ended stays.
TEST_F(LeafSim, ARouteOfTheSecondInWhichPlanedDiedIsReadBackAndRemoved) {
    start();
    world.run_for(1s - world.clock.uptime() % 1s);
    SimHost& host = add_host("10.0.0.5", "swp3");
    world.run_for(200ms);
    ASSERT_TRUE(world.has_route("10.0.0.5"));

    world.planed.kill();
    world.run_for(100ms);
    world.kernel.set_cable("swp3", false);
    world.hosts.die(host);
    world.kernel.flush_neighbor(
        {.link = world.kernel.find("br0")->index, .address = host.addresses.front()});
    world.run_for(5s);
    ASSERT_TRUE(world.has_route("10.0.0.5"));
    world.planed.start();
    world.run_for(3s);

    EXPECT_THAT(world.routes(), IsEmpty());
}

TEST_F(LeafSim, APortThatPlanedKnewOfIsRememberedOverItsDeath) {
    start();
    add_host("10.0.0.5", "swp3");
    world.run_for(10min);  // The forwarding entry has aged.
    world.planed.kill();
    world.kernel.set_cable("swp3", false);
    world.run_for(1s);

    world.planed.start();
    world.run_for(1s);

    EXPECT_THAT(world.routes(), IsEmpty());
}

TEST_F(LeafSim, StoppingKeepsTheRoutesUnlessTheConfigurationSaysOtherwise) {
    start();
    add_host("10.0.0.5", "swp3");
    world.run_until_quiet();

    world.planed.stop();
    world.run_for(5s);
    EXPECT_FALSE(world.planed.is_running());
    EXPECT_TRUE(world.has_route("10.0.0.5"));

    world.planed.config = withdrawing();
    world.planed.start();
    world.run_until_quiet();
    world.checker.excuse(1h);
    world.planed.stop();
    world.run_for(1s);
    EXPECT_THAT(world.routes(), IsEmpty());
}

TEST_F(LeafSim, ARestartedZebraGetsEverythingAgain) {
    start();
    add_host("10.0.0.5", "swp3");
    world.run_until_quiet();

    for (const auto how : {SimZebra::Stop::Cleanly, SimZebra::Stop::Killed}) {
        for (const bool keeps : {false, true}) {
            world.zebra.stop(how);
            world.run_for(1s);
            world.zebra.start(keeps);
            world.run_for(40s);
            EXPECT_THAT(world.routes(), ElementsAre("10.0.0.5/32"));
            world.checker.at_rest();
        }
    }
}

TEST_F(LeafSim, WhatAKilledZebraReadsBackFromTheKernelIsRemovedIfNobodyWantsIt) {
    start();
    add_host("10.0.0.5", "swp3");
    add_host("10.0.0.6", "swp4");
    world.run_until_quiet();

    world.zebra.stop(SimZebra::Stop::Killed);
    world.kernel.set_cable("swp3", false);
    world.run_for(3s);
    world.zebra.start(false);
    world.run_for(10s);

    EXPECT_THAT(world.zebra.selected(), SizeIs(1));
    world.checker.at_rest();
}

TEST_F(LeafSim, AnotherReleaseAfterTheRestartIsSpokenToInItsOwnWay) {
    world.zebra.release = Release::Frr8_4;
    start();
    add_host("10.0.0.5", "swp3");
    world.run_until_quiet();

    world.zebra.stop(SimZebra::Stop::Cleanly);
    world.zebra.release = Release::Master;
    world.zebra.start(false);
    world.run_for(10s);

    EXPECT_TRUE(world.has_route("10.0.0.5"));
}

TEST_F(LeafSim, AZebraThatNeverAnswersHoldsTheRoutesAllTheSame) {
    world.faults.acks_installed = false;
    start();
    SimHost& host = add_host("10.0.0.5", "swp3");
    world.run_until_quiet();
    EXPECT_TRUE(world.has_route("10.0.0.5"));
    world.run_for(3min);
    world.checker.expect_silence();
    world.run_for(10min);
    EXPECT_EQ(host.port, "swp3");
}

TEST_F(LeafSim, AZebraThatHangsGetsTheLastWordOnly) {
    start();
    SimHost& host = add_host("10.0.0.5", "swp3");
    world.run_until_quiet();

    world.zebra.stall(20s);
    for (int i = 0; i < 5; ++i) {
        world.kernel.set_cable("swp3", false);
        world.run_for(1500ms);
        world.kernel.set_cable("swp3", true);
        world.hosts.speak(host);
        world.run_for(1500ms);
    }
    world.run_for(20s);

    EXPECT_TRUE(world.has_route("10.0.0.5"));
    world.checker.at_rest();
}

TEST_F(LeafSim, AReadBackThatZebraTakesLongOverIsNotWaitedForInALoop) {
    start();
    add_host("10.0.0.5", "swp3");
    const bool asked = [this] {
        bool seen = false;
        const auto checks = world.planed.on_output;
        world.planed.on_output = [&](const Output& output) {
            checks(output);
            seen = seen || std::holds_alternative<StartReadBack>(output);
        };
        const bool done = world.run_until([&seen] { return seen; }, 2min);
        world.planed.on_output = checks;
        return done;
    }();
    ASSERT_TRUE(asked);

    world.zebra.stall(20s);
    add_host("10.0.0.6", "swp4");
    const std::uint64_t before = world.planed.turns();
    world.run_for(20s);

    EXPECT_LT(world.planed.turns(), before + 500);
}

TEST_F(LeafSim, ARouteThatWasRemovedUnaskedIsPutAgain) {
    start();
    add_host("10.0.0.5", "swp3");
    world.run_until_quiet();

    world.zebra.remove_unasked({.prefix = IpPrefix::parse("10.0.0.5/32").value()});
    world.run_for(1s);

    EXPECT_TRUE(world.has_route("10.0.0.5"));
}

// zebra keeps a route that lost, shows it to nobody, and selects it when the better one goes.
TEST_F(LeafSim, AHostThatDiesBehindABetterRouteDoesNotComeBackWhenThatGoes) {
    for (const Release release : {Release::Frr8_4, Release::Frr10_3}) {
        SimWorld other(3);
        other.build_leaf();
        other.zebra.release = release;
        const RouteKey key{.prefix = IpPrefix::parse("10.0.0.5/32").value()};
        other.zebra.add_better(key);
        other.zebra.start(false);
        other.planed.start();
        other.run_until_quiet();
        SimHost& host = other.hosts.add("10.0.0.5", "swp3");
        other.hosts.speak(host);
        other.run_for(200s);

        other.kernel.set_cable("swp3", false);
        other.run_for(200s);
        other.zebra.remove_better(key);
        other.run_for(1s);

        EXPECT_THAT(other.routes(), IsEmpty());
        EXPECT_THAT(other.checker.violations(), IsEmpty());
    }
}

TEST_F(LeafSim, ABetterRouteIsLeftAloneAndOursReturnsAfterIt) {
    for (const Release release : {Release::Frr8_4, Release::Frr10_3}) {
        SimWorld other(2);
        other.build_leaf();
        other.zebra.release = release;
        const RouteKey key{.prefix = IpPrefix::parse("10.0.0.5/32").value()};
        other.zebra.add_better(key);
        other.zebra.start(false);
        other.planed.start();
        other.run_until_quiet();
        other.hosts.speak(other.hosts.add("10.0.0.5", "swp3"));
        other.run_for(5min);
        EXPECT_THAT(other.routes(), IsEmpty());
        EXPECT_LT(other.planed.turns(), 2000U);

        other.zebra.remove_better(key);
        other.run_for(90s);
        EXPECT_THAT(other.routes(), ElementsAre("10.0.0.5/32"));
        EXPECT_THAT(other.checker.violations(), IsEmpty());
    }
}

}  // namespace
}  // namespace planed::sim
