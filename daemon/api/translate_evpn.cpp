// SPDX-License-Identifier: Apache-2.0
#include "api/translate_evpn.hpp"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "net/ids.hpp"

namespace planed::api {
namespace {

std::string word(const bgp::AddressFamily& family) {
    return family == bgp::AddressFamily{} ? "l2vpn_evpn"
                                          : fmt::format("afi_{}_safi_{}", family.afi, family.safi);
}

std::vector<std::string> words(const bgp::Capabilities& capabilities) {
    std::vector<std::string> result;
    for (const bgp::AddressFamily& family : capabilities.families) {
        result.push_back(word(family));
    }
    const auto add = [&result](bool has, const char* name) {
        if (has) {
            result.emplace_back(name);
        }
    };
    add(capabilities.route_refresh, "route_refresh");
    add(capabilities.enhanced_route_refresh, "enhanced_route_refresh");
    add(capabilities.extended_message, "extended_message");
    add(capabilities.four_octet_as.has_value(), "four_octet_as");
    add(capabilities.graceful_restart.has_value(), "graceful_restart");
    for (const bgp::RawCapability& other : capabilities.others) {
        result.push_back(fmt::format("capability_{}", other.code));
    }
    return result;
}

/// Empty: it names no segment.
std::string text(const bgp::EsiBytes& esi) {
    return esi == bgp::EsiBytes{} ? std::string() : fmt::format("{:02x}", fmt::join(esi, ":"));
}

std::string text(const IpAddress& address) {
    return address.is_unspecified() ? std::string() : address.to_string();
}

struct FillRoute {
    v1::EvpnRoute& message;
    const bgp::Attributes& attributes;

