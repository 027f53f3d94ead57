// SPDX-License-Identifier: Apache-2.0
// The packet socket, its filter and the parser against the running kernel, in a network namespace
// that this program makes for itself: a bridge `br0` with two ports, whose other ends `host1` and
// `host2` are the servers. Needs root, and `ip` to make links.
#include "io/packet_socket.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "packet/answer.hpp"
#include "packet/arp.hpp"
#include "packet/nd.hpp"
#include "packet/parse.hpp"

namespace planed::io {
namespace {

using packet::Heard;
using testing::ElementsAre;
using testing::IsEmpty;
using Buffer = std::vector<std::uint8_t>;
using Kind = PacketSocket::Kind;

constexpr MacAddress kHost1(MacAddress::Bytes{2, 0, 0, 0, 0, 1});
constexpr MacAddress kHost2(MacAddress::Bytes{2, 0, 0, 0, 0, 2});
constexpr MacAddress kLeaf(MacAddress::Bytes{2, 0, 0, 0, 0, 0xFE});

IpAddress ip(const char* text) {
    return IpAddress::parse(text).value();
}

class Wire : public testing::Test {
protected:
    static void SetUpTestSuite() {
        ASSERT_EQ(::unshare(CLONE_NEWNET), 0) << "needs root";
        // Nothing speaks but the tests.
        sh("sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1");
        sh("ip link add br0 address 02:00:00:00:00:fe type bridge mcast_snooping 0");
        sh("ip link set br0 up && ip addr add 10.0.0.1/24 dev br0");
        for (const int n : {1, 2}) {
            sh(fmt::format("ip link add swp{} type veth peer name host{}", n, n));
            sh(fmt::format("ip link set host{} address 02:00:00:00:00:0{} up arp off", n, n));
            sh(fmt::format("ip link set swp{} master br0 up", n));
        }
        warm_up("host1", "host2");
        warm_up("host2", "host1");
    }

    static void sh(const std::string& command) { ASSERT_EQ(std::system(command.c_str()), 0); }

    static bool can(const std::string& command) {
        return std::system((command + " 2>/dev/null").c_str()) == 0;
    }

    static IfIndex index_of(const std::string& name) {
        return static_cast<IfIndex>(::if_nametoindex(name.c_str()));
    }

    static PacketSocket open(const std::string& name) {
        return open(PacketSocket::Options{.link = index_of(name)});
    }
    static PacketSocket open(const PacketSocket::Options& options) {
        auto socket = PacketSocket::open(options);
        EXPECT_TRUE(socket) << socket.error().text;
        return std::move(*socket);
    }

    /// Until a frame passes: an interface that has just come up drops for a moment what it is to
    /// send, and says nothing.
    static void warm_up(const std::string& from, const std::string& to) {
        PacketSocket speaker = open(from);
        PacketSocket listener = open(to);
        for (int i = 0; i < 100; ++i) {
            (void)speaker.send(request("10.0.0.99"));
            if (wait(listener, 50)) {
                return;
            }
        }
        ADD_FAILURE() << from << " is not heard by " << to;
    }

    static void send(PacketSocket& from, const Buffer& frame) {
        const auto sent = from.send(frame);
        EXPECT_TRUE(sent) << sent.error().text;
    }

    /// Until there is something to receive, or an error.
    static bool wait(const PacketSocket& socket, int milliseconds = 2000) {
        pollfd waiting{.fd = socket.fd(), .events = POLLIN, .revents = 0};
        return ::poll(&waiting, 1, milliseconds) == 1;
    }

    /// All that is there, once there are so many: a veth pair mostly hands over within the call
    /// that sends, but need not.
    std::vector<packet::Frame> frames(PacketSocket& socket, std::size_t at_least) {
        kept_.clear();
        std::vector<packet::Frame> found;
        while (true) {
            const auto got = socket.receive(batch_);
            if (got.kind == Kind::Nothing && (found.size() >= at_least || !wait(socket))) {
                return found;
            }
            EXPECT_THAT(got.kind, testing::AnyOf(Kind::Frames, Kind::Nothing));
            for (const packet::Frame& frame : got.frames) {
                kept_.push_back(std::make_unique<Buffer>(frame.bytes.begin(), frame.bytes.end()));
                found.push_back({.bytes = *kept_.back(), .tag = frame.tag});
            }
        }
    }

