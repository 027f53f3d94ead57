// SPDX-License-Identifier: Apache-2.0
// This leaf's Ethernet segments: what its peers shall know of them and of the hosts behind them,
// and what peers tell of the same segments. Facts and time in, wishes out; it neither sends nor
// writes, and it does not weigh a binding of ours against a peer's: those are two facts here, and
// the engine decides.
//
// The leaf of a route is its path's next hop, never the session's peer, which may be a reflector.
// Bindings of a leaf that has ever sent a type 1 of the segment count only while such a route of it
// stands: its withdrawal ends them all at once.
//
// What peers tell (types 1, 2 and 4) is kept whether or not it concerns us now, for a host may
// become local and a segment may be configured later; the paths are shared with whoever told them.
// So its bound is the sessions' routes_max.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>

#include "bgp/attributes.hpp"
#include "bgp/routes.hpp"
#include "evpn/df_election.hpp"
#include "evpn/df_roles.hpp"
#include "evpn/esi.hpp"
#include "evpn/heard_host.hpp"
#include "evpn/mac_mobility.hpp"
#include "evpn/own_routes.hpp"
#include "net/ids.hpp"
#include "net/ip_address.hpp"
#include "net/mac_address.hpp"
#include "net/time.hpp"
#include "telemetry/note.hpp"

namespace planed::evpn {

struct SegmentOptions {
    Esi esi;
    std::string port{};  // The interface: a bond or a port.
    DfOffer df{};
    bool operator==(const SegmentOptions&) const = default;
};

struct MultihomingOptions {
    bgp::RouterId router_id{};
    IpAddress next_hop{};  // And originator: the address that peers know this leaf by.
    std::vector<SegmentOptions> segments{};  // One of each ESI and of each port.
    std::vector<VrfOptions> vrfs{};          // One of each name.
    Duration df_wait = 3s;                   // RFC 7432 8.5; the same on all leaves.
    Duration startup_delay{};
    bool operator==(const MultihomingOptions&) const = default;
};

struct BindingKey {
    std::string vrf{};
    IpAddress address{};
    friend auto operator<=>(const BindingKey&, const BindingKey&) = default;
};

/// A living host that this leaf itself has evidence of, on any port.
struct LocalBinding {
    MacAddress mac{};
    std::string port{};
    VlanId vlan = VlanId::None;
    bool is_static = false;
    bool router = false;  // IPv6: it says so in its advertisements.
    bool operator==(const LocalBinding&) const = default;
};

/// Peers shall know this, in place of what was wanted with the same key.
struct Want {
    bgp::Route route{};
    std::shared_ptr<const bgp::Path> path{};
};
bool operator==(const Want& a, const Want& b);  // Of paths the values.
struct Unwant {
    bgp::RouteKey key{};
    bool operator==(const Unwant&) const = default;
};
/// Another leaf has this host behind a segment of ours. Takes the place of what was said before.
struct Synced {
    BindingKey key{};
    MacAddress mac{};
    Esi esi;
    std::string port{};
    VlanId vlan = VlanId::None;  // Only the L3 profile tells one.
    IpAddress peer{};            // The leaf that has it.
    bool is_static = false;
    bool operator==(const Synced&) const = default;
};
/// No other leaf has it any more.
struct SyncedGone {
    BindingKey key{};
    bool operator==(const SyncedGone&) const = default;
};
/// Something that a person must look at stands. Takes the place of the text said before.
struct Alarm {
    std::string id{};  // "evpn.esi_mismatch 00:00:00:00:00:11"
    std::string text{};
    bool operator==(const Alarm&) const = default;
};
struct AlarmGone {
    std::string id{};
    bool operator==(const AlarmGone&) const = default;
};

using Output = std::variant<Want, Unwant, Synced, SyncedGone, Alarm, AlarmGone, Note>;

struct VrfRoleView {
    std::string vrf{};
    bgp::Label vni = 0;
    DfRole role = DfRole::NonDf;
    DfResult result{};
    bool elected = false;  // Else the first election is still to come.
    std::vector<DfCandidate> candidates{};
    bool operator==(const VrfRoleView&) const = default;
};

struct SegmentView {
    Esi esi;
    std::string port{};
    bool up = false;
    bool announced = false;
    DfOffer offer{};  // What our type 4 says, while announced.
    std::vector<VrfRoleView> roles{};
    std::size_t local = 0;   // Bindings that are advertised.
    std::size_t synced = 0;  // Bindings that other leaves have.
    bool operator==(const SegmentView&) const = default;
};

/// This leaf's part in the segment, as a word: "df", "backup" or "non_df"; "waiting": the first
/// election is still to come; "down": it is not announced, or there is no VRF; "differs": not the
/// same in all VRFs.
[[nodiscard]] std::string_view role_of(const SegmentView& segment);
[[nodiscard]] std::string_view role_of(const SegmentView& segment, const VrfRoleView& vrf);
/// Nullopt: none, or not the same in all VRFs.
[[nodiscard]] std::optional<IpAddress> forwarder_of(const SegmentView& segment);

struct MultihomingCounters {
    std::array<std::uint64_t, kVerdicts> hosts_heard{};  // Type 2, by Verdict.
    std::uint64_t second_hand = 0;                       // Of those taken, with the proxy flag.
    std::uint64_t wrong_es_import = 0;                   // Type 4 of our ESI with another target.
    std::uint64_t mass_withdrawals = 0;
    std::uint64_t moves = 0;      // Rises of numbers.
    std::uint64_t elections = 0;  // Of segments that are still configured.
    bool operator==(const MultihomingCounters&) const = default;
};

class Multihoming {
public:
    /// Numbers of MACs that are nowhere now; more, and the lowest MAC's is forgotten.
    static constexpr std::size_t kIdleNumbersMax = 16384;
    /// Leaves on a segment that once sent a type 1 and have nothing now; more, and they are
    /// forgotten.
    static constexpr std::size_t kIdleGatesMax = 4096;

