// SPDX-License-Identifier: Apache-2.0
// The operators' unix socket: nobody can reach it before its owner and mode are right, and it never
// takes the place of a socket on which somebody listens. Accepts in a thread of its own, so that a
// flood of connections costs the loop nothing; their number is bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <sys/types.h>

#include "net/result.hpp"

namespace planed::io {

struct PeerCredentials {
    std::int64_t pid = 0;
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
};

class UnixListener {
public:
    // Descriptors are what the rest of the daemon needs too.
    static constexpr std::size_t kConnectionsMax = 320;

    /// In the thread; the connection is non-blocking and the callee's from now on, who closes it
    /// sooner or later.
    using Accepted = std::function<void(int connection, const PeerCredentials& peer)>;

    explicit UnixListener(Accepted accepted) : accepted_(std::move(accepted)) {}
    ~UnixListener();
    UnixListener(const UnixListener&) = delete;
    UnixListener& operator=(const UnixListener&) = delete;
    UnixListener(UnixListener&&) = delete;
    UnixListener& operator=(UnixListener&&) = delete;

    /// Mode 0660, group `planed` if there is one. The folder is made if it is not there.
    Result<void> open(const std::string& path);
    /// No connection is accepted after this; the socket's file is gone if it was still ours.
    void close();

private:
    struct Connection {
        int descriptor = -1;
        ino_t inode = 0;  // Tells whether the descriptor is another one by now.
    };

    void run();
    void accept_one();
    [[nodiscard]] bool has_room();

    Accepted accepted_;
    std::string path_;
    int socket_ = -1;
    int ends_ = -1;  // eventfd
    ino_t inode_ = 0;
    std::vector<Connection> connections_;
    std::thread thread_;
};

}  // namespace planed::io
