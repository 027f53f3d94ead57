// SPDX-License-Identifier: Apache-2.0
#include "netlink/link_codec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/rtnetlink.h>

#include "unit/netlink/vectors.hpp"

namespace planed::netlink {
namespace {

using testing::ElementsAre;

constexpr std::size_t kLinkHeader = sizeof(ifinfomsg);

IfIndex index(std::uint32_t value) {
    return static_cast<IfIndex>(value);
}

Link link_of(const std::string& name) {
    return std::get<LinkSeen>(fact_of(name)).link;
}

/// The states of one link that a file tells, in order.
std::vector<Link> links_of(const std::string& name, const std::string& link) {
    std::vector<Link> links;
    for (const Input& fact : facts_of(name)) {
        if (const auto* seen = std::get_if<LinkSeen>(&fact); seen && seen->link.name == link) {
            links.push_back(seen->link);
        }
    }
    EXPECT_FALSE(links.empty()) << name;
    return links;
}

TEST(LinkCodec, ReadsAPlainBridge) {
    const Link expected{.index = index(10),
                        .name = "br0",
                        .mac = mac("02:00:00:00:00:01"),
                        .kind = LinkKind::Bridge,
                        .oper = OperState::Down,
                        .carrier_down_count = 1};

    EXPECT_EQ(link_of("link-bridge-new"), expected);
}

TEST(LinkCodec, ReadsAVlanAwareBridge) {
    const Link link = link_of("link-bridge-vlan-new");

    EXPECT_EQ(link.kind, LinkKind::Bridge);
    EXPECT_TRUE(link.vlan_filtering);
    EXPECT_EQ(link.default_pvid, static_cast<VlanId>(1));
}

TEST(LinkCodec, ReadsAnSviAndItsLowerLink) {
    const Link expected{.index = index(13),
                        .name = "Vlan100",
                        .mac = mac("02:00:00:00:00:01"),
                        .kind = LinkKind::Vlan,
                        .admin_up = true,
                        .carrier = true,
                        .oper = OperState::Up,
                        .lower = index(10),
                        .vlan = static_cast<VlanId>(100)};

    EXPECT_EQ(link_of("link-vlan-svi-up"), expected);
}

TEST(LinkCodec, AnSviOfABridgeWithoutPortsHasNoCarrier) {
    EXPECT_THAT(facts_of("link-vlan-svi-carrier-lost"),
                ElementsAre(testing::VariantWith<LinkSeen>(testing::_),
                            testing::VariantWith<LinkSeen>(testing::_)));
    EXPECT_FALSE(links_of("link-vlan-svi-carrier-lost", "Vlan100").back().carrier);
    EXPECT_TRUE(links_of("link-vlan-svi-carrier-lost", "Vlan100").back().admin_up);
}

TEST(LinkCodec, ALowerLinkOfAnotherNamespaceIsNone) {
    const Link link = link_of("link-vlan-lower-elsewhere");

    EXPECT_EQ(link.kind, LinkKind::Vlan);
    EXPECT_EQ(link.vlan, static_cast<VlanId>(7));
    EXPECT_EQ(link.lower, IfIndex::None);
}

TEST(LinkCodec, ReadsAVrfAndItsTable) {
    const Link link = link_of("link-vrf-new");

    EXPECT_EQ(link.kind, LinkKind::Vrf);
    EXPECT_EQ(link.vrf_table, 1001U);
}

TEST(LinkCodec, MembersOfAVrfAreNoBridgePorts) {
    for (const char* name :
         {"link-port-joins-vrf", "link-bridge-joins-vrf", "link-vlan-svi-joins-vrf"}) {
        const Link link = link_of(name);
        EXPECT_EQ(link.master, index(50)) << name;
        EXPECT_FALSE(link.bridge_port) << name;
        EXPECT_FALSE(link.bond_port) << name;
    }
    EXPECT_EQ(link_of("link-port-leaves-vrf").master, IfIndex::None);
}

TEST(LinkCodec, ReadsBondsAndTheirMembers) {
    EXPECT_EQ(link_of("link-bond-lacp-read").kind, LinkKind::Bond);
    EXPECT_EQ(link_of("link-bond-backup-read").kind, LinkKind::Bond);

    const Link member = link_of("link-bond-lacp-member-read");
    EXPECT_EQ(member.kind, LinkKind::Veth);
    EXPECT_EQ(member.master, index(30));
    EXPECT_TRUE(member.bond_port);
    EXPECT_FALSE(member.bridge_port);
    EXPECT_TRUE(member.carrier);
}

TEST(LinkCodec, ABondLivesUntilItsLastMemberIsDown) {
    EXPECT_FALSE(links_of("link-bond-backup-member-down", "m41").front().carrier);
    EXPECT_TRUE(links_of("link-bond-backup-member-down", "bond1").back().carrier);
    EXPECT_FALSE(links_of("link-bond-backup-last-member-down", "bond1").back().carrier);
    EXPECT_FALSE(links_of("link-bond-lacp-last-member-down", "PortChannel1").back().carrier);
}

TEST(LinkCodec, AMemberThatLeavesHasNoMaster) {
    for (const char* name : {"link-bond-lacp-member-leaves", "link-bond-backup-member-leaves"}) {
        EXPECT_EQ(link_of(name).master, IfIndex::None) << name;
        EXPECT_FALSE(link_of(name).bond_port) << name;
    }
}

TEST(LinkCodec, ReadsABridgePort) {
    const Link port = links_of("link-port-joins-bridge", "swp1").back();

    EXPECT_EQ(port.kind, LinkKind::Veth);
    EXPECT_EQ(port.master, index(10));
    EXPECT_TRUE(port.bridge_port);
    EXPECT_TRUE(port.carrier);
    EXPECT_EQ(port.lower, IfIndex::None);  // A veth's peer is no lower link.
}

TEST(LinkCodec, APortThatMovesIsNeverGone) {
    std::vector<IfIndex> masters;
    for (const Input& fact : facts_of("link-port-moves-bridge")) {
        masters.push_back(std::get<LinkSeen>(fact).link.master);
    }

    EXPECT_EQ(masters.front(), index(10));
    EXPECT_THAT(masters, testing::Contains(IfIndex::None));
    EXPECT_EQ(masters.back(), index(12));
}

TEST(LinkCodec, CarrierComesAndGoesWhileTheLinkStaysUp) {
    const Link lost = links_of("link-port-carrier-lost", "swp1").back();
    const Link back = links_of("link-port-carrier-back", "swp1").back();

    EXPECT_TRUE(lost.admin_up);
    EXPECT_FALSE(lost.carrier);
    EXPECT_TRUE(back.carrier);
    EXPECT_EQ(lost.carrier_down_count, back.carrier_down_count);
    EXPECT_GT(lost.carrier_down_count,
              links_of("link-port-joins-bridge", "swp1").front().carrier_down_count);
}

TEST(LinkCodec, CarrierIsTheDevicesWordAndNotTheOperationalState) {
    const Link joining = link_of("link-bond-lacp-member-joins");

    EXPECT_TRUE(joining.carrier);
    EXPECT_NE(joining.oper, OperState::Up);  // linkwatch comes later.
}

TEST(LinkCodec, ANestMayBeMarkedAsOne) {
    const Datagram plain = load("link-vlan-svi-new").front();
    const Datagram info{18, 0};  // IFLA_LINKINFO, not marked by this kernel.
    Datagram marked = plain;
    std::size_t at = 16 + kLinkHeader;
    while (marked[at + 2] != info[0] || marked[at + 3] != info[1]) {
        at += (marked[at] + std::size_t{marked[at + 1]} * 256 + 3) / 4 * 4;
    }
    marked[at + 3] = NLA_F_NESTED >> 8U;

    EXPECT_EQ(*decode_link(messages_of(marked).front(), Source::Event),
              fact_of("link-vlan-svi-new"));
}

TEST(LinkCodec, ALinkThatIsDownHasNoCarrier) {
    const Link down = links_of("link-port-admin-down", "swp1").back();

    EXPECT_FALSE(down.admin_up);
    EXPECT_FALSE(down.carrier);
}

TEST(LinkCodec, ARenamedLinkKeepsItsIndex) {
    const Link link = link_of("link-renamed");

    EXPECT_EQ(link.name, "server1");
    EXPECT_EQ(link.index, index(11));
}

TEST(LinkCodec, ADeletedLinkIsGone) {
    EXPECT_EQ(fact_of("link-deleted"), Input(LinkGone{.link = index(11)}));
    EXPECT_EQ(fact_of("link-vlan-svi-deleted"), Input(LinkGone{.link = index(13)}));
    EXPECT_EQ(facts_of("link-vrf-deleted").back(), Input(LinkGone{.link = index(50)}));
    EXPECT_EQ(fact_of("link-bond-lacp-deleted"), Input(LinkGone{.link = index(30)}));
}

TEST(LinkCodec, ADumpTellsEveryLink) {
    std::vector<std::string> names;
    for (const Input& fact : facts_of("dump-links-vlan", Source::Dump)) {
        names.push_back(std::get<LinkSeen>(fact).link.name);
        EXPECT_EQ(std::get<LinkSeen>(fact).source, Source::Dump);
    }

    EXPECT_THAT(names, testing::IsSupersetOf({"lo", "bridge", "swp1", "swp2", "Vlan100"}));
}

TEST(LinkCodec, ADumpOfABridgesPortsTellsOnlyThese) {
    const auto facts = facts_of("dump-bridge-ports", Source::Read);

    ASSERT_EQ(facts.size(), 1U);
    EXPECT_EQ(std::get<LinkSeen>(facts.front()).link.name, "swp1");
}

TEST(LinkCodec, OtherKindsAreLinksToo) {
    EXPECT_EQ(link_of("link-dummy-new").kind, LinkKind::Other);
    EXPECT_EQ(link_of("link-tap-admin-up-no-carrier").kind, LinkKind::Other);
    EXPECT_FALSE(link_of("link-tap-admin-up-no-carrier").carrier);
    EXPECT_TRUE(link_of("link-vxlan-port-joins-bridge").bridge_port);
    EXPECT_EQ(link_of("link-macvlan-up").lower, IfIndex::None);
    EXPECT_FALSE(link_of("link-dummy-carrier-lost").carrier);
}

TEST(LinkCodec, RefusesEveryCutMessage) {
    for (const char* name : {"link-bridge-vlan-new",
                             "link-vlan-svi-new",
                             "link-vrf-new",
                             "link-bond-lacp-member-read",
                             "link-deleted"}) {
        expect_prefixes_refused(name, kLinkHeader);
    }
}

TEST(LinkCodec, RefusesANestThatIsCut) {
    // The nested length of IFLA_LINKINFO grows past its parent, byte by byte of the message.
    const Datagram good = load("link-vlan-svi-new").front();
    const Datagram vlan_id{6, 0, 1, 0, 100, 0};
    const auto at = std::search(good.begin(), good.end(), vlan_id.begin(), vlan_id.end());
    ASSERT_NE(at, good.end());
    for (const unsigned length : {0U, 3U, 5U, 7U, 255U}) {
        Datagram bad = good;
        bad[static_cast<std::size_t>(at - good.begin())] = static_cast<std::uint8_t>(length);

        EXPECT_FALSE(decode_link(messages_of(bad).front(), Source::Event)) << length;
    }
}

TEST(LinkCodec, RefusesALinkWithoutNameOrIndex) {
    const Datagram good = load("link-dummy-new").front();
    Datagram nameless = good;
    nameless[16 + kLinkHeader + 2] = 0xFF;  // IFLA_IFNAME is the first attribute.
    Datagram indexless = good;
    indexless[16 + 4] = 0;

    EXPECT_FALSE(decode_link(messages_of(nameless).front(), Source::Event));
    EXPECT_FALSE(decode_link(messages_of(indexless).front(), Source::Event));
}

}  // namespace
}  // namespace planed::netlink
