// SPDX-License-Identifier: Apache-2.0
// What planed decides. Facts go in by handle(), settle() plans what they have changed, poll() hands
// out what is to be done. Pure: no I/O, no clock, no log, no thread. The same inputs with the same
// times give the same outputs.
//
// Order within a turn: withdrawals leave poll() before additions, and both before everything else.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>
#include <absl/container/flat_hash_map.h>

#include "config/config.hpp"
#include "core/audits.hpp"
#include "core/blast_shield.hpp"
#include "core/conflicts.hpp"
#include "core/damping.hpp"
#include "core/drains.hpp"
#include "core/dump_schedule.hpp"
#include "core/eligibility.hpp"
#include "core/fdb_table.hpp"
#include "core/input.hpp"
#include "core/kernel_settings.hpp"
#include "core/link_table.hpp"
#include "core/milestones.hpp"
#include "core/neighbor_table.hpp"
#include "core/output.hpp"
#include "core/plane_routes.hpp"
#include "core/probe_queue.hpp"
#include "core/proxies.hpp"
#include "core/refresh_queue.hpp"
#include "core/route_delays.hpp"
#include "core/route_sink.hpp"
#include "core/route_times.hpp"
#include "core/served_interfaces.hpp"
#include "core/snapshot.hpp"
#include "core/witness.hpp"
#include "net/result.hpp"

namespace planed {

/// Why an address is, or is not, a route.
struct Verdict {
    bool eligible = false;
    std::string reason;  // A sentence: "port swp3 has no carrier".
    bool operator==(const Verdict&) const = default;
};

class Engine {
public:
    explicit Engine(std::shared_ptr<const Config> config);

    void handle(const Input& input, TimePoint now);  // Records facts, marks keys dirty.
    /// The same for what has come in one turn, in order. With 64,000 neighbours most of an event's
    /// time is waiting for memory, so the entries of several are fetched side by side.
    void handle(std::span<const Input> inputs, TimePoint now);
    void settle(TimePoint now);    // Plans the dirty keys, once a turn.
    std::optional<Output> poll();  // Drain to nullopt before waiting.
    [[nodiscard]] std::optional<TimePoint> wake_at();

    /// Is told of each input before it is handled; nullptr: nobody. Outlives this, or is replaced.
    void set_witness(Witness* witness) { witness_ = witness; }

    /// Notes above this level are not made at all: a note for each neighbour costs more than its
    /// plan.
    void set_level(Level level) { level_ = level; }

    [[nodiscard]] Verdict explain(const IpAddress& address) const;

    /// Since the start.
    struct Learning {
        std::uint64_t heard = 0;           // Frames that named a host.
        std::uint64_t written = 0;         // Neighbours written to the kernel for them.
        std::uint64_t ignored = 0;         // Frames whose host may not be one here.
        std::uint64_t over_limit = 0;      // Hosts for which there was no room.
        std::uint64_t refreshed = 0;       // Hosts asked because they were due.
        std::uint64_t asked = 0;           // Times that the kernel was told to ask a host.
        std::uint64_t claims_refused = 0;  // Frames that claim what is ours, static or frozen.
        std::uint64_t frozen = 0;          // Times that an address was frozen to its first MAC.
        std::uint64_t mute = 0;  // Times that a host did not answer, but lived by other evidence.
        bool operator==(const Learning&) const = default;
    };
    [[nodiscard]] const Learning& learning() const { return learning_; }

    /// What keeps a route from following the verdict on its host at the moment.
    struct Hold {
        Reason host{};  // What is shown of the host: Eligible if its verdict speaks for itself.
        std::string_view route{};  // A word for the route's reason, "withdraw_delay".
        std::optional<TimePoint> until{};
        std::string text{};  // A sentence.
        bool operator==(const Hold&) const = default;
    };
    [[nodiscard]] std::optional<Hold> hold_of(const RouteKey& key) const;  // engine_holds.cpp
    [[nodiscard]] const RouteDelays& delays() const { return delays_; }
    [[nodiscard]] const Damping& damping() const { return damping_; }
    [[nodiscard]] const BlastShield& shield() const { return shield_; }

    /// How many hosts a command would concern. Errors: Invalid, there is no such thing here;
    /// Refused, it may not be done, and why (engine_commands.cpp).
    [[nodiscard]] Result<std::size_t> concerned_by(const Command& command) const;
    [[nodiscard]] const Drains& drains() const { return drains_; }

