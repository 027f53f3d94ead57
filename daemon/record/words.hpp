// SPDX-License-Identifier: Apache-2.0
// The words that enumerations have in a recording.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "core/input.hpp"
#include "core/output.hpp"

namespace planed::record {

template <class E>
using Word = std::pair<E, std::string_view>;

/// kWords<E> lists every value of E. What has no specialization is a number.
template <class E>
struct NoWords {};
template <class E>
inline constexpr NoWords<E> kWords{};

template <>
inline constexpr std::array<Word<Source>, 3> kWords<Source>{
    {{Source::Event, "event"}, {Source::Dump, "dump"}, {Source::Read, "read"}}};
template <>
inline constexpr std::array<Word<LinkKind>, 6> kWords<LinkKind>{{{LinkKind::Other, "other"},
                                                                 {LinkKind::Bridge, "bridge"},
                                                                 {LinkKind::Vlan, "vlan"},
                                                                 {LinkKind::Bond, "bond"},
                                                                 {LinkKind::Vrf, "vrf"},
                                                                 {LinkKind::Veth, "veth"}}};
template <>
inline constexpr std::array<Word<OperState>, 7> kWords<OperState>{
    {{OperState::Unknown, "unknown"},
     {OperState::NotPresent, "notpresent"},
     {OperState::Down, "down"},
     {OperState::LowerLayerDown, "lowerlayerdown"},
     {OperState::Testing, "testing"},
     {OperState::Dormant, "dormant"},
     {OperState::Up, "up"}}};
template <>
inline constexpr std::array<Word<Nud>, 9> kWords<Nud>{{{Nud::None, "NONE"},
                                                       {Nud::Incomplete, "INCOMPLETE"},
                                                       {Nud::Reachable, "REACHABLE"},
                                                       {Nud::Stale, "STALE"},
                                                       {Nud::Delay, "DELAY"},
                                                       {Nud::Probe, "PROBE"},
                                                       {Nud::Failed, "FAILED"},
                                                       {Nud::NoArp, "NOARP"},
                                                       {Nud::Permanent, "PERMANENT"}}};
template <>
inline constexpr std::array<Word<Claim>, 3> kWords<Claim>{
    {{Claim::Confirms, "confirms"}, {Claim::Creates, "creates"}, {Claim::Replaces, "replaces"}}};
template <>
inline constexpr std::array<Word<DumpKind>, kDumpKinds> kWords<DumpKind>{
    {{DumpKind::Links, "links"},
     {DumpKind::Addresses, "addresses"},
     {DumpKind::Neighbors, "neighbors"},
     {DumpKind::Fdb, "fdb"},
     {DumpKind::Proxies, "proxies"}}};
template <>
inline constexpr std::array<Word<RouteAnswer>, 5> kWords<RouteAnswer>{
    {{RouteAnswer::Installed, "installed"},
     {RouteAnswer::Removed, "removed"},
     {RouteAnswer::FailedInstall, "failed_install"},
     {RouteAnswer::BetterWon, "better_won"},
     {RouteAnswer::RemoveFailed, "remove_failed"}}};
template <>
inline constexpr std::array<Word<Family>, 2> kWords<Family>{
    {{Family::V4, "ipv4"}, {Family::V6, "ipv6"}}};
template <>
inline constexpr std::array<Word<Errc>, 7> kWords<Errc>{{{Errc::Truncated, "truncated"},
                                                         {Errc::Malformed, "malformed"},
                                                         {Errc::Unsupported, "unsupported"},
                                                         {Errc::Refused, "refused"},
                                                         {Errc::Lost, "lost"},
                                                         {Errc::System, "system"},
                                                         {Errc::Invalid, "invalid"}}};
template <>
inline constexpr std::array<Word<DrainScope::Kind>, 3> kWords<DrainScope::Kind>{
    {{DrainScope::Kind::Leaf, "leaf"},
     {DrainScope::Kind::Port, "port"},
     {DrainScope::Kind::Host, "host"}}};
template <>
inline constexpr std::array<Word<Level>, 5> kWords<Level>{{{Level::Error, "error"},
                                                           {Level::Warn, "warn"},
                                                           {Level::Info, "info"},
                                                           {Level::Debug, "debug"},
                                                           {Level::Trace, "trace"}}};

// As sysctl names them, below net.
template <>
inline constexpr std::array<Word<Setting>, kSettings.size()> kWords<Setting>{
    {{Setting::ArpAccept, "ipv4.conf.IF.arp_accept"},
     {Setting::ProxyArp, "ipv4.conf.IF.proxy_arp"},
     {Setting::AcceptUntrackedNa, "ipv6.conf.IF.accept_untracked_na"},
     {Setting::McastResolicit4, "ipv4.neigh.IF.mcast_resolicit"},
     {Setting::McastResolicit6, "ipv6.neigh.IF.mcast_resolicit"},
     {Setting::UcastSolicit4, "ipv4.neigh.IF.ucast_solicit"},
     {Setting::UcastSolicit6, "ipv6.neigh.IF.ucast_solicit"},
     {Setting::RetransTime4, "ipv4.neigh.IF.retrans_time_ms"},
     {Setting::RetransTime6, "ipv6.neigh.IF.retrans_time_ms"},
     {Setting::ProxyDelay4, "ipv4.neigh.IF.proxy_delay"},
     {Setting::ProxyQlen4, "ipv4.neigh.IF.proxy_qlen"},
     {Setting::ProxyDelay6, "ipv6.neigh.IF.proxy_delay"},
     {Setting::ProxyQlen6, "ipv6.neigh.IF.proxy_qlen"},
     {Setting::Forwarding6, "ipv6.conf.IF.forwarding"},
     {Setting::ProxyNdp, "ipv6.conf.IF.proxy_ndp"}}};

template <class E>
concept HasWords = !std::is_same_v<std::remove_cv_t<decltype(kWords<E>)>, NoWords<E>>;

template <HasWords E>
constexpr std::string_view word_of(E value) {
    const auto found = std::find_if(
        kWords<E>.begin(), kWords<E>.end(), [value](const Word<E>& w) { return w.first == value; });
    return found == kWords<E>.end() ? "?" : found->second;
}

/// Nullopt: none of its words.
template <HasWords E>
constexpr std::optional<E> value_of(std::string_view word) {
    for (const auto& [value, text] : kWords<E>) {
        if (text == word) {
            return value;
        }
    }
    return std::nullopt;
}

}  // namespace planed::record
