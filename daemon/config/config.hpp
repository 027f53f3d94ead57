// SPDX-License-Identifier: Apache-2.0
// The whole configuration as one plain struct tree with its defaults. Loading, checking and
// printing are elsewhere; nothing here can fail. Names are those of planed.yaml.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "evpn/df_election.hpp"
#include "evpn/esi.hpp"
#include "net/ip_prefix.hpp"
#include "net/mac_address.hpp"
#include "net/time.hpp"

namespace planed {

enum class OnExit : std::uint8_t { Keep, Withdraw };
enum class ProxyArp : std::uint8_t { Off, Routed, Pvlan };
enum class UplinksDown : std::uint8_t { Withdraw, Shut };
enum class NextHopForm : std::uint8_t { Interface, Self };
enum class RouteType : std::uint8_t { Babel, Openfabric, Table, Sharp };
enum class Unresolved : std::uint8_t { None, Reject };
enum class EvpnProfile : std::uint8_t { L3, Classic };

struct StaticHost {
    IpAddress address{};
    std::optional<MacAddress> mac{};
    std::string port{};  // Empty: any.
    bool operator==(const StaticHost&) const = default;
};

struct InterfaceConfig {
    std::string name{};                // Exact, or a glob: config/match.hpp says which entry wins.
    std::vector<IpPrefix> prefixes{};  // Empty: the subnets of the interface's own addresses.
    std::vector<IpPrefix> exclude{};   // A bare address is a host prefix.
    ProxyArp proxy_arp = ProxyArp::Routed;
    bool proxy_nd = true;
    bool snoop = true;
    std::uint32_t max_hosts = 16384;
    std::vector<StaticHost> hosts{};
    Unresolved unresolved = Unresolved::None;
    bool operator==(const InterfaceConfig&) const = default;
};

struct NodeConfig {
    std::string name{};   // Empty: the host name.
    std::string plane{};  // A free label.
    bool operator==(const NodeConfig&) const = default;
};

// The same address claimed by more than one MAC.
struct DuplicatesConfig {
    std::uint32_t max_moves = 5;  // Within the window; 0: off.
    Duration window = 180s;
    Duration freeze = 180s;
    bool operator==(const DuplicatesConfig&) const = default;
};

struct LearningConfig {
    Duration refresh = 30s;
    Duration probe_interval = 1s;
    std::uint32_t probe_attempts = 3;
    DuplicatesConfig duplicates{};
    bool operator==(const LearningConfig&) const = default;
};

struct WithdrawDelay {
    Duration silent = 0s;
    Duration port_down = 0s;
    bool operator==(const WithdrawDelay&) const = default;
};

struct DampingConfig {
    std::uint32_t max_flaps = 0;  // 0: off.
    Duration window = 60s;
    Duration hold = 120s;
    bool operator==(const DampingConfig&) const = default;
};

struct MaxWithdraw {
    std::uint32_t share_percent = 50;
    std::uint32_t at_least = 16;
    Duration window = 10s;
    bool operator==(const MaxWithdraw&) const = default;
};

struct RoutesConfig {
    std::uint8_t distance = 5;  // 1..255; must beat eBGP's 20, else the second leaf stays silent.
    std::uint32_t metric = 0;
    NextHopForm nexthop = NextHopForm::Interface;
    std::uint32_t tag = 100;
    Duration add_delay = 0s;
    WithdrawDelay withdraw_delay{};
    DampingConfig damping{};
    MaxWithdraw max_withdraw{};
    bool operator==(const RoutesConfig&) const = default;
};

struct FrrConfig {
    std::string socket = "/run/frr/zserv.api";
    std::string release = "auto";  // Or "8.4", "10.3": pins the wire family; the probe must agree.
    RouteType route_type = RouteType::Babel;
    Duration stale_time = 15min;
    bool operator==(const FrrConfig&) const = default;
};

struct RedisConfig {
    std::string endpoint = "auto";
    std::string database_config{};
    bool config_db = false;
    bool operator==(const RedisConfig&) const = default;
};

struct TlsConfig {
    std::string certificate{};
    std::string key{};
    std::string client_ca{};
    bool operator==(const TlsConfig&) const = default;
};

struct ApiConfig {
    std::vector<std::string> listen{"unix:/run/planed/planed.sock"};
    TlsConfig tls{};
    bool operator==(const ApiConfig&) const = default;
};

struct MetricsConfig {
    std::string listen{};  // "127.0.0.1:9464"; empty: off.
    bool operator==(const MetricsConfig&) const = default;
};

struct PluginConfig {
    std::string path{};
    std::map<std::string, std::string> options{};
    bool operator==(const PluginConfig&) const = default;
};

struct EvpnPeerConfig {
    IpAddress address{};
    std::uint32_t remote_as = 0;
    std::uint16_t port = 179;
    bool passive = false;               // Waits for the peer's connection.
    std::optional<IpAddress> source{};  // Empty: the kernel's choice.
    std::string password{};             // Of TCP MD5; never printed.
    std::uint8_t ttl_security = 0;      // Hops away at most; 0: off.
    Duration hold_time = 90s;           // 0: neither hold timer nor KEEPALIVEs.
    Duration connect_retry = 5s;        // Doubled up to a minute.
    std::string description{};
    std::uint32_t max_prefixes = 65536;
    bool enabled = true;
    bool operator==(const EvpnPeerConfig&) const = default;
};

// Who numbers it, an AS or the owner of an IPv4 address, and the number: of 32 bits beside an AS of
// 16, else of 16 (RFC 4360 3.1 and 3.2, RFC 5668).
struct RouteTargetConfig {
    std::optional<IpAddress> address{};  // IPv4; else it is `as`.
    std::uint32_t as = 0;
    std::uint32_t number = 0;
    auto operator<=>(const RouteTargetConfig&) const = default;
};

struct EvpnVrfConfig {
    std::string vrf{};      // "default", or a device's name.
    std::uint32_t vni = 0;  // 1 to 16777215; its low 16 bits are like no other VRF's.
    std::vector<RouteTargetConfig> route_targets{};  // Never empty.
    EvpnProfile profile = EvpnProfile::L3;
    bool operator==(const EvpnVrfConfig&) const = default;
};

struct EvpnDfConfig {
    evpn::DfAlgorithm algorithm = evpn::DfAlgorithm::HighestPreference;
    std::uint16_t preference = evpn::DfOffer::kPreferenceDefault;
    bool dont_preempt = false;
    bool ac_df = false;
    bool operator==(const EvpnDfConfig&) const = default;
};

// One server: named by `esi`, or by `system_mac` and `id`, never by both.
struct EvpnSegmentConfig {
    std::string port{};  // Exact: its bond, or its port.
    std::optional<evpn::Esi> esi{};
    std::optional<MacAddress> system_mac{};
    std::optional<std::uint32_t> id{};  // 1 to 16777215.
    EvpnDfConfig df{};
    bool operator==(const EvpnSegmentConfig&) const = default;

