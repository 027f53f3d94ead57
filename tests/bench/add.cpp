// SPDX-License-Identifier: Apache-2.0
#include <random>

#include <fmt/core.h>

#include "bench/churn.hpp"
#include "bench/fake_zebra.hpp"
#include "bench/figures.hpp"
#include "bench/kernel.hpp"
#include "bench/leaf.hpp"
#include "bench/planed.hpp"

namespace planed::bench {
namespace {

constexpr Nanoseconds kPatience = 10 * kSecond;

}  // namespace

void measure_add(const Options& options) {
    const Scene scene = make_leaf();
    const Leaf& leaf = scene.leaf;
    const Folder folder;
    const std::string zserv = folder.path() + "/zserv.api";
    FakeZebra zebra(zserv);
    const Planed planed({.binary = options.planed, .folder = folder.path(), .zserv = zserv});
    Changes changes;
    add_hosts(changes, leaf, 0, options.hosts, kStale);
    zebra.await_routes(2 * options.hosts, kPatience);
    zebra.serve_for(2 * kSecond);  // Until its start is over.
    Churn churn(leaf, options.hosts, options.per_second);
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
        changes.forwarding(leaf.port, added.mac);
        (void)changes.make();
        zebra.serve_for(pause(random));
        expected = host_prefix(added.v4);
        seen = 0;
        changes.neighbor(leaf.bridge, added.v4, added.mac, kReachable);
        const Nanoseconds acked = changes.make();
        if (!zebra.serve_until([&] { return seen != 0; }, now() + kPatience)) {
            die("planed did not announce a new host");
        }
        latencies.push_back(seen - acked);
    }
    const double rate = churn.stop();
    fmt::print("{{\"latency\":{},\"churn_per_second\":{:.0f}}}\n", distribution(latencies), rate);
}

}  // namespace planed::bench
