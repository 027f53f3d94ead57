// SPDX-License-Identifier: Apache-2.0
#include <bitset>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "bgp/update.hpp"
#include "net/byte_reader.hpp"

namespace planed::bgp {
namespace {

constexpr std::size_t kU32 = 4;

/// One attribute, its places counted from the message's beginning.
struct Attribute {
    std::uint8_t flags = 0;
    std::uint8_t type = 0;
    std::size_t at = 0;
    std::size_t value_at = 0;
    std::span<const std::uint8_t> value{};
    std::span<const std::uint8_t> whole{};
};

bool carries_routes(const Attribute& attribute) {
    return attribute.type == AttributeType::kMpReach || attribute.type == AttributeType::kMpUnreach;
}

std::string described(const Attribute& attribute, std::string_view what, std::size_t at) {
    const std::string_view name = name_of_attribute(attribute.type);
    const std::string number =
        name == "attribute" ? fmt::format(" {}", attribute.type) : std::string();
    return fmt::format("UPDATE: {}{}: {} (byte {})", name, number, what, at);
}

std::string hex(std::span<const std::uint8_t> bytes) {
    constexpr std::size_t kShown = 64;
    const bool all = bytes.size() <= kShown;
    return fmt::format(
        "{:02x}{}", fmt::join(all ? bytes : bytes.first(kShown), ""), all ? "" : "...");
}

/// The Optional and Transitive flags that a type must have; 0: not one of ours, any.
std::uint8_t flags_of(std::uint8_t type) {
    switch (type) {
        case AttributeType::kOrigin:
        case AttributeType::kAsPath:
        case AttributeType::kNextHop:
        case AttributeType::kLocalPref:
        case AttributeType::kAtomicAggregate: return AttributeFlags::kTransitive;
        case AttributeType::kMed:
        case AttributeType::kOriginatorId:
        case AttributeType::kClusterList:
        case AttributeType::kMpReach:
        case AttributeType::kMpUnreach: return AttributeFlags::kOptional;
        case AttributeType::kAggregator:
        case AttributeType::kCommunities:
        case AttributeType::kExtendedCommunities:
        case AttributeType::kPmsiTunnel:
            return AttributeFlags::kOptional | AttributeFlags::kTransitive;
        default: return 0;
    }
}

tl::unexpected<ProtocolError> reset(std::uint8_t subcode,
                                    std::span<const std::uint8_t> data,
                                    std::size_t at,
                                    std::string text) {
    return tl::unexpected(
        ProtocolError{.notification = {.code = Notification::kUpdate,
                                       .subcode = subcode,
                                       .data = Bytes(data.begin(), data.end())},
                      .error = {.code = Errc::Malformed, .text = std::move(text), .offset = at}});
}

tl::unexpected<ProtocolError> reset(std::uint8_t subcode,
                                    const Attribute& attribute,
                                    std::size_t at,
                                    std::string_view what) {
    return reset(subcode, attribute.whole, at, described(attribute, what, at));
}

class UpdateReader {
public:
    explicit UpdateReader(PeerKind peer) : peer_(peer) {}

    Decoded<Update> read(std::span<const std::uint8_t> body);

private:
    Decoded<void> read_attributes(std::span<const std::uint8_t> bytes, std::size_t at);
    Decoded<void> read_attribute(const Attribute& attribute);
    Decoded<void> read_unknown(const Attribute& attribute);
    Decoded<void> read_reach(const Attribute& attribute);
    Decoded<void> read_unreach(const Attribute& attribute);
    template <class Take>
    Decoded<void> read_routes(const Attribute& attribute, ByteReader& in, Take take);

    void read_plain(const Attribute& attribute);
    void read_origin(const Attribute& attribute);
    void read_as_path(const Attribute& attribute);
    void read_next_hop(const Attribute& attribute);
    void read_originator(const Attribute& attribute);
    void read_clusters(const Attribute& attribute);
    void read_communities(const Attribute& attribute);
    void read_pmsi(const Attribute& attribute);
    std::optional<std::uint32_t> read_u32(const Attribute& attribute);
    void keep(const Attribute& attribute);

    void require(std::uint8_t type);
    Decoded<Update> finish();

    void treat_as_withdraw(std::uint8_t subcode, const Attribute& attribute, std::string_view what);
    void note(Fault::Kind kind, std::size_t at, std::string text);
    void discard(const Attribute& attribute, std::string_view what);

