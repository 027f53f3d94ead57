// SPDX-License-Identifier: Apache-2.0
// Drain, undrain, probe and forget: what operators ask of an engine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "support/leaf.hpp"

namespace planed::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

DrainScope port(std::string name) {
    return {.kind = DrainScope::Kind::Port, .port = std::move(name)};
}
DrainScope host_scope(std::string_view address) {
    return {.kind = DrainScope::Kind::Host, .address = ip(address)};
}

/// 10.0.0.5 behind swp1 (of RailLeaf), 10.0.0.6 and 10.0.0.7 behind swp2.
class EngineCommands : public testing::Test {
protected:
    EngineCommands() {
        for (const std::uint8_t number : {std::uint8_t{6}, std::uint8_t{7}}) {
            (void)leaf.feed(leaf.kernel.learn(in_br0(mac(number)), kSwp2));
            (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0." + std::to_string(number)),
                                            reachable(mac(number))));
        }
    }
    std::vector<Output> carry_out(const Command& command) {
        EXPECT_TRUE(leaf.engine.concerned_by(command).has_value());
        return std::visit([this](const auto& what) { return leaf.feed(what); }, command);
    }
    std::string refusal(const Command& command) {
        const auto concerned = leaf.engine.concerned_by(command);
        EXPECT_FALSE(concerned.has_value());
        return concerned ? "" : concerned.error().text;
    }
    Reason reason(std::string_view address) {
        return leaf.engine.neighbors().find(on_br0(address))->reason;
    }
    RailLeaf leaf;
};

// Drain -------------------------------------------------------------------------------------------

TEST_F(EngineCommands, DrainsTheWholeLeafAndBringsItBack) {
    EXPECT_EQ(leaf.engine.concerned_by(DrainRequested{}), std::size_t{3});
    const auto drained = carry_out(DrainRequested{});
    EXPECT_THAT(routes_of(drained),
                ElementsAre(withdraws("10.0.0.5"), withdraws("10.0.0.6"), withdraws("10.0.0.7")));
    EXPECT_THAT(only<RememberDrain>(drained), ElementsAre(RememberDrain{.drained = true}));
    EXPECT_EQ(reason("10.0.0.5"), Reason::Drained);
    EXPECT_THAT(EngineView(leaf.engine).health().drains, ElementsAre("leaf"));

    const auto back = carry_out(UndrainRequested{});
    EXPECT_THAT(routes_of(back), SizeIs(3));
    EXPECT_THAT(leaf.zebra, SizeIs(3));
    EXPECT_THAT(only<RememberDrain>(back), ElementsAre(RememberDrain{.drained = false}));
    EXPECT_THAT(EngineView(leaf.engine).health().drains, IsEmpty());
}

TEST_F(EngineCommands, DrainsOnePort) {
    const auto outputs = carry_out(DrainRequested{.scope = port("swp2")});

    EXPECT_THAT(routes_of(outputs), ElementsAre(withdraws("10.0.0.6"), withdraws("10.0.0.7")));
    EXPECT_EQ(reason("10.0.0.5"), Reason::Eligible);
}

TEST_F(EngineCommands, DrainsOneHost) {
    EXPECT_THAT(routes_of(carry_out(DrainRequested{.scope = host_scope("10.0.0.6")})),
                ElementsAre(withdraws("10.0.0.6")));
}

TEST_F(EngineCommands, AHostThatMovesToADrainedPortIsDrained) {
    (void)carry_out(DrainRequested{.scope = port("swp2")});

    const auto moved = leaf.feed(leaf.kernel.learn(in_br0(mac(5)), kSwp2));
    EXPECT_THAT(routes_of(moved), ElementsAre(withdraws("10.0.0.5")));

    const auto back = leaf.feed(leaf.kernel.learn(in_br0(mac(5)), kSwp1));
    EXPECT_THAT(routes_of(back), ElementsAre(announces("10.0.0.5", kBr0)));
}

TEST_F(EngineCommands, WhatTwoDrainsCoverComesBackWithTheSecond) {
    (void)carry_out(DrainRequested{.scope = port("swp2")});
    (void)carry_out(DrainRequested{.scope = host_scope("10.0.0.6")});

    EXPECT_THAT(routes_of(carry_out(UndrainRequested{.scope = port("swp2")})),
                ElementsAre(announces("10.0.0.7", kBr0)));
    EXPECT_THAT(routes_of(carry_out(UndrainRequested{.scope = host_scope("10.0.0.6")})),
                ElementsAre(announces("10.0.0.6", kBr0)));
}

TEST_F(EngineCommands, DrainingTwiceIsNothingNew) {
    (void)carry_out(DrainRequested{});

    const auto again = carry_out(DrainRequested{});
    EXPECT_THAT(routes_of(again), IsEmpty());
    EXPECT_THAT(only<RememberDrain>(again), IsEmpty());
}

