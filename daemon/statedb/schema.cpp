// SPDX-License-Identifier: Apache-2.0
#include "statedb/schema.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>
#include <fmt/format.h>

namespace planed::statedb {
namespace {

constexpr std::string_view kTable = "PLANED_TABLE";
constexpr std::string_view kInterface = "PLANED_INTERFACE_TABLE";
constexpr std::string_view kNeighbor = "PLANED_NEIGHBOR_TABLE";
constexpr std::string_view kRoute = "PLANED_ROUTE_TABLE";
constexpr std::string_view kProxy = "PLANED_PROXY_TABLE";
constexpr std::string_view kSegment = "PLANED_SEGMENT_TABLE";
constexpr std::string_view kEvpnPeer = "PLANED_EVPN_PEER_TABLE";
constexpr std::string_view kConfig = "PLANED_CONFIG_TABLE";
constexpr std::array<std::string_view, 8> kOwned{
    kTable, kInterface, kNeighbor, kRoute, kProxy, kSegment, kEvpnPeer, kConfig};

constexpr std::array<std::string_view, 7> kGlobalNames{
    "name", "plane", "version", "ready", "routes", "hosts", "updated"};
constexpr std::array<std::string_view, 9> kInterfaceNames{
    "name", "ifindex", "vrf", "carrier", "proxy_arp", "proxy_nd", "hosts", "max_hosts", "prefixes"};
constexpr std::array<std::string_view, 7> kNeighborNames{
    "mac", "port", "state", "origin", "eligible", "reason", "since"};
constexpr std::array<std::string_view, 5> kRouteNames{
    "interface", "origin", "state", "reason", "since"};
constexpr std::array<std::string_view, 1> kProxyNames{"state"};
constexpr std::array<std::string_view, 7> kSegmentNames{
    "port", "up", "announced", "role", "forwarder", "local_hosts", "synced_hosts"};
constexpr std::array<std::string_view, 5> kEvpnPeerNames{
    "remote_as", "description", "state", "since", "routes"};
constexpr std::array<std::string_view, 1> kConfigNames{"reason"};

std::string flag(bool value) {
    return value ? "true" : "false";
}

// FNV-1a, 64 bits (draft-eastlake-fnv): good enough to tell two versions of one row apart.
constexpr std::uint64_t kFnvBasis = 0xcbf29ce484222325U;
constexpr std::uint64_t kFnvPrime = 0x100000001b3U;

std::uint64_t fnv(std::uint64_t hash, std::string_view text) {
    for (const char character : text) {
        hash = (hash ^ static_cast<std::uint8_t>(character)) * kFnvPrime;
    }
    return hash;
}

// A finisher with full avalanche, so that the sum over fields keeps every bit.
std::uint64_t mix(std::uint64_t hash) {
    hash = (hash ^ (hash >> 33U)) * 0xff51afd7ed558ccdU;
    hash = (hash ^ (hash >> 33U)) * 0xc4ceb9fe1a85ec53U;
    return hash ^ (hash >> 33U);
}

// A zero byte between the two: ("ab", "c") is not ("a", "bc").
std::uint64_t digest_of(std::string_view name, std::string_view value) {
    const std::uint64_t hash = fnv(kFnvBasis, name) * kFnvPrime;
    return mix(fnv(hash, value));
}

std::uint64_t never_zero(std::uint64_t sum) {
    return sum == 0 ? 1 : sum;
}

}  // namespace

std::span<const std::string_view> owned_tables() {
    return kOwned;
}

bool is_ours(std::string_view key, std::string_view separator) {
    return std::any_of(kOwned.begin(), kOwned.end(), [&](std::string_view table) {
        return key.starts_with(table) && key.substr(table.size()).starts_with(separator);
    });
}

Object object_of(const NeighborKey& key) {
    return {.table = Table::Neighbor, .link = key.link, .address = key.address};
}

Object object_of(const RouteKey& key) {
    return {.table = Table::Route, .vrf = key.vrf, .address = key.prefix.address()};
}

Object object_of(IfIndex link) {
    return {.table = Table::Interface, .link = link};
}

Object proxy_of(const NeighborKey& key) {
    return {.table = Table::Proxy, .link = key.link, .address = key.address};
}

Object object_of(const SegmentRow& segment) {
    IpAddress::Bytes bytes{};
    static_assert(std::tuple_size_v<SegmentRow::Esi> <= std::tuple_size_v<IpAddress::Bytes>);
    std::copy(segment.esi.begin(), segment.esi.end(), bytes.begin());
    return {.table = Table::Segment, .address = IpAddress::v6(bytes)};
}

Object object_of(const EvpnPeerRow& peer) {
    return {.table = Table::EvpnPeer, .address = peer.address};
}

Object object_of(const ConfigRow& row) {
    IpAddress::Bytes bytes{};
    std::uint64_t rest = digest_of(row.table, row.key);
    for (std::uint8_t& byte : std::span(bytes).first(sizeof rest)) {
        byte = static_cast<std::uint8_t>(rest);
        rest >>= 8U;
    }
    return {.table = Table::Config, .address = IpAddress::v6(bytes)};
}

std::uint64_t digest(const Fields& fields) {
    std::uint64_t sum = 0;
    for (const auto& [name, value] : fields) {
        sum += digest_of(name, value);
    }
    return never_zero(sum);
}

std::uint64_t digest(std::span<const std::string_view> names_and_values) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i + 1 < names_and_values.size(); i += 2) {
        sum += digest_of(names_and_values[i], names_and_values[i + 1]);
    }
    return never_zero(sum);
}

