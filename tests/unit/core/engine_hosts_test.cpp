// SPDX-License-Identifier: Apache-2.0
// Hosts of the configuration, and addresses that more than one claims.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "support/leaf.hpp"

namespace planed::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Config with_host(StaticHost host) {
    Config config = serving({"br0"});
    config.interfaces.at(0).hosts = {std::move(host)};
    return config;
}
StaticHost static_host(std::string_view address, MacAddress mac, std::string port = "") {
    return {.address = ip(address), .mac = mac, .port = std::move(port)};
}
Neighbor pinned(MacAddress mac) {
    return {
        .mac = mac, .state = Nud::Permanent, .ext_learned = true, .protocol = kNeighborProtocol};
}
HostHeard heard_from(std::string_view address, MacAddress from) {
    return {.link = kSwp1, .address = ip(address), .mac = from};
}

// Static hosts ------------------------------------------------------------------------------------

TEST(EngineHosts, PinsAStaticHostAndAnnouncesIt) {
    Leaf leaf(with_host(static_host("10.0.0.9", mac(9))), rail());

    const auto outputs = leaf.feed(ZapiUp{.family = "C"});

    ASSERT_THAT(writes_of(outputs), SizeIs(1));
    EXPECT_EQ(leaf.kernel.neighbors().at(on_br0("10.0.0.9")), pinned(mac(9)));
    EXPECT_THAT(routes_of(outputs), ElementsAre(announces("10.0.0.9", kBr0)));
    EXPECT_EQ(EngineView(leaf.engine).host(on_br0("10.0.0.9"))->origin, HostOrigin::Static);
}

TEST(EngineHosts, LeavesAPinnedOneAloneAtTheNextStart) {
    KernelFacts kernel = rail();
    (void)kernel.set(on_br0("10.0.0.9"), pinned(mac(9)));
    Leaf leaf(with_host(static_host("10.0.0.9", mac(9))), std::move(kernel));

    EXPECT_THAT(writes_of(leaf.feed(ZapiUp{.family = "C"})), IsEmpty());
}

TEST(EngineHosts, PinsAgainWhatSomebodyHasRemoved) {
    RailLeaf leaf(with_host(static_host("10.0.0.9", mac(9))));
    (void)leaf.feed(leaf.kernel.remove(on_br0("10.0.0.9")));

    (void)leaf.run_for(limits::kAuditInterval + 1s);

    EXPECT_EQ(leaf.kernel.neighbors().at(on_br0("10.0.0.9")), pinned(mac(9)));
}

// One that the configuration has no more may be there all the same.
TEST(EngineHosts, AsksAHostThatIsNotStaticAnyMore) {
    RailLeaf leaf(with_host(static_host("10.0.0.9", mac(9))));

    const auto outputs =
        leaf.feed(ConfigChanged{.config = std::make_shared<const Config>(serving({"br0"}))});

    ASSERT_THAT(writes_of(outputs), SizeIs(1));
    EXPECT_EQ(writes_of(outputs).at(0).state, Nud::Probe);
    EXPECT_THAT(routes_of(outputs), IsEmpty());
}

TEST(EngineHosts, FollowsTheCarrierOfTheConfiguredPort) {
    RailLeaf leaf(with_host(static_host("10.0.0.9", mac(9), "swp2")));

    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.set(without_carrier(leaf.kernel.link(kSwp2))))),
                ElementsAre(withdraws("10.0.0.9")));
    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.set(with_carrier(leaf.kernel.link(kSwp2))))),
                ElementsAre(announces("10.0.0.9", kBr0)));
    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.remove_link(kSwp2))),
                ElementsAre(withdraws("10.0.0.9")));
}

// Nobody has heard its MAC anywhere: that its port went down is known all the same.
TEST(EngineHosts, LosesAStaticHostByItsPortNotToSilence) {
    Config config = with_host(static_host("10.0.0.9", mac(9), "swp2"));
    config.routes.withdraw_delay.port_down = 5s;
    RailLeaf leaf(config);

    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.set(without_carrier(leaf.kernel.link(kSwp2))))),
                IsEmpty());
    EXPECT_THAT(routes_of(leaf.run_for(4999ms)), IsEmpty());
    EXPECT_THAT(routes_of(leaf.run_for(1ms)), ElementsAre(withdraws("10.0.0.9")));
}

