// SPDX-License-Identifier: Apache-2.0
#include "netlink/requests.hpp"

#include <memory>
#include <span>

#include <sys/socket.h>

#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/ip.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include "net/assert.hpp"

namespace planed::netlink {
namespace {

using Encoded = std::vector<std::uint8_t>;

struct FreeMessage {
    void operator()(nl_msg* message) const { nlmsg_free(message); }
};

/// One request under construction. libnl's messages have a page, which none of ours fills, so an
/// attribute that does not fit is a bug.
class Request {
public:
    Request(int type, int flags, std::uint32_t sequence)
        : message_(nlmsg_alloc_simple(type, flags | NLM_F_REQUEST)) {
        PLANED_ASSERT(message_ != nullptr);
        nlmsg_hdr(message_.get())->nlmsg_seq = sequence;
    }

    template <class Header>
    Request& header(Header header) {
        PLANED_ASSERT(nlmsg_append(message_.get(), &header, sizeof header, NLMSG_ALIGNTO) == 0);
        return *this;
    }
    Request& u32(int type, std::uint32_t value) {
        PLANED_ASSERT(nla_put_u32(message_.get(), type, value) == 0);
        return *this;
    }
    Request& u64(int type, std::uint64_t value) {
        PLANED_ASSERT(nla_put_u64(message_.get(), type, value) == 0);
        return *this;
    }
    Request& u16(int type, std::uint16_t value) {
        PLANED_ASSERT(nla_put_u16(message_.get(), type, value) == 0);
        return *this;
    }
    Request& u8(int type, std::uint8_t value) {
        PLANED_ASSERT(nla_put_u8(message_.get(), type, value) == 0);
        return *this;
    }
    Request& bytes(int type, std::span<const std::uint8_t> value) {
        PLANED_ASSERT(nla_put(message_.get(), type, static_cast<int>(value.size()), value.data()) ==
                      0);
        return *this;
    }
    Request& text(int type, const char* value) {
        PLANED_ASSERT(nla_put_string(message_.get(), type, value) == 0);
        return *this;
    }
    /// `fill` adds what is inside.
    template <class Fill>
    Request& nest(int type, Fill fill) {
        nlattr* const start = nla_nest_start(message_.get(), type);
        PLANED_ASSERT(start != nullptr);
        fill();
        PLANED_ASSERT(nla_nest_end(message_.get(), start) == 0);
        return *this;
    }

