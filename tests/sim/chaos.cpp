// SPDX-License-Identifier: Apache-2.0
#include "sim/chaos.hpp"

#include <array>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "sim/deeds.hpp"

namespace planed::sim {
namespace {

constexpr std::array kPorts{"swp1", "swp2", "swp3", "swp4", "swp7", "swp8"};
constexpr std::array kVlanPorts{"swp20", "swp21"};
constexpr Duration kSettle = 150s;  // Longer than two audits and every back-off.
constexpr Duration kHour = 1h;
constexpr Duration kAudit = 10s;

class Chaos {
public:
    explicit Chaos(SimWorld& world) : world_(world), random_(world.random) {}

    void set_up();
    void rage();
    void make_peace();

private:
    void act();
    SimHost& any_host();
    RouteKey any_route();
    std::string any_port();
    void toggle_cable();
    void blink();
    void flap_interface();
    void recreate_interface();
    void restart_zebra();
    void restart_planed();
    void duplicate_address();
    void overrun();
    void use_something();
    void toggle_better();
    void toggle_plane();

    SimWorld& world_;
    Random& random_;
    std::vector<std::pair<std::string, IpAddress>> duplicates_;
    bool br0_exists_ = true;
};

void Chaos::set_up() {
    world_.faults = Faults::from(random_);
    std::array releases{Release::Frr8_4, Release::Frr10_3, Release::Master};
    world_.zebra.release = random_.pick(releases);
    world_.build_leaf();
    for (int i = 0; i < 10; ++i) {
        world_.hosts.add(fmt::format("10.0.0.{},fd00::{}", i + 10, i + 10), random_.pick(kPorts));
    }
    for (int i = 0; i < 3; ++i) {
        world_.hosts.add(fmt::format("10.100.0.{}", i + 10), random_.pick(kVlanPorts), VlanId{100});
    }
    world_.hosts.add("10.30.0.10", "swp30");
    world_.hosts.add("192.0.2.10", "mgmt0");
    for (auto& [name, host] : world_.hosts.all()) {
        const bool talks = random_.percent(70);
        world_.hosts.set_chatter(host, talks ? random_.between(2s, 60s) : 0us);
        if (random_.percent(60)) {
            world_.hosts.speak(host);
        }
    }
    for (int i = 0; i < 6; ++i) {
        toggle_plane();
    }
    const auto start_zebra = [this] { world_.zebra.start(false); };
    const auto start_planed = [this] { world_.planed.start(); };
    world_.clock.after(random_.between(0us, 5s), start_zebra);
    world_.clock.after(random_.between(0us, 5s), start_planed);
    world_.run_for(6s);
}

void Chaos::rage() {
    const TimePoint end = world_.clock.now() + random_.between(60s, 120s);
    const Duration calm = random_.between(50ms, 1500ms);
    while (world_.clock.now() < end && !world_.checker.failed()) {
        act();
        world_.run_for(random_.between(0us, 2 * calm));
    }
}

void Chaos::act() {
    const Faults& faults = world_.faults;
    const std::array<Deed, 18> deeds{{
        {.weight = 20, .what = [this] { toggle_cable(); }},
        {.weight = 5, .what = [this] { blink(); }},
        {.weight = 15, .what = [this] { world_.hosts.speak(any_host()); }},
        {.weight = 10, .what = [this] { use_something(); }},
        {.weight = 3, .what = [this] { world_.hosts.die(any_host()); }},
        {.weight = 5, .what = [this] { world_.hosts.revive(any_host()); }},
        {.weight = 3,
         .what =
             [this] {
                 SimHost& host = any_host();
                 if (host.port.starts_with("swp") && host.vlan == VlanId::None &&
                     host.port != "swp30") {
                     world_.hosts.move(host, random_.pick(kPorts));
                 }
             }},
        {.weight = 3,
         .allowed = faults.garbage_collection,
         .what = [this] { world_.kernel.collect_garbage(); }},
        {.weight = 4, .allowed = faults.overruns, .what = [this] { overrun(); }},
        {.weight = 3, .allowed = faults.interface_flaps, .what = [this] { flap_interface(); }},
        {.weight = 1,
         .allowed = faults.interface_recreated,
         .what = [this] { recreate_interface(); }},
        {.weight = 1, .allowed = faults.zebra_restarts, .what = [this] { restart_zebra(); }},
        {.weight = 2, .allowed = faults.planed_kills, .what = [this] { restart_planed(); }},
        {.weight = 2,
         .allowed = faults.duplicate_addresses,
         .what = [this] { duplicate_address(); }},
        {.weight = 3, .allowed = faults.better_routes, .what = [this] { toggle_better(); }},
        {.weight = 8, .what = [this] { toggle_plane(); }},
        {.weight = 1,
         .allowed = faults.zebra_restarts,
         .what = [this] { world_.zebra.restart_bgpd(); }},
        {.weight = 1, .what = [this] { world_.kernel.flush_proxies(); }},
    }};
    do_one(deeds, random_);
}

// Deeds -------------------------------------------------------------------------------------------

SimHost& Chaos::any_host() {
    auto at = world_.hosts.all().begin();
    std::advance(at, random_.below(world_.hosts.all().size()));
    return at->second;
}

RouteKey Chaos::any_route() {
    SimHost& host = any_host();
    return {.prefix = host_prefix(random_.pick(host.addresses))};
}

std::string Chaos::any_port() {
    const std::size_t which = random_.below(kPorts.size() + kVlanPorts.size() + 1);
    if (which < kPorts.size()) {
        return kPorts.at(which);
    }
    return which == kPorts.size() ? "swp30" : kVlanPorts.at(which - kPorts.size() - 1);
}

void Chaos::toggle_cable() {
    const std::string port = any_port();
    const Link* link = world_.kernel.find(port);
    if (link != nullptr) {
        world_.kernel.set_cable(port, !link->carrier);
    }
}

/// Out and in again, quicker than anybody can look.
void Chaos::blink() {
    const std::string port = any_port();
    if (world_.kernel.find(port) == nullptr) {
        return;
    }
    world_.kernel.set_cable(port, false);
    world_.clock.after(random_.between(0us, 30ms), [this, port] {
        if (world_.kernel.find(port) != nullptr) {
            world_.kernel.set_cable(port, true);
        }
    });
}

void Chaos::flap_interface() {
    std::array<std::string, 3> names{"br0", "Vlan100", "swp30"};
    const std::string name = random_.pick(names);
    if (world_.kernel.find(name) == nullptr) {
        return;
    }
    world_.kernel.set_admin(name, false);
    world_.clock.after(random_.between(0us, 3s), [this, name] {
        if (world_.kernel.find(name) != nullptr) {
            world_.kernel.set_admin(name, true);
        }
    });
}

void Chaos::recreate_interface() {
    if (!br0_exists_) {
        return;
    }
    br0_exists_ = false;
    for (int i = 1; i <= 8; ++i) {
        world_.kernel.delete_link(fmt::format("swp{}", i));
    }
    world_.kernel.delete_link("br0");
    world_.clock.after(random_.between(0us, 5s), [this] {
        world_.add_br0();
        br0_exists_ = true;
    });
}

void Chaos::restart_zebra() {
    if (!world_.zebra.is_running()) {
        return;
    }
    const bool cleanly = random_.percent(50);
    world_.zebra.stop(cleanly ? SimZebra::Stop::Cleanly : SimZebra::Stop::Killed);
    const bool keeps = random_.percent(50);
    world_.clock.after(random_.between(0us, 5s), [this, keeps] { world_.zebra.start(keeps); });
}

void Chaos::restart_planed() {
    if (!world_.planed.is_running()) {
        return;
    }
    world_.planed.kill();
    world_.clock.after(random_.between(0us, 5s), [this] { world_.planed.start(); });
}

void Chaos::duplicate_address() {
    SimHost& one = any_host();
    SimHost& other = any_host();
    if (&one == &other || world_.hosts.interface_of(one) != world_.hosts.interface_of(other)) {
        return;
    }
    const IpAddress address = one.addresses.front();
    world_.checker.contest(address);
    world_.hosts.add_address(other, address);
    duplicates_.emplace_back(other.name, address);
}

void Chaos::overrun() {
    auto& socket = random_.percent(30) ? world_.kernel.link_events : world_.kernel.neighbor_events;
    socket.overrun_next(1 + random_.below(10));
}

void Chaos::use_something() {
    const auto& neighbors = world_.kernel.neighbors();
    if (neighbors.empty()) {
        return;
    }
    auto at = neighbors.begin();
    std::advance(at, random_.below(neighbors.size()));
    world_.kernel.use(at->first);
}

void Chaos::toggle_better() {
    if (random_.percent(20)) {
        world_.zebra.remove_unasked(any_route());
        return;
    }
    const RouteKey key = any_route();
    if (world_.zebra.better().contains(key)) {
        world_.zebra.remove_better(key);
    } else {
        world_.zebra.add_better(key);
    }
}

/// Hosts of other leaves, some of whom have the addresses of hosts that are here.
void Chaos::toggle_plane() {
    const IpAddress address =
        IpAddress::parse(fmt::format("fd00::{}", 15 + random_.below(20))).value();
    const RouteKey key{.prefix = host_prefix(address)};
    if (world_.zebra.plane().contains(key)) {
        world_.zebra.remove_plane(key);
    } else {
        world_.zebra.add_plane(key);
    }
}

// Peace -------------------------------------------------------------------------------------------

void Chaos::make_peace() {
    const bool acks_installed = world_.faults.acks_installed;
    world_.faults = Faults{.acks_installed = acks_installed};
    world_.run_for(6s);  // What has begun ends: restarts, flaps.
    for (const auto& [name, address] : duplicates_) {
        world_.hosts.remove_address(world_.hosts.find(name), address);
    }
    for (const RouteKey& key : std::set(world_.zebra.better())) {
        world_.zebra.remove_better(key);
    }
    for (auto& [name, host] : world_.hosts.all()) {
        world_.hosts.set_chatter(host, 30s);
        world_.hosts.speak(host);
    }
    for (int round = 0; round < 3; ++round) {
        const auto neighbors = world_.kernel.neighbors();
        for (const auto& [key, entry] : neighbors) {
            world_.kernel.use(key);  // Who is dead is found out.
        }
        world_.run_for(kSettle / 3);
    }
}

}  // namespace

Outcome run_seed(std::uint64_t seed,
                 std::size_t trace_steps,
                 const RoutesConfig& routes,
                 const std::function<void(SimWorld&)>& prepare) {
    SimWorld world(seed);
    Config config = *world.planed.config;
    config.routes = routes;
    config.learning.duplicates = {.max_moves = 4, .window = 20s, .freeze = 20s};
    world.planed.config = std::make_shared<const Config>(std::move(config));
    world.trace.turn_on(trace_steps);
    prepare(world);
    Chaos chaos(world);
    chaos.set_up();
    chaos.rage();
    chaos.make_peace();
    if (!world.checker.failed()) {
        world.checker.at_rest();
    }
    if (!world.checker.failed()) {
        world.checker.expect_silence();
        world.run_for(kHour);
        world.planed.audit();
        world.run_for(kAudit);
        world.checker.audited();
    }
    if (!world.checker.failed()) {
        world.checker.at_rest();
    }
    return {.violations = world.checker.violations(),
            .trace = trace_steps == 0 ? "" : world.trace.text()};
}

}  // namespace planed::sim
