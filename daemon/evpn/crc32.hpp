// SPDX-License-Identifier: Apache-2.0
// CRC-32 as zlib and Ethernet have it: polynomial 0x04C11DB7 reflected, all ones at both ends. Of
// "123456789" it is cbf43926.
#pragma once

#include <cstdint>
#include <span>

namespace planed::evpn {

constexpr std::uint32_t crc32(std::span<const std::uint8_t> bytes) {
    constexpr std::uint32_t kPolynomial = 0xEDB8'8320;
    std::uint32_t crc = 0xFFFF'FFFF;
    for (const std::uint8_t byte : bytes) {
        crc ^= byte;
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? kPolynomial : 0);
        }
    }
    return ~crc;
}

}  // namespace planed::evpn
