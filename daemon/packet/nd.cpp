// SPDX-License-Identifier: Apache-2.0
#include "packet/nd.hpp"

#include <algorithm>

#include "net/assert.hpp"
#include "net/byte_reader.hpp"
#include "packet/checksum.hpp"

namespace planed::packet {
namespace {

constexpr std::uint8_t kNextHeaderIcmpv6 = 58;
constexpr std::uint8_t kHopLimit = 255;
constexpr std::uint8_t kTypeSolicitation = 135;
constexpr std::uint8_t kTypeAdvertisement = 136;
constexpr std::uint8_t kOptionSourceMac = 1;
constexpr std::uint8_t kOptionTargetMac = 2;
constexpr std::size_t kOptionUnit = 8;  // Bytes that an option's length counts.
constexpr std::size_t kFixedSize = 24;  // Of an NS or NA, without options.
constexpr std::size_t kIpv6Size = 16;
constexpr std::uint32_t kFlagRouter = 0x80000000U;
constexpr std::uint32_t kFlagSolicited = 0x40000000U;
constexpr std::uint32_t kFlagOverride = 0x20000000U;
constexpr IpAddress kAllNodes =
    IpAddress::v6({0xFF, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01});
constexpr IpAddress::Bytes kSolicitedNode{0xFF, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01, 0xFF};
constexpr std::size_t kSolicitedNodeSize = 13;  // The part that all such groups share.

struct Ipv6 {
    std::uint8_t version = 0;
    std::uint8_t next_header = 0;
    std::uint8_t hop_limit = 0;
    IpAddress source{};
    IpAddress destination{};
    Bytes payload{};  // What the header says, no padding.
};

struct Message {
    std::uint8_t type = 0;
    std::uint8_t code = 0;
    AdvertisementFlags flags{};
    IpAddress target{};
    std::optional<MacAddress> mac{};  // Of the option that belongs to this type.
};

IpAddress take_address(ByteReader& in) {
    return IpAddress::from_bytes(Family::V6, in.take(kIpv6Size)).value_or(IpAddress());
}

bool can_be_ipv6_host(const IpAddress& address) {
    return !address.is_unspecified() && !address.is_multicast() && !address.is_loopback();
}

bool is_solicited_node(const IpAddress& address) {
    const auto bytes = address.bytes().first(kSolicitedNodeSize);
    return std::equal(bytes.begin(), bytes.end(), kSolicitedNode.begin());
}

tl::expected<Ipv6, Refusal> read_ipv6(Bytes bytes) {
    ByteReader in(bytes);
    Ipv6 header;
    header.version = static_cast<std::uint8_t>(in.u32() >> 28U);
    const std::size_t length = in.u16();
    header.next_header = in.u8();
    header.hop_limit = in.u8();
    header.source = take_address(in);
    header.destination = take_address(in);
    header.payload = in.take(length);
    if (!in.ok()) {
        return tl::unexpected(Refusal::Truncated);
    }
    if (header.version != 6) {
        return tl::unexpected(Refusal::Ipv6Version);
    }
    return header;
}

// The option's MAC, which must be one that a frame can come from, and this one's.
tl::expected<MacAddress, Refusal> read_mac(Bytes value, const MacAddress& frame_source) {
    const auto mac = MacAddress::from_bytes(value);
    if (!mac || mac->is_zero() || mac->is_multicast()) {
        return tl::unexpected(Refusal::NdLinkLayer);
    }
    if (*mac != frame_source) {
        return tl::unexpected(Refusal::NdMacMismatch);
    }
    return *mac;
}

// Options of other kinds are skipped (RFC 4861 7.1.1), but each must have a length.
tl::expected<std::optional<MacAddress>, Refusal> read_options(ByteReader& in,
                                                              std::uint8_t wanted,
                                                              const MacAddress& frame_source) {
    std::optional<MacAddress> found;
    while (in.remaining() > 0) {
        const std::uint8_t type = in.u8();
        const std::size_t size = in.u8() * kOptionUnit;
        const Bytes value = size == 0 ? Bytes() : in.take(size - 2);
        if (size == 0 || !in.ok()) {
            return tl::unexpected(Refusal::NdOptionLength);
        }
        if (type != wanted) {
            continue;
        }
        const auto mac = read_mac(value, frame_source);
        if (!mac) {
            return tl::unexpected(mac.error());
        }
        found = *mac;  // A second one is equal to the first: both are the frame's source.
    }
    return found;
}

tl::expected<Message, Refusal> read_message(Bytes bytes, const MacAddress& frame_source) {
    ByteReader in(bytes);
    Message message;
    message.type = in.u8();
    message.code = in.u8();
    in.skip(2);  // The checksum is right already.
    const std::uint32_t flags = in.u32();
    message.target = take_address(in);
    PLANED_ASSERT(in.ok());
    if (message.code != 0) {
        return tl::unexpected(Refusal::NdCode);
    }
    const bool solicits = message.type == kTypeSolicitation;
    if (!solicits) {
        message.flags = {.router = (flags & kFlagRouter) != 0,
                         .solicited = (flags & kFlagSolicited) != 0,
                         .overrides = (flags & kFlagOverride) != 0};
    }
    const auto mac = read_options(in, solicits ? kOptionSourceMac : kOptionTargetMac, frame_source);
    if (!mac) {
        return tl::unexpected(mac.error());
    }
    message.mac = *mac;
    return message;
}

std::optional<Refusal> objection(const Message& message, const Ipv6& header) {
    if (!can_be_ipv6_host(message.target)) {
        return Refusal::NdTarget;
    }
    if (message.type == kTypeSolicitation && header.source.is_unspecified()) {
        if (!is_solicited_node(header.destination)) {
            return Refusal::NdDestination;
        }
        return message.mac ? std::optional(Refusal::NdDadWithSource) : std::nullopt;
    }
    if (!can_be_ipv6_host(header.source)) {
        return Refusal::NdSender;
    }
    if (message.flags.solicited && header.destination.is_multicast()) {
        return Refusal::NdSolicitedToGroup;
    }
    return std::nullopt;
}

Kind kind_of(const Message& message, const Ipv6& header) {
    if (message.type == kTypeAdvertisement) {
        return Kind::Advertisement;
    }
    return header.source.is_unspecified() ? Kind::DadSolicitation : Kind::Solicitation;
}

// What must be right before anything in the message means what it says.
std::optional<Refusal> objection(const Ipv6& header) {
    if (header.next_header != kNextHeaderIcmpv6 || header.payload.empty()) {
        return Refusal::NotOurs;
    }
    if (header.payload[0] != kTypeSolicitation && header.payload[0] != kTypeAdvertisement) {
        return Refusal::NotOurs;
    }
    if (header.hop_limit != kHopLimit) {
        return Refusal::NdHopLimit;
    }
    if (header.payload.size() < kFixedSize) {
        return Refusal::NdLength;
    }
    if (icmpv6_checksum(header.source, header.destination, header.payload) != 0) {
        return Refusal::NdChecksum;
    }
    return std::nullopt;
}

std::vector<std::uint8_t> nd_message(std::uint8_t type,
                                     std::uint32_t flags,
                                     const IpAddress& target,
                                     std::uint8_t option,
                                     const MacAddress& mac) {
    std::vector<std::uint8_t> bytes;
    ByteWriter out(bytes);
    out.u8(type);
    out.u8(0);   // Code
    out.u16(0);  // Checksum, not yet known
    out.u32(flags);
    out.bytes(target.bytes());
    out.u8(option);
    out.u8(1);  // One unit of eight bytes
    out.bytes(mac.bytes());
    return bytes;
}

struct Envelope {
    MacAddress source_mac{};
    IpAddress source{};
    Receiver to{};
    VlanId vlan = VlanId::None;
};

std::vector<std::uint8_t> wrap(const Envelope& envelope, std::vector<std::uint8_t> message) {
    PLANED_ASSERT(!envelope.source.is_v4());
    PLANED_ASSERT(!envelope.to.address.is_v4());
    ByteWriter(message).patch_u16(2,
                                  icmpv6_checksum(envelope.source, envelope.to.address, message));
    std::vector<std::uint8_t> bytes;
    ByteWriter out(bytes);
    write_ethernet(out,
                   {.destination = envelope.to.mac,
                    .source = envelope.source_mac,
                    .vlan = envelope.vlan,
                    .type = kTypeIpv6});
    out.u32(0x60000000U);  // Version 6; no traffic class, no flow label
    out.u16(static_cast<std::uint16_t>(message.size()));
    out.u8(kNextHeaderIcmpv6);
    out.u8(kHopLimit);
    out.bytes(envelope.source.bytes());
    out.bytes(envelope.to.address.bytes());
    out.bytes(message);
    return bytes;
}

std::uint32_t bits_of(const AdvertisementFlags& flags) {
    return (flags.router ? kFlagRouter : 0U) | (flags.solicited ? kFlagSolicited : 0U) |
           (flags.overrides ? kFlagOverride : 0U);
}

}  // namespace

tl::expected<Heard, Refusal> parse_nd(const Ethernet& frame) {
    const auto header = read_ipv6(frame.payload);
    if (!header) {
        return tl::unexpected(header.error());
    }
    if (const auto refusal = objection(*header)) {
        return tl::unexpected(*refusal);
    }
    const auto message = read_message(header->payload, frame.source);
    if (!message) {
        return tl::unexpected(message.error());
    }
    if (const auto refusal = objection(*message, *header)) {
        return tl::unexpected(*refusal);
    }
    const bool solicits = message->type == kTypeSolicitation;
    return Heard{.kind = kind_of(*message, *header),
                 .vlan = frame.vlan,
                 .ethernet_source = frame.source,
                 .ethernet_destination = frame.destination,
                 .sender = header->source,
                 .sender_mac = solicits ? message->mac : std::nullopt,
                 .target = message->target,
                 .target_mac = solicits ? std::nullopt : message->mac,
                 .to_multicast = header->destination.is_multicast(),
                 .flags = message->flags};
}

IpAddress solicited_node(const IpAddress& address) {
    PLANED_ASSERT(!address.is_v4());
    IpAddress::Bytes group = kSolicitedNode;
    const auto last = address.bytes().subspan(kSolicitedNodeSize);
    std::copy(last.begin(), last.end(), group.begin() + kSolicitedNodeSize);
    return IpAddress::v6(group);
}

MacAddress multicast_mac(const IpAddress& group) {
    PLANED_ASSERT(!group.is_v4());
    const auto last = group.bytes().last(4);
    return MacAddress(MacAddress::Bytes{0x33, 0x33, last[0], last[1], last[2], last[3]});
}

std::vector<std::uint8_t> solicitation(const Solicitation& ask) {
    PLANED_ASSERT(!ask.source.is_unspecified());
    PLANED_ASSERT(!ask.target.is_v4());
    const IpAddress group = solicited_node(ask.target);
    const Receiver to = ask.to ? Receiver{.address = ask.target, .mac = *ask.to}
                               : Receiver{.address = group, .mac = multicast_mac(group)};
    return wrap({.source_mac = ask.source_mac, .source = ask.source, .to = to, .vlan = ask.vlan},
                nd_message(kTypeSolicitation, 0, ask.target, kOptionSourceMac, ask.source_mac));
}

std::vector<std::uint8_t> advertisement(const Advertisement& tell) {
    const Receiver to =
        tell.to.value_or(Receiver{.address = kAllNodes, .mac = multicast_mac(kAllNodes)});
    PLANED_ASSERT(!tell.source.is_unspecified());
    PLANED_ASSERT(!tell.target.is_v4());
    PLANED_ASSERT(!(tell.flags.solicited && to.address.is_multicast()));
    return wrap(
        {.source_mac = tell.mac, .source = tell.source, .to = to, .vlan = tell.vlan},
        nd_message(
            kTypeAdvertisement, bits_of(tell.flags), tell.target, kOptionTargetMac, tell.mac));
}

}  // namespace planed::packet
