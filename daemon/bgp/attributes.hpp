// SPDX-License-Identifier: Apache-2.0
// Path attributes as values (RFC 4271 5, RFC 4456, RFC 4360, RFC 6514), without the two that carry
// routes: those are in update.hpp with everything that reads and writes.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bgp/communities.hpp"
#include "bgp/values.hpp"
#include "net/ip_address.hpp"

namespace planed::bgp {

/// The types that have a meaning here.
struct AttributeType {
    static constexpr std::uint8_t kOrigin = 1;
    static constexpr std::uint8_t kAsPath = 2;
    static constexpr std::uint8_t kNextHop = 3;
    static constexpr std::uint8_t kMed = 4;
    static constexpr std::uint8_t kLocalPref = 5;
    static constexpr std::uint8_t kAtomicAggregate = 6;
    static constexpr std::uint8_t kAggregator = 7;
    static constexpr std::uint8_t kCommunities = 8;
    static constexpr std::uint8_t kOriginatorId = 9;
    static constexpr std::uint8_t kClusterList = 10;
    static constexpr std::uint8_t kMpReach = 14;
    static constexpr std::uint8_t kMpUnreach = 15;
    static constexpr std::uint8_t kExtendedCommunities = 16;
    static constexpr std::uint8_t kPmsiTunnel = 22;
};
std::string_view name_of_attribute(std::uint8_t type);  // "AS_PATH"; "attribute" if unknown.

struct AttributeFlags {
    static constexpr std::uint8_t kOptional = 0x80;
    static constexpr std::uint8_t kTransitive = 0x40;
    static constexpr std::uint8_t kPartial = 0x20;
    static constexpr std::uint8_t kExtendedLength = 0x10;
};

enum class Origin : std::uint8_t { Igp = 0, Egp = 1, Incomplete = 2 };

struct AsSegment {
    enum class Kind : std::uint8_t { Set = 1, Sequence = 2, ConfedSequence = 3, ConfedSet = 4 };

    Kind kind = Kind::Sequence;
    std::vector<AsNumber> numbers{};  // 1 to 255.
    friend auto operator<=>(const AsSegment&, const AsSegment&) = default;
};

struct PmsiTunnel {
    static constexpr std::uint8_t kIngressReplication = 6;

    std::uint8_t flags = 0;
    std::uint8_t type = kIngressReplication;
    Label label = 0;
    Bytes id{};  // For ingress replication the VTEP's address, 4 or 16 octets.
    friend auto operator<=>(const PmsiTunnel&, const PmsiTunnel&) = default;
};

/// One that is carried and not understood. The extended-length flag follows the value's size.
struct RawAttribute {
    std::uint8_t flags = AttributeFlags::kOptional | AttributeFlags::kTransitive;
    std::uint8_t type = 0;
    Bytes value{};
    friend auto operator<=>(const RawAttribute&, const RawAttribute&) = default;
};

struct Attributes {
    Origin origin = Origin::Igp;
    std::vector<AsSegment> as_path{};     // Four-octet numbers; empty within our own AS.
    std::optional<IpAddress> next_hop{};  // Attribute 3: IPv4, without meaning for EVPN.
    std::optional<std::uint32_t> med{};
    std::optional<std::uint32_t> local_pref{};
    std::optional<RouterId> originator{};
    std::vector<RouterId> clusters{};
    std::vector<ExtendedCommunity> communities{};
    std::optional<PmsiTunnel> pmsi{};
    std::vector<RawAttribute> others{};
    friend auto operator<=>(const Attributes&, const Attributes&) = default;
};

/// The next hop of MP_REACH_NLRI: its family is told by its length alone and is independent of the
/// addresses in the routes. 32 octets: a global and a link-local one (RFC 2545 3).
struct NextHop {
    IpAddress address{};
    std::optional<IpAddress> link_local{};
    friend auto operator<=>(const NextHop&, const NextHop&) = default;
};

/// Everything that routes of one UPDATE have in common.
struct Path {
    NextHop next_hop{};
    Attributes attributes{};
    friend auto operator<=>(const Path&, const Path&) = default;
};

/// "65001 65002", sets as "{1,2}", confederations as "(1 2)" and "[1,2]".
std::string to_string(const std::vector<AsSegment>& as_path);

bool passed_through(const Attributes& attributes, AsNumber as);

}  // namespace planed::bgp