    std::vector<Heard> heard(PacketSocket& socket, std::size_t at_least = 1) {
        std::vector<Heard> found;
        for (const packet::Frame& frame : frames(socket, at_least)) {
            const auto told = packet::parse(frame);
            EXPECT_TRUE(told) << packet::name(told.error());
            found.push_back(told.value_or(Heard()));
        }
        return found;
    }

    static bool is_readable(const PacketSocket& socket) { return wait(socket, 0); }

    static Buffer request(const char* target, VlanId vlan = VlanId::None) {
        return packet::arp_request(
            {.source_mac = kHost1, .source = ip("10.0.0.11"), .target = ip(target), .vlan = vlan});
    }

    static Buffer with(Buffer frame, std::size_t at, std::uint8_t byte) {
        frame[at] = byte;
        return frame;
    }
    static Buffer multicast_solicitation() {
        return packet::solicitation(
            {.source_mac = kHost1, .source = ip("fd00::1"), .target = ip("fd00::2")});
    }

    FrameBatch batch_;
    std::vector<std::unique_ptr<Buffer>> kept_;
};

TEST_F(Wire, APortHearsEveryKindFromItsServer) {
    using K = packet::Kind;
    PacketSocket port = open("swp1");
    PacketSocket host = open("host1");
    const packet::Receiver host2{.address = ip("fd00::2"), .mac = kHost2};
    send(host, request("10.0.0.12"));
    send(host,
         packet::arp_reply({.mac = kHost1,
                            .address = ip("10.0.0.11"),
                            .to = kHost2,
                            .to_address = ip("10.0.0.12")}));
    send(host, request("10.0.0.11"));
    send(host, packet::arp_request({.source_mac = kHost1, .target = ip("10.0.0.11")}));
    send(host, multicast_solicitation());
    send(host,
         packet::solicitation({.source_mac = kHost1,
                               .source = ip("fd00::1"),
                               .target = ip("fd00::2"),
                               .to = kHost2}));
    send(host,
         packet::advertisement({.mac = kHost1,
                                .target = ip("fd00::1"),
                                .source = ip("fd00::1"),
                                .to = host2,
                                .flags = {.solicited = true}}));
    send(host,
         packet::advertisement({.mac = kHost1, .target = ip("fd00::1"), .source = ip("fd00::1")}));

    std::vector<K> kinds;
    for (const Heard& each : heard(port, 8)) {
        EXPECT_EQ(each.ethernet_source, kHost1);
        EXPECT_EQ(each.vlan, VlanId::None);
        kinds.push_back(each.kind);
    }

    EXPECT_THAT(kinds,
                ElementsAre(K::ArpRequest,
                            K::ArpReply,
                            K::ArpAnnouncement,
                            K::ArpProbe,
                            K::Solicitation,
                            K::Solicitation,
                            K::Advertisement,
                            K::Advertisement));
}

TEST_F(Wire, ARequestBetweenTwoServersIsHeardWhereItCameIn) {
    PacketSocket port1 = open("swp1");
    PacketSocket port2 = open("swp2");
    PacketSocket host1 = open("host1");
    PacketSocket host2 = open("host2");

    send(host1, request("10.0.0.12"));

    EXPECT_EQ(heard(host2).size(), 1U);  // The bridge has flooded it, out of port 2.
    const auto at_port1 = heard(port1);
    ASSERT_EQ(at_port1.size(), 1U);
    EXPECT_EQ(packet::evidence(at_port1[0]),
              (packet::Evidence{.address = ip("10.0.0.11"), .mac = kHost1}));
    EXPECT_THAT(heard(port2, 0), IsEmpty());
}

TEST_F(Wire, WhatGoesOutIsNotHeard) {
    PacketSocket port = open("swp1");
    PacketSocket host = open("host1");

    send(port,
         packet::arp_request({.source_mac = kLeaf,
                              .source = ip("10.0.0.1"),
                              .target = ip("10.0.0.11"),
                              .to = kHost1}));

    const auto arrived = heard(host);
    ASSERT_EQ(arrived.size(), 1U);
    EXPECT_EQ(arrived[0].ethernet_source, kLeaf);
    EXPECT_EQ(arrived[0].ethernet_destination, kHost1);
    EXPECT_THAT(heard(port, 0), IsEmpty());
}

TEST_F(Wire, AVlanComesBesideTheFrame) {
    PacketSocket port = open("swp1");
    PacketSocket host = open("host1");
    const auto vlan = static_cast<VlanId>(100);

    send(host, request("10.0.0.12", vlan));
    send(host,
         packet::solicitation({.source_mac = kHost1,
                               .source = ip("fd00::1"),
                               .target = ip("fd00::2"),
                               .vlan = vlan}));

    const auto found = frames(port, 2);
    ASSERT_EQ(found.size(), 2U);
    for (const packet::Frame& frame : found) {
        EXPECT_EQ(frame.tag, packet::Tag{.control = 100});
        const auto told = packet::parse(frame);
        ASSERT_TRUE(told);
        EXPECT_EQ(told->vlan, vlan);
    }
    EXPECT_EQ(Buffer(found[0].bytes.begin(), found[0].bytes.end()), request("10.0.0.12"));
}

// The port hears what its server sent, whatever the bridge makes of it; the interface of a VLAN
// hears what the bridge has let through to it.
TEST_F(Wire, AVlanAwareBridgeLeavesTheTagsAsTheyCame) {
    if (!can("ip link add br8 type bridge vlan_filtering 1 vlan_default_pvid 0")) {
        GTEST_SKIP() << "this kernel's bridge knows no VLANs";
    }
    sh("ip link add Vlan100 link br8 type vlan id 100");
    sh("ip link add swp8 type veth peer name host8");
    sh("ip link set swp8 master br8 && bridge vlan add dev swp8 vid 100 pvid untagged");
    sh("bridge vlan add dev swp8 vid 101 && bridge vlan add dev br8 vid 100 self");
    for (const char* name : {"br8", "Vlan100", "swp8", "host8"}) {
        sh(fmt::format("ip link set {} up", name));
    }
    warm_up("host8", "Vlan100");
    PacketSocket port = open("swp8");
    PacketSocket svi = open("Vlan100");
    PacketSocket host = open("host8");

    for (const int vlan : {0, 100, 101, 102}) {
        send(host, request("10.0.0.12", static_cast<VlanId>(vlan)));
    }

    std::vector<int> vlans;
    for (const Heard& each : heard(port, 4)) {
        vlans.push_back(number(each.vlan));
    }
    EXPECT_THAT(vlans, ElementsAre(0, 100, 101, 102));
    for (const Heard& each : heard(svi, 2)) {
        EXPECT_EQ(each.vlan, VlanId::None);
        vlans.push_back(number(each.vlan));
    }
    EXPECT_EQ(vlans.size(), 4U + 2U);  // The untagged one and VLAN 100's.
    sh("ip link del br8 && ip link del swp8");
}

TEST_F(Wire, ABondHearsForItsMembersAndSpeaksByThem) {
    if (!can("ip link add bond9 type bond mode active-backup miimon 50")) {
        GTEST_SKIP() << "this kernel has no bonds";
    }
    sh("ip link add swp9 type veth peer name host9 && ip link set host9 up");
    sh("ip link set swp9 master bond9 && ip link set bond9 up && ip link set bond9 master br0");
    warm_up("host9", "bond9");
    warm_up("bond9", "host9");
    PacketSocket bond = open("bond9");
    PacketSocket host = open("host9");

    send(host, request("10.0.0.77"));
    send(host, request("10.0.0.78", static_cast<VlanId>(7)));

    const auto at_bond = heard(bond, 2);
    ASSERT_EQ(at_bond.size(), 2U);
    EXPECT_EQ(at_bond[0].target, ip("10.0.0.77"));
    EXPECT_EQ(at_bond[1].vlan, static_cast<VlanId>(7));
    sh("ip link del bond9 && ip link del swp9");
}

TEST_F(Wire, AFrameIsSentWithItsTag) {
    PacketSocket port = open("swp1");
    PacketSocket host = open("host1");

    send(port, request("10.0.0.12", static_cast<VlanId>(7)));

    const auto arrived = heard(host);
    ASSERT_EQ(arrived.size(), 1U);
    EXPECT_EQ(arrived[0].vlan, static_cast<VlanId>(7));
}

TEST_F(Wire, OtherTagsAreHeardAndRefused) {
    PacketSocket port = open("swp1");
    PacketSocket host = open("host1");
    Buffer provider = request("10.0.0.12", static_cast<VlanId>(7));
    provider[12] = 0x88;
    provider[13] = 0xA8;
    Buffer two = request("10.0.0.12", static_cast<VlanId>(7));
    two.insert(two.begin() + 12, {0x81, 0x00, 0x00, 0x05});
    send(host, provider);
    send(host, two);

    std::vector<std::string> reasons;
    for (const packet::Frame& frame : frames(port, 2)) {
        const auto told = packet::parse(frame);
        reasons.emplace_back(told ? "-" : packet::name(told.error()));
    }

    EXPECT_THAT(reasons, ElementsAre("tag_protocol", "tag_nested"));
}

TEST_F(Wire, NothingElseComesIn) {
    PacketSocket port = open("swp1");
    PacketSocket host = open("host1");
    const Buffer ns = multicast_solicitation();
    const std::array others{
        with(ns, 12, 0x08),                  // IPv4, by the first half of its type
        with(with(ns, 12, 0x88), 13, 0xCC),  // LLDP
        with(ns, 20, 17),                    // UDP
        with(ns, 54, 128),                   // Echo request
        with(ns, 54, 134),                   // Router advertisement
    };
    for (const Buffer& frame : others) {
        send(host, frame);
    }
    send(host, ns);

    const auto found = heard(port);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].kind, packet::Kind::Solicitation);
    EXPECT_EQ(port.statistics(), (PacketSocket::Statistics{.received = 1}));
}

