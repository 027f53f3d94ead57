// SPDX-License-Identifier: Apache-2.0
#include "netlink/neighbor_codec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/neighbour.h>

#include "unit/netlink/vectors.hpp"

namespace planed::netlink {
namespace {

using testing::ElementsAre;

constexpr std::size_t kNeighborHeader = sizeof(ndmsg);
constexpr auto kBridge = static_cast<IfIndex>(10);
constexpr auto kPort1 = static_cast<IfIndex>(11);
constexpr auto kPort2 = static_cast<IfIndex>(12);

MacAddress host_mac() {
    return mac("02:00:00:00:05:01");
}

Input seen(const char* address, const Neighbor& neighbor) {
    return NeighborSeen{.key = {.link = kBridge, .address = ip(address)}, .neighbor = neighbor};
}

Input fdb_seen(const MacAddress& address, IfIndex port, bool local = false) {
    return FdbSeen{.key = {.bridge = kBridge, .mac = address},
                   .entry = {.port = port, .local = local}};
}

Input fdb_gone(const MacAddress& address, IfIndex port) {
    return FdbGone{.key = {.bridge = kBridge, .mac = address}, .port = port};
}

Datagram with_tail(const Message& message, const Datagram& tail) {
    Datagram payload(message.payload.begin(), message.payload.end());
    payload.insert(payload.end(), tail.begin(), tail.end());
    return payload;
}

TEST(NeighborCodec, ReadsEachStateOfAnIpv4Neighbour) {
    const Neighbor known{.mac = host_mac()};
    for (const auto& [name, state] : {std::pair{"reachable", Nud::Reachable},
                                      {"stale", Nud::Stale},
                                      {"delay", Nud::Delay},
                                      {"probe", Nud::Probe}}) {
        Neighbor expected = known;
        expected.state = state;
        EXPECT_EQ(fact_of(std::string("neigh-v4-") + name), seen("10.0.0.5", expected)) << name;
    }
}

TEST(NeighborCodec, ReadsEachStateOfAnIpv6Neighbour) {
    const Neighbor known{.mac = host_mac()};
    for (const auto& [name, state] : {std::pair{"reachable", Nud::Reachable},
                                      {"stale", Nud::Stale},
                                      {"delay", Nud::Delay},
                                      {"probe", Nud::Probe}}) {
        Neighbor expected = known;
        expected.state = state;
        EXPECT_EQ(fact_of(std::string("neigh-v6-") + name), seen("fd00:0:0:1::5", expected))
            << name;
    }
}

TEST(NeighborCodec, FailedAndIncompleteHaveNoMac) {
    EXPECT_EQ(fact_of("neigh-v4-failed"), seen("10.0.0.5", {.state = Nud::Failed}));
    EXPECT_EQ(fact_of("neigh-v6-failed"), seen("fd00:0:0:1::5", {.state = Nud::Failed}));
    EXPECT_EQ(fact_of("neigh-v4-incomplete"), seen("10.0.0.99", {.state = Nud::Incomplete}));
    EXPECT_EQ(fact_of("neigh-v6-incomplete"), seen("fd00:0:0:1::99", {.state = Nud::Incomplete}));
}

TEST(NeighborCodec, ReadsWhoWroteAnEntry) {
    const Neighbor ours{
        .mac = host_mac(), .state = Nud::NoArp, .ext_learned = true, .protocol = kNeighborProtocol};
    EXPECT_EQ(fact_of("neigh-v4-noarp-ext-learned"), seen("10.0.0.99", ours));
    EXPECT_EQ(fact_of("neigh-v6-noarp-ext-learned"), seen("fd00:0:0:1::99", ours));
}

TEST(NeighborCodec, ReadsAPermanentEntry) {
    const Input fact = fact_of("neigh-v4-permanent");

    const auto& neighbor = std::get<NeighborSeen>(fact).neighbor;
    EXPECT_EQ(neighbor.state, Nud::Permanent);
    EXPECT_EQ(neighbor.mac, host_mac());
    EXPECT_FALSE(neighbor.ext_learned);
}

TEST(NeighborCodec, ADeletedEntryIsAnnouncedFailedAndThenGone) {
    for (const auto& [name, address] :
         {std::pair{"neigh-v4-deleted", "10.0.0.99"}, {"neigh-v6-deleted", "fd00:0:0:1::99"}}) {
        const Input gone = NeighborGone{.key = {.link = kBridge, .address = ip(address)},
                                        .last = {.state = Nud::Failed}};
        EXPECT_THAT(facts_of(name), ElementsAre(seen(address, {.state = Nud::Failed}), gone));
    }
}

TEST(NeighborCodec, ACollectedEntryStillHasItsStateAndMac) {
    const Input fact = fact_of("neigh-v4-collected");

    const auto& last = std::get<NeighborGone>(fact).last;
    EXPECT_EQ(last, (Neighbor{.mac = mac("02:00:00:00:09:01"), .state = Nud::Stale}));
}

TEST(NeighborCodec, SaysHowItCameToKnow) {
    const Input fact = fact_of("neigh-v4-reachable", Source::Dump);

    EXPECT_EQ(std::get<NeighborSeen>(fact).source, Source::Dump);
}

TEST(NeighborCodec, ProxyEntriesAreNoNeighbours) {
    const Input fact = fact_of("dump-proxy-v4", Source::Dump);

    EXPECT_EQ(fact,
              Input(ProxySeen{.key = {.link = IfIndex{10}, .address = ip("10.0.0.77")},
                              .protocol = kNeighborProtocol}));
}

TEST(NeighborCodec, ProxyEntriesAreToldByDumpsAlone) {
    EXPECT_THAT(facts_of("dump-proxy-v4", Source::Event), testing::IsEmpty());
}

TEST(NeighborCodec, AProxyEntryOfAllInterfacesIsNobodys) {
    Datagram dump = load("dump-proxy-v4").front();
    dump[16 + 4] = 0;  // ndm_ifindex.

    const auto fact = decode(messages_of(dump).front(), Source::Dump);

    ASSERT_TRUE(fact);
    EXPECT_EQ(*fact, std::nullopt);
}

TEST(FdbCodec, ALearnedEntryNamesItsBridgeAndPort) {
    EXPECT_EQ(fact_of("fdb-learned"), fdb_seen(host_mac(), kPort1));
}

TEST(FdbCodec, AMovedMacIsSeenOnItsNewPort) {
    EXPECT_THAT(facts_of("fdb-moved"), ElementsAre(fdb_seen(mac("02:00:00:00:05:02"), kPort2)));
}

TEST(FdbCodec, AgedAndFlushedEntriesAreGone) {
    EXPECT_EQ(fact_of("fdb-aged"), fdb_gone(host_mac(), kPort1));
    EXPECT_EQ(fact_of("fdb-flushed"), fdb_gone(host_mac(), kPort1));
}

TEST(FdbCodec, CarrierLossDeletesEntriesBeforeTheLinkSaysSo) {
    const auto facts = facts_of("fdb-carrier-lost");

    ASSERT_EQ(facts.size(), 2U);
    EXPECT_EQ(facts[0], fdb_gone(host_mac(), kPort1));
    EXPECT_FALSE(std::get<LinkSeen>(facts[1]).link.carrier);
}

TEST(FdbCodec, APortsOwnAddressIsLocal) {
    EXPECT_THAT(facts_of("fdb-port-own-address"),
                testing::Contains(fdb_seen(mac("02:00:00:00:aa:0b"), kPort1, true)));
}

TEST(FdbCodec, WhatSomeoneSetIsNotLocal) {
    EXPECT_EQ(fact_of("fdb-static"), fdb_seen(host_mac(), kPort1));
    const FdbSeen written{.key = {.bridge = kBridge, .mac = mac("02:00:00:00:07:01")},
                          .entry = {.port = kPort1, .ext_learned = true}};
    EXPECT_EQ(fact_of("fdb-ext-learned"), Input(written));
}

TEST(FdbCodec, ADevicesOwnFilterIsNoForwardingEntry) {
    EXPECT_THAT(facts_of("fdb-self"), testing::IsEmpty());
}

TEST(FdbCodec, ReadsTheVlan) {
    const Input expected =
        FdbSeen{.key = {.bridge = kBridge, .vlan = static_cast<VlanId>(100), .mac = host_mac()},
                .entry = {.port = kPort1}};

    EXPECT_EQ(fact_of("fdb-vlan-learned"), expected);
}

TEST(FdbCodec, DumpRowsAreTheSameFacts) {
    FdbSeen expected = std::get<FdbSeen>(fact_of("fdb-learned"));
    expected.source = Source::Dump;

    EXPECT_THAT(facts_of("dump-fdb", Source::Dump), testing::Contains(Input(expected)));
    EXPECT_THAT(facts_of("dump-fdb-of-bridge", Source::Dump), testing::Contains(Input(expected)));
}

TEST(NeighborCodec, RefusesEveryCutMessage) {
    for (const char* name : {"neigh-v4-reachable",
                             "neigh-v6-reachable",
                             "neigh-v4-deleted",
                             "neigh-v4-noarp-ext-learned",
                             "fdb-learned",
                             "fdb-vlan-learned"}) {
        expect_prefixes_refused(name, kNeighborHeader);
    }
}

TEST(NeighborCodec, RefusesTrailingBytesThatAreNoAttribute) {
    const Datagram datagram = load("neigh-v4-reachable").front();
    Message message = messages_of(datagram).front();
    for (const Datagram& tail : {Datagram{0}, Datagram{0, 0, 0}, Datagram{3, 0, 1, 0}}) {
        const Datagram payload = with_tail(message, tail);
        Message longer = message;
        longer.payload = payload;

        const auto fact = decode_neighbor(longer, Source::Event);

        ASSERT_FALSE(fact);
        EXPECT_EQ(fact.error().offset, datagram.size());
    }
}

TEST(NeighborCodec, SkipsAttributesOfLaterKernels) {
    const Datagram datagram = load("neigh-v4-reachable").front();
    const Message message = messages_of(datagram).front();
    const Datagram payload = with_tail(message, {8, 0, 0xFF, 0x3F, 1, 2, 3, 4});
    Message longer = message;
    longer.payload = payload;

    const auto fact = decode_neighbor(longer, Source::Event);

    ASSERT_TRUE(fact);
    EXPECT_EQ(*fact, fact_of("neigh-v4-reachable"));
}

TEST(NeighborCodec, RefusesWhatNoKernelSends) {
    const Datagram good = load("neigh-v4-reachable").front();
    const auto refused = [&](std::size_t at, std::uint8_t value) {
        Datagram bad = good;
        bad[16 + at] = value;
        return !decode_neighbor(messages_of(bad).front(), Source::Event);
    };

    EXPECT_TRUE(refused(4, 0)) << "interface 0";
    EXPECT_TRUE(refused(7, 0x80)) << "a negative interface";
    EXPECT_TRUE(refused(8, 0x06)) << "two states at once";
    EXPECT_TRUE(refused(9, 0x01)) << "a state of the future";
    EXPECT_TRUE(refused(14, 0x10)) << "no NDA_DST";
    EXPECT_TRUE(refused(0, 10)) << "an IPv6 neighbour with an IPv4 address";
}

}  // namespace
}  // namespace planed::netlink
