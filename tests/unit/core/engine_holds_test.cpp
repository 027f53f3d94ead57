// SPDX-License-Identifier: Apache-2.0
// What stands between a verdict and a route: hosts that have to wait, routes that stay for a while.
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/leaf.hpp"

namespace planed::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

const NeighborKey kHeldHost = on_br0("10.0.0.5");

Config with_add_delay(Duration delay) {
    Config config = serving({"br0"});
    config.routes.add_delay = delay;
    return config;
}
Config with_withdraw_delay(WithdrawDelay delay) {
    Config config = serving({"br0"});
    config.routes.withdraw_delay = delay;
    return config;
}
std::vector<Input> host_six(RailLeaf& leaf) {
    return {leaf.kernel.set(on_br0("10.0.0.6"), reachable(mac(6))),
            leaf.kernel.learn(in_br0(mac(6)), kSwp2)};
}
std::string reason_of_host(const Leaf& leaf, std::string_view address) {
    const auto host = EngineView(leaf.engine).host(on_br0(address));
    return host ? std::string(word(host->reason)) : "no such host";
}
std::string reason_of_route(const Leaf& leaf, std::string_view address) {
    const auto route = EngineView(leaf.engine).route(route_of(address));
    return route ? std::string(route->reason) : "no such route";
}

// add_delay ---------------------------------------------------------------------------------------

TEST(AddDelay, AnnouncesANewHostWhenItHasBeenThereForSoLong) {
    RailLeaf leaf(with_add_delay(5s));

    EXPECT_THAT(routes_of(leaf.feed(host_six(leaf))), IsEmpty());
    EXPECT_THAT(routes_of(leaf.run_for(4999ms)), IsEmpty());
    EXPECT_EQ(reason_of_host(leaf, "10.0.0.6"), "add_delay");
    EXPECT_THAT(routes_of(leaf.run_for(1ms)), ElementsAre(announces("10.0.0.6", kBr0)));
    EXPECT_EQ(reason_of_host(leaf, "10.0.0.6"), "eligible");
}

TEST(AddDelay, BeginsAnewAfterAnInterruption) {
    RailLeaf leaf(with_add_delay(5s));
    (void)leaf.feed(host_six(leaf));
    (void)leaf.run_for(4s);
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.6"), failed()));
    (void)leaf.feed(host_six(leaf));

    EXPECT_THAT(routes_of(leaf.run_for(4s)), IsEmpty());
    EXPECT_THAT(routes_of(leaf.run_for(1s)), ElementsAre(announces("10.0.0.6", kBr0)));
}

TEST(AddDelay, DelaysNobodyWhoIsThereWhenPlanedStarts) {
    KernelFacts kernel = rail();
    (void)kernel.set(kHeldHost, reachable(mac(5)));
    (void)kernel.learn(in_br0(mac(5)), kSwp1);
    Leaf leaf(with_add_delay(1h), kernel);

    EXPECT_THAT(routes_of(leaf.feed(ZapiUp{.family = "C"})),
                ElementsAre(announces("10.0.0.5", kBr0)));
}

TEST(AddDelay, DelaysNobodyWhenZebraRestarts) {
    RailLeaf leaf(with_add_delay(1h));
    (void)leaf.feed(ZapiLost{});
    leaf.zebra.clear();

    EXPECT_THAT(routes_of(leaf.feed(ZapiUp{.family = "C"})),
                ElementsAre(announces("10.0.0.5", kBr0)));
}

TEST(AddDelay, DelaysNobodyWhenTheUplinksReturn) {
    Config config = with_add_delay(1h);
    config.uplinks = {"up0"};
    RailLeaf leaf(config);
    ASSERT_THAT(routes_of(leaf.feed(leaf.kernel.set(without_carrier(leaf.kernel.link(kUp0))))),
                ElementsAre(withdraws("10.0.0.5")));

    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.set(with_carrier(leaf.kernel.link(kUp0))))),
                ElementsAre(announces("10.0.0.5", kBr0)));
}

