// SPDX-License-Identifier: Apache-2.0
#include "packet/arp.hpp"

#include "net/assert.hpp"
#include "net/byte_reader.hpp"

namespace planed::packet {
namespace {

constexpr std::uint16_t kHardwareEthernet = 1;
constexpr std::uint16_t kProtocolIpv4 = 0x0800;
constexpr std::uint8_t kIpv4Size = 4;
constexpr std::uint16_t kRequest = 1;
constexpr std::uint16_t kReply = 2;
constexpr MacAddress kBroadcast(MacAddress::Bytes{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF});

struct Fields {
    std::uint16_t hardware = 0;
    std::uint16_t protocol = 0;
    std::uint8_t hardware_size = 0;
    std::uint8_t protocol_size = 0;
    std::uint16_t operation = 0;
    MacAddress sender_mac{};
    IpAddress sender{};
    MacAddress target_mac{};
    IpAddress target{};
};

// 0.0.0.0/8 but for 0.0.0.0 itself is nobody's either (RFC 1122 3.2.1.3).
bool is_this_network(const IpAddress& address) {
    return address.bytes().front() == 0;
}

bool can_be_ipv4_host(const IpAddress& address) {
    return !is_this_network(address) && !address.is_multicast() && !address.is_loopback() &&
           !address.is_reserved_v4();
}

// A reply to a probe goes to 0.0.0.0, which is the asker's address so far.
bool can_be_a_target(const Fields& arp) {
    return can_be_ipv4_host(arp.target) || (arp.operation == kReply && arp.target.is_unspecified());
}

// A probe is a request: a reply from 0.0.0.0 would say that nobody's address has been found.
bool can_be_a_sender(const Fields& arp) {
    return can_be_ipv4_host(arp.sender) ||
           (arp.operation == kRequest && arp.sender.is_unspecified());
}

tl::expected<Fields, Refusal> read(Bytes bytes) {
    ByteReader in(bytes);
    const auto mac = [&] {
        return MacAddress::from_bytes(in.take(MacAddress::kSize)).value_or(MacAddress());
    };
    const auto address = [&] {
        return IpAddress::from_bytes(Family::V4, in.take(kIpv4Size)).value_or(IpAddress());
    };
    Fields arp;
    arp.hardware = in.u16();
    arp.protocol = in.u16();
    arp.hardware_size = in.u8();
    arp.protocol_size = in.u8();
    arp.operation = in.u16();
    if (!in.ok()) {
        return tl::unexpected(Refusal::Truncated);
    }
    if (arp.hardware != kHardwareEthernet) {
        return tl::unexpected(Refusal::ArpHardware);
    }
    if (arp.protocol != kProtocolIpv4) {
        return tl::unexpected(Refusal::ArpProtocol);
    }
    if (arp.hardware_size != MacAddress::kSize || arp.protocol_size != kIpv4Size) {
        return tl::unexpected(Refusal::ArpLengths);
    }
    arp.sender_mac = mac();
    arp.sender = address();
    arp.target_mac = mac();
    arp.target = address();
    if (!in.ok()) {
        return tl::unexpected(Refusal::Truncated);
    }
    return arp;
}

std::optional<Refusal> objection(const Fields& arp, const Ethernet& frame) {
    if (arp.operation != kRequest && arp.operation != kReply) {
        return Refusal::ArpOperation;
    }
    if (arp.sender_mac.is_zero() || arp.sender_mac.is_multicast()) {
        return Refusal::ArpSenderMac;
    }
    if (arp.sender_mac != frame.source) {
        return Refusal::ArpMacMismatch;
    }
    if (!can_be_a_sender(arp)) {
        return Refusal::ArpSender;
    }
    if (!can_be_a_target(arp)) {
        return Refusal::ArpTarget;
    }
    return std::nullopt;
}

Kind kind_of(const Fields& arp) {
    if (arp.sender.is_unspecified()) {
        return Kind::ArpProbe;
    }
    if (arp.sender == arp.target) {
        return Kind::ArpAnnouncement;
    }
    return arp.operation == kRequest ? Kind::ArpRequest : Kind::ArpReply;
}

std::vector<std::uint8_t> write(const Ethernet& header, const Fields& arp) {
    PLANED_ASSERT(arp.sender.is_v4());
    PLANED_ASSERT(arp.target.is_v4());
    std::vector<std::uint8_t> bytes;
    ByteWriter out(bytes);
    write_ethernet(out, header);
    out.u16(kHardwareEthernet);
    out.u16(kProtocolIpv4);
    out.u8(static_cast<std::uint8_t>(MacAddress::kSize));
    out.u8(kIpv4Size);
    out.u16(arp.operation);
    out.bytes(arp.sender_mac.bytes());
    out.bytes(arp.sender.bytes());
    out.bytes(arp.target_mac.bytes());
    out.bytes(arp.target.bytes());
    return bytes;
}

}  // namespace

tl::expected<Heard, Refusal> parse_arp(const Ethernet& frame) {
    const auto arp = read(frame.payload);
    if (!arp) {
        return tl::unexpected(arp.error());
    }
    if (const auto refusal = objection(*arp, frame)) {
        return tl::unexpected(*refusal);
    }
    Heard heard{.kind = kind_of(*arp),
                .vlan = frame.vlan,
                .ethernet_source = frame.source,
                .ethernet_destination = frame.destination,
                .sender = arp->sender,
                .sender_mac = arp->sender_mac,
                .target = arp->target,
                .to_multicast = frame.destination.is_multicast()};
    if (arp->operation == kReply) {
        heard.target_mac = arp->target_mac;
    }
    return heard;
}

std::vector<std::uint8_t> arp_request(const ArpRequest& request) {
    return write({.destination = request.to.value_or(kBroadcast),
                  .source = request.source_mac,
                  .vlan = request.vlan,
                  .type = kTypeArp},
                 {.operation = kRequest,
                  .sender_mac = request.source_mac,
                  .sender = request.source,
                  .target = request.target});
}

std::vector<std::uint8_t> arp_reply(const ArpReply& reply) {
    return write(
        {.destination = reply.to, .source = reply.mac, .vlan = reply.vlan, .type = kTypeArp},
        {.operation = kReply,
         .sender_mac = reply.mac,
         .sender = reply.address,
         .target_mac = reply.to,
         .target = reply.to_address});
}

}  // namespace planed::packet
