// SPDX-License-Identifier: Apache-2.0
// Everything that can happen to planed, as one variant. If it is not in here, no decision depends
// on it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/drains.hpp"
#include "core/facts.hpp"
#include "core/route.hpp"
#include "net/result.hpp"
#include "net/time.hpp"

namespace planed {

struct Config;  // config/config.hpp

/// How we came to know. A notification is in order with all other notifications of its socket; a
/// dump row may be older than a notification that was read before it, so it never overrules one
/// (see DumpStarted). A read answers a question about one link, asked a moment ago.
enum class Source : std::uint8_t { Event, Dump, Read };

struct LinkSeen {
    Link link{};
    Source source = Source::Event;
    bool operator==(const LinkSeen&) const = default;
};
struct LinkGone {
    IfIndex link{};
    bool operator==(const LinkGone&) const = default;
};

/// An interface's own address with its subnet's length, host bits kept.
struct AddressSeen {
    IfIndex link{};
    IpPrefix address{};
    Source source = Source::Event;
    bool operator==(const AddressSeen&) const = default;
};
struct AddressGone {
    IfIndex link{};
    IpPrefix address{};
    bool operator==(const AddressGone&) const = default;
};

struct NeighborSeen {
    NeighborKey key{};
    Neighbor neighbor{};
    Source source = Source::Event;
    // The plug-in that denies it, and why: "prefix_guard: outside 10.0.0.0/24". Empty: none does.
    // Of an entry without a MAC no plug-in is asked: what was said before still stands.
    std::string denied{};
    bool operator==(const NeighborSeen&) const = default;
};
/// RTM_DELNEIGH. `last` is what the message carried: a garbage collected entry still has its state
/// and MAC, one that died is FAILED without a MAC (net/core/neighbour.c).
struct NeighborGone {
    NeighborKey key{};
    Neighbor last{};
    bool operator==(const NeighborGone&) const = default;
};

/// A row of the table of proxied neighbours (NTF_PROXY): the kernel answers for this address there.
struct ProxySeen {
    NeighborKey key{};
    std::uint8_t protocol = 0;  // NDA_PROTOCOL: who wrote it; 0 = not told.
    bool operator==(const ProxySeen&) const = default;
};

struct FdbSeen {
    FdbKey key{};
    FdbEntry entry{};
    Source source = Source::Event;
    bool operator==(const FdbSeen&) const = default;
};
struct FdbGone {
    FdbKey key{};
    IfIndex port{};
    bool operator==(const FdbGone&) const = default;
};

/// How far what was heard carries; each may do what the ones before may.
enum class Claim : std::uint8_t {
    Confirms,  // Shows that this MAC still has it. Makes no binding.
    Creates,   // Makes a binding where there is none. Does not move one to another MAC.
    Replaces,  // Moves it too.
};
/// An ARP, NS or NA frame that proves something (packet/heard.hpp), from a bridge port or a routed
/// interface.
struct HostHeard {
    IfIndex link{};  // Where the frame came in.
    VlanId vlan{};   // Its tag; None: untagged.
    IpAddress address{};
    MacAddress mac{};
    Claim claim = Claim::Replaces;
    std::string denied{};  // As in NeighborSeen.
    bool operator==(const HostHeard&) const = default;
};
/// What became of listening on an interface.
struct Listening {
    std::string interface {};
    std::optional<Error> error{};
    bool operator==(const Listening&) const = default;
};

/// Plug-ins may judge otherwise from now on: neighbours are to be read again, so that each is
/// judged anew.
struct JudgesChanged {
    bool operator==(const JudgesChanged&) const = default;
};

/// Of proxied neighbours (IPv6) the kernel tells by dumps alone.
enum class DumpKind : std::uint8_t { Links, Addresses, Neighbors, Fdb, Proxies };
inline constexpr std::size_t kDumpKinds = 5;
inline constexpr std::size_t kFactDumps = 4;  // What hosts are judged by: all but the last.

/// The rows that follow with Source::Dump belong to this dump, until DumpFinished. What an event
/// named after DumpStarted is not touched by its rows; what neither named is absent once it
/// finished.
struct DumpStarted {
    DumpKind kind{};
    bool operator==(const DumpStarted&) const = default;
};
/// `complete` false: interrupted or failed; nothing is to be concluded from absence.
struct DumpFinished {
    DumpKind kind{};
    bool complete = false;
    bool operator==(const DumpFinished&) const = default;
};
/// The kernel dropped notifications (ENOBUFS); until the next complete dump of this kind nothing is
/// withdrawn for absence.
struct EventsLost {
    DumpKind kind{};
    bool operator==(const EventsLost&) const = default;
};
/// Of this turn: more notifications wait than it reads. What the table of this kind says may be
/// over.
struct EventsWaiting {
    DumpKind kind{};
    bool operator==(const EventsWaiting&) const = default;
};

/// zebra's word on one of our routes (ROUTE_NOTIFY_OWNER). Coalesced, sometimes absent, unnumbered.
enum class RouteAnswer : std::uint8_t {
    Installed,
    Removed,
    FailedInstall,
    BetterWon,
    RemoveFailed
};
struct RouteAnswered {
    RouteKey key{};
    RouteAnswer answer{};
    bool operator==(const RouteAnswered&) const = default;
};
/// A row of zebra's read-back of our own route type; without a route, one that left while it ran.
struct RouteSeen {
    RouteKey key{};
    std::optional<HostRoute> route{};
    bool operator==(const RouteSeen&) const = default;
};
/// `complete` false: zebra did not finish; nothing is to be concluded from absence.
struct ReadBackFinished {
    bool complete = true;
    bool operator==(const ReadBackFinished&) const = default;
};

/// bgpd has learned a route to this host, and zebra has selected it.
struct PlaneRouteSeen {
    RouteKey key{};
    bool operator==(const PlaneRouteSeen&) const = default;
};
struct PlaneRouteGone {
    RouteKey key{};
    bool operator==(const PlaneRouteGone&) const = default;
};
/// bgpd has ended: its routes go, and come back with it.
struct PlaneDoubted {
    bool operator==(const PlaneDoubted&) const = default;
};
/// All that the plane had in this VRF has been told, since WatchPlane.
struct PlaneDumped {
    VrfId vrf{};
    bool operator==(const PlaneDumped&) const = default;
};

/// The session with zebra is ready for routes.
struct ZapiUp {
    std::string family{};             // "A".."D", for people.
    bool resolves_over_ours = false;  // A and B: a numbered BGP peer must not get a host route.
    bool operator==(const ZapiUp&) const = default;
};
struct ZapiLost {
    Error why{};
    bool operator==(const ZapiLost&) const = default;
};

/// A kernel write that was asked for has been acknowledged or refused.
struct KernelAnswered {
    std::uint64_t request = 0;  // From the output that asked.
    std::optional<Error> error{};
    std::optional<std::uint32_t>
        found{};  // ApplySetting: the value before ours, to be put back one day.
    bool operator==(const KernelAnswered&) const = default;
};

/// What the bridge knows of a MAC now: when a frame of it last came in by its port.
struct ForwardingRead {
    std::uint64_t request = 0;         // From the output that asked.
    std::optional<Duration> silent{};  // Since its last frame, in steps of 10 ms; nullopt: the
                                       // bridge has no entry of it, or could not be asked.
    std::optional<Error> error{};      // Why it could not. No entry is no error.
    bool operator==(const ForwardingRead&) const = default;
};

/// From the state file, before anything else: where a MAC was last seen, by names, since indices do
/// not survive a reboot.
struct PortRemembered {
    std::string bridge{};
    VlanId vlan{};
    MacAddress mac{};
    std::string port{};
    bool operator==(const PortRemembered&) const = default;
};

/// From the state file: a port that an earlier run took down because all uplinks were down.
struct ShutRemembered {
    std::string port{};
    bool operator==(const ShutRemembered&) const = default;
};

/// Remote addresses of the BGP sessions of this machine (TCP port 179 by sock_diag), whole each
/// time.
struct BgpPeersSeen {
    std::vector<IpAddress> peers{};  // Sorted, no duplicates.
    bool operator==(const BgpPeersSeen&) const = default;
};

/// The neighbour table of one family, machine-wide (RTM_GETNEIGHTBL): how full, and how often an
/// insert failed for want of room.
struct NeighborTableSeen {
    Family family{};
    std::uint32_t entries = 0;
    std::uint32_t gc_thresh1 = 0;
    std::uint32_t gc_thresh3 = 0;
    std::uint64_t table_fulls = 0;
    bool operator==(const NeighborTableSeen&) const = default;
};

/// The state of the mirror in Redis: what is wrong with it, in words; empty when all is well.
struct MirrorSeen {
    std::string trouble{};
    bool operator==(const MirrorSeen&) const = default;
};

/// The state of the operators' API: what is wrong with it, in words; empty when all is well.
struct ApiSeen {
    std::string trouble{};
    bool operator==(const ApiSeen&) const = default;
};

/// Another leaf of an Ethernet segment of ours knows a living host behind it, and where that
/// segment is here. Takes the place of what was told of the address before.
struct SyncedSeen {
    std::string vrf{};  // "default", or the VRF device's name.
    IpAddress address{};
    MacAddress mac{};
    std::string port{};  // The segment's interface here.
    IpAddress leaf{};    // Who knows it, by its router id.
    bool operator==(const SyncedSeen&) const = default;
};
/// No other leaf knows this host any more.
struct SyncedGone {
    std::string vrf{};
    IpAddress address{};
    bool operator==(const SyncedGone&) const = default;
};
/// The other leaves have told all they know, or had time enough to: whom none of them knows by now
/// has to prove himself here.
struct SyncedSettled {
    bool operator==(const SyncedSettled&) const = default;
};

/// Something outside the engine that operators shall see; no text: it is over.
struct TroubleSeen {
    std::string what{};  // "evpn.esi_mismatch 02:00:00:00:00:05"
    std::string text{};
    bool operator==(const TroubleSeen&) const = default;
};

/// From the state file: what an operator has drained in an earlier run.
struct DrainRemembered {
    DrainScope scope{};
    bool operator==(const DrainRemembered&) const = default;
};

// What operators ask for. Engine::concerned_by() says before whether it can be done.

/// Hosts leave BGP, in order and paced. Learning goes on.
struct DrainRequested {
    DrainScope scope{};
    bool operator==(const DrainRequested&) const = default;
};
/// And come back; not before the leaf is ready.
struct UndrainRequested {
    std::optional<DrainScope> scope{};  // Nullopt: whatever is drained.
    bool operator==(const UndrainRequested&) const = default;
};
/// Ask this address whether it lives.
struct ProbeRequested {
    IpAddress address{};
    bool operator==(const ProbeRequested&) const = default;
};
/// Nothing that was seen of this host until now speaks for it any more: it is asked, and gone
/// unless it answers or speaks.
struct ForgetRequested {
    IpAddress address{};
    bool operator==(const ForgetRequested&) const = default;
};
using Command = std::variant<DrainRequested, UndrainRequested, ProbeRequested, ForgetRequested>;

/// An operator wants to know what is otherwise than it should be: every table is read anew, and
/// what differs is kept (Engine::audits()) until AuditEnded.
struct AuditRequested {
    bool operator==(const AuditRequested&) const = default;
};
struct AuditEnded {
    bool operator==(const AuditEnded&) const = default;
};

struct ConfigChanged {
    std::shared_ptr<const Config> config{};
    bool operator==(const ConfigChanged&) const = default;
};

/// The daemon is asked to stop: on_exit decides what becomes of the routes.
struct StopRequested {
    bool operator==(const StopRequested&) const = default;
};

using Input = std::variant<LinkSeen,
                           LinkGone,
                           AddressSeen,
                           AddressGone,
                           NeighborSeen,
                           NeighborGone,
                           FdbSeen,
                           FdbGone,
                           ProxySeen,
                           HostHeard,
                           Listening,
                           JudgesChanged,
                           DumpStarted,
                           DumpFinished,
                           EventsLost,
                           EventsWaiting,
                           RouteAnswered,
                           RouteSeen,
                           ReadBackFinished,
                           PlaneRouteSeen,
                           PlaneRouteGone,
                           PlaneDoubted,
                           PlaneDumped,
                           ZapiUp,
                           ZapiLost,
                           KernelAnswered,
                           ForwardingRead,
                           PortRemembered,
                           ShutRemembered,
                           BgpPeersSeen,
                           NeighborTableSeen,
                           MirrorSeen,
                           ApiSeen,
                           SyncedSeen,
                           SyncedGone,
                           SyncedSettled,
                           TroubleSeen,
                           DrainRemembered,
                           DrainRequested,
                           UndrainRequested,
                           ProbeRequested,
                           ForgetRequested,
                           AuditRequested,
                           AuditEnded,
                           ConfigChanged,
                           StopRequested>;

}  // namespace planed
