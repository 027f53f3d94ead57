// SPDX-License-Identifier: Apache-2.0
// For whom the kernel answers: the plane, the hosts behind this leaf, and the kernel's table.
#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "support/leaf.hpp"

namespace planed::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

// "+fd00:0:0:1::77"
std::vector<std::string> proxies_of(const std::vector<Output>& outputs) {
    std::vector<std::string> texts;
    for (const SendProxy& send : only<SendProxy>(outputs)) {
        texts.push_back((send.put ? "+" : "-") + send.key.address.to_string());
    }
    return texts;
}
std::vector<std::string> settings_of(const std::vector<Output>& outputs) {
    std::vector<std::string> texts;
    for (const ApplySetting& apply : only<ApplySetting>(outputs)) {
        texts.push_back(setting_name(apply.setting, apply.name) + "=" +
                        std::to_string(apply.value));
    }
    return texts;
}

constexpr const char* kElsewhere = "fd00:0:0:1::77";
constexpr const char* kProxyNdpOn = "ipv6.conf.br0.proxy_ndp=1";

RouteKey plane_key(std::string_view address) {
    return route_key(VrfId::Default, ip(address));
}

class EngineProxies : public testing::Test {
protected:
    // One host of the plane is elsewhere, and answered for.
    void start() {
        leaf.plane = {plane_key(kElsewhere)};
        leaf.start();
    }
    std::vector<Output> see(std::string_view address) {
        return leaf.feed(PlaneRouteSeen{.key = plane_key(address)});
    }
    std::vector<Output> lose(std::string_view address) {
        auto outputs = leaf.feed(PlaneRouteGone{.key = plane_key(address)});
        const auto later = leaf.run_for(limits::kPlaneGoneQuiet);
        outputs.insert(outputs.end(), later.begin(), later.end());
        return outputs;
    }
    // A host appears behind swp1, as the kernel tells it.
    std::vector<Input> appears(std::string_view address) {
        return {leaf.kernel.learn(in_br0(mac(7)), kSwp1),
                leaf.kernel.set(on_br0(address), reachable(mac(7)))};
    }

    Leaf leaf{serving({"br0"}), rail()};
};

TEST_F(EngineProxies, AnswerForTheHostsThatThePlaneHasElsewhere) {
    start();

    EXPECT_THAT(leaf.kernel.proxies, ElementsAre(std::pair(on_br0(kElsewhere), kNeighborProtocol)));
    EXPECT_THAT(proxies_of(see("fd00:0:0:1::78")), ElementsAre("+fd00:0:0:1::78"));
    EXPECT_THAT(proxies_of(see("fd00:0:0:9::78")), IsEmpty());
    EXPECT_THAT(proxies_of(see("10.0.0.78")), IsEmpty());
}

TEST_F(EngineProxies, EndWithinASecondOfTheRoute) {
    start();

    EXPECT_THAT(proxies_of(lose(kElsewhere)), ElementsAre("-fd00:0:0:1::77"));
    EXPECT_THAT(leaf.kernel.proxies, IsEmpty());
}

TEST_F(EngineProxies, EndInTheTurnInWhichTheHostsOwnRouteBegins) {
    start();

    const auto outputs = leaf.turn(appears(kElsewhere));

    EXPECT_THAT(proxies_of(outputs), ElementsAre("-fd00:0:0:1::77"));
    EXPECT_THAT(routes_of(outputs), ElementsAre(announces(kElsewhere, kBr0)));
}

TEST_F(EngineProxies, ReturnWhenTheHostIsHereNoMore) {
    start();
    (void)leaf.feed(appears(kElsewhere));

    const auto outputs = leaf.feed(leaf.kernel.remove(on_br0(kElsewhere)));

    EXPECT_THAT(proxies_of(outputs), ElementsAre("+fd00:0:0:1::77"));
}

