// SPDX-License-Identifier: Apache-2.0
// The socket, the requests and the decoders against the running kernel, in a network namespace that
// this program makes for itself. Needs root, and `ip` to make links.
#include "io/netlink_socket.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include "core/input.hpp"
#include "netlink/decode.hpp"
#include "netlink/dump.hpp"
#include "netlink/error_text.hpp"
#include "netlink/message.hpp"
#include "netlink/requests.hpp"

namespace planed::io {
namespace {

using Kind = NetlinkSocket::Kind;

/// One for all tests: links are made once.
class Kernel : public testing::Test {
protected:
    static void SetUpTestSuite() {
        ASSERT_EQ(::unshare(CLONE_NEWNET), 0) << "needs root";
        sh("ip link set lo up");
        sh("ip link add br0 type bridge && ip link set br0 up && ip addr add 10.0.0.1/16 dev br0");
        sh("ip link add swp1 type veth peer name host1 && ip link set host1 up");
        sh("ip link set swp1 master br0 && ip link set swp1 up");
    }

    static void sh(const std::string& command) { ASSERT_EQ(std::system(command.c_str()), 0); }

    static IfIndex index_of(const char* name) {
        return static_cast<IfIndex>(::if_nametoindex(name));
    }

    static NetlinkSocket open(std::vector<unsigned> groups = {},
                              int receive_buffer = NetlinkSocket::kReceiveBuffer) {
        auto socket = NetlinkSocket::open({.protocol = NETLINK_ROUTE,
                                           .groups = std::move(groups),
                                           .receive_buffer = receive_buffer});
        EXPECT_TRUE(socket) << socket.error().text;
        return std::move(*socket);
    }

    /// Waits for at most two seconds.
    NetlinkSocket::Received receive(NetlinkSocket& socket) {
        pollfd waiting{.fd = socket.fd(), .events = POLLIN, .revents = 0};
        (void)::poll(&waiting, 1, 2000);
        return socket.receive(buffer_);
    }

    /// All facts until the socket has nothing more at this moment; lost ones are counted.
    std::vector<Input> facts(NetlinkSocket& socket) {
        std::vector<Input> found;
        for (auto received = socket.receive(buffer_); received.kind != Kind::Nothing;
             received = socket.receive(buffer_)) {
            overruns_ += received.kind == Kind::Overrun ? 1 : 0;
            netlink::MessageReader reader(received.bytes);
            for (auto message = reader.next(); message && *message; message = reader.next()) {
                auto fact = netlink::decode(**message, Source::Event);
                EXPECT_TRUE(fact) << fact.error().text;
                if (fact && *fact) {
                    found.push_back(std::move(**fact));
                }
            }
        }
        return found;
    }

    /// Sends and returns the kernel's answer.
    netlink::Answer ask(NetlinkSocket& socket, const std::vector<std::uint8_t>& request) {
        const auto sent = socket.send(request);
        EXPECT_TRUE(sent) << sent.error().text;
        const auto received = receive(socket);
        EXPECT_EQ(received.kind, Kind::Datagram);
        const auto message = netlink::MessageReader(received.bytes).next();
        EXPECT_TRUE(message && *message);
        return netlink::decode_answer(**message).value();
    }

    std::vector<Input> dump(DumpKind kind) {
        NetlinkSocket socket = open();
        netlink::Dump dump(kind, ++sequence_);
        EXPECT_TRUE(socket.send(dump.request()));
        std::vector<Input> rows;
        while (!dump.finished()) {
            const auto received = receive(socket);
            if (received.kind != Kind::Datagram) {
                ADD_FAILURE() << "the dump does not go on";
                return rows;
            }
            netlink::MessageReader reader(received.bytes);
            for (auto message = reader.next(); message && *message; message = reader.next()) {
                if (auto row = dump.receive(**message)) {
                    rows.push_back(std::move(*row));
                }
            }
        }
        EXPECT_EQ(dump.error(), std::nullopt) << dump.error()->text;
        return rows;
    }

    static WriteNeighbor neighbor(std::uint8_t last, Nud state = Nud::Stale) {
        return {.key = {.link = index_of("br0"), .address = IpAddress::v4(10, 0, 0, last)},
                .mac = MacAddress(MacAddress::Bytes{2, 0, 0, 0, 0, last}),
                .state = state};
    }

