// SPDX-License-Identifier: Apache-2.0
#include "sim/leaf.hpp"

#include <memory>

#include <fmt/format.h>

namespace planed::sim {
namespace {

RouteKey key_of(std::string_view address) {
    return {.prefix = host_prefix(IpAddress::parse(address).value())};
}

}  // namespace

SimLeaf::SimLeaf(SimClock& clock, Random& random, Trace& trace)
    : kernel(clock, random, trace, faults),
      zebra(clock, random, trace, faults, kernel),
      planed(clock, random, trace, faults, kernel, zebra),
      hosts(clock, random, trace, kernel) {
    planed.config = std::make_shared<const Config>(leaf_config());
}

Config SimLeaf::leaf_config() {
    Config config;
    for (const char* name : {"br0", "Vlan100", "swp30"}) {
        config.interfaces.push_back({.name = name});
    }
    return config;
}

void SimLeaf::add_br0() {
    kernel.add_bridge("br0");
    for (int i = 1; i <= 8; ++i) {
        kernel.add_port(fmt::format("swp{}", i), "br0", i <= 6 ? LinkKind::Other : LinkKind::Veth);
    }
    kernel.add_address("br0", "10.0.0.1/16");
    kernel.add_address("br0", "fd00::1/64");
}

void SimLeaf::build_leaf() {
    kernel.add_routed_port("mgmt0");
    kernel.add_address("mgmt0", "192.0.2.1/24");
    add_br0();
    kernel.add_bridge("brv", true);
    kernel.add_port("swp20", "brv", LinkKind::Other);
    kernel.add_port("swp21", "brv", LinkKind::Other);
    kernel.add_vlan("Vlan100", "brv", 100);
    kernel.add_address("Vlan100", "10.100.0.1/16");
    kernel.add_routed_port("swp30");
    kernel.add_address("swp30", "10.30.0.1/24");
}

std::vector<std::string> SimLeaf::routes() const {
    std::vector<std::string> prefixes;
    for (const auto& [key, route] : zebra.selected()) {
        if (route.tag == kTag) {
            prefixes.push_back(key.prefix.to_string());
        }
    }
    return prefixes;
}

bool SimLeaf::has_route(std::string_view address) const {
    const auto selected = zebra.selected();
    const auto found = selected.find(key_of(address));
    return found != selected.end() && found->second.tag == kTag;
}

bool SimLeaf::in_fib(std::string_view address) const {
    return kernel.fib().contains(key_of(address));
}

}  // namespace planed::sim
