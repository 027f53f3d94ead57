// SPDX-License-Identifier: Apache-2.0
// Core isolation: a leaf without uplinks announces nobody, and may take its server ports down.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "support/leaf.hpp"

namespace planed::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Config with_uplink(UplinksDown down) {
    Config config = serving({"br0"});
    config.uplinks = {"up*"};
    config.uplinks_down = down;
    return config;
}

// (link, up) of every request to set a link.
std::vector<std::pair<IfIndex, bool>> set_links(const std::vector<Output>& outputs) {
    std::vector<std::pair<IfIndex, bool>> links;
    for (const SetLinkUp& set : only<SetLinkUp>(outputs)) {
        links.emplace_back(set.link, set.up);
    }
    return links;
}

std::vector<Output> cut_uplink(Leaf& leaf) {
    return leaf.feed(leaf.kernel.set(without_carrier(leaf.kernel.link(kUp0))));
}
std::vector<Output> restore_uplink(Leaf& leaf) {
    return leaf.feed(leaf.kernel.set(with_carrier(leaf.kernel.link(kUp0))));
}

TEST(EngineIsolation, WithdrawsAllHostsAndAnnouncesThemAgain) {
    RailLeaf leaf(with_uplink(UplinksDown::Withdraw));

    const auto down = cut_uplink(leaf);
    EXPECT_THAT(routes_of(down), ElementsAre(withdraws("10.0.0.5")));
    EXPECT_THAT(set_links(down), IsEmpty());
    EXPECT_TRUE(leaf.engine.degraded().contains("uplinks"));

    EXPECT_THAT(routes_of(restore_uplink(leaf)), ElementsAre(announces("10.0.0.5", kBr0)));
    EXPECT_THAT(leaf.engine.degraded(), IsEmpty());
}

TEST(EngineIsolation, TakesTheServerPortsDownAfterTheRoutesAndUpAgain) {
    RailLeaf leaf(with_uplink(UplinksDown::Shut));

    const auto down = leaf.turn(leaf.kernel.set(without_carrier(leaf.kernel.link(kUp0))));
    EXPECT_EQ(down.front(), Output{withdraws("10.0.0.5")});
    EXPECT_THAT(set_links(down), ElementsAre(std::pair(kSwp1, false), std::pair(kSwp2, false)));
    EXPECT_THAT(only<RememberShut>(down),
                ElementsAre(RememberShut{.port = "swp1", .shut = true},
                            RememberShut{.port = "swp2", .shut = true}));
    (void)leaf.feed({leaf.kernel.set(admin_down(leaf.kernel.link(kSwp1))),
                     leaf.kernel.set(admin_down(leaf.kernel.link(kSwp2)))});

    const auto up = restore_uplink(leaf);
    EXPECT_THAT(set_links(up), ElementsAre(std::pair(kSwp1, true), std::pair(kSwp2, true)));
    EXPECT_THAT(only<RememberShut>(up),
                ElementsAre(RememberShut{.port = "swp1", .shut = false},
                            RememberShut{.port = "swp2", .shut = false}));
    EXPECT_THAT(routes_of(up), IsEmpty());  // Not before the hosts are heard.
}

TEST(EngineIsolation, LeavesDownWhatWasDownBefore) {
    RailLeaf leaf(with_uplink(UplinksDown::Shut));
    (void)leaf.feed(leaf.kernel.set(admin_down(leaf.kernel.link(kSwp2))));

    EXPECT_THAT(set_links(cut_uplink(leaf)), ElementsAre(std::pair(kSwp1, false)));
    EXPECT_THAT(set_links(restore_uplink(leaf)), ElementsAre(std::pair(kSwp1, true)));
}

TEST(EngineIsolation, TakesUpWhatAnEarlierRunTookDown) {
    KernelFacts kernel = rail();
    (void)kernel.set(admin_down(bridge_port(kSwp1, "swp1", kBr0)));
    Leaf leaf(with_uplink(UplinksDown::Shut), kernel);
    leaf.engine.handle(ShutRemembered{.port = "swp1"}, leaf.now);

    EXPECT_THAT(set_links(leaf.feed(ZapiUp{.family = "C"})), ElementsAre(std::pair(kSwp1, true)));
}

TEST(EngineIsolation, TakesPortsUpWhenTheConfigurationNoLongerAsksForIt) {
    RailLeaf leaf(with_uplink(UplinksDown::Shut));
    (void)cut_uplink(leaf);

    const auto outputs = leaf.feed(ConfigChanged{
        .config = std::make_shared<const Config>(with_uplink(UplinksDown::Withdraw))});

    EXPECT_THAT(set_links(outputs), ElementsAre(std::pair(kSwp1, true), std::pair(kSwp2, true)));
    EXPECT_THAT(routes_of(outputs), IsEmpty());
}