    /// Starts with the first call; later ones emit exactly the differences. Of two segments with
    /// the same ESI or port, and of two VRFs with the same name, the first counts.
    ///
    /// Nothing of our own is wanted until startup is over: when startup_delay has passed since that
    /// first call, or as soon as at least one peer is up and each peer that is up has sent its
    /// End-of-RIB. From then on it stays over.
    void configure(const MultihomingOptions& options, TimePoint now);
    /// Unknown ports are down.
    void set_port(const std::string& name, bool up, TimePoint now);
    /// What is local behind a port that is down counts for nothing until the port is back.
    void set_local(const BindingKey& key, const LocalBinding& binding, TimePoint now);
    void unset_local(const BindingKey& key, TimePoint now);

    /// A session. Its routes outlive it until gone() says otherwise.
    void peer_up(const IpAddress& peer, TimePoint now);
    void end_of_rib(const IpAddress& peer, TimePoint now);
    void peer_down(const IpAddress& peer, TimePoint now);
    void heard(const IpAddress& peer,
               const bgp::Route& route,
               std::shared_ptr<const bgp::Path> path,
               TimePoint now);
    void gone(const IpAddress& peer, const bgp::RouteKey& key, TimePoint now);

    void tick(TimePoint now);
    [[nodiscard]] std::optional<TimePoint> wake_at() const;
    std::optional<Output> poll();

    [[nodiscard]] std::vector<SegmentView> segments() const;
    [[nodiscard]] const absl::btree_map<std::string, std::string>& alarms() const {
        return alarms_;
    }
    [[nodiscard]] MultihomingCounters counters() const;
    [[nodiscard]] bool is_starting() const { return !started_; }

private:
    struct MacKey {
        std::string vrf{};
        MacAddress mac{};
        friend auto operator<=>(const MacKey&, const MacKey&) = default;
    };
    struct Wanted {
        Advertised advertised{};
        std::uint64_t epoch = 0;
    };
    struct Segment {
        SegmentOptions options;
        DfRoles roles;
        bool announced = false;
        std::optional<DfOffer> offer{};  // As wanted last.
        std::size_t local = 0;
        std::size_t synced = 0;
    };
    /// As a binding counts in macs_: it is advertised.
    struct Counted {
        MacAddress mac{};
        Esi esi;
        bool is_static = false;
        bool operator==(const Counted&) const = default;
    };
    struct Local {
        LocalBinding binding{};
        std::optional<Counted> counted{};
        std::optional<bgp::RouteKey> route{};
    };
    struct Mac {
        MacMobility mobility{};
        absl::btree_set<BindingKey> keys{};    // Advertised.
        std::optional<bgp::RouteKey> route{};  // Of the MAC alone.
    };
    struct Peer {
        bool up = false;
        bool told_all = false;
        bool target_said = false;
        std::size_t without_target = 0;  // Type 2 routes of our segments for no VRF of ours.
    };
    struct Told {
        bgp::Route route{};
        std::shared_ptr<const bgp::Path> path{};
        Reading reading{};    // Of type 2.
        bool counts = false;  // Its gate is open.
    };
    struct GateKey {
        IpAddress leaf{};
        bgp::EsiBytes esi{};
        friend auto operator<=>(const GateKey&, const GateKey&) = default;
    };
    struct Gate {
        bool known = false;        // The leaf has ever sent a type 1 of the segment.
        std::size_t standing = 0;  // Such routes now.
        absl::btree_set<RouteId> hosts{};
        [[nodiscard]] bool is_open() const { return !known || standing > 0; }
    };
    /// The first of a set is the one that counts: higher number, static, lower leaf.
    struct Source {
        std::uint32_t below_top = 0;  // How far the number is below the highest there can be.
        bool moves = true;
        IpAddress leaf{};
        MacAddress mac{};
        Esi esi;
        VlanId vlan = VlanId::None;
        RouteId id{};
        friend auto operator<=>(const Source&, const Source&) = default;
    };
    struct Binding {
        absl::btree_set<Source> sources{};
        std::optional<Synced> said{};
    };

