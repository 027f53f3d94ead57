// SPDX-License-Identifier: Apache-2.0
// An Engine with a kernel and a zebra that answer at once and truthfully, for tests that care about
// one deviation at a time. Time stands still unless the test moves it.
#pragma once

#include <cerrno>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "core/engine.hpp"
#include "support/builders.hpp"
#include "support/kernel_facts.hpp"
#include "support/print.hpp"

namespace planed::test {

/// All outputs of one kind, in order.
template <class What>
std::vector<What> only(const std::vector<Output>& outputs) {
    std::vector<What> found;
    for (const Output& output : outputs) {
        if (const auto* what = std::get_if<What>(&output)) {
            found.push_back(*what);
        }
    }
    return found;
}
inline std::vector<SendRoute> routes_of(const std::vector<Output>& outputs) {
    return only<SendRoute>(outputs);
}
inline std::vector<WriteNeighbor> writes_of(const std::vector<Output>& outputs) {
    return only<WriteNeighbor>(outputs);
}

class Leaf {
public:
    explicit Leaf(Config config, KernelFacts facts = {});
    ~Leaf();
    Leaf(Leaf&&) = delete;

    KernelFacts kernel;
    Engine engine;
    std::map<RouteKey, HostRoute> zebra;
    std::set<RouteKey> plane;  // What bgpd has learned.
    std::map<std::pair<IfIndex, Setting>, std::uint32_t> settings;
    TimePoint now = kStart;

    bool answer_routes = true;
    bool answer_dumps = true;
    bool answer_writes = true;
    std::map<MacAddress, TimePoint> sent;  // When the bridge last saw a frame of it.
    bool answer_deletions = true;
    bool answer_planes = true;

    /// One turn without any answer: what does the engine say to this?
    std::vector<Output> turn(const std::vector<Input>& inputs);
    std::vector<Output> turn(const Input& input);
    /// Turns with answers, until there is nothing more to answer at this instant.
    std::vector<Output> feed(std::vector<Input> inputs);
    std::vector<Output> feed(const Input& input);
    /// Lets time pass as the loop does: sleeps until wake_at(), never turns without progress.
    std::vector<Output> run_for(Duration span);
    /// Everything is read, zebra is there, and a minute of quiet has gone by.
    void start();

private:
    void answer(const Output& output, std::vector<Input>& inputs);
    void answer_route(const SendRoute& send, std::vector<Input>& inputs);
};

// The rail of most tests: one server-facing bridge with two ports, and one uplink
// ------------------

inline constexpr IfIndex kSwp1{1};
inline constexpr IfIndex kSwp2{2};
inline constexpr IfIndex kUp0{5};
inline constexpr IfIndex kBr0{10};

KernelFacts rail();
inline NeighborKey on_br0(std::string_view address) {
    return {.link = kBr0, .address = ip(address)};
}
inline RouteKey route_of(std::string_view address) {
    return announces(address, kBr0).key;
}
inline FdbKey in_br0(MacAddress mac) {
    return {.bridge = kBr0, .vlan = VlanId::None, .mac = mac};
}

/// A leaf that is ready, serves br0 and has one living host, 10.0.0.5 with mac(5) behind swp1.
class RailLeaf : public Leaf {
public:
    explicit RailLeaf(Config config = serving({"br0"}));
};

}  // namespace planed::test
