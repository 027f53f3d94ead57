// SPDX-License-Identifier: Apache-2.0
#include "core/uplinks.hpp"

#include <algorithm>

#include "config/match.hpp"

namespace planed {
bool is_uplink(const Config& config, const Link& link) {
    return std::any_of(
        config.uplinks.begin(), config.uplinks.end(), [&](const std::string& pattern) {
            return pattern == link.name || config::glob_matches(pattern, link.name);
        });
}

bool is_isolated(const Config& config, const LinkTable& links) {
    if (config.uplinks.empty()) {
        return false;
    }
    bool any_up = false;
    links.for_each(
        [&](const Link& link) { any_up = any_up || (is_up(link) && is_uplink(config, link)); });
    return !any_up;
}

std::vector<IfIndex> server_ports(const Config& config,
                                  const LinkTable& links,
                                  const ServedInterfaces& served) {
    std::set<IfIndex> ports;
    for (const auto& [index, interface] : served.all()) {
        if (interface.bridge == IfIndex::None) {
            ports.insert(index);
            continue;
        }
        for (const IfIndex member : links.members_of(interface.bridge)) {
            ports.insert(member);
        }
    }
    std::vector<IfIndex> result;
    for (const IfIndex port : ports) {
        const Link* link = links.find(port);
        if (link != nullptr && !is_uplink(config, *link)) {
            result.push_back(port);
        }
    }
    return result;
}

}  // namespace planed
