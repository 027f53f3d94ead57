// SPDX-License-Identifier: Apache-2.0
#include "packet/frame.hpp"

#include "net/byte_reader.hpp"

namespace planed::packet {
namespace {

constexpr std::uint16_t kTypeServiceVlan = 0x88A8;  // IEEE 802.1ad, the provider's tag.
constexpr std::uint16_t kVlanMask = 0x0FFF;
constexpr std::uint16_t kVlanReserved = 0x0FFF;  // IEEE 802.1Q 9.6, table 9-2.

MacAddress take_mac(ByteReader& in) {
    return MacAddress::from_bytes(in.take(MacAddress::kSize)).value_or(MacAddress());
}

bool is_tag(std::uint16_t type) {
    return type == kTypeVlan || type == kTypeServiceVlan;
}

}  // namespace

tl::expected<Ethernet, Refusal> read_ethernet(const Frame& frame) {
    ByteReader in(frame.bytes);
    Ethernet header;
    header.destination = take_mac(in);
    header.source = take_mac(in);
    header.type = in.u16();
    std::optional<Tag> tag = frame.tag;
    if (!tag && is_tag(header.type)) {
        tag = Tag{.protocol = header.type, .control = in.u16()};
        header.type = in.u16();
    }
    if (!in.ok()) {
        return tl::unexpected(Refusal::Truncated);
    }
    if (header.source.is_zero() || header.source.is_multicast()) {
        return tl::unexpected(Refusal::EthernetSource);
    }
    if (tag && tag->protocol != kTypeVlan) {
        return tl::unexpected(Refusal::TagProtocol);
    }
    if (tag && is_tag(header.type)) {
        return tl::unexpected(Refusal::TagNested);
    }
    const std::uint16_t vlan = tag ? tag->control & kVlanMask : 0;
    if (vlan == kVlanReserved) {
        return tl::unexpected(Refusal::TagVlan);
    }
    header.vlan = static_cast<VlanId>(vlan);
    header.payload = in.rest();
    return header;
}

void write_ethernet(ByteWriter& out, const Ethernet& header) {
    out.bytes(header.destination.bytes());
    out.bytes(header.source.bytes());
    if (header.vlan != VlanId::None) {
        out.u16(kTypeVlan);
        out.u16(number(header.vlan) & kVlanMask);
    }
    out.u16(header.type);
    out.bytes(header.payload);
}

}  // namespace planed::packet
