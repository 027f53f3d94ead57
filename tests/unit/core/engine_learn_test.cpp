// SPDX-License-Identifier: Apache-2.0
// Hosts that were heard, and hosts that must prove again that they live.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "support/leaf.hpp"

namespace planed::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

HostHeard heard(std::string_view address, MacAddress from, IfIndex link = kSwp1) {
    return {.link = link, .address = ip(address), .mac = from};
}
HostHeard with_claim(HostHeard heard, Claim claim) {
    heard.claim = claim;
    return heard;
}
HostHeard tagged(HostHeard heard, std::uint16_t vlan) {
    heard.vlan = VlanId{vlan};
    return heard;
}

Config refreshing(Duration refresh) {
    Config config = serving({"br0"});
    config.learning.refresh = refresh;
    return config;
}

// Where planed listens ----------------------------------------------------------------------------

TEST(EngineLearn, ListensOnThePortsOfWhatIsServed) {
    Leaf leaf(serving({"br0"}), rail());
    const auto listens = only<Listen>(leaf.feed(ZapiUp{.family = "C"}));

    ASSERT_THAT(listens, SizeIs(1));
    EXPECT_THAT(listens.at(0).places,
                ElementsAre(Listen::Place{.link = kSwp1, .name = "swp1"},
                            Listen::Place{.link = kSwp2, .name = "swp2"}));
}

TEST(EngineLearn, ListensOnARoutedInterfaceItself) {
    KernelFacts kernel = rail();
    (void)kernel.set_address(kUp0, prefix("10.9.0.1/24"));
    Leaf leaf(serving({"up0"}), std::move(kernel));

    const auto listens = only<Listen>(leaf.feed(ZapiUp{.family = "C"}));

    ASSERT_THAT(listens, SizeIs(1));
    EXPECT_THAT(listens.at(0).places,
                ElementsAre(Listen::Place{.link = kUp0, .name = "up0", .routed = true}));
}

TEST(EngineLearn, ListensNowhereIfItShallNot) {
    Config config = serving({"br0"});
    config.interfaces.at(0).snoop = false;
    RailLeaf leaf(config);

    EXPECT_THAT(writes_of(leaf.feed(heard("10.0.0.6", mac(6)))), IsEmpty());
    EXPECT_EQ(leaf.engine.learning().ignored, 1U);
}

TEST(EngineLearn, ListensOnAPortThatComesAndNoMoreOnOneThatGoes) {
    constexpr IfIndex kSwp3{3};
    RailLeaf leaf;

    const auto more = only<Listen>(leaf.feed(leaf.kernel.set(bridge_port(kSwp3, "swp3", kBr0))));
    ASSERT_THAT(more, SizeIs(1));
    EXPECT_THAT(more.at(0).places, SizeIs(3));
    const auto less = only<Listen>(leaf.feed(leaf.kernel.remove_link(kSwp1)));
    ASSERT_THAT(less, SizeIs(1));
    EXPECT_THAT(less.at(0).places, SizeIs(2));
}

TEST(EngineLearn, SaysWhereItCannotListen) {
    RailLeaf leaf;

    (void)leaf.feed(Listening{.interface = "swp1", .error = Error{.text = "no right"}});
    EXPECT_EQ(leaf.engine.degraded().at("snooping swp1"), "no right");
    (void)leaf.feed(Listening{.interface = "swp1"});
    EXPECT_FALSE(leaf.engine.degraded().contains("snooping swp1"));
}

// What was heard ----------------------------------------------------------------------------------

TEST(EngineLearn, GivesTheKernelAHostThatItDoesNotHave) {
    RailLeaf leaf;

    const auto outputs = leaf.feed(heard("10.0.0.6", mac(6)));

    const auto writes = writes_of(outputs);
    ASSERT_THAT(writes, SizeIs(1));
    EXPECT_EQ(writes.at(0),
              (WriteNeighbor{.request = writes.at(0).request,
                             .key = on_br0("10.0.0.6"),
                             .mac = mac(6),
                             .state = Nud::Stale,
                             .ext_learned = true,
                             .only_new = true}));
    EXPECT_THAT(routes_of(outputs), ElementsAre(announces("10.0.0.6", kBr0)));
}

