// SPDX-License-Identifier: Apache-2.0
// Servers with a port on each of two leaves, joined to a bond: a frame goes out by the port that
// its hash says, by the other one if that is down, or by both.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/clock.hpp"
#include "sim/leaf.hpp"
#include "sim/random.hpp"

namespace planed::sim {

struct SimServer {
    std::string name{};  // Its first address; of its hosts on the leaves too.
    MacAddress mac{};
    std::vector<IpAddress> addresses{};
    std::string port{};       // The same on both leaves.
    std::size_t side = 0;     // Where its frames go out.
    bool duplicates = false;  // They go out on both.
    bool alive = true;
    Duration chatter{};
    TimePoint since{};  // It is what and where it is.
    /// The last ARP or ND of an address that came in there.
    std::array<std::map<IpAddress, TimePoint>, 2> heard{};
};

class SimServers {
public:
    using Leaves = std::array<std::unique_ptr<SimLeaf>, 2>;

    SimServers(SimClock& clock, Random& random, Leaves& leaves);

    /// Addresses are separated by commas. It does not speak yet.
    SimServer& add(std::string_view addresses, const std::string& port);
    SimServer& find(const std::string& name) { return servers_.at(name); }
    [[nodiscard]] std::map<std::string, SimServer>& all() { return servers_; }
    [[nodiscard]] const std::map<std::string, SimServer>& all() const { return servers_; }

    void speak(SimServer& server, Speech speech = Speech::AsksGateway);
    /// Frames that are neither ARP nor ND.
    void send(SimServer& server);
    void set_chatter(SimServer& server, Duration chatter);
    void steer(SimServer& server, std::size_t side);
    void die(SimServer& server);
    void revive(SimServer& server);
    void move(SimServer& server, const std::string& port);

    /// Nothing between it and this leaf is down.
    [[nodiscard]] bool is_connected(const SimServer& server, std::size_t side) const;
    /// Since when nothing has changed about it, or about its ports.
    [[nodiscard]] TimePoint steady_since(const SimServer& server) const;

private:
    void say(SimServer& server, const IpAddress& address, Speech speech);
    void chat(const std::string& name, std::uint64_t serial);
    [[nodiscard]] std::vector<std::size_t> ways_out(const SimServer& server) const;

    SimClock& clock_;
    Random& random_;
    Leaves& leaves_;
    std::map<std::string, SimServer> servers_;
    std::map<std::string, std::uint64_t> chats_;
    std::uint64_t next_chat_ = 1;
};

}  // namespace planed::sim
