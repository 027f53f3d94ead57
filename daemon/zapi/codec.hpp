// SPDX-License-Identifier: Apache-2.0
// Bytes <-> ZAPI messages, all four families. Every field is big-endian but those marked host: FRR
// leaves a few in the byte order of the machine that both sides run on. Encoders append a whole
// message, header included; decoders take a body and refuse too few and too many bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "net/result.hpp"
#include "zapi/dialect.hpp"
#include "zapi/messages.hpp"

namespace planed::zapi {

using Bytes = std::vector<std::uint8_t>;

/// No message that we send is longer: an IPv6 route by a gateway has 77 bytes.
inline constexpr std::size_t kLongestSent = 96;

/// A header alone: what the probe and the end marks send.
void encode_bare(std::uint16_t command, VrfId vrf, Bytes& out);
/// HELLO: type u8, instance u16 = 0, session u32 = 0 (only session 0 gets owner notices), [A, B:
/// notify u8 = 1,] synchronous u8 = 0.
void encode_hello(WireFamily family, RouteType type, Bytes& out);
/// ROUTE_NOTIFY_REQUEST: u8 1 = on.
void encode_notify_request(WireFamily family, Bytes& out);
/// CLIENT_CAPABILITIES; the VRF is in the body, the header's is the default one.
void encode_restart_capable(WireFamily family, VrfId vrf, std::uint32_t stale_seconds, Bytes& out);
void encode_restart_complete(WireFamily family, VrfId vrf, Afi afi, Bytes& out);
void encode_restart_disable(WireFamily family, VrfId vrf, Bytes& out);

void encode_route_add(WireFamily family, RouteType type, const Route& route, Bytes& out);
void encode_route_delete(
    WireFamily family, RouteType type, VrfId vrf, const IpPrefix& prefix, Bytes& out);
/// REDISTRIBUTE_ADD, _DELETE: afi u8, type u8, instance u16 = 0.
void encode_redistribute_add(WireFamily family, RouteType type, VrfId vrf, Afi afi, Bytes& out);
void encode_redistribute_delete(WireFamily family, RouteType type, VrfId vrf, Afi afi, Bytes& out);
/// REDISTRIBUTE_ADD of what bgpd has learned.
void encode_watch_plane(WireFamily family, VrfId vrf, Afi afi, Bytes& out);

/// `bytes` begins with a header: length u16, marker u8, version u8, vrf u32, command u16.
Result<Header> decode_header(std::span<const std::uint8_t> bytes);
Result<Capabilities> decode_capabilities(WireFamily family, std::span<const std::uint8_t> body);
/// By length: FRR 10.3 put a source prefix before the table.
Result<OwnerNotice> decode_owner_notice(const Frame& frame);
/// What redistributed routes of every type begin with.
struct RedistributedHead {
    std::uint8_t type = 0;  // The family's number.
    IpPrefix prefix{};
    bool operator==(const RedistributedHead&) const = default;
};
/// Without a look at what follows: others' routes have forms of next hop that we never read.
Result<RedistributedHead> decode_redistributed_head(const Frame& frame);
/// Layout of ROUTE_ADD as zebra encodes it, next hops with their weight (u32 until 10.0, u64 from
/// 10.1 on: in family C the one that uses up the body exactly).
Result<RedistributedRoute> decode_redistributed(WireFamily family, const Frame& frame);
Result<ServerError> decode_error(const Frame& frame);
/// CLIENT_CLOSE_NOTIFY: the route type that another client has said in its HELLO, u8; then instance
/// and session.
Result<std::uint8_t> decode_client_close(const Frame& frame);

/// Cuts a byte stream into messages. Usage: feed() once, then next() until it gives nullopt; the
/// frames point into the fed bytes. The rest of a cut message is kept for the next feed().
class Framer {
public:
    void feed(std::span<const std::uint8_t> bytes);
    /// An error (length, marker, version) is final: the stream cannot be read any more.
    Result<std::optional<Frame>> next();

private:
    std::optional<Frame> cut(const Header& header);
    std::optional<Frame> finish_kept(const Header& header);
    void keep_rest();
    bool top_up(std::size_t size);

    Bytes kept_;                // The beginning of a message whose end has not come.
    bool kept_is_out_ = false;  // It was completed and handed out by the last next().
    std::span<const std::uint8_t> fed_;
};

}  // namespace planed::zapi