TEST(EngineLearn, LeavesAloneWhatTheKernelHas) {
    RailLeaf leaf;

    EXPECT_THAT(leaf.feed(heard("10.0.0.5", mac(5))), IsEmpty());
}

TEST(EngineLearn, WritesOnceForManyFrames) {
    RailLeaf leaf;
    leaf.answer_writes = false;

    const std::vector<Input> frames(100, heard("10.0.0.6", mac(6)));

    EXPECT_THAT(writes_of(leaf.feed(frames)), SizeIs(1));
}

TEST(EngineLearn, BelievesNoHostThatCannotBeOneHere) {
    RailLeaf leaf;
    const std::vector<Input> frames{
        heard("10.0.0.1", link_mac(kBr0)),           // The gateway, as another leaf has it too.
        heard("10.0.0.0", mac(6)),                   // The subnet's own.
        heard("10.0.255.255", mac(6)),               // Its broadcast address.
        heard("192.0.2.5", mac(6)),                  // Of no subnet here.
        heard("fe80::5", mac(6)),                    // Link-local.
        heard("224.0.0.5", mac(6)),                  // Multicast.
        heard("10.0.0.6", link_mac(kBr0)),           // Our own MAC.
        heard("10.0.0.6", mac("01:00:5e:00:00:05"))  // A group's.
    };

    EXPECT_THAT(leaf.feed(frames), IsEmpty());
    EXPECT_EQ(leaf.engine.learning().ignored, frames.size());
}

TEST(EngineLearn, BelievesNothingFromAPortThatIsDownOrJustCameUp) {
    RailLeaf leaf;
    (void)leaf.feed(leaf.kernel.cut(without_carrier(bridge_port(kSwp2, "swp2", kBr0))));

    EXPECT_THAT(leaf.feed(heard("10.0.0.6", mac(6), kSwp2)), IsEmpty());
    // The frame may have waited since before the loss.
    EXPECT_THAT(writes_of(leaf.feed({leaf.kernel.set(flapped(bridge_port(kSwp2, "swp2", kBr0))),
                                     heard("10.0.0.6", mac(6), kSwp2)})),
                IsEmpty());
    EXPECT_THAT(writes_of(leaf.feed(heard("10.0.0.6", mac(6), kSwp2))), SizeIs(1));
}

TEST(EngineLearn, GivesTheKernelTimeToLearnAnotherMacItself) {
    RailLeaf leaf;
    (void)leaf.feed(heard("10.0.0.5", mac(9)));
    EXPECT_THAT(writes_of(leaf.run_for(limits::kHeardGrace - 1ms)), IsEmpty());

    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), stale(mac(9))));

    EXPECT_THAT(writes_of(leaf.run_for(1s)),
                testing::Each(testing::Field(&WriteNeighbor::state, Nud::Probe)));
}

TEST(EngineLearn, WritesAnotherMacThatTheKernelDoesNotTake) {
    RailLeaf leaf;
    (void)leaf.feed(heard("10.0.0.5", mac(9)));

    const auto outputs = leaf.run_for(limits::kHeardGrace);

    const auto writes = writes_of(outputs);
    ASSERT_THAT(writes, SizeIs(1));
    EXPECT_EQ(writes.at(0).mac, mac(9));
    EXPECT_FALSE(writes.at(0).only_new);
    EXPECT_THAT(routes_of(outputs), IsEmpty());
}

TEST(EngineLearn, DoesNotMoveAHostOnAWeakClaim) {
    RailLeaf leaf;

    (void)leaf.feed(with_claim(heard("10.0.0.5", mac(9)), Claim::Creates));
    (void)leaf.feed(with_claim(heard("10.0.0.5", mac(9)), Claim::Confirms));
    (void)leaf.feed(with_claim(heard("10.0.0.6", mac(9)), Claim::Confirms));

    EXPECT_THAT(writes_of(leaf.run_for(1s)), IsEmpty());
}

TEST(EngineLearn, RevivesAHostThatTheKernelHasGivenUp) {
    RailLeaf leaf;
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), failed()));

    const auto outputs = leaf.feed(heard("10.0.0.5", mac(5)));

    EXPECT_THAT(writes_of(outputs), SizeIs(1));
    EXPECT_THAT(routes_of(outputs), ElementsAre(announces("10.0.0.5", kBr0)));
}

