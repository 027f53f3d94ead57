// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <thread>

#include <fmt/core.h>

#include "bench/churn.hpp"
#include "bench/fake_zebra.hpp"
#include "bench/figures.hpp"
#include "bench/kernel.hpp"
#include "bench/leaf.hpp"
#include "bench/planed.hpp"

namespace planed::bench {
namespace {

constexpr Nanoseconds kPatience = 60 * kSecond;
constexpr std::size_t kEventsPerMs = 10;

}  // namespace

void measure_scale(const Options& options) {
    const Scene scene = make_leaf();
    const Leaf& leaf = scene.leaf;
    const Folder folder;
    const std::string zserv = folder.path() + "/zserv.api";
    FakeZebra zebra(zserv);
    Changes changes;
    add_hosts(changes, leaf, 0, options.hosts, kStale);
    const Planed planed({.binary = options.planed, .folder = folder.path(), .zserv = zserv});
    const Nanoseconds began = now();
    zebra.await_routes(2 * options.hosts, kPatience);
    const Nanoseconds announced = now() - began;
    zebra.serve_for(3 * kSecond);  // Until its start is over, read-back and state file too.
    const std::uint64_t resident = planed.resident_bytes();

    const Nanoseconds before = planed.cpu_time();
    std::thread changer(
        [&] { change_macs(leaf, options.hosts, options.events, 1'000 * kEventsPerMs); });
    std::uint64_t adds = zebra.adds();
    zebra.serve_for(static_cast<Nanoseconds>(options.events / kEventsPerMs) * kMillisecond +
                    kSecond / 2);
    changer.join();
    const Nanoseconds used = planed.cpu_time() - before;
    if (zebra.adds() != adds || zebra.deletes() != 0) {
        die("a change of MAC has changed a route");
    }
    fmt::print(
        "{{\"neighbors\":{},\"resident_mib\":{:.1f},\"after_events_mib\":{:.1f},"
        "\"event_us\":{:.3f},\"announced_ms\":{:.0f}}}\n",
        2 * options.hosts,
        static_cast<double>(resident) / 1048576.0,
        static_cast<double>(planed.resident_bytes()) / 1048576.0,
        static_cast<double>(used) / static_cast<double>(options.events) / 1000.0,
        static_cast<double>(announced) / static_cast<double>(kMillisecond));
}

void measure_idle(const Options& options) {
    const bool real = !options.zserv.empty();
    const Scene scene = real ? make_leaf_here() : make_leaf();
    const Leaf& leaf = scene.leaf;
    const Folder folder;
    const std::string zserv = real ? options.zserv : folder.path() + "/zserv.api";
    std::optional<FakeZebra> fake;
    if (!real) {
        fake.emplace(zserv);
    }
    const auto wait = [&](Nanoseconds duration) {
        if (fake) {
            fake->serve_for(duration);
        } else {
            sleep_for(duration);
        }
    };
    Changes changes;
    add_hosts(changes, leaf, 0, options.hosts, kReachable);
    const Planed planed({.binary = options.planed,
                         .folder = folder.path(),
                         .zserv = zserv,
                         .withdraw_on_exit = true});
    const Nanoseconds deadline = now() + kPatience;
    while (!planed.has_said("name=READY")) {
        if (now() > deadline) {
            die("planed did not get ready");
        }
        wait(100 * kMillisecond);
    }
    wait(3 * kSecond);
    const Nanoseconds before = planed.cpu_time();
    const Nanoseconds began = now();
    wait(static_cast<Nanoseconds>(options.seconds) * kSecond);
    const double used = static_cast<double>(planed.cpu_time() - before);
    fmt::print("{{\"percent\":{:.4f}}}\n", 100.0 * used / static_cast<double>(now() - began));
}

}  // namespace planed::bench
