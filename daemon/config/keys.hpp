// SPDX-License-Identifier: Apache-2.0
// Every key of planed.yaml, once: its name, its field and what it may hold. Loading, printing and
// comparing walk this list, so a key exists in all of them or in none.
//
// Keys<T>::each(visit) calls visit("name", &T::field, rule) for each key of T, in the order in
// which they are printed.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "config/checks.hpp"
#include "config/config.hpp"

namespace planed::config {

enum class Need : std::uint8_t { Optional, Required };

// The rules. Bounds are included.
struct Flag {};
struct Whole {
    std::uint32_t min = 0;
    std::uint32_t max = 0;
    Need need = Need::Optional;
};
struct Percent {};  // 0% to 100%.
struct Span {
    Duration min{};
    Duration max{};
    Duration step = 1us;
};
struct Text {
    TextCheck check = check_any;
    Need need = Need::Optional;
};
struct Secret {  // Text that is never shown, not even where it is wrong.
    TextCheck check = check_any;
};
struct Choice {};       // One of kChoices of the field's enum.
struct HostAddress {};  // Unicast; required.
struct Address {        // Required where the field is not optional; "": none.
    AddressCheck check = nullptr;
};
struct HostMac {};  // Unicast, not zero.
struct Part {};     // A struct of its own.
struct Words {      // A map of any keys to text.
    std::size_t max = 0;
};
struct TextList {
    std::size_t max = 0;
    TextCheck check = check_any;
};
struct AddressList {
    std::size_t max = 0;
    AddressCheck check = nullptr;
};
enum class Form : std::uint8_t { Prefix, PrefixOrAddress };
struct PrefixList {
    std::size_t max = 0;
    Form form = Form::Prefix;
};
struct SegmentIdentifier {};  // Ten octets.
struct RouteTargetList {      // Never empty; required.
    std::size_t max = 0;
};
struct PartList {
    std::size_t max = 0;
};

/// The words for an enum's values, in the order of its enumerators.
template <class Enum>
struct Choices;
template <>
struct Choices<OnExit> {
    static constexpr std::array<std::string_view, 2> kWords{"keep", "withdraw"};
};
template <>
struct Choices<ProxyArp> {
    static constexpr std::array<std::string_view, 3> kWords{"off", "routed", "pvlan"};
};
template <>
struct Choices<UplinksDown> {
    static constexpr std::array<std::string_view, 2> kWords{"withdraw", "shut"};
};
template <>
struct Choices<NextHopForm> {
    static constexpr std::array<std::string_view, 2> kWords{"interface", "self"};
};
template <>
struct Choices<RouteType> {
    static constexpr std::array<std::string_view, 4> kWords{
        "babel", "openfabric", "table", "sharp"};
};
template <>
struct Choices<Unresolved> {
    static constexpr std::array<std::string_view, 2> kWords{"none", "reject"};
};

template <>
struct Choices<EvpnProfile> {
    static constexpr std::array<std::string_view, 2> kWords{"l3", "classic"};
};
template <>
struct Choices<evpn::DfAlgorithm> {
    static constexpr std::array<std::string_view, 4> kWords{
        "modulus", "hrw", "highest_preference", "lowest_preference"};
};

inline constexpr std::uint32_t kAnyU32 = 0xFFFFFFFF;
inline constexpr std::uint32_t kHostsMax = 131072;  // All neighbours of one leaf, core/limits.hpp.
inline constexpr std::uint32_t kPortMax = 65535;
inline constexpr std::uint32_t kAny24 = 0xFF'FFFF;

template <class T>
struct Keys;

template <>
struct Keys<StaticHost> {
    template <class Visit>
    static void each(Visit&& visit) {
        visit("address", &StaticHost::address, HostAddress{});
        visit("mac", &StaticHost::mac, HostMac{});
        visit("port", &StaticHost::port, Text{.check = check_port_or_empty});
    }
};

template <>
struct Keys<InterfaceConfig> {
    template <class Visit>
    static void each(Visit&& visit) {
        visit("name",
              &InterfaceConfig::name,
              Text{.check = check_interface_pattern, .need = Need::Required});
        visit("prefixes", &InterfaceConfig::prefixes, PrefixList{.max = 256, .form = Form::Prefix});
        visit("exclude",
              &InterfaceConfig::exclude,
              PrefixList{.max = 1024, .form = Form::PrefixOrAddress});
        visit("proxy_arp", &InterfaceConfig::proxy_arp, Choice{});
        visit("proxy_nd", &InterfaceConfig::proxy_nd, Flag{});
        visit("snoop", &InterfaceConfig::snoop, Flag{});
        visit("max_hosts", &InterfaceConfig::max_hosts, Whole{.min = 1, .max = kHostsMax});
        visit("hosts", &InterfaceConfig::hosts, PartList{.max = 4096});
        visit("unresolved", &InterfaceConfig::unresolved, Choice{});
    }
};

template <>
struct Keys<NodeConfig> {
    template <class Visit>
    static void each(Visit&& visit) {
        visit("name", &NodeConfig::name, Text{.check = check_node_name});
        visit("plane", &NodeConfig::plane, Text{.check = check_label});
    }
};

template <>
struct Keys<DuplicatesConfig> {
    template <class Visit>
    static void each(Visit&& visit) {
        visit("max_moves", &DuplicatesConfig::max_moves, Whole{.min = 0, .max = 1000});
        visit("window", &DuplicatesConfig::window, Span{.min = 1s, .max = 24h});
        visit("freeze", &DuplicatesConfig::freeze, Span{.min = 1s, .max = 24h});
    }
};

template <>
struct Keys<LearningConfig> {
    template <class Visit>
    static void each(Visit&& visit) {
        visit("refresh", &LearningConfig::refresh, Span{.min = 1s, .max = 24h});
        visit("probe_interval", &LearningConfig::probe_interval, Span{.min = 10ms, .max = 1min});
        visit("probe_attempts", &LearningConfig::probe_attempts, Whole{.min = 1, .max = 100});
        visit("duplicates", &LearningConfig::duplicates, Part{});
    }
};

template <>
struct Keys<WithdrawDelay> {
    template <class Visit>
    static void each(Visit&& visit) {
        visit("silent", &WithdrawDelay::silent, Span{.min = 0s, .max = 1h});
        visit("port_down", &WithdrawDelay::port_down, Span{.min = 0s, .max = 1h});
    }
};

template <>
struct Keys<DampingConfig> {
    template <class Visit>
    static void each(Visit&& visit) {
        visit("max_flaps", &DampingConfig::max_flaps, Whole{.min = 0, .max = 1000});
        visit("window", &DampingConfig::window, Span{.min = 100ms, .max = 24h});
        visit("hold", &DampingConfig::hold, Span{.min = 100ms, .max = 24h});
    }
};

template <>
struct Keys<MaxWithdraw> {
    template <class Visit>
    static void each(Visit&& visit) {
        visit("share", &MaxWithdraw::share_percent, Percent{});
        visit("at_least", &MaxWithdraw::at_least, Whole{.min = 0, .max = kHostsMax});
        visit("window", &MaxWithdraw::window, Span{.min = 100ms, .max = 1h});
    }
};

template <>
struct Keys<RoutesConfig> {
    template <class Visit>
    static void each(Visit&& visit) {
        visit("distance", &RoutesConfig::distance, Whole{.min = 1, .max = 255});
        visit("metric", &RoutesConfig::metric, Whole{.min = 0, .max = kAnyU32});
        visit("nexthop", &RoutesConfig::nexthop, Choice{});
        visit("tag", &RoutesConfig::tag, Whole{.min = 0, .max = kAnyU32});
        visit("add_delay", &RoutesConfig::add_delay, Span{.min = 0s, .max = 1h});
        visit("withdraw_delay", &RoutesConfig::withdraw_delay, Part{});
        visit("damping", &RoutesConfig::damping, Part{});
        visit("max_withdraw", &RoutesConfig::max_withdraw, Part{});
    }
};

template <>
struct Keys<FrrConfig> {
    template <class Visit>
    static void each(Visit&& visit) {
        visit("socket", &FrrConfig::socket, Text{.check = check_socket_path});
        visit("release", &FrrConfig::release, Text{.check = check_frr_release});
        visit("route_type", &FrrConfig::route_type, Choice{});
        // ZAPI carries whole seconds, and zebra cannot tell routes within one second apart.
        visit("stale_time", &FrrConfig::stale_time, Span{.min = 2s, .max = 7 * 24h, .step = 1s});
    }
};

template <>
struct Keys<RedisConfig> {
    template <class Visit>
    static void each(Visit&& visit) {
        visit("endpoint", &RedisConfig::endpoint, Text{.check = check_redis_endpoint});
        visit("database_config", &RedisConfig::database_config, Text{.check = check_path_or_empty});
        visit("config_db", &RedisConfig::config_db, Flag{});
    }
};

template <>
struct Keys<TlsConfig> {
    template <class Visit>
    static void each(Visit&& visit) {
        visit("certificate", &TlsConfig::certificate, Text{.check = check_path_or_empty});
        visit("key", &TlsConfig::key, Text{.check = check_path_or_empty});
        visit("client_ca", &TlsConfig::client_ca, Text{.check = check_path_or_empty});
    }
};

template <>
struct Keys<ApiConfig> {
    template <class Visit>
    static void each(Visit&& visit) {
        visit("listen", &ApiConfig::listen, TextList{.max = 16, .check = check_listen_address});
        visit("tls", &ApiConfig::tls, Part{});
    }
};

template <>
struct Keys<MetricsConfig> {
    template <class Visit>
    static void each(Visit&& visit) {
        visit("listen", &MetricsConfig::listen, Text{.check = check_tcp_address_or_empty});
    }
};

template <>
struct Keys<PluginConfig> {
    template <class Visit>
    static void each(Visit&& visit) {
        visit("path", &PluginConfig::path, Text{.check = check_path, .need = Need::Required});
        visit("options", &PluginConfig::options, Words{.max = 64});
    }
};

template <>
struct Keys<EvpnPeerConfig> {
    template <class Visit>
    static void each(Visit&& visit) {
        constexpr std::uint32_t kHopsMax = 254;
        visit("address", &EvpnPeerConfig::address, Address{.check = peer_address_problem});
        visit("remote_as",
              &EvpnPeerConfig::remote_as,
              Whole{.min = 1, .max = kAnyU32, .need = Need::Required});
        visit("port", &EvpnPeerConfig::port, Whole{.min = 1, .max = kPortMax});
        visit("passive", &EvpnPeerConfig::passive, Flag{});
        visit("source", &EvpnPeerConfig::source, Address{.check = peer_address_problem});
        visit("password", &EvpnPeerConfig::password, Secret{.check = check_tcp_password});
        visit("ttl_security", &EvpnPeerConfig::ttl_security, Whole{.min = 0, .max = kHopsMax});
        // Two octets of seconds in OPEN (RFC 4271 4.2).
        visit("hold_time",
              &EvpnPeerConfig::hold_time,
              Span{.min = 0s, .max = std::chrono::seconds(65535), .step = 1s});
        visit("connect_retry", &EvpnPeerConfig::connect_retry, Span{.min = 100ms, .max = 1h});
        visit("description", &EvpnPeerConfig::description, Text{.check = check_label});
        visit("max_prefixes", &EvpnPeerConfig::max_prefixes, Whole{.min = 1, .max = 1'000'000});
        visit("enabled", &EvpnPeerConfig::enabled, Flag{});
    }
};

template <>
struct Keys<EvpnVrfConfig> {
    template <class Visit>
    static void each(Visit&& visit) {
        visit("vrf",
              &EvpnVrfConfig::vrf,
              Text{.check = check_interface_name, .need = Need::Required});
        visit("vni", &EvpnVrfConfig::vni, Whole{.min = 1, .max = kAny24, .need = Need::Required});
        visit("route_targets", &EvpnVrfConfig::route_targets, RouteTargetList{.max = 16});
        visit("profile", &EvpnVrfConfig::profile, Choice{});
    }
};

template <>
struct Keys<EvpnDfConfig> {
    template <class Visit>
    static void each(Visit&& visit) {
        constexpr std::uint32_t kPreferenceMax = 65535;
        visit("algorithm", &EvpnDfConfig::algorithm, Choice{});
        visit("preference", &EvpnDfConfig::preference, Whole{.min = 0, .max = kPreferenceMax});
        visit("dont_preempt", &EvpnDfConfig::dont_preempt, Flag{});
        visit("ac_df", &EvpnDfConfig::ac_df, Flag{});
    }
};

template <>
struct Keys<EvpnSegmentConfig> {
    template <class Visit>
    static void each(Visit&& visit) {
        visit("port",
              &EvpnSegmentConfig::port,
              Text{.check = check_interface_name, .need = Need::Required});
        visit("esi", &EvpnSegmentConfig::esi, SegmentIdentifier{});
        visit("system_mac", &EvpnSegmentConfig::system_mac, HostMac{});
        visit("id", &EvpnSegmentConfig::id, Whole{.min = 1, .max = kAny24});
        visit("df", &EvpnSegmentConfig::df, Part{});
    }
};

template <>
struct Keys<EvpnConfig> {
    template <class Visit>
    static void each(Visit&& visit) {
        visit("router_id", &EvpnConfig::router_id, Address{.check = router_id_problem});
        visit("local_as", &EvpnConfig::local_as, Whole{.min = 0, .max = kAnyU32});
        visit("listen", &EvpnConfig::listen, AddressList{.max = 16, .check = bgp_listen_problem});
        visit("listen_port", &EvpnConfig::listen_port, Whole{.min = 1, .max = kPortMax});
        visit("peers", &EvpnConfig::peers, PartList{.max = 64});
        visit("hold", &EvpnConfig::hold, Span{.min = 0s, .max = 24h});
        visit("startup_delay", &EvpnConfig::startup_delay, Span{.min = 0s, .max = 1h});
        visit("df_wait", &EvpnConfig::df_wait, Span{.min = 0s, .max = 60s});
        visit("vrfs", &EvpnConfig::vrfs, PartList{.max = 64});
        visit("segments", &EvpnConfig::segments, PartList{.max = 1024});
    }
};

template <>
struct Keys<Config> {
    template <class Visit>
    static void each(Visit&& visit) {
        visit("node", &Config::node, Part{});
        visit("state_dir", &Config::state_dir, Text{.check = check_path});
        visit("on_exit", &Config::on_exit, Choice{});
        visit("interfaces", &Config::interfaces, PartList{.max = 1024});
        visit("uplinks", &Config::uplinks, TextList{.max = 256, .check = check_interface_pattern});
        visit("uplinks_down", &Config::uplinks_down, Choice{});
        visit("learning", &Config::learning, Part{});
        visit("routes", &Config::routes, Part{});
        visit("frr", &Config::frr, Part{});
        visit("redis", &Config::redis, Part{});
        visit("api", &Config::api, Part{});
        visit("metrics", &Config::metrics, Part{});
        visit("plugins", &Config::plugins, PartList{.max = 32});
        visit("evpn", &Config::evpn, Part{});
    }
};

}  // namespace planed::config