TEST(EngineLearn, LeavesAPermanentEntryAsItIs) {
    RailLeaf leaf;
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.7"), in_state(Nud::Permanent, mac(7))));

    (void)leaf.feed(heard("10.0.0.7", mac(9)));

    EXPECT_THAT(writes_of(leaf.run_for(1s)), IsEmpty());
}

TEST(EngineLearn, ConfirmsThePortThatAHostIsHeardOn) {
    RailLeaf leaf;
    const Link port = bridge_port(kSwp1, "swp1", kBr0);
    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.cut(without_carrier(port)))),
                ElementsAre(withdraws("10.0.0.5")));
    leaf.answer_writes = false;
    (void)leaf.feed(leaf.kernel.set(flapped(port)));

    EXPECT_THAT(routes_of(leaf.feed(heard("10.0.0.5", mac(5), kSwp2))), IsEmpty());
    EXPECT_THAT(routes_of(leaf.feed(heard("10.0.0.5", mac(5), kSwp1))),
                ElementsAre(announces("10.0.0.5", kBr0)));
}

// A server that invents hosts ---------------------------------------------------------------------

TEST(EngineLearn, BoundsTheAddressesOfOneMac) {
    RailLeaf leaf;
    std::vector<Input> frames;
    for (std::uint8_t high = 1; high <= 4; ++high) {
        for (std::uint8_t low = 1; low <= 250; ++low) {
            frames.emplace_back(HostHeard{
                .link = kSwp1, .address = IpAddress::v4(10, 0, high, low), .mac = mac(66)});
            (void)leaf.feed(frames.back());
        }
    }

    EXPECT_EQ(leaf.engine.learning().written, limits::kAddressesPerMacMax);
    EXPECT_EQ(leaf.engine.learning().over_limit, frames.size() - limits::kAddressesPerMacMax);
}

TEST(EngineLearn, BoundsTheHostsOfAnInterface) {
    Config config = serving({"br0"});
    config.interfaces.at(0).max_hosts = 10;
    RailLeaf leaf(config);
    for (std::uint16_t n = 100; n < 200; ++n) {
        (void)leaf.feed(HostHeard{.link = kSwp1,
                                  .address = IpAddress::v4(10, 0, 1, static_cast<std::uint8_t>(n)),
                                  .mac = mac(n)});
    }

    EXPECT_EQ(leaf.engine.learning().written, 9U);  // 10.0.0.5 is one.
}

