// SPDX-License-Identifier: Apache-2.0
#include "netlink/neighbor_codec.hpp"

#include <cstring>

#include <sys/socket.h>

#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

#include "netlink/attributes.hpp"

namespace planed::netlink {
namespace {

struct Fields {
    std::optional<IpAddress> destination{};
    std::optional<MacAddress> mac{};
    std::uint32_t master = 0;
    std::uint16_t vlan = 0;
    std::uint8_t protocol = 0;
};

/// Also in families of which we keep no such entry. Those of all interfaces have none of their own.
Result<std::optional<Input>> proxy(const Message& message, const ndmsg& header, Source source) {
    const bool known = header.ndm_family == AF_INET || header.ndm_family == AF_INET6;
    if (source != Source::Dump || header.ndm_ifindex <= 0 || !known) {
        return std::nullopt;
    }
    ProxySeen seen{.key = {.link = static_cast<IfIndex>(header.ndm_ifindex)}};
    std::optional<IpAddress> destination;
    AttributeReader attributes(message.payload.subspan(sizeof header),
                               message.offset + sizeof header);
    while (const auto attribute = attributes.next()) {
        if (attribute->type == NDA_DST) {
            destination = attributes.address(
                *attribute, header.ndm_family == AF_INET ? Family::V4 : Family::V6);
        } else if (attribute->type == NDA_PROTOCOL) {
            seen.protocol = attributes.number<std::uint8_t>(*attribute);
        }
    }
    if (!attributes.ok()) {
        return attributes.error();
    }
    if (!destination) {
        return fail_at(message.offset, Errc::Malformed, "proxied neighbour without an address");
    }
    seen.key.address = *destination;
    return seen;
}

bool is_known_state(std::uint16_t state) {
    return state <= NUD_PERMANENT && (state & (state - 1U)) == 0;
}

Result<std::optional<Input>> neighbor(const Message& message,
                                      const ndmsg& header,
                                      Family family,
                                      Source source) {
    Fields fields;
    AttributeReader attributes(message.payload.subspan(sizeof header),
                               message.offset + sizeof header);
    while (const auto attribute = attributes.next()) {
        switch (attribute->type) {
            case NDA_DST: fields.destination = attributes.address(*attribute, family); break;
            case NDA_LLADDR: fields.mac = AttributeReader::mac(*attribute); break;
            case NDA_PROTOCOL: fields.protocol = attributes.number<std::uint8_t>(*attribute); break;
            default: break;
        }
    }
    if (!attributes.ok()) {
        return attributes.error();
    }
    if (!fields.destination) {
        return fail_at(message.offset, Errc::Malformed, "neighbour without an address");
    }
    if (!is_known_state(header.ndm_state)) {
        return fail_at(message.offset, Errc::Malformed, "neighbour in an unknown state");
    }
    const NeighborKey key{.link = static_cast<IfIndex>(header.ndm_ifindex),
                          .address = *fields.destination};
    const Neighbor value{.mac = fields.mac.value_or(MacAddress{}),
                         .state = static_cast<Nud>(header.ndm_state),
                         .ext_learned = (header.ndm_flags & NTF_EXT_LEARNED) != 0,
                         .protocol = fields.protocol};
    if (message.type == RTM_DELNEIGH) {
        return NeighborGone{.key = key, .last = value};
    }
    return NeighborSeen{.key = key, .neighbor = value, .source = source};
}

Result<std::optional<Input>> forwarding_entry(const Message& message,
                                              const ndmsg& header,
                                              Source source) {
    Fields fields;
    AttributeReader attributes(message.payload.subspan(sizeof header),
                               message.offset + sizeof header);
    while (const auto attribute = attributes.next()) {
        switch (attribute->type) {
            case NDA_LLADDR: fields.mac = MacAddress::from_bytes(attribute->payload); break;
            case NDA_MASTER: fields.master = attributes.number<std::uint32_t>(*attribute); break;
            case NDA_VLAN: fields.vlan = attributes.number<std::uint16_t>(*attribute); break;
            default: break;
        }
    }
    if (!attributes.ok()) {
        return attributes.error();
    }
    if (!fields.mac || fields.master == 0) {
        return std::nullopt;
    }
    const FdbKey key{.bridge = static_cast<IfIndex>(fields.master),
                     .vlan = static_cast<VlanId>(fields.vlan),
                     .mac = *fields.mac};
    const auto port = static_cast<IfIndex>(header.ndm_ifindex);
    if (message.type == RTM_DELNEIGH) {
        return FdbGone{.key = key, .port = port};
    }
    const bool local = (header.ndm_state & NUD_PERMANENT) != 0;
    const bool ext_learned = (header.ndm_flags & NTF_EXT_LEARNED) != 0;
    return FdbSeen{.key = key,
                   .entry = {.port = port, .local = local, .ext_learned = ext_learned},
                   .source = source};
}

}  // namespace

Result<Duration> decode_silence(const Message& message) {
    ndmsg header{};
    if (message.type != RTM_NEWNEIGH || message.payload.size() < sizeof header) {
        return fail_at(message.offset, Errc::Malformed, "not a forwarding entry");
    }
    std::memcpy(&header, message.payload.data(), sizeof header);
    if (header.ndm_family != AF_BRIDGE) {
        return fail_at(message.offset, Errc::Malformed, "not a forwarding entry");
    }
    AttributeReader attributes(message.payload.subspan(sizeof header),
                               message.offset + sizeof header);
    while (const auto attribute = attributes.next()) {
        if (attribute->type != NDA_CACHEINFO) {
            continue;
        }
        nda_cacheinfo info{};
        if (attribute->payload.size() < sizeof info) {
            return fail_at(attribute->offset, Errc::Truncated, "cache information cut short");
        }
        std::memcpy(&info, attribute->payload.data(), sizeof info);
        return info.ndm_updated * 10ms;
    }
    if (!attributes.ok()) {
        return attributes.error();
    }
    return fail_at(message.offset, Errc::Malformed, "forwarding entry without its times");
}

Result<std::optional<Input>> decode_neighbor(const Message& message, Source source) {
    ndmsg header{};
    if (message.payload.size() < sizeof header) {
        return fail_at(message.offset, Errc::Truncated, "neighbour message cut short");
    }
    std::memcpy(&header, message.payload.data(), sizeof header);
    if ((header.ndm_flags & NTF_PROXY) != 0) {
        return proxy(message, header, source);
    }
    if (header.ndm_ifindex <= 0) {
        return fail_at(message.offset, Errc::Malformed, "neighbour without an interface");
    }
    switch (header.ndm_family) {
        case AF_INET: return neighbor(message, header, Family::V4, source);
        case AF_INET6: return neighbor(message, header, Family::V6, source);
        case AF_BRIDGE: return forwarding_entry(message, header, source);
        default: return std::nullopt;
    }
}

}  // namespace planed::netlink