TEST(AddDelay, IsNoMatterForAHostThatMovesToAnotherInterface) {
    constexpr IfIndex kSwp9{9};
    KernelFacts kernel = rail();
    (void)kernel.set(routed_port(kSwp9, "swp9"));
    (void)kernel.set_address(kSwp9, prefix("10.0.0.1/16"));
    (void)kernel.set(kHeldHost, reachable(mac(5)));
    (void)kernel.learn(in_br0(mac(5)), kSwp1);
    Config config = serving({"br0", "swp9"});
    config.routes.add_delay = 5s;
    Leaf leaf(config, kernel);
    leaf.start();
    const NeighborKey there{.link = kSwp9, .address = ip("10.0.0.5")};
    (void)leaf.feed(leaf.kernel.set(kHeldHost, failed()));

    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.set(there, reachable(mac(5))))),
                ElementsAre(announces("10.0.0.5", kSwp9)));
}

TEST(AddDelay, IsExplained) {
    RailLeaf leaf(with_add_delay(5s));
    (void)leaf.feed(host_six(leaf));

    const Explanation explanation = EngineView(leaf.engine).explain(ip("10.0.0.6"));

    EXPECT_EQ(explanation.verdict, "none");
    EXPECT_EQ(explanation.reason, "add_delay");
    EXPECT_THAT(explanation.chain,
                Contains(Cause{.at = leaf.now + 5s,
                               .stage = "hold",
                               .text = "held back until then, because it is new "
                                       "(routes.add_delay)"}));
}

TEST(AddDelay, FollowsAReload) {
    RailLeaf leaf(with_add_delay(1h));
    (void)leaf.feed(host_six(leaf));

    (void)leaf.feed(ConfigChanged{.config = std::make_shared<const Config>(with_add_delay(1s))});

    EXPECT_THAT(routes_of(leaf.run_for(1s)), ElementsAre(announces("10.0.0.6", kBr0)));
}

// withdraw_delay ----------------------------------------------------------------------------------

TEST(WithdrawDelay, KeepsASilentHostsRouteForSoLong) {
    RailLeaf leaf(with_withdraw_delay({.silent = 5s}));

    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.set(kHeldHost, failed()))), IsEmpty());
    EXPECT_EQ(reason_of_host(leaf, "10.0.0.5"), "failed");
    EXPECT_EQ(reason_of_route(leaf, "10.0.0.5"), "withdraw_delay");
    EXPECT_THAT(routes_of(leaf.run_for(4999ms)), IsEmpty());
    EXPECT_THAT(routes_of(leaf.run_for(1ms)), ElementsAre(withdraws("10.0.0.5")));
}

TEST(WithdrawDelay, SendsNothingForAHostThatIsBackInTime) {
    RailLeaf leaf(with_withdraw_delay({.silent = 5s}));
    (void)leaf.feed(leaf.kernel.set(kHeldHost, failed()));
    (void)leaf.run_for(4s);

    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.set(kHeldHost, reachable(mac(5))))), IsEmpty());
    EXPECT_THAT(routes_of(leaf.run_for(1h)), IsEmpty());
    EXPECT_EQ(leaf.engine.delays().counters().returned, 1U);
}

TEST(WithdrawDelay, KeepsTheRouteOfAHostThatTheKernelHasForgotten) {
    RailLeaf leaf(with_withdraw_delay({.silent = 5s}));

    EXPECT_THAT(
        routes_of(leaf.feed({leaf.kernel.set(kHeldHost, failed()), leaf.kernel.remove(kHeldHost)})),
        IsEmpty());
    const Explanation explanation = EngineView(leaf.engine).explain(ip("10.0.0.5"));
    EXPECT_EQ(explanation.verdict, "installed");
    EXPECT_EQ(explanation.reason, "no_neighbor");
    EXPECT_THAT(explanation.chain,
                Contains(Cause{.at = leaf.now + 5s,
                               .stage = "hold",
                               .text = "kept until then, though it fell silent "
                                       "(routes.withdraw_delay)"}));
    EXPECT_THAT(routes_of(leaf.run_for(5s)), ElementsAre(withdraws("10.0.0.5")));
}

