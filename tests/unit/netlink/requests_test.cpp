// SPDX-License-Identifier: Apache-2.0
// Our requests against those that iproute2 sent for the same wish, byte by byte; what iproute2 has
// no command for is proved against the running kernel in tests/system.
#include "netlink/requests.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <sys/socket.h>

#include <gtest/gtest.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

#include "netlink/attributes.hpp"
#include "unit/netlink/vectors.hpp"

namespace planed::netlink {
namespace {

constexpr auto kServed = static_cast<IfIndex>(10);

struct Recorded {
    Datagram bytes;
    std::uint32_t sequence;
};

Recorded recorded(const std::string& name) {
    Datagram bytes = load(name).front();
    const std::uint32_t sequence = messages_of(bytes).front().sequence;
    return {.bytes = std::move(bytes), .sequence = sequence};
}

WriteNeighbor stale(const char* address) {
    return {.key = {.link = kServed, .address = ip(address)},
            .mac = mac("02:00:00:00:05:01"),
            .state = Nud::Stale,
            .ext_learned = true};
}

TEST(Requests, WritesAnExternallyLearnedNeighbour) {
    const auto v4 = recorded("request-neigh-stale-ext-learned");
    const auto v6 = recorded("request-neigh-v6-stale-ext-learned");

    EXPECT_EQ(write_neighbor_request(stale("10.0.0.50"), v4.sequence), v4.bytes);
    EXPECT_EQ(write_neighbor_request(stale("fd00:0:0:1::50"), v6.sequence), v6.bytes);
}

// Whose entry it is stays as it is: the kernel takes protocol 0 for no word on that.
TEST(Requests, AsksTheKernelToProbe) {
    auto expected = recorded("request-neigh-probe");
    std::ranges::replace(expected.bytes, kNeighborProtocol, std::uint8_t{0});
    WriteNeighbor write = stale("10.0.0.50");
    write.state = Nud::Probe;
    write.ext_learned = false;

    EXPECT_EQ(write_neighbor_request(write, expected.sequence), expected.bytes);
}

TEST(Requests, DeletesANeighbour) {
    auto expected = recorded("request-neigh-delete");
    expected.bytes[16 + 8] = 0;  // iproute2 sends a state, which the kernel does not look at.
    const DeleteNeighbor remove{.key = {.link = kServed, .address = ip("10.0.0.50")}};

    EXPECT_EQ(delete_neighbor_request(remove, expected.sequence), expected.bytes);
}

TEST(Requests, WritesAForwardingEntryAndDeletesIt) {
    const auto put = recorded("request-fdb-ext-learned");
    const auto drop = recorded("request-fdb-delete");
    WriteForwarding write{.key = {.bridge = kBridge, .mac = mac("02:00:00:00:05:01")},
                          .port = IfIndex{4},
                          .put = true};
    EXPECT_EQ(write_forwarding_request(write, put.sequence), put.bytes);
    write.put = false;
    EXPECT_EQ(write_forwarding_request(write, drop.sequence), drop.bytes);
}

TEST(Requests, NamesTheVlanOfAForwardingEntry) {
    const WriteForwarding plain{.key = {.bridge = kBridge, .mac = mac("02:00:00:00:05:01")},
                                .port = IfIndex{4}};
    WriteForwarding tagged = plain;
    tagged.key.vlan = VlanId{100};
    Datagram expected = write_forwarding_request(plain, 1);
    const Datagram vlan{6, 0, NDA_VLAN, 0, 100, 0, 0, 0};
    expected.insert(expected.end(), vlan.begin(), vlan.end());
    expected[0] = static_cast<std::uint8_t>(expected.size());

    EXPECT_EQ(write_forwarding_request(tagged, 1), expected);
}

TEST(Requests, DumpsTheForwardingTable) {
    const auto expected = recorded("request-fdb");

    EXPECT_EQ(dump_request(DumpKind::Fdb, expected.sequence), expected.bytes);
}

TEST(Requests, DumpsTheNeighboursOfBothFamiliesAtOnce) {
    auto expected = recorded("request-neigh-v4");
    expected.bytes[16] = AF_UNSPEC;

    EXPECT_EQ(dump_request(DumpKind::Neighbors, expected.sequence), expected.bytes);
}

TEST(Requests, DumpsTheAddresses) {
    const auto expected = recorded("request-addresses");

    EXPECT_EQ(dump_request(DumpKind::Addresses, expected.sequence), expected.bytes);
}

TEST(Requests, DumpsTheLinksWithoutStatistics) {
    auto expected = recorded("request-links");
    expected.bytes[16] = AF_UNSPEC;  // iproute2 asks with AF_PACKET, which is handled the same.
    expected.bytes[36] = RTEXT_FILTER_SKIP_STATS;

    EXPECT_EQ(dump_request(DumpKind::Links, expected.sequence), expected.bytes);
}

TEST(Requests, TakesALinkDownAndUp) {
    auto down = recorded("request-link-down");
    auto up = recorded("request-link-up");
    down.bytes[4] = RTM_SETLINK;  // RTM_NEWLINK would create a link where there is none.
    up.bytes[4] = RTM_SETLINK;

    EXPECT_EQ(link_up_request({.link = kServed, .up = false}, down.sequence), down.bytes);
    EXPECT_EQ(link_up_request({.link = kServed, .up = true}, up.sequence), up.bytes);
}

TEST(Requests, SetsTheProxyQueue) {
    auto delay = recorded("request-proxy-delay");
    auto length = recorded("request-proxy-qlen");
    delay.bytes[39] = NLA_F_NESTED >> 8U;  // libnl marks nests, iproute2's ntable does not yet.
    length.bytes[39] = NLA_F_NESTED >> 8U;
    const ApplySetting apply_delay{.link = kServed, .setting = Setting::ProxyDelay4, .value = 0};
    const ApplySetting apply_length{.link = kServed, .setting = Setting::ProxyQlen4, .value = 500};

    EXPECT_EQ(setting_request(apply_delay, delay.sequence), delay.bytes);
    EXPECT_EQ(setting_request(apply_length, length.sequence), length.bytes);
}

TEST(Requests, SetsTheProxyQueueOfIpv6InItsOwnTable) {
    constexpr std::size_t kName = 16 + sizeof(ndtmsg) + 4;  // Where the table's name begins.
    for (const auto& [v4, v6] : {std::pair(Setting::ProxyDelay4, Setting::ProxyDelay6),
                                 std::pair(Setting::ProxyQlen4, Setting::ProxyQlen6)}) {
        auto expected = *setting_request({.link = kServed, .setting = v4, .value = 5}, 1);
        const std::string_view name("ndisc_cache", 12);  // As long as arp_cache, padded.
        expected[kName - 4] = 16;
        std::copy(name.begin(), name.end(), expected.begin() + kName);

        EXPECT_EQ(*setting_request({.link = kServed, .setting = v6, .value = 5}, 1), expected);
    }
}

TEST(Requests, AddsAndRemovesAProxiedNeighbour) {
    const auto add = recorded("request-proxy-add");
    const auto remove = recorded("request-proxy-delete");
    const NeighborKey key{.link = kServed, .address = ip("10.0.0.77")};

    EXPECT_EQ(proxy_request({.key = key, .put = true}, add.sequence), add.bytes);
    EXPECT_EQ(proxy_request({.key = key, .put = false}, remove.sequence), remove.bytes);
}

TEST(Requests, DumpsTheProxiedNeighboursOfIpv6) {
    auto expected = recorded("request-neigh-v6");
    expected.bytes[16 + 10] = NTF_PROXY;

    EXPECT_EQ(dump_request(DumpKind::Proxies, expected.sequence), expected.bytes);
}

TEST(Requests, SaysWhereNetlinkHasNoWay) {
    for (const Setting setting :
         {Setting::AcceptUntrackedNa, Setting::Forwarding6, Setting::ProxyNdp}) {
        EXPECT_EQ(setting_request({.link = kServed, .setting = setting}, 1), std::nullopt);
    }
}

TEST(Requests, ReadsOneLinkOrAMastersPorts) {
    const auto link = read_link_request(kServed, 7);
    const auto ports = read_ports_request(kServed, 8);

    const Message read = messages_of(link).front();
    EXPECT_EQ(read.type, RTM_GETLINK);
    EXPECT_EQ(read.flags, NLM_F_REQUEST);
    EXPECT_EQ(read.payload[4], 10);
    const Message dump = messages_of(ports).front();
    EXPECT_EQ(dump.flags, NLM_F_REQUEST | NLM_F_DUMP);
    EXPECT_EQ(dump.sequence, 8U);
    EXPECT_EQ(dump.payload[4], 0);  // Under strict checking an index is no filter.
    AttributeReader attributes(dump.payload.subspan(sizeof(ifinfomsg)), 0);
    EXPECT_EQ(attributes.next()->type, IFLA_EXT_MASK);
    const auto master = attributes.next();
    EXPECT_EQ(master->type, IFLA_MASTER);
    EXPECT_EQ(attributes.number<std::uint32_t>(*master), 10U);
}

}  // namespace
}  // namespace planed::netlink