    /// What the audits of tables have found: between AuditRequested and AuditEnded in words.
    [[nodiscard]] const Audits& audits() const { return audits_; }
    /// All that was to be read has been, and what was found has its words.
    [[nodiscard]] bool audit_is_done() const {
        return audits_.is_done() && proxies_found_.empty() && routes_found_.empty();
    }
    /// For the last who asks for it.
    [[nodiscard]] AuditReport take_audit() { return audits_.take_report(); }

    struct Totals {
        std::size_t neighbors = 0;
        std::size_t eligible = 0;
        std::size_t routes_desired = 0;
        std::size_t routes_installed = 0;
        std::size_t routes_rejected = 0;
        std::uint64_t overruns = 0;
        std::uint64_t resyncs = 0;  // Dumps that finished after an overrun.
        std::uint64_t refused = 0;  // Facts that a full table had no room for.
        bool operator==(const Totals&) const = default;
    };
    [[nodiscard]] Totals totals() const;    // Walks the tables.
    [[nodiscard]] Totals counters() const;  // Those of them that cost nothing; the others are zero.
    [[nodiscard]] bool zebra_is_up() const { return sink_.is_up(); }
    /// What would speak against a host of this address on this interface, were it there now:
    /// Unresolved if nothing does (engine_explain.cpp).
    [[nodiscard]] Reason judge_unseen(const IpAddress& address,
                                      const ServedInterface& served) const;
    [[nodiscard]] const Milestones& milestones() const { return milestones_; }
    [[nodiscard]] const absl::btree_map<std::string, std::string>& degraded() const {
        return degraded_;
    }
    [[nodiscard]] const RouteSink::Routes& routes() const { return sink_.routes(); }
    [[nodiscard]] const RouteTimes& times() const { return times_; }
    /// Hosts that wait to be asked.
    [[nodiscard]] std::size_t probes_queued() const { return probes_.size() + asks_.size(); }
    [[nodiscard]] const Proxies& proxies() const { return proxies_; }
    [[nodiscard]] const PlaneRoutes& plane() const { return plane_; }
    [[nodiscard]] const NeighborTable& neighbors() const { return neighbors_; }
    [[nodiscard]] const ServedInterfaces& served() const { return served_; }
    [[nodiscard]] const LinkTable& links() const { return links_; }
    [[nodiscard]] const Config& config() const { return *config_; }
    [[nodiscard]] PortFacts port_of(const NeighborKey& key) const;
    [[nodiscard]] bool is_static(const NeighborKey& key) const { return statics_.contains(key); }
    /// The plug-in that denies it, and why; null: none does.
    [[nodiscard]] const std::string* denied(const NeighborKey& key) const;  // engine_denied.cpp
    /// The interface whose host this frame is of; null: none, or it may be either of two.
    [[nodiscard]] const ServedInterface* served_at(const HostHeard& heard) const;
    [[nodiscard]] const Conflicts::Freeze* frozen(const NeighborKey& key) const {
        return conflicts_.frozen(key);
    }
    /// This leaf itself has evidence that the host lives here, whatever keeps it from being
    /// announced: it is no other leaf's word.
    [[nodiscard]] bool has_evidence(const NeighborRecord& record) const;  // engine_synced.cpp
    /// What another leaf says of it.
    struct Synced {
        MacAddress mac{};
        std::string port{};
        IpAddress leaf{};
        TimePoint since{};
        std::optional<NeighborKey> place{};  // Where it would be here; nullopt: nowhere.
        std::optional<FdbKey> steered{};     // Its MAC in the bridge that it is behind.
        // Where it is if the bridge has its MAC behind another port than the word says.
        enum class Located : std::uint8_t { Unasked, Asked, AsTold, Elsewhere };
        Located located = Located::Unasked;
        TimePoint told{};  // Since when it is this MAC behind this port.
    };
    [[nodiscard]] const Synced* synced(const NeighborKey& key) const;
    [[nodiscard]] std::size_t synced_count() const { return synced_.size(); }

    /// Every table has been read once, and all that is known has been judged.
    [[nodiscard]] bool has_planned() const { return facts_whole_ && dirty_.empty(); }

