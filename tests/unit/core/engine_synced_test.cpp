// SPDX-License-Identifier: Apache-2.0
// Hosts that another leaf of their Ethernet segment knows: whom it vouches for lives here too, what
// this leaf finds out itself comes first, and when the word ends the host is asked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "core/snapshot.hpp"
#include "support/leaf.hpp"

namespace planed {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::string_view kHost = "10.0.0.6";

SyncedSeen synced(std::string_view address, MacAddress from, std::string port = "swp1") {
    return {.vrf = "default",
            .address = ip(address),
            .mac = from,
            .port = std::move(port),
            .leaf = ip("10.66.0.2")};
}
SyncedGone gone(std::string_view address) {
    return {.vrf = "default", .address = ip(address)};
}

std::vector<WriteNeighbor> writes_of(const std::vector<Output>& outputs) {
    return only<WriteNeighbor>(outputs);
}
MATCHER_P3(Writes, address, state, from, "") {
    return arg.key == on_br0(address) && arg.state == state && arg.mac == from && arg.ext_learned;
}

std::vector<WriteForwarding> steers_of(const std::vector<Output>& outputs) {
    return only<WriteForwarding>(outputs);
}
MATCHER_P3(Steers, from, port, put, "") {
    return arg.key == in_br0(from) && arg.port == port && arg.put == put;
}

Config with_segment() {
    Config config = serving({"br0"});
    config.evpn.segments = {{.port = "swp1"}};
    return config;
}

/// Its peers have told all they know: 10.0.0.6 lives behind swp1, by another leaf's word.
class SyncedLeaf : public RailLeaf {
public:
    explicit SyncedLeaf(Config config = serving({"br0"})) : RailLeaf(std::move(config)) {
        (void)feed({SyncedSettled{}, synced(kHost, mac(6))});
    }
    [[nodiscard]] const NeighborRecord& host() const {
        return *engine.neighbors().find(on_br0(kHost));
    }
    /// The kernel asks it, in vain.
    std::vector<Output> fail_to_answer() {
        (void)feed(kernel.set(on_br0(kHost), written_by_us(Nud::Probe, mac(6))));
        return feed(kernel.set(on_br0(kHost), failed()));
    }
};

/// An earlier run has left 10.0.0.6 in the kernel, by another leaf's word.
KernelFacts with_heritage() {
    KernelFacts kernel = rail();
    (void)kernel.set(on_br0(kHost), written_by_us(Nud::NoArp, mac(6)));
    (void)kernel.learn(in_br0(mac(6)), kSwp1, true);
    return kernel;
}

// Vouched for -------------------------------------------------------------------------------------

TEST(EngineSynced, AnnouncesAHostThatAnotherLeafKnows) {
    RailLeaf leaf;

    const auto outputs = leaf.feed(synced(kHost, mac(6)));

    const auto all = writes_of(outputs);
    ASSERT_THAT(all, ElementsAre(Writes(kHost, Nud::NoArp, mac(6))));
    EXPECT_TRUE(all.at(0).only_new);
    EXPECT_THAT(routes_of(outputs), ElementsAre(announces(kHost, kBr0)));
    const auto view = EngineView(leaf.engine).host(on_br0(kHost));
    EXPECT_EQ(view->origin, HostOrigin::Evpn);
    EXPECT_EQ(view->port, "swp1");
    EXPECT_EQ(EngineView(leaf.engine).route(route_key(VrfId::Default, ip(kHost)))->origin,
              HostOrigin::Evpn);
}

TEST(EngineSynced, NeverAsksWhomAnotherLeafKnows) {
    Config config = serving({"br0"});
    config.learning.refresh = 30s;
    SyncedLeaf leaf(config);

    for (const WriteNeighbor& write : writes_of(leaf.run_for(5min))) {
        EXPECT_NE(write.key, on_br0(kHost));
    }
    EXPECT_EQ(leaf.host().reason, Reason::Eligible);
}

TEST(EngineSynced, LeavesAHostAloneThatItKnowsItself) {
    RailLeaf leaf;

    EXPECT_THAT(leaf.feed(synced("10.0.0.5", mac(5))), IsEmpty());
    EXPECT_TRUE(leaf.engine.has_evidence(*leaf.engine.neighbors().find(on_br0("10.0.0.5"))));
}

TEST(EngineSynced, GoesWithItsPortAndComesBackWithIt) {
    SyncedLeaf leaf;
    const Link port = bridge_port(kSwp1, "swp1", kBr0);

    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.cut(without_carrier(port)))),
                testing::UnorderedElementsAre(withdraws("10.0.0.5"), withdraws(kHost)));
    // It need not speak first: the other leaf knows that it lives.
    leaf.answer_writes = false;
    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.set(flapped(port)))),
                ElementsAre(announces(kHost, kBr0)));
}