TEST_F(Wire, NothingElseComesInWhileASocketIsOpened) {
    PacketSocket host = open("host1");
    const Buffer ipv4 = with(request("10.0.0.12"), 13, 0x00);
    const pid_t flood = ::fork();
    ASSERT_GE(flood, 0);
    if (flood == 0) {
        (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (true) {
            (void)host.send(ipv4);
        }
    }
    for (int round = 0; round < 50; ++round) {
        PacketSocket port = open("swp1");
        EXPECT_THAT(frames(port, 0), IsEmpty());
    }
    EXPECT_EQ(::waitpid(flood, nullptr, WNOHANG), 0) << "the flood has ended too soon";
    ASSERT_EQ(::kill(flood, SIGKILL), 0);
    EXPECT_EQ(::waitpid(flood, nullptr, 0), flood);
}

TEST_F(Wire, ATurnIsBounded) {
    PacketSocket port = open("swp1");
    PacketSocket host = open("host1");
    FrameBatch few(5);
    for (int i = 0; i < 12; ++i) {
        send(host, request(("10.0.0." + std::to_string(100 + i)).c_str()));
    }

    std::vector<std::size_t> sizes;
    std::vector<IpAddress> targets;
    while (targets.size() < 12 && wait(port)) {
        const auto got = port.receive(few);
        sizes.push_back(got.frames.size());
        for (const packet::Frame& frame : got.frames) {
            targets.push_back(packet::parse(frame).value().target);
        }
    }

    EXPECT_EQ(sizes.front(), 5U);
    EXPECT_THAT(sizes, testing::Each(testing::AllOf(testing::Ge(1U), testing::Le(5U))));
    ASSERT_EQ(targets.size(), 12U);
    EXPECT_TRUE(std::is_sorted(targets.begin(), targets.end()));
}

TEST_F(Wire, ATagIsNotCarriedOverToTheNextFrame) {
    PacketSocket port = open("swp1");
    PacketSocket host = open("host1");
    send(host, request("10.0.0.12", static_cast<VlanId>(7)));
    EXPECT_EQ(heard(port).at(0).vlan, static_cast<VlanId>(7));

    send(host, request("10.0.0.12"));

    const auto found = frames(port, 1);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].tag, std::nullopt);
}

