// SPDX-License-Identifier: Apache-2.0
#include "io/unix_listener.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <grp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/core.h>

namespace planed::io {
namespace {

constexpr mode_t kMode = 0660;
constexpr int kWaitingMax = 64;
constexpr std::string_view kGroup = "planed";

tl::unexpected<Error> failed(std::string_view what, const std::string& path) {
    const int number = errno;
    return fail_errno(number, fmt::format("cannot {} {}: {}", what, path, std::strerror(number)));
}

Result<sockaddr_un> address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) {
        return fail(Errc::Invalid,
                    fmt::format("{} is too long for a unix socket, {} bytes are the most",
                                path,
                                sizeof address.sun_path - 1));
    }
    std::memcpy(address.sun_path, path.data(), path.size());
    return address;
}

const sockaddr* generic(const sockaddr_un& address) {
    return reinterpret_cast<const sockaddr*>(&address);  // NOLINT: what bind(2) takes.
}

bool somebody_listens(const sockaddr_un& address) {
    const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const bool connected = ::connect(probe, generic(address), sizeof address) == 0;
    const bool full = errno == EAGAIN;  // Its backlog is.
    ::close(probe);
    return connected || full;
}

/// What is in our way is only ever the socket of one who is gone.
Result<void> check_place(const std::string& path, const sockaddr_un& address) {
    struct stat there {};
    if (::lstat(path.c_str(), &there) != 0) {
        return {};
    }
    if (!S_ISSOCK(there.st_mode)) {
        return fail(Errc::System, fmt::format("{} is there and is no socket", path));
    }
    if (somebody_listens(address)) {
        return fail(Errc::System, fmt::format("another process listens on {}", path));
    }
    return {};
}

Result<void> hand_to_group(const std::string& path) {
    std::array<char, 4096> room{};
    group entry{};
    group* found = nullptr;
    if (::getgrnam_r(kGroup.data(), &entry, room.data(), room.size(), &found) != 0 ||
        found == nullptr) {
        return {};  // Then it is the group of whoever runs planed.
    }
    if (::lchown(path.c_str(), static_cast<uid_t>(-1), entry.gr_gid) != 0 && errno != EPERM) {
        return failed("give to group planed", path);
    }
    return {};  // EPERM: not root and not of that group; the unit's Group= has seen to it.
}

/// Under a name that nobody knows, with nobody's rights, until all is as it should be.
Result<void> bind_privately(int socket, const std::string& temporary) {
    const auto address = address_of(temporary);
    if (!address) {
        return tl::unexpected(address.error());
    }
    (void)::unlink(temporary.c_str());  // Of one with our pid who was killed just here.
    // The socket's own mode is what bind(2) makes the file with (unix_bind_bsd() in af_unix.c), so
    // no umask of the process has to change, which other threads would see.
    if (::fchmod(socket, 0600) != 0 || ::bind(socket, generic(*address), sizeof *address) != 0) {
        return failed("bind", temporary);
    }
    if (auto handed = hand_to_group(temporary); !handed) {
        return handed;
    }
    if (::chmod(temporary.c_str(), kMode) != 0) {
        return failed("set the mode of", temporary);
    }
    return {};
}

}  // namespace

UnixListener::~UnixListener() {
    close();
}

Result<void> UnixListener::open(const std::string& path) {
    const auto address = address_of(path);
    if (!address) {
        return tl::unexpected(address.error());
    }
    std::error_code error;
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    std::filesystem::create_directories(folder, error);
    if (error) {
        return fail(Errc::System,
                    fmt::format("cannot make {}: {}", folder.string(), error.message()));
    }
    if (auto free = check_place(path, *address); !free) {
        return free;
    }
    socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    ends_ = ::eventfd(0, EFD_CLOEXEC);
    if (socket_ < 0 || ends_ < 0) {
        return failed("make a socket for", path);
    }
    const std::string temporary = fmt::format("{}.{}", path, ::getpid());
    auto bound = bind_privately(socket_, temporary);
    if (bound && ::listen(socket_, kWaitingMax) != 0) {
        bound = failed("listen on", temporary);
    }
    if (bound && ::rename(temporary.c_str(), path.c_str()) != 0) {
        bound = failed("rename to", path);
    }
    if (!bound) {
        (void)::unlink(temporary.c_str());
        return bound;
    }
    struct stat ours {};
    inode_ = ::lstat(path.c_str(), &ours) == 0 ? ours.st_ino : 0;
    path_ = path;
    thread_ = std::thread([this] { run(); });
    return {};
}

void UnixListener::close() {
    if (thread_.joinable()) {
        (void)::eventfd_write(ends_, 1);  // The counter cannot be full.
        thread_.join();
        struct stat there {};
        if (::lstat(path_.c_str(), &there) == 0 && there.st_ino == inode_) {
            (void)::unlink(path_.c_str());  // Somebody may have been quicker.
        }
    }
    for (int* descriptor : {&socket_, &ends_}) {
        if (*descriptor >= 0) {
            ::close(std::exchange(*descriptor, -1));
        }
    }
}

void UnixListener::run() {
    std::array<pollfd, 2> waits{{{.fd = ends_, .events = POLLIN, .revents = 0},
                                 {.fd = socket_, .events = POLLIN, .revents = 0}}};
    for (;;) {
        if (::poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) {
            return;
        }
        if (waits[0].revents != 0) {
            return;
        }
        if (waits[1].revents != 0) {
            accept_one();
        }
    }
}

void UnixListener::accept_one() {
    const int connection = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (connection < 0) {
        constexpr int kOutOfDescriptorsMs = 100;
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
            pollfd wait{.fd = ends_, .events = POLLIN, .revents = 0};
            (void)::poll(&wait, 1, kOutOfDescriptorsMs);  // It stays readable: do not spin.
        }
        return;
    }
    ucred peer{};
    socklen_t size = sizeof peer;
    struct stat now {};
    if (!has_room() || ::fstat(connection, &now) != 0 ||
        ::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
        ::close(connection);
        return;
    }
    connections_.push_back({.descriptor = connection, .inode = now.st_ino});
    accepted_(connection, {.pid = peer.pid, .uid = peer.uid, .gid = peer.gid});
}

bool UnixListener::has_room() {
    if (connections_.size() < kConnectionsMax) {
        return true;
    }
    std::erase_if(connections_, [](const Connection& known) {
        struct stat now {};
        return ::fstat(known.descriptor, &now) != 0 || now.st_ino != known.inode;
    });
    return connections_.size() < kConnectionsMax;
}

}  // namespace planed::io