TEST(EngineSynced, HasNoPlaceWithoutItsPortOrInAnotherSubnet) {
    RailLeaf leaf;

    EXPECT_THAT(
        writes_of(leaf.feed(
            {synced(kHost, mac(6), "bond7"),
             synced("192.0.2.6", mac(7)),
             SyncedSeen{.vrf = "red", .address = ip("10.0.0.8"), .mac = mac(8), .port = "swp1"}})),
        IsEmpty());
    // The port comes later.
    constexpr IfIndex kBond7{7};
    const auto outputs = leaf.feed(leaf.kernel.set(bridge_port(kBond7, "bond7", kBr0)));
    EXPECT_THAT(writes_of(outputs), ElementsAre(Writes(kHost, Nud::NoArp, mac(6))));
    EXPECT_THAT(routes_of(outputs), ElementsAre(announces(kHost, kBr0)));
}

TEST(EngineSynced, TakesAnotherMacFromThePeerWithoutAGap) {
    SyncedLeaf leaf;

    const auto outputs = leaf.feed(synced(kHost, mac(16)));

    EXPECT_THAT(writes_of(outputs), ElementsAre(Writes(kHost, Nud::NoArp, mac(16))));
    EXPECT_THAT(routes_of(outputs), IsEmpty());
}

TEST(EngineSynced, AsksAHostHereThatAnotherLeafKnowsByAnotherMac) {
    RailLeaf leaf;

    const auto outputs = leaf.feed(synced("10.0.0.5", mac(15)));
    EXPECT_THAT(writes_of(outputs), ElementsAre(testing::Field(&WriteNeighbor::state, Nud::Probe)));
    EXPECT_THAT(routes_of(outputs), IsEmpty());

    // It is not there any more: now the other leaf's word counts.
    const auto after = leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), failed()));
    EXPECT_THAT(writes_of(after), ElementsAre(Writes("10.0.0.5", Nud::NoArp, mac(15))));
    EXPECT_EQ(leaf.zebra.count(route_key(VrfId::Default, ip("10.0.0.5"))), 1U);
}

TEST(EngineSynced, WritesItsEntryAgainWhenSomebodyHasDeletedIt) {
    SyncedLeaf leaf;

    EXPECT_THAT(writes_of(leaf.feed(leaf.kernel.remove(on_br0(kHost)))),
                ElementsAre(Writes(kHost, Nud::NoArp, mac(6))));
    EXPECT_EQ(leaf.host().reason, Reason::Eligible);
}

TEST(EngineSynced, KeepsTheBoundOfItsInterface) {
    Config config = serving({"br0"});
    config.interfaces.at(0).max_hosts = 2;
    RailLeaf leaf(config);

    EXPECT_THAT(writes_of(leaf.feed({synced("10.0.0.6", mac(6)), synced("10.0.0.7", mac(7))})),
                SizeIs(1));
    EXPECT_EQ(leaf.engine.learning().over_limit, 1U);
}

TEST(EngineSynced, DoesNotTouchAStaticHost) {
    Config config = serving({"br0"});
    config.interfaces.at(0).hosts = {{.address = ip(kHost), .mac = mac(60)}};
    RailLeaf leaf(config);

    EXPECT_THAT(writes_of(leaf.feed(synced(kHost, mac(6)))), IsEmpty());
    EXPECT_EQ(leaf.engine.neighbors().find(on_br0(kHost))->neighbor.mac, mac(60));
}