// Nothing that guards against failures holds up what somebody wants.
TEST(EngineCommandsHolds, NeitherDelaysNorShieldKeepADrainedRoute) {
    Config config = serving({"br0"});
    config.routes.withdraw_delay = {.silent = 10s, .port_down = 10s};
    config.routes.max_withdraw = {.share_percent = 1, .at_least = 1, .window = 10s};
    RailLeaf leaf(config);

    EXPECT_THAT(routes_of(leaf.feed(DrainRequested{})), ElementsAre(withdraws("10.0.0.5")));
}

TEST(EngineCommandsHolds, GoesOnLearningAndAskingWhileDrained) {
    Config config = serving({"br0"});
    config.learning.refresh = 30s;
    RailLeaf leaf(config);
    (void)leaf.feed(DrainRequested{});

    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.set(on_br0("10.0.0.8"), reachable(mac(8))))),
                IsEmpty());
    EXPECT_THAT(writes_of(leaf.run_for(40s)),
                Contains(testing::AllOf(testing::Field(&WriteNeighbor::key, on_br0("10.0.0.5")),
                                        testing::Field(&WriteNeighbor::state, Nud::Probe))));
    EXPECT_THAT(routes_of(leaf.feed(UndrainRequested{})), Contains(announces("10.0.0.8", kBr0)));
}

// It is there when the drain ends.
TEST_F(EngineCommands, PutsBackADrainedHostThatTheGarbageCollectorTakes) {
    (void)carry_out(DrainRequested{});

    (void)leaf.feed(leaf.kernel.collect(on_br0("10.0.0.5")));
    EXPECT_THAT(writes_of(leaf.run_for(limits::kCollectedGrace + 1s)), SizeIs(1));
    EXPECT_THAT(routes_of(carry_out(UndrainRequested{})), SizeIs(3));
}

TEST_F(EngineCommands, ADeadHostDoesNotComeBackFromADrain) {
    (void)carry_out(DrainRequested{});
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.6"), failed()));

    EXPECT_THAT(routes_of(carry_out(UndrainRequested{})),
                ElementsAre(announces("10.0.0.5", kBr0), announces("10.0.0.7", kBr0)));
}

TEST(EngineCommandsPaced, ManyHostsLeaveInOrderAndPaced) {
    RailLeaf leaf;
    for (std::uint8_t number = 10; number < 210; ++number) {
        (void)leaf.feed(
            leaf.kernel.set(on_br0("10.0.1." + std::to_string(number)), reachable(mac(number))));
    }
    ASSERT_THAT(leaf.zebra, SizeIs(201));

    const auto first = routes_of(leaf.feed(DrainRequested{}));
    ASSERT_THAT(first, SizeIs(limits::kDrainedAtOnce));
    EXPECT_EQ(first.at(1), withdraws("10.0.1.10"));
    EXPECT_THAT(routes_of(leaf.run_for(limits::kDrainPace)), SizeIs(limits::kDrainedAtOnce));
    (void)leaf.run_for(3 * limits::kDrainPace);
    EXPECT_THAT(leaf.zebra, IsEmpty());
}

TEST(EngineCommandsRestart, AnnouncesNothingThatWasDrainedBefore) {
    KernelFacts kernel = rail();
    (void)kernel.set(on_br0("10.0.0.5"), reachable(mac(5)));
    Leaf leaf(serving({"br0"}), std::move(kernel));
    (void)leaf.feed(DrainRemembered{});

    EXPECT_THAT(routes_of(leaf.feed(ZapiUp{.family = "C"})), IsEmpty());
    EXPECT_THAT(EngineView(leaf.engine).health().drains, ElementsAre("leaf"));
}

TEST(EngineCommandsRestart, UndrainWaitsUntilTheLeafIsReady) {
    KernelFacts kernel = rail();
    (void)kernel.set(on_br0("10.0.0.5"), reachable(mac(5)));
    Leaf leaf(serving({"br0"}), std::move(kernel));
    (void)leaf.feed(DrainRemembered{});

    const auto asked = leaf.feed(UndrainRequested{});
    EXPECT_THAT(only<RememberDrain>(asked), IsEmpty());
    EXPECT_THAT(EngineView(leaf.engine).health().drains,
                ElementsAre("leaf, until the leaf is ready"));

    auto outputs = leaf.feed(ZapiUp{.family = "C"});
    const auto later = leaf.run_for(2s);
    outputs.insert(outputs.end(), later.begin(), later.end());
    EXPECT_THAT(routes_of(outputs), ElementsAre(announces("10.0.0.5", kBr0)));
    EXPECT_THAT(EngineView(leaf.engine).health().drains, IsEmpty());
}

