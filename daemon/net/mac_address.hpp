// SPDX-License-Identifier: Apache-2.0
// A 48-bit Ethernet address.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "net/big_endian.hpp"

namespace planed {

class MacAddress {
public:
    static constexpr std::size_t kSize = 6;
    using Bytes = std::array<std::uint8_t, kSize>;

    constexpr MacAddress() = default;
    constexpr explicit MacAddress(const Bytes& bytes) : bytes_(bytes) {}

    /// Six two-digit hex groups joined by ':'; nullopt for anything else.
    static std::optional<MacAddress> parse(std::string_view text);
    /// Nullopt unless exactly six bytes: other link layers (loopback, tunnels) have other lengths.
    static std::optional<MacAddress> from_bytes(std::span<const std::uint8_t> bytes);

    [[nodiscard]] constexpr const Bytes& bytes() const { return bytes_; }
    [[nodiscard]] constexpr bool is_zero() const { return bytes_ == Bytes{}; }
    /// Group bit (IEEE 802): multicast, and broadcast with it.
    [[nodiscard]] constexpr bool is_multicast() const { return (bytes_[0] & 0x01U) != 0; }
    [[nodiscard]] std::string to_string() const;

    friend constexpr bool operator==(const MacAddress& a, const MacAddress& b) {
        return a.word() == b.word();
    }
    friend constexpr std::strong_ordering operator<=>(const MacAddress& a, const MacAddress& b) {
        return a.word() <=> b.word();
    }

    template <class H>
    friend H AbslHashValue(H state, const MacAddress& mac) {
        return H::combine(std::move(state), mac.word());
    }

private:
    [[nodiscard]] constexpr std::uint64_t word() const { return big_endian<kSize>(&bytes_[0]); }

    Bytes bytes_{};
};

}  // namespace planed