// Local evidence comes first ----------------------------------------------------------------------

TEST(EngineSynced, BecomesItsOwnOnceItHearsTheHost) {
    SyncedLeaf leaf;
    EXPECT_FALSE(leaf.engine.has_evidence(leaf.host()));

    const auto outputs = leaf.feed(
        HostHeard{.link = kSwp1, .address = ip(kHost), .mac = mac(6), .claim = Claim::Confirms});

    EXPECT_THAT(writes_of(outputs), ElementsAre(Writes(kHost, Nud::Stale, mac(6))));
    EXPECT_THAT(routes_of(outputs), IsEmpty());
    EXPECT_TRUE(leaf.engine.has_evidence(leaf.host()));
    // And stays so when the other leaf's word ends.
    EXPECT_THAT(routes_of(leaf.feed(gone(kHost))), IsEmpty());
    EXPECT_EQ(leaf.host().neighbor.state, Nud::Stale);
}

TEST(EngineSynced, AsksAHostFromTimeToTimeOnceItKnowsItItself) {
    Config config = serving({"br0"});
    config.learning.refresh = 30s;
    SyncedLeaf leaf(config);
    (void)leaf.feed(HostHeard{.link = kSwp1, .address = ip(kHost), .mac = mac(6)});
    ASSERT_EQ(leaf.host().neighbor.state, Nud::Stale);

    EXPECT_THAT(writes_of(leaf.run_for(30s)), testing::Contains(Writes(kHost, Nud::Probe, mac(6))));
}

TEST(EngineSynced, TellsNobodyOfAHostThatItHasHeardBehindAPortThatIsDownNow) {
    RailLeaf leaf;
    (void)leaf.feed(synced("10.0.0.5", mac(5), "swp2"));
    const NeighborRecord& host = *leaf.engine.neighbors().find(on_br0("10.0.0.5"));
    ASSERT_TRUE(leaf.engine.has_evidence(host));

    const auto outputs =
        leaf.feed(leaf.kernel.cut(without_carrier(bridge_port(kSwp1, "swp1", kBr0))));

    EXPECT_FALSE(leaf.engine.has_evidence(host));
    EXPECT_THAT(writes_of(outputs), testing::Contains(Writes("10.0.0.5", Nud::NoArp, mac(5))));
    EXPECT_THAT(steers_of(outputs), ElementsAre(Steers(mac(5), kSwp2, true)));
}

TEST(EngineSynced, BelievesItsEarsRatherThanAnother) {
    SyncedLeaf leaf;

    (void)leaf.feed(HostHeard{.link = kSwp1, .address = ip(kHost), .mac = mac(66)});
    const auto outputs = leaf.run_for(limits::kHeardGrace);

    EXPECT_THAT(writes_of(outputs), ElementsAre(Writes(kHost, Nud::Stale, mac(66))));
    EXPECT_THAT(routes_of(outputs), IsEmpty());
}

TEST(EngineSynced, KeepsAHostThatDoesNotAnswerHereWhileAnotherLeafKnowsIt) {
    SyncedLeaf leaf;
    (void)leaf.feed(HostHeard{.link = kSwp1, .address = ip(kHost), .mac = mac(6)});
    leaf.now += 10min;  // What was heard is old by now.

    const auto outputs = leaf.fail_to_answer();

    EXPECT_THAT(routes_of(outputs), IsEmpty());
    EXPECT_THAT(writes_of(outputs), ElementsAre(Writes(kHost, Nud::NoArp, mac(6))));
    EXPECT_FALSE(leaf.engine.has_evidence(leaf.host()));
}

// The word ends -----------------------------------------------------------------------------------

TEST(EngineSynced, AsksAHostThatNobodyVouchesForAnyMore) {
    SyncedLeaf leaf;

    const auto outputs = leaf.feed(gone(kHost));
    EXPECT_THAT(writes_of(outputs), ElementsAre(Writes(kHost, Nud::Probe, mac(6))));
    EXPECT_THAT(routes_of(outputs), IsEmpty());

    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.set(on_br0(kHost), reachable(mac(6))))), IsEmpty());
    EXPECT_TRUE(leaf.engine.has_evidence(leaf.host()));
}

