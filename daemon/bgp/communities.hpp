// SPDX-License-Identifier: Apache-2.0
// Extended communities (RFC 4360): eight octets, type u8, sub-type u8, value. Those that EVPN uses
// have a builder and a reader here; all others are carried as they came, for an unknown one is
// never an error.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "bgp/values.hpp"
#include "net/big_endian.hpp"
#include "net/mac_address.hpp"

namespace planed::bgp {

class ExtendedCommunity {
public:
    static constexpr std::size_t kSize = 8;
    using Octets = std::array<std::uint8_t, kSize>;

    constexpr ExtendedCommunity() = default;
    constexpr explicit ExtendedCommunity(const Octets& octets) : octets_(octets) {}
    /// From 64 bits, the type highest.
    static ExtendedCommunity of(std::uint64_t word);

    [[nodiscard]] constexpr const Octets& octets() const { return octets_; }
    [[nodiscard]] constexpr std::uint64_t word() const { return big_endian<kSize>(&octets_[0]); }
    /// Type and sub-type.
    [[nodiscard]] constexpr std::uint16_t kind() const {
        return static_cast<std::uint16_t>(word() >> 48U);
    }
    [[nodiscard]] constexpr bool is_transitive() const { return (octets_[0] & 0x40U) == 0; }

    friend constexpr bool operator==(const ExtendedCommunity& a, const ExtendedCommunity& b) {
        return a.word() == b.word();
    }
    friend constexpr std::strong_ordering operator<=>(const ExtendedCommunity& a,
                                                      const ExtendedCommunity& b) {
        return a.word() <=> b.word();
    }

private:
    Octets octets_{};
};

/// "RT:65000:100", "encapsulation:8", "df:alg 2 bitmap 0x0000 preference 200"; hex if unknown.
std::string to_string(const ExtendedCommunity& community);

// Each reader gives nullopt for a community of another kind. RFC and sub-type stand with each.

/// 00/02 (two-octet AS, RFC 4360 3.1 and 4) and 02/02 (four-octet, RFC 5668). An AS above 65535
/// makes the latter, with the low 16 bits of the number.
ExtendedCommunity route_target(AsNumber as, std::uint32_t value);
/// 01/02.
ExtendedCommunity route_target(RouterId address, std::uint16_t value);
bool is_route_target(const ExtendedCommunity& community);

/// 03/0c (RFC 9012 4.1).
enum class Encapsulation : std::uint16_t { Vxlan = 8, Nvgre = 9, Mpls = 10 };
ExtendedCommunity encapsulation(Encapsulation tunnel);
std::optional<std::uint16_t> as_encapsulation(const ExtendedCommunity& community);

/// 03/0d (RFC 7432 7.8).
ExtendedCommunity default_gateway();
bool is_default_gateway(const ExtendedCommunity& community);

/// 06/00 (RFC 7432 7.7). The sequence belongs to the MAC.
struct MacMobility {
    bool is_static = false;
    std::uint32_t sequence = 0;
    bool operator==(const MacMobility&) const = default;
};
ExtendedCommunity mac_mobility(const MacMobility& mobility);
std::optional<MacMobility> as_mac_mobility(const ExtendedCommunity& community);

/// 06/01 (RFC 7432 7.5; split_horizon: RFC 9746). With VXLAN label and split_horizon are 0.
struct EsiLabel {
    bool single_active = false;
    std::uint8_t split_horizon = 0;  // 0..3: default, local bias, ESI label, reserved.
    Label label = 0;
    bool operator==(const EsiLabel&) const = default;
};
ExtendedCommunity esi_label(const EsiLabel& esi_label);
std::optional<EsiLabel> as_esi_label(const ExtendedCommunity& community);

/// 06/02 (RFC 7432 7.6): octets 1 to 6 of the ESI. A filter only: compare the ten octets as well.
ExtendedCommunity es_import(const EsiBytes& esi);
std::optional<MacAddress> as_es_import(const ExtendedCommunity& community);

/// 06/03 (RFC 9135 8.1).
ExtendedCommunity router_mac(const MacAddress& mac);
std::optional<MacAddress> as_router_mac(const ExtendedCommunity& community);

/// 06/04 (RFC 8214 3.1).
struct Layer2Attributes {
    bool primary = false;  // 0x0002. FRR's names for the lowest two bits are the other way round.
    bool backup = false;   // 0x0001
    bool control_word = false;  // 0x0004
    bool flow_label = false;    // 0x0008
    std::uint16_t mtu = 0;      // 0: not to be compared.
    bool operator==(const Layer2Attributes&) const = default;
};
ExtendedCommunity layer2_attributes(const Layer2Attributes& attributes);
std::optional<Layer2Attributes> as_layer2_attributes(const ExtendedCommunity& community);

/// 06/06 (RFC 8584 2.2, RFC 9785). The bitmap is numbered from its most significant bit.
struct DfElection {
    static constexpr std::uint16_t kDontPreempt = 0x8000;   // RFC 9785
    static constexpr std::uint16_t kAcInfluenced = 0x4000;  // AC-DF, RFC 8584
    static constexpr std::uint16_t kTimeSynchronized = 0x1000;
    static constexpr std::uint16_t kPortMode = 0x0400;

