// SPDX-License-Identifier: Apache-2.0
#include "bench/leaf.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/core.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>

#include "bench/clock.hpp"

namespace planed::bench {
namespace {

// Duplicate address detection would make the gateway wait for a second.
// {0} is the others' namespace.
constexpr const char* kSetup = R"(
set -e
echo 0 > /proc/sys/net/ipv6/conf/all/accept_dad
echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad
ip -batch - <<END
link set lo up
link add br0 address 02:00:00:00:01:00 type bridge ageing_time 30000
link add p0 type veth peer name h0 netns {0}
link add p1 type veth peer name h1 netns {0}
link set p0 master br0 up
link set p1 master br0 up
link set br0 up
addr add 10.64.0.1/10 dev br0
addr add fd00:0:0:1::1/64 dev br0 nodad
END
)";

int open_namespace() {
    const int fd = ::open("/proc/thread-self/ns/net", O_RDONLY);
    if (fd < 0) {
        die("no network namespace");
    }
    return fd;
}

void enter(int network) {
    if (::setns(network, CLONE_NEWNET) != 0) {
        die("a network namespace cannot be entered");
    }
}

int open_packet_socket(IfIndex link) {
    const int fd = ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL));
    sockaddr_ll place{};
    place.sll_family = AF_PACKET;
    place.sll_protocol = htons(ETH_P_ALL);
    place.sll_ifindex = static_cast<int>(number(link));
    const int on = 1;
    const int room = 8 << 20;
    (void)::setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on);
    (void)::setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
    if (fd < 0 || ::bind(fd, reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0) {
        die("no packet socket");
    }
    return fd;
}

std::uint8_t byte_of(std::size_t number, unsigned index) {
    return static_cast<std::uint8_t>((number >> (8U * index)) & 0xFFU);
}

}  // namespace

Host host(std::size_t number) {
    const std::size_t n = number + 256;  // Clear of the subnet's first addresses.
    const std::uint8_t a = byte_of(n, 2);
    const std::uint8_t b = byte_of(n, 1);
    const std::uint8_t c = byte_of(n, 0);
    return {.v4 = IpAddress::v4(10, static_cast<std::uint8_t>(64U + a), b, c),
            .v6 = IpAddress::v6({0xFD, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, a, b, c}),
            .mac = MacAddress({0x02, 0x10, 0, a, b, c})};
}

Scene make_leaf() {
    if (::unshare(CLONE_NEWNET) != 0) {
        die("no network namespace (are you root?)");
    }
    return make_leaf_here();
}

Scene make_leaf_here() {
    const int here = open_namespace();
    if (::unshare(CLONE_NEWNET) != 0) {
        die("no network namespace (are you root?)");
    }
    const int others = open_namespace();
    auto on_others = std::make_unique<Changes>();
    enter(here);
    const std::string setup =
        fmt::format(kSetup, fmt::format("/proc/{}/fd/{}", ::getpid(), others));
    if (std::system(setup.c_str()) != 0) {
        die("the leaf cannot be made");
    }
    Scene scene;
    scene.leaf = {.bridge = index_of("br0"), .port = index_of("p0")};
    enter(others);
    scene.other_end = index_of("h0");
    on_others->link(scene.other_end, true);
    on_others->link(index_of("h1"), true);
    (void)on_others->make();
    scene.frames = open_packet_socket(scene.other_end);
    scene.on_others = std::move(on_others);
    enter(here);
    (void)::close(here);
    return scene;
}

void await_forwarding(Changes& changes, const Leaf& leaf) {
    do {
        sleep_for(kMillisecond);
        changes.forwarding(leaf.port, host(0).mac);
    } while (!changes.try_make());
}

void add_hosts(
    Changes& changes, const Leaf& leaf, std::size_t from, std::size_t to, std::uint16_t state) {
    await_forwarding(changes, leaf);
    for (std::size_t i = from; i < to; ++i) {
        const Host added = host(i);
        changes.forwarding(leaf.port, added.mac);
        changes.neighbor(leaf.bridge, added.v4, added.mac, state);
        changes.neighbor(leaf.bridge, added.v6, added.mac, state);
    }
    (void)changes.make();
}

Folder::Folder() {
    path_ = std::filesystem::temp_directory_path() / "planed-bench-XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) {
        die("no temporary folder");
    }
}

Folder::~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace planed::bench
