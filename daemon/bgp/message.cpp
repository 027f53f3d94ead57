// SPDX-License-Identifier: Apache-2.0
#include "bgp/message.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "bgp/utf8.hpp"
#include "net/assert.hpp"
#include "net/byte_reader.hpp"
#include "net/byte_writer.hpp"

namespace planed::bgp {
namespace {

constexpr std::size_t kShutdownTextMax = 255;

std::string_view name_of_code(std::uint8_t code) {
    switch (code) {
        case Notification::kHeader: return "message header error";
        case Notification::kOpen: return "OPEN message error";
        case Notification::kUpdate: return "UPDATE message error";
        case Notification::kHoldExpired: return "hold timer expired";
        case Notification::kStateMachine: return "finite state machine error";
        case Notification::kCease: return "cease";
        case Notification::kRouteRefresh: return "ROUTE-REFRESH message error";
        case Notification::kSendHoldExpired: return "send hold timer expired";
        default: return "unknown code";
    }
}

std::string_view name_in_header(std::uint8_t subcode) {
    switch (subcode) {
        case Notification::kNotSynchronized: return "connection not synchronized";
        case Notification::kBadLength: return "bad message length";
        case Notification::kBadType: return "bad message type";
        default: return "";
    }
}

std::string_view name_in_open(std::uint8_t subcode) {
    switch (subcode) {
        case Notification::kBadVersion: return "unsupported version";
        case Notification::kBadPeerAs: return "bad peer AS";
        case Notification::kBadIdentifier: return "bad BGP identifier";
        case Notification::kUnsupportedParameter: return "unsupported optional parameter";
        case Notification::kBadHoldTime: return "unacceptable hold time";
        case Notification::kUnsupportedCapability: return "unsupported capability";
        default: return "";
    }
}

std::string_view name_in_update(std::uint8_t subcode) {
    switch (subcode) {
        case Notification::kMalformedAttributes: return "malformed attribute list";
        case Notification::kUnrecognizedWellKnown: return "unrecognized well-known attribute";
        case Notification::kMissingWellKnown: return "missing well-known attribute";
        case Notification::kAttributeFlags: return "attribute flags";
        case Notification::kAttributeLength: return "attribute length";
        case Notification::kBadOrigin: return "invalid ORIGIN";
        case Notification::kOptionalAttribute: return "optional attribute";
        case Notification::kMalformedAsPath: return "malformed AS_PATH";
        default: return "";
    }
}

std::string_view name_in_cease(std::uint8_t subcode) {
    switch (subcode) {
        case Notification::kMaxPrefixes: return "maximum number of prefixes reached";
        case Notification::kAdminShutdown: return "administrative shutdown";
        case Notification::kDeconfigured: return "peer de-configured";
        case Notification::kAdminReset: return "administrative reset";
        case Notification::kRejected: return "connection rejected";
        case Notification::kOtherChange: return "other configuration change";
        case Notification::kCollision: return "connection collision resolution";
        case Notification::kOutOfResources: return "out of resources";
        case Notification::kHardReset: return "hard reset";
        case Notification::kBfdDown: return "BFD down";
        default: return "";
    }
}

std::string_view name_in_state_machine(std::uint8_t subcode) {
    switch (subcode) {
        case Notification::kInOpenSent: return "unexpected message in OpenSent";
        case Notification::kInOpenConfirm: return "unexpected message in OpenConfirm";
        case Notification::kInEstablished: return "unexpected message in Established";
        default: return "";
    }
}

std::string_view name_of_subcode(const Notification& notification) {
    switch (notification.code) {
        case Notification::kHeader: return name_in_header(notification.subcode);
        case Notification::kOpen: return name_in_open(notification.subcode);
        case Notification::kUpdate: return name_in_update(notification.subcode);
        case Notification::kStateMachine: return name_in_state_machine(notification.subcode);
        case Notification::kCease: return name_in_cease(notification.subcode);
        default: return "";
    }
}

bool carries_text(const Notification& notification) {
    return notification.code == Notification::kCease &&
           (notification.subcode == Notification::kAdminShutdown ||
            notification.subcode == Notification::kAdminReset);
}

struct Bounds {
    std::size_t least;
    std::size_t most;
};

/// Whole messages, RFC 4271 4 and 6.1, RFC 8654 4.
Bounds bounds_of(MessageType type, std::size_t longest) {
    constexpr std::size_t kLeastOpen = 29;
    constexpr std::size_t kLeastUpdate = 23;
    constexpr std::size_t kLeastNotification = 21;
    constexpr std::size_t kLeastRefresh = 23;
    switch (type) {
        case MessageType::Open: return {.least = kLeastOpen, .most = kMessageMax};
        case MessageType::Update: return {.least = kLeastUpdate, .most = longest};
        case MessageType::Notification: return {.least = kLeastNotification, .most = longest};
        case MessageType::Keepalive: return {.least = kHeaderSize, .most = kHeaderSize};
        case MessageType::RouteRefresh: return {.least = kLeastRefresh, .most = longest};
    }
    PLANED_ASSERT(false);
}

tl::unexpected<ProtocolError> header_error(std::uint8_t subcode,
                                           Bytes data,
                                           std::size_t offset,
                                           std::string text) {
    return tl::unexpected(ProtocolError{
        .notification = {.code = Notification::kHeader,
                         .subcode = subcode,
                         .data = std::move(data)},
        .error = {.code = Errc::Malformed, .text = std::move(text), .offset = offset}});
}

tl::unexpected<ProtocolError> bad_length(std::uint16_t length, std::string_view of) {
    return header_error(
        Notification::kBadLength,
        {static_cast<std::uint8_t>(length >> 8U), static_cast<std::uint8_t>(length & 0xFFU)},
        kMarkerSize,
        fmt::format("{} of {} octets (byte {})", of, length, kMarkerSize));
}

}  // namespace

std::string_view name_of(MessageType type) {
    switch (type) {
        case MessageType::Open: return "OPEN";
        case MessageType::Update: return "UPDATE";
        case MessageType::Notification: return "NOTIFICATION";
        case MessageType::Keepalive: return "KEEPALIVE";
        case MessageType::RouteRefresh: return "ROUTE-REFRESH";
    }
    return "?";
}

std::string to_string(const Notification& notification) {
    const std::string_view detail = name_of_subcode(notification);
    return fmt::format("{}/{} {}{}{}",
                       notification.code,
                       notification.subcode,
                       name_of_code(notification.code),
                       detail.empty() ? "" : ": ",
                       detail);
}

Notification shutdown_notice(std::uint8_t reason, std::string_view text) {
    Notification notification{.code = Notification::kCease, .subcode = reason};
    const std::string_view fitting = utf8_prefix(text, kShutdownTextMax);
    if (!fitting.empty()) {
        notification.data.push_back(static_cast<std::uint8_t>(fitting.size()));
        notification.data.insert(notification.data.end(), fitting.begin(), fitting.end());
    }
    return notification;
}

std::optional<std::string> shutdown_text(const Notification& notification) {
    const Bytes& data = notification.data;
    if (!carries_text(notification) || data.empty()) {
        return std::nullopt;
    }
    const std::size_t length = data.front();
    if (length == 0 || length != data.size() - 1) {
        return std::nullopt;
    }
    const std::string text(data.begin() + 1, data.end());
    return is_printable_utf8(text) ? std::optional(text) : std::nullopt;
}

Notification hard_reset(const Notification& notification) {
    Notification outer{.code = Notification::kCease, .subcode = Notification::kHardReset};
    outer.data.resize(2 + notification.data.size());
    outer.data[0] = notification.code;
    outer.data[1] = notification.subcode;
    std::ranges::copy(notification.data, outer.data.begin() + 2);
    return outer;
}

Notification without_hard_reset(const Notification& notification) {
    const bool wraps = notification.code == Notification::kCease &&
                       notification.subcode == Notification::kHardReset &&
                       notification.data.size() >= 2;
    if (!wraps) {
        return notification;
    }
    return {.code = notification.data[0],
            .subcode = notification.data[1],
            .data = Bytes(notification.data.begin() + 2, notification.data.end())};
}

Decoded<Header> decode_header(std::span<const std::uint8_t> bytes, std::size_t longest) {
    ByteReader in(bytes);
    const auto marker = in.take(kMarkerSize);
    const std::uint16_t length = in.u16();
    const std::uint8_t type = in.u8();
    if (!in.ok()) {
        return header_error(Notification::kBadLength,
                            {},
                            in.offset(),
                            fmt::format("{} octets are no header", bytes.size()));
    }
    if (!std::ranges::all_of(marker, [](std::uint8_t byte) { return byte == 0xFF; })) {
        return header_error(
            Notification::kNotSynchronized, {}, 0, "the marker is not all ones (byte 0)");
    }
    if (length < kHeaderSize || length > longest) {
        return bad_length(length, "message");
    }
    if (type < static_cast<std::uint8_t>(MessageType::Open) ||
        type > static_cast<std::uint8_t>(MessageType::RouteRefresh)) {
        constexpr std::size_t kTypeAt = 18;
        return header_error(Notification::kBadType,
                            {type},
                            kTypeAt,
                            fmt::format("message of unknown type {} (byte {})", type, kTypeAt));
    }
    const Header header{.length = length, .type = static_cast<MessageType>(type)};
    const Bounds bounds = bounds_of(header.type, longest);
    if (length < bounds.least || length > bounds.most) {
        return bad_length(length, name_of(header.type));
    }
    return header;
}

void Framer::feed(std::span<const std::uint8_t> bytes) {
    kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
    kept_.insert(kept_.end(), bytes.begin(), bytes.end());
}

Decoded<std::optional<Frame>> Framer::next() {
    const auto rest = std::span<const std::uint8_t>(kept_).subspan(begin_);
    if (rest.size() < kHeaderSize) {
        return std::nullopt;
    }
    const auto header = decode_header(rest, longest_);
    if (!header) {
        return tl::unexpected(header.error());
    }
    if (rest.size() < header->length) {
        return std::nullopt;
    }
    begin_ += header->length;
    return Frame{.header = *header,
                 .body = rest.subspan(kHeaderSize, header->length - kHeaderSize)};
}

MessageWriter::MessageWriter(MessageType type, Bytes& out) : out_(out), begin_(out.size()) {
    out.insert(out.end(), kMarkerSize, std::uint8_t{0xFF});
    ByteWriter writer(out);
    writer.u16(0);
    writer.u8(static_cast<std::uint8_t>(type));
}

MessageWriter::~MessageWriter() {
    const std::size_t size = out_.size() - begin_;
    PLANED_ASSERT(size <= kExtendedMessageMax);
    ByteWriter(out_).patch_u16(begin_ + kMarkerSize, static_cast<std::uint16_t>(size));
}

void encode_keepalive(Bytes& out) {
    const MessageWriter message(MessageType::Keepalive, out);
}

void encode_notification(const Notification& notification, Bytes& out) {
    constexpr std::size_t kDataMax = kMessageMax - kHeaderSize - 2;
    const MessageWriter message(MessageType::Notification, out);
    ByteWriter writer(out);
    writer.u8(notification.code);
    writer.u8(notification.subcode);
    const std::span<const std::uint8_t> data(notification.data);
    writer.bytes(data.first(std::min(data.size(), kDataMax)));
}

Result<Notification> decode_notification(std::span<const std::uint8_t> body) {
    ByteReader in(body);
    Notification notification;
    notification.code = in.u8();
    notification.subcode = in.u8();
    const auto data = in.rest();
    if (!in.ok()) {
        return fail_at(
            kHeaderSize, Errc::Truncated, fmt::format("NOTIFICATION of {} octets", body.size()));
    }
    notification.data.assign(data.begin(), data.end());
    return notification;
}

void encode_route_refresh(const RouteRefresh& refresh, Bytes& out) {
    const MessageWriter message(MessageType::RouteRefresh, out);
    ByteWriter writer(out);
    writer.u16(refresh.afi);
    writer.u8(refresh.kind);
    writer.u8(refresh.safi);
}

Decoded<RouteRefresh> decode_route_refresh(std::span<const std::uint8_t> body) {
    constexpr std::size_t kSize = 4;
    ByteReader in(body);
    RouteRefresh refresh;
    refresh.afi = in.u16();
    refresh.kind = in.u8();
    refresh.safi = in.u8();
    // Those with an outbound filter behind it (RFC 5291) are longer, but need a capability.
    if (!in.ok() || in.remaining() != 0) {
        constexpr std::uint8_t kInvalidLength = 1;  // RFC 7313 5
        return tl::unexpected(ProtocolError{
            .notification = {.code = Notification::kRouteRefresh,
                             .subcode = kInvalidLength,
                             .data = Bytes(body.begin(), body.end())},
            .error = {.code = Errc::Malformed,
                      .text = fmt::format("ROUTE-REFRESH with {} octets instead of {} (byte {})",
                                          body.size(),
                                          kSize,
                                          kHeaderSize),
                      .offset = kHeaderSize}});
    }
    return refresh;
}

}  // namespace planed::bgp