TEST(EngineLearn, BoundsWhatWaitsForTheKernel) {
    RailLeaf leaf;
    std::vector<Input> frames{EventsWaiting{.kind = DumpKind::Neighbors}};
    for (std::uint16_t n = 0; n < 20'000; ++n) {
        frames.emplace_back(
            HostHeard{.link = kSwp1,
                      .address = IpAddress::v4(10,
                                               0,
                                               static_cast<std::uint8_t>(1 + n / 250),
                                               static_cast<std::uint8_t>(1 + n % 250)),
                      .mac = mac(static_cast<std::uint16_t>(1000 + n))});
    }

    EXPECT_THAT(writes_of(leaf.turn(frames)), IsEmpty());
    EXPECT_EQ(leaf.engine.learning().over_limit, 20'000 - limits::kHeardMax);
    EXPECT_THAT(writes_of(leaf.turn(std::vector<Input>{})), SizeIs(limits::kHeardPerTurnMax));
}

// VLANs -------------------------------------------------------------------------------------------

class TaggedLeaf : public Leaf {
public:
    static constexpr IfIndex kBr{20};
    static constexpr IfIndex kVlan100{21};
    static constexpr IfIndex kVlan200{22};
    static constexpr IfIndex kSwp20{23};

    TaggedLeaf() : Leaf(serving({"Vlan100", "Vlan200"}), facts()) { start(); }

    static NeighborKey on_vlan100(std::string_view address) {
        return {.link = kVlan100, .address = ip(address)};
    }

private:
    static KernelFacts facts() {
        KernelFacts kernel;
        (void)kernel.set(filtering_bridge(kBr, "Bridge"));
        (void)kernel.set(vlan_interface(kVlan100, "Vlan100", kBr, VlanId{100}));
        (void)kernel.set(vlan_interface(kVlan200, "Vlan200", kBr, VlanId{200}));
        (void)kernel.set(bridge_port(kSwp20, "swp20", kBr));
        (void)kernel.set_address(kVlan100, prefix("10.100.0.1/16"));
        (void)kernel.set_address(kVlan200, prefix("10.200.0.1/16"));
        return kernel;
    }
};

TEST(EngineLearn, TakesATagForItsVlan) {
    TaggedLeaf leaf;

    const auto writes =
        writes_of(leaf.feed(tagged(heard("10.100.0.5", mac(5), TaggedLeaf::kSwp20), 100)));

    ASSERT_THAT(writes, SizeIs(1));
    EXPECT_EQ(writes.at(0).key, TaggedLeaf::on_vlan100("10.100.0.5"));
    EXPECT_THAT(leaf.feed(tagged(heard("10.100.0.6", mac(6), TaggedLeaf::kSwp20), 300)), IsEmpty());
}

TEST(EngineLearn, AsksTheBridgeForTheVlanOfAnUntaggedFrame) {
    TaggedLeaf leaf;
    EXPECT_THAT(leaf.feed(heard("10.100.0.5", mac(5), TaggedLeaf::kSwp20)), IsEmpty());

    (void)leaf.feed(leaf.kernel.learn(
        {.bridge = TaggedLeaf::kBr, .vlan = VlanId{100}, .mac = mac(5)}, TaggedLeaf::kSwp20));
    const auto writes = writes_of(leaf.feed(heard("10.100.0.5", mac(5), TaggedLeaf::kSwp20)));

    ASSERT_THAT(writes, SizeIs(1));
    EXPECT_EQ(writes.at(0).key, TaggedLeaf::on_vlan100("10.100.0.5"));
}

TEST(EngineLearn, BelievesNoTagOnABridgeWithoutVlans) {
    RailLeaf leaf;

    EXPECT_THAT(leaf.feed(tagged(heard("10.0.0.6", mac(6)), 100)), IsEmpty());
}

// Refresh -----------------------------------------------------------------------------------------

TEST(EngineLearn, AsksEveryHostWithinTheRefresh) {
    RailLeaf leaf(refreshing(30s));
    leaf.answer_writes = false;
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), stale(mac(5))));
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), reachable(mac(5))));

    EXPECT_THAT(writes_of(leaf.run_for(20s)), IsEmpty());
    const auto writes = writes_of(leaf.run_for(6s));

    ASSERT_THAT(writes, SizeIs(1));
    EXPECT_EQ(writes.at(0).key, on_br0("10.0.0.5"));
    EXPECT_EQ(writes.at(0).state, Nud::Probe);
    EXPECT_EQ(leaf.engine.learning().refreshed, 1U);
}

TEST(EngineLearn, AsksAgainAndAgain) {
    RailLeaf leaf(refreshing(30s));
    leaf.answer_writes = false;

    const auto writes = writes_of(leaf.run_for(5min));

    EXPECT_GE(writes.size(), 10U);
    EXPECT_LE(writes.size(), 15U);
}

TEST(EngineLearn, DoesNotAskWhomItHears) {
    RailLeaf leaf(refreshing(30s));
    std::vector<WriteNeighbor> writes;
    for (int i = 0; i < 30; ++i) {
        (void)leaf.feed(heard("10.0.0.5", mac(5)));
        const auto more = writes_of(leaf.run_for(10s));
        writes.insert(writes.end(), more.begin(), more.end());
    }

    EXPECT_THAT(writes, IsEmpty());
}

TEST(EngineLearn, AsksAHostWhoseEntryIsNoLongerPermanent) {
    Config config = serving({"br0"});
    config.learning.refresh = 30s;
    RailLeaf leaf(config);
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.7"), in_state(Nud::Permanent, mac(7))));
    (void)leaf.run_for(2min);

    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.7"), in_state(Nud::Stale, mac(7))));

    const auto writes = only<WriteNeighbor>(leaf.run_for(30s));
    EXPECT_THAT(
        writes,
        testing::Contains(testing::AllOf(testing::Field(&WriteNeighbor::key, on_br0("10.0.0.7")),
                                         testing::Field(&WriteNeighbor::state, Nud::Probe))));
}

