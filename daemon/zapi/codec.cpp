// SPDX-License-Identifier: Apache-2.0
#include "zapi/codec.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>

#include "net/assert.hpp"
#include "net/byte_reader.hpp"

namespace planed::zapi {

namespace {

constexpr std::uint8_t kAfInet = 2;  // Prefixes carry Linux's AF_*, not an AFI.
constexpr std::uint8_t kAfInet6 = 10;
constexpr std::uint8_t kUnicast = 1;  // SAFI.

// Message bits: which fields a route message has.
constexpr std::uint32_t kHasNextHops = 0x01;
constexpr std::uint32_t kHasDistance = 0x02;
constexpr std::uint32_t kHasMetric = 0x04;
constexpr std::uint32_t kHasTag = 0x08;
constexpr std::uint32_t kHasMtu = 0x10;
constexpr std::uint32_t kHasSourcePrefix = 0x20;
constexpr std::uint32_t kHasBackups = 0x40;
constexpr std::uint32_t kHasNextHopGroup = 0x80;
constexpr std::uint32_t kHasTable = 0x100;
constexpr std::uint32_t kHasSegmentRouting = 0x200;  // Puts a colour into each next hop.
constexpr std::uint32_t kHasOpaque = 0x400;

// Next hop flags.
constexpr std::uint8_t kFlagOnlink = 0x01;
constexpr std::uint8_t kFlagWeight = 0x04;

// What CLIENT_CAPABILITIES says.
constexpr std::uint32_t kRestartCapable = 1;
constexpr std::uint32_t kUpdateComplete = 2;
constexpr std::uint32_t kRestartDisable = 4;

enum class WeightWidth : std::uint8_t { U32, U64 };

/// Writes one message: the header at construction, its length and the whole of it into `out` at the
/// end. Fields go to a small array first: a vector that grows byte by byte made 100,000 routes take
/// twice as long.
class MessageWriter {
public:
    MessageWriter(std::uint16_t command, VrfId vrf, Bytes& out) : out_(out) {
        u16(0);
        u8(kMarker);
        u8(kVersion);
        u32(number(vrf));
        u16(command);
    }
    ~MessageWriter() {
        bytes_[0] = static_cast<std::uint8_t>(size_ >> 8U);
        bytes_[1] = static_cast<std::uint8_t>(size_ & 0xFFU);
        out_.insert(out_.end(), bytes_.data(), bytes_.data() + size_);
    }
    MessageWriter(const MessageWriter&) = delete;
    MessageWriter& operator=(const MessageWriter&) = delete;
    MessageWriter(MessageWriter&&) = delete;
    MessageWriter& operator=(MessageWriter&&) = delete;