TEST_F(Wire, WhatFindsNoRoomIsCounted) {
    PacketSocket port = open({.link = index_of("swp1"), .receive_buffer = 8192});
    PacketSocket host = open("host1");
    constexpr std::uint64_t kSent = 200;
    for (std::uint64_t i = 0; i < kSent; ++i) {
        send(host, request("10.0.0.12"));
    }

    const auto found = heard(port).size();

    EXPECT_LT(found, kSent);
    EXPECT_EQ(port.statistics(),
              (PacketSocket::Statistics{.received = found, .dropped = kSent - found}));
    send(host, request("10.0.0.12"));  // And then there is room again.
    EXPECT_EQ(heard(port).size(), 1U);
    EXPECT_EQ(port.statistics(), (PacketSocket::Statistics{.received = 1}));
}

TEST_F(Wire, HoldsAStormWhileWeAreAway) {
    PacketSocket port = open("swp1");
    PacketSocket host = open("host1");
    EXPECT_EQ(port.receive_buffer(), 2 * PacketSocket::kReceiveBuffer);
    constexpr std::size_t kStorm = 4000;  // 80 ms of 50,000 frames a second.
    for (std::size_t i = 0; i < kStorm; ++i) {
        send(host, request("10.0.0.12"));
    }

    EXPECT_EQ(heard(port, kStorm).size(), kStorm);
    EXPECT_EQ(port.statistics().dropped, 0U);
}