    /// Nullopt only where validate() has found fault with it.
    [[nodiscard]] std::optional<evpn::Esi> identifier() const {
        return esi || !system_mac || !id ? esi : evpn::Esi::of_mac(*system_mac, *id);
    }
};

// Without a router_id: option 1 only.
struct EvpnConfig {
    std::optional<IpAddress> router_id{};  // IPv4.
    std::uint32_t local_as = 0;
    std::vector<IpAddress> listen{};  // Empty: nobody can connect, we do.
    std::uint16_t listen_port = 179;
    std::vector<EvpnPeerConfig> peers{};
    Duration hold = 120s;          // What a peer told outlives a session that was lost so long.
    Duration startup_delay = 30s;  // Segments wait for what peers have, at most so long.
    Duration df_wait = 3s;         // RFC 8584 2.1
    std::vector<EvpnVrfConfig> vrfs{};
    std::vector<EvpnSegmentConfig> segments{};
    bool operator==(const EvpnConfig&) const = default;

    [[nodiscard]] bool is_on() const { return router_id.has_value(); }
};

struct Config {
    NodeConfig node{};
    std::string state_dir = "/var/lib/planed";
    OnExit on_exit = OnExit::Keep;
    std::vector<InterfaceConfig> interfaces{};
    std::vector<std::string> uplinks{};  // Exact, or globs.
    UplinksDown uplinks_down = UplinksDown::Withdraw;
    LearningConfig learning{};
    RoutesConfig routes{};
    FrrConfig frr{};
    RedisConfig redis{};
    ApiConfig api{};
    MetricsConfig metrics{};
    std::vector<PluginConfig> plugins{};
    EvpnConfig evpn{};
    bool operator==(const Config&) const = default;
};

}  // namespace planed