    // multihoming.cpp: ours.
    void adopt(const MultihomingOptions& options);
    void adopt_segments(const std::vector<SegmentOptions>& wanted);
    [[nodiscard]] DfRoles::Options roles_of(const SegmentOptions& segment) const;
    [[nodiscard]] Speaker speaker() const;
    [[nodiscard]] const VrfOptions* vrf(std::string_view name) const;
    Segment* segment_of_port(const std::string& port);
    [[nodiscard]] bool is_port_up(const std::string& port) const;
    void consider_start(TimePoint now);
    void refresh_segment(Segment& segment, TimePoint now);
    void say_segment(Segment& segment);
    void take_segment_back(const Segment& segment);
    void refresh_port(const std::string& port);
    void refresh_local(const BindingKey& key);
    void leave_port(const BindingKey& key, const std::string& port);
    [[nodiscard]] std::optional<Counted> count(const BindingKey& key, const LocalBinding& binding);
    void uncount(const BindingKey& key, Local& local);
    void want(const Advertised& advertised);
    void unwant(const bgp::RouteKey& key);
    void replace(std::optional<bgp::RouteKey>& held, const std::optional<Advertised>& now);
    void sweep();

    // multihoming_heard.cpp: theirs.
    void apply(const RouteId& id, Told& told);
    void retract(const RouteId& id, Told& told);
    void apply_ad(const bgp::EthernetAd& ad, const bgp::Path& path, bool add);
    void apply_segment(const RouteId& id,
                       const bgp::Segment& route,
                       const bgp::Path& path,
                       bool add);
    void apply_host(const RouteId& id, Told& told);
    void retract_host(const RouteId& id, Told& told);
    void apply_segment_ad(const GateKey& key, bool add);
    void set_counts(const RouteId& id, Told& told, bool counts);
    [[nodiscard]] static MacMobility::Claim claim_of(const HeardHost& host);
    void note_heard(const RouteId& id, const Told& told);
    void note_target(const IpAddress& peer, int change);
    Segment* own_segment(const bgp::EsiBytes& esi);
    void forget_heard();
    void tidy_gate(const GateKey& key);

    // multihoming_settle.cpp: what has changed.
    void settle(TimePoint now);
    void settle_mac(const MacKey& key, TimePoint now);
    void settle_alarms(const MacKey& key, const Mac& mac);
    void settle_mac_route(const MacKey& key, Mac& mac);
    void settle_local(const BindingKey& key);
    void settle_binding(const BindingKey& key);
    void settle_segment(const Esi& esi, TimePoint now);
    void settle_peer(const IpAddress& address);
    void alarm(const std::string& id, const std::optional<std::string>& text);
    void say(Level level, std::string_view id, std::string text);
    void tidy_mac(const MacKey& key);

    bool configured_ = false;
    bool started_ = false;
    TimePoint configured_at_{};
    MultihomingOptions options_;
    ImportTargets targets_;
    absl::btree_map<Esi, Segment> segments_;
    absl::btree_map<std::string, Esi> by_port_;
    absl::btree_map<std::string, bool> ports_;
    absl::btree_map<IpAddress, Peer> peers_;

    absl::btree_map<BindingKey, Local> locals_;
    absl::btree_map<std::string, absl::btree_set<BindingKey>> locals_by_port_;
    absl::btree_map<MacKey, Mac> macs_;
    absl::btree_set<MacKey> idle_macs_;  // Known by a number alone.
    absl::btree_map<bgp::RouteKey, Wanted> wanted_;
    std::uint64_t epoch_ = 0;

    absl::btree_map<RouteId, Told> heard_;
    absl::btree_map<GateKey, Gate> gates_;
    absl::btree_set<GateKey> idle_gates_;  // Of leaves that have nothing on the segment now.
    absl::btree_map<BindingKey, Binding> bindings_;
    /// Type 4 routes with our originator that are not ours, each with its leaf.
    absl::btree_map<Esi, absl::btree_map<RouteId, IpAddress>> impostors_;

    absl::btree_set<MacKey> dirty_macs_;
    absl::btree_set<BindingKey> dirty_locals_;
    absl::btree_set<BindingKey> dirty_bindings_;
    absl::btree_set<Esi> dirty_segments_;
    absl::btree_set<IpAddress> dirty_peers_;

    absl::btree_map<std::string, std::string> alarms_;
    std::deque<Output> outputs_;
    MultihomingCounters counters_;
};

}  // namespace planed::evpn
