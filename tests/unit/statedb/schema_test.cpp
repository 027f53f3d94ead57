// SPDX-License-Identifier: Apache-2.0
#include "statedb/schema.hpp"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/builders.hpp"

namespace planed::statedb {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr WallOffset kWall{1'788'091'200'000'000};  // 2026-08-30T12:00:00Z.

HostView host() {
    return {.key = {.link = IfIndex{10}, .address = test::ip("fd00:0:0:1::5")},
            .vrf = "default",
            .interface = "Vlan100",
            .mac = test::mac(5),
            .port = "swp1",
            .state = Nud::Reachable,
            .origin = HostOrigin::Kernel,
            .reason = Reason::Eligible,
            .since = TimePoint{1234567us}};
}

RouteView route() {
    return {.key = {.vrf = VrfId{7}, .prefix = test::prefix("10.0.0.5/32")},
            .vrf = "Vrf-blue",
            .interface = "Vlan100",
            .origin = HostOrigin::Kernel,
            .state = SinkState::Held,
            .reason = "eligible"};
}

InterfaceView interface() {
    return {.link = IfIndex{10},
            .name = "Vlan100",
            .vrf = "default",
            .carrier = true,
            .proxy_arp = ProxyArp::Routed,
            .proxy_nd = true,
            .max_hosts = 16384,
            .prefixes = {test::prefix("10.0.0.1/16"), test::prefix("fd00:0:0:1::1/64")}};
}

SegmentRow bond_row() {
    return {.esi = {0x03, 0x44, 0x38, 0x39, 0xff, 0xff, 0x01, 0, 0, 0x0a},
            .port = "bond1",
            .up = true,
            .announced = true,
            .role = "backup",
            .forwarder = "10.66.0.2",
            .local_hosts = 3,
            .synced_hosts = 4};
}

EvpnPeerRow peer_row() {
    return {.address = test::ip("fd00:66::2"),
            .remote_as = 4'200'000'001,
            .description = "spine-a1",
            .state = "established",
            .since = TimePoint{1234567us},
            .routes = 120};
}

TEST(Schema, NamesRowsAsTheContractDoes) {
    EXPECT_EQ(global_key("|"), "PLANED_TABLE|global");
    EXPECT_EQ(key_of(interface(), "|"), "PLANED_INTERFACE_TABLE|Vlan100");
    EXPECT_EQ(key_of(host(), "|"), "PLANED_NEIGHBOR_TABLE|default|Vlan100|fd00:0:0:1::5");
    EXPECT_EQ(key_of(route(), "|"), "PLANED_ROUTE_TABLE|Vrf-blue|10.0.0.5/32");
    EXPECT_EQ(key_of(bond_row(), "|"), "PLANED_SEGMENT_TABLE|03:44:38:39:ff:ff:01:00:00:0a");
    EXPECT_EQ(key_of(peer_row(), "|"), "PLANED_EVPN_PEER_TABLE|fd00:66::2");
}

TEST(Schema, JoinsNamesByTheDatabasesOwnSeparator) {
    EXPECT_EQ(global_key(":"), "PLANED_TABLE:global");
    EXPECT_EQ(key_of(route(), "::"), "PLANED_ROUTE_TABLE::Vrf-blue::10.0.0.5/32");
    EXPECT_EQ(key_of(bond_row(), ":"), "PLANED_SEGMENT_TABLE:03:44:38:39:ff:ff:01:00:00:0a");
    EXPECT_EQ(key_of(peer_row(), ":"), "PLANED_EVPN_PEER_TABLE:fd00:66::2");
}

TEST(Schema, ShowsAHost) {
    EXPECT_THAT(fields_of(host(), kWall),
                ElementsAre(Pair("mac", "02:00:00:00:00:05"),
                            Pair("port", "swp1"),
                            Pair("state", "REACHABLE"),
                            Pair("origin", "kernel"),
                            Pair("eligible", "true"),
                            Pair("reason", "eligible"),
                            Pair("since", "2026-08-30T12:00:01.234567Z")));
}

TEST(Schema, LeavesEmptyWhatIsNotKnownOfAHost) {
    HostView unknown = host();
    unknown.mac = {};
    unknown.port = "";
    unknown.state = Nud::Failed;
    unknown.reason = Reason::Failed;

    EXPECT_THAT(fields_of(unknown, kWall),
                ElementsAre(Pair("mac", ""),
                            Pair("port", ""),
                            Pair("state", "FAILED"),
                            Pair("origin", "kernel"),
                            Pair("eligible", "false"),
                            Pair("reason", "failed"),
                            Pair("since", "2026-08-30T12:00:01.234567Z")));
}

TEST(Schema, ShowsARoute) {
    EXPECT_THAT(fields_of(route(), TimePoint{0us}, kWall),
                ElementsAre(Pair("interface", "Vlan100"),
                            Pair("origin", "kernel"),
                            Pair("state", "installed"),
                            Pair("reason", "eligible"),
                            Pair("since", "2026-08-30T12:00:00.000000Z")));
}

TEST(Schema, ShowsAnInterfaceWithItsNetworks) {
    EXPECT_THAT(fields_of(interface(), {.hosts = 3}),
                ElementsAre(Pair("name", "Vlan100"),
                            Pair("ifindex", "10"),
                            Pair("vrf", "default"),
                            Pair("carrier", "true"),
                            Pair("proxy_arp", "routed"),
                            Pair("proxy_nd", "true"),
                            Pair("hosts", "3"),
                            Pair("max_hosts", "16384"),
                            Pair("prefixes", "10.0.0.0/16,fd00:0:0:1::/64")));
}

TEST(Schema, ShowsTheNode) {
    const NodeView node{.name = "leaf-a1", .plane = "A", .ready = true};

    EXPECT_THAT(fields_of(node, "1.2.3", {.routes = 4, .hosts = 5}),
                ElementsAre(Pair("name", "leaf-a1"),
                            Pair("plane", "A"),
                            Pair("version", "1.2.3"),
                            Pair("ready", "true"),
                            Pair("routes", "4"),
                            Pair("hosts", "5")));
}

TEST(Schema, NamesOfATableAreThoseOfItsRows) {
    const auto expect_names = [](Table table, const Fields& fields) {
        std::vector<std::string_view> names;
        std::vector<std::string_view> texts;
        for (const auto& [name, value] : fields) {
            names.push_back(name);
            texts.push_back(name);
            texts.push_back(value);
        }
        EXPECT_THAT(names_of(table), testing::ElementsAreArray(names));
        EXPECT_TRUE(has_fields_of(table, texts));
        texts.pop_back();
        texts.pop_back();
        EXPECT_FALSE(has_fields_of(table, texts));
        texts.push_back("other");
        texts.push_back("");
        EXPECT_FALSE(has_fields_of(table, texts));
    };
    Fields global = fields_of(NodeView{}, "1", {});
    global.push_back({"updated", ""});

    expect_names(Table::Global, global);
    expect_names(Table::Neighbor, fields_of(host(), kWall));
    expect_names(Table::Route, fields_of(route(), {}, kWall));
    expect_names(Table::Interface, fields_of(interface(), {}));
    expect_names(Table::Proxy, fields_of(ProxyView{}));
    expect_names(Table::Segment, fields_of(bond_row()));
    expect_names(Table::EvpnPeer, fields_of(peer_row(), kWall));
    expect_names(Table::Config, fields_of(ConfigRow{}));
}

TEST(Schema, ShowsARowOfConfigDbThatIsRefused) {
    const ConfigRow row{.table = "NEIGH", .key = "Vlan100|10.0.0.5", .reason = "family: no"};

    EXPECT_EQ(key_of(row, "|"), "PLANED_CONFIG_TABLE|NEIGH|Vlan100|10.0.0.5");
    EXPECT_THAT(fields_of(row), ElementsAre(Pair("reason", "family: no")));
    EXPECT_TRUE(is_ours(key_of(row, "|"), "|"));
    EXPECT_NE(object_of(row), object_of(ConfigRow{.table = "NEIGH", .key = "Vlan100|10.0.0.6"}));
    EXPECT_NE(object_of(row), object_of(ConfigRow{.table = "NEIG", .key = "HVlan100|10.0.0.5"}));
}

TEST(Schema, ShowsAProxiedHost) {
    const ProxyView proxy{.key = {.link = IfIndex{3}, .address = test::ip("fd00::77")},
                          .interface = "Vlan100",
                          .state = SinkState::Held};

    EXPECT_EQ(key_of(proxy, "|"), "PLANED_PROXY_TABLE|Vlan100|fd00::77");
    EXPECT_THAT(fields_of(proxy), testing::ElementsAre(Pair("state", "installed")));
    EXPECT_NE(proxy_of(proxy.key), object_of(proxy.key));
}

TEST(Schema, ShowsASegment) {
    EXPECT_THAT(fields_of(bond_row()),
                ElementsAre(Pair("port", "bond1"),
                            Pair("up", "true"),
                            Pair("announced", "true"),
                            Pair("role", "backup"),
                            Pair("forwarder", "10.66.0.2"),
                            Pair("local_hosts", "3"),
                            Pair("synced_hosts", "4")));
    EXPECT_THAT(fields_of(SegmentRow{.port = "bond2", .role = "down"}),
                ElementsAre(Pair("port", "bond2"),
                            Pair("up", "false"),
                            Pair("announced", "false"),
                            Pair("role", "down"),
                            Pair("forwarder", ""),
                            Pair("local_hosts", "0"),
                            Pair("synced_hosts", "0")));
}

TEST(Schema, ShowsAnEvpnPeer) {
    EXPECT_THAT(fields_of(peer_row(), kWall),
                ElementsAre(Pair("remote_as", "4200000001"),
                            Pair("description", "spine-a1"),
                            Pair("state", "established"),
                            Pair("since", "2026-08-30T12:00:01.234567Z"),
                            Pair("routes", "120")));
}

TEST(Schema, ShowsNoTimeOfAnEvpnPeerThatIsDisabled) {
    EvpnPeerRow disabled = peer_row();
    disabled.state = "disabled";
    disabled.since.reset();

    EXPECT_THAT(fields_of(disabled, kWall), testing::Contains(Pair("since", "")));
}

TEST(Schema, TellsObjectsOfDifferentTablesApart) {
    // An address whose octets are those of an ESI.
    SegmentRow one;
    one.esi = {0x20, 0x01, 0x0d, 0xb8};
    const IpAddress same = test::ip("2001:db8::");
    SegmentRow other = one;
    other.esi.back() = 1;

    const std::set<Object> all{object_of(one),
                               object_of(other),
                               object_of(EvpnPeerRow{.address = same}),
                               object_of(EvpnPeerRow{.address = test::ip("2001:db8::1")}),
                               object_of(EvpnPeerRow{.address = test::ip("32.1.13.184")}),
                               object_of(NeighborKey{.address = same}),
                               proxy_of(NeighborKey{.address = same}),
                               object_of(RouteKey{.prefix = host_prefix(same)})};

    EXPECT_EQ(all.size(), 8U);
}

TEST(Schema, TakesOnlyOurTablesForOurs) {
    EXPECT_TRUE(is_ours("PLANED_TABLE|global", "|"));
    EXPECT_TRUE(is_ours("PLANED_PROXY_TABLE|Vlan100|10.0.0.5", "|"));
    EXPECT_TRUE(is_ours(key_of(bond_row(), "|"), "|"));
    EXPECT_TRUE(is_ours(key_of(peer_row(), "|"), "|"));
    EXPECT_FALSE(is_ours(key_of(peer_row(), ":"), "|"));
    EXPECT_FALSE(is_ours("PLANED_SEGMENT|bond1", "|"));
    EXPECT_FALSE(is_ours("PLANED_TABLE:global", "|"));
    EXPECT_FALSE(is_ours("PLANED_TABLE", "|"));
    EXPECT_FALSE(is_ours("PLANED|global", "|"));  // CONFIG_DB's.
    EXPECT_FALSE(is_ours("PLANED_ROUTE_TABLE2|x", "|"));
    EXPECT_FALSE(is_ours("NEIGH_TABLE|Vlan100|10.0.0.5", "|"));
}

TEST(Digest, DoesNotDependOnOrder) {
    const std::vector<std::string_view> seen{"b", "2", "a", "1"};

    EXPECT_EQ(digest(Fields{{"a", "1"}, {"b", "2"}}), digest(seen));
}

TEST(Digest, TellsEveryDifference) {
    std::set<std::uint64_t> all;

    for (const Fields& fields : std::vector<Fields>{{},
                                                    {{"a", ""}},
                                                    {{"", "a"}},
                                                    {{"ab", "c"}},
                                                    {{"a", "bc"}},
                                                    {{"a", "c"}, {"b", "c"}},
                                                    {{"a", "c"}, {"a", "c"}},
                                                    {{"a", "b"}, {"c", "d"}},
                                                    {{"a", "d"}, {"c", "b"}}}) {
        all.insert(digest(fields));
    }

    EXPECT_EQ(all.size(), 9U);
    EXPECT_FALSE(all.contains(0));
}

TEST(Timestamp, KnowsLeapDaysAndTheYearsEnd) {
    EXPECT_EQ(timestamp(TimePoint{}, 951'782'400s), "2000-02-29T00:00:00.000000Z");
    EXPECT_EQ(timestamp(TimePoint{999999us}, 1'798'761'599s), "2026-12-31T23:59:59.999999Z");
    EXPECT_EQ(timestamp(TimePoint{}, WallOffset{0}), "1970-01-01T00:00:00.000000Z");
}

TEST(Timestamp, BearsAClockThatWasNeverSet) {
    EXPECT_EQ(timestamp(TimePoint{1s}, WallOffset{-500'000}), "1970-01-01T00:00:00.500000Z");
    EXPECT_EQ(timestamp(TimePoint{}, WallOffset{-1}), "1969-12-31T23:59:59.999999Z");
}

}  // namespace
}  // namespace planed::statedb