    /// From now on remembers what has changed for readers, until it is taken. Off at first, and
    /// then it costs nothing; turning it on says nothing of what was there before.
    void keep_changes(bool keep);
    [[nodiscard]] Changes take_changes();

private:
    // Where a neighbour is attached. What does not apply, or is not known, is null.
    struct Whereabouts {
        const ServedInterface* served = nullptr;
        PortBinding* binding = nullptr;
        PortFacts port{};
        [[nodiscard]] bool is_remembered() const {
            return binding != nullptr && binding->remembered;
        }
    };

    // A host that does not answer the kernel. The bridge has been asked when its MAC last sent.
    struct Doubt {
        std::uint64_t request = 0;
        std::optional<Neighbor> given_up{};  // The kernel's last word, if it has come meanwhile.
    };

    // One handler for each input.
    void on(const LinkSeen& seen, TimePoint now);
    void on(const LinkGone& gone, TimePoint now);
    void on(const AddressSeen& seen, TimePoint now);
    void on(const AddressGone& gone, TimePoint now);
    void on(const NeighborSeen& seen, TimePoint now);
    void on(const NeighborGone& gone, TimePoint now);
    void on(const FdbSeen& seen, TimePoint now);
    void on(const FdbGone& gone, TimePoint now);
    void on(const ProxySeen& seen, TimePoint now);
    void on(const HostHeard& heard, TimePoint now);
    void on(const Listening& listening, TimePoint now);
    void on(const JudgesChanged& changed, TimePoint now);
    void on(const DumpStarted& started, TimePoint now);
    void on(const DumpFinished& finished, TimePoint now);
    void on(const EventsLost& lost, TimePoint now);
    void on(const EventsWaiting& waiting, TimePoint now);
    void on(const RouteAnswered& answered, TimePoint now);
    void on(const RouteSeen& seen, TimePoint now);
    void on(const ReadBackFinished& finished, TimePoint now);
    void on(const PlaneRouteSeen& seen, TimePoint now);
    void on(const PlaneRouteGone& gone, TimePoint now);
    void on(const PlaneDoubted& doubted, TimePoint now);
    void on(const PlaneDumped& dumped, TimePoint now);
    void on(const ZapiUp& up, TimePoint now);
    void on(const ZapiLost& lost, TimePoint now);
    void on(const KernelAnswered& answered, TimePoint now);
    void on(const ForwardingRead& read, TimePoint now);
    void on(const PortRemembered& remembered, TimePoint now);
    void on(const ShutRemembered& remembered, TimePoint now);
    void on(const BgpPeersSeen& seen, TimePoint now);
    void on(const NeighborTableSeen& seen, TimePoint now);
    void on(const MirrorSeen& seen, TimePoint now);
    void on(const ApiSeen& seen, TimePoint now);
    void on(const SyncedSeen& seen, TimePoint now);
    void on(const SyncedGone& gone, TimePoint now);
    void on(const SyncedSettled& settled, TimePoint now);
    void on(const TroubleSeen& seen, TimePoint now);
    void on(const DrainRemembered& remembered, TimePoint now);
    void on(const DrainRequested& requested, TimePoint now);
    void on(const UndrainRequested& requested, TimePoint now);
    void on(const ProbeRequested& requested, TimePoint now);
    void on(const ForgetRequested& requested, TimePoint now);
    void on(const AuditRequested& requested, TimePoint now);
    void on(const AuditEnded& ended, TimePoint now);
    void on(const ConfigChanged& changed, TimePoint now);
    void on(const StopRequested& requested, TimePoint now);

    void fetch_ahead(std::span<const Input> inputs) const;
    void fetch_ahead(std::span<const NeighborKey> keys) const;

    // Facts to dirty keys.
    void mark_dirty(const NeighborKey& key);
    void mark_dirty(NeighborRecord& record);
    void mark_address_dirty(const IpAddress& address);
    void mark_mac_dirty(const FdbKey& key);
    void mark_mac_dirty(const MacAddress& mac);
    void mark_link_dirty(IfIndex link);
    void mark_all_dirty();
    void port_changed(const Link& link, const LinkChange& change, TimePoint now);
    void take_over(const NeighborSeen& seen, TimePoint now);
    void sweep_neighbors(bool conclusive, TimePoint now);
    void neighbor_lost(const NeighborKey& key, TimePoint now);
    [[nodiscard]] bool keeps_host_away(const NeighborRecord& record) const;
    [[nodiscard]] bool is_our_deletion(const NeighborKey& key) const;
    [[nodiscard]] bool has_verdict(const NeighborSeen& seen) const;  // engine_denied.cpp
    void note_verdict(const NeighborSeen& seen);
    bool note_link_answer(const KernelAnswered& answered, TimePoint now);
    void remove_neighbor(const NeighborKey& key, TimePoint now);
    void note_settled(const RouteKey& key, TimePoint now);
    void release_mac(IfIndex link, const MacAddress& mac);
    void confirm_port(IfIndex link, const MacAddress& mac);

