// SPDX-License-Identifier: Apache-2.0
#include "bgp/values.hpp"

#include <fmt/format.h>

#include "net/ids.hpp"

namespace planed::bgp {
namespace {

constexpr std::uint16_t kAsAndNumber = 0;
constexpr std::uint16_t kAddressAndNumber = 1;
constexpr std::uint16_t kLongAsAndNumber = 2;

}  // namespace

std::string to_string(RouterId id) {
    const std::uint32_t bits = number(id);
    return fmt::format(
        "{}.{}.{}.{}", bits >> 24U, (bits >> 16U) & 0xFFU, (bits >> 8U) & 0xFFU, bits & 0xFFU);
}

RouterId router_id_of(const IpAddress& v4) {
    constexpr std::size_t kOctets = 4;
    return RouterId{static_cast<std::uint32_t>(big_endian<kOctets>(v4.bytes().data()))};
}

RouteDistinguisher RouteDistinguisher::of(RouterId address, std::uint16_t index) {
    const std::uint64_t word =
        std::uint64_t{kAddressAndNumber} << 48U | std::uint64_t{number(address)} << 16U | index;
    Octets octets{};
    for (std::size_t i = 0; i < kSize; ++i) {
        octets[i] = static_cast<std::uint8_t>(word >> (8 * (kSize - 1 - i)) & 0xFFU);
    }
    return RouteDistinguisher(octets);
}

std::string RouteDistinguisher::to_string() const {
    const std::uint64_t all = word();
    const auto long_part = static_cast<std::uint32_t>(all >> 16U);
    const auto short_part = static_cast<std::uint16_t>(all);
    switch (all >> 48U) {
        case kAsAndNumber:
            return fmt::format("{}:{}", (all >> 32U) & 0xFFFFU, static_cast<std::uint32_t>(all));
        case kAddressAndNumber:
            return fmt::format("{}:{}", bgp::to_string(RouterId{long_part}), short_part);
        case kLongAsAndNumber: return fmt::format("{}:{}", long_part, short_part);
        default: return fmt::format("{:016x}", all);
    }
}

}  // namespace planed::bgp
