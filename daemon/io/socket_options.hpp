// SPDX-License-Identifier: Apache-2.0
// What the sockets of this folder have in common, whatever their family.
#pragma once

#include <cerrno>
#include <cstring>
#include <string_view>

#include <sys/socket.h>

#include <fmt/core.h>

#include "net/result.hpp"

namespace planed::io {

/// What errno says, behind what was tried.
inline tl::unexpected<Error> system_error(std::string_view what) {
    const int number = errno;
    return fail_errno(number, fmt::format("{}: {}", what, std::strerror(number)));
}

/// setsockopt(2) with an int; false if the kernel refuses.
inline bool set_option(int fd, int level, int option, int value) {
    return ::setsockopt(fd, level, option, &value, sizeof value) == 0;
}

/// Beyond net.core.rmem_max where CAP_NET_ADMIN allows it, else as far as that goes.
inline void set_receive_buffer(int fd, int bytes) {
    if (!set_option(fd, SOL_SOCKET, SO_RCVBUFFORCE, bytes)) {
        (void)set_option(fd, SOL_SOCKET, SO_RCVBUF, bytes);
    }
}

}  // namespace planed::io
