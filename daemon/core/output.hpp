// SPDX-License-Identifier: Apache-2.0
// Everything the engine can ask for, as one variant. The shell carries each out and reports back as
// an Input; it decides nothing.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/drains.hpp"
#include "core/facts.hpp"
#include "core/input.hpp"
#include "core/route.hpp"
#include "telemetry/note.hpp"

namespace planed {

/// Ask the kernel for a whole table. Answered by DumpStarted, rows, DumpFinished.
struct StartDump {
    DumpKind kind{};
    bool operator==(const StartDump&) const = default;
};

/// Ask for these links' state right now: single interfaces, and all ports of these masters.
/// Answered by LinkSeen (Source::Read) or, where the link is gone, LinkGone.
struct ReadLinks {
    std::vector<IfIndex> links{};
    std::vector<IfIndex> masters{};
    bool operator==(const ReadLinks&) const = default;
};

/// One route operation; absent `put` deletes. Operations of one key must reach zebra in order; a
/// later one may replace an earlier one that has not been written yet.
struct SendRoute {
    RouteKey key{};
    std::optional<HostRoute> put{};
    bool operator==(const SendRoute&) const = default;
};
/// Read our own routes back from zebra. Answered by RouteSeen rows and ReadBackFinished.
struct StartReadBack {
    bool operator==(const StartReadBack&) const = default;
};
/// All wanted routes were handed over since ZapiUp: what zebra kept from before may be purged
/// (CLIENT_CAPABILITIES ROUTE_UPDATE_COMPLETE, both families, these VRFs besides the default one).
struct CompleteRestart {
    std::vector<VrfId> vrfs{};
    bool operator==(const CompleteRestart&) const = default;
};
/// Tell zebra which VRFs take part in graceful restart; sent once a session for each.
struct AnnounceVrf {
    VrfId vrf{};
    bool operator==(const AnnounceVrf&) const = default;
};

/// Tell what bgpd has learned in this VRF, until the session with zebra ends; sent once a session
/// for each. Answered by PlaneRouteSeen rows and PlaneDumped, then by changes.
struct WatchPlane {
    VrfId vrf{};
    bool operator==(const WatchPlane&) const = default;
};

/// Write a neighbour with our protocol number. State PROBE makes the kernel ask the host now
/// (unicast, then broadcast); `ext_learned` puts NTF_EXT_LEARNED on it, which the garbage collector
/// spares.
struct WriteNeighbor {
    std::uint64_t request = 0;  // Comes back in KernelAnswered.
    NeighborKey key{};
    MacAddress mac{};
    Nud state = Nud::Probe;
    bool ext_learned = false;
    bool only_new = false;  // Refused with EEXIST where the kernel has an entry.
    /// NTF_USE, without a MAC and state: the kernel asks who has the address, as if it had
    /// something to send there.
    bool resolve = false;
    bool operator==(const WriteNeighbor&) const = default;
};
/// Listen to ARP, NS and NA on exactly these from now on. Answered by HostHeard, and by Listening
/// where it does not work.
struct Listen {
    struct Place {
        IfIndex link{};
        std::string name{};
        bool routed = false;  // No bridge port: multicast comes only if asked for.
        bool operator==(const Place&) const = default;
    };
    std::vector<Place> places{};
    bool operator==(const Listen&) const = default;
};
/// Ask the bridge when it last heard this MAC. Answered by ForwardingRead.
struct ReadForwarding {
    std::uint64_t request = 0;
    FdbKey key{};
    bool operator==(const ReadForwarding&) const = default;
};
/// The bridge is to send what is for this MAC by this port, as if it had heard it there; or forget
/// that again. It ages no such entry, and the first frame by another port moves it.
struct WriteForwarding {
    std::uint64_t request = 0;  // Comes back in KernelAnswered.
    FdbKey key{};
    IfIndex port{};
    bool put = false;
    bool operator==(const WriteForwarding&) const = default;
};
/// Remove an entry that we wrote: FAILED ones marked externally learned are never collected.
struct DeleteNeighbor {
    std::uint64_t request = 0;
    NeighborKey key{};
    bool operator==(const DeleteNeighbor&) const = default;
};

/// The kernel is to answer for this address on this interface (NTF_PROXY, with our protocol
/// number), or no longer.
struct SendProxy {
    std::uint64_t request = 0;  // Comes back in KernelAnswered.
    NeighborKey key{};
    bool put = false;
    bool operator==(const SendProxy&) const = default;
};

/// Per-interface kernel settings, set by netlink where netlink can (RTM_SETLINK IFLA_INET_CONF,
/// RTM_SETNEIGHTBL) and by /proc/sys/net where it cannot.
enum class Setting : std::uint8_t {
    ArpAccept,          // ipv4/conf/IF/arp_accept
    ProxyArp,           // ipv4/conf/IF/proxy_arp
    AcceptUntrackedNa,  // ipv6/conf/IF/accept_untracked_na
    McastResolicit4,    // ipv4/neigh/IF/mcast_resolicit
    McastResolicit6,    // ipv6/neigh/IF/mcast_resolicit
    UcastSolicit4,      // ipv4/neigh/IF/ucast_solicit
    UcastSolicit6,      // ipv6/neigh/IF/ucast_solicit
    RetransTime4,       // ipv4/neigh/IF/retrans_time_ms
    RetransTime6,       // ipv6/neigh/IF/retrans_time_ms
    ProxyDelay4,        // ipv4/neigh/IF/proxy_delay, milliseconds
    ProxyQlen4,         // ipv4/neigh/IF/proxy_qlen, packets
    ProxyDelay6,        // ipv6/neigh/IF/proxy_delay, milliseconds
    ProxyQlen6,         // ipv6/neigh/IF/proxy_qlen, packets
    Forwarding6,        // ipv6/conf/IF/forwarding, looked at alone
    ProxyNdp,           // ipv6/conf/IF/proxy_ndp
};
inline constexpr std::array kSettings{Setting::ArpAccept,
                                      Setting::ProxyArp,
                                      Setting::AcceptUntrackedNa,
                                      Setting::McastResolicit4,
                                      Setting::McastResolicit6,
                                      Setting::UcastSolicit4,
                                      Setting::UcastSolicit6,
                                      Setting::RetransTime4,
                                      Setting::RetransTime6,
                                      Setting::ProxyDelay4,
                                      Setting::ProxyQlen4,
                                      Setting::ProxyDelay6,
                                      Setting::ProxyQlen6,
                                      Setting::Forwarding6,
                                      Setting::ProxyNdp};
/// An operator's to decide: it is an error if it has another value, and is left as it is.
constexpr bool is_only_checked(Setting setting) {
    return setting == Setting::Forwarding6;
}
struct ApplySetting {
    std::uint64_t request = 0;  // Comes back in KernelAnswered.
    IfIndex link{};
    std::string name{};  // The interface's, for /proc paths and messages.
    Setting setting{};
    std::uint32_t value = 0;
    bool operator==(const ApplySetting&) const = default;
};

/// `uplinks_down: shut`: take a server port down, or up again.
struct SetLinkUp {
    std::uint64_t request = 0;
    IfIndex link{};
    bool up = false;
    bool operator==(const SetLinkUp&) const = default;
};

/// Keep (or, without `port`, drop) a binding in the state file.
struct RememberPort {
    std::string bridge{};
    VlanId vlan{};
    MacAddress mac{};
    std::optional<std::string> port{};
    bool operator==(const RememberPort&) const = default;
};

/// Keep (or drop) in the state file that we took this port down.
struct RememberShut {
    std::string port{};
    bool shut = false;
    bool operator==(const RememberShut&) const = default;
};

/// Keep (or drop) in the state file that an operator has drained this.
struct RememberDrain {
    DrainScope scope{};
    bool drained = false;
    bool operator==(const RememberDrain&) const = default;
};

/// All that StopRequested asked for has been handed out; `withdraw` says whether zebra is to drop
/// our routes as the session closes (GR_DISABLE).
struct Finish {
    bool withdraw = false;
    bool operator==(const Finish&) const = default;
};

struct Say {
    Note note{};
    bool operator==(const Say&) const = default;
};

using Output = std::variant<StartDump,
                            ReadLinks,
                            SendRoute,
                            StartReadBack,
                            CompleteRestart,
                            AnnounceVrf,
                            WatchPlane,
                            Listen,
                            WriteNeighbor,
                            DeleteNeighbor,
                            ReadForwarding,
                            WriteForwarding,
                            SendProxy,
                            ApplySetting,
                            SetLinkUp,
                            RememberPort,
                            RememberShut,
                            RememberDrain,
                            Finish,
                            Say>;

}  // namespace planed