std::span<const std::string_view> names_of(Table table) {
    switch (table) {
        case Table::Global: return kGlobalNames;
        case Table::Interface: return kInterfaceNames;
        case Table::Neighbor: return kNeighborNames;
        case Table::Route: return kRouteNames;
        case Table::Proxy: return kProxyNames;
        case Table::Segment: return kSegmentNames;
        case Table::EvpnPeer: return kEvpnPeerNames;
        case Table::Config: return kConfigNames;
    }
    return {};
}

bool has_fields_of(Table table, std::span<const std::string_view> names_and_values) {
    const auto names = names_of(table);
    // Names of one row differ, so as many as there should be, all known, are all of them.
    if (names_and_values.size() != 2 * names.size()) {
        return false;
    }
    for (std::size_t i = 0; i < names_and_values.size(); i += 2) {
        if (std::find(names.begin(), names.end(), names_and_values[i]) == names.end()) {
            return false;
        }
    }
    return true;
}

std::string timestamp(TimePoint at, WallOffset wall) {
    using std::chrono::duration_cast;
    using std::chrono::microseconds;
    const microseconds total = duration_cast<microseconds>(at.time_since_epoch()) + wall;
    const auto days = std::chrono::floor<std::chrono::days>(total);
    const std::chrono::year_month_day date{std::chrono::sys_days{days}};
    const std::chrono::hh_mm_ss time{total - days};
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z",
                       static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()),
                       static_cast<unsigned>(date.day()),
                       time.hours().count(),
                       time.minutes().count(),
                       time.seconds().count(),
                       time.subseconds().count());
}

std::string global_key(std::string_view separator) {
    return fmt::format("{}{}global", kTable, separator);
}

std::string key_of(const HostView& host, std::string_view separator) {
    return fmt::format("{1}{0}{2}{0}{3}{0}{4}",
                       separator,
                       kNeighbor,
                       host.vrf,
                       host.interface,
                       host.key.address.to_string());
}

std::string key_of(const RouteView& route, std::string_view separator) {
    return fmt::format(
        "{1}{0}{2}{0}{3}", separator, kRoute, route.vrf, route.key.prefix.to_string());
}