TEST(WithdrawDelay, KeepsARouteWhilePortIsDown) {
    RailLeaf leaf(with_withdraw_delay({.port_down = 5s}));

    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.cut(without_carrier(leaf.kernel.link(kSwp1))))),
                IsEmpty());
    EXPECT_THAT(routes_of(leaf.run_for(4s)), IsEmpty());
    EXPECT_THAT(routes_of(leaf.feed({leaf.kernel.set(with_carrier(leaf.kernel.link(kSwp1))),
                                     leaf.kernel.learn(in_br0(mac(5)), kSwp1)})),
                IsEmpty());
    EXPECT_THAT(routes_of(leaf.run_for(1h)), IsEmpty());
}

TEST(WithdrawDelay, EndsThoughThePortIsBackIfTheHostIsNotHeard) {
    RailLeaf leaf(with_withdraw_delay({.port_down = 5s}));
    leaf.answer_writes = false;
    (void)leaf.feed(leaf.kernel.cut(without_carrier(leaf.kernel.link(kSwp1))));
    (void)leaf.run_for(1s);
    (void)leaf.feed(leaf.kernel.set(with_carrier(leaf.kernel.link(kSwp1))));
    (void)leaf.feed(leaf.kernel.set(kHeldHost, failed()));

    EXPECT_THAT(routes_of(leaf.run_for(3999ms)), IsEmpty());
    EXPECT_THAT(routes_of(leaf.run_for(1ms)), ElementsAre(withdraws("10.0.0.5")));
}

TEST(WithdrawDelay, ReinstallsWhatWasKeptWhenTheInterfaceReturns) {
    RailLeaf leaf(with_withdraw_delay({.port_down = 5s}));
    EXPECT_THAT(routes_of(leaf.feed({leaf.kernel.collect(kHeldHost),
                                     leaf.kernel.set(admin_down(leaf.kernel.link(kBr0)))})),
                IsEmpty());

    Link up = with_carrier(leaf.kernel.link(kBr0));
    up.admin_up = true;
    const auto outputs =
        leaf.feed({leaf.kernel.set(up), leaf.kernel.set(kHeldHost, reachable(mac(5)))});

    EXPECT_THAT(routes_of(outputs),
                ElementsAre(withdraws("10.0.0.5"), announces("10.0.0.5", kBr0)));
    EXPECT_THAT(routes_of(leaf.run_for(1h)), IsEmpty());
}

TEST(WithdrawDelay, OfOneCauseIsNoneOfTheOther) {
    RailLeaf silent(with_withdraw_delay({.silent = 5s}));
    RailLeaf port(with_withdraw_delay({.port_down = 5s}));

    EXPECT_THAT(
        routes_of(silent.feed(silent.kernel.cut(without_carrier(silent.kernel.link(kSwp1))))),
        ElementsAre(withdraws("10.0.0.5")));
    EXPECT_THAT(routes_of(port.feed(port.kernel.set(kHeldHost, failed()))),
                ElementsAre(withdraws("10.0.0.5")));
}

TEST(WithdrawDelay, IsNoneForAnAdministrativeCause) {
    const Config config = with_withdraw_delay({.silent = 1h, .port_down = 1h});
    Config excluded = config;
    excluded.interfaces[0].exclude = {prefix("10.0.0.5/32")};
    Config unserved = config;
    unserved.interfaces.clear();

    for (const Config& changed : {excluded, unserved}) {
        RailLeaf living(config);
        RailLeaf lost(config);
        RailLeaf forgotten(config);
        (void)lost.feed(lost.kernel.set(kHeldHost, failed()));
        (void)forgotten.feed(
            {forgotten.kernel.set(kHeldHost, failed()), forgotten.kernel.remove(kHeldHost)});
        for (RailLeaf* leaf : {&living, &lost, &forgotten}) {
            EXPECT_THAT(routes_of(leaf->feed(
                            ConfigChanged{.config = std::make_shared<const Config>(changed)})),
                        ElementsAre(withdraws("10.0.0.5")));
        }
    }
}

TEST(WithdrawDelay, IsNoneWhenTheLeafIsIsolatedOrALinkIsDeleted) {
    Config config = with_withdraw_delay({.silent = 1h, .port_down = 1h});
    config.uplinks = {"up0"};
    RailLeaf isolated(config);
    (void)isolated.feed(
        {isolated.kernel.set(kHeldHost, failed()), isolated.kernel.remove(kHeldHost)});
    RailLeaf deleted(config);

    EXPECT_THAT(
        routes_of(isolated.feed(isolated.kernel.set(without_carrier(isolated.kernel.link(kUp0))))),
        ElementsAre(withdraws("10.0.0.5")));
    EXPECT_THAT(routes_of(deleted.feed(deleted.kernel.remove_link(kBr0))),
                ElementsAre(withdraws("10.0.0.5")));
}

