// SPDX-License-Identifier: Apache-2.0
#include "netlink/table_codec.hpp"

#include <algorithm>
#include <cstring>

#include <sys/socket.h>

#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include "netlink/attributes.hpp"

namespace planed::netlink {
namespace {

std::uint32_t entries_of(const Attribute& attribute) {
    ndt_config config{};
    std::memcpy(
        &config, attribute.payload.data(), std::min(attribute.payload.size(), sizeof config));
    return config.ndtc_entries;
}

std::uint64_t table_fulls_of(const Attribute& attribute) {
    ndt_stats stats{};
    std::memcpy(&stats, attribute.payload.data(), std::min(attribute.payload.size(), sizeof stats));
    return stats.ndts_table_fulls;
}

}  // namespace

std::vector<std::uint8_t> dump_neighbor_tables(std::uint32_t sequence) {
    struct {
        nlmsghdr header;
        ndtmsg body;
    } message{};
    message.header.nlmsg_len = sizeof message;
    message.header.nlmsg_type = RTM_GETNEIGHTBL;
    message.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    message.header.nlmsg_seq = sequence;
    message.body.ndtm_family = AF_UNSPEC;
    std::vector<std::uint8_t> bytes(sizeof message);
    std::memcpy(bytes.data(), &message, sizeof message);
    return bytes;
}

Result<std::optional<NeighborTableSeen>> decode_neighbor_table(const Message& message) {
    ndtmsg body{};
    if (message.type != RTM_NEWNEIGHTBL) {
        return std::nullopt;
    }
    if (message.payload.size() < sizeof body) {
        return fail_at(message.offset, Errc::Truncated, "neighbour table row too short");
    }
    std::memcpy(&body, message.payload.data(), sizeof body);
    if (body.ndtm_family != AF_INET && body.ndtm_family != AF_INET6) {
        return std::nullopt;
    }
    NeighborTableSeen seen{.family = body.ndtm_family == AF_INET ? Family::V4 : Family::V6};
    bool whole_table = false;
    AttributeReader attributes(message.payload.subspan(NLMSG_ALIGN(sizeof body)),
                               message.offset + NLMSG_ALIGN(sizeof body));
    while (const auto attribute = attributes.next()) {
        switch (attribute->type) {
            case NDTA_THRESH1:
                seen.gc_thresh1 = attributes.number<std::uint32_t>(*attribute);
                break;
            case NDTA_THRESH3:
                seen.gc_thresh3 = attributes.number<std::uint32_t>(*attribute);
                whole_table = true;  // Rows of single devices have none.
                break;
            case NDTA_CONFIG: seen.entries = entries_of(*attribute); break;
            case NDTA_STATS: seen.table_fulls = table_fulls_of(*attribute); break;
            default: break;
        }
    }
    if (!attributes.ok()) {
        return attributes.error();
    }
    return whole_table ? std::optional(seen) : std::nullopt;
}

}  // namespace planed::netlink
