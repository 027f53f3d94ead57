// SPDX-License-Identifier: Apache-2.0
// What the kernel knows about the sockets bound to one path (sock_diag(7), linux/unix_diag.h). It
// tells whether a server has yet closed its end of a connection whose client is gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "net/result.hpp"

namespace planed::io {

/// How a bound socket is recognised: by name, or by the file where names differ (/var/run and /run,
/// or a server in a chroot).
struct UnixPath {
    std::string name{};  // As given to bind(2); a leading '@' stands for the abstract namespace.
    std::string real{};  // Symbolic links resolved; empty if there is no such file.
    std::uint32_t device = 0;  // In the kernel's own form (major << 20 | minor); 0 if no file.
    std::uint32_t inode = 0;
};
UnixPath unix_path(const std::string& name);

struct UnixServer {
    bool listening = false;
    /// Server ends whose client has closed and that the server still holds open.
    std::size_t half_closed = 0;
    bool operator==(const UnixServer&) const = default;
};

/// Adds one datagram of a sock_diag dump to `server`. True: the dump goes on.
Result<bool> read_unix_diag(std::span<const std::uint8_t> datagram,
                            const UnixPath& path,
                            UnixServer& server);

/// Asks the kernel; never waits. Sees the sockets of its own network namespace only: a server
/// elsewhere is not listening as far as it can tell.
Result<UnixServer> look_at_unix_server(const std::string& name);

}  // namespace planed::io