    std::vector<std::uint8_t> buffer_ = std::vector<std::uint8_t>(std::size_t{64} * 1024);
    std::uint32_t sequence_ = 100;
    int overruns_ = 0;
};

TEST_F(Kernel, TellsWhatWasWritten) {
    NetlinkSocket events = open({RTNLGRP_NEIGH});
    NetlinkSocket requests = open();
    WriteNeighbor write = neighbor(5);
    write.ext_learned = true;

    const auto answer = ask(requests, netlink::write_neighbor_request(write, 7));

    EXPECT_EQ(answer, (netlink::Answer{.sequence = 7}));
    EXPECT_THAT(
        facts(events),
        testing::ElementsAre(Input(NeighborSeen{.key = write.key,
                                                .neighbor = {.mac = write.mac,
                                                             .state = Nud::Stale,
                                                             .ext_learned = true,
                                                             .protocol = kNeighborProtocol}})));
}

TEST_F(Kernel, TellsWhatWasDeleted) {
    NetlinkSocket requests = open();
    (void)ask(requests, netlink::write_neighbor_request(neighbor(6), 1));
    NetlinkSocket events = open({RTNLGRP_NEIGH});

    const auto answer =
        ask(requests, netlink::delete_neighbor_request({.key = neighbor(6).key}, 2));

    EXPECT_EQ(answer.error, std::nullopt);
    EXPECT_THAT(facts(events), testing::Contains(testing::VariantWith<NeighborGone>(testing::_)));
}

TEST_F(Kernel, AnswersARefusalWithWords) {
    NetlinkSocket requests = open();
    WriteNeighbor write = neighbor(7);
    write.key.link = static_cast<IfIndex>(9999);

    const auto answer = ask(requests, netlink::write_neighbor_request(write, 3));

    ASSERT_TRUE(answer.error);
    EXPECT_EQ(answer.error->system_errno, ENODEV);
    EXPECT_EQ(answer.error->text, "No such device (ENODEV)");
}

TEST_F(Kernel, TakesEachSettingThatNetlinkCanSet) {
    struct Case {
        Setting setting;
        std::uint32_t value;
        const char* path;
        std::uint32_t shown;
    };
    // proxy_delay is shown in hundredths of a second.
    const std::array cases{
        Case{Setting::ArpAccept, 1, "ipv4/conf/br0/arp_accept", 1},
        Case{Setting::ProxyArp, 1, "ipv4/conf/br0/proxy_arp", 1},
        Case{Setting::McastResolicit4, 3, "ipv4/neigh/br0/mcast_resolicit", 3},
        Case{Setting::McastResolicit6, 4, "ipv6/neigh/br0/mcast_resolicit", 4},
        Case{Setting::ProxyDelay4, 500, "ipv4/neigh/br0/proxy_delay", 50},
        Case{Setting::ProxyQlen4, 512, "ipv4/neigh/br0/proxy_qlen", 512},
        Case{Setting::ProxyDelay6, 500, "ipv6/neigh/br0/proxy_delay", 50},
        Case{Setting::ProxyQlen6, 512, "ipv6/neigh/br0/proxy_qlen", 512},
    };
    NetlinkSocket requests = open();
    for (const Case& each : cases) {
        const ApplySetting apply{
            .link = index_of("br0"), .setting = each.setting, .value = each.value};

        const auto answer = ask(requests, *netlink::setting_request(apply, ++sequence_));

        EXPECT_EQ(answer.error, std::nullopt) << each.path << answer.error->text;
        std::uint32_t shown = 0;
        std::ifstream("/proc/sys/net/" + std::string(each.path)) >> shown;
        EXPECT_EQ(shown, each.shown) << each.path;
    }
}

TEST_F(Kernel, TakesALinkDownAndUp) {
    NetlinkSocket requests = open();
    const IfIndex port = index_of("swp1");
    const auto is_up = [&] {
        for (const Input& row : dump(DumpKind::Links)) {
            const auto* seen = std::get_if<LinkSeen>(&row);
            if (seen != nullptr && seen->link.index == port) {
                return seen->link.admin_up;
            }
        }
        return false;
    };

    (void)ask(requests, netlink::link_up_request({.link = port, .up = false}, 1));
    EXPECT_FALSE(is_up());
    (void)ask(requests, netlink::link_up_request({.link = port, .up = true}, 2));
    EXPECT_TRUE(is_up());
}

TEST_F(Kernel, TakesProxiedNeighboursAndTellsOfThemInTheirOwnDump) {
    NetlinkSocket requests = open();
    const NeighborKey key{.link = index_of("br0"), .address = IpAddress::parse("fd00::77").value()};
    const Input row = ProxySeen{.key = key, .protocol = kNeighborProtocol};

    EXPECT_EQ(ask(requests, netlink::proxy_request({.key = key, .put = true}, 1)).error,
              std::nullopt);
    EXPECT_EQ(ask(requests, netlink::proxy_request({.key = key, .put = true}, 2)).error,
              std::nullopt);
    EXPECT_THAT(dump(DumpKind::Proxies), testing::Contains(row));
    EXPECT_THAT(dump(DumpKind::Neighbors), testing::Not(testing::Contains(row)));

    EXPECT_EQ(ask(requests, netlink::proxy_request({.key = key, .put = false}, 3)).error,
              std::nullopt);
    EXPECT_THAT(dump(DumpKind::Proxies), testing::Not(testing::Contains(row)));
    const auto gone = ask(requests, netlink::proxy_request({.key = key, .put = false}, 4));
    ASSERT_TRUE(gone.error);
    EXPECT_EQ(gone.error->system_errno, ENOENT);
}

TEST_F(Kernel, DumpsEachTableUnderStrictChecking) {
    using testing::_;
    using testing::Contains;
    using testing::VariantWith;
    NetlinkSocket requests = open();
    WriteNeighbor v6 = neighbor(8);
    v6.key.address = IpAddress::parse("fd00::8").value();
    (void)ask(requests, netlink::write_neighbor_request(neighbor(8), 1));
    (void)ask(requests, netlink::write_neighbor_request(v6, 2));

    EXPECT_THAT(dump(DumpKind::Links), Contains(VariantWith<LinkSeen>(_)).Times(4));
    EXPECT_THAT(dump(DumpKind::Addresses), Contains(VariantWith<AddressSeen>(_)));
    EXPECT_THAT(dump(DumpKind::Fdb), Contains(VariantWith<FdbSeen>(_)));
    std::vector<IpAddress> addresses;
    for (const Input& row : dump(DumpKind::Neighbors)) {
        if (const auto* seen = std::get_if<NeighborSeen>(&row)) {
            addresses.push_back(seen->key.address);
        }
    }
    EXPECT_THAT(addresses, testing::IsSupersetOf({neighbor(8).key.address, v6.key.address}));
}

TEST_F(Kernel, ReadsOneLinkAndABridgesPorts) {
    NetlinkSocket reads = open();

    ASSERT_TRUE(reads.send(netlink::read_link_request(index_of("br0"), 1)));
    ASSERT_TRUE(reads.send(netlink::read_ports_request(index_of("br0"), 2)));

    std::vector<std::string> names;
    for (const Input& fact : facts(reads)) {
        names.push_back(std::get<LinkSeen>(fact).link.name);
    }
    EXPECT_THAT(names, testing::ElementsAre("br0", "swp1"));
}

TEST_F(Kernel, SaysThatALinkToReadIsGone) {
    NetlinkSocket reads = open();

    const auto answer = ask(reads, netlink::read_link_request(static_cast<IfIndex>(9999), 1));

    EXPECT_EQ(answer.error->system_errno, ENODEV);
}

TEST_F(Kernel, AnOverrunIsToldOnceMoreWhenTheQueueIsEmpty) {
    NetlinkSocket events = open({RTNLGRP_NEIGH}, 4096);
    NetlinkSocket requests = open();
    for (int i = 0; i < 300; ++i) {
        const auto state = i % 2 == 0 ? Nud::Reachable : Nud::Stale;
        (void)ask(requests, netlink::write_neighbor_request(neighbor(20, state), ++sequence_));
    }
    ASSERT_EQ(events.receive(buffer_).kind, Kind::Overrun);
    ASSERT_EQ(events.receive(buffer_).kind, Kind::Datagram);

    // There is room again, yet the kernel drops this one and says nothing.
    const WriteNeighbor dropped = neighbor(21);
    (void)ask(requests, netlink::write_neighbor_request(dropped, ++sequence_));

    const auto seen = facts(events);
    EXPECT_THAT(seen,
                testing::Not(testing::Contains(testing::VariantWith<NeighborSeen>(
                    testing::Field(&NeighborSeen::key, dropped.key)))));
    EXPECT_THAT(seen, testing::Contains(testing::VariantWith<NeighborSeen>(testing::_)));
    EXPECT_EQ(overruns_, 1);
    (void)ask(requests, netlink::write_neighbor_request(neighbor(22), ++sequence_));
    EXPECT_THAT(facts(events), testing::Contains(testing::VariantWith<NeighborSeen>(testing::_)));
    EXPECT_EQ(overruns_, 1);
}

TEST_F(Kernel, KeepsThousandsOfChangesForALateReader) {
    NetlinkSocket events = open({RTNLGRP_NEIGH});
    NetlinkSocket requests = open();
    constexpr std::size_t kChanges = 10'000;
    for (std::size_t i = 0; i < kChanges; ++i) {
        const auto state = i % 2 == 0 ? Nud::Reachable : Nud::Stale;
        (void)ask(requests, netlink::write_neighbor_request(neighbor(23, state), ++sequence_));
    }

    const auto seen = facts(events);
    const auto told = std::count_if(seen.begin(), seen.end(), [](const Input& fact) {
        const auto* change = std::get_if<NeighborSeen>(&fact);
        return change != nullptr && change->key == neighbor(23).key;
    });
    EXPECT_EQ(told, static_cast<std::ptrdiff_t>(kChanges));
    EXPECT_EQ(overruns_, 0);
}

TEST_F(Kernel, TellsThatADatagramWasCut) {
    NetlinkSocket reads = open();
    ASSERT_TRUE(reads.send(netlink::read_link_request(index_of("br0"), 1)));
    std::array<std::uint8_t, 64> small{};

    EXPECT_EQ(reads.receive(small).kind, Kind::Cut);
    EXPECT_EQ(reads.receive(small).kind, Kind::Nothing);
}

TEST_F(Kernel, IgnoresWhatTheKernelDidNotSend) {
    NetlinkSocket events = open({RTNLGRP_NEIGH});
    NetlinkSocket impostor = open();
    sockaddr_nl to{};
    socklen_t size = sizeof to;
    ASSERT_EQ(::getsockname(events.fd(), reinterpret_cast<sockaddr*>(&to), &size), 0);
    const auto forged = netlink::write_neighbor_request(neighbor(9), 1);
    to.nl_groups = 0;
    ASSERT_GT(::sendto(impostor.fd(),
                       forged.data(),
                       forged.size(),
                       0,
                       reinterpret_cast<const sockaddr*>(&to),
                       sizeof to),
              0);

    EXPECT_EQ(events.receive(buffer_).kind, Kind::Foreign);
    EXPECT_EQ(events.receive(buffer_).kind, Kind::Nothing);
}

TEST_F(Kernel, HasNothingWhenNothingHappened) {
    NetlinkSocket events = open({RTNLGRP_NEIGH});

    EXPECT_EQ(events.receive(buffer_).kind, Kind::Nothing);
}

TEST_F(Kernel, NamesTheGroupThatItCannotJoin) {
    const auto socket = NetlinkSocket::open({.protocol = NETLINK_ROUTE, .groups = {100'000}});

    ASSERT_FALSE(socket);
    EXPECT_THAT(socket.error().text, testing::HasSubstr("cannot join netlink group 100000"));
}

TEST_F(Kernel, WithoutPrivilegeTheBufferIsWhatTheKernelGrants) {
    const int full = open().receive_buffer();
    EXPECT_EQ(full, 2 * NetlinkSocket::kReceiveBuffer);

    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const bool dropped = ::setuid(65534) == 0;
        const auto socket =
            NetlinkSocket::open({.protocol = NETLINK_ROUTE, .groups = {RTNLGRP_NEIGH}});
        const bool smaller = socket && socket->receive_buffer() < full;
        std::_Exit(dropped && smaller ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace planed::io