TEST_F(EngineCommands, RefusesToDrainWhatIsNotThere) {
    EXPECT_THAT(refusal(DrainRequested{.scope = port("swp9")}), HasSubstr("no server port swp9"));
    EXPECT_THAT(refusal(DrainRequested{.scope = port("up0")}), HasSubstr("no server port up0"));
    EXPECT_THAT(refusal(DrainRequested{.scope = host_scope("10.0.0.99")}),
                HasSubstr("no host 10.0.0.99"));
    EXPECT_THAT(refusal(UndrainRequested{.scope = port("swp2")}),
                HasSubstr("port swp2 is not drained"));
    EXPECT_EQ(leaf.engine.concerned_by(UndrainRequested{}), std::size_t{0});
}

TEST(DrainScopes, AreReadAsTheyWerePrinted) {
    for (const DrainScope& scope :
         {DrainScope{}, port("swp2"), host_scope("fd00::5"), host_scope("10.0.0.5")}) {
        EXPECT_EQ(parse_drain_scope(to_string(scope)), scope);
    }
    for (const std::string_view wrong :
         {"", "leaf ", "port", "port ", "host x", "hosts 10.0.0.5"}) {
        EXPECT_EQ(parse_drain_scope(wrong), std::nullopt) << wrong;
    }
}

// Probe and forget --------------------------------------------------------------------------------

TEST_F(EngineCommands, ProbesAHostByAnInstructionToTheKernel) {
    const auto writes = writes_of(carry_out(ProbeRequested{.address = ip("10.0.0.5")}));

    ASSERT_THAT(writes, SizeIs(1));
    EXPECT_EQ(writes.at(0).state, Nud::Probe);
    EXPECT_EQ(writes.at(0).mac, mac(5));
}

TEST_F(EngineCommands, ProbesAnAddressThatNobodyHasSeen) {
    const auto writes = writes_of(carry_out(ProbeRequested{.address = ip("10.0.0.77")}));

    ASSERT_THAT(writes, SizeIs(1));
    EXPECT_TRUE(writes.at(0).resolve);
}

TEST_F(EngineCommands, ProbesNothingThatCanBeNoHost) {
    EXPECT_THAT(refusal(ProbeRequested{.address = ip("192.0.2.1")}),
                HasSubstr("planectl explain 192.0.2.1"));
}

// Its MAC sends, and that kept it: for an operator it does not count.
TEST_F(EngineCommands, AForgottenHostIsGoneUnlessItAnswers) {
    (void)carry_out(ForgetRequested{.address = ip("10.0.0.5")});
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), in_state(Nud::Probe, mac(5))));
    leaf.now += 6s;
    leaf.sent[mac(5)] = leaf.now;

    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), failed()))),
                ElementsAre(withdraws("10.0.0.5")));
}

TEST_F(EngineCommands, AForgottenHostThatAnswersStaysAndIsBelievedAgain) {
    const auto asked = writes_of(carry_out(ForgetRequested{.address = ip("10.0.0.5")}));
    ASSERT_THAT(asked, SizeIs(1));
    EXPECT_EQ(asked.at(0).state, Nud::Probe);
    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), reachable(mac(5))))),
                IsEmpty());

    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), in_state(Nud::Probe, mac(5))));
    leaf.now += 6s;
    leaf.sent[mac(5)] = leaf.now;
    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), failed()))), IsEmpty());
}

TEST_F(EngineCommands, AForgottenHostThatSpeaksIsBelievedAgain) {
    (void)carry_out(ForgetRequested{.address = ip("10.0.0.5")});
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), in_state(Nud::Probe, mac(5))));
    leaf.now += 3s;
    (void)leaf.feed(HostHeard{.link = kSwp1, .address = ip("10.0.0.5"), .mac = mac(5)});
    leaf.now += 3s;

    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), failed()))), IsEmpty());
}

TEST_F(EngineCommands, TouchesNoStaticHost) {
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.9"), in_state(Nud::Permanent, mac(9))));

    EXPECT_THAT(refusal(ProbeRequested{.address = ip("10.0.0.9")}), HasSubstr("is static"));
    EXPECT_THAT(writes_of(leaf.feed(ProbeRequested{.address = ip("10.0.0.9")})), IsEmpty());
    EXPECT_THAT(writes_of(leaf.feed(ForgetRequested{.address = ip("10.0.0.9")})), IsEmpty());
}

TEST_F(EngineCommands, ForgetsNoStaticHostAndNobodyUnknown) {
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.9"), in_state(Nud::Permanent, mac(9))));

    EXPECT_THAT(refusal(ForgetRequested{.address = ip("10.0.0.9")}), HasSubstr("is static"));
    EXPECT_THAT(refusal(ForgetRequested{.address = ip("10.0.0.99")}),
                HasSubstr("no host 10.0.0.99"));
}

}  // namespace
}  // namespace planed::test
