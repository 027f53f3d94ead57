// SPDX-License-Identifier: Apache-2.0
#include "netlink/link_codec.hpp"

#include <cstring>
#include <string_view>

#include <sys/socket.h>

#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include "netlink/attributes.hpp"

namespace planed::netlink {
namespace {

LinkKind kind_of(std::string_view kind) {
    if (kind == "bridge") {
        return LinkKind::Bridge;
    }
    if (kind == "vlan") {
        return LinkKind::Vlan;
    }
    if (kind == "bond") {
        return LinkKind::Bond;
    }
    if (kind == "vrf") {
        return LinkKind::Vrf;
    }
    if (kind == "veth") {
        return LinkKind::Veth;
    }
    return LinkKind::Other;
}

Result<void> read_bridge(const Attribute& nest, Link& link) {
    AttributeReader attributes(nest);
    while (const auto attribute = attributes.next()) {
        switch (attribute->type) {
            case IFLA_BR_VLAN_FILTERING:
                link.vlan_filtering = attributes.number<std::uint8_t>(*attribute) != 0;
                break;
            case IFLA_BR_VLAN_DEFAULT_PVID:
                link.default_pvid =
                    static_cast<VlanId>(attributes.number<std::uint16_t>(*attribute));
                break;
            default: break;
        }
    }
    return attributes.ok() ? Result<void>() : attributes.error();
}

Result<void> read_vlan(const Attribute& nest, Link& link) {
    AttributeReader attributes(nest);
    while (const auto attribute = attributes.next()) {
        if (attribute->type == IFLA_VLAN_ID) {
            link.vlan = static_cast<VlanId>(attributes.number<std::uint16_t>(*attribute));
        }
    }
    return attributes.ok() ? Result<void>() : attributes.error();
}

Result<void> read_vrf(const Attribute& nest, Link& link) {
    AttributeReader attributes(nest);
    while (const auto attribute = attributes.next()) {
        if (attribute->type == IFLA_VRF_TABLE) {
            link.vrf_table = attributes.number<std::uint32_t>(*attribute);
        }
    }
    return attributes.ok() ? Result<void>() : attributes.error();
}

Result<void> read_kind_data(const Attribute& nest, Link& link) {
    switch (link.kind) {
        case LinkKind::Bridge: return read_bridge(nest, link);
        case LinkKind::Vlan: return read_vlan(nest, link);
        case LinkKind::Vrf: return read_vrf(nest, link);
        case LinkKind::Bond:
        case LinkKind::Veth:
        case LinkKind::Other: return {};
    }
    return {};
}

Result<void> read_link_info(const Attribute& nest, Link& link) {
    std::optional<Attribute> data;
    AttributeReader attributes(nest);
    while (const auto attribute = attributes.next()) {
        switch (attribute->type) {
            case IFLA_INFO_KIND: link.kind = kind_of(AttributeReader::text(*attribute)); break;
            case IFLA_INFO_DATA: data = attribute; break;
            case IFLA_INFO_SLAVE_KIND:
                link.bridge_port = AttributeReader::text(*attribute) == "bridge";
                link.bond_port = AttributeReader::text(*attribute) == "bond";
                break;
            default: break;
        }
    }
    if (!attributes.ok()) {
        return attributes.error();
    }
    return data ? read_kind_data(*data, link) : Result<void>();
}

OperState oper_state(std::uint8_t value) {
    return value <= IF_OPER_UP ? static_cast<OperState>(value) : OperState::Unknown;
}

Result<Link> read_link(const Message& message, const ifinfomsg& header) {
    Link link{.index = static_cast<IfIndex>(header.ifi_index),
              .admin_up = (header.ifi_flags & IFF_UP) != 0,
              .carrier = (header.ifi_flags & IFF_LOWER_UP) != 0};
    bool lower_elsewhere = false;  // IFLA_LINK is then an index of another namespace.
    std::optional<Attribute> info;
    AttributeReader attributes(message.payload.subspan(sizeof header),
                               message.offset + sizeof header);
    while (const auto attribute = attributes.next()) {
        switch (attribute->type) {
            case IFLA_IFNAME: link.name = AttributeReader::text(*attribute); break;
            case IFLA_ADDRESS: link.mac = AttributeReader::mac(*attribute); break;
            case IFLA_OPERSTATE:
                link.oper = oper_state(attributes.number<std::uint8_t>(*attribute));
                break;
            case IFLA_CARRIER_DOWN_COUNT:
                link.carrier_down_count = attributes.number<std::uint32_t>(*attribute);
                break;
            case IFLA_MASTER:
                link.master = static_cast<IfIndex>(attributes.number<std::uint32_t>(*attribute));
                break;
            case IFLA_LINK:
                link.lower = static_cast<IfIndex>(attributes.number<std::uint32_t>(*attribute));
                break;
            case IFLA_LINK_NETNSID: lower_elsewhere = true; break;
            case IFLA_LINKINFO: info = attribute; break;
            default: break;
        }
    }
    if (!attributes.ok()) {
        return attributes.error();
    }
    if (info) {
        if (const auto read = read_link_info(*info, link); !read) {
            return tl::unexpected(read.error());
        }
    }
    if (lower_elsewhere || link.kind != LinkKind::Vlan) {
        link.lower = IfIndex::None;
    }
    if (link.name.empty()) {
        return fail_at(message.offset, Errc::Malformed, "link without a name");
    }
    return link;
}

}  // namespace

Result<std::optional<Input>> decode_link(const Message& message, Source source) {
    ifinfomsg header{};
    if (message.payload.size() < sizeof header) {
        return fail_at(message.offset, Errc::Truncated, "link message cut short");
    }
    std::memcpy(&header, message.payload.data(), sizeof header);
    if (header.ifi_family != AF_UNSPEC) {
        return std::nullopt;
    }
    if (header.ifi_index <= 0) {
        return fail_at(message.offset, Errc::Malformed, "link without an index");
    }
    auto link = read_link(message, header);
    if (!link) {
        return tl::unexpected(std::move(link.error()));
    }
    if (message.type == RTM_DELLINK) {
        return LinkGone{.link = link->index};
    }
    return LinkSeen{.link = std::move(*link), .source = source};
}

}  // namespace planed::netlink
