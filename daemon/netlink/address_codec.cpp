// SPDX-License-Identifier: Apache-2.0
#include "netlink/address_codec.hpp"

#include <cstring>

#include <sys/socket.h>

#include <linux/if_addr.h>
#include <linux/rtnetlink.h>

#include "netlink/attributes.hpp"

namespace planed::netlink {
namespace {

/// IFA_LOCAL is ours; IFA_ADDRESS is the same, or the far end's where there is one. IPv6 has
/// IFA_LOCAL only with a peer.
std::optional<IpPrefix> own_prefix(const std::optional<IpAddress>& local,
                                   const std::optional<IpAddress>& address,
                                   std::uint8_t length) {
    if (!local) {
        return address ? std::optional(IpPrefix(*address, length)) : std::nullopt;
    }
    if (address && !IpPrefix(*address, length).contains(*local)) {
        return host_prefix(*local);
    }
    return IpPrefix(*local, length);
}

Result<IpPrefix> read_prefix(const Message& message, const ifaddrmsg& header, Family family) {
    std::optional<IpAddress> local;
    std::optional<IpAddress> address;
    AttributeReader attributes(message.payload.subspan(sizeof header),
                               message.offset + sizeof header);
    while (const auto attribute = attributes.next()) {
        switch (attribute->type) {
            case IFA_LOCAL: local = attributes.address(*attribute, family); break;
            case IFA_ADDRESS: address = attributes.address(*attribute, family); break;
            default: break;
        }
    }
    if (!attributes.ok()) {
        return attributes.error();
    }
    if (header.ifa_prefixlen > bits_of(family)) {
        return fail_at(message.offset, Errc::Malformed, "prefix longer than the address");
    }
    const auto prefix = own_prefix(local, address, header.ifa_prefixlen);
    if (!prefix) {
        return fail_at(message.offset, Errc::Malformed, "address message without an address");
    }
    return *prefix;
}

}  // namespace

Result<std::optional<Input>> decode_address(const Message& message, Source source) {
    ifaddrmsg header{};
    if (message.payload.size() < sizeof header) {
        return fail_at(message.offset, Errc::Truncated, "address message cut short");
    }
    std::memcpy(&header, message.payload.data(), sizeof header);
    if (header.ifa_family != AF_INET && header.ifa_family != AF_INET6) {
        return std::nullopt;
    }
    if (header.ifa_index == 0) {
        return fail_at(message.offset, Errc::Malformed, "address without an interface");
    }
    const auto prefix =
        read_prefix(message, header, header.ifa_family == AF_INET ? Family::V4 : Family::V6);
    if (!prefix) {
        return tl::unexpected(prefix.error());
    }
    const auto link = static_cast<IfIndex>(header.ifa_index);
    if (message.type == RTM_DELADDR) {
        return AddressGone{.link = link, .address = *prefix};
    }
    return AddressSeen{.link = link, .address = *prefix, .source = source};
}

}  // namespace planed::netlink
