// SPDX-License-Identifier: Apache-2.0
// What the engine shows to readers, and what it tells them of changes.
#include "core/snapshot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/leaf.hpp"

namespace planed::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(EngineView, ShowsAHostWithItsNames) {
    RailLeaf leaf;

    const auto host = EngineView(leaf.engine).host(on_br0("10.0.0.5"));

    ASSERT_TRUE(host);
    EXPECT_EQ(*host,
              (HostView{.key = on_br0("10.0.0.5"),
                        .vrf = "default",
                        .interface = "br0",
                        .mac = mac(5),
                        .port = "swp1",
                        .state = Nud::Reachable,
                        .origin = HostOrigin::Kernel,
                        .reason = Reason::Eligible,
                        .since = host->since,
                        .last_seen = host->last_seen}));
    EXPECT_GE(host->since, TimePoint{1h});
}

TEST(EngineView, ShowsARoutesStateAndWhy) {
    RailLeaf leaf;
    const auto held = EngineView(leaf.engine).route(route_of("10.0.0.5"));
    ASSERT_TRUE(held && held->since);
    EXPECT_LE(*held->since, leaf.now);
    EXPECT_EQ(*held,
              (RouteView{.key = route_of("10.0.0.5"),
                         .vrf = "default",
                         .interface = "br0",
                         .origin = HostOrigin::Kernel,
                         .state = SinkState::Held,
                         .reason = "eligible",
                         .since = held->since}));

    leaf.answer_routes = false;
    leaf.now += 1s;
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), failed()));

    const auto route = EngineView(leaf.engine).route(route_of("10.0.0.5"));
    ASSERT_TRUE(route);
    EXPECT_EQ(route->state, SinkState::Withdrawing);
    EXPECT_EQ(route->reason, "failed");
    EXPECT_EQ(route->since, leaf.now);
    EXPECT_EQ(EngineView(leaf.engine).host(on_br0("10.0.0.5"))->last_seen, std::nullopt);
}

TEST(EngineView, ShowsAServedInterfaceWithWhatTheConfigurationSays) {
    Config config = serving({"br0"});
    config.interfaces[0].proxy_arp = ProxyArp::Off;
    config.interfaces[0].max_hosts = 7;
    RailLeaf leaf(config);

    const auto interface = EngineView(leaf.engine).interface(kBr0);

    ASSERT_TRUE(interface);
    EXPECT_EQ(*interface,
              (InterfaceView{.link = kBr0,
                             .name = "br0",
                             .vrf = "default",
                             .carrier = true,
                             .proxy_arp = ProxyArp::Off,
                             .proxy_nd = true,
                             .max_hosts = 7,
                             .prefixes = {prefix("10.0.0.1/16"), prefix("fd00:0:0:1::1/64")}}));
    EXPECT_EQ(EngineView(leaf.engine).interface(kUp0), std::nullopt);
}

TEST(EngineView, NamesTheVrf) {
    const IfIndex blue{30};
    KernelFacts kernel = rail();
    (void)kernel.set(vrf_device(blue, "Vrf-blue", 1001));
    (void)kernel.set(in_master(bridge(kBr0, "br0"), blue));
    (void)kernel.set(on_br0("10.0.0.5"), reachable(mac(5)));
    Leaf leaf(serving({"br0"}), kernel);
    leaf.start();

    EXPECT_EQ(EngineView(leaf.engine).host(on_br0("10.0.0.5"))->vrf, "Vrf-blue");
    EXPECT_THAT(EngineView(leaf.engine).all_routes(),
                ElementsAre(announces("10.0.0.5", kBr0, VrfId{30}).key));
    EXPECT_EQ(EngineView(leaf.engine).route(announces("10.0.0.5", kBr0, VrfId{30}).key)->vrf,
              "Vrf-blue");
}

TEST(EngineView, HasNothingToShowOfWhatIsNoHost) {
    RailLeaf leaf;
    (void)leaf.feed({leaf.kernel.set({.link = kUp0, .address = ip("10.9.0.1")}, reachable(mac(9))),
                     leaf.kernel.set(on_br0("ff02::1"), in_state(Nud::NoArp, {}))});
    const EngineView view(leaf.engine);

    EXPECT_EQ(view.host({.link = kUp0, .address = ip("10.9.0.1")}), std::nullopt);
    EXPECT_EQ(view.host(on_br0("ff02::1")), std::nullopt);
    EXPECT_EQ(view.host(on_br0("10.0.0.99")), std::nullopt);
    EXPECT_EQ(view.route(route_of("10.0.0.99")), std::nullopt);
}