TEST_F(Wire, TheBufferMayBeLargerThanTheMachinesLimit) {
    constexpr int kLarge = 256 * 1024 * 1024;

    EXPECT_EQ(open({.link = index_of("swp1"), .receive_buffer = kLarge}).receive_buffer(),
              2 * kLarge);
}

TEST_F(Wire, ALongFrameIsCutToWhatIsKept) {
    sh("ip link set swp2 mtu 9000 && ip link set host2 mtu 9000");
    PacketSocket port = open("swp2");
    PacketSocket host = open("host2");
    Buffer arp = request("10.0.0.12");
    arp.resize(9000);
    Buffer ns = multicast_solicitation();
    ns.resize(9000);
    ns[18] = 0x20;  // A payload of 8 KiB.
    send(host, arp);
    send(host, ns);

    const auto found = frames(port, 2);

    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].bytes.size(), packet::kFrameMax);
    EXPECT_TRUE(packet::parse(found[0]));  // The rest is padding.
    EXPECT_EQ(packet::parse(found[1]).error(), packet::Refusal::Truncated);
    sh("ip link set swp2 mtu 1500 && ip link set host2 mtu 1500");
}

/// A server with a kernel of its own behind `swp3`: 10.3.0.3 and fd03::3.
class Server : public Wire {
protected:
    void SetUp() override {
        sh("ip link add swp3 type veth peer name host3 address 02:00:00:00:00:03");
        sh("ip link set swp3 up && ip netns add " + space_);
        sh("ip link set host3 netns " + space_);
        sh("ip -n " + space_ + " addr add 10.3.0.3/24 dev host3");
        sh("ip -n " + space_ + " link set host3 addrgenmode none up");
        sh("ip -n " + space_ + " addr add fd03::3/64 dev host3 nodad");
        PacketSocket port = open("swp3");
        speak_until(port, packet::Kind::ArpReply, packet::arp_request(arp_));
        speak_until(port, packet::Kind::Advertisement, packet::solicitation(nd_));
    }
    void TearDown() override {
        sh("ip netns del " + space_);
        (void)std::system("ip link del swp3 2>/dev/null");  // It may have gone with its peer.
    }

    /// As warm_up(), and until the server's IPv6 is ready.
    void speak_until(PacketSocket& port, packet::Kind kind, const Buffer& frame) {
        for (int i = 0; i < 100; ++i) {
            (void)port.send(frame);
            if (!wait(port, 50)) {
                continue;
            }
            for (const Heard& each : heard(port)) {
                if (each.kind == kind) {
                    return;
                }
            }
        }
        ADD_FAILURE() << "no " << packet::name(kind);
    }

    /// The first frame of this kind; others are kept for the next call.
    Heard next(PacketSocket& port, packet::Kind kind) {
        while (true) {
            const auto found = std::find_if(waiting_.begin(),
                                            waiting_.end(),
                                            [&](const Heard& each) { return each.kind == kind; });
            if (found != waiting_.end()) {
                const Heard result = *found;
                waiting_.erase(found);
                return result;
            }
            const auto more = heard(port);
            if (more.empty()) {
                ADD_FAILURE() << "no " << packet::name(kind);
                return {};
            }
            waiting_.insert(waiting_.end(), more.begin(), more.end());
        }
    }

    void in_space(const std::string& command) {
        sh("ip netns exec " + space_ + " sh -c '" + command + "'");
    }
    /// Within five seconds.
    void soon_in_space(const std::string& command) {
        in_space("for i in $(seq 250); do " + command + " && exit 0; sleep 0.02; done; exit 1");
    }

