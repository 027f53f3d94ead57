// SPDX-License-Identifier: Apache-2.0
// OPEN and its capabilities (RFC 4271 4.2, RFC 5492): bytes and values. Whether the peer is the one
// that is meant, and what both sides have in common, is the session's affair.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bgp/message.hpp"
#include "bgp/values.hpp"

namespace planed::bgp {

struct AddressFamily {
    std::uint16_t afi = kAfiL2vpn;
    std::uint8_t safi = kSafiEvpn;
    bool operator==(const AddressFamily&) const = default;
};

/// Capability 64 (RFC 4724; notifications: RFC 8538).
struct GracefulRestart {
    static constexpr std::uint16_t kSecondsMax = 0xFFF;

    struct Kept {
        AddressFamily family{};
        bool forwarding = false;  // F: what it had installed has survived the restart.
        bool operator==(const Kept&) const = default;
    };
    bool restarting = false;     // R
    bool notifications = false;  // N
    std::uint16_t seconds = 0;  // Until its routes are stale no more, after the connection is lost.
    std::vector<Kept> kept{};
    bool operator==(const GracefulRestart&) const = default;
};

struct RawCapability {
    std::uint8_t code = 0;
    Bytes value{};
    bool operator==(const RawCapability&) const = default;
};

struct Capabilities {
    std::vector<AddressFamily> families{};    // 1 (RFC 4760)
    bool route_refresh = false;               // 2 (RFC 2918)
    bool enhanced_route_refresh = false;      // 70 (RFC 7313)
    bool extended_message = false;            // 6 (RFC 8654)
    std::optional<AsNumber> four_octet_as{};  // 65 (RFC 6793)
    std::optional<GracefulRestart> graceful_restart{};
    std::vector<RawCapability> others{};  // As they came: not ours to judge.
    bool operator==(const Capabilities&) const = default;

    [[nodiscard]] bool has(const AddressFamily& family) const;
};

struct Open {
    AsNumber as{};  // The four-octet one where the capability is there.
    std::uint16_t hold_seconds = 0;
    RouterId id = RouterId::None;
    Capabilities capabilities{};
    bool operator==(const Open&) const = default;
};

/// The two-octet field is kAsTrans where `as` does not fit; each capability is a parameter of its
/// own, which is what FRR does and every peer reads.
void encode_open(const Open& open, Bytes& out);

/// Refused: a version other than 4, a hold time of 1 or 2 s, identifier 0, parameters that are no
/// capabilities, and lengths that do not add up.
Decoded<Open> decode_open(std::span<const std::uint8_t> body);

}  // namespace planed::bgp
