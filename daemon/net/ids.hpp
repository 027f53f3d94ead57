// SPDX-License-Identifier: Apache-2.0
// Numbers that must not be mixed up, as enum classes: ordered, hashable, free of arithmetic.
#pragma once

#include <cstdint>
#include <type_traits>

namespace planed {

enum class IfIndex : std::uint32_t { None = 0 };   // The kernel's interface index.
enum class VrfId : std::uint32_t { Default = 0 };  // FRR's vrf_id: ifindex of the VRF device, or 0.
enum class VlanId : std::uint16_t { None = 0 };    // 802.1Q VLAN, 1..4094; None = untagged bridge.

template <class Id>
constexpr auto number(Id id) {
    return static_cast<std::underlying_type_t<Id>>(id);
}

}  // namespace planed