    void u8(std::uint8_t value) { bytes_[size_++] = value; }
    void u16(std::uint16_t value) {
        u8(static_cast<std::uint8_t>(value >> 8U));
        u8(static_cast<std::uint8_t>(value & 0xFFU));
    }
    void u32(std::uint32_t value) {
        u16(static_cast<std::uint16_t>(value >> 16U));
        u16(static_cast<std::uint16_t>(value & 0xFFFFU));
    }
    void bytes(std::span<const std::uint8_t> value) {
        PLANED_ASSERT(value.size() <= bytes_.size() - size_);
        std::copy(value.begin(), value.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(size_));
        size_ += value.size();
    }

private:
    Bytes& out_;
    std::array<std::uint8_t, kLongestSent> bytes_;
    std::size_t size_ = 0;
};

constexpr std::size_t bytes_for(std::uint8_t prefix_length) {
    return (std::size_t{prefix_length} + 7) / 8;
}

/// Fields 1 to 8 of ROUTE_ADD and ROUTE_DELETE.
void write_route_head(std::uint8_t type,
                      std::uint32_t message,
                      const IpPrefix& prefix,
                      MessageWriter& out) {
    out.u8(type);
    out.u16(0);  // Instance: zebra keeps eight bits of it, and bgpd asks for 0 only.
    out.u32(0);  // Route flags.
    out.u32(message);
    out.u8(kUnicast);
    out.u8(prefix.address().is_v4() ? kAfInet : kAfInet6);
    out.u8(prefix.length());
    out.bytes(prefix.address().bytes().first(bytes_for(prefix.length())));
}

void write_next_hop(const Route& route, MessageWriter& out) {
    out.u32(number(route.vrf));
    if (!route.gateway_is_host) {
        // Never onlink: the kernel refuses that flag without a gateway.
        out.u8(static_cast<std::uint8_t>(NextHopType::IfIndex));
        out.u8(0);
    } else {
        const IpAddress& gateway = route.prefix.address();
        out.u8(static_cast<std::uint8_t>(gateway.is_v4() ? NextHopType::V4IfIndex
                                                         : NextHopType::V6IfIndex));
        out.u8(kFlagOnlink);  // 8.4 refuses a gateway inside its own host route without it.
        out.bytes(gateway.bytes());
    }
    out.u32(number(route.out));
}

tl::unexpected<Error> truncated(const ByteReader& reader, std::string_view what) {
    return fail_at(reader.offset(), Errc::Truncated, fmt::format("{} ends too early", what));
}

Result<void> expect_end(const ByteReader& reader, std::string_view what) {
    if (!reader.ok()) {
        return truncated(reader, what);
    }
    if (reader.remaining() != 0) {
        return fail_at(reader.offset(),
                       Errc::Malformed,
                       fmt::format("{} has {} bytes too many", what, reader.remaining()));
    }
    return {};
}

std::optional<Family> family_of(std::uint8_t address_family) {
    switch (address_family) {
        case kAfInet: return Family::V4;
        case kAfInet6: return Family::V6;
        default: return std::nullopt;
    }
}

enum class PrefixBytes : std::uint8_t {
    Full,
    AsLong
};  // All 4 or 16, or only those of the length.

IpAddress padded_address(Family family, std::span<const std::uint8_t> bytes) {
    IpAddress::Bytes padded{};
    std::copy(bytes.begin(), bytes.end(), padded.begin());
    return family == Family::V4 ? IpAddress::v4(padded[0], padded[1], padded[2], padded[3])
                                : IpAddress::v6(padded);
}

/// Address family u8, length u8, address.
Result<IpPrefix> read_prefix(PrefixBytes form, ByteReader& in) {
    const std::uint8_t address_family = in.u8();
    const std::uint8_t length = in.u8();
    if (!in.ok()) {
        return truncated(in, "prefix");
    }
    const auto family = family_of(address_family);
    if (!family) {
        return fail_at(in.offset() - 2,
                       Errc::Malformed,
                       fmt::format("prefix of unknown address family {}", address_family));
    }
    if (length > bits_of(*family)) {
        return fail_at(in.offset() - 1, Errc::Malformed, fmt::format("prefix length {}", length));
    }
    const std::size_t count = form == PrefixBytes::Full ? bits_of(*family) / 8U : bytes_for(length);
    const auto bytes = in.take(count);
    if (!in.ok()) {
        return truncated(in, "prefix");
    }
    return IpPrefix(padded_address(*family, bytes), length);
}

/// Errc::Unsupported: a form that we do not read, so where it ends cannot be known.
Result<NextHop> read_next_hop(WeightWidth width, ByteReader& in) {
    NextHop hop;
    hop.vrf = VrfId{in.u32()};
    const std::uint8_t type = in.u8();
    const std::uint8_t flags = in.u8();
    if (!in.ok()) {
        return truncated(in, "next hop");
    }
    if ((flags & ~(kFlagOnlink | kFlagWeight)) != 0 || type < 1 || type > 6) {
        return fail_at(in.offset() - 2, Errc::Unsupported, "next hop of a form that we never send");
    }
    hop.type = static_cast<NextHopType>(type);
    hop.onlink = (flags & kFlagOnlink) != 0;
    switch (hop.type) {
        case NextHopType::IfIndex: break;
        case NextHopType::V4:
        case NextHopType::V4IfIndex:
            hop.gateway = IpAddress::from_bytes(Family::V4, in.take(4));
            break;
        case NextHopType::V6:
        case NextHopType::V6IfIndex:
            hop.gateway = IpAddress::from_bytes(Family::V6, in.take(16));
            break;
        case NextHopType::Blackhole: in.skip(1); break;
    }
    if (hop.type != NextHopType::Blackhole) {
        hop.out = IfIndex{in.u32()};
    }
    // zebra leaves the weight out when it is zero. So a zero is the upper half of a wider field.
    if ((flags & kFlagWeight) != 0 && (width == WeightWidth::U64 ? in.u64() : in.u32()) == 0) {
        return fail_at(in.offset(), Errc::Malformed, "next hop of weight zero");
    }
    if (!in.ok()) {
        return truncated(in, "next hop");
    }
    return hop;
}

struct RouteHead {
    RedistributedRoute route{};
    std::uint32_t message = 0;
};

Result<RouteHead> read_route_head(VrfId vrf, ByteReader& in) {
    RouteHead head;
    head.route.vrf = vrf;
    head.route.type = in.u8();
    head.route.instance = in.u16();
    in.skip(4);  // Route flags: "selected" is what makes zebra send it.
    head.message = in.u32();
    const std::uint8_t safi = in.u8();
    if (!in.ok()) {
        return truncated(in, "route");
    }
    if (safi != kUnicast) {
        return fail_at(in.offset() - 1, Errc::Malformed, fmt::format("route of SAFI {}", safi));
    }
    const auto prefix = read_prefix(PrefixBytes::AsLong, in);
    if (!prefix) {
        return tl::unexpected(prefix.error());
    }
    head.route.prefix = *prefix;
    return head;
}

/// Fields 9 on. A route with next hops that we do not read becomes opaque.
Result<RedistributedRoute> read_route_tail(RouteHead head, WeightWidth width, ByteReader in) {
    RedistributedRoute& route = head.route;
    const auto has = [&head](std::uint32_t bit) { return (head.message & bit) != 0; };
    if (has(kHasSourcePrefix)) {
        in.skip(bytes_for(in.u8()));
    }
    if (has(kHasNextHopGroup)) {
        in.skip(4);
    }
    if (has(kHasBackups | kHasSegmentRouting)) {
        route.opaque = true;
        return route;
    }
    const std::uint16_t count = has(kHasNextHops) ? in.u16() : std::uint16_t{0};
    for (unsigned i = 0; i < count; ++i) {
        const auto hop = read_next_hop(width, in);
        if (!hop && hop.error().code == Errc::Unsupported) {
            route.next_hops.clear();
            route.opaque = true;
            return route;
        }
        if (!hop) {
            return tl::unexpected(hop.error());
        }
        route.next_hops.push_back(*hop);
    }
    route.distance = has(kHasDistance) ? in.u8() : std::uint8_t{0};
    route.metric = has(kHasMetric) ? in.u32() : 0;
    route.tag = has(kHasTag) ? in.u32() : 0;
    if (has(kHasMtu)) {
        in.skip(4);
    }
    if (has(kHasTable)) {
        in.skip(4);
    }
    if (has(kHasOpaque)) {
        in.skip(in.u16());
    }
    if (const auto end = expect_end(in, "route"); !end) {
        return tl::unexpected(end.error());
    }
    return route;
}

}  // namespace

void encode_bare(std::uint16_t command, VrfId vrf, Bytes& out) {
    const MessageWriter message(command, vrf, out);
}

void encode_hello(WireFamily family, RouteType type, Bytes& out) {
    MessageWriter message(commands_of(family).hello, VrfId::Default, out);
    message.u8(number_of(type, family));
    message.u16(0);  // Instance.
    message.u32(0);  // Session id.
    if (hello_asks_for_notices(family)) {
        message.u8(1);
    }
    // A synchronous client gets no CAPABILITIES, and from 9.1 on keeps its routes at close.
    message.u8(0);
}

void encode_notify_request(WireFamily family, Bytes& out) {
    MessageWriter message(commands_of(family).route_notify_request, VrfId::Default, out);
    message.u8(1);
}

void encode_restart_capable(WireFamily family, VrfId vrf, std::uint32_t stale_seconds, Bytes& out) {
    MessageWriter message(commands_of(family).client_capabilities, VrfId::Default, out);
    message.u32(kRestartCapable);
    message.u32(stale_seconds);
    message.u32(number(vrf));
}

void encode_restart_complete(WireFamily family, VrfId vrf, Afi afi, Bytes& out) {
    MessageWriter message(commands_of(family).client_capabilities, VrfId::Default, out);
    message.u32(kUpdateComplete);
    message.u32(static_cast<std::uint32_t>(afi));
    message.u32(kUnicast);
    message.u32(number(vrf));
}

void encode_restart_disable(WireFamily family, VrfId vrf, Bytes& out) {
    MessageWriter message(commands_of(family).client_capabilities, VrfId::Default, out);
    message.u32(kRestartDisable);
    message.u32(number(vrf));
}

void encode_route_add(WireFamily family, RouteType type, const Route& route, Bytes& out) {
    MessageWriter message(commands_of(family).route_add, route.vrf, out);
    const std::uint32_t metric_bit = route.metric != 0 ? kHasMetric : 0U;
    write_route_head(number_of(type, family),
                     kHasNextHops | kHasDistance | kHasTag | metric_bit,
                     route.prefix,
                     message);
    message.u16(1);
    write_next_hop(route, message);
    message.u8(route.distance);
    if (route.metric != 0) {
        message.u32(route.metric);
    }
    message.u32(route.tag);
}

void encode_route_delete(
    WireFamily family, RouteType type, VrfId vrf, const IpPrefix& prefix, Bytes& out) {
    MessageWriter message(commands_of(family).route_delete, vrf, out);
    write_route_head(number_of(type, family), 0, prefix, message);
}

namespace {

void encode_redistribute(std::uint16_t command, std::uint8_t type, VrfId vrf, Afi afi, Bytes& out) {
    MessageWriter message(command, vrf, out);
    message.u8(static_cast<std::uint8_t>(afi));
    message.u8(type);
    message.u16(0);  // Instance.
}

}  // namespace

void encode_redistribute_add(WireFamily family, RouteType type, VrfId vrf, Afi afi, Bytes& out) {
    encode_redistribute(
        commands_of(family).redistribute_add, number_of(type, family), vrf, afi, out);
}

void encode_redistribute_delete(WireFamily family, RouteType type, VrfId vrf, Afi afi, Bytes& out) {
    encode_redistribute(
        commands_of(family).redistribute_delete, number_of(type, family), vrf, afi, out);
}

void encode_watch_plane(WireFamily family, VrfId vrf, Afi afi, Bytes& out) {
    encode_redistribute(commands_of(family).redistribute_add, bgp_number(family), vrf, afi, out);
}

Result<Header> decode_header(std::span<const std::uint8_t> bytes) {
    ByteReader in(bytes);
    Header header{};
    header.length = in.u16();
    const std::uint8_t marker = in.u8();
    const std::uint8_t version = in.u8();
    header.vrf = VrfId{in.u32()};
    header.command = in.u16();
    if (!in.ok()) {
        return truncated(in, "header");
    }
    if (marker != kMarker) {
        return fail_at(2, Errc::Malformed, fmt::format("marker {:#04x}, not 0xfe", marker));
    }
    if (version != kVersion) {
        return fail_at(3, Errc::Unsupported, fmt::format("ZAPI version {}, not 6", version));
    }
    if (header.length < kHeaderSize || header.length > kMessageMax) {
        return fail_at(0, Errc::Malformed, fmt::format("message length {}", header.length));
    }
    return header;
}

Result<Capabilities> decode_capabilities(WireFamily family, std::span<const std::uint8_t> body) {
    const std::size_t length = kHeaderSize + body.size();
    if (!is_capabilities_length(family, length)) {
        return fail_at(
            0,
            Errc::Unsupported,
            fmt::format(
                "CAPABILITIES of {} bytes do not belong to {}", length, releases_of(family)));
    }
    ByteReader in(body);
    Capabilities capabilities{};
    // 10.6 made the first field one byte; the length tells.
    capabilities.vrf_backend = length == 19 ? in.u8() : in.u32();
    capabilities.mpls = in.u8() != 0;
    capabilities.multipath = in.u32();
    capabilities.mlag_role = in.u8();
    if (family != WireFamily::A) {
        capabilities.v6_with_v4_next_hop = in.u8() != 0;
    }
    if (family == WireFamily::D) {
        capabilities.restarting = in.u8() != 0;
    }
    if (const auto end = expect_end(in, "CAPABILITIES"); !end) {
        return tl::unexpected(end.error());
    }
    return capabilities;
}

Result<OwnerNotice> decode_owner_notice(const Frame& frame) {
    constexpr std::size_t kTrailer = 6;  // Table u32, AFI u8, SAFI u8.
    ByteReader in(frame.body);
    OwnerNotice notice;
    notice.vrf = frame.header.vrf;
    const std::uint32_t state = in.u32_host();
    if (in.ok() && state > static_cast<std::uint32_t>(OwnerState::RemoveFail)) {
        return fail_at(0, Errc::Malformed, fmt::format("owner notice with state {}", state));
    }
    notice.state = static_cast<OwnerState>(state);
    const auto prefix = read_prefix(PrefixBytes::Full, in);
    if (!prefix) {
        return tl::unexpected(prefix.error());
    }
    notice.prefix = *prefix;
    if (in.remaining() != kTrailer) {
        in.skip(1 + prefix->address().bytes().size());  // Source prefix, from 10.3 on.
    }
    notice.table = in.u32();
    const std::uint8_t afi = in.u8();
    in.skip(1);
    if (const auto end = expect_end(in, "owner notice"); !end) {
        return tl::unexpected(end.error());
    }
    if (afi != static_cast<std::uint8_t>(prefix->address().is_v4() ? Afi::V4 : Afi::V6)) {
        return fail_at(
            in.offset() - 2, Errc::Malformed, fmt::format("owner notice of AFI {}", afi));
    }
    return notice;
}

Result<RedistributedHead> decode_redistributed_head(const Frame& frame) {
    ByteReader in(frame.body);
    const auto head = read_route_head(frame.header.vrf, in);
    if (!head) {
        return tl::unexpected(head.error());
    }
    return RedistributedHead{.type = head->route.type, .prefix = head->route.prefix};
}

Result<RedistributedRoute> decode_redistributed(WireFamily family, const Frame& frame) {
    ByteReader in(frame.body);
    const auto head = read_route_head(frame.header.vrf, in);
    if (!head) {
        return tl::unexpected(head.error());
    }
    switch (family) {
        case WireFamily::A:
        case WireFamily::B: return read_route_tail(*head, WeightWidth::U32, in);
        case WireFamily::C: break;
        case WireFamily::D: return read_route_tail(*head, WeightWidth::U64, in);
    }
    // 10.0 and 10.1 have no other difference on the wire, and a body fits one width only.
    auto narrow = read_route_tail(*head, WeightWidth::U32, in);
    return narrow ? narrow : read_route_tail(*head, WeightWidth::U64, in);
}

Result<ServerError> decode_error(const Frame& frame) {
    ByteReader in(frame.body);
    const ServerError error{.vrf = frame.header.vrf, .code = in.u32_host()};
    if (const auto end = expect_end(in, "ERROR"); !end) {
        return tl::unexpected(end.error());
    }
    return error;
}

Result<std::uint8_t> decode_client_close(const Frame& frame) {
    ByteReader in(frame.body);
    const std::uint8_t type = in.u8();
    in.skip(2 + 4);
    if (const auto end = expect_end(in, "CLIENT_CLOSE_NOTIFY"); !end) {
        return tl::unexpected(end.error());
    }
    return type;
}

void Framer::feed(std::span<const std::uint8_t> bytes) {
    PLANED_ASSERT(fed_.empty());
    fed_ = bytes;
}

Result<std::optional<Frame>> Framer::next() {
    if (kept_is_out_) {
        kept_.clear();
        kept_is_out_ = false;
    }
    const bool from_kept = !kept_.empty();
    if (from_kept && !top_up(kHeaderSize)) {
        return std::nullopt;
    }
    if (!from_kept && fed_.size() < kHeaderSize) {
        keep_rest();
        return std::nullopt;
    }
    const auto header = decode_header(from_kept ? std::span<const std::uint8_t>(kept_) : fed_);
    if (!header) {
        fed_ = {};
        return tl::unexpected(header.error());
    }
    return from_kept ? finish_kept(*header) : cut(*header);
}

std::optional<Frame> Framer::cut(const Header& header) {
    if (fed_.size() < header.length) {
        keep_rest();
        return std::nullopt;
    }
    const auto message = fed_.first(header.length);
    fed_ = fed_.subspan(header.length);
    return Frame{.header = header, .body = message.subspan(kHeaderSize)};
}

std::optional<Frame> Framer::finish_kept(const Header& header) {
    if (!top_up(header.length)) {
        return std::nullopt;
    }
    kept_is_out_ = true;
    return Frame{.header = header,
                 .body = std::span<const std::uint8_t>(kept_).subspan(kHeaderSize)};
}

void Framer::keep_rest() {
    kept_.assign(fed_.begin(), fed_.end());
    fed_ = {};
}

bool Framer::top_up(std::size_t size) {
    const std::size_t missing = size - std::min(size, kept_.size());
    const auto taken = fed_.first(std::min(missing, fed_.size()));
    kept_.insert(kept_.end(), taken.begin(), taken.end());
    fed_ = fed_.subspan(taken.size());
    return kept_.size() >= size;
}

}  // namespace planed::zapi