TEST(EngineView, IsWholeOnceEverythingWasReadAndJudged) {
    Leaf leaf(serving({"br0"}), rail());
    leaf.answer_dumps = false;
    (void)leaf.feed(std::vector<Input>{});
    EXPECT_FALSE(EngineView(leaf.engine).is_whole());

    RailLeaf read;
    EXPECT_TRUE(EngineView(read.engine).is_whole());
    EXPECT_TRUE(EngineView(read.engine).node().ready);
}

// Changes -----------------------------------------------------------------------------------------

class EngineChanges : public testing::Test {
protected:
    EngineChanges() { leaf.engine.keep_changes(true); }
    Changes after(const std::vector<Input>& inputs) {
        (void)leaf.feed(inputs);
        return leaf.engine.take_changes();
    }
    RailLeaf leaf;
};

TEST(Engine, RemembersNoChangesUnlessAsked) {
    RailLeaf leaf;
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), stale(mac(5))));
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), failed()));

    EXPECT_EQ(leaf.engine.take_changes(), Changes{});
}

TEST_F(EngineChanges, AreNoneWhileNothingHappens) {
    (void)leaf.run_for(10min);

    EXPECT_EQ(leaf.engine.take_changes(), Changes{});
}

TEST_F(EngineChanges, NameAHostAndItsRoute) {
    const Changes changes = after({leaf.kernel.set(on_br0("10.0.0.5"), failed())});

    EXPECT_THAT(changes.hosts, ElementsAre(on_br0("10.0.0.5")));
    EXPECT_THAT(changes.routes, Contains(route_of("10.0.0.5")));
    EXPECT_THAT(changes.interfaces, IsEmpty());
}

TEST_F(EngineChanges, NameAHostThatMerelyAges) {
    const Changes changes = after({leaf.kernel.set(on_br0("10.0.0.5"), stale(mac(5)))});

    EXPECT_THAT(changes.hosts, ElementsAre(on_br0("10.0.0.5")));
    EXPECT_THAT(changes.routes, IsEmpty());
}

TEST_F(EngineChanges, NameAHostThatMovedOrWent) {
    EXPECT_THAT(after({leaf.kernel.learn(in_br0(mac(5)), kSwp2)}).hosts,
                Contains(on_br0("10.0.0.5")));
    EXPECT_THAT(after({leaf.kernel.remove(on_br0("10.0.0.5"))}).hosts,
                Contains(on_br0("10.0.0.5")));
}

TEST_F(EngineChanges, NameAnInterfaceThatIsServedOtherwise) {
    Config config = serving({"br0"});
    config.interfaces[0].max_hosts = 3;

    EXPECT_THAT(after({ConfigChanged{.config = std::make_shared<const Config>(config)}}).interfaces,
                ElementsAre(kBr0));
    EXPECT_THAT(after({leaf.kernel.set(admin_down(leaf.kernel.link(kBr0)))}).interfaces,
                ElementsAre(kBr0));
}

TEST_F(EngineChanges, SayThatSomethingHasAnotherName) {
    Link link = leaf.kernel.link(kSwp1);
    EXPECT_FALSE(after({leaf.kernel.set(flapped(link))}).renamed);

    link.name = "Ethernet0";
    EXPECT_TRUE(after({leaf.kernel.set(link)}).renamed);
    EXPECT_FALSE(after({}).renamed);
}

TEST(Engine, IsDegradedByAMirrorInTrouble) {
    RailLeaf leaf;

    (void)leaf.feed(MirrorSeen{.trouble = "no Redis: why"});
    EXPECT_THAT(leaf.engine.degraded(), Contains(testing::Pair("redis", "no Redis: why")));
    (void)leaf.feed(MirrorSeen{});

    EXPECT_THAT(leaf.engine.degraded(), testing::Not(Contains(testing::Key("redis"))));
}

}  // namespace
}  // namespace planed::test