TEST(EngineIsolation, TakesPortsUpWhenPlanedStopsAndWithdraws) {
    Config config = with_uplink(UplinksDown::Shut);
    config.on_exit = OnExit::Withdraw;
    RailLeaf leaf(config);
    (void)cut_uplink(leaf);

    EXPECT_THAT(set_links(leaf.turn(StopRequested{})),
                ElementsAre(std::pair(kSwp1, true), std::pair(kSwp2, true)));
}

TEST(EngineIsolation, LeavesPortsDownWhenPlanedStopsAndKeeps) {
    RailLeaf leaf(with_uplink(UplinksDown::Shut));
    (void)cut_uplink(leaf);

    EXPECT_THAT(set_links(leaf.turn(StopRequested{})), IsEmpty());
}

TEST(EngineIsolation, TakesAPortDownAgainThatIsMadeAnewMeanwhile) {
    constexpr IfIndex kAnew{77};
    RailLeaf leaf(with_uplink(UplinksDown::Shut));
    (void)cut_uplink(leaf);
    (void)leaf.feed(leaf.kernel.set(admin_down(leaf.kernel.link(kSwp1))));
    (void)leaf.feed(LinkGone{.link = kSwp1});

    EXPECT_THAT(set_links(leaf.feed(leaf.kernel.set(bridge_port(kAnew, "swp1", kBr0)))),
                ElementsAre(std::pair(kAnew, false)));
}

TEST(EngineIsolation, LeavesAloneAPortThatSomebodyTakesUpMeanwhile) {
    RailLeaf leaf(with_uplink(UplinksDown::Shut));
    const auto swp1 = leaf.kernel.link(kSwp1);
    (void)cut_uplink(leaf);
    (void)leaf.feed(leaf.kernel.set(admin_down(swp1)));

    EXPECT_THAT(set_links(leaf.feed(leaf.kernel.set(swp1))), IsEmpty());
}

TEST(EngineIsolation, TriesAgainToOpenAPortThatTheKernelWouldNotOpen) {
    RailLeaf leaf(with_uplink(UplinksDown::Shut));
    (void)cut_uplink(leaf);
    const auto opened = only<SetLinkUp>(restore_uplink(leaf));
    ASSERT_THAT(opened, SizeIs(2));

    const Error busy{.code = Errc::System, .text = "Device or resource busy", .system_errno = 16};
    (void)leaf.feed({KernelAnswered{.request = opened.at(0).request, .error = busy},
                     KernelAnswered{.request = opened.at(1).request}});
    EXPECT_EQ(leaf.engine.degraded().at("port swp1"), "Device or resource busy");
    const auto again = only<SetLinkUp>(leaf.run_for(limits::kLinkRetry));
    EXPECT_THAT(set_links({again.begin(), again.end()}), ElementsAre(std::pair(kSwp1, true)));

    (void)leaf.feed(KernelAnswered{.request = again.at(0).request});
    EXPECT_THAT(leaf.engine.degraded(), IsEmpty());
    EXPECT_THAT(only<SetLinkUp>(leaf.run_for(10s)), IsEmpty());
}

TEST(EngineIsolation, KeepsTheHostsThatTheGarbageCollectorTakesMeanwhile) {
    RailLeaf leaf(with_uplink(UplinksDown::Withdraw));
    (void)cut_uplink(leaf);
    (void)leaf.feed(leaf.kernel.collect(on_br0("10.0.0.5")));
    (void)leaf.run_for(1s);

    EXPECT_THAT(routes_of(restore_uplink(leaf)), ElementsAre(announces("10.0.0.5", kBr0)));
    EXPECT_TRUE(leaf.kernel.neighbors().contains(on_br0("10.0.0.5")));
}

TEST(EngineIsolation, BeginsWithTheFirstLookAtTheLinks) {
    KernelFacts kernel = rail();
    (void)kernel.set(without_carrier(routed_port(kUp0, "up0")));
    (void)kernel.set(on_br0("10.0.0.5"), reachable(mac(5)));
    Leaf leaf(with_uplink(UplinksDown::Withdraw), kernel);

    leaf.start();

    EXPECT_THAT(leaf.zebra, IsEmpty());
    EXPECT_EQ(leaf.engine.explain(ip("10.0.0.5")).reason, "all uplinks are down");
}

}  // namespace
}  // namespace planed::test
