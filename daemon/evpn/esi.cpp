// SPDX-License-Identifier: Apache-2.0
#include "evpn/esi.hpp"

#include <algorithm>
#include <charconv>
#include <span>

#include <fmt/format.h>

namespace planed::evpn {
namespace {

constexpr std::uint8_t kArbitrary = 0;
constexpr std::uint8_t kLacp = 1;
constexpr std::uint8_t kOfMac = 3;
constexpr std::uint8_t kLastType = 5;

bool is_all(const Esi::Octets& octets, std::uint8_t value) {
    return std::ranges::all_of(octets, [value](std::uint8_t octet) { return octet == value; });
}

bool is_reserved(const Esi::Octets& octets) {
    return is_all(octets, 0x00) || is_all(octets, 0xFF);
}

/// Types 1, 2, 4 and 5 end with an octet of zeros; 0 and 3 use all nine.
bool ends_with_zero(std::uint8_t type) {
    return type != kArbitrary && type != kOfMac;
}

std::optional<Esi::Octets> octets_of(std::string_view text) {
    constexpr std::size_t kTextLength = Esi::kSize * 3 - 1;
    if (text.size() != kTextLength) {
        return std::nullopt;
    }
    Esi::Octets octets{};
    for (std::size_t i = 0; i < octets.size(); ++i) {
        const char* first = text.data() + i * 3;
        const auto [end, error] = std::from_chars(first, first + 2, octets[i], 16);
        const bool separated = i + 1 == octets.size() || first[2] == ':';
        if (error != std::errc{} || end != first + 2 || !separated) {
            return std::nullopt;
        }
    }
    return octets;
}

/// Big-endian, into all of `into`.
void put(std::uint32_t value, std::span<std::uint8_t> into) {
    for (std::size_t i = into.size(); i-- > 0; value >>= 8U) {
        into[i] = static_cast<std::uint8_t>(value & 0xFFU);
    }
}

}  // namespace

std::optional<Esi> Esi::received(const Octets& octets) {
    return is_reserved(octets) ? std::nullopt : std::optional(Esi(octets));
}

Result<Esi> Esi::parse(std::string_view text) {
    const auto octets = octets_of(text);
    if (!octets) {
        return fail(Errc::Invalid,
                    fmt::format("\"{}\" is no ESI: write ten octets, as in "
                                "03:44:38:39:ff:ff:01:00:00:01",
                                text));
    }
    if (is_reserved(*octets)) {
        return fail(Errc::Invalid, fmt::format("ESI {} is reserved and names no segment", text));
    }
    const std::uint8_t type = octets->front();
    if (type > kLastType) {
        return fail_at(
            0,
            Errc::Invalid,
            fmt::format(
                "ESI {}: its first octet is its type, and there is no type {}", text, type));
    }
    if (ends_with_zero(type) && octets->back() != 0) {
        return fail_at(kSize - 1,
                       Errc::Invalid,
                       fmt::format("ESI {}: the last octet of type {} must be 00", text, type));
    }
    return Esi(*octets);
}

std::optional<Esi> Esi::arbitrary(const std::array<std::uint8_t, kSize - 1>& value) {
    Octets octets{kArbitrary};
    std::ranges::copy(value, octets.begin() + 1);
    return received(octets);
}

Esi Esi::lacp(const MacAddress& system, std::uint16_t port_key) {
    Octets octets{kLacp};
    std::ranges::copy(system.bytes(), octets.begin() + 1);
    put(port_key, std::span(octets).subspan(1 + MacAddress::kSize, 2));
    return Esi(octets);
}

std::optional<Esi> Esi::of_mac(const MacAddress& system, std::uint32_t discriminator) {
    constexpr std::uint32_t kLast = 0xFF'FFFF;
    if (discriminator == 0 || discriminator > kLast || system.is_zero()) {
        return std::nullopt;
    }
    Octets octets{kOfMac};
    std::ranges::copy(system.bytes(), octets.begin() + 1);
    put(discriminator, std::span(octets).subspan(1 + MacAddress::kSize, 3));
    return Esi(octets);
}

MacAddress Esi::import_target() const {
    MacAddress::Bytes bytes{};
    std::copy_n(octets_.begin() + 1, bytes.size(), bytes.begin());
    return MacAddress(bytes);
}

std::string Esi::to_string() const {
    return fmt::format("{:02x}", fmt::join(octets_, ":"));
}

}  // namespace planed::evpn
