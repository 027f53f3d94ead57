// SPDX-License-Identifier: Apache-2.0
#include "core/served_interfaces.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/builders.hpp"
#include "support/print.hpp"

namespace planed {
namespace {

using test::bond;
using test::bridge;
using test::bridge_port;
using test::filtering_bridge;
using test::in_master;
using test::interface_config;
using test::prefix;
using test::routed_port;
using test::serving;
using test::vlan_interface;
using test::vrf_device;
using test::without_carrier;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr IfIndex kBridge{10};
constexpr IfIndex kSvi{100};

class ServedInterfacesTest : public testing::Test {
protected:
    void add(const Link& link) { (void)links.see({.link = link}); }
    void add_address(IfIndex link, std::string_view address) {
        (void)addresses.see({.link = link, .address = prefix(address)});
    }
    std::vector<IfIndex> update(const Config& config) {
        return served.update(config, links, addresses);
    }

    LinkTable links;
    AddressTable addresses;
    ServedInterfaces served;
};

TEST_F(ServedInterfacesTest, ServesARoutedPortByItself) {
    add(routed_port(IfIndex{3}, "swp3"));
    add_address(IfIndex{3}, "10.0.3.1/31");

    EXPECT_THAT(update(serving({"swp3"})), ElementsAre(IfIndex{3}));

    EXPECT_EQ(*served.find(IfIndex{3}),
              (ServedInterface{.link = IfIndex{3},
                               .name = "swp3",
                               .up = true,
                               .subnets = {prefix("10.0.3.1/31")},
                               .config = interface_config("swp3")}));
}

TEST_F(ServedInterfacesTest, LooksForHostsOfABridgeInItsOwnForwardingTable) {
    add(bridge(kBridge, "br0"));

    (void)update(serving({"br0"}));

    EXPECT_EQ(*served.find(kBridge),
              (ServedInterface{.link = kBridge,
                               .name = "br0",
                               .up = true,
                               .bridge = kBridge,
                               .config = interface_config("br0")}));
    EXPECT_THAT(served.on_bridge(kBridge, VlanId::None), ElementsAre(kBridge));
}

TEST_F(ServedInterfacesTest, LooksForHostsOfAFilteringBridgeInItsDefaultVlan) {
    add(filtering_bridge(kBridge, "br0", VlanId{7}));

    (void)update(serving({"br0"}));

    EXPECT_THAT(served.on_bridge(kBridge, VlanId{7}), ElementsAre(kBridge));
    EXPECT_THAT(served.on_bridge(kBridge, VlanId::None), IsEmpty());
}

TEST_F(ServedInterfacesTest, LooksForHostsOfAnSviInItsVlanOfAFilteringBridge) {
    add(filtering_bridge(kBridge, "Bridge"));
    add(vlan_interface(kSvi, "Vlan100", kBridge, VlanId{100}));

    (void)update(serving({"Vlan100"}));

    EXPECT_EQ(served.find(kSvi)->bridge, kBridge);
    EXPECT_EQ(served.find(kSvi)->vlan, VlanId{100});
    EXPECT_THAT(served.on_bridge(kBridge, VlanId{100}), ElementsAre(kSvi));
}

TEST_F(ServedInterfacesTest, LooksForHostsOfAVlanOnAPlainBridgeInItsOnlyTable) {
    add(bridge(kBridge, "br0"));
    add(vlan_interface(kSvi, "br0.100", kBridge, VlanId{100}));

    (void)update(serving({"br0", "br0.100"}));

    EXPECT_THAT(served.on_bridge(kBridge, VlanId::None), ElementsAre(kBridge, kSvi));
}

TEST_F(ServedInterfacesTest, ServesAVlanOfARoutedPortWithoutABridge) {
    add(routed_port(IfIndex{3}, "swp3"));
    add(vlan_interface(kSvi, "swp3.100", IfIndex{3}, VlanId{100}));

    (void)update(serving({"swp3.100"}));

    EXPECT_EQ(served.find(kSvi)->bridge, IfIndex::None);
    EXPECT_EQ(served.find(kSvi)->vlan, VlanId::None);
}

TEST_F(ServedInterfacesTest, ServesABondAsOneInterface) {
    add(bond(IfIndex{20}, "PortChannel1"));
    add(in_master(routed_port(IfIndex{1}, "swp1"), IfIndex{20}));

    EXPECT_THAT(update(serving({"PortChannel*"})), ElementsAre(IfIndex{20}));
    EXPECT_EQ(served.find(IfIndex{20})->bridge, IfIndex::None);
}

TEST_F(ServedInterfacesTest, KnowsTheVrfOfAnInterfaceByItsMaster) {
    add(vrf_device(IfIndex{50}, "blue", 1001));
    add(in_master(routed_port(IfIndex{3}, "swp3"), IfIndex{50}));
    add(bridge(kBridge, "br0"));
    add(bridge_port(IfIndex{4}, "swp4", kBridge));

    (void)update(serving({"swp*"}));

    EXPECT_EQ(served.find(IfIndex{3})->vrf, VrfId{50});
    EXPECT_EQ(served.find(IfIndex{4})->vrf, VrfId::Default);  // A bridge is no VRF.
}

TEST_F(ServedInterfacesTest, PrefersAnExactNameToAnEarlierGlobAndTheMoreSpecificGlob) {
    Config config = serving({"Vlan*", "Vlan1*", "Vlan100"});
    config.interfaces[0].max_hosts = 1;
    config.interfaces[1].max_hosts = 2;
    config.interfaces[2].max_hosts = 3;
    add(routed_port(IfIndex{1}, "Vlan100"));
    add(routed_port(IfIndex{2}, "Vlan101"));
    add(routed_port(IfIndex{3}, "eth0"));

    (void)update(config);

    EXPECT_EQ(served.find(IfIndex{1})->config, config.interfaces[2]);
    EXPECT_EQ(served.find(IfIndex{2})->config, config.interfaces[1]);
    EXPECT_EQ(served.find(IfIndex{3}), nullptr);
}

TEST_F(ServedInterfacesTest, LeavesLinkLocalAddressesOutOfTheSubnets) {
    add(bridge(kBridge, "br0"));
    add_address(kBridge, "fe80::1/64");
    add_address(kBridge, "169.254.1.1/16");
    add_address(kBridge, "10.0.0.1/16");
    add_address(IfIndex{11}, "10.1.0.1/16");

    (void)update(serving({"br0"}));

    EXPECT_THAT(served.find(kBridge)->subnets, ElementsAre(prefix("10.0.0.1/16")));
    EXPECT_THAT(served.find(kBridge)->allowed(), ElementsAre(prefix("10.0.0.1/16")));
}

TEST_F(ServedInterfacesTest, AllowsTheConfiguredPrefixesInsteadOfTheSubnets) {
    Config config = serving({"br0"});
    config.interfaces[0].prefixes = {prefix("192.0.2.0/24")};
    add(bridge(kBridge, "br0"));
    add_address(kBridge, "10.0.0.1/16");

    (void)update(config);

    EXPECT_THAT(served.find(kBridge)->allowed(), ElementsAre(prefix("192.0.2.0/24")));
}

TEST_F(ServedInterfacesTest, TellsWhatBeganChangedAndEnded) {
    add(routed_port(IfIndex{1}, "swp1"));
    add(routed_port(IfIndex{2}, "swp2"));
    add(routed_port(IfIndex{3}, "swp3"));
    (void)update(serving({"swp1", "swp2"}));
    EXPECT_THAT(update(serving({"swp1", "swp2"})), IsEmpty());

    add(without_carrier(routed_port(IfIndex{2}, "swp2")));

    EXPECT_THAT(update(serving({"swp2", "swp3"})), ElementsAre(IfIndex{1}, IfIndex{2}, IfIndex{3}));
    EXPECT_EQ(served.find(IfIndex{1}), nullptr);
    EXPECT_FALSE(served.find(IfIndex{2})->up);
    EXPECT_TRUE(served.find(IfIndex{3})->up);
}

}  // namespace
}  // namespace planed