    const packet::ArpRequest arp_{
        .source_mac = kLeaf, .source = ip("10.3.0.1"), .target = ip("10.3.0.3")};
    const packet::Solicitation nd_{
        .source_mac = kLeaf, .source = ip("fd03::1"), .target = ip("fd03::3")};
    std::vector<Heard> waiting_;
    const std::string space_ = "planed-packet-" + std::to_string(::getpid());
    const MacAddress mac_{MacAddress::Bytes{2, 0, 0, 0, 0, 3}};
};

TEST_F(Server, AnswersOurRequests) {
    PacketSocket port = open("swp3");
    packet::ArpRequest ask = arp_;
    const packet::Evidence expected{.address = ip("10.3.0.3"), .mac = mac_};

    send(port, packet::arp_request(ask));
    EXPECT_EQ(packet::evidence(next(port, packet::Kind::ArpReply)), expected);
    ask.to = mac_;
    send(port, packet::arp_request(ask));
    EXPECT_EQ(packet::evidence(next(port, packet::Kind::ArpReply)), expected);
    ask.source = IpAddress();
    send(port, packet::arp_request(ask));
    EXPECT_EQ(packet::evidence(next(port, packet::Kind::ArpReply)), expected);
}

TEST_F(Server, AnswersOurSolicitations) {
    PacketSocket port = open("swp3");
    packet::Solicitation ask = nd_;

    send(port, packet::solicitation(ask));
    EXPECT_EQ(packet::evidence(next(port, packet::Kind::Advertisement)),
              (packet::Evidence{.address = ip("fd03::3"), .mac = mac_}));
    ask.to = mac_;
    send(port, packet::solicitation(ask));
    EXPECT_EQ(packet::evidence(next(port, packet::Kind::Advertisement)),
              (packet::Evidence{
                  .address = ip("fd03::3"), .mac = mac_, .strength = packet::Strength::Confirms}));
}

TEST_F(Server, TakesOurAnswers) {
    PacketSocket port = open("swp3");
    const packet::Proxy leaf{.mac = kLeaf, .source = ip("fd03::1")};
    in_space("ping -c1 -W1 10.3.0.77 >/dev/null 2>&1 & ping -c1 -W1 fd03::77 >/dev/null 2>&1 &");

    send(port, packet::answer(next(port, packet::Kind::ArpRequest), leaf).value());
    send(port, packet::answer(next(port, packet::Kind::Solicitation), leaf).value());

    soon_in_space("ip neigh show 10.3.0.77 | grep -q \"lladdr 02:00:00:00:00:fe REACHABLE\"");
    soon_in_space("ip neigh show fd03::77 | grep -q \"lladdr 02:00:00:00:00:fe router REACHABLE\"");
}

TEST_F(Server, GivesUpATentativeAddressThatWeDefend) {
    PacketSocket port = open("swp3");
    in_space("ip addr add fd03::77/64 dev host3");

    const Heard dad = next(port, packet::Kind::DadSolicitation);
    EXPECT_EQ(packet::tentative(dad), ip("fd03::77"));
    send(port, packet::answer(dad, {.mac = kLeaf, .source = ip("fd03::1")}).value());

    soon_in_space("ip addr show dev host3 | grep fd03::77 | grep -q dadfailed");
}

TEST_F(Wire, ADownInterfaceIsToldOnceAndHeardAgainWhenItIsUp) {
    PacketSocket port = open("swp1");
    sh("ip link set swp1 down");

    ASSERT_TRUE(wait(port));
    const auto told = port.receive(batch_);
    EXPECT_EQ(told.kind, Kind::Down);
    EXPECT_EQ(told.system_errno, ENETDOWN);
    EXPECT_FALSE(port.is_gone());
    EXPECT_EQ(port.receive(batch_).kind, Kind::Nothing);
    EXPECT_FALSE(is_readable(port));
    EXPECT_EQ(port.send(request("10.0.0.12")).error().system_errno, ENETDOWN);

    sh("ip link set swp1 up");
    warm_up("host1", "swp1");
    EXPECT_THAT(heard(port), testing::Not(IsEmpty()));
    warm_up("host2", "host1");  // For who comes next.
}

TEST_F(Wire, CanBeOpenedWhileTheInterfaceIsDown) {
    sh("ip link add swp4 type veth peer name host4 && ip link set host4 up");
    PacketSocket port = open("swp4");
    EXPECT_EQ(port.receive(batch_).kind, Kind::Down);
    EXPECT_FALSE(is_readable(port));

    sh("ip link set swp4 up");
    warm_up("host4", "swp4");

    EXPECT_THAT(heard(port), testing::Not(IsEmpty()));
    sh("ip link del swp4");
}

