// SPDX-License-Identifier: Apache-2.0
// An address and a length. The address may keep host bits (an interface's own address does);
// `network()` clears them.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "net/ip_address.hpp"

namespace planed {

class IpPrefix {
public:
    constexpr IpPrefix() = default;
    /// Length is cut to the family's 32 or 128.
    constexpr IpPrefix(const IpAddress& address, std::uint8_t length)
        : address_(address), length_(length > address.bits() ? address.bits() : length) {}

    /// "10.0.0.0/16", "fd00::/64"; a bare address is a host prefix. Nullopt for anything else.
    static std::optional<IpPrefix> parse(std::string_view text);

    [[nodiscard]] constexpr const IpAddress& address() const { return address_; }
    [[nodiscard]] constexpr std::uint8_t length() const { return length_; }
    [[nodiscard]] constexpr bool is_host() const { return length_ == address_.bits(); }
    [[nodiscard]] bool contains(const IpAddress& address) const;
    [[nodiscard]] IpPrefix network() const;  // Host bits cleared.
    [[nodiscard]] IpAddress last() const;    // Host bits set.
    /// The all-ones host address of an IPv4 subnet (RFC 919); nullopt for IPv6, and for /31 and /32
    /// (RFC 3021 has none there).
    [[nodiscard]] std::optional<IpAddress> broadcast() const;
    [[nodiscard]] std::string to_string() const;

    constexpr auto operator<=>(const IpPrefix&) const = default;

    template <class H>
    friend H AbslHashValue(H state, const IpPrefix& prefix) {
        return H::combine(std::move(state), prefix.address_, prefix.length_);
    }

private:
    IpAddress address_{};
    std::uint8_t length_ = 0;
};

/// The /32 or /128 that holds exactly this address.
constexpr IpPrefix host_prefix(const IpAddress& address) {
    return {address, address.bits()};
}

}  // namespace planed
