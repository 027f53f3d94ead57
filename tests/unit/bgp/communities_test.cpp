// SPDX-License-Identifier: Apache-2.0
#include "bgp/communities.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

#include <gtest/gtest.h>

#include "unit/bgp/values.hpp"
#include "unit/bgp/vectors.hpp"

namespace planed::bgp {
namespace {

ExtendedCommunity community(std::string_view hex) {
    ExtendedCommunity::Octets octets{};
    std::ranges::copy(from_hex(hex), octets.begin());
    return ExtendedCommunity(octets);
}

/// `value` is what those octets mean, both ways.
template <class T>
void expect_both_ways(std::string_view hex,
                      const T& value,
                      ExtendedCommunity (*write)(const T&),
                      std::optional<T> (*read)(const ExtendedCommunity&)) {
    EXPECT_EQ(write(value), community(hex)) << hex;
    EXPECT_EQ(read(community(hex)), value) << hex;
    EXPECT_EQ(read(community("4306 000000000000")), std::nullopt);
}

TEST(Communities, RouteTargetsHaveThreeForms) {
    EXPECT_EQ(route_target(kAs, 100), community("0002 fde8 00000064"));
    EXPECT_EQ(route_target(AsNumber{65536}, 100), community("0202 00010000 0064"));
    EXPECT_EQ(route_target(kLeaf1, 100), community("0102 0a420001 0064"));
    for (const auto* const hex : {"0002fde800000064", "0202000100000064", "01020a4200010064"}) {
        EXPECT_TRUE(is_route_target(community(hex)));
    }
    EXPECT_FALSE(is_route_target(community("0602 443839ffff01")));
}

TEST(Communities, RouteTargetOfALongAsKeepsTheLowSixteenBitsOfTheNumber) {
    EXPECT_EQ(route_target(AsNumber{65536}, 0x12345678), community("0202 00010000 5678"));
}

TEST(Communities, EncapsulationIsVxlans) {
    EXPECT_EQ(encapsulation(Encapsulation::Vxlan), community("030c 00000000 0008"));
    EXPECT_EQ(as_encapsulation(community("030c 00000000 0008")), 8);
    EXPECT_EQ(as_encapsulation(community("030d 00000000 0008")), std::nullopt);
    EXPECT_EQ(default_gateway(), community("030d 000000000000"));
    EXPECT_TRUE(is_default_gateway(community("030d 000000000000")));
}

TEST(Communities, MacMobilityBothWays) {
    expect_both_ways<MacMobility>(
        "0600 00 00 00000005", {.sequence = 5}, &mac_mobility, &as_mac_mobility);
    expect_both_ways<MacMobility>(
        "0600 01 00 ffffffff",
        {.is_static = true, .sequence = std::numeric_limits<std::uint32_t>::max()},
        &mac_mobility,
        &as_mac_mobility);
}

TEST(Communities, EsiLabelBothWays) {
    expect_both_ways<EsiLabel>("0601 00 0000 000000", {}, &esi_label, &as_esi_label);
    expect_both_ways<EsiLabel>("0601 41 0000 000064",
                               {.single_active = true, .split_horizon = 1, .label = 100},
                               &esi_label,
                               &as_esi_label);
    expect_both_ways<EsiLabel>(
        "0601 c0 0000 ffffff", {.split_horizon = 3, .label = kLabelMax}, &esi_label, &as_esi_label);
}

TEST(Communities, EsImportIsTheSegmentsHighSixOctets) {
    EXPECT_EQ(es_import(kEsi), community("0602 443839ffff01"));
    EXPECT_EQ(as_es_import(es_import(kEsi)), MacAddress::parse("44:38:39:ff:ff:01"));
    EXPECT_EQ(as_es_import(community("0603 443839ffff01")), std::nullopt);
}

TEST(Communities, RouterMacBothWays) {
    expect_both_ways<MacAddress>("0603 020000000202",
                                 MacAddress::parse("02:00:00:00:02:02").value(),
                                 &router_mac,
                                 &as_router_mac);
}

TEST(Communities, Layer2AttributesHaveBackupBelowPrimary) {
    expect_both_ways<Layer2Attributes>("0604 0001 05dc 0000",
                                       {.backup = true, .mtu = 1500},
                                       &layer2_attributes,
                                       &as_layer2_attributes);
    expect_both_ways<Layer2Attributes>(
        "0604 0002 0000 0000", {.primary = true}, &layer2_attributes, &as_layer2_attributes);
    expect_both_ways<Layer2Attributes>("0604 000c 0000 0000",
                                       {.control_word = true, .flow_label = true},
                                       &layer2_attributes,
                                       &as_layer2_attributes);
}

TEST(Communities, DfElectionBothWays) {
    expect_both_ways<DfElection>(
        "0606 02 8000 00 01f4",
        {.algorithm = 2, .bitmap = DfElection::kDontPreempt, .preference = 500},
        &df_election,
        &as_df_election);
    expect_both_ways<DfElection>(
        "0606 1f 4000 00 ffff",
        {.algorithm = 31, .bitmap = DfElection::kAcInfluenced, .preference = 65535},
        &df_election,
        &as_df_election);
}

TEST(Communities, DfElectionIgnoresTheReservedBits) {
    EXPECT_EQ(as_df_election(community("0606 e2 0000 ff 00c8")),
              (DfElection{.algorithm = 2, .preference = 200}));
}

TEST(Communities, DfElectionCountsOnlyAlone) {
    const ExtendedCommunity first = df_election({.algorithm = 2, .preference = 100});
    const ExtendedCommunity second = df_election({.algorithm = 2, .preference = 200});
    const ExtendedCommunity other = encapsulation(Encapsulation::Vxlan);

    EXPECT_EQ(df_election_of(std::vector{other, second}).preference, 200);
    EXPECT_EQ(df_election_of(std::vector{other}), DfElection{});
    EXPECT_EQ(df_election_of(std::vector{first, other, second}), DfElection{});
}

TEST(Communities, ArpNdBothWays) {
    expect_both_ways<ArpNd>("0608 04 0000000000", {.proxy = true}, &arp_nd, &as_arp_nd);
    expect_both_ways<ArpNd>(
        "0608 03 0000000000", {.router = true, .overrides = true}, &arp_nd, &as_arp_nd);
    expect_both_ways<ArpNd>("0608 08 0000000000", {.immutable = true}, &arp_nd, &as_arp_nd);
}

TEST(Communities, ServiceCarvingTimeBothWays) {
    expect_both_ways<ServiceCarvingTime>("060f 01020304 0506",
                                         {.seconds = 0x01020304, .fraction = 0x0506},
                                         &service_carving_time,
                                         &as_service_carving_time);
}

TEST(Communities, LinkBandwidthIsAFloatOfOctets) {
    // 12.5e9 octets a second: 100 Gbit/s.
    expect_both_ways<LinkBandwidth>("4004 fde8 503a43b7",
                                    {.as = 65000, .octets_per_second = 12.5e9F},
                                    &link_bandwidth,
                                    &as_link_bandwidth);
    expect_both_ways<LinkBandwidth>("0004 5ba0 00000000",
                                    {.transitive = true, .as = 23456},
                                    &link_bandwidth,
                                    &as_link_bandwidth);
    EXPECT_FALSE(community("4004 fde8 00000000").is_transitive());
}

TEST(Communities, LinkBandwidthMustBeANumber) {
    for (const auto* const hex : {"4004fde87f800000", "4004fde87fc00000", "4004fde8bf800000"}) {
        EXPECT_EQ(as_link_bandwidth(community(hex)), std::nullopt) << hex;
    }
}

TEST(Communities, TheFirstOfAKindCounts) {
    const std::vector list{
        encapsulation(Encapsulation::Vxlan), router_mac(mac(1)), router_mac(mac(2))};

    EXPECT_EQ(first_of(list, &as_router_mac), mac(1));
    EXPECT_EQ(first_of(list, &as_arp_nd), std::nullopt);
}

TEST(Communities, ReadLikeWords) {
    EXPECT_EQ(to_string(community("0002 fde8 00000064")), "RT:65000:100");
    EXPECT_EQ(to_string(community("0102 0a420001 0064")), "RT:10.66.0.1:100");
    EXPECT_EQ(to_string(community("0202 00010000 0064")), "RT:65536:100");
    EXPECT_EQ(to_string(community("030c 00000000 0008")), "encapsulation:8");
    EXPECT_EQ(to_string(community("030d 000000000000")), "default-gateway");
    EXPECT_EQ(to_string(community("0600 01 00 00000005")), "mobility:5 static");
    EXPECT_EQ(to_string(community("0601 01 0000 000000")), "esi-label:0 single");
    EXPECT_EQ(to_string(community("0602 443839ffff01")), "es-import:44:38:39:ff:ff:01");
    EXPECT_EQ(to_string(community("0603 020000000202")), "router-mac:02:00:00:00:02:02");
    EXPECT_EQ(to_string(community("0604 0002 05dc 0000")), "l2:P mtu 1500");
    EXPECT_EQ(to_string(community("0606 02 8000 00 01f4")),
              "df:alg 2 bitmap 0x8000 preference 500");
    EXPECT_EQ(to_string(community("0608 05 0000000000")), "nd:RP");
    EXPECT_EQ(to_string(community("060a 010203040506")), "060a010203040506");
}

}  // namespace
}  // namespace planed::bgp