TEST_F(Wire, ADeletedInterfaceIsToldOnceAndThenThereIsSilence) {
    sh("ip link add swp5 type veth peer name host5 && ip link set host5 up && ip link set swp5 up");
    PacketSocket port = open("swp5");
    PacketSocket host = open("host5");
    send(host, request("10.0.0.12"));
    sh("ip link del swp5");

    ASSERT_TRUE(wait(port));
    EXPECT_EQ(port.receive(batch_).kind, Kind::Gone);
    EXPECT_TRUE(port.is_gone());
    // What was heard before is still there, if the kernel has kept it; then no spin.
    (void)heard(port, 0);
    EXPECT_FALSE(is_readable(port));
    const auto sent = port.send(request("10.0.0.12"));
    ASSERT_FALSE(sent);
    EXPECT_EQ(sent.error().system_errno, ENXIO);
    EXPECT_EQ(sent.error().text, "cannot send a frame: No such device or address");
}

TEST_F(Wire, OneThatIsDeletedWhileDownIsSeenByAsking) {
    sh("ip link add swp6 type veth peer name host6 && ip link set swp6 up");
    PacketSocket port = open("swp6");
    sh("ip link set swp6 down");
    EXPECT_EQ(port.receive(batch_).kind, Kind::Down);
    sh("ip link del swp6");

    EXPECT_EQ(port.receive(batch_).kind, Kind::Nothing);
    EXPECT_TRUE(port.is_gone());
}

// A macvlan filters groups as a network card does. It hands over later, but in order.
TEST_F(Wire, HearsOthersGroupsWhereWanted) {
    using K = packet::Kind;
    sh("ip link add swp7 type veth peer name host7 && ip link set host7 up && ip link set swp7 up");
    sh("ip link add port7 link swp7 type macvlan mode vepa && ip link set port7 up");
    warm_up("host7", "port7");
    PacketSocket host = open("host7");
    const auto kinds = [&](PacketSocket::Multicast multicast) {
        PacketSocket port = open({.link = index_of("port7"), .multicast = multicast});
        send(host, multicast_solicitation());
        send(host, request("10.0.0.12"));
        std::vector<K> found;
        while ((found.empty() || found.back() != K::ArpRequest) && wait(port)) {
            for (const Heard& each : heard(port)) {
                found.push_back(each.kind);
            }
        }
        return found;
    };

    EXPECT_THAT(kinds(PacketSocket::Multicast::Joined), ElementsAre(K::ArpRequest));
    EXPECT_THAT(kinds(PacketSocket::Multicast::All), ElementsAre(K::Solicitation, K::ArpRequest));
    EXPECT_THAT(kinds(PacketSocket::Multicast::Joined), ElementsAre(K::ArpRequest));
    sh("ip link del swp7");
}

TEST_F(Wire, HasNothingWhenNothingHappened) {
    PacketSocket port = open("swp1");

    EXPECT_EQ(port.receive(batch_).kind, Kind::Nothing);
}

TEST_F(Wire, AMovedSocketStaysOpenAndAnAssignedOneIsClosed) {
    PacketSocket first = open("swp1");
    const int fd = first.fd();
    PacketSocket second = std::move(first);
    EXPECT_EQ(second.fd(), fd);
    {
        PacketSocket third = open("swp2");
        third = std::move(second);
        EXPECT_EQ(third.fd(), fd);
    }
    EXPECT_EQ(::write(fd, "", 0), -1);
    EXPECT_EQ(errno, EBADF);
}

TEST_F(Wire, SaysWhyItCannotBeOpened) {
    const auto none = PacketSocket::open({});
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, Errc::Invalid);

    const auto missing = PacketSocket::open({.link = static_cast<IfIndex>(9999)});
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().system_errno, ENODEV);
    EXPECT_EQ(missing.error().text,
              "cannot bind a packet socket to interface 9999: No such device");

    const auto loopback = PacketSocket::open({.link = index_of("lo")});
    ASSERT_FALSE(loopback);
    EXPECT_EQ(loopback.error().code, Errc::Unsupported);
}

}  // namespace
}  // namespace planed::io
