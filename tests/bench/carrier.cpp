// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include <fmt/core.h>
#include <linux/rtnetlink.h>

#include "bench/fake_zebra.hpp"
#include "bench/figures.hpp"
#include "bench/kernel.hpp"
#include "bench/leaf.hpp"
#include "bench/planed.hpp"

namespace planed::bench {
namespace {

// planed reads the links every 10 ms for 1.2 s after a carrier event and could see the next loss
// before the kernel announces it: a round begins when that is over.
constexpr Nanoseconds kBetween = 1'300 * kMillisecond;
constexpr Nanoseconds kPatience = 10 * kSecond;

void heal(Changes& changes, const Scene& scene, std::size_t hosts) {
    const Leaf& leaf = scene.leaf;
    scene.on_others->link(scene.other_end, true);
    (void)scene.on_others->make();
    await_forwarding(changes, leaf);
    for (std::size_t i = 0; i < hosts; ++i) {
        changes.forwarding(leaf.port, host(i).mac);
    }
    (void)changes.make();
}

}  // namespace

void measure_carrier(const Options& options) {
    const Scene scene = make_leaf();
    const Leaf& leaf = scene.leaf;
    const Folder folder;
    const std::string zserv = folder.path() + "/zserv.api";
    FakeZebra zebra(zserv);
    const Planed planed({.binary = options.planed, .folder = folder.path(), .zserv = zserv});
    Changes changes;
    add_hosts(changes, leaf, 0, options.hosts, kReachable);
    Notices notices({RTNLGRP_NEIGH});
    const std::size_t routes = 2 * options.hosts;
    run_first();

    std::vector<Nanoseconds> from_flush;
    std::vector<Nanoseconds> from_cut;
    for (std::size_t round = 0; round < options.rounds; ++round) {
        if (!zebra.serve_until([&] { return zebra.routes() == routes; }, now() + kPatience)) {
            die("planed did not announce the hosts");
        }
        // Nobody is there to answer planed's question after the port came back.
        zebra.serve_for(kBetween / 2);
        add_hosts(changes, leaf, 0, options.hosts, kReachable);
        zebra.serve_for(kBetween / 2);

        Nanoseconds flushed = 0;
        notices.discard();
        zebra.watch(notices.fd(), [&](Nanoseconds at) {
            notices.read([&](std::uint16_t type, std::span<const std::uint8_t> body) {
                if (forwarding_gone(type, body) == leaf.port) {
                    flushed = at;
                }
            });
            return flushed == 0;
        });
        Nanoseconds last = 0;
        zebra.on_route = [&](const FakeZebra::RouteMessage& route) { last = route.at; };
        Nanoseconds cut = 0;
        std::thread cutter([&] {
            scene.on_others->link(scene.other_end, false);
            cut = now();
            (void)scene.on_others->make();
        });
        const bool gone = zebra.serve_until([&] { return zebra.routes() == 0; }, now() + kPatience);
        cutter.join();
        if (!gone || flushed == 0) {
            fmt::print(stderr,
                       "round {}: routes left {}, flush seen {}\n",
                       round,
                       zebra.routes(),
                       flushed != 0);
            die("planed did not withdraw the hosts");
        }
        from_flush.push_back(last - flushed);
        from_cut.push_back(last - cut);
        zebra.on_route = {};
        heal(changes, scene, options.hosts);
    }
    fmt::print("{{\"from_flush\":{},\"from_cut\":{}}}\n",
               distribution(from_flush),
               distribution(from_cut));
}

}  // namespace planed::bench