TEST(EngineLearn, DoesNotAskThePermanentAndThoseBehindADeadPort) {
    RailLeaf leaf(refreshing(30s));
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.7"), in_state(Nud::Permanent, mac(7))));
    (void)leaf.feed(leaf.kernel.cut(without_carrier(bridge_port(kSwp1, "swp1", kBr0))));

    EXPECT_THAT(writes_of(leaf.run_for(5min)), IsEmpty());
}

TEST(EngineLearn, FollowsAShorterRefreshAtOnce) {
    RailLeaf leaf(refreshing(24h));
    leaf.answer_writes = false;

    (void)leaf.feed(ConfigChanged{.config = std::make_shared<const Config>(refreshing(10s))});

    EXPECT_THAT(writes_of(leaf.run_for(10s)), SizeIs(1));
}

// Mute hosts --------------------------------------------------------------------------------------

TEST(EngineLearn, KeepsAHostThatSpeaksWhileItDoesNotAnswer) {
    RailLeaf leaf;
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), in_state(Nud::Probe, mac(5))));
    leaf.now += 3s;
    (void)leaf.feed(heard("10.0.0.5", mac(5)));
    leaf.now += 1s;

    const auto outputs = leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), failed()));

    EXPECT_THAT(routes_of(outputs), IsEmpty());
    EXPECT_EQ(leaf.engine.learning().mute, 1U);
    const auto writes = writes_of(outputs);
    ASSERT_THAT(writes, SizeIs(1));
    EXPECT_EQ(writes.at(0).mac, mac(5));
    EXPECT_EQ(writes.at(0).state, Nud::Stale);
}

TEST(EngineLearn, LetsGoOfAHostThatWasHeardLongAgo) {
    RailLeaf leaf;
    (void)leaf.feed(heard("10.0.0.5", mac(5)));
    leaf.now += 16s;
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), in_state(Nud::Probe, mac(5))));
    leaf.now += 6s;

    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), failed()))),
                ElementsAre(withdraws("10.0.0.5")));
}

// A host whose entry is being asked about, and which answers elsewhere.
class Asked : public testing::Test {
protected:
    RailLeaf leaf;

    void begins_to_ask(std::string_view address = "10.0.0.5") {
        (void)leaf.feed(leaf.kernel.set(on_br0(address), in_state(Nud::Probe, mac(5))));
    }
    std::vector<Output> gives_up(std::string_view address = "10.0.0.5") {
        return leaf.feed(leaf.kernel.set(on_br0(address), failed()));
    }
    /// The number of the question to the bridge, which is not answered yet.
    std::uint64_t gives_up_and_is_doubted() {
        const auto questions =
            only<ReadForwarding>(leaf.turn(leaf.kernel.set(on_br0("10.0.0.5"), failed())));
        EXPECT_THAT(questions, SizeIs(1));
        return questions.empty() ? 0 : questions.front().request;
    }
    const NeighborRecord& record(std::string_view address = "10.0.0.5") {
        return *leaf.engine.neighbors().find(on_br0(address));
    }
};
using EngineLearnAsked = Asked;

TEST_F(EngineLearnAsked, KeepsAHostWhoseFramesTheBridgeSees) {
    begins_to_ask();
    leaf.now += 6s;
    leaf.sent[mac(5)] = leaf.now - 10s;

    const auto outputs = gives_up();

    EXPECT_THAT(only<ReadForwarding>(outputs), SizeIs(1));
    EXPECT_THAT(routes_of(outputs), IsEmpty());
    ASSERT_THAT(writes_of(outputs), SizeIs(1));
    EXPECT_EQ(writes_of(outputs).at(0).state, Nud::Stale);
    EXPECT_TRUE(record().mute);
    EXPECT_EQ(record().sent, leaf.now - 10s);
}

TEST_F(EngineLearnAsked, LetsGoOfAHostThatTheBridgeHasNotSeenSince) {
    begins_to_ask();
    leaf.now += 6s;
    leaf.sent[mac(5)] = leaf.now - 22s;

    EXPECT_THAT(routes_of(gives_up()), ElementsAre(withdraws("10.0.0.5")));
}

