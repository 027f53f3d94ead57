// SPDX-License-Identifier: Apache-2.0
// Servers behind the leaf's ports: they speak from time to time or only when asked, move, die and
// come back. What they say reaches the kernel only through a port that is up.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "net/ip_address.hpp"
#include "net/mac_address.hpp"
#include "sim/clock.hpp"
#include "sim/kernel.hpp"
#include "sim/random.hpp"
#include "sim/trace.hpp"

namespace planed::sim {

struct SimHost {
    std::string name{};
    MacAddress mac{};
    std::vector<IpAddress> addresses{};
    std::string port{};
    VlanId vlan{};       // As its frames arrive at the bridge; None where that does not filter.
    bool mute = false;   // Nobody here hears what it answers.
    Duration chatter{};  // About so often it speaks by itself; 0 = only when asked.
    bool alive = true;
    TimePoint since{};  // It is where and as it is.
    TimePoint heard{};  // Its last frame that came through.
    std::string heard_on{};
};

class SimHosts {
public:
    SimHosts(SimClock& clock, Random& random, Trace& trace, SimKernel& kernel);

    /// Addresses are separated by commas. The host does not speak yet.
    SimHost& add(std::string_view addresses, const std::string& port, VlanId vlan = VlanId::None);
    SimHost& find(const std::string& name);  // Its first address.
    void speak(SimHost& host, Speech speech = Speech::AsksGateway);
    /// A frame that is neither ARP nor ND.
    void send(SimHost& host);
    void set_chatter(SimHost& host, Duration chatter);
    void die(SimHost& host);
    void revive(SimHost& host);
    void move(SimHost& host, const std::string& port);
    void add_address(SimHost& host, const IpAddress& address);
    void remove_address(SimHost& host, const IpAddress& address);

    /// Answers as a host would, if one is there and the frame gets to it.
    void solicited(const Solicitation& solicitation);
    /// One frame of it comes in by its port, if that is up.
    void hear(SimHost& host, const IpAddress& address, Speech speech);
    /// What a host that was asked does.
    std::function<void(const std::string& host, const IpAddress& address)> answer;

    [[nodiscard]] std::map<std::string, SimHost>& all() { return hosts_; }
    [[nodiscard]] const std::map<std::string, SimHost>& all() const { return hosts_; }
    [[nodiscard]] std::vector<const SimHost*> with(const IpAddress& address) const;
    /// The interface behind which the host lives; None while its port is gone.
    [[nodiscard]] IfIndex interface_of(const SimHost& host) const;
    /// Alive, and nothing between it and the switch is down.
    [[nodiscard]] bool is_reachable(const SimHost& host) const;
    /// Since when nothing has changed about that.
    [[nodiscard]] TimePoint steady_since(const SimHost& host) const;

private:
    void chat(const std::string& name, std::uint64_t serial);

    SimClock& clock_;
    Random& random_;
    Trace& trace_;
    SimKernel& kernel_;
    std::map<std::string, SimHost> hosts_;
    std::map<std::string, std::uint64_t> chats_;
    std::uint64_t next_chat_ = 1;
    std::uint8_t next_mac_ = 1;
};

}  // namespace planed::sim