TEST(EngineSynced, TellsNobodyOfAHostThatIsOnlyAskedYet) {
    SyncedLeaf leaf;
    (void)leaf.feed(gone(kHost));

    ASSERT_EQ(leaf.host().neighbor.state, Nud::Probe);
    EXPECT_FALSE(leaf.engine.has_evidence(leaf.host()));
}

TEST(EngineSynced, TellsNobodyOfAHostThatItHasHeardBeforeItWasAnothers) {
    SyncedLeaf leaf;
    (void)leaf.feed(HostHeard{.link = kSwp1, .address = ip(kHost), .mac = mac(6)});
    leaf.now += 10min;
    (void)leaf.fail_to_answer();
    (void)leaf.feed(gone(kHost));

    ASSERT_EQ(leaf.host().neighbor.state, Nud::Probe);
    EXPECT_FALSE(leaf.engine.has_evidence(leaf.host()));
}

TEST(EngineSynced, LetsGoOfWhomNobodyKnowsAndWhoDoesNotAnswer) {
    SyncedLeaf leaf;
    (void)leaf.feed(gone(kHost));

    EXPECT_THAT(routes_of(leaf.fail_to_answer()), ElementsAre(withdraws(kHost)));
}

TEST(EngineSynced, AsksWithPaceWhenManyLoseTheirWordAtOnce) {
    constexpr std::uint16_t kHosts = 2'000;
    RailLeaf leaf;
    std::vector<Input> told;
    std::vector<Input> untold;
    for (std::uint16_t n = 0; n < kHosts; ++n) {
        const auto address = IpAddress::v4(
            10, 0, static_cast<std::uint8_t>(1 + n / 250), static_cast<std::uint8_t>(1 + n % 250));
        told.emplace_back(SyncedSeen{.vrf = "default",
                                     .address = address,
                                     .mac = mac(static_cast<std::uint16_t>(1000 + n)),
                                     .port = "swp1"});
        untold.emplace_back(SyncedGone{.vrf = "default", .address = address});
    }
    (void)leaf.feed(told);
    (void)leaf.feed(SyncedSettled{});

    const std::size_t at_once = writes_of(leaf.feed(untold)).size();
    EXPECT_LT(at_once, kHosts);
    EXPECT_GE(at_once + writes_of(leaf.run_for(1min)).size(), kHosts);
}

// The bridge --------------------------------------------------------------------------------------

TEST(EngineSynced, ShowsTheBridgeTheWayToWhomItHasNotHeard) {
    RailLeaf leaf;

    EXPECT_THAT(steers_of(leaf.feed(synced(kHost, mac(6)))),
                ElementsAre(Steers(mac(6), kSwp1, true)));
    // And takes that back with the other leaf's word.
    (void)leaf.feed(SyncedSettled{});
    EXPECT_THAT(steers_of(leaf.feed(gone(kHost))), ElementsAre(Steers(mac(6), kSwp1, false)));
    EXPECT_TRUE(leaf.kernel.neighbors().contains(on_br0(kHost))) << "it is asked first";
}

TEST(EngineSynced, LeavesTheBridgeAloneThatHasHeardTheMac) {
    RailLeaf leaf;
    (void)leaf.feed(leaf.kernel.learn(in_br0(mac(6)), kSwp1));

    EXPECT_THAT(steers_of(leaf.feed(synced(kHost, mac(6)))), IsEmpty());
    EXPECT_THAT(steers_of(leaf.feed(gone(kHost))), IsEmpty());
}

// The bridge keeps an entry for five minutes after the last frame, and planed a port for ever.
TEST(EngineSynced, BelievesTheWordRatherThanAPortThatHasBeenSilentSince) {
    RailLeaf leaf;
    (void)leaf.feed(leaf.kernel.learn(in_br0(mac(6)), kSwp2));
    leaf.sent[mac(6)] = leaf.now - 10s;

    const auto outputs = leaf.feed(synced(kHost, mac(6)));

    EXPECT_THAT(steers_of(outputs), ElementsAre(Steers(mac(6), kSwp1, true)));
    EXPECT_THAT(writes_of(outputs), ElementsAre(Writes(kHost, Nud::NoArp, mac(6))));
    EXPECT_EQ(EngineView(leaf.engine).host(on_br0(kHost))->port, "swp1");
    EXPECT_THAT(
        routes_of(leaf.feed(leaf.kernel.cut(without_carrier(bridge_port(kSwp2, "swp2", kBr0))))),
        IsEmpty());
}