    [[nodiscard]] Encoded encoded() const {
        const nlmsghdr* const header = nlmsg_hdr(message_.get());
        const auto* const first = reinterpret_cast<const std::uint8_t*>(header);
        return {first, first + header->nlmsg_len};
    }

private:
    std::unique_ptr<nl_msg, FreeMessage> message_;
};

int kernel_index(IfIndex link) {
    return static_cast<int>(number(link));
}

std::uint8_t kernel_family(Family family) {
    return family == Family::V4 ? AF_INET : AF_INET6;
}

ndmsg neighbor_header(const NeighborKey& key, std::uint16_t state, std::uint8_t flags) {
    ndmsg header{};
    header.ndm_family = kernel_family(key.address.family());
    header.ndm_ifindex = kernel_index(key.link);
    header.ndm_state = state;
    header.ndm_flags = flags;
    return header;
}

Encoded links_dump(std::uint32_t sequence) {
    return Request(RTM_GETLINK, NLM_F_DUMP, sequence)
        .header(ifinfomsg{})
        .u32(IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS)
        .encoded();
}

Encoded neighbors_dump(std::uint8_t family, std::uint8_t flags, std::uint32_t sequence) {
    ndmsg header{};
    header.ndm_family = family;
    header.ndm_flags = flags;
    return Request(RTM_GETNEIGH, NLM_F_DUMP, sequence).header(header).encoded();
}

/// RTM_SETLINK with one entry of IFLA_AF_SPEC / AF_INET / IFLA_INET_CONF (net/ipv4/devinet.c).
Encoded inet_conf(const ApplySetting& apply, int entry, std::uint32_t sequence) {
    ifinfomsg header{};
    header.ifi_index = kernel_index(apply.link);
    Request request(RTM_SETLINK, NLM_F_ACK, sequence);
    request.header(header);
    request.nest(IFLA_AF_SPEC, [&] {
        request.nest(AF_INET, [&] {
            request.nest(IFLA_INET_CONF, [&] { request.u32(entry, apply.value); });
        });
    });
    return request.encoded();
}

/// RTM_SETNEIGHTBL with one parameter of one interface (net/core/neighbour.c). `put` adds it.
template <class Put>
Encoded neighbor_table(const ApplySetting& apply, Family family, std::uint32_t sequence, Put put) {
    Request request(RTM_SETNEIGHTBL, NLM_F_ACK | NLM_F_REPLACE, sequence);
    request.header(ndtmsg{});  // The name below says which table.
    request.text(NDTA_NAME, family == Family::V4 ? "arp_cache" : "ndisc_cache");
    request.nest(NDTA_PARMS, [&] {
        request.u32(NDTPA_IFINDEX, number(apply.link));
        put(request);
    });
    return request.encoded();
}

}  // namespace

Encoded dump_request(DumpKind kind, std::uint32_t sequence) {
    switch (kind) {
        case DumpKind::Links: return links_dump(sequence);
        case DumpKind::Addresses:
            return Request(RTM_GETADDR, NLM_F_DUMP, sequence).header(ifaddrmsg{}).encoded();
        case DumpKind::Neighbors: return neighbors_dump(AF_UNSPEC, 0, sequence);
        case DumpKind::Fdb: return neighbors_dump(AF_BRIDGE, 0, sequence);
        // IPv4's is the kernel's own business (proxy_arp).
        case DumpKind::Proxies: return neighbors_dump(AF_INET6, NTF_PROXY, sequence);
    }
    return {};
}

Encoded read_link_request(IfIndex link, std::uint32_t sequence) {
    ifinfomsg header{};
    header.ifi_index = kernel_index(link);
    return Request(RTM_GETLINK, 0, sequence)
        .header(header)
        .u32(IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS)
        .encoded();
}

Encoded read_ports_request(IfIndex master, std::uint32_t sequence) {
    return Request(RTM_GETLINK, NLM_F_DUMP, sequence)
        .header(ifinfomsg{})
        .u32(IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS)
        .u32(IFLA_MASTER, number(master))
        .encoded();
}

Encoded write_neighbor_request(const WriteNeighbor& write, std::uint32_t sequence) {
    const auto state = static_cast<std::uint16_t>(write.state);
    const std::uint8_t flags = write.ext_learned ? NTF_EXT_LEARNED : 0;
    const int create = NLM_F_CREATE | (write.only_new ? NLM_F_EXCL : NLM_F_REPLACE);
    if (write.resolve) {
        return Request(RTM_NEWNEIGH, NLM_F_ACK | create, sequence)
            .header(neighbor_header(write.key, NUD_NONE, NTF_USE))
            .bytes(NDA_DST, write.key.address.bytes())
            .encoded();
    }
    return Request(RTM_NEWNEIGH, NLM_F_ACK | create, sequence)
        .header(neighbor_header(write.key, state, flags))
        .u8(NDA_PROTOCOL, write.ext_learned ? kNeighborProtocol : std::uint8_t{RTPROT_UNSPEC})
        .bytes(NDA_DST, write.key.address.bytes())
        .bytes(NDA_LLADDR, write.mac.bytes())
        .encoded();
}

Encoded read_forwarding_request(const ReadForwarding& read, std::uint32_t sequence) {
    ndmsg header{};
    header.ndm_family = AF_BRIDGE;
    Request request(RTM_GETNEIGH, 0, sequence);
    request.header(header).bytes(NDA_LLADDR, read.key.mac.bytes());
    if (read.key.vlan != VlanId::None) {
        request.u16(NDA_VLAN, number(read.key.vlan));
    }
    return request.u32(NDA_MASTER, number(read.key.bridge)).encoded();
}

Encoded write_forwarding_request(const WriteForwarding& write, std::uint32_t sequence) {
    ndmsg header{};
    header.ndm_family = AF_BRIDGE;
    header.ndm_ifindex = static_cast<int>(number(write.port));
    header.ndm_state = NUD_REACHABLE;
    header.ndm_flags = NTF_MASTER | NTF_EXT_LEARNED;
    const int type = write.put ? RTM_NEWNEIGH : RTM_DELNEIGH;
    const int create = write.put ? NLM_F_CREATE | NLM_F_REPLACE : 0;
    Request request(type, NLM_F_ACK | create, sequence);
    request.header(header).bytes(NDA_LLADDR, write.key.mac.bytes());
    if (write.key.vlan != VlanId::None) {
        request.u16(NDA_VLAN, number(write.key.vlan));
    }
    return request.encoded();
}

Encoded delete_neighbor_request(const DeleteNeighbor& remove, std::uint32_t sequence) {
    return Request(RTM_DELNEIGH, NLM_F_ACK, sequence)
        .header(neighbor_header(remove.key, NUD_NONE, 0))
        .bytes(NDA_DST, remove.key.address.bytes())
        .encoded();
}

// The kernel looks at no flag of creation for these: what is there is taken over. Permanent ones
// stay when only the carrier goes, on kernels that know the difference.
Encoded proxy_request(const SendProxy& send, std::uint32_t sequence) {
    const ndmsg header = neighbor_header(send.key, NUD_PERMANENT, NTF_PROXY);
    if (!send.put) {
        return Request(RTM_DELNEIGH, NLM_F_ACK, sequence)
            .header(header)
            .bytes(NDA_DST, send.key.address.bytes())
            .encoded();
    }
    return Request(RTM_NEWNEIGH, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, sequence)
        .header(header)
        .u8(NDA_PROTOCOL, kNeighborProtocol)
        .bytes(NDA_DST, send.key.address.bytes())
        .encoded();
}

std::optional<Encoded> setting_request(const ApplySetting& apply, std::uint32_t sequence) {
    switch (apply.setting) {
        case Setting::ArpAccept: return inet_conf(apply, IPV4_DEVCONF_ARP_ACCEPT, sequence);
        case Setting::ProxyArp: return inet_conf(apply, IPV4_DEVCONF_PROXY_ARP, sequence);
        case Setting::AcceptUntrackedNa:
        case Setting::Forwarding6:
        case Setting::ProxyNdp: return std::nullopt;
        case Setting::McastResolicit4:
        case Setting::McastResolicit6: {
            const auto family = apply.setting == Setting::McastResolicit4 ? Family::V4 : Family::V6;
            return neighbor_table(apply, family, sequence, [&](Request& request) {
                request.u32(NDTPA_MCAST_REPROBES, apply.value);
            });
        }
        case Setting::UcastSolicit4:
        case Setting::UcastSolicit6: {
            const auto family = apply.setting == Setting::UcastSolicit4 ? Family::V4 : Family::V6;
            return neighbor_table(apply, family, sequence, [&](Request& request) {
                request.u32(NDTPA_UCAST_PROBES, apply.value);
            });
        }
        case Setting::RetransTime4:
        case Setting::RetransTime6: {
            const auto family = apply.setting == Setting::RetransTime4 ? Family::V4 : Family::V6;
            return neighbor_table(apply, family, sequence, [&](Request& request) {
                request.u64(NDTPA_RETRANS_TIME, apply.value);
            });
        }
        case Setting::ProxyDelay4:
        case Setting::ProxyDelay6: {
            const auto family = apply.setting == Setting::ProxyDelay4 ? Family::V4 : Family::V6;
            return neighbor_table(apply, family, sequence, [&](Request& request) {
                request.u64(NDTPA_PROXY_DELAY, apply.value);
            });
        }
        case Setting::ProxyQlen4:
        case Setting::ProxyQlen6: {
            const auto family = apply.setting == Setting::ProxyQlen4 ? Family::V4 : Family::V6;
            return neighbor_table(apply, family, sequence, [&](Request& request) {
                request.u32(NDTPA_PROXY_QLEN, apply.value);
            });
        }
    }
    return std::nullopt;
}

Encoded link_up_request(const SetLinkUp& set, std::uint32_t sequence) {
    ifinfomsg header{};
    header.ifi_index = kernel_index(set.link);
    header.ifi_flags = set.up ? IFF_UP : 0;
    header.ifi_change = IFF_UP;
    return Request(RTM_SETLINK, NLM_F_ACK, sequence).header(header).encoded();
}

}  // namespace planed::netlink