std::string key_of(const InterfaceView& interface, std::string_view separator) {
    return fmt::format("{}{}{}", kInterface, separator, interface.name);
}

std::string key_of(const ProxyView& proxy, std::string_view separator) {
    return fmt::format(
        "{1}{0}{2}{0}{3}", separator, kProxy, proxy.interface, proxy.key.address.to_string());
}

std::string key_of(const SegmentRow& segment, std::string_view separator) {
    return fmt::format("{}{}{:02x}", kSegment, separator, fmt::join(segment.esi, ":"));
}

std::string key_of(const EvpnPeerRow& peer, std::string_view separator) {
    return fmt::format("{}{}{}", kEvpnPeer, separator, peer.address.to_string());
}

std::string key_of(const ConfigRow& row, std::string_view separator) {
    return fmt::format("{1}{0}{2}{0}{3}", separator, kConfig, row.table, row.key);
}

Fields fields_of(const HostView& host, WallOffset wall) {
    const bool eligible = host.reason == Reason::Eligible;
    return {
        {"mac", host.mac.is_zero() ? std::string() : host.mac.to_string()},
        {"port", host.port},
        {"state", std::string(word(host.state))},
        {"origin", std::string(word(host.origin))},
        {"eligible", flag(eligible)},
        {"reason", std::string(word(host.reason))},
        {"since", timestamp(host.since, wall)},
    };
}

Fields fields_of(const RouteView& route, TimePoint since, WallOffset wall) {
    return {
        {"interface", route.interface},
        {"origin", std::string(word(route.origin))},
        {"state", std::string(word(route.state))},
        {"reason", std::string(route.reason)},
        {"since", timestamp(since, wall)},
    };
}

Fields fields_of(const InterfaceView& interface, const InterfaceCounts& counts) {
    std::string prefixes;
    for (const IpPrefix& prefix : interface.prefixes) {
        prefixes += prefixes.empty() ? "" : ",";
        prefixes += prefix.network().to_string();
    }
    return {
        {"name", interface.name},
        {"ifindex", fmt::format_int(number(interface.link)).str()},
        {"vrf", interface.vrf},
        {"carrier", flag(interface.carrier)},
        {"proxy_arp", std::string(word(interface.proxy_arp))},
        {"proxy_nd", flag(interface.proxy_nd)},
        {"hosts", fmt::format_int(counts.hosts).str()},
        {"max_hosts", fmt::format_int(interface.max_hosts).str()},
        {"prefixes", std::move(prefixes)},
    };
}

Fields fields_of(const ProxyView& proxy) {
    return {{"state", std::string(word(proxy.state))}};
}

Fields fields_of(const SegmentRow& segment) {
    return {
        {"port", segment.port},
        {"up", flag(segment.up)},
        {"announced", flag(segment.announced)},
        {"role", segment.role},
        {"forwarder", segment.forwarder},
        {"local_hosts", fmt::format_int(segment.local_hosts).str()},
        {"synced_hosts", fmt::format_int(segment.synced_hosts).str()},
    };
}

Fields fields_of(const EvpnPeerRow& peer, WallOffset wall) {
    return {
        {"remote_as", fmt::format_int(peer.remote_as).str()},
        {"description", peer.description},
        {"state", peer.state},
        {"since", peer.since ? timestamp(*peer.since, wall) : std::string()},
        {"routes", fmt::format_int(peer.routes).str()},
    };
}

Fields fields_of(const ConfigRow& row) {
    return {{"reason", row.reason}};
}

Fields fields_of(const NodeView& node, std::string_view version, const NodeCounts& counts) {
    return {
        {"name", node.name},
        {"plane", node.plane},
        {"version", std::string(version)},
        {"ready", flag(node.ready)},
        {"routes", fmt::format_int(counts.routes).str()},
        {"hosts", fmt::format_int(counts.hosts).str()},
    };
}

}  // namespace planed::statedb
