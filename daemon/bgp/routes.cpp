// SPDX-License-Identifier: Apache-2.0
#include "bgp/routes.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "net/assert.hpp"
#include "net/byte_reader.hpp"
#include "net/byte_writer.hpp"
#include "net/overloaded.hpp"

namespace planed::bgp {
namespace {

constexpr std::uint8_t kMacBits = 48;
constexpr std::size_t kLabelSize = 3;

// The order of the variant is the order of the numbers.
constexpr std::uint8_t kEthernetAd = 1;
constexpr std::uint8_t kMacIp = 2;
constexpr std::uint8_t kMulticast = 3;
constexpr std::uint8_t kSegment = 4;
constexpr std::uint8_t kPrefix = 5;

// --- Writing. ---

void write_label(Label label, ByteWriter& out) {
    PLANED_ASSERT(label <= kLabelMax);
    out.u8(static_cast<std::uint8_t>(label >> 16U));
    out.u16(static_cast<std::uint16_t>(label & 0xFFFFU));
}

void write_address(const IpAddress& address, ByteWriter& out) {
    out.u8(address.bits());
    out.bytes(address.bytes());
}

void write_body(const EthernetAd& route, ByteWriter& out) {
    out.bytes(route.rd.octets());
    out.bytes(route.esi);
    out.u32(route.tag);
    write_label(route.label, out);
}

void write_body(const MacIp& route, ByteWriter& out) {
    out.bytes(route.rd.octets());
    out.bytes(route.esi);
    out.u32(route.tag);
    out.u8(kMacBits);
    out.bytes(route.mac.bytes());
    if (route.ip) {
        write_address(*route.ip, out);
    } else {
        out.u8(0);
    }
    write_label(route.label1, out);
    if (route.label2) {
        write_label(*route.label2, out);
    }
}

void write_body(const Multicast& route, ByteWriter& out) {
    out.bytes(route.rd.octets());
    out.u32(route.tag);
    write_address(route.originator, out);
}

void write_body(const Segment& route, ByteWriter& out) {
    out.bytes(route.rd.octets());
    out.bytes(route.esi);
    write_address(route.originator, out);
}

void write_body(const Prefix& route, ByteWriter& out) {
    PLANED_ASSERT(route.gateway.family() == route.prefix.address().family());
    out.bytes(route.rd.octets());
    out.bytes(route.esi);
    out.u32(route.tag);
    out.u8(route.prefix.length());
    out.bytes(route.prefix.address().bytes());
    out.bytes(route.gateway.bytes());
    write_label(route.label, out);
}

// --- Reading. ---

RouteDistinguisher read_rd(ByteReader& in) {
    RouteDistinguisher::Octets octets{};
    std::ranges::copy(in.take(octets.size()), octets.begin());
    return RouteDistinguisher(octets);
}

EsiBytes read_esi(ByteReader& in) {
    EsiBytes esi{};
    std::ranges::copy(in.take(esi.size()), esi.begin());
    return esi;
}

Label read_label(ByteReader& in) {
    const Label high = in.u8();
    return high << 16U | in.u16();
}

std::optional<Family> family_of(std::uint8_t bits) {
    switch (bits) {
        case bits_of(Family::V4): return Family::V4;
        case bits_of(Family::V6): return Family::V6;
        default: return std::nullopt;
    }
}

IpAddress read_bytes_of(Family family, ByteReader& in) {
    return IpAddress::from_bytes(family, in.take(bits_of(family) / 8U))
        .value_or(family == Family::V4 ? IpAddress() : IpAddress::v6({}));
}

std::size_t size_of(const ByteReader& in) {
    return in.offset() + in.remaining();
}

tl::unexpected<Error> too_short(const ByteReader& in) {
    return fail_at(in.offset(), Errc::Truncated, fmt::format("{} octets are too few", size_of(in)));
}

/// `route` if the body ended exactly behind it.
template <class T>
Result<T> finished(const ByteReader& in, const T& route) {
    if (!in.ok()) {
        return too_short(in);
    }
    if (in.remaining() != 0) {
        return fail_at(in.offset(),
                       Errc::Malformed,
                       fmt::format("{} octets, {} of them too many", size_of(in), in.remaining()));
    }
    return route;
}

/// Length u8 in bits, address.
Result<IpAddress> read_address(std::string_view what, ByteReader& in) {
    const std::size_t at = in.offset();
    const std::uint8_t bits = in.u8();
    const auto family = family_of(bits);
    if (!in.ok()) {
        return too_short(in);
    }
    if (!family) {
        return fail_at(
            at, Errc::Malformed, fmt::format("{} of {} bits is neither IPv4 nor IPv6", what, bits));
    }
    return read_bytes_of(*family, in);
}

Result<EthernetAd> read_ethernet_ad(ByteReader& in) {
    EthernetAd route;
    route.rd = read_rd(in);
    route.esi = read_esi(in);
    route.tag = in.u32();
    route.label = read_label(in);
    return finished(in, route);
}

/// What is between the MAC and the labels: length u8 in bits, which may be zero, address.
Result<std::optional<IpAddress>> read_optional_address(ByteReader& in) {
    ByteReader ahead = in;
    if (ahead.u8() == 0 && ahead.ok()) {
        in = ahead;
        return std::optional<IpAddress>();
    }
    auto address = read_address("IP address", in);
    if (!address) {
        return tl::unexpected(std::move(address.error()));
    }
    return std::optional<IpAddress>(*address);
}

Result<MacIp> read_mac_ip(ByteReader& in) {
    MacIp route;
    route.rd = read_rd(in);
    route.esi = read_esi(in);
    route.tag = in.u32();
    const std::size_t at = in.offset();
    const std::uint8_t mac_bits = in.u8();
    if (in.ok() && mac_bits != kMacBits) {
        return fail_at(at, Errc::Malformed, fmt::format("MAC address of {} bits", mac_bits));
    }
    route.mac = MacAddress::from_bytes(in.take(MacAddress::kSize)).value_or(MacAddress());
    auto address = read_optional_address(in);
    if (!address) {
        return tl::unexpected(std::move(address.error()));
    }
    route.ip = *address;
    route.label1 = read_label(in);
    if (in.ok() && in.remaining() == kLabelSize) {
        route.label2 = read_label(in);
    }
    return finished(in, route);
}

Result<Multicast> read_multicast(ByteReader& in) {
    Multicast route;
    route.rd = read_rd(in);
    route.tag = in.u32();
    auto originator = read_address("originator", in);
    if (!originator) {
        return tl::unexpected(std::move(originator.error()));
    }
    route.originator = *originator;
    return finished(in, route);
}

Result<Segment> read_segment(ByteReader& in) {
    Segment route;
    route.rd = read_rd(in);
    route.esi = read_esi(in);
    auto originator = read_address("originator", in);
    if (!originator) {
        return tl::unexpected(std::move(originator.error()));
    }
    route.originator = *originator;
    return finished(in, route);
}

/// The family is told by the length of the whole (RFC 9136 3.1).
Result<Prefix> read_prefix(ByteReader& in) {
    constexpr std::size_t kV4Size = 34;
    const Family family = in.remaining() > kV4Size ? Family::V6 : Family::V4;
    Prefix route;
    route.rd = read_rd(in);
    route.esi = read_esi(in);
    route.tag = in.u32();
    const std::size_t at = in.offset();
    const std::uint8_t length = in.u8();
    if (in.ok() && length > bits_of(family)) {
        return fail_at(
            at,
            Errc::Malformed,
            fmt::format("prefix length {} in a field of {} bits", length, bits_of(family)));
    }
    route.prefix = IpPrefix(read_bytes_of(family, in), length);
    route.gateway = read_bytes_of(family, in);
    route.label = read_label(in);
    return finished(in, route);
}

template <class T>
Result<std::optional<Route>> as_route(Result<T> decoded) {
    if (!decoded) {
        return tl::unexpected(std::move(decoded.error()));
    }
    return std::optional<Route>(std::move(*decoded));
}

/// Everything that is no part of the key, zero.
Route stripped(const Route& route) {
    return std::visit(Overloaded{[](EthernetAd r) -> Route {
                                     r.label = 0;
                                     return r;
                                 },
                                 [](MacIp r) -> Route {
                                     r.esi = {};
                                     r.label1 = 0;
                                     r.label2.reset();
                                     return r;
                                 },
                                 [](const Multicast& r) -> Route { return r; },
                                 [](const Segment& r) -> Route { return r; },
                                 [](const Prefix& r) -> Route {
                                     const IpPrefix network = r.prefix.network();
                                     return Prefix{.rd = r.rd,
                                                   .tag = r.tag,
                                                   .prefix = network,
                                                   .gateway = network.address().is_v4()
                                                                  ? IpAddress()
                                                                  : IpAddress::v6({})};
                                 }},
                      route);
}

std::string esi_text(const EsiBytes& esi) {
    return fmt::format("{:02x}", fmt::join(esi, ":"));
}

std::string address_text(const IpAddress& address) {
    return fmt::format("[{}]:[{}]", address.bits(), address.to_string());
}

std::string body_text(const EthernetAd& r) {
    return fmt::format("[1]:[{}]:[{}]", r.tag, esi_text(r.esi));
}
std::string body_text(const MacIp& r) {
    const std::string mac = fmt::format("[2]:[{}]:[48]:[{}]", r.tag, r.mac.to_string());
    return r.ip ? fmt::format("{}:{}", mac, address_text(*r.ip)) : mac;
}
std::string body_text(const Multicast& r) {
    return fmt::format("[3]:[{}]:{}", r.tag, address_text(r.originator));
}
std::string body_text(const Segment& r) {
    return fmt::format("[4]:[{}]:{}", esi_text(r.esi), address_text(r.originator));
}
std::string body_text(const Prefix& r) {
    return fmt::format(
        "[5]:[{}]:[{}]:[{}]", r.tag, r.prefix.length(), r.prefix.address().to_string());
}

}  // namespace

RouteKey::RouteKey(const Route& route) : route_(stripped(route)) {}

std::uint8_t type_of(const Route& route) {
    return static_cast<std::uint8_t>(route.index() + 1);
}

std::string to_string(const Route& route) {
    return std::visit(
        [](const auto& r) { return fmt::format("{} {}", r.rd.to_string(), body_text(r)); }, route);
}

std::size_t encoded_size(const Route& route) {
    constexpr std::size_t kHead = 2;
    const auto bytes = [](const IpAddress& address) { return address.bytes().size(); };
    return kHead +
           std::visit(Overloaded{[](const EthernetAd&) { return std::size_t{25}; },
                                 [&](const MacIp& r) {
                                     return std::size_t{33} + (r.ip ? bytes(*r.ip) : 0) +
                                            (r.label2 ? kLabelSize : 0);
                                 },
                                 [&](const Multicast& r) { return 13 + bytes(r.originator); },
                                 [&](const Segment& r) { return 19 + bytes(r.originator); },
                                 [&](const Prefix& r) { return 26 + 2 * bytes(r.gateway); }},
                      route);
}

void encode_route(const Route& route, Bytes& out) {
    ByteWriter writer(out);
    writer.u8(type_of(route));
    const std::size_t size = encoded_size(route) - 2;
    writer.u8(static_cast<std::uint8_t>(size));
    const std::size_t begin = writer.size();
    std::visit([&](const auto& r) { write_body(r, writer); }, route);
    PLANED_ASSERT(writer.size() - begin == size);
}

Result<std::optional<Route>> decode_route(std::uint8_t type, std::span<const std::uint8_t> body) {
    ByteReader in(body);
    switch (type) {
        case kEthernetAd: return as_route(read_ethernet_ad(in));
        case kMacIp: return as_route(read_mac_ip(in));
        case kMulticast: return as_route(read_multicast(in));
        case kSegment: return as_route(read_segment(in));
        case kPrefix: return as_route(read_prefix(in));
        default: return std::optional<Route>();
    }
}

}  // namespace planed::bgp
