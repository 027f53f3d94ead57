// SPDX-License-Identifier: Apache-2.0
// Bytes in network order as a number that compares as they do.
#pragma once

#include <cstddef>
#include <cstdint>

namespace planed {

/// The first `Size` bytes, at most eight; the compiler makes one load and one byte swap of it.
template <std::size_t Size>
constexpr std::uint64_t big_endian(const std::uint8_t* bytes) {
    static_assert(Size <= sizeof(std::uint64_t));
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < Size; ++i) {
        value = (value << 8U) | bytes[i];
    }
    return value;
}

}  // namespace planed