    void operator()(const bgp::EthernetAd& route) const {
        message.set_rd(route.rd.to_string());
        message.set_esi(text(route.esi));
        message.set_tag(route.tag);
        message.add_labels(route.label);
    }
    void operator()(const bgp::MacIp& route) const {
        message.set_rd(route.rd.to_string());
        message.set_esi(text(route.esi));
        message.set_tag(route.tag);
        message.set_mac(route.mac.to_string());
        if (route.ip) {
            message.set_ip(route.ip->to_string());
        }
        message.add_labels(route.label1);
        if (route.label2) {
            message.add_labels(*route.label2);
        }
    }
    // Its VNI is in the tunnel attribute.
    void operator()(const bgp::Multicast& route) const {
        message.set_rd(route.rd.to_string());
        message.set_tag(route.tag);
        message.set_ip(route.originator.to_string());
        if (attributes.pmsi) {
            message.add_labels(attributes.pmsi->label);
        }
    }
    void operator()(const bgp::Segment& route) const {
        message.set_rd(route.rd.to_string());
        message.set_esi(text(route.esi));
        message.set_ip(route.originator.to_string());
    }
    void operator()(const bgp::Prefix& route) const {
        message.set_rd(route.rd.to_string());
        message.set_esi(text(route.esi));
        message.set_tag(route.tag);
        message.set_ip(route.prefix.to_string());
        message.set_gateway(text(route.gateway));
        message.add_labels(route.label);
    }
};

std::string algorithm_word(std::uint8_t algorithm) {
    return algorithm <= static_cast<std::uint8_t>(evpn::DfAlgorithm::LowestPreference)
               ? std::string(evpn::name_of(evpn::DfAlgorithm{algorithm}))
               : fmt::format("algorithm_{}", algorithm);
}

std::string text(const std::optional<IpAddress>& address) {
    return address ? address->to_string() : std::string();
}

void fill(v1::SegmentVrf& message,
          const evpn::SegmentView& segment,
          const evpn::VrfRoleView& role) {
    message.set_vrf(role.vrf);
    message.set_vni(role.vni);
    for (const evpn::DfCandidate& candidate : role.candidates) {
        const evpn::DfOffer& offer = candidate.offer;
        v1::SegmentLeaf& leaf = *message.add_leaves();
        leaf.set_leaf(candidate.originator.to_string());
        leaf.set_algorithm(algorithm_word(offer.algorithm));
        leaf.set_preference(offer.preference);
        leaf.set_dont_preempt((offer.bitmap & evpn::DfOffer::kDontPreempt) != 0);
        leaf.set_ac_df((offer.bitmap & evpn::DfOffer::kAcInfluenced) != 0);
    }
    message.set_role(std::string(evpn::role_of(segment, role)));
    if (!segment.announced || !role.elected) {
        return;
    }
    message.set_forwarder(text(role.result.forwarder));
    message.set_backup(text(role.result.backup));
    message.set_algorithm(std::string(evpn::name_of(role.result.algorithm)));
    message.set_fell_back(role.result.fell_back);
}

}  // namespace

void fill(v1::Segment& message, const evpn::SegmentView& segment) {
    message.set_esi(segment.esi.to_string());
    message.set_port(segment.port);
    message.set_up(segment.up);
    message.set_announced(segment.announced);
    message.set_local_hosts(segment.local);
    message.set_synced_hosts(segment.synced);
    message.set_algorithm(algorithm_word(segment.offer.algorithm));
    message.set_preference(segment.offer.preference);
    for (const evpn::VrfRoleView& role : segment.roles) {
        fill(*message.add_vrfs(), segment, role);
    }
    message.set_role(std::string(evpn::role_of(segment)));
    message.set_forwarder(text(evpn::forwarder_of(segment)));
}

void fill(v1::Peer& message, const bgp::PeerView& peer, WallOffset wall) {
    message.set_address(peer.address.to_string());
    message.set_remote_as(number(peer.remote_as));
    message.set_description(peer.description);
    message.set_state(std::string(bgp::state_of(peer)));
    if (peer.since) {
        set_time(*message.mutable_since(), *peer.since, wall);
    }
    message.set_passive(peer.passive);
    message.set_routes(peer.routes);
    message.set_max_prefixes(static_cast<std::uint32_t>(peer.routes_max));
    message.set_messages_received(peer.traffic.messages_received);
    message.set_messages_sent(peer.traffic.messages_sent);
    message.set_updates_received(peer.traffic.updates_received);
    message.set_updates_sent(peer.traffic.updates_sent);
    message.set_sessions(peer.sessions);
    message.set_faults(peer.faults);
    message.set_last_error(peer.last_error);
    if (peer.last_error_at) {
        set_time(*message.mutable_last_error_at(), *peer.last_error_at, wall);
    }
    if (peer.open) {
        constexpr std::uint32_t kMilliseconds = 1000;
        message.set_router_id(bgp::to_string(peer.open->id));
        message.set_hold_time_ms(peer.hold_seconds * kMilliseconds);
        for (std::string& capability : words(peer.open->capabilities)) {
            message.add_capabilities(std::move(capability));
        }
    }
    message.set_end_of_rib(peer.end_of_rib);
}

void fill(v1::EvpnRoute& message, const bgp::RouteRow& row, WallOffset wall) {
    const bgp::Attributes& attributes = row.path->attributes;
    message.set_peer(row.peer.to_string());
    message.set_type(bgp::type_of(row.route));
    std::visit(FillRoute{.message = message, .attributes = attributes}, row.route);
    message.set_next_hop(row.path->next_hop.address.to_string());
    message.set_as_path(bgp::to_string(attributes.as_path));
    for (const bgp::ExtendedCommunity& community : attributes.communities) {
        message.add_communities(bgp::to_string(community));
    }
    message.set_stale(row.stale);
    set_time(*message.mutable_since(), row.since, wall);
}

bool matches(const v1::EvpnRoutesRequest& request, const bgp::RouteRow& row) {
    return (request.peer().empty() || request.peer() == row.peer.to_string()) &&
           (request.type() == 0 || request.type() == bgp::type_of(row.route));
}

}  // namespace planed::api