    [[nodiscard]] Attributes& attributes() { return update_.path.attributes; }

    PeerKind peer_;
    Update update_;
    std::bitset<256> seen_;
    std::size_t reach_octets_ = 0;  // Of routes said to be reachable, of whatever family.
    bool ipv4_fields_ = false;
    std::optional<ProtocolError> worst_;  // What treat-as-withdraw would be without any route.
};

void UpdateReader::note(Fault::Kind kind, std::size_t at, std::string text) {
    update_.faults.push_back(
        {.kind = kind, .error = {.code = Errc::Malformed, .text = std::move(text), .offset = at}});
}

void UpdateReader::treat_as_withdraw(std::uint8_t subcode,
                                     const Attribute& attribute,
                                     std::string_view what) {
    note(Fault::Kind::TreatAsWithdraw, attribute.at, described(attribute, what, attribute.at));
    if (!worst_) {
        worst_ = reset(subcode, attribute, attribute.at, what).value();
    }
}

void UpdateReader::discard(const Attribute& attribute, std::string_view what) {
    note(Fault::Kind::AttributeDiscarded, attribute.at, described(attribute, what, attribute.at));
}

Decoded<Update> UpdateReader::read(std::span<const std::uint8_t> body) {
    ByteReader in(body);
    const std::uint16_t withdrawn = in.u16();
    in.skip(withdrawn);
    const std::uint16_t length = in.u16();
    const std::size_t at = kHeaderSize + in.offset();
    const auto bytes = in.take(length);
    if (!in.ok()) {
        return reset(Notification::kMalformedAttributes,
                     {},
                     kHeaderSize,
                     fmt::format("UPDATE: {} octets of withdrawn routes and {} of attributes are "
                                 "more than there are (byte {})",
                                 withdrawn,
                                 length,
                                 kHeaderSize));
    }
    ipv4_fields_ = withdrawn != 0 || in.remaining() != 0;
    if (ipv4_fields_) {
        note(Fault::Kind::FamilyIgnored,
             kHeaderSize,
             fmt::format("UPDATE: {} octets of IPv4 routes withdrawn, {} reachable (byte {})",
                         withdrawn,
                         in.remaining(),
                         kHeaderSize));
    }
    reach_octets_ += in.remaining();
    if (const auto read = read_attributes(bytes, at); !read) {
        return tl::unexpected(read.error());
    }
    return finish();
}

Decoded<void> UpdateReader::read_attributes(std::span<const std::uint8_t> bytes, std::size_t at) {
    ByteReader in(bytes);
    while (in.remaining() != 0) {
        Attribute attribute;
        const std::size_t begin = in.offset();
        attribute.at = at + begin;
        attribute.flags = in.u8();
        attribute.type = in.u8();
        const bool is_long = (attribute.flags & AttributeFlags::kExtendedLength) != 0;
        const std::size_t length = is_long ? in.u16() : in.u8();
        attribute.value_at = at + in.offset();
        attribute.value = in.take(length);
        if (!in.ok()) {
            attribute.whole = bytes.subspan(begin);
            const bool routes_are_known =
                seen_[AttributeType::kMpReach] || seen_[AttributeType::kMpUnreach];
            if (!routes_are_known || carries_routes(attribute)) {
                return reset(Notification::kMalformedAttributes,
                             {},
                             attribute.at,
                             described(attribute, "runs past the end", attribute.at));
            }
            treat_as_withdraw(Notification::kMalformedAttributes, attribute, "runs past the end");
            return {};
        }
        attribute.whole = bytes.subspan(begin, in.offset() - begin);
        if (const auto read = read_attribute(attribute); !read) {
            return read;
        }
    }
    return {};
}

Decoded<void> UpdateReader::read_attribute(const Attribute& attribute) {
    if (seen_[attribute.type]) {
        if (carries_routes(attribute)) {
            return reset(
                Notification::kMalformedAttributes, attribute, attribute.at, "is there twice");
        }
        discard(attribute, "is there again");
        return {};
    }
    seen_.set(attribute.type);
    const std::uint8_t want = flags_of(attribute.type);
    if (want == 0) {
        return read_unknown(attribute);
    }
    constexpr std::uint8_t kJudged = AttributeFlags::kOptional | AttributeFlags::kTransitive;
    if ((attribute.flags & kJudged) != want) {
        const std::string what =
            fmt::format("flags 0x{:02x} instead of 0x{:02x}", attribute.flags, want);
        if (carries_routes(attribute)) {
            return reset(Notification::kAttributeFlags, attribute, attribute.at, what);
        }
        treat_as_withdraw(Notification::kAttributeFlags, attribute, what);
        return {};
    }
    if (attribute.type == AttributeType::kMpReach) {
        return read_reach(attribute);
    }
    if (attribute.type == AttributeType::kMpUnreach) {
        return read_unreach(attribute);
    }
    read_plain(attribute);
    return {};
}

/// Transitive ones are kept, others forgotten (RFC 4271 5).
Decoded<void> UpdateReader::read_unknown(const Attribute& attribute) {
    if ((attribute.flags & AttributeFlags::kOptional) == 0) {
        return reset(Notification::kUnrecognizedWellKnown,
                     attribute,
                     attribute.at,
                     "well-known, but not to us");
    }
    if ((attribute.flags & AttributeFlags::kTransitive) != 0) {
        keep(attribute);
    }
    return {};
}

void UpdateReader::keep(const Attribute& attribute) {
    attributes().others.push_back(
        {.flags = static_cast<std::uint8_t>(attribute.flags & ~AttributeFlags::kExtendedLength),
         .type = attribute.type,
         .value = Bytes(attribute.value.begin(), attribute.value.end())});
}

void UpdateReader::read_plain(const Attribute& attribute) {
    const std::size_t size = attribute.value.size();
    const bool from_outside = peer_ == PeerKind::External;
    switch (attribute.type) {
        case AttributeType::kOrigin: read_origin(attribute); return;
        case AttributeType::kAsPath: read_as_path(attribute); return;
        case AttributeType::kNextHop: read_next_hop(attribute); return;
        case AttributeType::kMed: attributes().med = read_u32(attribute); return;
        case AttributeType::kLocalPref:
            if (from_outside) {
                discard(attribute, "from another AS");
            } else {
                attributes().local_pref = read_u32(attribute);
            }
            return;
        case AttributeType::kOriginatorId:
            if (from_outside) {
                discard(attribute, "from another AS");
            } else {
                read_originator(attribute);
            }
            return;
        case AttributeType::kClusterList:
            if (from_outside) {
                discard(attribute, "from another AS");
            } else {
                read_clusters(attribute);
            }
            return;
        case AttributeType::kAtomicAggregate:
            if (size != 0) {
                discard(attribute, fmt::format("{} octets instead of none", size));
            } else {
                keep(attribute);
            }
            return;
        case AttributeType::kAggregator:
            if (size != 2 * kU32) {
                discard(attribute, fmt::format("{} octets instead of 8", size));
            } else {
                keep(attribute);
            }
            return;
        case AttributeType::kCommunities:
            if (size == 0 || size % kU32 != 0) {
                treat_as_withdraw(Notification::kAttributeLength,
                                  attribute,
                                  fmt::format("{} octets are no communities", size));
            } else {
                keep(attribute);
            }
            return;
        case AttributeType::kExtendedCommunities: read_communities(attribute); return;
        case AttributeType::kPmsiTunnel: read_pmsi(attribute); return;
        default: return;  // MP_REACH_NLRI and MP_UNREACH_NLRI are read before.
    }
}

void UpdateReader::read_origin(const Attribute& attribute) {
    constexpr auto kLast = static_cast<std::uint8_t>(Origin::Incomplete);
    if (attribute.value.size() != 1) {
        treat_as_withdraw(Notification::kAttributeLength,
                          attribute,
                          fmt::format("{} octets instead of 1", attribute.value.size()));
    } else if (attribute.value.front() > kLast) {
        treat_as_withdraw(
            Notification::kBadOrigin, attribute, fmt::format("value {}", attribute.value.front()));
    } else {
        attributes().origin = static_cast<Origin>(attribute.value.front());
    }
}

void UpdateReader::read_as_path(const Attribute& attribute) {
    ByteReader in(attribute.value);
    while (in.remaining() != 0) {
        const std::size_t at = attribute.value_at + in.offset();
        AsSegment segment;
        const std::uint8_t kind = in.u8();
        const std::uint8_t count = in.u8();
        for (unsigned i = 0; i < count && in.ok(); ++i) {
            segment.numbers.push_back(AsNumber{in.u32()});
        }
        const bool known = kind >= static_cast<std::uint8_t>(AsSegment::Kind::Set) &&
                           kind <= static_cast<std::uint8_t>(AsSegment::Kind::ConfedSet);
        if (!in.ok() || !known || count == 0) {
            treat_as_withdraw(
                Notification::kMalformedAsPath,
                attribute,
                fmt::format("segment of kind {} with {} numbers at byte {}", kind, count, at));
            return;
        }
        segment.kind = static_cast<AsSegment::Kind>(kind);
        attributes().as_path.push_back(std::move(segment));
    }
}

std::optional<std::uint32_t> UpdateReader::read_u32(const Attribute& attribute) {
    ByteReader in(attribute.value);
    const std::uint32_t value = in.u32();
    if (!in.ok() || in.remaining() != 0) {
        treat_as_withdraw(Notification::kAttributeLength,
                          attribute,
                          fmt::format("{} octets instead of 4", attribute.value.size()));
        return std::nullopt;
    }
    return value;
}

void UpdateReader::read_next_hop(const Attribute& attribute) {
    if (read_u32(attribute)) {
        attributes().next_hop = IpAddress::from_bytes(Family::V4, attribute.value);
    }
}

void UpdateReader::read_originator(const Attribute& attribute) {
    if (const auto id = read_u32(attribute)) {
        attributes().originator = RouterId{*id};
    }
}

void UpdateReader::read_clusters(const Attribute& attribute) {
    const std::size_t size = attribute.value.size();
    if (size == 0 || size % kU32 != 0) {
        treat_as_withdraw(Notification::kAttributeLength,
                          attribute,
                          fmt::format("{} octets are no identifiers", size));
        return;
    }
    for (ByteReader in(attribute.value); in.remaining() != 0;) {
        attributes().clusters.push_back(RouterId{in.u32()});
    }
}

void UpdateReader::read_communities(const Attribute& attribute) {
    const std::size_t size = attribute.value.size();
    if (size == 0 || size % ExtendedCommunity::kSize != 0) {
        treat_as_withdraw(Notification::kAttributeLength,
                          attribute,
                          fmt::format("{} octets are no communities", size));
        return;
    }
    for (ByteReader in(attribute.value); in.remaining() != 0;) {
        attributes().communities.push_back(ExtendedCommunity::of(in.u64()));
    }
}

/// RFC 6514 5: what is malformed is treated as a withdrawal.
void UpdateReader::read_pmsi(const Attribute& attribute) {
    ByteReader in(attribute.value);
    PmsiTunnel tunnel;
    tunnel.flags = in.u8();
    tunnel.type = in.u8();
    const Label high = in.u8();
    tunnel.label = high << 16U | in.u16();
    const auto id = in.rest();
    const bool is_address =
        id.size() == bits_of(Family::V4) / 8U || id.size() == bits_of(Family::V6) / 8U;
    if (!in.ok() || (tunnel.type == PmsiTunnel::kIngressReplication && !is_address)) {
        treat_as_withdraw(Notification::kOptionalAttribute,
                          attribute,
                          fmt::format("{} octets", attribute.value.size()));
        return;
    }
    tunnel.id.assign(id.begin(), id.end());
    attributes().pmsi = std::move(tunnel);
}

std::optional<NextHop> next_hop_of(std::span<const std::uint8_t> bytes) {
    constexpr std::size_t kV6Size = bits_of(Family::V6) / 8U;
    if (bytes.size() == 2 * kV6Size) {
        return NextHop{
            .address =
                IpAddress::from_bytes(Family::V6, bytes.first(kV6Size)).value_or(IpAddress()),
            .link_local = IpAddress::from_bytes(Family::V6, bytes.subspan(kV6Size))};
    }
    const Family family = bytes.size() == kV6Size ? Family::V6 : Family::V4;
    const auto address = IpAddress::from_bytes(family, bytes);
    return address ? std::optional(NextHop{.address = *address}) : std::nullopt;
}

Decoded<void> UpdateReader::read_reach(const Attribute& attribute) {
    ByteReader in(attribute.value);
    const std::uint16_t afi = in.u16();
    const std::uint8_t safi = in.u8();
    const std::size_t length_at = attribute.value_at + in.offset();
    const std::uint8_t length = in.u8();
    const auto next_hop = in.take(length);
    in.skip(1);
    if (!in.ok()) {
        return reset(Notification::kOptionalAttribute,
                     attribute,
                     attribute.at,
                     fmt::format("{} octets are too few", attribute.value.size()));
    }
    reach_octets_ += in.remaining();
    if (afi != kAfiL2vpn || safi != kSafiEvpn) {
        note(Fault::Kind::FamilyIgnored,
             attribute.at,
             described(attribute, fmt::format("family {}/{}", afi, safi), attribute.at));
        return {};
    }
    const auto address = next_hop_of(next_hop);
    if (!address) {
        return reset(Notification::kOptionalAttribute,
                     attribute,
                     length_at,
                     fmt::format("next hop of {} octets", length));
    }
    update_.path.next_hop = *address;
    return read_routes(
        attribute, in, [this](const Route& route) { update_.reachable.push_back(route); });
}

Decoded<void> UpdateReader::read_unreach(const Attribute& attribute) {
    ByteReader in(attribute.value);
    const std::uint16_t afi = in.u16();
    const std::uint8_t safi = in.u8();
    if (!in.ok()) {
        return reset(Notification::kOptionalAttribute,
                     attribute,
                     attribute.at,
                     fmt::format("{} octets are too few", attribute.value.size()));
    }
    if (afi != kAfiL2vpn || safi != kSafiEvpn) {
        note(Fault::Kind::FamilyIgnored,
             attribute.at,
             described(attribute, fmt::format("family {}/{}", afi, safi), attribute.at));
        return {};
    }
    update_.end_of_rib = in.remaining() == 0;
    return read_routes(
        attribute, in, [this](const Route& route) { update_.withdrawn.emplace_back(route); });
}

template <class Take>
Decoded<void> UpdateReader::read_routes(const Attribute& attribute, ByteReader& in, Take take) {
    while (in.remaining() != 0) {
        const std::size_t at = attribute.value_at + in.offset();
        const std::uint8_t type = in.u8();
        const std::uint8_t length = in.u8();
        const auto body = in.take(length);
        if (!in.ok()) {
            return reset(Notification::kOptionalAttribute,
                         attribute,
                         at,
                         fmt::format("a route of type {} runs past the end", type));
        }
        const auto route = decode_route(type, body);
        if (!route) {
            const std::size_t inner = at + 2 + route.error().offset.value_or(0);
            note(Fault::Kind::RouteSkipped,
                 inner,
                 described(attribute,
                           fmt::format("type {} route at byte {}: {}: {}",
                                       type,
                                       at,
                                       route.error().text,
                                       hex(body)),
                           inner));
        } else if (*route) {
            take(**route);
        } else {
            ++update_.unknown_routes;
        }
    }
    return {};
}

void UpdateReader::require(std::uint8_t type) {
    if (seen_[type]) {
        return;
    }
    const Bytes data{type};
    treat_as_withdraw(Notification::kMissingWellKnown,
                      {.type = type, .at = kHeaderSize, .whole = data},
                      "is not there");
}

Decoded<Update> UpdateReader::finish() {
    if (!update_.reachable.empty()) {
        require(AttributeType::kOrigin);
        require(AttributeType::kAsPath);
        if (peer_ == PeerKind::Internal) {
            require(AttributeType::kLocalPref);
        }
    }
    // Without a route that could be withdrawn nothing would come of the error (RFC 7606 5.2).
    if (worst_ && reach_octets_ == 0) {
        return tl::unexpected(std::move(*worst_));
    }
    if (worst_) {
        for (const Route& route : update_.reachable) {
            update_.withdrawn.emplace_back(route);
        }
        update_.reachable.clear();
    }
    if (update_.reachable.empty()) {
        update_.path = {};
    }
    update_.end_of_rib = update_.end_of_rib && !ipv4_fields_ && seen_.count() == 1;
    return std::move(update_);
}

}  // namespace

std::string_view name_of(Fault::Kind kind) {
    switch (kind) {
        case Fault::Kind::TreatAsWithdraw: return "treat_as_withdraw";
        case Fault::Kind::AttributeDiscarded: return "attribute_discarded";
        case Fault::Kind::RouteSkipped: return "route_skipped";
        case Fault::Kind::FamilyIgnored: return "family_ignored";
    }
    return "?";
}

Decoded<Update> decode_update(std::span<const std::uint8_t> body, PeerKind peer) {
    return UpdateReader(peer).read(body);
}

}  // namespace planed::bgp