TEST_F(EngineLearnAsked, LetsGoOfAHostThatTheBridgeDoesNotKnow) {
    begins_to_ask();
    leaf.now += 6s;

    EXPECT_THAT(routes_of(gives_up()), ElementsAre(withdraws("10.0.0.5")));
}

TEST_F(EngineLearnAsked, ToldToTheKernelBeforeThatGivesItUp) {
    begins_to_ask();
    leaf.sent[mac(5)] = leaf.now + 4s;

    const auto writes = writes_of(leaf.run_for(5s));

    ASSERT_THAT(writes, SizeIs(1));
    EXPECT_EQ(writes.at(0).state, Nud::Stale);
    EXPECT_FALSE(writes.at(0).ext_learned);  // It is the kernel's own entry still.
}

TEST_F(EngineLearnAsked, AsksNobodyAboutAHostThatAnswers) {
    begins_to_ask();
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), reachable(mac(5))));

    EXPECT_THAT(only<ReadForwarding>(leaf.run_for(6s)), IsEmpty());
    EXPECT_FALSE(record().mute);
}

TEST_F(EngineLearnAsked, AnswersAgainAndIsMuteNoMore) {
    begins_to_ask();
    leaf.now += 6s;
    leaf.sent[mac(5)] = leaf.now;
    (void)gives_up();

    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), reachable(mac(5))));

    EXPECT_FALSE(record().mute);
}

// The bridge's word comes a moment later than the kernel's, and what has happened meanwhile counts.
TEST_F(EngineLearnAsked, BelievesTheNewestNews) {
    begins_to_ask();
    leaf.now += 6s;
    const std::uint64_t question = gives_up_and_is_doubted();

    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), reachable(mac(5))));
    const auto outputs = leaf.feed(ForwardingRead{.request = question});

    EXPECT_THAT(routes_of(outputs), IsEmpty());
}

TEST_F(EngineLearnAsked, APortThatGoesDownMeanwhileWithdrawsAtOnce) {
    begins_to_ask();
    leaf.now += 6s;
    const std::uint64_t question = gives_up_and_is_doubted();

    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.set(without_carrier(leaf.kernel.link(kSwp1))))),
                ElementsAre(withdraws("10.0.0.5")));
    const auto outputs = leaf.feed(ForwardingRead{.request = question, .silent = 10ms});
    EXPECT_THAT(routes_of(outputs), IsEmpty());
}

TEST_F(EngineLearnAsked, AsksAgainIfTheAnswerIsLost) {
    begins_to_ask();
    leaf.now += 6s;
    const std::uint64_t question = gives_up_and_is_doubted();
    leaf.sent[mac(5)] = leaf.now;

    const auto outputs = leaf.feed(
        ForwardingRead{.request = question, .error = Error{.code = Errc::Lost, .text = "lost"}});

    EXPECT_THAT(only<ReadForwarding>(outputs), SizeIs(1));
    EXPECT_THAT(routes_of(outputs), IsEmpty());
}

TEST_F(EngineLearnAsked, LetsGoOfAnAddressWhoseSiblingAnswersHere) {
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.6"), reachable(mac(5))));
    leaf.now += 1s;
    begins_to_ask();
    leaf.now += 2s;
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.6"), in_state(Nud::Probe, mac(5))));
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.6"), reachable(mac(5))));
    leaf.now += 4s;
    leaf.sent[mac(5)] = leaf.now;

    EXPECT_THAT(routes_of(gives_up()), ElementsAre(withdraws("10.0.0.5")));
}

TEST_F(EngineLearnAsked, AsksTheSiblingToo) {
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.6"), reachable(mac(5))));
    leaf.now += 1s;
    begins_to_ask();
    leaf.answer_writes = false;

    const auto writes = writes_of(leaf.run_for(5s));

    ASSERT_THAT(writes, SizeIs(1));
    EXPECT_EQ(writes.at(0).key, on_br0("10.0.0.6"));
    EXPECT_EQ(writes.at(0).state, Nud::Probe);
}

}  // namespace
}  // namespace planed::test