    std::uint8_t algorithm = 0;  // Five bits: 0 modulus, 1 HRW, 2 highest, 3 lowest preference.
    std::uint16_t bitmap = 0;
    std::uint16_t preference = 0;
    bool operator==(const DfElection&) const = default;
};
ExtendedCommunity df_election(const DfElection& election);
std::optional<DfElection> as_df_election(const ExtendedCommunity& community);

/// 06/08 (RFC 9047; proxy: draft-rbickhart-evpn-ip-mac-proxy-adv, which FRR sends and reads).
struct ArpNd {
    bool router = false;     // 0x01, IPv6
    bool overrides = false;  // 0x02, IPv6; without the community: true.
    bool proxy = false;      // 0x04: second-hand, the sender has it from another leaf.
    bool immutable = false;  // 0x08
    bool operator==(const ArpNd&) const = default;
};
ExtendedCommunity arp_nd(const ArpNd& flags);
std::optional<ArpNd> as_arp_nd(const ExtendedCommunity& community);

/// 06/0f (RFC 9722): NTP seconds, and the high 16 bits of its fraction.
struct ServiceCarvingTime {
    std::uint32_t seconds = 0;
    std::uint16_t fraction = 0;
    bool operator==(const ServiceCarvingTime&) const = default;
};
ExtendedCommunity service_carving_time(const ServiceCarvingTime& time);
std::optional<ServiceCarvingTime> as_service_carving_time(const ExtendedCommunity& community);

/// 40/04 and, transitive, 00/04 (RFC 10005). In octets a second, as IEEE-754 binary32 on the wire;
/// zero is legal.
struct LinkBandwidth {
    bool transitive = false;
    std::uint16_t as = 0;
    float octets_per_second = 0;
    bool operator==(const LinkBandwidth&) const = default;
};
ExtendedCommunity link_bandwidth(const LinkBandwidth& bandwidth);
/// Nullopt also for what is no number, negative or infinite.
std::optional<LinkBandwidth> as_link_bandwidth(const ExtendedCommunity& community);

/// Where only one counts (RFC 9047 3.1, RFC 9135 8.1): what `reader` makes of the first that it
/// reads.
template <class T>
std::optional<T> first_of(std::span<const ExtendedCommunity> communities,
                          std::optional<T> (*reader)(const ExtendedCommunity&)) {
    for (const ExtendedCommunity& community : communities) {
        if (auto value = reader(community)) {
            return value;
        }
    }
    return std::nullopt;
}

/// None, or more than one, is the default algorithm without capabilities (RFC 8584 2.2.1).
DfElection df_election_of(std::span<const ExtendedCommunity> communities);

}  // namespace planed::bgp
