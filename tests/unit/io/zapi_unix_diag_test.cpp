// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstring>
#include <vector>

#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>

#include "io/unix_diag.hpp"
#include "unit/io/zapi_temp_folder.hpp"

namespace planed::io {
namespace {

using Bytes = std::vector<std::uint8_t>;

template <class T>
void append(const T& value, Bytes& out) {
    const auto* const from = reinterpret_cast<const std::uint8_t*>(&value);
    out.insert(out.end(), from, from + sizeof value);
    out.resize(NLMSG_ALIGN(out.size()));
}

void append_attribute(std::uint16_t type, const Bytes& payload, Bytes& out) {
    rtattr header{};
    header.rta_type = type;
    header.rta_len = static_cast<std::uint16_t>(sizeof header + payload.size());
    append(header, out);
    out.insert(out.end(), payload.begin(), payload.end());
    out.resize(NLMSG_ALIGN(out.size()));
}

struct Row {
    std::uint8_t state = TCP_ESTABLISHED;
    std::string name;
    std::uint8_t shutdown = 0;
    std::uint32_t inode = 0;
    std::uint32_t device = 0;
};

Bytes message(std::uint16_t type, const Bytes& body) {
    Bytes out;
    nlmsghdr header{};
    header.nlmsg_type = type;
    header.nlmsg_len = static_cast<std::uint32_t>(sizeof header + body.size());
    append(header, out);
    out.insert(out.end(), body.begin(), body.end());
    return out;
}

/// One socket as net/unix/diag.c tells it.
Bytes row(const Row& row) {
    Bytes body;
    unix_diag_msg socket{};
    socket.udiag_family = AF_UNIX;
    socket.udiag_type = SOCK_STREAM;
    socket.udiag_state = row.state;
    append(socket, body);
    append_attribute(UNIX_DIAG_NAME, Bytes(row.name.begin(), row.name.end()), body);
    Bytes file;
    append(unix_diag_vfs{.udiag_vfs_ino = row.inode, .udiag_vfs_dev = row.device}, file);
    append_attribute(UNIX_DIAG_VFS, file, body);
    append_attribute(UNIX_DIAG_SHUTDOWN, {row.shutdown}, body);
    return message(SOCK_DIAG_BY_FAMILY, body);
}

const UnixPath kPath{
    .name = "/var/run/frr/zserv.api", .real = "/run/frr/zserv.api", .device = 7, .inode = 99};

UnixServer server_of(const std::vector<Row>& rows) {
    UnixServer server;
    for (const Row& each : rows) {
        EXPECT_EQ(read_unix_diag(row(each), kPath, server), Result<bool>(true));
    }
    return server;
}

TEST(UnixDiag, CountsServerEndsWhoseClientIsGone) {
    EXPECT_EQ(server_of({{.state = TCP_LISTEN, .name = "/run/frr/zserv.api"},
                         {.name = "/run/frr/zserv.api", .shutdown = 3},
                         {.name = "/var/run/frr/zserv.api", .shutdown = 3},
                         {.name = "/run/frr/zserv.api"}}),
              (UnixServer{.listening = true, .half_closed = 2}));
}

TEST(UnixDiag, KnowsTheServerByItsFileWhereNamesDiffer) {
    EXPECT_EQ(server_of({{.state = TCP_LISTEN, .name = "/x", .inode = 99, .device = 7},
                         {.name = "/x", .shutdown = 3, .inode = 99, .device = 7}}),
              (UnixServer{.listening = true, .half_closed = 1}));
}

TEST(UnixDiag, LeavesOtherSocketsAlone) {
    EXPECT_EQ(server_of({{.state = TCP_LISTEN, .name = "/run/frr/zebra.vty"},
                         {.name = "/run/frr/zserv.ap", .shutdown = 3},
                         {.name = "/x", .shutdown = 3, .inode = 99, .device = 8},
                         {.name = "", .shutdown = 3}}),
              UnixServer{});
}

TEST(UnixDiag, ReadsAbstractNames) {
    UnixServer server;
    const UnixPath path = unix_path("@zebra");

    (void)read_unix_diag(
        row({.state = TCP_LISTEN, .name = std::string("\0zebra", 6)}), path, server);

    EXPECT_TRUE(server.listening);
}

TEST(UnixDiag, ReadsSeveralMessagesUntilTheDumpIsDone) {
    Bytes datagram = row({.state = TCP_LISTEN, .name = "/run/frr/zserv.api"});
    const Bytes done = message(NLMSG_DONE, {0, 0, 0, 0});
    datagram.insert(datagram.end(), done.begin(), done.end());
    UnixServer server;

    EXPECT_EQ(read_unix_diag(datagram, kPath, server), Result<bool>(false));
    EXPECT_TRUE(server.listening);
}

TEST(UnixDiag, SaysWhyTheKernelRefuses) {
    nlmsgerr refusal{};
    refusal.error = -ENOENT;
    Bytes body;
    append(refusal, body);
    UnixServer server;

    const auto result = read_unix_diag(message(NLMSG_ERROR, body), kPath, server);

    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().system_errno, ENOENT);
}

TEST(UnixDiag, StopsAtLengthsThatAreWrong) {
    Bytes good = row({.state = TCP_LISTEN, .name = "/run/frr/zserv.api"});
    Bytes longer = good;
    longer[0] = 0xFF;
    Bytes shorter = good;
    shorter[0] = 4;
    UnixServer server;

    EXPECT_FALSE(read_unix_diag(longer, kPath, server));
    EXPECT_FALSE(read_unix_diag(shorter, kPath, server));
    for (std::size_t length = 0; length < good.size(); ++length) {
        (void)read_unix_diag(std::span(good).first(length), kPath, server);
    }
    EXPECT_EQ(server, UnixServer{});
}

TEST(UnixDiag, SeesTheKernelsOwnSockets) {
    const TempFolder folder;
    const std::string name = folder.path() + "/socket";
    const int listener = listen_on(name);
    const int client = connect_to(name);
    const auto before = look_at_unix_server(name);
    if (!before) {
        GTEST_SKIP() << before.error().text;
    }
    const int accepted = ::accept(listener, nullptr, nullptr);

    (void)::close(client);
    const auto half = look_at_unix_server(name);
    (void)::close(accepted);
    const auto closed = look_at_unix_server(name);
    (void)::close(listener);
    const auto gone = look_at_unix_server(name);

    EXPECT_EQ(before, Result<UnixServer>(UnixServer{.listening = true}));
    EXPECT_EQ(half, Result<UnixServer>(UnixServer{.listening = true, .half_closed = 1}));
    EXPECT_EQ(closed, Result<UnixServer>(UnixServer{.listening = true}));
    EXPECT_EQ(gone, Result<UnixServer>(UnixServer{}));
}

}  // namespace
}  // namespace planed::io
