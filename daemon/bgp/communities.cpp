// SPDX-License-Identifier: Apache-2.0
#include "bgp/communities.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "net/assert.hpp"
#include "net/ids.hpp"

namespace planed::bgp {
namespace {

// Type and sub-type.
constexpr std::uint16_t kTargetOfAs = 0x0002;
constexpr std::uint16_t kTargetOfAddress = 0x0102;
constexpr std::uint16_t kTargetOfLongAs = 0x0202;
constexpr std::uint16_t kEncapsulation = 0x030C;
constexpr std::uint16_t kDefaultGateway = 0x030D;
constexpr std::uint16_t kMacMobility = 0x0600;
constexpr std::uint16_t kEsiLabel = 0x0601;
constexpr std::uint16_t kEsImport = 0x0602;
constexpr std::uint16_t kRouterMac = 0x0603;
constexpr std::uint16_t kLayer2Attributes = 0x0604;
constexpr std::uint16_t kDfElection = 0x0606;
constexpr std::uint16_t kArpNd = 0x0608;
constexpr std::uint16_t kServiceCarvingTime = 0x060F;
constexpr std::uint16_t kTransitiveBandwidth = 0x0004;
constexpr std::uint16_t kBandwidth = 0x4004;

constexpr std::uint64_t kValueMask = 0xFFFF'FFFF'FFFFU;

ExtendedCommunity made(std::uint16_t kind, std::uint64_t value) {
    return ExtendedCommunity::of(std::uint64_t{kind} << 48U | (value & kValueMask));
}

std::uint64_t value_of(const ExtendedCommunity& community) {
    return community.word() & kValueMask;
}

/// Where the flags of those that begin with an octet of them are.
constexpr unsigned kFirstOctet = 40;

std::uint64_t flag(bool set, unsigned bit) {
    return set ? std::uint64_t{1} << bit : 0;
}
bool has(std::uint64_t value, unsigned bit) {
    return (value >> bit & 1U) != 0;
}

std::uint64_t as_value(const MacAddress& mac) {
    return big_endian<MacAddress::kSize>(mac.bytes().data());
}

MacAddress as_mac(const ExtendedCommunity& community) {
    MacAddress::Bytes bytes{};
    std::copy_n(community.octets().begin() + 2, bytes.size(), bytes.begin());
    return MacAddress(bytes);
}

std::string text_of(const MacMobility& mobility) {
    return fmt::format("mobility:{}{}", mobility.sequence, mobility.is_static ? " static" : "");
}
std::string text_of(const EsiLabel& label) {
    return fmt::format("esi-label:{} {}", label.label, label.single_active ? "single" : "all");
}
std::string text_of(const DfElection& df) {
    return fmt::format(
        "df:alg {} bitmap 0x{:04x} preference {}", df.algorithm, df.bitmap, df.preference);
}
std::string text_of(const ArpNd& nd) {
    return fmt::format("nd:{}{}{}{}",
                       nd.router ? "R" : "",
                       nd.overrides ? "O" : "",
                       nd.proxy ? "P" : "",
                       nd.immutable ? "I" : "");
}
std::string text_of(const Layer2Attributes& l2) {
    return fmt::format("l2:{}{}{}{} mtu {}",
                       l2.primary ? "P" : "",
                       l2.backup ? "B" : "",
                       l2.control_word ? "C" : "",
                       l2.flow_label ? "F" : "",
                       l2.mtu);
}

}  // namespace

ExtendedCommunity ExtendedCommunity::of(std::uint64_t word) {
    Octets octets{};
    for (std::size_t i = 0; i < kSize; ++i) {
        octets[i] = static_cast<std::uint8_t>(word >> (8 * (kSize - 1 - i)) & 0xFFU);
    }
    return ExtendedCommunity(octets);
}

std::string to_string(const ExtendedCommunity& community) {
    const std::uint64_t value = value_of(community);
    switch (community.kind()) {
        case kTargetOfAs:
            return fmt::format("RT:{}:{}", value >> 32U, static_cast<std::uint32_t>(value));
        case kTargetOfAddress:
            return fmt::format("RT:{}:{}",
                               to_string(RouterId{static_cast<std::uint32_t>(value >> 16U)}),
                               value & 0xFFFFU);
        case kTargetOfLongAs: return fmt::format("RT:{}:{}", value >> 16U, value & 0xFFFFU);
        case kEncapsulation: return fmt::format("encapsulation:{}", value & 0xFFFFU);
        case kDefaultGateway: return "default-gateway";
        case kMacMobility: return text_of(*as_mac_mobility(community));
        case kEsiLabel: return text_of(*as_esi_label(community));
        case kEsImport: return fmt::format("es-import:{}", as_mac(community).to_string());
        case kRouterMac: return fmt::format("router-mac:{}", as_mac(community).to_string());
        case kLayer2Attributes: return text_of(*as_layer2_attributes(community));
        case kDfElection: return text_of(*as_df_election(community));
        case kArpNd: return text_of(*as_arp_nd(community));
        default: return fmt::format("{:016x}", community.word());
    }
}

ExtendedCommunity route_target(AsNumber as, std::uint32_t value) {
    constexpr std::uint32_t kShortAsMax = 0xFFFF;
    const std::uint64_t bits = number(as);
    if (bits <= kShortAsMax) {
        return made(kTargetOfAs, bits << 32U | value);
    }
    return made(kTargetOfLongAs, bits << 16U | (value & 0xFFFFU));
}

ExtendedCommunity route_target(RouterId address, std::uint16_t value) {
    return made(kTargetOfAddress, std::uint64_t{number(address)} << 16U | value);
}

bool is_route_target(const ExtendedCommunity& community) {
    const std::uint16_t kind = community.kind();
    return kind == kTargetOfAs || kind == kTargetOfAddress || kind == kTargetOfLongAs;
}

ExtendedCommunity encapsulation(Encapsulation tunnel) {
    return made(kEncapsulation, static_cast<std::uint16_t>(tunnel));
}

std::optional<std::uint16_t> as_encapsulation(const ExtendedCommunity& community) {
    if (community.kind() != kEncapsulation) {
        return std::nullopt;
    }
    return static_cast<std::uint16_t>(value_of(community));
}

ExtendedCommunity default_gateway() {
    return made(kDefaultGateway, 0);
}

bool is_default_gateway(const ExtendedCommunity& community) {
    return community.kind() == kDefaultGateway;
}

ExtendedCommunity mac_mobility(const MacMobility& mobility) {
    return made(kMacMobility, flag(mobility.is_static, kFirstOctet) | mobility.sequence);
}

std::optional<MacMobility> as_mac_mobility(const ExtendedCommunity& community) {
    if (community.kind() != kMacMobility) {
        return std::nullopt;
    }
    const std::uint64_t value = value_of(community);
    return MacMobility{.is_static = has(value, kFirstOctet),
                       .sequence = static_cast<std::uint32_t>(value)};
}

ExtendedCommunity esi_label(const EsiLabel& esi_label) {
    PLANED_ASSERT(esi_label.label <= kLabelMax);
    PLANED_ASSERT(esi_label.split_horizon <= 3);
    return made(kEsiLabel,
                flag(esi_label.single_active, kFirstOctet) |
                    std::uint64_t{esi_label.split_horizon} << (kFirstOctet + 6) | esi_label.label);
}

std::optional<EsiLabel> as_esi_label(const ExtendedCommunity& community) {
    if (community.kind() != kEsiLabel) {
        return std::nullopt;
    }
    const std::uint64_t value = value_of(community);
    return EsiLabel{.single_active = has(value, kFirstOctet),
                    .split_horizon = static_cast<std::uint8_t>(value >> (kFirstOctet + 6) & 3U),
                    .label = static_cast<Label>(value & kLabelMax)};
}

ExtendedCommunity es_import(const EsiBytes& esi) {
    return made(kEsImport, big_endian<MacAddress::kSize>(&esi[1]));
}

std::optional<MacAddress> as_es_import(const ExtendedCommunity& community) {
    if (community.kind() != kEsImport) {
        return std::nullopt;
    }
    return as_mac(community);
}

ExtendedCommunity router_mac(const MacAddress& mac) {
    return made(kRouterMac, as_value(mac));
}

std::optional<MacAddress> as_router_mac(const ExtendedCommunity& community) {
    if (community.kind() != kRouterMac) {
        return std::nullopt;
    }
    return as_mac(community);
}

ExtendedCommunity layer2_attributes(const Layer2Attributes& attributes) {
    return made(kLayer2Attributes,
                flag(attributes.backup, 32) | flag(attributes.primary, 33) |
                    flag(attributes.control_word, 34) | flag(attributes.flow_label, 35) |
                    std::uint64_t{attributes.mtu} << 16U);
}

std::optional<Layer2Attributes> as_layer2_attributes(const ExtendedCommunity& community) {
    if (community.kind() != kLayer2Attributes) {
        return std::nullopt;
    }
    const std::uint64_t value = value_of(community);
    return Layer2Attributes{.primary = has(value, 33),
                            .backup = has(value, 32),
                            .control_word = has(value, 34),
                            .flow_label = has(value, 35),
                            .mtu = static_cast<std::uint16_t>(value >> 16U)};
}

ExtendedCommunity df_election(const DfElection& election) {
    PLANED_ASSERT(election.algorithm <= 0x1F);
    return made(kDfElection,
                std::uint64_t{election.algorithm} << kFirstOctet |
                    std::uint64_t{election.bitmap} << 24U | election.preference);
}

std::optional<DfElection> as_df_election(const ExtendedCommunity& community) {
    if (community.kind() != kDfElection) {
        return std::nullopt;
    }
    const std::uint64_t value = value_of(community);
    return DfElection{.algorithm = static_cast<std::uint8_t>(value >> kFirstOctet & 0x1FU),
                      .bitmap = static_cast<std::uint16_t>(value >> 24U),
                      .preference = static_cast<std::uint16_t>(value)};
}

ExtendedCommunity arp_nd(const ArpNd& flags) {
    return made(kArpNd,
                flag(flags.router, kFirstOctet) | flag(flags.overrides, kFirstOctet + 1) |
                    flag(flags.proxy, kFirstOctet + 2) | flag(flags.immutable, kFirstOctet + 3));
}

std::optional<ArpNd> as_arp_nd(const ExtendedCommunity& community) {
    if (community.kind() != kArpNd) {
        return std::nullopt;
    }
    const std::uint64_t value = value_of(community);
    return ArpNd{.router = has(value, kFirstOctet),
                 .overrides = has(value, kFirstOctet + 1),
                 .proxy = has(value, kFirstOctet + 2),
                 .immutable = has(value, kFirstOctet + 3)};
}

ExtendedCommunity service_carving_time(const ServiceCarvingTime& time) {
    return made(kServiceCarvingTime, std::uint64_t{time.seconds} << 16U | time.fraction);
}

std::optional<ServiceCarvingTime> as_service_carving_time(const ExtendedCommunity& community) {
    if (community.kind() != kServiceCarvingTime) {
        return std::nullopt;
    }
    const std::uint64_t value = value_of(community);
    return ServiceCarvingTime{.seconds = static_cast<std::uint32_t>(value >> 16U),
                              .fraction = static_cast<std::uint16_t>(value)};
}

ExtendedCommunity link_bandwidth(const LinkBandwidth& bandwidth) {
    static_assert(sizeof(float) == sizeof(std::uint32_t));
    return made(bandwidth.transitive ? kTransitiveBandwidth : kBandwidth,
                std::uint64_t{bandwidth.as} << 32U |
                    std::bit_cast<std::uint32_t>(bandwidth.octets_per_second));
}

std::optional<LinkBandwidth> as_link_bandwidth(const ExtendedCommunity& community) {
    const std::uint16_t kind = community.kind();
    const std::uint64_t value = value_of(community);
    const auto octets = std::bit_cast<float>(static_cast<std::uint32_t>(value));
    if ((kind != kBandwidth && kind != kTransitiveBandwidth) || !std::isfinite(octets) ||
        octets < 0) {
        return std::nullopt;
    }
    return LinkBandwidth{.transitive = kind == kTransitiveBandwidth,
                         .as = static_cast<std::uint16_t>(value >> 32U),
                         .octets_per_second = octets};
}

DfElection df_election_of(std::span<const ExtendedCommunity> communities) {
    const auto is_one = [](const ExtendedCommunity& c) { return c.kind() == kDfElection; };
    if (std::ranges::count_if(communities, is_one) != 1) {
        return {};
    }
    return *first_of(communities, &as_df_election);
}

}  // namespace planed::bgp
