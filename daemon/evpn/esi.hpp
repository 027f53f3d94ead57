// SPDX-License-Identifier: Apache-2.0
// Ethernet Segment Identifier (RFC 7432 5): the ten octets that name a server's bond on all leaves
// that it is connected to. Never all zeros (single-homed) nor all ones (MAX-ESI): those name no
// segment.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "net/mac_address.hpp"
#include "net/result.hpp"

namespace planed::evpn {

class Esi {
public:
    static constexpr std::size_t kSize = 10;
    using Octets = std::array<std::uint8_t, kSize>;

    /// As a peer sent it: anything but the two reserved values, for peers check no more than that.
    static std::optional<Esi> received(const Octets& octets);
    /// As a person writes it: ten two-digit hex groups joined by ':'. Refuses the reserved values,
    /// types above 5, and a last octet other than 0 where the type says 0 (types 1, 2, 4, 5).
    static Result<Esi> parse(std::string_view text);

    /// Type 0: nine octets of one's own choice, not all zero.
    static std::optional<Esi> arbitrary(const std::array<std::uint8_t, kSize - 1>& value);
    /// Type 1: the server's own LACP system and port key, which all leaves see alike. Changes when
    /// the server rebuilds its bond.
    static Esi lacp(const MacAddress& system, std::uint16_t port_key);
    /// Type 3: a MAC that the leaves share and a number of the segment, 1 to 16777215 (FRR's
    /// es-sys-mac and es-id). Nullopt for other numbers, and for a MAC of zero.
    static std::optional<Esi> of_mac(const MacAddress& system, std::uint32_t discriminator);

    [[nodiscard]] constexpr const Octets& octets() const { return octets_; }
    [[nodiscard]] constexpr std::uint8_t type() const { return octets_[0]; }
    /// What the ES-Import route target carries: octets 1 to 6 (RFC 7432 7.6). Segments of type 3
    /// that share a MAC share it too, so it is a filter and the ESI itself decides.
    [[nodiscard]] MacAddress import_target() const;
    [[nodiscard]] std::string to_string() const;  // "03:44:38:39:ff:ff:01:00:00:01"

    friend constexpr auto operator<=>(const Esi&, const Esi&) = default;
    template <class H>
    friend H AbslHashValue(H state, const Esi& esi) {
        return H::combine(std::move(state), esi.octets_);
    }

private:
    constexpr explicit Esi(const Octets& octets) : octets_(octets) {}

    Octets octets_;
};

}  // namespace planed::evpn
