// SPDX-License-Identifier: Apache-2.0
#include "sim/hosts.hpp"

#include <algorithm>
#include <utility>

namespace planed::sim {
namespace {

constexpr Duration kAnswerLeast = 50us;
constexpr Duration kAnswerMost = 1ms;

std::vector<IpAddress> parse_list(std::string_view text) {
    std::vector<IpAddress> addresses;
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        addresses.push_back(IpAddress::parse(text.substr(0, comma)).value());
        text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
    }
    return addresses;
}

bool has(const SimHost& host, const IpAddress& address) {
    return std::find(host.addresses.begin(), host.addresses.end(), address) != host.addresses.end();
}

}  // namespace

SimHosts::SimHosts(SimClock& clock, Random& random, Trace& trace, SimKernel& kernel)
    : clock_(clock), random_(random), trace_(trace), kernel_(kernel) {
    kernel_.solicit = [this](const Solicitation& solicitation) { solicited(solicitation); };
    answer = [this](const std::string& name, const IpAddress& address) {
        SimHost& host = hosts_.at(name);
        if (has(host, address)) {
            hear(host, address, Speech::Answers);
        }
    };
}

SimHost& SimHosts::add(std::string_view addresses, const std::string& port, VlanId vlan) {
    SimHost host{.mac = MacAddress({0x02, 0xAA, 0, 0, 0, next_mac_++}),
                 .addresses = parse_list(addresses),
                 .port = port,
                 .vlan = vlan,
                 .since = clock_.now()};
    host.name = host.addresses.front().to_string();
    return hosts_[host.name] = host;
}

SimHost& SimHosts::find(const std::string& name) {
    return hosts_.at(name);
}

void SimHosts::speak(SimHost& host, Speech speech) {
    for (const IpAddress& address : host.addresses) {
        hear(host, address, speech);
    }
}

void SimHosts::hear(SimHost& host, const IpAddress& address, Speech speech) {
    if (!is_reachable(host)) {
        return;
    }
    host.heard = clock_.now();
    host.heard_on = host.port;
    kernel_.hear(host.port, host.vlan, host.mac, address, speech);
}

void SimHosts::send(SimHost& host) {
    if (is_reachable(host)) {
        kernel_.pass(host.port, host.vlan, host.mac);
    }
}

void SimHosts::set_chatter(SimHost& host, Duration chatter) {
    host.chatter = chatter;
    const std::uint64_t serial = chats_[host.name] = next_chat_++;
    if (chatter > 0us) {
        clock_.after(random_.between(0us, chatter),
                     [this, name = host.name, serial] { chat(name, serial); });
    }
}

void SimHosts::chat(const std::string& name, std::uint64_t serial) {
    if (chats_[name] != serial) {
        return;
    }
    SimHost& host = hosts_.at(name);
    speak(host, random_.percent(50) ? Speech::AsksGateway : Speech::Announces);
    clock_.after(random_.between(host.chatter / 2, host.chatter * 3 / 2),
                 [this, name, serial] { chat(name, serial); });
}

void SimHosts::die(SimHost& host) {
    trace_.add([&] { return "host " + host.name + " dies"; });
    host.alive = false;
    host.since = clock_.now();
}

void SimHosts::revive(SimHost& host) {
    trace_.add([&] { return "host " + host.name + " comes to life"; });
    host.alive = true;
    host.since = clock_.now();
}

void SimHosts::move(SimHost& host, const std::string& port) {
    trace_.add([&] { return "host " + host.name + " moves to " + port; });
    host.port = port;
    host.since = clock_.now();
}

void SimHosts::add_address(SimHost& host, const IpAddress& address) {
    trace_.add([&] { return "host " + host.name + " takes " + address.to_string(); });
    host.addresses.push_back(address);
}

void SimHosts::remove_address(SimHost& host, const IpAddress& address) {
    trace_.add([&] { return "host " + host.name + " drops " + address.to_string(); });
    std::erase(host.addresses, address);
}

void SimHosts::solicited(const Solicitation& solicitation) {
    if (!kernel_.is_up(solicitation.key.link)) {
        return;
    }
    for (auto& [name, host] : hosts_) {
        const bool asked = host.alive && !host.mute && has(host, solicitation.key.address) &&
                           interface_of(host) == solicitation.key.link;
        if (!asked || (!solicitation.to.is_zero() && solicitation.to != host.mac)) {
            continue;
        }
        // A unicast frame goes where the bridge last heard the address, or everywhere.
        const auto [bridge, vlan] = kernel_.table_of(solicitation.key.link);
        const FdbEntry* known =
            kernel_.forwarding({.bridge = bridge, .vlan = vlan, .mac = host.mac});
        const Link* port = kernel_.find(host.port);
        if (!solicitation.to.is_zero() && known != nullptr && known->port != port->index) {
            continue;
        }
        clock_.after(
            random_.between(kAnswerLeast, kAnswerMost),
            [this, who = name, address = solicitation.key.address] { answer(who, address); });
    }
}

std::vector<const SimHost*> SimHosts::with(const IpAddress& address) const {
    std::vector<const SimHost*> found;
    for (const auto& [name, host] : hosts_) {
        if (has(host, address)) {
            found.push_back(&host);
        }
    }
    return found;
}

IfIndex SimHosts::interface_of(const SimHost& host) const {
    const Link* port = kernel_.find(host.port);
    return port == nullptr ? IfIndex::None : kernel_.interface_for(port->index, host.vlan);
}

bool SimHosts::is_reachable(const SimHost& host) const {
    const Link* port = kernel_.find(host.port);
    return host.alive && port != nullptr && kernel_.is_up(port->index) &&
           kernel_.is_up(interface_of(host));
}

TimePoint SimHosts::steady_since(const SimHost& host) const {
    const Link* port = kernel_.find(host.port);
    const TimePoint port_since = port == nullptr ? clock_.now() : kernel_.up_since(port->index);
    return std::max({host.since, port_since, kernel_.up_since(interface_of(host))});
}

}  // namespace planed::sim
