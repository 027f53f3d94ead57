// SPDX-License-Identifier: Apache-2.0
// SimKernel: links, their carrier, and linkwatch, which tells of it.
#include <algorithm>
#include <utility>

#include "sim/kernel.hpp"

namespace planed::sim {
namespace {

constexpr Duration kLinkwatchPause = 1s;  // Between two rounds that were not urgent (link_watch.c).
// Within one handler the kernel flushes tables first and tells of the link last.
constexpr Duration kNotifyGap = 20us;

MacAddress mac_of(IfIndex index) {
    const auto low = static_cast<std::uint8_t>(number(index) & 0xFFU);
    return MacAddress({0x02, 0xFE, 0, 0, 0, low});
}

bool is_l3(const Link& link) {
    return !link.bridge_port && link.kind != LinkKind::Vrf;
}

}  // namespace

SimKernel::SimKernel(SimClock& clock, Random& random, Trace& trace, Faults& faults)
    : clock_(clock), random_(random), trace_(trace), faults_(faults) {}

// Building ----------------------------------------------------------------------------------------

IfIndex SimKernel::add_device(Link link) {
    link.index = IfIndex{next_index_++};
    link.mac = mac_of(link.index);
    link.admin_up = true;
    const IfIndex index = link.index;
    names_[link.name] = index;
    Device& added = devices_[index];
    added.link = std::move(link);
    added.changed = clock_.now();
    ++structure_;
    update_carrier(added);
    announce(index, 0us);
    return index;
}

IfIndex SimKernel::add_bridge(const std::string& name, bool vlan_filtering) {
    return add_device({.name = name,
                       .kind = LinkKind::Bridge,
                       .vlan_filtering = vlan_filtering,
                       .default_pvid = VlanId{1}});
}

IfIndex SimKernel::add_port(const std::string& name, const std::string& bridge, LinkKind kind) {
    const IfIndex index = add_device({.name = name, .kind = kind});
    set_master(name, bridge);
    return index;
}

IfIndex SimKernel::add_routed_port(const std::string& name, LinkKind kind) {
    return add_device({.name = name, .kind = kind});
}

IfIndex SimKernel::add_vlan(const std::string& name,
                            const std::string& bridge,
                            std::uint16_t vlan) {
    return add_device({.name = name,
                       .kind = LinkKind::Vlan,
                       .lower = device(bridge).link.index,
                       .vlan = VlanId{vlan}});
}

void SimKernel::add_address(const std::string& link, std::string_view prefix) {
    const IfIndex index = device(link).link.index;
    const IpPrefix address = IpPrefix::parse(prefix).value();
    addresses_.insert({index, address});
    ++structure_;
    link_events.push(AddressSeen{.link = index, .address = address});
}

void SimKernel::remove_address(const std::string& link, std::string_view prefix) {
    const IfIndex index = device(link).link.index;
    const IpPrefix address = IpPrefix::parse(prefix).value();
    addresses_.erase({index, address});
    ++structure_;
    link_events.push(AddressGone{.link = index, .address = address});
}

// What happens to links ---------------------------------------------------------------------------

void SimKernel::set_cable(const std::string& link, bool connected) {
    Device& changed = device(link);
    if (changed.cable != connected) {
        trace_.add(
            [&] { return fmt::format("kernel: cable of {} {}", link, connected ? "in" : "out"); });
        changed.cable = connected;
        update_carrier(changed);
    }
}

void SimKernel::set_admin(const std::string& link, bool up) {
    Device& changed = device(link);
    if (changed.link.admin_up == up) {
        return;
    }
    trace_.add([&] { return fmt::format("kernel: {} set {}", link, up ? "up" : "down"); });
    changed.link.admin_up = up;
    changed.changed = clock_.now();
    if (!up) {
        went_down(changed, true);
    }
    update_carrier(changed);
    update_uppers(changed);
    announce(changed.link.index, kNotifyGap);
}

void SimKernel::rename(const std::string& link, const std::string& name) {
    Device& changed = device(link);
    names_.erase(link);
    names_[name] = changed.link.index;
    changed.link.name = name;
    ++structure_;
    announce(changed.link.index, 0us);
}

void SimKernel::set_master(const std::string& port, const std::string& bridge) {
    Device& changed = device(port);
    const IfIndex before = changed.link.master;
    if (before != IfIndex::None) {
        flush_port(changed.link.index);
    }
    changed.link.master = bridge.empty() ? IfIndex::None : device(bridge).link.index;
    changed.link.bridge_port = !bridge.empty();
    ++structure_;
    for (const IfIndex master : {before, changed.link.master}) {
        const auto found = devices_.find(master);
        if (found != devices_.end()) {
            update_carrier(found->second);
        }
    }
    announce(changed.link.index, kNotifyGap);
}

void SimKernel::delete_link(const std::string& link) {
    Device gone = device(link);
    trace_.add([&] { return fmt::format("kernel: {} deleted", link); });
    std::vector<std::string> uppers;
    for (const auto& [index, candidate] : devices_) {
        if (candidate.link.lower == gone.link.index) {
            uppers.push_back(candidate.link.name);
        }
    }
    for (const std::string& upper : uppers) {
        delete_link(upper);
    }
    for (const IfIndex port : ports_of(gone.link.index)) {
        set_master(devices_.at(port).link.name, "");
    }
    if (gone.link.bridge_port) {
        set_master(link, "");
    }
    device(link).link.admin_up = false;
    went_down(device(link), true);
    for (auto at = addresses_.begin(); at != addresses_.end();) {
        if (at->first != gone.link.index) {
            ++at;
            continue;
        }
        link_events.push(AddressGone{.link = at->first, .address = at->second});
        at = addresses_.erase(at);
    }
    devices_.erase(gone.link.index);
    names_.erase(link);
    deleted_[link] = clock_.now();
    ++structure_;
    link_events.push(LinkGone{.link = gone.link.index});
}

// Carrier -----------------------------------------------------------------------------------------

// A bridge has carrier while one of its ports forwards, a VLAN interface while its bridge has.
void SimKernel::update_carrier(Device& changed) {
    Link& link = changed.link;
    bool carrier = changed.cable;
    if (link.kind == LinkKind::Bridge) {
        const auto ports = ports_of(link.index);
        carrier =
            std::any_of(ports.begin(), ports.end(), [&](IfIndex port) { return is_up(port); });
    } else if (link.kind == LinkKind::Vlan) {
        carrier = is_up(link.lower);
    }
    carrier = carrier && link.admin_up;
    if (carrier == link.carrier) {
        return;
    }
    link.carrier = carrier;
    changed.changed = clock_.now();
    carrier_changed(changed);
}

void SimKernel::carrier_changed(Device& changed) {
    const Link& link = changed.link;
    if (!link.carrier) {
        ++changed.link.carrier_down_count;
        if (link.bridge_port && faults_.fdb_flush_early) {
            flush_port(link.index);
        }
    }
    // linkwatch_urgent_event(): stacked devices, and any that gets its carrier back.
    const bool stacked = link.kind == LinkKind::Veth || link.kind == LinkKind::Vlan;
    watch(link.index, stacked || link.carrier);
}

void SimKernel::watch(IfIndex index, bool urgent) {
    Device& changed = devices_.at(index);
    const bool at_once = urgent || linkwatch_next_ <= clock_.now();
    if (changed.watch_pending && !at_once) {
        return;
    }
    changed.watch_pending = true;
    if (!at_once) {
        clock_.at(linkwatch_next_, [this, index] { linkwatch_round(index); });
        return;
    }
    if (!urgent) {
        linkwatch_next_ = clock_.now() + kLinkwatchPause;
    }
    clock_.after(kNotifyGap, [this, index] { linkwatch_round(index); });
}

void SimKernel::linkwatch_round(IfIndex index) {
    const auto found = devices_.find(index);
    if (found == devices_.end() || !found->second.watch_pending) {
        return;  // An urgent round has dealt with it.
    }
    found->second.watch_pending = false;
    if (linkwatch_next_ <= clock_.now()) {
        linkwatch_next_ = clock_.now() + kLinkwatchPause;
    }
    if (!found->second.link.carrier) {
        went_down(found->second, false);
    }
    update_uppers(found->second);
    announce(index, kNotifyGap);
}

void SimKernel::went_down(Device& changed, bool administratively) {
    const Link& link = changed.link;
    if (link.bridge_port) {
        flush_port(link.index);
    }
    if (!is_l3(link)) {
        return;
    }
    flush_neighbors(link.index, administratively);
    std::erase_if(proxies_, [&](const auto& entry) { return entry.first.link == link.index; });
    for (auto at = fib_.begin(); at != fib_.end();) {
        at = at->second == link.index ? fib_.erase(at) : std::next(at);
    }
}

void SimKernel::update_uppers(const Device& below) {
    const IfIndex index = below.link.index;
    const IfIndex master = below.link.master;
    for (auto& [upper, candidate] : devices_) {
        if (upper == master || candidate.link.lower == index) {
            update_carrier(candidate);
        }
    }
}

void SimKernel::announce(IfIndex index, Duration delay) {
    const auto say = [this, index] {
        const auto found = devices_.find(index);
        if (found != devices_.end()) {
            trace_.add([&] {
                const Link& link = found->second.link;
                return fmt::format(
                    "kernel: newlink {} up={} carrier={}", link.name, link.admin_up, link.carrier);
            });
            link_events.push(LinkSeen{.link = found->second.link});
        }
    };
    if (delay == 0us) {
        say();
    } else {
        clock_.after(delay, say);
    }
}

// The truth ---------------------------------------------------------------------------------------

SimKernel::Device& SimKernel::device(const std::string& name) {
    return devices_.at(names_.at(name));
}

const Link* SimKernel::find(std::string_view name) const {
    const auto found = names_.find(name);
    return found == names_.end() ? nullptr : find(found->second);
}

const Link* SimKernel::find(IfIndex index) const {
    const auto found = devices_.find(index);
    return found == devices_.end() ? nullptr : &found->second.link;
}

bool SimKernel::is_up(IfIndex index) const {
    const Link* link = find(index);
    return link != nullptr && link->admin_up && link->carrier;
}

std::optional<TimePoint> SimKernel::deleted_at(const std::string& name) const {
    const auto found = deleted_.find(name);
    return found == deleted_.end() ? std::nullopt : std::optional(found->second);
}

TimePoint SimKernel::up_since(IfIndex index) const {
    const auto found = devices_.find(index);
    return found == devices_.end() ? clock_.now() : found->second.changed;
}

std::vector<IfIndex> SimKernel::ports_of(IfIndex bridge) const {
    std::vector<IfIndex> ports;
    for (const auto& [index, candidate] : devices_) {
        if (candidate.link.master == bridge && candidate.link.bridge_port) {
            ports.push_back(index);
        }
    }
    return ports;
}

std::pair<IfIndex, VlanId> SimKernel::table_of(IfIndex interface) const {
    const Link* link = find(interface);
    if (link == nullptr || (link->kind != LinkKind::Bridge && link->kind != LinkKind::Vlan)) {
        return {IfIndex::None, VlanId::None};
    }
    if (link->kind == LinkKind::Bridge) {
        return {link->index, link->vlan_filtering ? link->default_pvid : VlanId::None};
    }
    return {link->lower, link->vlan};
}

bool SimKernel::install(const RouteKey& key, IfIndex out) {
    if (!is_up(out)) {
        return false;
    }
    fib_[key] = out;
    return true;
}

}  // namespace planed::sim
