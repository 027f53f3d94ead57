// SPDX-License-Identifier: Apache-2.0
// Who of a segment's leaves is its designated forwarder for one Ethernet tag: a pure function of
// what all of them have announced, so that all of them come to the same (RFC 7432 8.5, RFC 8584,
// RFC 9785). It does not wait, remember or announce; and here it gates no host route.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "evpn/esi.hpp"
#include "net/ip_address.hpp"

namespace planed::evpn {

/// RFC 8584 2.2, RFC 9785. The numbers are the wire's.
enum class DfAlgorithm : std::uint8_t {
    Modulus = 0,
    Hrw = 1,
    HighestPreference = 2,  // All that FRR and SONiC speak.
    LowestPreference = 3,
};
std::string_view name_of(DfAlgorithm algorithm);  // "highest_preference"

/// What a leaf says of itself in the DF Election community of its type 4 route. Without one, or
/// with more than one, the default of this (RFC 8584 2.2.1).
struct DfOffer {
    static constexpr std::uint16_t kPreferenceDefault = 32767;  // RFC 9785 3
    static constexpr std::uint16_t kDontPreempt = 0x8000;
    static constexpr std::uint16_t kAcInfluenced = 0x4000;

    std::uint8_t algorithm = 0;  // As received: it may be one that we do not know.
    std::uint16_t bitmap = 0;    // Numbered from its most significant bit.
    std::uint16_t preference = 0;
    bool operator==(const DfOffer&) const = default;
};

struct DfCandidate {
    IpAddress originator{};
    DfOffer offer{};
    /// Its routes of type 1 are there: for the segment, and for the tag. Asked for only by AC-DF.
    bool has_segment_route = true;
    bool has_tag_route = true;
    bool operator==(const DfCandidate&) const = default;
};

struct DfElection {
    Esi esi;
    /// VLAN, lowest VLAN of a bundle, or VNI: the same on all leaves, not 0.
    std::uint32_t tag = 0;
    /// One of each originator, ourselves among them, in any order.
    std::vector<DfCandidate> candidates{};
};

struct DfResult {
    std::optional<IpAddress> forwarder{};  // Nobody: there was no candidate, or AC-DF left none.
    std::optional<IpAddress> backup{};     // Who would be it without the forwarder.
    DfAlgorithm algorithm = DfAlgorithm::Modulus;
    bool fell_back = false;      // The leaves disagree, or ask for what we do not know.
    bool ac_influenced = false;  // AC-DF was in force.
    bool operator==(const DfResult&) const = default;
};

/// All must have announced the same algorithm and capabilities, else it is the modulus without any
/// (RFC 8584 2.2.1). Don't-preempt is left out of that comparison: it differs between leaves by
/// design (RFC 9785 4.3).
DfResult elect(const DfElection& election);

/// Originators in the order that all algorithms use: by number, any IPv4 below any IPv6 (RFC 9785).
bool goes_before(const IpAddress& a, const IpAddress& b);

/// The weight of a leaf under HRW (RFC 8584 3.2), 31 bits. Of the address only the low 31 bits
/// count. The CRC is the reflected one of zlib: the RFC names none, and the other one gives other
/// winners, so HRW against another vendor wants a check in the lab.
std::uint32_t hrw_weight(const Esi& esi, std::uint32_t tag, const IpAddress& originator);

/// What a leaf announces when its segment comes (back) up and it is configured not to preempt (RFC
/// 9785 4.3): the preference of the one that leads among `others` with the same mark, and no mark
/// of its own, if that one would keep the segment by preference; else what is configured.
/// `configured` has kDontPreempt and one of the two preference algorithms, else it comes back as it
/// is.
DfOffer offer_on_return(const DfOffer& configured, std::span<const DfCandidate> others);

}  // namespace planed::evpn