TEST(WithdrawDelay, TellsReadersOfARouteThatIsKept) {
    RailLeaf leaf(with_withdraw_delay({.silent = 5s}));
    leaf.engine.keep_changes(true);

    (void)leaf.feed(leaf.kernel.set(kHeldHost, failed()));

    EXPECT_THAT(leaf.engine.take_changes().routes, Contains(route_of("10.0.0.5")));
}

// damping -----------------------------------------------------------------------------------------

Config with_damping(Duration add_delay = 0s) {
    Config config = serving({"br0"});
    config.routes.add_delay = add_delay;
    config.routes.damping = {.max_flaps = 2, .window = 60s, .hold = 100s};
    return config;
}
std::vector<SendRoute> flap(RailLeaf& leaf) {
    auto sent = routes_of(leaf.feed(leaf.kernel.set(kHeldHost, failed())));
    const auto back = routes_of(leaf.feed(leaf.kernel.set(kHeldHost, reachable(mac(5)))));
    sent.insert(sent.end(), back.begin(), back.end());
    return sent;
}

TEST(RouteDamping, HoldsAHostBackThatFellSilentTooOften) {
    RailLeaf leaf(with_damping());

    EXPECT_THAT(flap(leaf), ElementsAre(withdraws("10.0.0.5"), announces("10.0.0.5", kBr0)));
    EXPECT_THAT(flap(leaf), ElementsAre(withdraws("10.0.0.5")));
    EXPECT_EQ(reason_of_host(leaf, "10.0.0.5"), "damped");
    EXPECT_THAT(routes_of(leaf.run_for(99999ms)), IsEmpty());
    EXPECT_THAT(routes_of(leaf.run_for(1ms)), ElementsAre(announces("10.0.0.5", kBr0)));
    EXPECT_EQ(reason_of_host(leaf, "10.0.0.5"), "eligible");
}

TEST(RouteDamping, HoldsLongerWhoGoesOnFlapping) {
    RailLeaf leaf(with_damping());
    (void)flap(leaf);
    (void)flap(leaf);

    EXPECT_THAT(flap(leaf), IsEmpty());

    EXPECT_THAT(routes_of(leaf.run_for(199s)), IsEmpty());
    EXPECT_THAT(routes_of(leaf.run_for(1s)), ElementsAre(announces("10.0.0.5", kBr0)));
}

TEST(RouteDamping, TakesAPortThatGoesDownForNoFlap) {
    RailLeaf leaf(with_damping());

    for (int i = 0; i < 5; ++i) {
        EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.cut(without_carrier(leaf.kernel.link(kSwp1))))),
                    ElementsAre(withdraws("10.0.0.5")));
        EXPECT_THAT(routes_of(leaf.feed({leaf.kernel.set(with_carrier(leaf.kernel.link(kSwp1))),
                                         leaf.kernel.learn(in_br0(mac(5)), kSwp1)})),
                    ElementsAre(announces("10.0.0.5", kBr0)));
    }
}

TEST(RouteDamping, HoldsNobodyElseBack) {
    RailLeaf leaf(with_damping());
    (void)flap(leaf);
    (void)flap(leaf);

    EXPECT_THAT(routes_of(leaf.feed(host_six(leaf))), ElementsAre(announces("10.0.0.6", kBr0)));
}

TEST(RouteDamping, LetsNobodyWaitTwice) {
    RailLeaf leaf(with_damping(10s));
    (void)flap(leaf);
    (void)leaf.run_for(10s);
    (void)flap(leaf);

    EXPECT_THAT(routes_of(leaf.run_for(99s)), IsEmpty());
    EXPECT_THAT(routes_of(leaf.run_for(1s)), ElementsAre(announces("10.0.0.5", kBr0)));
}

