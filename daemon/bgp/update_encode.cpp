// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "bgp/update.hpp"
#include "net/assert.hpp"
#include "net/byte_writer.hpp"
#include "net/ids.hpp"

namespace planed::bgp {
namespace {

constexpr std::uint8_t kWellKnown = AttributeFlags::kTransitive;
constexpr std::uint8_t kOptional = AttributeFlags::kOptional;
constexpr std::uint8_t kOptionalTransitive =
    AttributeFlags::kOptional | AttributeFlags::kTransitive;

void write_attribute(std::uint8_t flags,
                     std::uint8_t type,
                     std::span<const std::uint8_t> value,
                     ByteWriter& out) {
    constexpr std::size_t kShortMax = std::numeric_limits<std::uint8_t>::max();
    PLANED_ASSERT(value.size() <= std::numeric_limits<std::uint16_t>::max());
    if (value.size() > kShortMax) {
        out.u8(flags | AttributeFlags::kExtendedLength);
        out.u8(type);
        out.u16(static_cast<std::uint16_t>(value.size()));
    } else {
        out.u8(static_cast<std::uint8_t>(flags & ~AttributeFlags::kExtendedLength));
        out.u8(type);
        out.u8(static_cast<std::uint8_t>(value.size()));
    }
    out.bytes(value);
}

void write_u32(std::uint8_t flags, std::uint8_t type, std::uint32_t value, ByteWriter& out) {
    Bytes bytes;
    ByteWriter(bytes).u32(value);
    write_attribute(flags, type, bytes, out);
}

Bytes as_path_bytes(std::span<const AsSegment> path) {
    Bytes bytes;
    ByteWriter out(bytes);
    for (const AsSegment& segment : path) {
        PLANED_ASSERT(!segment.numbers.empty());
        PLANED_ASSERT(segment.numbers.size() <= std::numeric_limits<std::uint8_t>::max());
        out.u8(static_cast<std::uint8_t>(segment.kind));
        out.u8(static_cast<std::uint8_t>(segment.numbers.size()));
        for (const AsNumber as : segment.numbers) {
            out.u32(number(as));
        }
    }
    return bytes;
}

Bytes cluster_bytes(std::span<const RouterId> clusters) {
    Bytes bytes;
    ByteWriter out(bytes);
    for (const RouterId cluster : clusters) {
        out.u32(number(cluster));
    }
    return bytes;
}

Bytes community_bytes(std::span<const ExtendedCommunity> communities) {
    Bytes bytes;
    ByteWriter out(bytes);
    for (const ExtendedCommunity& community : communities) {
        out.bytes(community.octets());
    }
    return bytes;
}

Bytes pmsi_bytes(const PmsiTunnel& tunnel) {
    PLANED_ASSERT(tunnel.label <= kLabelMax);
    Bytes bytes;
    ByteWriter out(bytes);
    out.u8(tunnel.flags);
    out.u8(tunnel.type);
    out.u8(static_cast<std::uint8_t>(tunnel.label >> 16U));
    out.u16(static_cast<std::uint16_t>(tunnel.label & 0xFFFFU));
    out.bytes(tunnel.id);
    return bytes;
}

void write_attributes(const Attributes& attributes, ByteWriter& out) {
    const Bytes origin{static_cast<std::uint8_t>(attributes.origin)};
    write_attribute(kWellKnown, AttributeType::kOrigin, origin, out);
    write_attribute(kWellKnown, AttributeType::kAsPath, as_path_bytes(attributes.as_path), out);
    if (attributes.next_hop) {
        write_attribute(kWellKnown, AttributeType::kNextHop, attributes.next_hop->bytes(), out);
    }
    if (attributes.med) {
        write_u32(kOptional, AttributeType::kMed, *attributes.med, out);
    }
    if (attributes.local_pref) {
        write_u32(kWellKnown, AttributeType::kLocalPref, *attributes.local_pref, out);
    }
    if (attributes.originator) {
        write_u32(kOptional, AttributeType::kOriginatorId, number(*attributes.originator), out);
    }
    if (!attributes.clusters.empty()) {
        write_attribute(
            kOptional, AttributeType::kClusterList, cluster_bytes(attributes.clusters), out);
    }
    if (!attributes.communities.empty()) {
        write_attribute(kOptionalTransitive,
                        AttributeType::kExtendedCommunities,
                        community_bytes(attributes.communities),
                        out);
    }
    if (attributes.pmsi) {
        write_attribute(
            kOptionalTransitive, AttributeType::kPmsiTunnel, pmsi_bytes(*attributes.pmsi), out);
    }
    for (const auto& [flags, type, value] : attributes.others) {
        write_attribute(flags, type, value, out);
    }
}

void write_family(ByteWriter& out) {
    out.u16(kAfiL2vpn);
    out.u8(kSafiEvpn);
}

/// What MP_REACH_NLRI has before its routes.
Bytes reach_head(const NextHop& next_hop) {
    Bytes bytes;
    ByteWriter out(bytes);
    write_family(out);
    const auto address = next_hop.address.bytes();
    const auto second =
        next_hop.link_local ? next_hop.link_local->bytes() : std::span<const std::uint8_t>();
    out.u8(static_cast<std::uint8_t>(address.size() + second.size()));
    out.bytes(address);
    out.bytes(second);
    out.u8(0);  // Reserved, once a count of SNPAs.
    return bytes;
}

/// One UPDATE: one attribute with routes, then others.
void write_update(std::uint8_t type,
                  std::span<const std::uint8_t> value,
                  std::span<const std::uint8_t> others,
                  Bytes& out) {
    const MessageWriter message(MessageType::Update, out);
    ByteWriter writer(out);
    writer.u16(0);  // Withdrawn routes of IPv4.
    const std::size_t length_at = writer.size();
    writer.u16(0);
    write_attribute(kOptional, type, value, writer);
    writer.bytes(others);
    writer.patch_u16(length_at, static_cast<std::uint16_t>(writer.size() - length_at - 2));
}

/// Octets of a message without its routes: header, two lengths, and the longer form of an
/// attribute's head, which is a bound that costs an octet at most.
std::size_t frame_size(std::size_t head, std::size_t others) {
    constexpr std::size_t kLengths = 4;
    constexpr std::size_t kAttributeHead = 4;
    return kHeaderSize + kLengths + kAttributeHead + head + others;
}

const Route& as_route(const Route& route) {
    return route;
}
const Route& as_route(const RouteKey& key) {
    return key.route();
}

/// Appends routes while they fit into `room` octets; how many did.
template <class T>
std::size_t fill(std::span<const T> routes, std::size_t room, Bytes& out) {
    std::size_t count = 0;
    for (const T& item : routes) {
        const Route& route = as_route(item);
        const std::size_t size = encoded_size(route);
        if (size > room) {
            break;
        }
        encode_route(route, out);
        room -= size;
        ++count;
    }
    return count;
}

}  // namespace

std::size_t encode_reachable(const Path& path,
                             std::span<const Route> routes,
                             std::size_t longest,
                             Bytes& out) {
    Bytes others;
    ByteWriter others_writer(others);
    write_attributes(path.attributes, others_writer);
    Bytes value = reach_head(path.next_hop);
    const std::size_t frame = frame_size(value.size(), others.size());
    const std::size_t count = fill(routes, frame < longest ? longest - frame : 0, value);
    if (count != 0) {
        write_update(AttributeType::kMpReach, value, others, out);
    }
    return count;
}

std::size_t encode_withdrawn(std::span<const RouteKey> routes, std::size_t longest, Bytes& out) {
    Bytes value;
    ByteWriter writer(value);
    write_family(writer);
    const std::size_t frame = frame_size(value.size(), 0);
    PLANED_ASSERT(frame + kLongestRoute <= longest);
    const std::size_t count = fill(routes, longest - frame, value);
    if (count != 0) {
        write_update(AttributeType::kMpUnreach, value, {}, out);
    }
    return count;
}

void encode_end_of_rib(Bytes& out) {
    Bytes value;
    ByteWriter writer(value);
    write_family(writer);
    write_update(AttributeType::kMpUnreach, value, {}, out);
}

}  // namespace planed::bgp
