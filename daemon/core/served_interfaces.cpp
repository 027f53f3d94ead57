// SPDX-License-Identifier: Apache-2.0
#include "core/served_interfaces.hpp"

#include "config/match.hpp"

namespace planed {
namespace {

VrfId vrf_of(const Link& link, const LinkTable& links) {
    const Link* master = links.find(link.master);
    const bool in_vrf = master != nullptr && master->kind == LinkKind::Vrf;
    return in_vrf ? VrfId{number(master->index)} : VrfId::Default;
}

// A bridge has its hosts in its own table, a VLAN interface on a bridge in that bridge's.
std::pair<IfIndex, VlanId> forwarding_table_of(const Link& link, const LinkTable& links) {
    if (link.kind == LinkKind::Bridge) {
        return {link.index, link.vlan_filtering ? link.default_pvid : VlanId::None};
    }
    const Link* lower = link.kind == LinkKind::Vlan ? links.find(link.lower) : nullptr;
    if (lower != nullptr && lower->kind == LinkKind::Bridge) {
        return {lower->index, lower->vlan_filtering ? link.vlan : VlanId::None};
    }
    return {IfIndex::None, VlanId::None};
}

ServedInterface serve(const InterfaceConfig& config,
                      const Link& link,
                      const LinkTable& links,
                      const AddressTable& addresses) {
    ServedInterface served{.link = link.index,
                           .name = link.name,
                           .vrf = vrf_of(link, links),
                           .up = is_up(link),
                           .config = config};
    const auto [bridge, vlan] = forwarding_table_of(link, links);
    served.bridge = bridge;
    served.vlan = vlan;
    for (const IpPrefix& own : addresses.of(link.index)) {
        if (!own.address().is_link_local()) {
            served.subnets.push_back(own);
        }
    }
    return served;
}

}  // namespace

std::vector<IfIndex> ServedInterfaces::update(const Config& config,
                                              const LinkTable& links,
                                              const AddressTable& addresses) {
    absl::btree_map<IfIndex, ServedInterface> now;
    links.for_each([&](const Link& link) {
        const InterfaceConfig* match = config::interface_for(config, link.name);
        if (match != nullptr) {
            now.emplace(link.index, serve(*match, link, links, addresses));
        }
    });
    std::vector<IfIndex> changed;
    for (const auto& [link, before] : served_) {
        const auto after = now.find(link);
        if (after == now.end() || after->second != before) {
            changed.push_back(link);
        }
    }
    for (const auto& [link, after] : now) {
        if (!served_.contains(link)) {
            changed.push_back(link);
        }
    }
    served_ = std::move(now);
    index();
    return changed;
}

const ServedInterface* ServedInterfaces::find(IfIndex link) const {
    const auto found = served_.find(link);
    return found == served_.end() ? nullptr : &found->second;
}

const std::vector<IfIndex>& ServedInterfaces::on_bridge(IfIndex bridge, VlanId vlan) const {
    static const std::vector<IfIndex> kNone;
    const auto found = by_bridge_.find({bridge, vlan});
    return found == by_bridge_.end() ? kNone : found->second;
}

void ServedInterfaces::index() {
    by_bridge_.clear();
    for (const auto& [link, served] : served_) {
        if (served.bridge != IfIndex::None) {
            by_bridge_[{served.bridge, served.vlan}].push_back(link);
        }
    }
}

}  // namespace planed