TEST(EngineSynced, TakesItsOwnEntryAwayWithTheWordForItsPort) {
    SyncedLeaf leaf(with_segment());
    (void)leaf.feed(leaf.kernel.set(without_carrier(bridge_port(kSwp2, "swp2", kBr0))));

    const auto outputs = leaf.feed(synced(kHost, mac(6), "swp2"));

    EXPECT_THAT(steers_of(outputs), ElementsAre(Steers(mac(6), kSwp1, false)));
    EXPECT_THAT(routes_of(outputs), ElementsAre(withdraws(kHost)));
    EXPECT_THAT(routes_of(leaf.feed(gone(kHost))), IsEmpty()) << "it is not behind swp1 any more";
}

TEST(EngineSynced, BelievesAPortThatItHasBeenHeardBySinceTheWordCame) {
    RailLeaf leaf;
    (void)leaf.feed(leaf.kernel.learn(in_br0(mac(6)), kSwp2));
    leaf.sent[mac(6)] = leaf.now + 1s;  // It goes on sending there.

    const auto outputs = leaf.feed(synced(kHost, mac(6)));

    EXPECT_THAT(steers_of(outputs), IsEmpty());
    EXPECT_EQ(EngineView(leaf.engine).host(on_br0(kHost))->port, "swp2");
}

TEST(EngineSynced, HasNoRouteByAnOldPortWhereTheRightOneIsDown) {
    RailLeaf leaf;
    (void)leaf.feed(leaf.kernel.set(without_carrier(bridge_port(kSwp1, "swp1", kBr0))));
    (void)leaf.feed(leaf.kernel.learn(in_br0(mac(6)), kSwp2));
    leaf.sent[mac(6)] = leaf.now - 10s;

    const auto outputs = leaf.feed(synced(kHost, mac(6)));

    EXPECT_THAT(steers_of(outputs), ElementsAre(Steers(mac(6), kSwp2, false)));
    EXPECT_THAT(routes_of(outputs), IsEmpty());
    // A frame by that other port shows that it is there after all.
    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.learn(in_br0(mac(6)), kSwp2))),
                ElementsAre(announces(kHost, kBr0)));
}

TEST(EngineSynced, FollowsAHostThatItHasLostToAnotherPort) {
    RailLeaf leaf;
    (void)leaf.feed(SyncedSettled{});
    (void)leaf.feed(leaf.kernel.learn(in_br0(mac(6)), kSwp2));
    (void)leaf.feed(leaf.kernel.set(on_br0(kHost), reachable(mac(6))));
    leaf.now += 1min;
    (void)leaf.feed(synced(kHost, mac(6)));
    ASSERT_EQ(EngineView(leaf.engine).host(on_br0(kHost))->port, "swp2");
    leaf.now += 1min;

    (void)leaf.feed(leaf.kernel.set(on_br0(kHost), in_state(Nud::Probe, mac(6))));
    const auto outputs = leaf.feed(leaf.kernel.set(on_br0(kHost), failed()));

    EXPECT_THAT(steers_of(outputs), ElementsAre(Steers(mac(6), kSwp1, true)));
    EXPECT_THAT(routes_of(outputs), IsEmpty());
    EXPECT_EQ(EngineView(leaf.engine).host(on_br0(kHost))->port, "swp1");
}

TEST(EngineSynced, KeepsTheWayAsLongAsOneAddressOfTheMacNeedsIt) {
    SyncedLeaf leaf;
    EXPECT_THAT(steers_of(leaf.feed(synced("10.0.0.7", mac(6)))), IsEmpty());

    EXPECT_THAT(steers_of(leaf.feed(gone(kHost))), IsEmpty());
    EXPECT_THAT(steers_of(leaf.feed(gone("10.0.0.7"))), ElementsAre(Steers(mac(6), kSwp1, false)));
}

