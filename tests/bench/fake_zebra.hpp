// SPDX-License-Identifier: Apache-2.0
// A zebra of family D (FRR 10.2 and later) that takes every route at once: what planed writes is
// seen here at the moment when it can be read, with no FRR in between. It answers the probe, HELLO,
// routes and read-backs; graceful restart it takes note of and does nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "bench/clock.hpp"
#include "net/ip_prefix.hpp"

namespace planed::bench {

class FakeZebra {
public:
    explicit FakeZebra(const std::string& path);
    ~FakeZebra();
    FakeZebra(const FakeZebra&) = delete;
    FakeZebra& operator=(const FakeZebra&) = delete;

    struct RouteMessage {
        IpPrefix prefix;
        bool is_delete = false;
        Nanoseconds at = 0;  // When the read that brought it returned.
    };
    std::function<void(const RouteMessage&)> on_route;

    /// Besides zebra's own sockets, on_ready(now) is called whenever `fd` is readable, until it
    /// gives false: one that waits for a first sign leaves the core to others from then on.
    void watch(int fd, std::function<bool(Nanoseconds)> on_ready);

    /// Serves until the predicate holds (asked after everything that came) or the deadline passes;
    /// whether it holds.
    bool serve_until(const std::function<bool()>& done, Nanoseconds deadline);
    void serve_for(Nanoseconds duration);
    /// Serves until it holds exactly so many; the end of the program if that takes longer.
    void await_routes(std::size_t count, Nanoseconds patience);

    [[nodiscard]] std::size_t routes() const { return routes_.size(); }
    [[nodiscard]] std::uint64_t adds() const { return adds_; }
    [[nodiscard]] std::uint64_t deletes() const { return deletes_; }

private:
    struct Connection {
        int fd = -1;
        std::vector<std::uint8_t> in;
        std::vector<std::uint8_t> out;
    };
    struct Held {
        std::uint32_t link = 0;
        std::uint32_t tag = 0;
        std::uint8_t distance = 0;
    };

    void turn(Nanoseconds timeout);
    void accept();
    bool read(Connection& connection);
    void handle(Connection& connection, std::span<const std::uint8_t> message, Nanoseconds at);
    void handle_route(Connection& connection,
                      std::span<const std::uint8_t> body,
                      bool is_delete,
                      Nanoseconds at);
    void dump(Connection& connection, std::uint8_t afi);
    static void flush(Connection& connection);

    int listener_ = -1;
    int watched_ = -1;
    std::function<bool(Nanoseconds)> on_ready_;
    std::vector<Connection> connections_;
    std::vector<std::uint8_t> buffer_;
    std::map<IpPrefix, Held> routes_;
    std::uint64_t adds_ = 0;
    std::uint64_t deletes_ = 0;
};

}  // namespace planed::bench