    // Dirty keys to wishes (engine_plan.cpp).
    void update_served(TimePoint now);
    void update_isolation(TimePoint now);
    void set_link(IfIndex link, bool up);
    void shut_port(const Link& link);
    void open_shut_ports();
    void reinstall_flapped();
    void plan_dirty(TimePoint now);
    void plan(const NeighborKey& key, TimePoint now);
    void decide_route(const RouteKey& key, TimePoint now);
    [[nodiscard]] const NeighborRecord* claimant_of(const RouteKey& key) const;
    void probe_if_in_doubt(const NeighborKey& key,
                           NeighborRecord& record,
                           const Whereabouts& where,
                           TimePoint now);
    void remember_port(const ServedInterface& served, const MacAddress& mac, PortBinding& binding);
    [[nodiscard]] PortFacts port_of(const ServedInterface& served,
                                    const PortBinding* binding) const;
    [[nodiscard]] Whereabouts whereabouts_of(const NeighborKey& key, const MacAddress& mac);
    // Where the MAC was learned, whatever the configuration says of an address.
    [[nodiscard]] PortFacts port_of(IfIndex link, const MacAddress& mac) const;
    [[nodiscard]] Reason judge_neighbor(const NeighborKey& key,
                                        const NeighborRecord& record,
                                        const ServedInterface* served,
                                        const PortFacts& port) const;
    [[nodiscard]] std::string describe_neighbor(const NeighborKey& key,
                                                const NeighborRecord& record) const;

    // Between verdicts and wishes (engine_holds.cpp).
    void configure_holds();
    void announce(const RouteKey& key,
                  const NeighborRecord& host,
                  const ServedInterface& served,
                  TimePoint now);
    bool may_be_announced(const RouteKey& key, const NeighborRecord& host, TimePoint now);
    void let_go(const RouteKey& key, TimePoint now);
    void lost_unannounced(const RouteKey& key, TimePoint now);
    void withdraw(const RouteKey& key, Loss loss, TimePoint now);
    void time_withdrawal(const RouteKey& key, Loss loss);
    [[nodiscard]] Loss loss_of(const RouteKey& key, IfIndex link) const;
    [[nodiscard]] bool is_held(const NeighborRecord& record) const;
    void reinstall_leaving(IfIndex link);
    void recheck_leaving(TimePoint now);
    void run_holds(TimePoint now);
    void note_hold(const RouteKey& key);

    // Too many losses at once (engine_shield.cpp).
    void suspect(const RouteKey& key, IfIndex link);
    void note_returned(const RouteKey& key, const NeighborRecord& host);
    void note_mac(const NeighborRecord& record, const MacAddress& mac);
    [[nodiscard]] MacAddress last_mac_of(const NeighborKey& place) const;
    void run_shield(TimePoint now);
    void judge_losses(TimePoint now);
    void ask_guarded(TimePoint now);
    void ask_again_later(const NeighborKey& place, TimePoint now);
    void settle_guarded(TimePoint now);

    // max_hosts (engine_crowd.cpp).
    [[nodiscard]] bool is_over_limit(const NeighborRecord& record,
                                     const ServedInterface& served) const;
    void count_claim(const NeighborKey& key);
    void uncount_claim(const NeighborKey& key);
    void note_over_limit(const NeighborKey& key, bool over);
    void watch_crowds();

