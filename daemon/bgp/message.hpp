// SPDX-License-Identifier: Apache-2.0
// BGP's framing, and its small messages: NOTIFICATION, KEEPALIVE, ROUTE-REFRESH (RFC 4271 4, RFC
// 2918, RFC 7313). Encoders append a whole message, header included; decoders take a body. OPEN and
// UPDATE have files of their own.
//
// What cannot be survived is a ProtocolError: it says what the peer is to be told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "bgp/values.hpp"
#include "net/result.hpp"

namespace planed::bgp {

inline constexpr std::size_t kMarkerSize = 16;
inline constexpr std::size_t kHeaderSize = 19;
inline constexpr std::size_t kMessageMax = 4096;
/// Once both sides have announced it, for all but OPEN and KEEPALIVE (RFC 8654).
inline constexpr std::size_t kExtendedMessageMax = 65535;

enum class MessageType : std::uint8_t {
    Open = 1,
    Update = 2,
    Notification = 3,
    Keepalive = 4,
    RouteRefresh = 5,
};
std::string_view name_of(MessageType type);  // "UPDATE"

struct Notification {
    // Codes (RFC 4271 4.5).
    static constexpr std::uint8_t kHeader = 1;
    static constexpr std::uint8_t kOpen = 2;
    static constexpr std::uint8_t kUpdate = 3;
    static constexpr std::uint8_t kHoldExpired = 4;
    static constexpr std::uint8_t kStateMachine = 5;     // Sub-codes: RFC 6608.
    static constexpr std::uint8_t kCease = 6;            // RFC 4486
    static constexpr std::uint8_t kRouteRefresh = 7;     // RFC 7313
    static constexpr std::uint8_t kSendHoldExpired = 8;  // RFC 9687
    // Sub-codes of kHeader.
    static constexpr std::uint8_t kNotSynchronized = 1;
    static constexpr std::uint8_t kBadLength = 2;
    static constexpr std::uint8_t kBadType = 3;
    // Of kOpen.
    static constexpr std::uint8_t kBadVersion = 1;
    static constexpr std::uint8_t kBadPeerAs = 2;
    static constexpr std::uint8_t kBadIdentifier = 3;
    static constexpr std::uint8_t kUnsupportedParameter = 4;
    static constexpr std::uint8_t kBadHoldTime = 6;
    static constexpr std::uint8_t kUnsupportedCapability = 7;  // RFC 5492
    // Of kUpdate.
    static constexpr std::uint8_t kMalformedAttributes = 1;
    static constexpr std::uint8_t kUnrecognizedWellKnown = 2;
    static constexpr std::uint8_t kMissingWellKnown = 3;
    static constexpr std::uint8_t kAttributeFlags = 4;
    static constexpr std::uint8_t kAttributeLength = 5;
    static constexpr std::uint8_t kBadOrigin = 6;
    static constexpr std::uint8_t kOptionalAttribute = 9;
    static constexpr std::uint8_t kMalformedAsPath = 11;
    // Of kStateMachine (RFC 6608).
    static constexpr std::uint8_t kInOpenSent = 1;
    static constexpr std::uint8_t kInOpenConfirm = 2;
    static constexpr std::uint8_t kInEstablished = 3;
    // Of kCease (RFC 4486).
    static constexpr std::uint8_t kMaxPrefixes = 1;
    static constexpr std::uint8_t kAdminShutdown = 2;
    static constexpr std::uint8_t kDeconfigured = 3;
    static constexpr std::uint8_t kAdminReset = 4;
    static constexpr std::uint8_t kRejected = 5;
    static constexpr std::uint8_t kOtherChange = 6;
    static constexpr std::uint8_t kCollision = 7;
    static constexpr std::uint8_t kOutOfResources = 8;
    static constexpr std::uint8_t kHardReset = 9;  // RFC 8538
    static constexpr std::uint8_t kBfdDown = 10;

    std::uint8_t code = 0;
    std::uint8_t subcode = 0;
    Bytes data{};
    bool operator==(const Notification&) const = default;
};

/// "6/2 cease: administrative shutdown". The data is not in it.
std::string to_string(const Notification& notification);
/// An administrative shutdown or reset with a message for the other operator (RFC 9003), at most
/// 255 octets of UTF-8: longer text is cut between characters.
Notification shutdown_notice(std::uint8_t reason, std::string_view text);
/// That message, if there is one and it can be shown: anything but UTF-8 text is left out, and
/// control characters are.
std::optional<std::string> shutdown_text(const Notification& notification);
/// The notification inside of a hard reset, which ends routes that graceful restart would keep.
Notification hard_reset(const Notification& notification);
/// What is inside of a hard reset, else the notification itself (RFC 8538 3.1).
Notification without_hard_reset(const Notification& notification);

/// The session cannot go on. `error.text` says where and what; `error.offset` counts from the
/// beginning of the message.
struct ProtocolError {
    Notification notification{};
    Error error{};
    bool operator==(const ProtocolError&) const = default;
};
template <class T>
using Decoded = tl::expected<T, ProtocolError>;

struct Header {
    std::uint16_t length = kHeaderSize;  // Whole message, header included.
    MessageType type = MessageType::Keepalive;
    bool operator==(const Header&) const = default;
};
/// `bytes` begins with a header. `longest` is kMessageMax or kExtendedMessageMax.
Decoded<Header> decode_header(std::span<const std::uint8_t> bytes, std::size_t longest);

/// A received message; the body points into the framer.
struct Frame {
    Header header{};
    std::span<const std::uint8_t> body{};
};

/// Cuts a byte stream into messages: feed(), then next() until it gives nullopt. A frame is valid
/// until the next call of either.
class Framer {
public:
    void feed(std::span<const std::uint8_t> bytes);
    /// An error is final: the stream cannot be read any more.
    Decoded<std::optional<Frame>> next();
    /// Messages of up to kExtendedMessageMax from here on.
    void allow_extended() { longest_ = kExtendedMessageMax; }

private:
    Bytes kept_;
    std::size_t begin_ = 0;  // Before it everything has been handed out.
    std::size_t longest_ = kMessageMax;
};

void encode_keepalive(Bytes& out);

void encode_notification(const Notification& notification, Bytes& out);
/// An error has no notification of its own: nobody answers one (RFC 4271 6.4).
Result<Notification> decode_notification(std::span<const std::uint8_t> body);

struct RouteRefresh {
    static constexpr std::uint8_t kRequest = 0;
    static constexpr std::uint8_t kBegin = 1;
    static constexpr std::uint8_t kEnd = 2;  // The latter two: RFC 7313.

    std::uint16_t afi = kAfiL2vpn;
    std::uint8_t kind = kRequest;
    std::uint8_t safi = kSafiEvpn;
    bool operator==(const RouteRefresh&) const = default;
};
void encode_route_refresh(const RouteRefresh& refresh, Bytes& out);
Decoded<RouteRefresh> decode_route_refresh(std::span<const std::uint8_t> body);

// --- For the other codecs. ---

/// Writes a header now and its length when it goes.
class MessageWriter {
public:
    MessageWriter(MessageType type, Bytes& out);
    ~MessageWriter();
    MessageWriter(const MessageWriter&) = delete;
    MessageWriter& operator=(const MessageWriter&) = delete;
    MessageWriter(MessageWriter&&) = delete;
    MessageWriter& operator=(MessageWriter&&) = delete;

private:
    Bytes& out_;
    std::size_t begin_;
};

}  // namespace planed::bgp
