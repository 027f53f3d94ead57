// SPDX-License-Identifier: Apache-2.0
#include "packet/checksum.hpp"

#include <cstddef>

namespace planed::packet {
namespace {

constexpr std::uint64_t kIcmpv6 = 58;

// 64 bits hold the sum of any message that a frame can carry.
std::uint64_t sum_of(std::span<const std::uint8_t> bytes) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        sum += i % 2 == 0 ? std::uint64_t{bytes[i]} << 8U : bytes[i];
    }
    return sum;
}

}  // namespace

std::uint16_t icmpv6_checksum(const IpAddress& source,
                              const IpAddress& destination,
                              std::span<const std::uint8_t> message) {
    std::uint64_t sum = sum_of(source.bytes()) + sum_of(destination.bytes()) + message.size() +
                        kIcmpv6 + sum_of(message);
    while (sum > 0xFFFFU) {
        sum = (sum & 0xFFFFU) + (sum >> 16U);
    }
    return static_cast<std::uint16_t>(~sum & 0xFFFFU);
}

}  // namespace planed::packet