    // Learning (engine_learn.cpp).
    void schedule_refresh(NeighborRecord& record, TimePoint now);
    void run_refresh(TimePoint now);
    void run_heard(TimePoint now);
    void hear(const HostHeard& heard, const ServedInterface& served, TimePoint now);
    void confirm_heard_port(const ServedInterface& served, const MacAddress& mac, IfIndex port);
    void queue_heard(const NeighborKey& key, const MacAddress& mac, TimePoint due);
    [[nodiscard]] bool is_crowded(const ServedInterface& served, const MacAddress& mac) const;
    [[nodiscard]] bool fills_port(const ServedInterface& served,
                                  const MacAddress& mac,
                                  std::size_t on_the_way) const;
    [[nodiscard]] RefreshQueue::Window refresh_window() const;
    void note_evidence(NeighborRecord& record, const NeighborSeen& seen, const Neighbor& old);
    [[nodiscard]] bool puts_off(const NeighborSeen& seen, TimePoint now);
    void run_asked(TimePoint now);
    void run_revivals();
    bool ask_bridge(const NeighborRecord& record, const std::optional<Neighbor>& given_up);
    bool ask_siblings(const NeighborRecord& record, TimePoint now);
    [[nodiscard]] bool lives_otherwise(const NeighborRecord& record, TimePoint now) const;
    [[nodiscard]] bool sibling_answers(const NeighborRecord& record) const;
    [[nodiscard]] std::vector<const NeighborRecord*> v4_siblings_of(
        const NeighborRecord& record) const;
    void keep_mute(NeighborRecord& record, bool in_kernel, TimePoint now);
    void update_listening();

    // What other leaves of our Ethernet segments know (engine_synced.cpp).
    using SyncedName = std::pair<std::string, IpAddress>;  // VRF, address.
    void update_synced();
    void place_synced(const SyncedName& name, Synced& host);
    [[nodiscard]] std::optional<NeighborKey> place_of(const SyncedName& name,
                                                      const Synced& host) const;
    [[nodiscard]] PortFacts with_synced_port(const NeighborKey& key,
                                             const ServedInterface& served,
                                             const PortFacts& learned) const;
    [[nodiscard]] PortFacts without_word(const NeighborKey& key, const PortFacts& learned) const;
    void confirm_by_others(const NeighborKey& key, PortBinding* binding) const;
    void steer(Synced& host);
    void unsteer(Synced& host);
    void write_forwarding(const FdbKey& key, const Synced& host);
    [[nodiscard]] std::vector<NeighborKey> steered_by(const FdbKey& key) const;
    void note_synced_moved(const FdbSeen& seen);
    [[nodiscard]] bool is_disputed(const Synced& host) const;
    void locate(const NeighborKey& key, Synced& host);
    void note_located(const ForwardingRead& read, TimePoint now);
    [[nodiscard]] bool is_our_writing(const NeighborRecord& record, TimePoint sent) const;
    [[nodiscard]] bool is_vouched_for(const NeighborRecord& record) const;
    void leave_to_others(NeighborRecord& record, bool in_kernel, TimePoint now);
    void check_synced(const NeighborRecord& record, TimePoint now);
    void recheck_synced();
    void remove_synced();
    void run_synced(TimePoint now);

    // What operators ask for (engine_commands.cpp).
    [[nodiscard]] Result<std::size_t> concerned(const DrainRequested& requested) const;
    [[nodiscard]] Result<std::size_t> concerned(const UndrainRequested& requested) const;
    [[nodiscard]] Result<std::size_t> concerned(const ProbeRequested& requested) const;
    [[nodiscard]] Result<std::size_t> concerned(const ForgetRequested& requested) const;
    [[nodiscard]] bool is_drained(const IpAddress& address, const PortFacts& port) const;
    [[nodiscard]] std::vector<NeighborKey> hosts_in(const DrainScope& scope) const;
    [[nodiscard]] bool is_port_of_ours(std::string_view name) const;
    [[nodiscard]] std::vector<const ServedInterface*> served_for(const IpAddress& address) const;
    [[nodiscard]] std::size_t places_of(const IpAddress& address) const;
    [[nodiscard]] bool is_fixed(const IpAddress& address) const;
    [[nodiscard]] static bool is_kept_alive(const NeighborRecord& record);
    void end_drain(const DrainScope& scope);
    void end_waiting_drains();
    void move_drained(std::vector<NeighborKey> hosts);
    void run_drains(TimePoint now);

    // What reads of tables show that we did not know, or did not want (engine_audit.cpp).
    void run_audits(TimePoint now);
    void read_begins(DumpKind kind, TimePoint now);
    void read_ends(DumpKind kind, bool conclusive, TimePoint now);
    void audit_settings(TimePoint now);
    void audit_link(const LinkSeen& seen, const std::optional<Link>& before);
    void audit_link_gone(const Link& link);
    [[nodiscard]] bool concerns_us(const Link& link) const;
    void audit_address(IfIndex link, const IpPrefix& address, bool there);
    void audit_neighbor(const NeighborKey& key, const Neighbor& before, const Neighbor& after);
    [[nodiscard]] std::optional<IfIndex> live_port_of(const FdbKey& key) const;
    void audit_forwarding(const FdbKey& key,
                          std::optional<IfIndex> before,
                          std::optional<IfIndex> after);
    void note_proxies_found();
    void note_routes_found();
    void tell_found();
    [[nodiscard]] Difference words_of(const Proxies::Found& found) const;
    [[nodiscard]] Difference words_of(const RouteSink::Found& found) const;
    void note_setting_found(const KernelSettings::Outcome& outcome);

