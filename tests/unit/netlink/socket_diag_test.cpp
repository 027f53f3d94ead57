// SPDX-License-Identifier: Apache-2.0
#include "netlink/socket_diag.hpp"

#include <sys/socket.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>

#include "unit/netlink/vectors.hpp"

namespace planed::netlink {
namespace {

std::vector<IpAddress> peers_of(const std::string& name) {
    std::vector<IpAddress> peers;
    for (const Datagram& datagram : load(name)) {
        for (const Message& message : messages_of(datagram)) {
            const auto peer = decode_bgp_peer(message);
            EXPECT_TRUE(peer);
            if (peer && *peer) {
                peers.push_back(**peer);
            }
        }
    }
    return peers;
}

TEST(SocketDiag, NamesTheRemoteEndOfEachBgpSession) {
    EXPECT_THAT(peers_of("dump-tcp-v4"), testing::ElementsAre(ip("127.0.0.3")));
}

TEST(SocketDiag, AnIpv4PeerOfAnIpv6SocketIsIpv4) {
    EXPECT_THAT(peers_of("dump-tcp-v6"),
                testing::UnorderedElementsAre(ip("::1"), ip("::1"), ip("127.0.0.1")));
}

TEST(SocketDiag, RefusesEveryCutRow) {
    const Datagram datagram = load("dump-tcp-v4").front();
    const Message message = messages_of(datagram).front();
    for (std::size_t end = 0; end < sizeof(inet_diag_msg); ++end) {
        Message prefix = message;
        prefix.payload = message.payload.first(end);
        EXPECT_FALSE(decode_bgp_peer(prefix)) << end;
    }
}

TEST(SocketDiag, IgnoresOtherMessages) {
    const Datagram datagram = load("neigh-v4-stale").front();

    const auto peer = decode_bgp_peer(messages_of(datagram).front());

    ASSERT_TRUE(peer);
    EXPECT_FALSE(*peer);
}

TEST(SocketDiag, AsksForOneFamilysSockets) {
    const auto request = dump_tcp_sockets(Family::V6, 3);

    const Message message = messages_of(request).front();
    EXPECT_EQ(message.type, SOCK_DIAG_BY_FAMILY);
    EXPECT_EQ(message.sequence, 3U);
    EXPECT_EQ(message.payload[0], AF_INET6);
    EXPECT_EQ(message.payload.size(), sizeof(inet_diag_req_v2));
}

}  // namespace
}  // namespace planed::netlink
