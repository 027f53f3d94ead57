// SPDX-License-Identifier: Apache-2.0
#include "bgp/open.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "net/assert.hpp"
#include "net/byte_reader.hpp"
#include "net/byte_writer.hpp"
#include "net/ids.hpp"

namespace planed::bgp {
namespace {

constexpr std::uint8_t kVersion = 4;
constexpr std::uint8_t kCapabilitiesParameter = 2;
constexpr std::uint8_t kExtendedLength = 255;  // RFC 9072 2
constexpr std::size_t kAsAt = kHeaderSize + 1;
constexpr std::size_t kHoldAt = kHeaderSize + 3;
constexpr std::size_t kIdAt = kHeaderSize + 5;

constexpr std::uint8_t kMultiprotocol = 1;
constexpr std::uint8_t kRouteRefresh = 2;
constexpr std::uint8_t kExtendedMessage = 6;
constexpr std::uint8_t kGracefulRestart = 64;
constexpr std::uint8_t kFourOctetAs = 65;
constexpr std::uint8_t kEnhancedRouteRefresh = 70;

constexpr std::uint16_t kRestarting = 0x8000;
constexpr std::uint16_t kNotifications = 0x4000;
constexpr std::uint8_t kForwarding = 0x80;

// --- Writing. ---

/// One optional parameter with one capability.
void write_capability(std::uint8_t code, std::span<const std::uint8_t> value, ByteWriter& out) {
    constexpr std::size_t kValueMax = 253;
    PLANED_ASSERT(value.size() <= kValueMax);
    out.u8(kCapabilitiesParameter);
    out.u8(static_cast<std::uint8_t>(value.size() + 2));
    out.u8(code);
    out.u8(static_cast<std::uint8_t>(value.size()));
    out.bytes(value);
}

Bytes multiprotocol(const AddressFamily& family) {
    Bytes value;
    ByteWriter out(value);
    out.u16(family.afi);
    out.u8(0);
    out.u8(family.safi);
    return value;
}

Bytes four_octets(AsNumber as) {
    Bytes value;
    ByteWriter(value).u32(number(as));
    return value;
}

Bytes graceful_restart(const GracefulRestart& restart) {
    PLANED_ASSERT(restart.seconds <= GracefulRestart::kSecondsMax);
    Bytes value;
    ByteWriter out(value);
    out.u16(static_cast<std::uint16_t>((restart.restarting ? kRestarting : 0U) |
                                       (restart.notifications ? kNotifications : 0U) |
                                       restart.seconds));
    for (const auto& [family, forwarding] : restart.kept) {
        out.u16(family.afi);
        out.u8(family.safi);
        out.u8(forwarding ? kForwarding : 0);
    }
    return value;
}

void write_capabilities(const Capabilities& capabilities, ByteWriter& out) {
    for (const AddressFamily& family : capabilities.families) {
        write_capability(kMultiprotocol, multiprotocol(family), out);
    }
    if (capabilities.route_refresh) {
        write_capability(kRouteRefresh, {}, out);
    }
    if (capabilities.enhanced_route_refresh) {
        write_capability(kEnhancedRouteRefresh, {}, out);
    }
    if (capabilities.four_octet_as) {
        write_capability(kFourOctetAs, four_octets(*capabilities.four_octet_as), out);
    }
    if (capabilities.extended_message) {
        write_capability(kExtendedMessage, {}, out);
    }
    if (capabilities.graceful_restart) {
        write_capability(kGracefulRestart, graceful_restart(*capabilities.graceful_restart), out);
    }
    for (const auto& [code, value] : capabilities.others) {
        write_capability(code, value, out);
    }
}

// --- Reading. ---

/// Sub-code 0 is "unspecific" (RFC 4271 6.2).
tl::unexpected<ProtocolError> open_error(std::uint8_t subcode,
                                         Bytes data,
                                         std::size_t offset,
                                         const std::string& text) {
    return tl::unexpected(ProtocolError{
        .notification = {.code = Notification::kOpen, .subcode = subcode, .data = std::move(data)},
        .error = {.code = Errc::Malformed,
                  .text = fmt::format("OPEN: {} (byte {})", text, offset),
                  .offset = offset}});
}

AddressFamily read_multiprotocol(ByteReader& in) {
    AddressFamily family;
    family.afi = in.u16();
    in.skip(1);
    family.safi = in.u8();
    return family;
}

GracefulRestart read_graceful_restart(ByteReader& in) {
    constexpr std::size_t kTuple = 4;
    GracefulRestart restart;
    const std::uint16_t head = in.u16();
    restart.restarting = (head & kRestarting) != 0;
    restart.notifications = (head & kNotifications) != 0;
    restart.seconds = head & GracefulRestart::kSecondsMax;
    while (in.remaining() >= kTuple) {
        GracefulRestart::Kept kept;
        kept.family.afi = in.u16();
        kept.family.safi = in.u8();
        kept.forwarding = (in.u8() & kForwarding) != 0;
        restart.kept.push_back(kept);
    }
    return restart;
}

/// False: its length is not what its code asks for.
bool read_capability(std::uint8_t code, std::span<const std::uint8_t> value, Capabilities& into) {
    ByteReader in(value);
    switch (code) {
        case kMultiprotocol: into.families.push_back(read_multiprotocol(in)); break;
        case kRouteRefresh: into.route_refresh = true; break;
        case kEnhancedRouteRefresh: into.enhanced_route_refresh = true; break;
        case kExtendedMessage: into.extended_message = true; break;
        case kFourOctetAs: into.four_octet_as = AsNumber{in.u32()}; break;
        // A second one: the last counts (RFC 4724 3).
        case kGracefulRestart: into.graceful_restart = read_graceful_restart(in); break;
        default:
            into.others.push_back({.code = code, .value = Bytes(value.begin(), value.end())});
            return true;
    }
    return in.ok() && in.remaining() == 0;
}

/// One parameter's value: capabilities, one after the other.
Decoded<void> read_capabilities(std::span<const std::uint8_t> parameter,
                                std::size_t at,
                                Capabilities& into) {
    ByteReader in(parameter);
    while (in.remaining() != 0) {
        const std::size_t begin = at + in.offset();
        const std::uint8_t code = in.u8();
        const std::uint8_t length = in.u8();
        const auto value = in.take(length);
        if (!in.ok()) {
            return open_error(0, {}, begin, "a capability runs past its parameter");
        }
        if (!read_capability(code, value, into)) {
            return open_error(
                0, {}, begin, fmt::format("capability {} has {} octets", code, value.size()));
        }
    }
    return {};
}

/// The length of everything behind it. RFC 9072: 255 and a parameter type of 255 mean that two
/// octets of length follow, and that each parameter's length has two octets.
struct Extent {
    std::size_t length = 0;
    bool extended = false;
};

Extent read_extent(ByteReader& in) {
    const std::uint8_t length = in.u8();
    ByteReader ahead = in;
    if (length != kExtendedLength || ahead.u8() != kExtendedLength) {
        return {.length = length};
    }
    in = ahead;
    return {.length = in.u16(), .extended = true};
}

Decoded<Capabilities> read_parameters(ByteReader& in) {
    Capabilities capabilities;
    const std::size_t length_at = kHeaderSize + in.offset();
    const Extent extent = read_extent(in);
    if (!in.ok() || extent.length != in.remaining()) {
        return open_error(
            0,
            {},
            length_at,
            fmt::format("{} octets of parameters where {} are", extent.length, in.remaining()));
    }
    while (in.remaining() != 0) {
        const std::size_t begin = kHeaderSize + in.offset();
        const std::uint8_t type = in.u8();
        const std::size_t length = extent.extended ? in.u16() : in.u8();
        const std::size_t value_at = kHeaderSize + in.offset();
        const auto value = in.take(length);
        if (!in.ok()) {
            return open_error(0, {}, begin, "a parameter runs past the end");
        }
        if (type != kCapabilitiesParameter) {
            return open_error(Notification::kUnsupportedParameter,
                              {},
                              begin,
                              fmt::format("optional parameter of type {}", type));
        }
        if (const auto read = read_capabilities(value, value_at, capabilities); !read) {
            return tl::unexpected(read.error());
        }
    }
    return capabilities;
}

}  // namespace

bool Capabilities::has(const AddressFamily& family) const {
    return std::ranges::find(families, family) != families.end();
}

void encode_open(const Open& open, Bytes& out) {
    constexpr std::uint32_t kShortAsMax = 0xFFFF;
    const AsNumber short_as = number(open.as) <= kShortAsMax ? open.as : kAsTrans;
    Bytes parameters;
    ByteWriter parameters_writer(parameters);
    write_capabilities(open.capabilities, parameters_writer);
    PLANED_ASSERT(parameters.size() < kExtendedLength);
    const MessageWriter message(MessageType::Open, out);
    ByteWriter writer(out);
    writer.u8(kVersion);
    writer.u16(static_cast<std::uint16_t>(number(short_as)));
    writer.u16(open.hold_seconds);
    writer.u32(number(open.id));
    writer.u8(static_cast<std::uint8_t>(parameters.size()));
    writer.bytes(parameters);
}

Decoded<Open> decode_open(std::span<const std::uint8_t> body) {
    ByteReader in(body);
    Open open;
    const std::uint8_t version = in.u8();
    open.as = AsNumber{in.u16()};
    open.hold_seconds = in.u16();
    open.id = RouterId{in.u32()};
    if (!in.ok()) {
        return open_error(0, {}, kHeaderSize, fmt::format("{} octets are too few", body.size()));
    }
    if (version != kVersion) {
        return open_error(Notification::kBadVersion,
                          {0, kVersion},
                          kHeaderSize,
                          fmt::format("version {} instead of {}", version, kVersion));
    }
    if (open.hold_seconds == 1 || open.hold_seconds == 2) {
        return open_error(Notification::kBadHoldTime,
                          {},
                          kHoldAt,
                          fmt::format("hold time of {} s", open.hold_seconds));
    }
    if (open.id == RouterId::None) {
        return open_error(Notification::kBadIdentifier, {}, kIdAt, "identifier 0.0.0.0");
    }
    auto capabilities = read_parameters(in);
    if (!capabilities) {
        return tl::unexpected(std::move(capabilities.error()));
    }
    open.capabilities = std::move(*capabilities);
    open.as = open.capabilities.four_octet_as.value_or(open.as);
    if (number(open.as) == 0) {  // RFC 7607
        return open_error(Notification::kBadPeerAs, {}, kAsAt, "AS 0");
    }
    return open;
}

}  // namespace planed::bgp
