// SPDX-License-Identifier: Apache-2.0
// ZAPI's bytes as zebra reads and writes them, for wire families A and D. Written apart from
// daemon/zapi on purpose: two sides that share a codec agree on its mistakes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/route.hpp"
#include "net/ip_prefix.hpp"

namespace planed::sim {

using ByteString = std::vector<std::uint8_t>;

enum class Release : std::uint8_t {
    Frr8_4,   // Family A.
    Frr10_3,  // Family D.
    Master,   // Family D; an identical ADD does not repair the kernel's table.
};

constexpr bool is_family_a(Release release) {
    return release == Release::Frr8_4;
}

struct Numbers {
    std::uint16_t hello, capabilities, client_capabilities, error, route_add, route_delete,
        notify_owner, notify_request, redistribute_add, redistribute_delete, row_add, row_delete,
        vrf_add, close_notify;
    std::uint8_t babel, bgp;
};
const Numbers& numbers_of(Release release);

struct HelloMessage {
    std::uint8_t type = 0;
    bool notify = false;
};
struct NotifyMessage {
    bool on = false;
};
struct AddMessage {
    RouteKey key{};
    HostRoute route{};
};
struct DeleteMessage {
    RouteKey key{};
};
struct RedistributeMessage {
    bool on = false;
    bool of_bgp = false;  // Else of our own type.
    Family family{};
    VrfId vrf{};
};
struct GracefulMessage {
    std::uint32_t stale_seconds = 0;
    VrfId vrf{};
};
struct CompleteMessage {
    Family family{};
    VrfId vrf{};
};
struct DisableMessage {
    VrfId vrf{};
};
struct UnknownMessage {
    VrfId vrf{};
};
/// What no client of ours may ever send, in words.
struct BadMessage {
    std::string why{};
};
using ClientMessage = std::variant<HelloMessage,
                                   NotifyMessage,
                                   AddMessage,
                                   DeleteMessage,
                                   RedistributeMessage,
                                   GracefulMessage,
                                   CompleteMessage,
                                   DisableMessage,
                                   UnknownMessage,
                                   BadMessage>;

/// Takes the first whole message off the front of `stream`; nullopt if there is none yet.
std::optional<ClientMessage> take_message(Release release, ByteString& stream);

enum class Notice : std::uint32_t {
    FailInstall = 0,
    BetterAdminWon = 1,
    Installed = 2,
    Removed = 3,
    RemoveFail = 4
};

void write_capabilities(Release release, ByteString& out);
void write_vrf_add(Release release, ByteString& out);  // Unasked; a client skips it.
void write_notice(Release release, const RouteKey& key, Notice notice, ByteString& out);
void write_row(Release release, const RouteKey& key, const HostRoute& route, ByteString& out);
void write_row_gone(Release release, const RouteKey& key, const HostRoute& route, ByteString& out);
/// Of bgpd's.
void write_plane_row(Release release, const RouteKey& key, bool gone, ByteString& out);
void write_bgp_closed(Release release, ByteString& out);
void write_error(Release release, VrfId vrf, std::uint32_t code, ByteString& out);

}  // namespace planed::sim
