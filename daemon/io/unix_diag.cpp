// SPDX-License-Identifier: Apache-2.0
#include "io/unix_diag.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>

namespace planed::io {

namespace {

constexpr std::uint8_t kShutdownBoth = 3;  // RCV_SHUTDOWN | SEND_SHUTDOWN, include/net/sock.h

class Descriptor {
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() {
        if (fd_ >= 0) {
            (void)::close(fd_);
        }
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    Descriptor(Descriptor&&) = delete;
    Descriptor& operator=(Descriptor&&) = delete;
    [[nodiscard]] int get() const { return fd_; }

private:
    int fd_;
};

template <class T>
T read_as(std::span<const std::uint8_t> bytes) {
    T value{};
    std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));
    return value;
}

/// The payload of each attribute of this type is given to `take`.
template <class Take>
void for_each_attribute(std::span<const std::uint8_t> bytes, Take take) {
    while (bytes.size() >= sizeof(rtattr)) {
        const auto header = read_as<rtattr>(bytes);
        if (header.rta_len < sizeof(rtattr) || header.rta_len > bytes.size()) {
            return;
        }
        take(header.rta_type, bytes.subspan(sizeof(rtattr), header.rta_len - sizeof(rtattr)));
        bytes = bytes.subspan(std::min<std::size_t>(RTA_ALIGN(header.rta_len), bytes.size()));
    }
}

/// The kernel gives a name without its closing zero; an abstract one begins with a zero.
std::string name_from(std::span<const std::uint8_t> bytes) {
    std::string name(bytes.begin(), bytes.end());
    if (!name.empty() && name.front() == '\0') {
        name.front() = '@';
    }
    return name.substr(0, name.find('\0'));
}

void add_socket(std::span<const std::uint8_t> body, const UnixPath& path, UnixServer& server) {
    const auto socket = read_as<unix_diag_msg>(body);
    bool ours = false;
    std::uint8_t shutdown = 0;
    for_each_attribute(
        body.subspan(sizeof(unix_diag_msg)),
        [&](std::uint16_t type, std::span<const std::uint8_t> payload) {
            if (type == UNIX_DIAG_NAME) {
                const std::string name = name_from(payload);
                ours = ours || name == path.name || (!path.real.empty() && name == path.real);
            } else if (type == UNIX_DIAG_VFS) {
                const auto file = read_as<unix_diag_vfs>(payload);
                ours = ours || (path.inode != 0 && file.udiag_vfs_ino == path.inode &&
                                file.udiag_vfs_dev == path.device);
            } else if (type == UNIX_DIAG_SHUTDOWN && !payload.empty()) {
                shutdown = payload.front();
            }
        });
    if (!ours) {
        return;
    }
    if (socket.udiag_state == TCP_LISTEN) {
        server.listening = true;
    } else if (socket.udiag_state == TCP_ESTABLISHED && shutdown == kShutdownBoth) {
        ++server.half_closed;
    }
}

Result<void> ask(int fd) {
    struct {
        nlmsghdr header;
        unix_diag_req request;
    } message{};
    message.header.nlmsg_len = sizeof message;
    message.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    message.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    message.request.sdiag_family = AF_UNIX;
    message.request.udiag_states = (1U << TCP_ESTABLISHED) | (1U << TCP_LISTEN);
    message.request.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_VFS;
    if (::send(fd, &message, sizeof message, 0) < 0) {
        return fail_errno(errno, "cannot ask sock_diag");
    }
    return {};
}

}  // namespace

UnixPath unix_path(const std::string& name) {
    UnixPath path{.name = name};
    struct stat status {};
    if (name.starts_with('@') || ::stat(name.c_str(), &status) != 0) {
        return path;
    }
    std::error_code error;
    path.real = std::filesystem::canonical(name, error).string();
    path.device = (major(status.st_dev) << 20U) | minor(status.st_dev);
    path.inode = static_cast<std::uint32_t>(status.st_ino);
    return path;
}

Result<bool> read_unix_diag(std::span<const std::uint8_t> datagram,
                            const UnixPath& path,
                            UnixServer& server) {
    while (datagram.size() >= sizeof(nlmsghdr)) {
        const auto header = read_as<nlmsghdr>(datagram);
        if (header.nlmsg_len < sizeof(nlmsghdr) || header.nlmsg_len > datagram.size()) {
            return fail(Errc::Malformed, "sock_diag: message length");
        }
        const auto body = datagram.subspan(sizeof(nlmsghdr), header.nlmsg_len - sizeof(nlmsghdr));
        if (header.nlmsg_type == NLMSG_DONE) {
            return false;
        }
        if (header.nlmsg_type == NLMSG_ERROR) {
            const int error = read_as<nlmsgerr>(body).error;
            return fail_errno(-error, "sock_diag refuses");
        }
        if (header.nlmsg_type == SOCK_DIAG_BY_FAMILY && body.size() >= sizeof(unix_diag_msg)) {
            add_socket(body, path, server);
        }
        datagram =
            datagram.subspan(std::min<std::size_t>(NLMSG_ALIGN(header.nlmsg_len), datagram.size()));
    }
    return true;
}

Result<UnixServer> look_at_unix_server(const std::string& name) {
    const Descriptor socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
    if (socket.get() < 0) {
        return fail_errno(errno, "cannot open a sock_diag socket");
    }
    if (const auto asked = ask(socket.get()); !asked) {
        return tl::unexpected(asked.error());
    }
    const UnixPath path = unix_path(name);
    UnixServer server;
    std::array<std::uint8_t, 32768> buffer;  // The kernel's own size of a dump's datagram.
    for (;;) {
        const auto count = ::recv(socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (count < 0) {
            return fail_errno(errno, "sock_diag does not answer");
        }
        const auto more =
            read_unix_diag(std::span(buffer).first(static_cast<std::size_t>(count)), path, server);
        if (!more) {
            return tl::unexpected(more.error());
        }
        if (!*more) {
            return server;
        }
    }
}

}  // namespace planed::io