TEST_F(EngineProxies, AreGivenForAHostWhosePortIsDownUntilThatIsUp) {
    start();
    (void)leaf.feed(appears(kElsewhere));

    const auto down = leaf.feed(leaf.kernel.cut(without_carrier(leaf.kernel.link(kSwp1))));
    EXPECT_THAT(proxies_of(down), ElementsAre("+fd00:0:0:1::77"));
    // The first thing that it says may be a check for its own address.
    Link up = leaf.kernel.link(kSwp1);
    up.carrier = true;
    const auto back = leaf.feed(leaf.kernel.set(up));

    EXPECT_THAT(proxies_of(back), ElementsAre("-fd00:0:0:1::77"));
}

TEST_F(EngineProxies, WaitUntilThePlaneIsKnown) {
    leaf.answer_planes = false;
    leaf.kernel.proxies[on_br0(kElsewhere)] = kNeighborProtocol;
    leaf.kernel.proxies[on_br0("fd00:0:0:1::99")] = kNeighborProtocol;
    (void)leaf.feed(ZapiUp{.family = "C"});
    auto outputs = leaf.run_for(2s);
    EXPECT_THAT(proxies_of(outputs), IsEmpty());
    EXPECT_THAT(settings_of(outputs), Not(Contains(kProxyNdpOn)));

    (void)see(kElsewhere);
    outputs = leaf.feed(PlaneDumped{});

    EXPECT_THAT(proxies_of(outputs), ElementsAre("-fd00:0:0:1::99"));
    EXPECT_THAT(settings_of(outputs), Contains(kProxyNdpOn));
}

TEST_F(EngineProxies, AskForThePlaneOncePerSession) {
    const auto first = leaf.feed(ZapiUp{.family = "C"});
    EXPECT_THAT(only<WatchPlane>(first), ElementsAre(WatchPlane{}));
    EXPECT_THAT(only<WatchPlane>(leaf.run_for(2min)), IsEmpty());

    (void)leaf.feed(ZapiLost{});

    EXPECT_THAT(only<WatchPlane>(leaf.feed(ZapiUp{.family = "C"})), ElementsAre(WatchPlane{}));
}

TEST_F(EngineProxies, DoNotFlapWhenZebraIsRestarted) {
    start();
    leaf.plane.clear();  // A new zebra knows nothing at first.

    auto outputs = leaf.feed({PlaneRouteGone{.key = plane_key(kElsewhere)}, PlaneDoubted{}});
    for (const Input& input : {Input(ZapiLost{}), Input(ZapiUp{.family = "C"})}) {
        const auto more = leaf.feed(input);
        outputs.insert(outputs.end(), more.begin(), more.end());
    }
    const auto later = leaf.run_for(limits::kPlaneGrace / 2);
    outputs.insert(outputs.end(), later.begin(), later.end());

    EXPECT_THAT(proxies_of(outputs), IsEmpty());
    (void)see(kElsewhere);
    EXPECT_THAT(proxies_of(leaf.run_for(2 * limits::kPlaneGrace)), IsEmpty());
}

TEST_F(EngineProxies, EndForWhatANewZebraNeverNames) {
    start();
    leaf.plane.clear();
    (void)leaf.feed(ZapiLost{});
    (void)leaf.feed(ZapiUp{.family = "C"});

    EXPECT_THAT(proxies_of(leaf.run_for(limits::kPlaneGrace)), ElementsAre("-fd00:0:0:1::77"));
}

TEST_F(EngineProxies, AreReadAgainWhenTheInterfaceWasDown) {
    start();
    leaf.kernel.proxies.clear();
    Link br0 = leaf.kernel.link(kBr0);
    br0.carrier_down_count += 1;

    auto outputs = leaf.feed(leaf.kernel.set(br0));
    const auto later = leaf.run_for(limits::kDumpSpacing);
    outputs.insert(outputs.end(), later.begin(), later.end());

    EXPECT_THAT(only<StartDump>(outputs), Contains(StartDump{.kind = DumpKind::Proxies}));
    EXPECT_THAT(proxies_of(outputs), ElementsAre("+fd00:0:0:1::77"));
}

TEST_F(EngineProxies, AreReadAgainAfterAnOverrun) {
    start();
    leaf.kernel.proxies.clear();

    (void)leaf.feed(EventsLost{.kind = DumpKind::Links});
    (void)leaf.run_for(limits::kDumpSpacing);

    EXPECT_EQ(leaf.kernel.proxies.size(), 1U);
}

