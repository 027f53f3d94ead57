// SPDX-License-Identifier: Apache-2.0
#include "zapi/messages.hpp"

namespace planed::zapi {

std::optional<Route> as_route(const RedistributedRoute& seen) {
    if (seen.opaque || seen.next_hops.size() != 1) {
        return std::nullopt;
    }
    const NextHop& hop = seen.next_hops.front();
    const bool gateway_is_host = hop.gateway.has_value();
    if (hop.type == NextHopType::Blackhole || hop.vrf != seen.vrf ||
        (gateway_is_host && hop.gateway != seen.prefix.address())) {
        return std::nullopt;
    }
    return Route{.vrf = seen.vrf,
                 .prefix = seen.prefix,
                 .out = hop.out,
                 .gateway_is_host = gateway_is_host,
                 .distance = seen.distance,
                 .metric = seen.metric,
                 .tag = seen.tag};
}

}  // namespace planed::zapi
