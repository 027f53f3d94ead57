// SPDX-License-Identifier: Apache-2.0
// Two leaves that share their servers, one story a test.
#include <cstdio>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/pair.hpp"

namespace planed::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class PairSim : public ::testing::Test {
protected:
    PairSim() { pair.trace.turn_on(400); }

    void start() {
        pair.start();
        pair.run_for(20s);  // Longer than startup_delay and the election.
    }
    /// It has said one thing to the first leaf and then speaks only when asked.
    SimServer& add_server(std::string_view addresses, const std::string& port) {
        SimServer& server = pair.servers.add(addresses, port);
        pair.servers.speak(server);
        return server;
    }
    void TearDown() override {
        for (const std::string& violation : pair.checker.violations()) {
            ADD_FAILURE() << violation;
        }
        if (HasFailure()) {
            std::fputs(pair.trace.text().c_str(), stderr);
        }
    }

    SimPair pair{1};
};

TEST_F(PairSim, WhatOneLeafHearsBothAnnounce) {
    start();
    add_server("10.0.0.5,fd00::5", "swp3");

    pair.run_for(1s);

    EXPECT_THAT(pair.a().routes(), ElementsAre("10.0.0.5/32", "fd00::5/128"));
    EXPECT_THAT(pair.b().routes(), ElementsAre("10.0.0.5/32", "fd00::5/128"));
    pair.checker.at_rest();
}

TEST_F(PairSim, AnHourGoesByInSilence) {
    start();
    add_server("10.0.0.5,fd00::5", "swp3");
    SimServer& other = add_server("10.0.0.6", "swp3");
    SimServer& both = add_server("10.0.0.7", "swp4");
    pair.servers.steer(other, 1);
    both.duplicates = true;
    pair.run_for(60s);
    pair.checker.at_rest();

    pair.checker.expect_silence();
    pair.run_for(1h);

    pair.checker.at_rest();
}

TEST_F(PairSim, AServerThatDiesIsGoneFromBoth) {
    start();
    SimServer& server = add_server("10.0.0.5,fd00::5", "swp3");
    pair.run_for(5min);

    pair.servers.die(server);
    pair.run_for(50s);

    EXPECT_THAT(pair.a().routes(), IsEmpty());
    EXPECT_THAT(pair.b().routes(), IsEmpty());
}

TEST_F(PairSim, AServerThatSpeaksToTheOtherLeafFromNowOnKeepsItsRoutes) {
    start();
    SimServer& server = add_server("10.0.0.5,fd00::5", "swp3");
    pair.run_for(30s);

    for (std::size_t i = 0; i < 10; ++i) {
        pair.servers.steer(server, 1 - server.side);
        pair.run_for(40s);
        EXPECT_TRUE(pair.a().has_route("10.0.0.5"));
        EXPECT_TRUE(pair.b().has_route("10.0.0.5"));
    }
    pair.checker.at_rest();
}

TEST_F(PairSim, APortThatGoesDownTakesTheRouteOfItsLeafAlone) {
    start();
    add_server("10.0.0.5", "swp3");
    pair.run_for(30s);

    pair.a().kernel.set_cable("swp3", false);
    pair.run_for(2s);

    EXPECT_THAT(pair.a().routes(), IsEmpty());
    EXPECT_THAT(pair.b().routes(), ElementsAre("10.0.0.5/32"));

    pair.run_for(2min);
    EXPECT_THAT(pair.b().routes(), ElementsAre("10.0.0.5/32"));
    pair.a().kernel.set_cable("swp3", true);
    pair.run_for(20s);
    pair.checker.at_rest();
}

TEST_F(PairSim, ALeafThatIsKilledCostsTheOtherNothing) {
    start();
    SimServer& server = add_server("10.0.0.5", "swp3");
    pair.servers.set_chatter(server, 5s);
    pair.run_for(30s);

    for (int i = 0; i < 5; ++i) {
        pair.a().planed.kill();
        pair.run_for(pair.random.between(0us, 5s));
        pair.a().planed.start();
        pair.run_for(pair.random.between(0us, 30s));
        EXPECT_THAT(pair.a().routes(), ElementsAre("10.0.0.5/32"));
        EXPECT_THAT(pair.b().routes(), ElementsAre("10.0.0.5/32"));
    }
}

TEST_F(PairSim, ALinkThatIsCutForAMomentCostsNothing) {
    start();
    add_server("10.0.0.5", "swp3");
    pair.run_for(30s);

    pair.link.cut();
    pair.run_for(20s);
    EXPECT_THAT(pair.b().routes(), ElementsAre("10.0.0.5/32"));
    pair.link.mend();
    pair.run_for(60s);

    EXPECT_THAT(pair.b().routes(), ElementsAre("10.0.0.5/32"));
    pair.checker.at_rest();
}

// By what the other leaf has told it alone, for evpn.hold; then it asks, and nobody answers here.
TEST_F(PairSim, WithTheLinkCutForLongEachAnnouncesWhatItHears) {
    start();
    add_server("10.0.0.5", "swp3");
    pair.run_for(30s);

    pair.link.cut();
    pair.run_for(2min);
    EXPECT_THAT(pair.a().routes(), ElementsAre("10.0.0.5/32"));
    EXPECT_THAT(pair.b().routes(), IsEmpty());
    pair.link.mend();
    pair.run_for(60s);

    pair.checker.at_rest();
}

TEST_F(PairSim, AServerThatDiesWhileTheLinkIsCutIsGoneFromBoth) {
    start();
    SimServer& server = add_server("10.0.0.5", "swp3");
    pair.run_for(30s);

    pair.link.cut();
    pair.servers.die(server);
    pair.run_for(2min);

    EXPECT_THAT(pair.a().routes(), IsEmpty());
    EXPECT_THAT(pair.b().routes(), IsEmpty());
    pair.link.mend();
    pair.run_for(60s);
    pair.checker.at_rest();
}

}  // namespace
}  // namespace planed::sim
