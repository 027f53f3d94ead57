// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/core.h>
#include <linux/rtnetlink.h>

#include "bench/figures.hpp"
#include "bench/kernel.hpp"
#include "bench/leaf.hpp"
#include "bench/planed.hpp"
#include "zapi/codec.hpp"

namespace planed::bench {
namespace {

constexpr Nanoseconds kPatience = 120 * kSecond;

/// The kernel's word on routes: the one clock for planed and for the bare writer.
class RouteCount {
public:
    RouteCount() : notices_({RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE}) {}

    [[nodiscard]] int fd() const { return notices_.fd(); }
    void read() {
        notices_.read([this](std::uint16_t type, std::span<const std::uint8_t> body) {
            const int change = host_route_change(type, body);
            if (change == 0) {
                return;
            }
            last_ = now();
            if (change > 0 && added_++ == 0) {
                first_ = last_;
            }
            gone_ += change < 0 ? 1U : 0U;
        });
    }
    void reset() {
        added_ = 0;
        gone_ = 0;
        first_ = 0;
        last_ = 0;
    }
    [[nodiscard]] std::size_t added() const { return added_; }
    [[nodiscard]] std::size_t gone() const { return gone_; }
    [[nodiscard]] Nanoseconds took() const { return last_ - first_; }

private:
    Notices notices_;
    std::size_t added_ = 0;
    std::size_t gone_ = 0;
    Nanoseconds first_ = 0;
    Nanoseconds last_ = 0;
};

/// Writes what it is given in one burst and counts the acks.
class BareWriter {
public:
    BareWriter(const std::string& path, zapi::WireFamily family)
        : family_(family), fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path.copy(address.sun_path, sizeof address.sun_path - 1);
        if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
            die(path.c_str());
        }
        (void)::fcntl(fd_, F_SETFL, O_NONBLOCK);
        zapi::encode_hello(family, zapi::RouteType::Babel, out_);
        if (!zapi::hello_asks_for_notices(family)) {
            zapi::encode_notify_request(family, out_);
        }
    }
    ~BareWriter() { (void)::close(fd_); }
    BareWriter(const BareWriter&) = delete;
    BareWriter& operator=(const BareWriter&) = delete;

    void burst(std::span<const std::uint8_t> bytes) {
        out_.insert(out_.end(), bytes.begin(), bytes.end());
    }
    [[nodiscard]] int fd() const { return fd_; }
    [[nodiscard]] bool wants_to_write() const { return written_ < out_.size(); }
    void write() {
        const ssize_t count = ::send(fd_, &out_[written_], out_.size() - written_, MSG_NOSIGNAL);
        if (count < 0 && errno != EAGAIN) {
            die("zebra closed the bare writer's session");
        }
        written_ += count > 0 ? static_cast<std::size_t>(count) : 0;
    }
    void read() {
        std::uint8_t buffer[65536];
        const ssize_t count = ::recv(fd_, buffer, sizeof buffer, 0);
        if (count <= 0) {
            return;
        }
        framer_.feed({buffer, static_cast<std::size_t>(count)});
        for (auto frame = framer_.next(); frame && *frame; frame = framer_.next()) {
            const std::uint16_t command = (*frame)->header.command;
            acks_ += command == zapi::commands_of(family_).route_notify_owner ? 1U : 0U;
            ready_ = ready_ || command == zapi::commands_of(family_).capabilities;
        }
        last_read_ = now();
    }
    [[nodiscard]] bool is_ready() const { return ready_; }
    [[nodiscard]] std::size_t acks() const { return acks_; }
    [[nodiscard]] Nanoseconds last_read() const { return last_read_; }

private:
    zapi::WireFamily family_;
    int fd_;
    std::vector<std::uint8_t> out_;
    std::size_t written_ = 0;
    zapi::Framer framer_;
    std::size_t acks_ = 0;
    bool ready_ = false;
    Nanoseconds last_read_ = 0;
};