TEST_F(EngineProxies, AreReadAgainEveryMinute) {
    start();
    leaf.kernel.proxies.clear();

    (void)leaf.run_for(limits::kAuditInterval);

    EXPECT_EQ(leaf.kernel.proxies.size(), 1U);
}

TEST_F(EngineProxies, AreNotGivenForAnAddressOfThisMachine) {
    start();

    const auto outputs = leaf.feed(leaf.kernel.set_address(kUp0, prefix("fd00:0:0:1::77/128")));

    EXPECT_THAT(proxies_of(outputs), ElementsAre("-fd00:0:0:1::77"));
}

TEST_F(EngineProxies, GoWithTheConfigurationAndComeBackWithIt) {
    start();
    Config off = serving({"br0"});
    off.interfaces[0].proxy_nd = false;

    const auto without = leaf.feed(ConfigChanged{.config = std::make_shared<const Config>(off)});
    EXPECT_THAT(proxies_of(without), ElementsAre("-fd00:0:0:1::77"));
    EXPECT_THAT(settings_of(without), Contains("ipv6.conf.br0.proxy_ndp=0"));

    const auto with =
        leaf.feed(ConfigChanged{.config = std::make_shared<const Config>(serving({"br0"}))});
    EXPECT_THAT(proxies_of(with), ElementsAre("+fd00:0:0:1::77"));
    EXPECT_THAT(settings_of(with), Contains(kProxyNdpOn));
}

TEST_F(EngineProxies, AreRemovedAtTheEndIfThatIsAsked) {
    Config config = serving({"br0"});
    config.on_exit = OnExit::Withdraw;
    (void)leaf.feed(ConfigChanged{.config = std::make_shared<const Config>(config)});
    start();

    const auto outputs = leaf.turn(StopRequested{});

    EXPECT_THAT(proxies_of(outputs), ElementsAre("-fd00:0:0:1::77"));
    EXPECT_THAT(settings_of(outputs), Contains("ipv6.conf.br0.proxy_ndp=0"));
    EXPECT_TRUE(std::holds_alternative<Finish>(outputs.back()));
}

TEST_F(EngineProxies, StayAtTheEndOtherwise) {
    start();

    EXPECT_THAT(proxies_of(leaf.turn(StopRequested{})), IsEmpty());
}

TEST_F(EngineProxies, SayWhatTheKernelRefuses) {
    start();
    const auto sent =
        only<SendProxy>(leaf.turn(PlaneRouteSeen{.key = plane_key("fd00:0:0:1::78")}));
    ASSERT_EQ(sent.size(), 1U);

    const Error error{.code = Errc::Refused, .text = "IPv6 is disabled", .system_errno = 22};
    (void)leaf.turn(KernelAnswered{.request = sent[0].request, .error = error});
    EXPECT_EQ(leaf.engine.degraded().at("proxies br0"), "IPv6 is disabled");

    (void)leaf.run_for(1s);
    EXPECT_THAT(leaf.engine.degraded(), IsEmpty());
}

TEST_F(EngineProxies, AreShownWithTheirState) {
    start();
    leaf.engine.keep_changes(true);
    const auto key = on_br0("fd00:0:0:1::78");

    const auto sent = leaf.turn(PlaneRouteSeen{.key = plane_key("fd00:0:0:1::78")});
    EXPECT_THAT(leaf.engine.take_changes().proxies, Contains(key));
    const EngineView view(leaf.engine);
    EXPECT_EQ(view.proxy(key),
              (ProxyView{.key = key, .interface = "br0", .state = SinkState::Pending}));

    (void)leaf.turn(KernelAnswered{.request = only<SendProxy>(sent)[0].request});
    EXPECT_EQ(view.proxy(key)->state, SinkState::Held);
    EXPECT_THAT(view.all_proxies(), ElementsAre(on_br0(kElsewhere), key));
    EXPECT_EQ(view.proxy(on_br0("fd00:0:0:1::79")), std::nullopt);
    EXPECT_EQ(view.health().plane_routes, 2U);
    EXPECT_EQ(view.health().proxies, 2U);
}

}  // namespace
}  // namespace planed::test