TEST(RouteDamping, IsExplained) {
    RailLeaf leaf(with_damping());
    (void)flap(leaf);
    (void)flap(leaf);

    const Explanation explanation = EngineView(leaf.engine).explain(ip("10.0.0.5"));

    EXPECT_EQ(explanation.verdict, "none");
    EXPECT_EQ(explanation.reason, "damped");
    EXPECT_THAT(explanation.chain,
                Contains(Cause{.at = leaf.now + 100s,
                               .stage = "hold",
                               .text = "held back until then, because it fell silent 2 times "
                                       "within 60 s (routes.damping)"}));
}

TEST(RouteDamping, ReleasesEverybodyWhenItIsTurnedOff) {
    RailLeaf leaf(with_damping());
    (void)flap(leaf);
    (void)flap(leaf);

    EXPECT_THAT(routes_of(leaf.feed(
                    ConfigChanged{.config = std::make_shared<const Config>(serving({"br0"}))})),
                ElementsAre(announces("10.0.0.5", kBr0)));
}

// max_withdraw ------------------------------------------------------------------------------------

// Ten more hosts on br0, 10.0.1.0 to 10.0.1.9, behind swp2.
class CrowdedLeaf : public RailLeaf {
public:
    static constexpr std::uint16_t kHosts = 10;

    explicit CrowdedLeaf(Config config = shielded()) : RailLeaf(std::move(config)) {
        std::vector<Input> inputs;
        for (std::uint16_t n = 0; n < kHosts; ++n) {
            inputs.push_back(kernel.set(key(n), reachable(mac_of(n))));
            inputs.push_back(kernel.learn(in_br0(mac_of(n)), kSwp2));
        }
        (void)feed(inputs);
    }
    static Config shielded() {
        Config config = serving({"br0"});
        config.routes.max_withdraw = {.share_percent = 50, .at_least = 3, .window = 10s};
        return config;
    }
    static MacAddress mac_of(std::uint16_t n) { return mac(static_cast<std::uint16_t>(0x100 + n)); }
    static NeighborKey key(std::uint16_t n) { return on_br0("10.0.1." + std::to_string(n)); }
    std::vector<Input> fail(std::uint16_t from, std::uint16_t to) {
        std::vector<Input> inputs;
        for (std::uint16_t n = from; n < to; ++n) {
            inputs.push_back(kernel.set(key(n), failed()));
        }
        return inputs;
    }
    bool is_shielded() { return engine.degraded().contains("max_withdraw"); }
};

TEST(MaxWithdraw, LetsAsManyGoAsItsShareAllows) {
    CrowdedLeaf leaf;

    EXPECT_EQ(routes_of(leaf.feed(leaf.fail(0, 5))).size(), 5U);
    EXPECT_FALSE(leaf.is_shielded());
}

TEST(MaxWithdraw, LetsAtLeastSoManyGo) {
    RailLeaf leaf(CrowdedLeaf::shielded());

    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.set(kHeldHost, failed()))),
                ElementsAre(withdraws("10.0.0.5")));
}

TEST(MaxWithdraw, KeepsTheRestAndAsksThemWhenTooManyFallSilent) {
    CrowdedLeaf leaf;
    ASSERT_EQ(routes_of(leaf.feed(leaf.fail(0, 4))).size(), 4U);

    const auto outputs = leaf.turn(leaf.fail(4, 7));

    EXPECT_THAT(routes_of(outputs), IsEmpty());
    EXPECT_THAT(leaf.engine.degraded().at("max_withdraw"),
                testing::StartsWith("3 of 7 announced hosts fell silent at once"));
    const auto asked = only<WriteNeighbor>(outputs);
    ASSERT_EQ(asked.size(), 3U);
    EXPECT_EQ(asked[0],
              (WriteNeighbor{.request = asked[0].request,
                             .key = CrowdedLeaf::key(4),
                             .mac = CrowdedLeaf::mac_of(4),
                             .state = Nud::Probe}));
    EXPECT_EQ(reason_of_route(leaf, "10.0.1.4"), "max_withdraw");
}