    // Static hosts, addresses that two claim, alarms on single hosts (engine_hosts.cpp).
    void update_statics();
    void mark_statics_dirty(std::string_view port);
    [[nodiscard]] std::optional<PortFacts> static_port(const NeighborKey& key,
                                                       const ServedInterface& served) const;
    [[nodiscard]] std::optional<MacAddress> pinned_mac(const NeighborKey& key) const;
    void check_pin(const NeighborRecord& record, TimePoint now);
    void run_pins(TimePoint now);
    void run_thaws(TimePoint now);
    void note_move(const NeighborKey& key, const MacAddress& from, const MacAddress& to);
    void refuse_claim(const HostHeard& heard, const ServedInterface& served);
    [[nodiscard]] std::string place_of(const ServedInterface& served, const MacAddress& mac) const;
    void raise(const std::string& id, std::string text, TimePoint now);
    void run_alarms(TimePoint now);

    // Proxies (engine_proxies.cpp).
    void watch_planes(TimePoint now);
    void plane_session_began();
    void update_proxied(IfIndex link);
    void serve_settings(const ServedInterface& served);
    [[nodiscard]] bool is_behind(const NeighborKey& key) const;
    void run_proxies(TimePoint now);
    [[nodiscard]] bool knows_proxies() const;
    [[nodiscard]] std::optional<SendProxy> next_proxy();
    void remove_proxies();
    bool note_proxy_answer(const KernelAnswered& answered, TimePoint now);

    // Time to outputs (engine_plan.cpp).
    void run_probes(TimePoint now);
    void write_neighbor(WriteNeighbor write);  // Gives it its number.
    void run_dumps(TimePoint now);
    void run_link_reads(TimePoint now);
    void run_link_retries(TimePoint now);
    void run_deletions(TimePoint now);
    [[nodiscard]] bool knows_neighbors() const;
    void run_routes(TimePoint now);
    void run_settings();
    void reach(Milestone milestone, TimePoint now);

    void say(Level level, std::string_view id, std::string text);
    void note_changed(const NeighborKey& key) {
        if (keeps_changes_) {
            changes_.hosts.push_back(key);
        }
    }
    void degrade(const std::string& id, std::string text);
    void recover(const std::string& id);

    std::shared_ptr<const Config> config_;
    Witness* witness_ = nullptr;
    Level level_ = Level::Info;
    TimePoint now_{};

    LinkTable links_;
    AddressTable addresses_;
    NeighborTable neighbors_;
    FdbTable fdb_;
    ServedInterfaces served_;
    absl::flat_hash_map<NeighborKey, std::string> denied_;  // Looked up, never walked.
    absl::btree_set<IpAddress> bgp_peers_;
    bool peers_matter_ =
        false;  // The FRR on the other side cannot have a host route for a BGP peer.

    std::vector<NeighborKey> dirty_;
    std::size_t planned_ = 0;  // How far dirty_ has been planned.
    bool served_dirty_ = true;
    bool isolation_dirty_ = true;
    bool facts_whole_ = false;  // Every table has been read once: plans mean something.
    bool isolated_ = false;
    // Whoever lives when the tables have been read for the first time, or when the leaf's isolation
    // ends, was announced before: that is true until all of them have been planned.
    bool admits_all_ = true;
    bool restart_completed_ = false;  // Since zebra's session came up.
    bool stopping_ = false;
    bool finished_ = false;  // Finish was handed out: nothing is decided any more.
    // Taken down by us, by name; and which link that was, None if an earlier planed did it.
    absl::btree_map<std::string, IfIndex> shut_ports_;
    absl::btree_map<std::uint64_t, std::pair<IfIndex, bool>> link_requests_;  // (link, up), asked.
    struct LinkRetry {
        bool up = false;
        TimePoint at{};
    };
    absl::btree_map<IfIndex, LinkRetry> link_retries_;  // The kernel refused.
    std::set<IfIndex> flapped_;                         // Served links to reinstall after a flap.
    absl::btree_set<VrfId> announced_vrfs_;             // To zebra, on this session.
    std::optional<TimePoint> link_reads_until_;
    TimePoint next_link_read_{};