TEST(EngineSynced, ShowsTheWayAgainWhenTheBridgeHasForgotten) {
    SyncedLeaf leaf;
    leaf.now += limits::kForwardingRetry;

    EXPECT_THAT(steers_of(leaf.feed(leaf.kernel.unlearn(in_br0(mac(6))))),
                ElementsAre(Steers(mac(6), kSwp1, true)));
}

TEST(EngineSynced, ShowsTheBridgeTheWayToWhereAHostHasMoved) {
    RailLeaf leaf;
    EXPECT_THAT(steers_of(leaf.feed(synced("10.0.0.5", mac(5), "swp2"))), IsEmpty());
    leaf.now += 10min;  // What was heard at swp1 is old by now.
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), written_by_us(Nud::Probe, mac(5))));

    const auto outputs = leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), failed()));

    EXPECT_THAT(steers_of(outputs), ElementsAre(Steers(mac(5), kSwp2, true)));
    EXPECT_THAT(writes_of(outputs), ElementsAre(Writes("10.0.0.5", Nud::NoArp, mac(5))));
    EXPECT_THAT(routes_of(outputs), IsEmpty());
    EXPECT_EQ(leaf.engine.port_of(on_br0("10.0.0.5")).port, kSwp2);
}

TEST(EngineSynced, DoesNotTakeItsOwnEntryForAFrame) {
    SyncedLeaf leaf;
    leaf.now += 2s;

    const auto outputs = leaf.fail_to_answer();

    EXPECT_THAT(only<ReadForwarding>(outputs), SizeIs(1));
    EXPECT_THAT(writes_of(outputs), ElementsAre(Writes(kHost, Nud::NoArp, mac(6))));
    EXPECT_FALSE(leaf.engine.has_evidence(leaf.host()));
    EXPECT_EQ(leaf.engine.learning().mute, 0U);
}

TEST(EngineSynced, TakesAFrameThatTheBridgeHasHeardForEvidence) {
    SyncedLeaf leaf;
    leaf.now += 2s;
    leaf.sent[mac(6)] = leaf.now - 1s;

    EXPECT_THAT(writes_of(leaf.fail_to_answer()), ElementsAre(Writes(kHost, Nud::Stale, mac(6))));
    EXPECT_TRUE(leaf.engine.has_evidence(leaf.host()));
}

TEST(EngineSynced, StaysWhenTheWordEndsAfterItsPortCameBack) {
    SyncedLeaf leaf;
    const Link port = bridge_port(kSwp1, "swp1", kBr0);
    (void)leaf.feed(leaf.kernel.cut(without_carrier(port)));
    (void)leaf.feed(leaf.kernel.set(flapped(port)));

    const auto outputs = leaf.feed(gone(kHost));

    EXPECT_THAT(routes_of(outputs), IsEmpty()) << "it is asked before it is let go";
    EXPECT_THAT(writes_of(outputs), testing::Contains(Writes(kHost, Nud::Probe, mac(6))));
}

TEST(EngineSynced, TakesWithItWhatItHasByAnothersWordAlone) {
    Config config = serving({"br0"});
    config.on_exit = OnExit::Withdraw;
    SyncedLeaf leaf(config);

    const auto outputs = leaf.feed(StopRequested{});

    EXPECT_THAT(steers_of(outputs), ElementsAre(Steers(mac(6), kSwp1, false)));
    EXPECT_FALSE(leaf.kernel.neighbors().contains(on_br0(kHost)));
    EXPECT_TRUE(leaf.kernel.neighbors().contains(on_br0("10.0.0.5")));
}

// Before the peers have spoken --------------------------------------------------------------------

TEST(EngineSynced, WaitsForItsPeersBeforeItDoubtsWhatAnEarlierRunHasLeft) {
    Leaf leaf(serving({"br0"}), with_heritage());
    leaf.start();
    EXPECT_THAT(writes_of(leaf.run_for(2min)), IsEmpty());
    const NeighborRecord& host = *leaf.engine.neighbors().find(on_br0(kHost));
    ASSERT_EQ(host.reason, Reason::Eligible);
    EXPECT_FALSE(leaf.engine.has_evidence(host));

    const auto outputs = leaf.feed(SyncedSettled{});

    EXPECT_THAT(writes_of(outputs), ElementsAre(Writes(kHost, Nud::Probe, mac(6))));
    EXPECT_THAT(routes_of(outputs), IsEmpty());
}