TEST(MaxWithdraw, KeepsWhoeverAnswersAndIsOverThen) {
    CrowdedLeaf leaf;
    EXPECT_THAT(routes_of(leaf.feed(leaf.fail(0, 9))), IsEmpty());
    ASSERT_TRUE(leaf.is_shielded());
    leaf.now += 1s;

    std::vector<Input> answers;
    for (std::uint16_t n = 0; n < 9; ++n) {
        answers.push_back(leaf.kernel.set(CrowdedLeaf::key(n), reachable(CrowdedLeaf::mac_of(n))));
    }
    EXPECT_THAT(routes_of(leaf.feed(answers)), IsEmpty());

    EXPECT_FALSE(leaf.is_shielded());
    EXPECT_EQ(leaf.engine.shield().counters().saved, 9U);
    EXPECT_THAT(routes_of(leaf.run_for(1h)), IsEmpty());
}

TEST(MaxWithdraw, LetsTheDeadGoAFewAtATime) {
    CrowdedLeaf leaf;
    (void)leaf.feed(leaf.fail(0, 9));
    leaf.now += 6s;
    EXPECT_EQ(routes_of(leaf.feed(leaf.fail(0, 9))).size(), 3U);

    EXPECT_THAT(routes_of(leaf.run_for(9999ms)), IsEmpty());
    EXPECT_EQ(routes_of(leaf.run_for(1ms)).size(), 3U);
    EXPECT_TRUE(leaf.is_shielded());
    EXPECT_EQ(routes_of(leaf.run_for(10s)).size(), 3U);
    EXPECT_FALSE(leaf.is_shielded());
    EXPECT_EQ(leaf.zebra.size(), 2U);
}

TEST(MaxWithdraw, LetsNobodyWaitForADelayAgainWhoWasAsked) {
    Config config = CrowdedLeaf::shielded();
    config.routes.withdraw_delay.silent = 3s;
    CrowdedLeaf leaf(config);
    (void)leaf.feed(leaf.fail(0, 9));
    EXPECT_THAT(routes_of(leaf.run_for(3s)), IsEmpty());
    ASSERT_TRUE(leaf.is_shielded());
    leaf.now += 6s;

    EXPECT_EQ(routes_of(leaf.feed(leaf.fail(0, 9))).size(), 3U);
    (void)leaf.run_for(20s);

    EXPECT_EQ(leaf.zebra.size(), 2U);
    EXPECT_FALSE(leaf.is_shielded());
}

TEST(MaxWithdraw, LetsTheDeadGoThoughTheKernelNeverSaysWhatBecameOfThem) {
    CrowdedLeaf leaf;
    leaf.answer_writes = false;
    (void)leaf.feed(leaf.fail(0, 9));

    EXPECT_THAT(routes_of(leaf.run_for(9s)), IsEmpty());
    (void)leaf.run_for(10min);

    EXPECT_EQ(leaf.zebra.size(), 2U);
    EXPECT_FALSE(leaf.is_shielded());
}

TEST(MaxWithdraw, AsksThoseWhomTheKernelHasForgottenAltogether) {
    CrowdedLeaf leaf;
    std::vector<Input> inputs = leaf.fail(0, 9);
    for (std::uint16_t n = 0; n < 9; ++n) {
        inputs.push_back(leaf.kernel.remove(CrowdedLeaf::key(n)));
    }

    const auto outputs = leaf.turn(inputs);

    EXPECT_THAT(routes_of(outputs), IsEmpty());
    const auto asked = only<WriteNeighbor>(outputs);
    ASSERT_EQ(asked.size(), 9U);
    EXPECT_EQ(asked[8].mac, CrowdedLeaf::mac_of(8));
    EXPECT_TRUE(asked[8].ext_learned);
}

TEST(MaxWithdraw, IsNoMatterForAPortThatGoesDown) {
    CrowdedLeaf leaf;

    EXPECT_EQ(
        routes_of(leaf.feed(leaf.kernel.cut(without_carrier(leaf.kernel.link(kSwp2))))).size(),
        10U);
    EXPECT_FALSE(leaf.is_shielded());
}

TEST(MaxWithdraw, LetsGuardedHostsGoAtOnceForAnAdministrativeCause) {
    CrowdedLeaf leaf;
    (void)leaf.feed(leaf.fail(0, 9));
    Config unserved = CrowdedLeaf::shielded();
    unserved.interfaces.clear();

    EXPECT_EQ(
        routes_of(leaf.feed(ConfigChanged{.config = std::make_shared<const Config>(unserved)}))
            .size(),
        11U);
    EXPECT_FALSE(leaf.is_shielded());
}

