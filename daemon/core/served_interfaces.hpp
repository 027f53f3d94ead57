// SPDX-License-Identifier: Apache-2.0
// The server-facing interfaces: the configuration's names resolved against the links that exist,
// with all that a decision about a host behind one needs. Recomputed as a whole; a pure function of
// its inputs.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <absl/container/btree_map.h>

#include "config/config.hpp"
#include "core/link_table.hpp"
#include "net/ids.hpp"
#include "net/ip_prefix.hpp"

namespace planed {

struct ServedInterface {
    IfIndex link{};
    std::string name{};
    VrfId vrf{};
    bool up = false;   // Administratively up with carrier.
    IfIndex bridge{};  // Itself, or the bridge below its VLAN; None for a routed port.
    VlanId vlan{};     // The forwarding table's VLAN; None where the bridge does not filter.
    std::vector<IpPrefix>
        subnets{};  // Its own addresses, host bits kept, link-local ones left out.
    InterfaceConfig config{};
    bool operator==(const ServedInterface&) const = default;

    /// Where hosts may live: the configured prefixes, else the own subnets.
    [[nodiscard]] const std::vector<IpPrefix>& allowed() const {
        return config.prefixes.empty() ? subnets : config.prefixes;
    }
};

/// Where the forwarding entry of a MAC on this interface is; its bridge is not None.
inline FdbKey fdb_key(const ServedInterface& served, const MacAddress& mac) {
    return {.bridge = served.bridge, .vlan = served.vlan, .mac = mac};
}

class ServedInterfaces {
public:
    /// Returns the links whose service began, ended or changed.
    std::vector<IfIndex> update(const Config& config,
                                const LinkTable& links,
                                const AddressTable& addresses);

    [[nodiscard]] const ServedInterface* find(IfIndex link) const;
    /// The interfaces whose hosts are looked up in this part of a bridge's forwarding table.
    [[nodiscard]] const std::vector<IfIndex>& on_bridge(IfIndex bridge, VlanId vlan) const;
    [[nodiscard]] const absl::btree_map<IfIndex, ServedInterface>& all() const { return served_; }

private:
    void index();

    absl::btree_map<IfIndex, ServedInterface> served_;
    absl::btree_map<std::pair<IfIndex, VlanId>, std::vector<IfIndex>> by_bridge_;
};

}  // namespace planed