TEST(EngineSynced, LetsNobodyGoWhomAPeerMayYetName) {
    RailLeaf leaf(with_segment());
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), in_state(Nud::Probe, mac(5))));

    const auto outputs = leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), failed()));
    EXPECT_THAT(routes_of(outputs), IsEmpty());
    EXPECT_THAT(writes_of(outputs), ElementsAre(Writes("10.0.0.5", Nud::NoArp, mac(5))));

    // None of them has: it is asked once more.
    EXPECT_THAT(writes_of(leaf.feed(SyncedSettled{})),
                ElementsAre(Writes("10.0.0.5", Nud::Probe, mac(5))));
    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), failed()))),
                ElementsAre(withdraws("10.0.0.5")));
}

TEST(EngineSynced, DoubtsNobodyWhomAPeerHasNamedMeanwhile) {
    Leaf leaf(serving({"br0"}), with_heritage());
    leaf.start();

    EXPECT_THAT(writes_of(leaf.feed({synced(kHost, mac(6)), SyncedSettled{}})), IsEmpty());
}

// With its port up there would be an entry of ours in the bridge.
TEST(EngineSynced, HasNoRouteForWhomAnEarlierRunHadBehindADeadPort) {
    KernelFacts kernel = rail();
    (void)kernel.set(on_br0(kHost), written_by_us(Nud::NoArp, mac(6)));
    Leaf leaf(with_segment(), kernel);
    leaf.start();

    EXPECT_EQ(leaf.engine.neighbors().find(on_br0(kHost))->reason, Reason::PortUnconfirmed);
    EXPECT_EQ(leaf.zebra.count(route_key(VrfId::Default, ip(kHost))), 0U);
}

TEST(EngineSynced, HasNoRouteForWhomItLosesTheWordWhileItsPortIsDown) {
    RailLeaf leaf(with_segment());
    (void)leaf.feed(SyncedSettled{});
    (void)leaf.feed(leaf.kernel.set(without_carrier(bridge_port(kSwp1, "swp1", kBr0))));
    (void)leaf.feed(synced(kHost, mac(6)));

    const auto outputs = leaf.feed(gone(kHost));

    EXPECT_THAT(routes_of(outputs), IsEmpty());
    EXPECT_THAT(writes_of(outputs), testing::Contains(Writes(kHost, Nud::Probe, mac(6))));
    // Whoever answers is there.
    EXPECT_THAT(routes_of(leaf.feed({leaf.kernel.set(on_br0(kHost), reachable(mac(6))),
                                     leaf.kernel.learn(in_br0(mac(6)), kSwp2)})),
                ElementsAre(announces(kHost, kBr0)));
}

// What others are told ----------------------------------------------------------------------------

TEST(EngineSynced, ExplainsWhoseWordItIs) {
    SyncedLeaf leaf;

    const Explanation explanation = EngineView(leaf.engine).explain(ip(kHost));

    EXPECT_EQ(explanation.reason, "eligible");
    EXPECT_THAT(explanation.chain,
                testing::Contains(testing::Field(
                    &Cause::text, testing::HasSubstr("leaf 10.66.0.2 knows it with MAC"))));
}

TEST(EngineSynced, IsEvidenceToOthersAlsoWhileThisLeafLeadsNowhere) {
    Config config = serving({"br0"});
    config.uplinks = {"up0"};
    RailLeaf leaf(config);
    (void)leaf.feed(leaf.kernel.set(without_carrier(leaf.kernel.link(kUp0))));

    const NeighborRecord& host = *leaf.engine.neighbors().find(on_br0("10.0.0.5"));
    EXPECT_EQ(host.reason, Reason::Isolated);
    EXPECT_TRUE(leaf.engine.has_evidence(host));
}

}  // namespace
}  // namespace planed
