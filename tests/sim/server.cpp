// SPDX-License-Identifier: Apache-2.0
#include "sim/server.hpp"

#include <algorithm>

namespace planed::sim {

SimServers::SimServers(SimClock& clock, Random& random, Leaves& leaves)
    : clock_(clock), random_(random), leaves_(leaves) {
    for (const auto& leaf : leaves_) {
        // Whoever asks, the answer takes the way that the hash says.
        leaf->hosts.answer = [this, &hosts = leaf->hosts](const std::string& name,
                                                          const IpAddress& address) {
            if (hosts.is_reachable(hosts.find(name))) {
                say(servers_.at(name), address, Speech::Answers);
            }
        };
    }
}

SimServer& SimServers::add(std::string_view addresses, const std::string& port) {
    SimServer server{.port = port, .since = clock_.now()};
    for (const auto& leaf : leaves_) {
        const SimHost& host = leaf->hosts.add(addresses, port);
        server.name = host.name;
        server.mac = host.mac;
        server.addresses = host.addresses;
    }
    return servers_[server.name] = server;
}

// What it says ------------------------------------------------------------------------------------

std::vector<std::size_t> SimServers::ways_out(const SimServer& server) const {
    std::vector<std::size_t> ways;
    for (const std::size_t side : {server.side, 1 - server.side}) {
        if (is_connected(server, side) && (ways.empty() || server.duplicates)) {
            ways.push_back(side);
        }
    }
    return ways;
}

void SimServers::say(SimServer& server, const IpAddress& address, Speech speech) {
    for (const std::size_t side : ways_out(server)) {
        server.heard.at(side)[address] = clock_.now();
        SimHosts& hosts = leaves_.at(side)->hosts;
        hosts.hear(hosts.find(server.name), address, speech);
    }
}

void SimServers::speak(SimServer& server, Speech speech) {
    if (server.alive) {
        for (const IpAddress& address : server.addresses) {
            say(server, address, speech);
        }
    }
}

void SimServers::send(SimServer& server) {
    if (server.alive) {
        for (const std::size_t side : ways_out(server)) {
            SimHosts& hosts = leaves_.at(side)->hosts;
            hosts.send(hosts.find(server.name));
        }
    }
}

void SimServers::set_chatter(SimServer& server, Duration chatter) {
    server.chatter = chatter;
    const std::uint64_t serial = chats_[server.name] = next_chat_++;
    if (chatter > 0us) {
        clock_.after(random_.between(0us, chatter),
                     [this, name = server.name, serial] { chat(name, serial); });
    }
}

void SimServers::chat(const std::string& name, std::uint64_t serial) {
    if (chats_[name] != serial) {
        return;
    }
    SimServer& server = servers_.at(name);
    speak(server, random_.percent(50) ? Speech::AsksGateway : Speech::Announces);
    clock_.after(random_.between(server.chatter / 2, server.chatter * 3 / 2),
                 [this, name, serial] { chat(name, serial); });
}

// What becomes of it ------------------------------------------------------------------------------

void SimServers::steer(SimServer& server, std::size_t side) {
    server.side = side;
    server.since = clock_.now();
}

void SimServers::die(SimServer& server) {
    for (const auto& leaf : leaves_) {
        leaf->hosts.die(leaf->hosts.find(server.name));
    }
    server.alive = false;
    server.since = clock_.now();
}

void SimServers::revive(SimServer& server) {
    for (const auto& leaf : leaves_) {
        leaf->hosts.revive(leaf->hosts.find(server.name));
    }
    server.alive = true;
    server.since = clock_.now();
}

void SimServers::move(SimServer& server, const std::string& port) {
    for (const auto& leaf : leaves_) {
        leaf->hosts.move(leaf->hosts.find(server.name), port);
    }
    server.port = port;
    server.since = clock_.now();
}

// Truth -------------------------------------------------------------------------------------------

bool SimServers::is_connected(const SimServer& server, std::size_t side) const {
    const SimLeaf& leaf = *leaves_.at(side);
    const Link* port = leaf.kernel.find(server.port);
    return port != nullptr && leaf.kernel.is_up(port->index) &&
           leaf.kernel.is_up(leaf.kernel.interface_for(port->index, VlanId::None));
}

TimePoint SimServers::steady_since(const SimServer& server) const {
    TimePoint since = server.since;
    for (const auto& leaf : leaves_) {
        since = std::max(since, leaf->hosts.steady_since(leaf->hosts.find(server.name)));
    }
    return since;
}

}  // namespace planed::sim