TEST(MaxWithdraw, IsOffAtAHundredPercent) {
    CrowdedLeaf leaf;
    Config off = CrowdedLeaf::shielded();
    off.routes.max_withdraw.share_percent = 100;
    (void)leaf.feed(ConfigChanged{.config = std::make_shared<const Config>(off)});

    EXPECT_EQ(routes_of(leaf.feed(leaf.fail(0, 10))).size(), 10U);
}

// max_hosts ---------------------------------------------------------------------------------------

Config with_max_hosts(std::uint32_t most) {
    Config config = serving({"br0"});
    config.interfaces[0].max_hosts = most;
    return config;
}
Input nth_host(Leaf& leaf, std::uint16_t n) {
    return leaf.kernel.set(on_br0("10.0.2." + std::to_string(n)), reachable(mac(5)));
}

TEST(MaxHosts, AnnouncesNoNewOneAboveTheLimit) {
    RailLeaf leaf(with_max_hosts(2));

    EXPECT_THAT(routes_of(leaf.feed({nth_host(leaf, 1), nth_host(leaf, 2)})),
                ElementsAre(announces("10.0.2.1", kBr0)));
    EXPECT_EQ(reason_of_host(leaf, "10.0.2.2"), "over_limit");
    EXPECT_EQ(EngineView(leaf.engine).explain(ip("10.0.2.2")).reason, "over_limit");
}

TEST(MaxHosts, AnnouncesWhoeverWaitsWhenAnotherGoes) {
    RailLeaf leaf(with_max_hosts(2));
    (void)leaf.feed({nth_host(leaf, 1), nth_host(leaf, 2), nth_host(leaf, 3)});

    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.set(kHeldHost, failed()))),
                ElementsAre(withdraws("10.0.0.5"), announces("10.0.2.2", kBr0)));
    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.remove(on_br0("10.0.2.1")))),
                ElementsAre(withdraws("10.0.2.1"), announces("10.0.2.3", kBr0)));
}

TEST(MaxHosts, NeverWithdrawsWhoIsAnnounced) {
    RailLeaf leaf(with_max_hosts(10));
    (void)leaf.feed({nth_host(leaf, 1), nth_host(leaf, 2)});

    EXPECT_THAT(routes_of(leaf.feed(
                    ConfigChanged{.config = std::make_shared<const Config>(with_max_hosts(1))})),
                IsEmpty());
    EXPECT_THAT(routes_of(leaf.feed(nth_host(leaf, 3))), IsEmpty());
}

TEST(MaxHosts, DelaysNobodyWhoIsThereWhenPlanedStarts) {
    KernelFacts kernel = rail();
    (void)kernel.set(kHeldHost, reachable(mac(5)));
    (void)kernel.set(on_br0("10.0.2.1"), reachable(mac(5)));
    Leaf leaf(with_max_hosts(1), kernel);

    EXPECT_THAT(routes_of(leaf.feed(ZapiUp{.family = "C"})),
                ElementsAre(announces("10.0.0.5", kBr0), announces("10.0.2.1", kBr0)));
}

TEST(MaxHosts, RaiseAnAlarmAtEightyPercentAndEndItWithSomeRoom) {
    RailLeaf leaf(with_max_hosts(20));
    for (std::uint16_t n = 1; n < 15; ++n) {
        (void)leaf.feed(nth_host(leaf, n));
    }
    EXPECT_FALSE(leaf.engine.degraded().contains("hosts on br0"));

    (void)leaf.feed(nth_host(leaf, 15));
    EXPECT_EQ(leaf.engine.degraded().at("hosts on br0"),
              "16 of 20 (max_hosts): above that new ones are not announced");

    (void)leaf.feed(leaf.kernel.remove(on_br0("10.0.2.1")));
    EXPECT_TRUE(leaf.engine.degraded().contains("hosts on br0"));
    (void)leaf.feed(leaf.kernel.remove(on_br0("10.0.2.2")));
    EXPECT_FALSE(leaf.engine.degraded().contains("hosts on br0"));
}

}  // namespace
}  // namespace planed::test
