// SPDX-License-Identifier: Apache-2.0
// What one frame told, or why nothing can be believed of it. Says what was heard and what that is
// evidence of; never whether anyone should act on it.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "net/ids.hpp"
#include "net/ip_address.hpp"
#include "net/mac_address.hpp"

namespace planed::packet {

enum class Kind : std::uint8_t {
    ArpRequest,
    ArpReply,
    ArpAnnouncement,  // Sender and target are one (RFC 5227 3), as request or as reply.
    ArpProbe,         // Sender 0.0.0.0: the target is tentative (RFC 5227 2.1.1).
    Solicitation,     // NS with a source address.
    DadSolicitation,  // NS from ::, the target is tentative (RFC 4862 5.4.2).
    Advertisement,    // NA, solicited or not: see `flags`.
};
inline constexpr std::size_t kKinds = 7;

/// Of an NA (RFC 4861 4.4).
struct AdvertisementFlags {
    bool router = false;
    bool solicited = false;
    bool overrides = false;
    bool operator==(const AdvertisementFlags&) const = default;
};

struct Heard {
    Kind kind = Kind::ArpRequest;
    VlanId vlan = VlanId::None;  // None: untagged; on a VLAN-aware bridge's port its PVID is meant.
    MacAddress ethernet_source{};
    MacAddress ethernet_destination{};
    IpAddress sender{};  // ARP's sender; IPv6's source, which in an NA need not be the target.
    /// ARP's sender MAC, NS's source link-layer address option. Equal to `ethernet_source`.
    std::optional<MacAddress> sender_mac{};
    IpAddress target{};
    /// ARP's target MAC where it is a reply's (in a request it means nothing); NA's target
    /// link-layer address option, equal to `ethernet_source`.
    std::optional<MacAddress> target_mac{};
    bool to_multicast = false;  // IPv6: to a group. ARP: to an Ethernet group, as broadcast is.
    AdvertisementFlags flags{};
    bool operator==(const Heard&) const = default;
};

/// What evidence may do to what is believed of an address; each may do what the ones before may.
enum class Strength : std::uint8_t {
    Confirms,  // Shows that this MAC still has it. Makes no binding.
    Creates,   // Makes a binding where there is none. Does not move one to another MAC.
    Replaces,  // Moves it too.
};

struct Evidence {
    IpAddress address{};
    MacAddress mac{};
    Strength strength = Strength::Replaces;
    bool operator==(const Evidence&) const = default;
};

/// The claim that this frame makes, if any:
/// - ARP request, reply and announcement: the sender, with its MAC (RFC 826).
/// - NS: the source, where the source link-layer address option is there; else nothing, as RFC 4861
///   7.2.3 changes no entry without it.
/// - NA with the target link-layer address option: the target; without the override flag it moves
///   no binding (7.2.5).
/// - NA without the option: 7.2.5 makes no entry of it, but lets a solicited one confirm what the
///   asker has. So, solicited and to a unicast address, it confirms the Ethernet source and no
///   more; else it is evidence of nothing.
/// - ARP probe and DAD: nothing, the address is not yet anyone's.
std::optional<Evidence> evidence(const Heard& heard);

/// The address that the sender means to take if nobody objects: of an ARP probe or a DAD NS.
std::optional<IpAddress> tentative(const Heard& heard);

/// Why a frame was refused.
enum class Refusal : std::uint8_t {
    NotOurs,         // Neither ARP nor NS nor NA.
    Truncated,       // Ends before what its headers promise.
    EthernetSource,  // Zero, or a group.
    TagProtocol,     // Tagged, but not by 802.1Q.
    TagNested,       // A tag in a tag.
    TagVlan,         // VLAN 4095.
    ArpHardware,     // Not Ethernet.
    ArpProtocol,     // Not IPv4.
    ArpLengths,      // Addresses not of 6 and 4 bytes.
    ArpOperation,    // Neither request nor reply.
    ArpSenderMac,    // Zero, or a group.
    ArpMacMismatch,  // The sender's MAC is not the frame's source.
    ArpSender,       // An address that no host can have.
    ArpTarget,       // An address that nobody can be asked for.
    Ipv6Version,     // Not 6.
    NdHopLimit,      // Not 255: may have come through a router.
    NdLength,        // Shorter than its fixed part.
    NdChecksum,
    NdCode,              // Not 0.
    NdSender,            // A source address that no host can have, :: in an NA included.
    NdTarget,            // Multicast, unspecified or loopback.
    NdDestination,       // DAD to other than a solicited-node group.
    NdSolicitedToGroup,  // NA with the solicited flag to a multicast address.
    NdOptionLength,      // Zero, or past the end.
    NdLinkLayer,         // A link-layer address option not of Ethernet's size, or zero or a group.
    NdMacMismatch,       // The option's MAC is not the frame's source.
    NdDadWithSource,     // DAD with a source link-layer address option.
};
inline constexpr std::size_t kRefusals = 27;

/// For counters and logs: "arp_request", "nd_checksum".
std::string_view name(Kind kind);
std::string_view name(Refusal refusal);

}  // namespace planed::packet
