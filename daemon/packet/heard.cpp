// SPDX-License-Identifier: Apache-2.0
#include "packet/heard.hpp"

namespace planed::packet {
namespace {

std::optional<Evidence> of_sender(const Heard& heard) {
    if (!heard.sender_mac) {
        return std::nullopt;
    }
    return Evidence{.address = heard.sender, .mac = *heard.sender_mac};
}

std::optional<Evidence> of_advertisement(const Heard& heard) {
    if (heard.target_mac) {
        return Evidence{.address = heard.target,
                        .mac = *heard.target_mac,
                        .strength = heard.flags.overrides ? Strength::Replaces : Strength::Creates};
    }
    if (heard.flags.solicited && !heard.to_multicast) {
        return Evidence{
            .address = heard.target, .mac = heard.ethernet_source, .strength = Strength::Confirms};
    }
    return std::nullopt;
}

}  // namespace

std::optional<Evidence> evidence(const Heard& heard) {
    switch (heard.kind) {
        case Kind::ArpRequest:
        case Kind::ArpReply:
        case Kind::ArpAnnouncement:
        case Kind::Solicitation: return of_sender(heard);
        case Kind::Advertisement: return of_advertisement(heard);
        case Kind::ArpProbe:
        case Kind::DadSolicitation: return std::nullopt;
    }
    return std::nullopt;
}

std::optional<IpAddress> tentative(const Heard& heard) {
    if (heard.kind == Kind::ArpProbe || heard.kind == Kind::DadSolicitation) {
        return heard.target;
    }
    return std::nullopt;
}

std::string_view name(Kind kind) {
    switch (kind) {
        case Kind::ArpRequest: return "arp_request";
        case Kind::ArpReply: return "arp_reply";
        case Kind::ArpAnnouncement: return "arp_announcement";
        case Kind::ArpProbe: return "arp_probe";
        case Kind::Solicitation: return "solicitation";
        case Kind::DadSolicitation: return "dad_solicitation";
        case Kind::Advertisement: return "advertisement";
    }
    return "?";
}

std::string_view name(Refusal refusal) {
    switch (refusal) {
        case Refusal::NotOurs: return "not_ours";
        case Refusal::Truncated: return "truncated";
        case Refusal::EthernetSource: return "ethernet_source";
        case Refusal::TagProtocol: return "tag_protocol";
        case Refusal::TagNested: return "tag_nested";
        case Refusal::TagVlan: return "tag_vlan";
        case Refusal::ArpHardware: return "arp_hardware";
        case Refusal::ArpProtocol: return "arp_protocol";
        case Refusal::ArpLengths: return "arp_lengths";
        case Refusal::ArpOperation: return "arp_operation";
        case Refusal::ArpSenderMac: return "arp_sender_mac";
        case Refusal::ArpMacMismatch: return "arp_mac_mismatch";
        case Refusal::ArpSender: return "arp_sender";
        case Refusal::ArpTarget: return "arp_target";
        case Refusal::Ipv6Version: return "ipv6_version";
        case Refusal::NdHopLimit: return "nd_hop_limit";
        case Refusal::NdLength: return "nd_length";
        case Refusal::NdChecksum: return "nd_checksum";
        case Refusal::NdCode: return "nd_code";
        case Refusal::NdSender: return "nd_sender";
        case Refusal::NdTarget: return "nd_target";
        case Refusal::NdDestination: return "nd_destination";
        case Refusal::NdSolicitedToGroup: return "nd_solicited_to_group";
        case Refusal::NdOptionLength: return "nd_option_length";
        case Refusal::NdLinkLayer: return "nd_link_layer";
        case Refusal::NdMacMismatch: return "nd_mac_mismatch";
        case Refusal::NdDadWithSource: return "nd_dad_with_source";
    }
    return "?";
}

}  // namespace planed::packet
