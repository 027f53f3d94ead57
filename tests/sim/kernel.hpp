// SPDX-License-Identifier: Apache-2.0
// The Linux kernel as far as planed can tell it from a real one: links, bridges, neighbours with
// their timers, routes, netlink with its silences. Sources: net/core/neighbour.c, link_watch.c,
// net/bridge/br_fdb.c and br_if.c, net/netlink/af_netlink.c, and measurements on 6.18.
//
// Never decides anything on planed's behalf. It may say things late, and some things not at all.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/input.hpp"
#include "core/output.hpp"
#include "sim/clock.hpp"
#include "sim/event_socket.hpp"
#include "sim/faults.hpp"
#include "sim/random.hpp"
#include "sim/trace.hpp"

namespace planed::sim {

/// An ARP request or neighbour solicitation that the kernel sends on a link.
struct Solicitation {
    NeighborKey key{};
    MacAddress to{};  // Zero: broadcast.
};

/// How a host makes itself heard.
enum class Speech : std::uint8_t {
    Announces,    // Gratuitous: creates an entry only where arp_accept says so.
    AsksGateway,  // Creates an entry, and the kernel's answer makes it use that entry.
    Answers,      // A reply to the kernel's own solicitation.
    AsksAnother,  // A request for another host of the segment, which the kernel does not look at.
};

struct SimNeighbor {
    MacAddress mac{};
    Nud state = Nud::None;
    bool ext_learned = false;
    std::uint8_t protocol = 0;
    TimePoint used{};
    TimePoint confirmed{};
    TimePoint entered{};  // This state.
    unsigned probes = 0;
    std::uint64_t timer = 0;  // The one that counts; older ones find another number.
};

class SimKernel {
public:
    SimKernel(SimClock& clock, Random& random, Trace& trace, Faults& faults);

    // Building. Names are unique; the interface is up, with carrier if it has something below it.
    IfIndex add_bridge(const std::string& name, bool vlan_filtering = false);
    IfIndex add_port(const std::string& name, const std::string& bridge, LinkKind kind);
    IfIndex add_routed_port(const std::string& name, LinkKind kind = LinkKind::Other);
    IfIndex add_vlan(const std::string& name, const std::string& bridge, std::uint16_t vlan);
    void add_address(const std::string& link, std::string_view prefix);
    void remove_address(const std::string& link, std::string_view prefix);

    // What happens to links. carrier_lost and _found are the cable; the rest an operator.
    void set_cable(const std::string& link, bool connected);
    void set_admin(const std::string& link, bool up);
    void rename(const std::string& link, const std::string& name);
    void set_master(const std::string& port, const std::string& bridge);  // Empty: none.
    void delete_link(const std::string& link);

    // Frames. `port` is where one comes in.
    void hear(const std::string& port,
              VlanId vlan,
              const MacAddress& mac,
              const IpAddress& address,
              Speech speech);
    /// Any other frame than ARP or ND.
    void pass(const std::string& port, VlanId vlan, const MacAddress& mac);
    /// The switch itself sends something to this address.
    void use(const NeighborKey& key);
    void add_permanent(const NeighborKey& key, const MacAddress& mac);
    void flush_neighbor(const NeighborKey& key);
    /// One round of the collector with the table over gc_thresh1.
    void collect_garbage();
    /// Somebody writes or removes entries of the proxied neighbours by hand; nobody is told.
    void add_proxy(const NeighborKey& key, std::uint8_t protocol) { proxies_[key] = protocol; }
    void flush_proxies() { proxies_.clear(); }
    std::function<void(const Solicitation&)> solicit = [](const Solicitation&) {};

    // planed's side. Sockets as in io/: links and addresses on one, neighbours and FDB on another.
    EventSocket link_events;
    EventSocket neighbor_events;
    EventSocket frames;   // All packet sockets as one.
    EventSocket answers;  // Dump rows, reads and acknowledgements.
    void open_sockets();
    void close_sockets();
    void start_dump(DumpKind kind);
    void read_links(const ReadLinks& request);
    void write(const Listen& request);
    void write(const WriteNeighbor& request);
    void write(const DeleteNeighbor& request);
    void read(const ReadForwarding& request);
    void write(const WriteForwarding& request);
    void write(const SendProxy& request);
    void write(const ApplySetting& request);
    void write(const SetLinkUp& request);

    // zebra's side. A route goes, without a word, when its interface does.
    bool install(const RouteKey& key, IfIndex out);
    void uninstall(const RouteKey& key) { fib_.erase(key); }
    [[nodiscard]] const std::map<RouteKey, IfIndex>& fib() const { return fib_; }

