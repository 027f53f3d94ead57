// SPDX-License-Identifier: Apache-2.0
// What planed learns from frames, and what it costs to keep asking.
#include <atomic>
#include <map>
#include <random>
#include <thread>

#include <sys/socket.h>

#include <fmt/core.h>

#include "bench/fake_zebra.hpp"
#include "bench/figures.hpp"
#include "bench/kernel.hpp"
#include "bench/leaf.hpp"
#include "bench/planed.hpp"
#include "packet/answer.hpp"
#include "packet/arp.hpp"
#include "packet/parse.hpp"

namespace planed::bench {
namespace {

constexpr Nanoseconds kPatience = 30 * kSecond;
constexpr std::size_t kFramesPerMs = 50;

// Asks for a host that is nobody: the kernel takes nothing from what is not for itself.
std::vector<std::uint8_t> question(const Host& from) {
    return packet::arp_request(
        {.source_mac = from.mac, .source = from.v4, .target = IpAddress::v4(10, 127, 0, 1)});
}

void send(const Scene& scene, const std::vector<std::uint8_t>& frame) {
    if (::send(scene.frames, frame.data(), frame.size(), 0) < 0) {
        die("a frame cannot be sent");
    }
}

// The hosts answer when they are asked.
class Answering {
public:
    Answering(const Scene& scene, std::size_t hosts) : socket_(scene.frames) {
        for (std::size_t i = 0; i < hosts; ++i) {
            const Host one = host(i);
            macs_[one.v4] = one.mac;
            macs_[one.v6] = one.mac;
        }
        thread_ = std::thread([this] { run(); });
    }
    ~Answering() {
        ends_ = true;
        thread_.join();
    }
    Answering(const Answering&) = delete;
    Answering& operator=(const Answering&) = delete;

    [[nodiscard]] std::uint64_t answered() const { return answered_; }

private:
    void run() {
        const timeval moment{.tv_sec = 0, .tv_usec = 100'000};
        (void)::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &moment, sizeof moment);
        std::vector<std::uint8_t> buffer(2048);
        while (!ends_) {
            const ssize_t size = ::recv(socket_, buffer.data(), buffer.size(), 0);
            if (size <= 0) {
                continue;
            }
            const auto heard =
                packet::parse({.bytes = std::span(buffer).first(static_cast<std::size_t>(size))});
            const auto asked = heard ? macs_.find(heard->target) : macs_.end();
            if (asked == macs_.end()) {
                continue;
            }
            const auto reply = packet::answer(
                *heard,
                {.mac = asked->second, .source = asked->first, .router = false, .overrides = true});
            if (reply) {
                (void)::send(socket_, reply->data(), reply->size(), 0);
                ++answered_;
            }
        }
    }

    int socket_;
    std::map<IpAddress, MacAddress> macs_;
    std::atomic<bool> ends_ = false;
    std::atomic<std::uint64_t> answered_ = 0;
    std::thread thread_;
};

}  // namespace

void measure_frame(const Options& options) {
    const Scene scene = make_leaf();
    const Folder folder;
    const std::string zserv = folder.path() + "/zserv.api";
    FakeZebra zebra(zserv);
    const Planed planed({.binary = options.planed, .folder = folder.path(), .zserv = zserv});
    Changes changes;
    add_hosts(changes, scene.leaf, 0, options.hosts, kStale);
    zebra.await_routes(2 * options.hosts, kPatience);
    zebra.serve_for(2 * kSecond);  // Until its start is over.
    run_first();

    std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same pauses in every run.
    std::uniform_int_distribution<Nanoseconds> pause(2 * kMillisecond, 6 * kMillisecond);
    std::vector<Nanoseconds> latencies;
    Nanoseconds seen = 0;
    IpPrefix expected;
    zebra.on_route = [&](const FakeZebra::RouteMessage& route) {
        if (!route.is_delete && route.prefix == expected) {
            seen = route.at;
        }
    };
    for (std::size_t round = 0; round < options.rounds; ++round) {
        const Host added = host(options.hosts + round);
        const std::vector<std::uint8_t> frame = question(added);
        zebra.serve_for(pause(random));
        expected = host_prefix(added.v4);
        seen = 0;
        const Nanoseconds sent = now();
        send(scene, frame);
        if (!zebra.serve_until([&] { return seen != 0; }, now() + kPatience)) {
            die("planed did not learn a host from its frame");
        }
        latencies.push_back(seen - sent);
    }
    fmt::print("{{\"latency\":{}}}\n", distribution(latencies));
}

void measure_storm(const Options& options) {
    const Scene scene = make_leaf();
    const Folder folder;
    const std::string zserv = folder.path() + "/zserv.api";
    FakeZebra zebra(zserv);
    const Planed planed({.binary = options.planed, .folder = folder.path(), .zserv = zserv});
    Changes changes;
    add_hosts(changes, scene.leaf, 0, options.hosts, kStale);
    zebra.await_routes(2 * options.hosts, kPatience);
    zebra.serve_for(2 * kSecond);
    const Nanoseconds before = planed.cpu_time();
    const Nanoseconds began = now();
    std::size_t newcomers = 0;
    std::size_t frames = 0;
    std::thread sender([&] {
        const std::vector<std::uint8_t> frame = question(host(0));
        Nanoseconds next = began;
        while (next < began + static_cast<Nanoseconds>(options.seconds) * kSecond) {
            for (std::size_t i = 0; i < kFramesPerMs; ++i, ++frames) {
                send(scene, frame);
            }
            if (frames % (100 * kFramesPerMs) == 0) {
                send(scene, question(host(options.hosts + newcomers++)));
            }
            next += kMillisecond;
            sleep_until(next);
        }
    });
    zebra.serve_for(static_cast<Nanoseconds>(options.seconds) * kSecond);
    sender.join();
    const double used = static_cast<double>(planed.cpu_time() - before);
    const double took = static_cast<double>(now() - began);
    zebra.serve_for(kSecond);
    fmt::print(
        "{{\"percent\":{:.1f},\"frames_per_second\":{:.0f},\"newcomers\":{},\"learned\":{},"
        "\"withdrawn\":{}}}\n",
        100.0 * used / took,
        static_cast<double>(frames) * static_cast<double>(kSecond) / took,
        newcomers,
        zebra.routes() - 2 * options.hosts,
        zebra.deletes());
}

void measure_refresh(const Options& options) {
    const Scene scene = make_leaf();
    const Folder folder;
    const std::string zserv = folder.path() + "/zserv.api";
    FakeZebra zebra(zserv);
    Changes changes;
    add_hosts(changes, scene.leaf, 0, options.hosts, kStale);
    const Answering hosts(scene, options.hosts);
    const Planed planed(
        {.binary = options.planed, .folder = folder.path(), .zserv = zserv, .refresh = "30s"});
    zebra.await_routes(2 * options.hosts, kPatience);
    zebra.serve_for(3 * kSecond);
    const Nanoseconds before = planed.cpu_time();
    const Nanoseconds began = now();
    const std::uint64_t answered = hosts.answered();
    zebra.serve_for(static_cast<Nanoseconds>(options.seconds) * kSecond);
    const double took = static_cast<double>(now() - began);
    fmt::print(
        "{{\"percent\":{:.3f},\"answers_per_second\":{:.0f},\"withdrawn\":{}}}\n",
        100.0 * static_cast<double>(planed.cpu_time() - before) / took,
        static_cast<double>(hosts.answered() - answered) * static_cast<double>(kSecond) / took,
        zebra.deletes());
}

}  // namespace planed::bench
