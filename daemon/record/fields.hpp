// SPDX-License-Identifier: Apache-2.0
// The members of every input and output by name, once, for whoever writes them out and reads them
// back. A member that is missing here does not compile (covers_all).
#pragma once

#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "core/input.hpp"
#include "core/output.hpp"

namespace planed::record {

template <class T, class M>
struct Field {
    std::string_view name;
    M T::*member;
};

template <class T, class M>
constexpr Field<T, M> field(std::string_view name, M T::*member) {
    return {name, member};
}

/// Fields<T>::list is a tuple of Field<T, …>; inputs and outputs have a `name` too. What has no
/// specialization is no structure.
template <class T>
struct Fields;

// Facts -------------------------------------------------------------------------------------------

template <>
struct Fields<Link> {
    static constexpr auto list =
        std::make_tuple(field("index", &Link::index),
                        field("name", &Link::name),
                        field("mac", &Link::mac),
                        field("kind", &Link::kind),
                        field("admin_up", &Link::admin_up),
                        field("carrier", &Link::carrier),
                        field("oper", &Link::oper),
                        field("carrier_down_count", &Link::carrier_down_count),
                        field("master", &Link::master),
                        field("bridge_port", &Link::bridge_port),
                        field("bond_port", &Link::bond_port),
                        field("lower", &Link::lower),
                        field("vlan", &Link::vlan),
                        field("vrf_table", &Link::vrf_table),
                        field("vlan_filtering", &Link::vlan_filtering),
                        field("default_pvid", &Link::default_pvid));
};
template <>
struct Fields<NeighborKey> {
    static constexpr auto list =
        std::make_tuple(field("link", &NeighborKey::link), field("address", &NeighborKey::address));
};
template <>
struct Fields<Neighbor> {
    static constexpr auto list = std::make_tuple(field("mac", &Neighbor::mac),
                                                 field("state", &Neighbor::state),
                                                 field("ext_learned", &Neighbor::ext_learned),
                                                 field("protocol", &Neighbor::protocol));
};
template <>
struct Fields<FdbKey> {
    static constexpr auto list = std::make_tuple(
        field("bridge", &FdbKey::bridge), field("vlan", &FdbKey::vlan), field("mac", &FdbKey::mac));
};
template <>
struct Fields<FdbEntry> {
    static constexpr auto list = std::make_tuple(field("port", &FdbEntry::port),
                                                 field("local", &FdbEntry::local),
                                                 field("ext_learned", &FdbEntry::ext_learned));
};
template <>
struct Fields<RouteKey> {
    static constexpr auto list =
        std::make_tuple(field("vrf", &RouteKey::vrf), field("prefix", &RouteKey::prefix));
};
template <>
struct Fields<HostRoute> {
    static constexpr auto list =
        std::make_tuple(field("out", &HostRoute::out),
                        field("gateway_is_host", &HostRoute::gateway_is_host),
                        field("distance", &HostRoute::distance),
                        field("metric", &HostRoute::metric),
                        field("tag", &HostRoute::tag));
};
template <>
struct Fields<Error> {
    static constexpr auto list = std::make_tuple(field("code", &Error::code),
                                                 field("text", &Error::text),
                                                 field("offset", &Error::offset),
                                                 field("errno", &Error::system_errno));
};
template <>
struct Fields<DrainScope> {
    static constexpr auto list = std::make_tuple(field("kind", &DrainScope::kind),
                                                 field("port", &DrainScope::port),
                                                 field("address", &DrainScope::address));
};

// Inputs ------------------------------------------------------------------------------------------

template <>
struct Fields<LinkSeen> {
    static constexpr std::string_view name = "LinkSeen";
    static constexpr auto list =
        std::make_tuple(field("link", &LinkSeen::link), field("source", &LinkSeen::source));
};
template <>
struct Fields<LinkGone> {
    static constexpr std::string_view name = "LinkGone";
    static constexpr auto list = std::make_tuple(field("link", &LinkGone::link));
};
template <>
struct Fields<AddressSeen> {
    static constexpr std::string_view name = "AddressSeen";
    static constexpr auto list = std::make_tuple(field("link", &AddressSeen::link),
                                                 field("address", &AddressSeen::address),
                                                 field("source", &AddressSeen::source));
};
template <>
struct Fields<AddressGone> {
    static constexpr std::string_view name = "AddressGone";
    static constexpr auto list =
        std::make_tuple(field("link", &AddressGone::link), field("address", &AddressGone::address));
};
template <>
struct Fields<NeighborSeen> {
    static constexpr std::string_view name = "NeighborSeen";
    static constexpr auto list = std::make_tuple(field("key", &NeighborSeen::key),
                                                 field("neighbor", &NeighborSeen::neighbor),
                                                 field("source", &NeighborSeen::source),
                                                 field("denied", &NeighborSeen::denied));
};
template <>
struct Fields<NeighborGone> {
    static constexpr std::string_view name = "NeighborGone";
    static constexpr auto list =
        std::make_tuple(field("key", &NeighborGone::key), field("last", &NeighborGone::last));
};
template <>
struct Fields<ProxySeen> {
    static constexpr std::string_view name = "ProxySeen";
    static constexpr auto list =
        std::make_tuple(field("key", &ProxySeen::key), field("protocol", &ProxySeen::protocol));
};
template <>
struct Fields<FdbSeen> {
    static constexpr std::string_view name = "FdbSeen";
    static constexpr auto list = std::make_tuple(field("key", &FdbSeen::key),
                                                 field("entry", &FdbSeen::entry),
                                                 field("source", &FdbSeen::source));
};
template <>
struct Fields<FdbGone> {
    static constexpr std::string_view name = "FdbGone";
    static constexpr auto list =
        std::make_tuple(field("key", &FdbGone::key), field("port", &FdbGone::port));
};
template <>
struct Fields<HostHeard> {
    static constexpr std::string_view name = "HostHeard";
    static constexpr auto list = std::make_tuple(field("link", &HostHeard::link),
                                                 field("vlan", &HostHeard::vlan),
                                                 field("address", &HostHeard::address),
                                                 field("mac", &HostHeard::mac),
                                                 field("claim", &HostHeard::claim),
                                                 field("denied", &HostHeard::denied));
};
template <>
struct Fields<Listening> {
    static constexpr std::string_view name = "Listening";
    static constexpr auto list = std::make_tuple(field("interface", &Listening::interface),
                                                 field("error", &Listening::error));
};
template <>
struct Fields<JudgesChanged> {
    static constexpr std::string_view name = "JudgesChanged";
    static constexpr auto list = std::make_tuple();
};
template <>
struct Fields<DumpStarted> {
    static constexpr std::string_view name = "DumpStarted";
    static constexpr auto list = std::make_tuple(field("kind", &DumpStarted::kind));
};
template <>
struct Fields<DumpFinished> {
    static constexpr std::string_view name = "DumpFinished";
    static constexpr auto list = std::make_tuple(field("kind", &DumpFinished::kind),
                                                 field("complete", &DumpFinished::complete));
};
template <>
struct Fields<EventsLost> {
    static constexpr std::string_view name = "EventsLost";
    static constexpr auto list = std::make_tuple(field("kind", &EventsLost::kind));
};
template <>
struct Fields<EventsWaiting> {
    static constexpr std::string_view name = "EventsWaiting";
    static constexpr auto list = std::make_tuple(field("kind", &EventsWaiting::kind));
};
template <>
struct Fields<RouteAnswered> {
    static constexpr std::string_view name = "RouteAnswered";
    static constexpr auto list =
        std::make_tuple(field("key", &RouteAnswered::key), field("answer", &RouteAnswered::answer));
};
template <>
struct Fields<RouteSeen> {
    static constexpr std::string_view name = "RouteSeen";
    static constexpr auto list =
        std::make_tuple(field("key", &RouteSeen::key), field("route", &RouteSeen::route));
};
template <>
struct Fields<ReadBackFinished> {
    static constexpr std::string_view name = "ReadBackFinished";
    static constexpr auto list = std::make_tuple(field("complete", &ReadBackFinished::complete));
};
template <>
struct Fields<PlaneRouteSeen> {
    static constexpr std::string_view name = "PlaneRouteSeen";
    static constexpr auto list = std::make_tuple(field("key", &PlaneRouteSeen::key));
};
template <>
struct Fields<PlaneRouteGone> {
    static constexpr std::string_view name = "PlaneRouteGone";
    static constexpr auto list = std::make_tuple(field("key", &PlaneRouteGone::key));
};
template <>
struct Fields<PlaneDoubted> {
    static constexpr std::string_view name = "PlaneDoubted";
    static constexpr auto list = std::make_tuple();
};
template <>
struct Fields<PlaneDumped> {
    static constexpr std::string_view name = "PlaneDumped";
    static constexpr auto list = std::make_tuple(field("vrf", &PlaneDumped::vrf));
};
template <>
struct Fields<ZapiUp> {
    static constexpr std::string_view name = "ZapiUp";
    static constexpr auto list = std::make_tuple(
        field("family", &ZapiUp::family), field("resolves_over_ours", &ZapiUp::resolves_over_ours));
};
template <>
struct Fields<ZapiLost> {
    static constexpr std::string_view name = "ZapiLost";
    static constexpr auto list = std::make_tuple(field("why", &ZapiLost::why));
};
template <>
struct Fields<KernelAnswered> {
    static constexpr std::string_view name = "KernelAnswered";
    static constexpr auto list = std::make_tuple(field("request", &KernelAnswered::request),
                                                 field("error", &KernelAnswered::error),
                                                 field("found", &KernelAnswered::found));
};
template <>
struct Fields<ForwardingRead> {
    static constexpr std::string_view name = "ForwardingRead";
    static constexpr auto list = std::make_tuple(field("request", &ForwardingRead::request),
                                                 field("silent", &ForwardingRead::silent),
                                                 field("error", &ForwardingRead::error));
};
template <>
struct Fields<PortRemembered> {
    static constexpr std::string_view name = "PortRemembered";
    static constexpr auto list = std::make_tuple(field("bridge", &PortRemembered::bridge),
                                                 field("vlan", &PortRemembered::vlan),
                                                 field("mac", &PortRemembered::mac),
                                                 field("port", &PortRemembered::port));
};
template <>
struct Fields<ShutRemembered> {
    static constexpr std::string_view name = "ShutRemembered";
    static constexpr auto list = std::make_tuple(field("port", &ShutRemembered::port));
};
template <>
struct Fields<BgpPeersSeen> {
    static constexpr std::string_view name = "BgpPeersSeen";
    static constexpr auto list = std::make_tuple(field("peers", &BgpPeersSeen::peers));
};
template <>
struct Fields<NeighborTableSeen> {
    static constexpr std::string_view name = "NeighborTableSeen";
    static constexpr auto list =
        std::make_tuple(field("family", &NeighborTableSeen::family),
                        field("entries", &NeighborTableSeen::entries),
                        field("gc_thresh1", &NeighborTableSeen::gc_thresh1),
                        field("gc_thresh3", &NeighborTableSeen::gc_thresh3),
                        field("table_fulls", &NeighborTableSeen::table_fulls));
};
template <>
struct Fields<MirrorSeen> {
    static constexpr std::string_view name = "MirrorSeen";
    static constexpr auto list = std::make_tuple(field("trouble", &MirrorSeen::trouble));
};
template <>
struct Fields<ApiSeen> {
    static constexpr std::string_view name = "ApiSeen";
    static constexpr auto list = std::make_tuple(field("trouble", &ApiSeen::trouble));
};
template <>
struct Fields<SyncedSeen> {
    static constexpr std::string_view name = "SyncedSeen";
    static constexpr auto list = std::make_tuple(field("vrf", &SyncedSeen::vrf),
                                                 field("address", &SyncedSeen::address),
                                                 field("mac", &SyncedSeen::mac),
                                                 field("port", &SyncedSeen::port),
                                                 field("leaf", &SyncedSeen::leaf));
};
template <>
struct Fields<SyncedGone> {
    static constexpr std::string_view name = "SyncedGone";
    static constexpr auto list =
        std::make_tuple(field("vrf", &SyncedGone::vrf), field("address", &SyncedGone::address));
};
template <>
struct Fields<SyncedSettled> {
    static constexpr std::string_view name = "SyncedSettled";
    static constexpr auto list = std::make_tuple();
};
template <>
struct Fields<TroubleSeen> {
    static constexpr std::string_view name = "TroubleSeen";
    static constexpr auto list =
        std::make_tuple(field("what", &TroubleSeen::what), field("text", &TroubleSeen::text));
};
template <>
struct Fields<DrainRemembered> {
    static constexpr std::string_view name = "DrainRemembered";
    static constexpr auto list = std::make_tuple(field("scope", &DrainRemembered::scope));
};
template <>
struct Fields<DrainRequested> {
    static constexpr std::string_view name = "DrainRequested";
    static constexpr auto list = std::make_tuple(field("scope", &DrainRequested::scope));
};
template <>
struct Fields<UndrainRequested> {
    static constexpr std::string_view name = "UndrainRequested";
    static constexpr auto list = std::make_tuple(field("scope", &UndrainRequested::scope));
};
template <>
struct Fields<ProbeRequested> {
    static constexpr std::string_view name = "ProbeRequested";
    static constexpr auto list = std::make_tuple(field("address", &ProbeRequested::address));
};
template <>
struct Fields<ForgetRequested> {
    static constexpr std::string_view name = "ForgetRequested";
    static constexpr auto list = std::make_tuple(field("address", &ForgetRequested::address));
};
template <>
struct Fields<AuditRequested> {
    static constexpr std::string_view name = "AuditRequested";
    static constexpr auto list = std::make_tuple();
};
template <>
struct Fields<AuditEnded> {
    static constexpr std::string_view name = "AuditEnded";
    static constexpr auto list = std::make_tuple();
};
template <>
struct Fields<ConfigChanged> {
    static constexpr std::string_view name = "ConfigChanged";
    static constexpr auto list = std::make_tuple(field("config", &ConfigChanged::config));
};
template <>
struct Fields<StopRequested> {
    static constexpr std::string_view name = "StopRequested";
    static constexpr auto list = std::make_tuple();
};

// Outputs -----------------------------------------------------------------------------------------

template <>
struct Fields<StartDump> {
    static constexpr std::string_view name = "StartDump";
    static constexpr auto list = std::make_tuple(field("kind", &StartDump::kind));
};
template <>
struct Fields<ReadLinks> {
    static constexpr std::string_view name = "ReadLinks";
    static constexpr auto list =
        std::make_tuple(field("links", &ReadLinks::links), field("masters", &ReadLinks::masters));
};
template <>
struct Fields<SendRoute> {
    static constexpr std::string_view name = "SendRoute";
    static constexpr auto list =
        std::make_tuple(field("key", &SendRoute::key), field("put", &SendRoute::put));
};
template <>
struct Fields<StartReadBack> {
    static constexpr std::string_view name = "StartReadBack";
    static constexpr auto list = std::make_tuple();
};
template <>
struct Fields<CompleteRestart> {
    static constexpr std::string_view name = "CompleteRestart";
    static constexpr auto list = std::make_tuple(field("vrfs", &CompleteRestart::vrfs));
};
template <>
struct Fields<AnnounceVrf> {
    static constexpr std::string_view name = "AnnounceVrf";
    static constexpr auto list = std::make_tuple(field("vrf", &AnnounceVrf::vrf));
};
template <>
struct Fields<WatchPlane> {
    static constexpr std::string_view name = "WatchPlane";
    static constexpr auto list = std::make_tuple(field("vrf", &WatchPlane::vrf));
};
template <>
struct Fields<WriteNeighbor> {
    static constexpr std::string_view name = "WriteNeighbor";
    static constexpr auto list = std::make_tuple(field("request", &WriteNeighbor::request),
                                                 field("key", &WriteNeighbor::key),
                                                 field("mac", &WriteNeighbor::mac),
                                                 field("state", &WriteNeighbor::state),
                                                 field("ext_learned", &WriteNeighbor::ext_learned),
                                                 field("only_new", &WriteNeighbor::only_new),
                                                 field("resolve", &WriteNeighbor::resolve));
};
template <>
struct Fields<Listen::Place> {
    static constexpr auto list = std::make_tuple(field("link", &Listen::Place::link),
                                                 field("name", &Listen::Place::name),
                                                 field("routed", &Listen::Place::routed));
};
template <>
struct Fields<Listen> {
    static constexpr std::string_view name = "Listen";
    static constexpr auto list = std::make_tuple(field("places", &Listen::places));
};
template <>
struct Fields<ReadForwarding> {
    static constexpr std::string_view name = "ReadForwarding";
    static constexpr auto list = std::make_tuple(field("request", &ReadForwarding::request),
                                                 field("key", &ReadForwarding::key));
};
template <>
struct Fields<WriteForwarding> {
    static constexpr std::string_view name = "WriteForwarding";
    static constexpr auto list = std::make_tuple(field("request", &WriteForwarding::request),
                                                 field("key", &WriteForwarding::key),
                                                 field("port", &WriteForwarding::port),
                                                 field("put", &WriteForwarding::put));
};
template <>
struct Fields<DeleteNeighbor> {
    static constexpr std::string_view name = "DeleteNeighbor";
    static constexpr auto list = std::make_tuple(field("request", &DeleteNeighbor::request),
                                                 field("key", &DeleteNeighbor::key));
};
template <>
struct Fields<SendProxy> {
    static constexpr std::string_view name = "SendProxy";
    static constexpr auto list = std::make_tuple(field("request", &SendProxy::request),
                                                 field("key", &SendProxy::key),
                                                 field("put", &SendProxy::put));
};
template <>
struct Fields<ApplySetting> {
    static constexpr std::string_view name = "ApplySetting";
    static constexpr auto list = std::make_tuple(field("request", &ApplySetting::request),
                                                 field("link", &ApplySetting::link),
                                                 field("name", &ApplySetting::name),
                                                 field("setting", &ApplySetting::setting),
                                                 field("value", &ApplySetting::value));
};
template <>
struct Fields<SetLinkUp> {
    static constexpr std::string_view name = "SetLinkUp";
    static constexpr auto list = std::make_tuple(field("request", &SetLinkUp::request),
                                                 field("link", &SetLinkUp::link),
                                                 field("up", &SetLinkUp::up));
};
template <>
struct Fields<RememberPort> {
    static constexpr std::string_view name = "RememberPort";
    static constexpr auto list = std::make_tuple(field("bridge", &RememberPort::bridge),
                                                 field("vlan", &RememberPort::vlan),
                                                 field("mac", &RememberPort::mac),
                                                 field("port", &RememberPort::port));
};
template <>
struct Fields<RememberShut> {
    static constexpr std::string_view name = "RememberShut";
    static constexpr auto list =
        std::make_tuple(field("port", &RememberShut::port), field("shut", &RememberShut::shut));
};
template <>
struct Fields<RememberDrain> {
    static constexpr std::string_view name = "RememberDrain";
    static constexpr auto list = std::make_tuple(field("scope", &RememberDrain::scope),
                                                 field("drained", &RememberDrain::drained));
};
template <>
struct Fields<Finish> {
    static constexpr std::string_view name = "Finish";
    static constexpr auto list = std::make_tuple(field("withdraw", &Finish::withdraw));
};
template <>
struct Fields<Note> {
    static constexpr std::string_view name = "Note";
    static constexpr auto list = std::make_tuple(
        field("level", &Note::level), field("id", &Note::id), field("text", &Note::text));
};
template <>
struct Fields<Say> {
    static constexpr std::string_view name = "Say";
    static constexpr auto list = std::make_tuple(field("note", &Say::note));
};

// -------------------------------------------------------------------------------------------------

/// Whether the list names every member: taking a value apart into any other number of names is an
/// error of the compiler, which says how many it has.
template <class T>
consteval bool covers_all() {
    constexpr std::size_t kCount = std::tuple_size_v<std::remove_cv_t<decltype(Fields<T>::list)>>;
    if constexpr (kCount == 0) {
        return std::is_empty_v<T>;
    } else {
        [[maybe_unused]] const auto take_apart = [](const T& value) {
            if constexpr (kCount == 1) {
                [[maybe_unused]] const auto& [a] = value;
            } else if constexpr (kCount == 2) {
                [[maybe_unused]] const auto& [a, b] = value;
            } else if constexpr (kCount == 3) {
                [[maybe_unused]] const auto& [a, b, c] = value;
            } else if constexpr (kCount == 4) {
                [[maybe_unused]] const auto& [a, b, c, d] = value;
            } else if constexpr (kCount == 5) {
                [[maybe_unused]] const auto& [a, b, c, d, e] = value;
            } else if constexpr (kCount == 6) {
                [[maybe_unused]] const auto& [a, b, c, d, e, f] = value;
            } else if constexpr (kCount == 7) {
                [[maybe_unused]] const auto& [a, b, c, d, e, f, g] = value;
            } else {
                static_assert(kCount == 16, "add a case of so many names");
                [[maybe_unused]] const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] =
                    value;
            }
        };
        return true;
    }
}

}  // namespace planed::record