    DumpSchedule dumps_;
    Audits audits_;
    // Of which an operator's audit is still to be told.
    std::vector<Proxies::Found> proxies_found_;
    std::vector<RouteSink::Found> routes_found_;
    ProbeQueue probes_;
    RefreshQueue refreshes_;
    // Heard, and not what the kernel has: to be written then, if it still has not.
    absl::btree_set<std::pair<TimePoint, NeighborKey>> heard_;
    absl::flat_hash_map<NeighborKey, MacAddress> heard_hosts_;
    std::deque<std::pair<TimePoint, NeighborKey>> asked_;  // By the kernel; when to look, in order.
    absl::btree_map<NeighborKey, Doubt> doubts_;
    absl::btree_map<std::uint64_t, NeighborKey> forwarding_reads_;
    absl::btree_map<NeighborKey, StaticHost> statics_;      // Of all served interfaces.
    std::vector<NeighborKey> pins_;                         // To be checked against the kernel.
    TimePoint next_resolve_{};                              // Static hosts without a MAC.
    std::map<SyncedName, Synced> synced_;                   // Entries stay where they are.
    absl::flat_hash_map<NeighborKey, Synced*> vouched_;     // Those that have a place here.
    absl::btree_map<std::uint64_t, NeighborKey> locating_;  // Of which the bridge is asked.
    // MACs of those that are behind a bridge: how many hosts, and when we last wrote an entry.
    struct Steered {
        std::size_t hosts = 0;
        TimePoint written{};
    };
    absl::flat_hash_map<FdbKey, Steered> steered_;
    std::vector<NeighborKey> unsynced_;  // Places to be compared with the kernel's table.
    bool synced_settled_ = false;
    Conflicts conflicts_;
    absl::btree_map<std::string, TimePoint> alarms_;  // Names in degraded_, and when they end.
    std::vector<NeighborKey> revivals_;               // To be written to the kernel as living.
    absl::btree_set<IfIndex> raised_;  // Came up in this turn: what was heard there may be older.
    std::vector<IfIndex> listening_;   // What the shell was asked to listen on, in order.
    Learning learning_;
    KernelSettings settings_;
    RouteDelays delays_;
    Damping damping_;
    BlastShield shield_;
    absl::flat_hash_map<IfIndex, std::size_t> claims_;  // Of each link's hosts.
    absl::btree_set<NeighborKey> over_limit_;           // Hosts without room on their interface.
    absl::btree_map<IfIndex, std::string> crowded_;     // Interfaces near their limit.
    bool crowds_changed_ = true;  // A neighbour came or went, or a limit is another.
    bool shielded_ = false;       // And it was said so.
    ProbeQueue asks_;             // Guarded hosts.
    // Of hosts that have lost theirs, until it is decided what becomes of their routes.
    absl::flat_hash_map<NeighborKey, MacAddress> last_macs_;
    Drains drains_;
    std::deque<NeighborKey> moving_;  // Into a drain or out of it.
    TimePoint next_move_{};
    RouteSink sink_;
    RouteTimes times_;
    PlaneRoutes plane_;
    absl::btree_set<VrfId> watched_planes_;  // On this session with zebra.
    Proxies proxies_;
    bool answers_nd_ = false;  // The proxies were once all as wanted.
    Milestones milestones_;
    absl::btree_map<std::string, std::string> degraded_;
    absl::btree_map<std::uint64_t, NeighborKey> neighbor_writes_;  // Asked, not yet answered.
    std::deque<std::pair<TimePoint, NeighborKey>> failed_;  // When to look at them again, in order.
    // FAILED entries that we have asked the kernel to delete, until it says that they are gone.
    absl::btree_map<NeighborKey, std::uint64_t> deletions_;

    std::uint64_t next_request_ = 1;
    std::uint64_t overruns_ = 0;
    std::uint64_t resyncs_ = 0;
    std::set<DumpKind> overrun_;      // Kinds whose next complete dump is a resync.
    bool neighbors_waiting_ = false;  // Their events, unread in this turn.
    std::deque<Output> outputs_;

    bool keeps_changes_ = false;
    Changes changes_;
};

}  // namespace planed