void wait_for(RouteCount& routes, BareWriter* writer, const std::function<bool()>& done) {
    const Nanoseconds deadline = now() + kPatience;
    while (!done()) {
        pollfd polled[2]{
            {.fd = routes.fd(), .events = POLLIN, .revents = 0},
            {.fd = writer == nullptr ? -1 : writer->fd(), .events = POLLIN, .revents = 0}};
        if (writer != nullptr && writer->wants_to_write()) {
            polled[1].events = POLLIN | POLLOUT;
        }
        constexpr int kTurnMs = 1'000;
        (void)::poll(polled, 2, kTurnMs);
        if (now() > deadline) {
            fmt::print(stderr, "added {} gone {}\n", routes.added(), routes.gone());
            die("the routes did not all come or go");
        }
        if ((polled[1].revents & POLLIN) != 0) {
            writer->read();
        }
        if ((polled[1].revents & POLLOUT) != 0) {
            writer->write();
        }
        routes.read();
    }
}

double per_second(std::size_t count, Nanoseconds took) {
    return static_cast<double>(count) * static_cast<double>(kSecond) / static_cast<double>(took);
}

double rate_of_planed(const Options& options, RouteCount& routes) {
    const Folder folder;
    const std::size_t count = 2 * options.hosts;
    routes.reset();
    Planed planed({.binary = options.planed,
                   .folder = folder.path(),
                   .zserv = options.zserv,
                   .withdraw_on_exit = true});
    wait_for(routes, nullptr, [&] { return routes.added() >= count; });
    const double rate = per_second(count, routes.took());
    wait_for(routes, nullptr, [&] { return planed.has_said("name=READY"); });  // All confirmed.
    planed.stop();
    wait_for(routes, nullptr, [&] { return routes.gone() >= routes.added(); });
    return rate;
}

struct BareRates {
    double by_routes = 0;
    double by_acks = 0;
};

BareRates rate_of_bare_writer(const Options& options,
                              RouteCount& routes,
                              std::span<const std::uint8_t> burst,
                              zapi::WireFamily family) {
    const std::size_t count = 2 * options.hosts;
    routes.reset();
    BareWriter writer(options.zserv, family);
    wait_for(routes, &writer, [&] { return writer.is_ready(); });
    const Nanoseconds began = now();
    writer.burst(burst);
    wait_for(routes, &writer, [&] { return writer.acks() >= count && routes.added() >= count; });
    return {.by_routes = per_second(count, routes.took()),
            .by_acks = per_second(count, writer.last_read() - began)};
}

std::string list(const std::vector<double>& values) {
    std::string text;
    for (const double value : values) {
        text += fmt::format("{}{:.0f}", text.empty() ? "" : ",", value);
    }
    return "[" + text + "]";
}

}  // namespace

void measure_rate(const Options& options) {
    const auto family = zapi::family_of_release(options.release);
    if (!family) {
        die("--release is needed");
    }
    const Scene scene = make_leaf_here();
    const Leaf& leaf = scene.leaf;
    Changes changes;
    add_hosts(changes, leaf, 0, options.hosts, kStale);
    std::vector<std::uint8_t> burst;
    for (std::size_t i = 0; i < options.hosts; ++i) {
        for (const IpAddress& address : {host(i).v4, host(i).v6}) {
            zapi::encode_route_add(
                *family,
                zapi::RouteType::Babel,
                {.prefix = host_prefix(address), .out = leaf.bridge, .distance = 5, .tag = 100},
                burst);
        }
    }
    RouteCount routes;
    std::vector<double> ours;
    std::vector<double> bare;
    std::vector<double> bare_acks;
    for (std::size_t round = 0; round < options.rounds; ++round) {
        const auto measure_bare = [&] {
            const BareRates rates = rate_of_bare_writer(options, routes, burst, *family);
            bare.push_back(rates.by_routes);
            bare_acks.push_back(rates.by_acks);
            wait_for(routes, nullptr, [&] { return routes.gone() >= routes.added(); });
        };
        if (round % 2 == 0) {
            measure_bare();
        }
        ours.push_back(rate_of_planed(options, routes));
        if (round % 2 == 1) {
            measure_bare();
        }
    }
    fmt::print("{{\"planed\":{},\"bare\":{},\"bare_acks\":{}}}\n",
               list(ours),
               list(bare),
               list(bare_acks));
}

}  // namespace planed::bench
