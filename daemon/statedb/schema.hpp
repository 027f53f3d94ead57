// SPDX-License-Identifier: Apache-2.0
// The rows that planed shows in STATE_DB: tables, keys and fields. Names here are a contract with
// everybody who reads them. Text in, text out; which rows there are is statedb/mirror's business.
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/snapshot.hpp"
#include "net/ids.hpp"
#include "net/ip_address.hpp"
#include "net/time.hpp"

namespace planed::statedb {

enum class Table : std::uint8_t {
    Global,
    Interface,
    Neighbor,
    Route,
    Proxy,
    Segment,
    EvpnPeer,
    Config
};

/// All tables that are ours, those that only other releases write too: what stands in them and has
/// no object is removed.
[[nodiscard]] std::span<const std::string_view> owned_tables();

/// Whether a key of the database is a row of ours.
[[nodiscard]] bool is_ours(std::string_view key, std::string_view separator);

/// One Ethernet segment of this leaf. Like the next one no view of the engine, which knows nothing
/// of it: EVPN's state is handed over as it shall be shown, in the words of the API.
struct SegmentRow {
    using Esi = std::array<std::uint8_t, 10>;  // RFC 7432 5, in network order.

    Esi esi{};
    std::string port{};
    bool up = false;
    bool announced = false;
    std::string role{};       // "df"
    std::string forwarder{};  // Empty: none.
    std::size_t local_hosts = 0;
    std::size_t synced_hosts = 0;
    bool operator==(const SegmentRow&) const = default;
};

/// One configured EVPN peer.
struct EvpnPeerRow {
    IpAddress address{};
    std::uint32_t remote_as = 0;
    std::string description{};
    std::string state{};               // "established"
    std::optional<TimePoint> since{};  // Of there being a session, or none.
    std::size_t routes = 0;
    bool operator==(const EvpnPeerRow&) const = default;
};

/// All there are, in any order; of two with one name the first counts.
struct EvpnRows {
    std::vector<SegmentRow> segments{};
    std::vector<EvpnPeerRow> peers{};
};

/// A row of CONFIG_DB that was refused. Not the engine's either.
struct ConfigRow {
    std::string table{};  // "PLANED_INTERFACE"
    std::string key{};    // "Vlan100"
    std::string reason{};
    bool operator==(const ConfigRow&) const = default;
};

/// What a row is about.
struct Object {
    Table table{};
    VrfId vrf{};     // Routes.
    IfIndex link{};  // Interfaces, neighbours and proxies.
    // Neighbours, routes, proxies, peers; a segment's ESI and zeros; a digest of a refused row's
    // name.
    IpAddress address{};
    auto operator<=>(const Object&) const = default;
};
[[nodiscard]] Object object_of(const NeighborKey& key);
[[nodiscard]] Object object_of(const RouteKey& key);
[[nodiscard]] Object object_of(IfIndex link);
[[nodiscard]] Object proxy_of(const NeighborKey& key);
[[nodiscard]] Object object_of(const SegmentRow& segment);
[[nodiscard]] Object object_of(const EvpnPeerRow& peer);
[[nodiscard]] Object object_of(const ConfigRow& row);

/// Names are literals; values are text, as everything in Redis.
using Field = std::pair<std::string_view, std::string>;
using Fields = std::vector<Field>;

/// The same for the same fields in any order; never 0.
[[nodiscard]] std::uint64_t digest(const Fields& fields);
/// Of a row that was read: name, value, name, value…
[[nodiscard]] std::uint64_t digest(std::span<const std::string_view> names_and_values);

/// The names of all fields of a table's rows, in the order of fields_of().
[[nodiscard]] std::span<const std::string_view> names_of(Table table);
/// Whether a row that was read has exactly the fields of its table.
[[nodiscard]] bool has_fields_of(Table table, std::span<const std::string_view> names_and_values);

/// The wall clock where the monotonic one is zero: microseconds since 1970, UTC.
using WallOffset = std::chrono::microseconds;

/// RFC 3339 in UTC with microseconds: "2026-08-30T12:34:56.123456Z".
[[nodiscard]] std::string timestamp(TimePoint at, WallOffset wall);

/// Counts that only the mirror as a whole knows.
struct InterfaceCounts {
    std::size_t hosts = 0;  // Living ones: those that may have a route.
};
struct NodeCounts {
    std::size_t routes = 0;  // In zebra.
    std::size_t hosts = 0;
};

[[nodiscard]] std::string global_key(std::string_view separator);
[[nodiscard]] std::string key_of(const HostView& host, std::string_view separator);
[[nodiscard]] std::string key_of(const RouteView& route, std::string_view separator);
[[nodiscard]] std::string key_of(const InterfaceView& interface, std::string_view separator);
[[nodiscard]] std::string key_of(const ProxyView& proxy, std::string_view separator);
[[nodiscard]] std::string key_of(const SegmentRow& segment, std::string_view separator);
[[nodiscard]] std::string key_of(const EvpnPeerRow& peer, std::string_view separator);
[[nodiscard]] std::string key_of(const ConfigRow& row, std::string_view separator);

[[nodiscard]] Fields fields_of(const HostView& host, WallOffset wall);
/// `since` of its state.
[[nodiscard]] Fields fields_of(const RouteView& route, TimePoint since, WallOffset wall);
[[nodiscard]] Fields fields_of(const InterfaceView& interface, const InterfaceCounts& counts);
[[nodiscard]] Fields fields_of(const ProxyView& proxy);
[[nodiscard]] Fields fields_of(const SegmentRow& segment);
[[nodiscard]] Fields fields_of(const EvpnPeerRow& peer, WallOffset wall);
[[nodiscard]] Fields fields_of(const ConfigRow& row);
/// Without `updated`, the time when any row last changed.
[[nodiscard]] Fields fields_of(const NodeView& node,
                               std::string_view version,
                               const NodeCounts& counts);

}  // namespace planed::statedb
