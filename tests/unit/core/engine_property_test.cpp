// SPDX-License-Identifier: Apache-2.0
// After whatever has happened, the engine wants exactly what a fresh one would want that is told
// nothing but the facts as they stand: history leaves no trace.
#include <map>
#include <optional>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "support/leaf.hpp"

namespace planed::test {
namespace {

using Routes = std::map<RouteKey, HostRoute>;

constexpr int kHosts = 8;
constexpr IfIndex kSwp9{9};  // A routed port beside the bridge.

Routes wanted_by(const Engine& engine) {
    Routes routes;
    engine.routes().for_each(
        [&](const RouteKey& key, const std::optional<HostRoute>& desired, SinkState) {
            if (desired) {
                routes[key] = *desired;
            }
        });
    return routes;
}

Config config_of(bool serves_routed_port, bool excludes) {
    Config config = serving({"br0"});
    config.uplinks = {"up0"};
    if (serves_routed_port) {
        config.interfaces.push_back(interface_config("swp9"));
    }
    if (excludes) {
        config.interfaces[0].exclude = {prefix("10.0.0.0/30")};
    }
    return config;
}

// A kernel in which things happen; hosts 0..3 live on the bridge (two addresses each), 4..7 behind
// the routed port. A host is heard wherever it is as soon as its port is up, so that no port is in
// doubt when the engines are compared.
class World {
public:
    explicit World(std::uint32_t seed) : random_(seed), leaf_(config_of(true, false), facts()) {
        leaf_.start();
    }

    void anything() {
        switch (pick(13)) {
            case 0:
            case 1: live(pick(kHosts)); return;
            case 2: die(pick(kHosts)); return;
            case 3: move(pick(kHosts / 2)); return;
            case 4: toggle_port(pick(2) == 0 ? kSwp1 : kSwp2); return;
            case 5: toggle_link(kSwp9); return;
            case 6: toggle_link(kUp0); return;
            case 7: toggle_address(kUp0, "10.0.0.12/32"); return;
            case 8: toggle_address(kBr0, "10.0.0.1/16"); return;
            case 9: reconfigure(); return;
            case 10: lose(); return;
            case 11: restart_zebra(); return;
            case 12: feed_some_turns_later(); return;
        }
    }

    Routes wanted() {
        pass(3s);
        return wanted_by(leaf_.engine);
    }
    Routes wanted_by_a_fresh_engine() {
        Leaf fresh(config_, leaf_.kernel);
        for (const auto& [host, port] : ports_) {
            fresh.engine.handle(
                PortRemembered{
                    .bridge = "br0", .mac = mac_of(host), .port = leaf_.kernel.link(port).name},
                fresh.now);
        }
        fresh.start();
        return wanted_by(fresh.engine);
    }
    [[nodiscard]] const Routes& in_zebra() const { return leaf_.zebra; }
    std::size_t route_operations_of_an_hour() { return routes_of(leaf_.run_for(1h)).size(); }

private:
    static KernelFacts facts() {
        KernelFacts kernel = rail();
        (void)kernel.set(routed_port(kSwp9, "swp9"));
        (void)kernel.set_address(kSwp9, prefix("10.9.0.1/24"));
        return kernel;
    }
    static bool bridged(int host) { return host < kHosts / 2; }
    static MacAddress mac_of(int host) { return mac(static_cast<std::uint16_t>(100 + host)); }
    static std::vector<NeighborKey> keys_of(int host) {
        const std::string n = std::to_string(host + 10);
        if (bridged(host)) {
            return {on_br0("10.0.0." + n), on_br0("fd00:0:0:1::" + n)};
        }
        return {{.link = kSwp9, .address = ip("10.9.0." + n)}};
    }
    int pick(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }

    void emit(Input input) {
        pending_.push_back(std::move(input));
        if (pick(3) == 0) {
            feed_some_turns_later();
        }
    }
    void feed_some_turns_later() {
        (void)leaf_.feed(std::exchange(pending_, {}));
        pass(std::chrono::milliseconds(pick(2000)));
    }
    void pass(Duration span) {
        (void)leaf_.feed(std::exchange(pending_, {}));
        (void)leaf_.run_for(span);
        // What was written into the kernel's table to ask is answered.
        for (const auto& [key, neighbor] : leaf_.kernel.neighbors()) {
            if (neighbor.state == Nud::Probe) {
                pending_.push_back(leaf_.kernel.set(key, reachable(neighbor.mac)));
            }
        }
        (void)leaf_.feed(std::exchange(pending_, {}));
    }

