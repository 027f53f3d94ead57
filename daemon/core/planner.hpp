// SPDX-License-Identifier: Apache-2.0
// From an eligible host to the wish for its route: the only place that knows what the route looks
// like.
#pragma once

#include "config/config.hpp"
#include "core/route.hpp"
#include "core/served_interfaces.hpp"

namespace planed {

inline RouteKey route_key(VrfId vrf, const IpAddress& address) {
    return {.vrf = vrf, .prefix = host_prefix(address)};
}

inline HostRoute plan_route(const RoutesConfig& routes, const ServedInterface& served) {
    return {.out = served.link,
            .gateway_is_host = routes.nexthop == NextHopForm::Self,
            .distance = routes.distance,
            .metric = routes.metric,
            .tag = routes.tag};
}

}  // namespace planed
