// SPDX-License-Identifier: Apache-2.0
// The wish that everything is about: one host's /32 or /128 in zebra.
#pragma once

#include <compare>
#include <cstdint>
#include <utility>

#include "net/ids.hpp"
#include "net/ip_prefix.hpp"

namespace planed {

struct RouteKey {
    VrfId vrf{};
    IpPrefix prefix{};
    auto operator<=>(const RouteKey&) const = default;

    template <class H>
    friend H AbslHashValue(H state, const RouteKey& key) {
        return H::combine(std::move(state), key.vrf, key.prefix);
    }
};

/// Next hop: the interface alone, or (gateway_is_host) the host itself on that interface, onlink.
struct HostRoute {
    IfIndex out{};
    bool gateway_is_host = false;
    std::uint8_t distance = 0;  // Administrative distance in zebra.
    std::uint32_t metric = 0;
    std::uint32_t tag = 0;
    bool operator==(const HostRoute&) const = default;
};

}  // namespace planed