    [[nodiscard]] bool is_up(IfIndex link) const {
        const Link& facts = leaf_.kernel.link(link);
        return facts.carrier && facts.admin_up;
    }
    void live(int host) {
        if (bridged(host)) {
            const IfIndex port = ports_.contains(host) ? ports_[host] : kSwp1;
            if (!is_up(port)) {
                return;
            }
            hear(host, port);
        } else if (!is_up(kSwp9)) {
            return;
        }
        constexpr std::array kAlive{Nud::Reachable, Nud::Stale, Nud::Delay, Nud::Permanent};
        for (const NeighborKey& key : keys_of(host)) {
            const auto state = kAlive.at(static_cast<std::size_t>(pick(kAlive.size())));
            emit(leaf_.kernel.set(key, in_state(state, mac_of(host))));
        }
    }
    void die(int host) {
        for (const NeighborKey& key : keys_of(host)) {
            if (leaf_.kernel.neighbors().contains(key)) {
                emit(pick(2) == 0 ? leaf_.kernel.set(key, failed()) : leaf_.kernel.remove(key));
            }
        }
    }
    void hear(int host, IfIndex port) {
        ports_[host] = port;
        emit(leaf_.kernel.learn(in_br0(mac_of(host)), port));
    }
    void move(int host) {
        const IfIndex port = pick(2) == 0 ? kSwp1 : kSwp2;
        if (is_up(port)) {
            hear(host, port);
        }
    }
    void toggle_port(IfIndex port) {
        if (is_up(port)) {
            for (Input& input : leaf_.kernel.cut(without_carrier(leaf_.kernel.link(port)))) {
                emit(std::move(input));
            }
            return;
        }
        emit(leaf_.kernel.set(with_carrier(leaf_.kernel.link(port))));
        for (const auto& [host, last_port] : std::map(ports_)) {
            if (last_port == port) {
                hear(host, port);
            }
        }
    }
    void toggle_link(IfIndex link) {
        const Link& facts = leaf_.kernel.link(link);
        emit(leaf_.kernel.set(is_up(link) ? without_carrier(facts) : with_carrier(facts)));
    }
    void toggle_address(IfIndex link, std::string_view text) {
        const auto key = std::pair(link, std::string(text));
        const bool present = !absent_.contains(key) && (link == kBr0 || added_.contains(key));
        if (present) {
            added_.erase(key);
            absent_.insert(key);
            emit(leaf_.kernel.remove_address(link, prefix(text)));
        } else {
            added_.insert(key);
            absent_.erase(key);
            emit(leaf_.kernel.set_address(link, prefix(text)));
        }
    }
    void reconfigure() {
        config_ = config_of(pick(2) == 0, pick(2) == 0);
        (void)leaf_.feed(ConfigChanged{.config = std::make_shared<const Config>(config_)});
    }
    // Whatever is pending is lost, and the kernel says so.
    void lose() {
        pending_.clear();
        for (const DumpKind kind :
             {DumpKind::Links, DumpKind::Addresses, DumpKind::Neighbors, DumpKind::Fdb}) {
            pending_.emplace_back(EventsLost{.kind = kind});
        }
        feed_some_turns_later();
    }
    void restart_zebra() {
        (void)leaf_.feed(ZapiLost{});
        leaf_.zebra.clear();
        (void)leaf_.feed(ZapiUp{.family = "C"});
    }

    std::mt19937 random_;
    Config config_ = config_of(true, false);
    Leaf leaf_;
    std::vector<Input> pending_;
    std::map<int, IfIndex> ports_;  // Where each bridged host was heard last.
    std::set<std::pair<IfIndex, std::string>> added_;
    std::set<std::pair<IfIndex, std::string>> absent_;
};

TEST(EngineProperty, WantsWhatAFreshEngineWouldWantAndThenIsSilent) {
    for (std::uint32_t seed = 0; seed < 100; ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        World world(seed);
        for (int step = 0; step < 60; ++step) {
            world.anything();
        }

        const Routes wanted = world.wanted();

        ASSERT_EQ(wanted, world.wanted_by_a_fresh_engine());
        ASSERT_EQ(wanted, world.in_zebra());
        if (seed % 10 == 0) {
            ASSERT_EQ(world.route_operations_of_an_hour(), 0U);
        }
    }
}

}  // namespace
}  // namespace planed::test
