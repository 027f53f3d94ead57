// SPDX-License-Identifier: Apache-2.0
#include "core/uplinks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/builders.hpp"
#include "support/print.hpp"

namespace planed {
namespace {

using test::admin_down;
using test::bridge;
using test::bridge_port;
using test::routed_port;
using test::serving;
using test::without_carrier;
using testing::ElementsAre;

constexpr IfIndex kUplinkBridge{10};

class UplinksTest : public testing::Test {
protected:
    void add(const Link& link) { (void)links.see({.link = link}); }
    LinkTable links;
    Config config;
};

TEST_F(UplinksTest, AreNoReasonForIsolationWhereNoneIsConfigured) {
    EXPECT_FALSE(is_isolated(config, links));
}

TEST_F(UplinksTest, IsolateWhenNoneExists) {
    config.uplinks = {"up0"};

    EXPECT_TRUE(is_isolated(config, links));
}

TEST_F(UplinksTest, IsolateWhenTheLastOneGoesDownByCarrierOrByHand) {
    config.uplinks = {"up0", "up1"};
    add(without_carrier(routed_port(IfIndex{1}, "up0")));
    add(routed_port(IfIndex{2}, "up1"));
    EXPECT_FALSE(is_isolated(config, links));

    add(admin_down(routed_port(IfIndex{2}, "up1")));

    EXPECT_TRUE(is_isolated(config, links));
}

TEST_F(UplinksTest, AreFoundByGlob) {
    config.uplinks = {"up*"};
    add(routed_port(IfIndex{1}, "up7"));

    EXPECT_FALSE(is_isolated(config, links));
}

TEST_F(UplinksTest, AreNotConfusedWithServerPorts) {
    config.uplinks = {"up0"};
    add(without_carrier(routed_port(IfIndex{1}, "up0")));
    add(routed_port(IfIndex{2}, "swp1"));

    EXPECT_TRUE(is_isolated(config, links));
}

TEST_F(UplinksTest, LeaveThePortsOfServedBridgesAndTheServedPortsThemselvesAsServerPorts) {
    config = serving({"br0", "swp4"});
    config.uplinks = {"up*"};
    add(bridge(kUplinkBridge, "br0"));
    add(bridge_port(IfIndex{2}, "swp2", kUplinkBridge));
    add(bridge_port(IfIndex{1}, "swp1", kUplinkBridge));
    add(bridge_port(IfIndex{3}, "up0", kUplinkBridge));  // A bridged uplink stays up.
    add(routed_port(IfIndex{4}, "swp4"));
    add(routed_port(IfIndex{5}, "mgmt0"));
    add(bridge(IfIndex{11}, "br1"));
    add(bridge_port(IfIndex{6}, "swp6", IfIndex{11}));
    ServedInterfaces served;
    (void)served.update(config, links, AddressTable());

    EXPECT_THAT(server_ports(config, links, served),
                ElementsAre(IfIndex{1}, IfIndex{2}, IfIndex{4}));
}

}  // namespace
}  // namespace planed