TEST(EngineHosts, AsksForAStaticHostWithoutAMac) {
    Config config = with_host({.address = ip("10.0.0.9")});
    config.learning.refresh = 30s;
    Leaf leaf(config, rail());
    leaf.answer_writes = false;

    const auto first = writes_of(leaf.feed(ZapiUp{.family = "C"}));
    ASSERT_THAT(first, SizeIs(1));
    EXPECT_TRUE(first.at(0).resolve);
    EXPECT_EQ(first.at(0).key, on_br0("10.0.0.9"));
    EXPECT_THAT(writes_of(leaf.run_for(29s)), IsEmpty());
    EXPECT_THAT(writes_of(leaf.run_for(2s)), SizeIs(1));

    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.9"), in_state(Nud::Reachable, mac(9))));
    leaf.answer_writes = true;
    const auto later = writes_of(leaf.run_for(35s));
    EXPECT_TRUE(std::none_of(
        later.begin(), later.end(), [](const WriteNeighbor& write) { return write.resolve; }));
}

TEST(EngineHosts, RaisesAnAlarmForAWrongSpeakerAndMovesNothing) {
    RailLeaf leaf(with_host(static_host("10.0.0.9", mac(9))));

    EXPECT_THAT(writes_of(leaf.feed(heard_from("10.0.0.9", mac(66)))), IsEmpty());
    EXPECT_THAT(leaf.engine.degraded().at("claim of 10.0.0.9"), HasSubstr(mac(66).to_string()));
    EXPECT_EQ(leaf.engine.learning().claims_refused, 1U);

    (void)leaf.run_for(limits::kHostAlarm + 1s);
    EXPECT_FALSE(leaf.engine.degraded().contains("claim of 10.0.0.9"));
}

TEST(EngineHosts, RaisesAnAlarmForAClaimOfItsOwnAddress) {
    RailLeaf leaf;

    EXPECT_THAT(writes_of(leaf.feed(heard_from("10.0.0.1", mac(66)))), IsEmpty());

    EXPECT_THAT(leaf.engine.degraded().at("claim of 10.0.0.1"), HasSubstr("swp1"));
}

TEST(EngineHosts, RaisesABoundedNumberOfAlarms) {
    Config config = serving({"br0"});
    for (int n = 1; n <= 100; ++n) {
        config.interfaces.at(0).hosts.push_back(static_host("10.0.1." + std::to_string(n), mac(9)));
    }
    RailLeaf leaf(config);

    for (int n = 1; n <= 100; ++n) {
        (void)leaf.feed(heard_from("10.0.1." + std::to_string(n), mac(66)));
    }

    EXPECT_EQ(leaf.engine.degraded().size(), limits::kHostAlarmsMax);
    EXPECT_EQ(leaf.engine.learning().claims_refused, 100U);
}

// Conflicts ---------------------------------------------------------------------------------------

class EngineConflict : public testing::Test {
protected:
    RailLeaf leaf;

    std::vector<Output> moves_to(MacAddress to) {
        leaf.now += 1s;
        return leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), stale(to)));
    }
    void fight() {
        (void)leaf.feed(leaf.kernel.learn(in_br0(mac(66)), kSwp2));
        for (int round = 0; round < 2; ++round) {
            (void)moves_to(mac(66));
            (void)moves_to(mac(5));
        }
    }
};

TEST_F(EngineConflict, StaysWithItsFirstMac) {
    fight();
    EXPECT_THAT(leaf.engine.degraded(), IsEmpty());

    const auto outputs = moves_to(mac(66));

    EXPECT_EQ(leaf.kernel.neighbors().at(on_br0("10.0.0.5")), pinned(mac(5)));
    EXPECT_THAT(routes_of(outputs), IsEmpty());
    const std::string alarm = leaf.engine.degraded().at("address 10.0.0.5");
    EXPECT_THAT(alarm, HasSubstr(mac(5).to_string() + " (swp1)"));
    EXPECT_THAT(alarm, HasSubstr(mac(66).to_string() + " (swp2)"));
    EXPECT_THAT(writes_of(leaf.feed(heard_from("10.0.0.5", mac(66)))), IsEmpty());
    EXPECT_EQ(leaf.engine.learning().claims_refused, 1U);
}

TEST_F(EngineConflict, IsAskedWhenItsTimeIsOver) {
    fight();
    (void)moves_to(mac(66));

    const auto outputs = leaf.run_for(181s);

    EXPECT_FALSE(leaf.engine.degraded().contains("address 10.0.0.5"));
    const auto writes = writes_of(outputs);
    ASSERT_FALSE(writes.empty());
    EXPECT_EQ(writes.at(0).state, Nud::Probe);
    EXPECT_EQ(writes.at(0).mac, mac(5));
    EXPECT_THAT(routes_of(outputs), IsEmpty());
}

TEST_F(EngineConflict, IsNoneWhereOneHostMovesToAnotherMac) {
    (void)moves_to(mac(66));
    (void)leaf.run_for(200s);

    EXPECT_THAT(leaf.engine.degraded(), IsEmpty());
    EXPECT_EQ(leaf.engine.learning().frozen, 0U);
}

}  // namespace
}  // namespace planed::test