    // The truth, for the world and its checkers.
    [[nodiscard]] const Link* find(std::string_view name) const;
    [[nodiscard]] const Link* find(IfIndex index) const;
    [[nodiscard]] bool is_up(IfIndex index) const;  // Admin and carrier.
    [[nodiscard]] TimePoint up_since(IfIndex index) const;
    [[nodiscard]] std::optional<TimePoint> deleted_at(const std::string& name) const;
    [[nodiscard]] const SimNeighbor* neighbor(const NeighborKey& key) const;
    [[nodiscard]] const std::map<NeighborKey, SimNeighbor>& neighbors() const { return neighbors_; }
    /// By whom (NDA_PROTOCOL).
    [[nodiscard]] const std::map<NeighborKey, std::uint8_t>& proxies() const { return proxies_; }
    [[nodiscard]] const std::set<std::pair<IfIndex, IpPrefix>>& addresses() const {
        return addresses_;
    }
    [[nodiscard]] const FdbEntry* forwarding(const FdbKey& key) const;
    /// The forwarding table that an interface's hosts are looked up in; None for a routed port.
    [[nodiscard]] std::pair<IfIndex, VlanId> table_of(IfIndex interface) const;
    /// Whose neighbour is it that speaks behind this port; None if nobody's.
    [[nodiscard]] IfIndex interface_for(IfIndex port, VlanId vlan) const;
    [[nodiscard]] std::uint32_t setting(IfIndex link, Setting setting) const;
    /// Writes to what planed must not touch, in words.
    std::vector<std::string> complaints;

private:
    struct Device {
        Link link;
        bool cable = true;
        TimePoint changed{};         // Last change of its being up.
        bool watch_pending = false;  // linkwatch has it queued.
    };
    struct Fdb {
        FdbEntry entry;
        TimePoint heard{};
    };
    enum class Actor : std::uint8_t { Kernel, ControlPlane };
    std::set<IfIndex> listening_;

    // kernel_links.cpp
    Device& device(const std::string& name);
    IfIndex add_device(Link link);
    void update_carrier(Device& device);
    void carrier_changed(Device& device);
    void watch(IfIndex index, bool urgent);
    void linkwatch_round(IfIndex index);
    void went_down(Device& device, bool administratively);
    void announce(IfIndex index, Duration delay);
    void update_uppers(const Device& below);
    [[nodiscard]] std::vector<IfIndex> ports_of(IfIndex bridge) const;

    // kernel_neighbors.cpp
    void learn(IfIndex port, VlanId vlan, const MacAddress& mac);
    void check_age(const FdbKey& key);
    void flush_port(IfIndex port);
    void flush_neighbors(IfIndex link, bool permanent_too);
    void carry_out(const SendProxy& request);
    void update(const NeighborKey& key, const MacAddress& mac, Nud state, Actor actor);
    void enter(const NeighborKey& key, SimNeighbor& entry, Nud state);
    void set_timer(const NeighborKey& key, SimNeighbor& entry, Duration delay);
    void timer_fired(const NeighborKey& key);
    void probe_fired(const NeighborKey& key, SimNeighbor& entry);
    void notify(const NeighborKey& key, const SimNeighbor& entry);
    void remove(const NeighborKey& key);
    [[nodiscard]] bool accepts(const NeighborKey& key, Speech speech) const;
    [[nodiscard]] std::uint32_t set_or(IfIndex link, Setting setting, std::uint32_t preset) const;

    // kernel_requests.cpp
    struct Dump {
        DumpKind kind{};
        std::uint64_t socket = 0;  // Generation of the sockets that asked.
        bool interrupted = false;
        std::size_t rows_left = 0;  // A fault ends it early; 0 = never.
        std::optional<NeighborKey> neighbor{};
        std::optional<FdbKey> forwarding{};
        std::optional<NeighborKey> proxy{};
        std::optional<IfIndex> link{};
        std::optional<std::pair<IfIndex, IpPrefix>> address{};
    };
    void dump_chunk(Dump dump);
    bool dump_row(Dump& dump);
    void answer(Input input);
    void answer(std::uint64_t request,
                std::optional<Error> error,
                std::optional<std::uint32_t> found = std::nullopt);
    void later(std::function<void()> what);

    SimClock& clock_;
    Random& random_;
    Trace& trace_;
    Faults& faults_;

    std::map<IfIndex, Device> devices_;
    std::map<std::string, IfIndex, std::less<>> names_;
    std::map<std::string, TimePoint> deleted_;
    std::set<std::pair<IfIndex, IpPrefix>> addresses_;
    std::map<FdbKey, Fdb> fdb_;
    std::map<NeighborKey, SimNeighbor> neighbors_;
    std::map<NeighborKey, std::uint8_t> proxies_;
    TimePoint proxy_written_{};  // Requests of one socket are carried out in order.
    std::map<std::pair<IfIndex, Setting>, std::uint32_t> settings_;
    std::map<RouteKey, IfIndex> fib_;
    std::uint32_t next_index_ = 1;
    std::uint64_t next_timer_ = 1;
    std::uint64_t sockets_ = 0;
    std::uint64_t structure_ = 0;  // Counts changes that interrupt a dump of links or addresses.
    TimePoint linkwatch_next_{};
};

}  // namespace planed::sim
