// SPDX-License-Identifier: Apache-2.0
// What must hold in every world at every step, and what must hold once the faults are over. The
// checker compares planed's deeds with the truth (hosts, cables, zebra's table, the kernel's
// table); it knows nothing of planed's own state but what it wants and sends.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/clock.hpp"
#include "sim/daemon.hpp"
#include "sim/hosts.hpp"
#include "sim/kernel.hpp"
#include "sim/leaf.hpp"
#include "sim/zebra.hpp"

namespace planed::sim {

class Checker {
public:
    Checker(
        SimClock& clock, SimKernel& kernel, SimZebra& zebra, SimDaemon& planed, SimHosts& hosts);

    /// Cheap enough for every step.
    void after_step();
    /// A cable was pulled, a link set down or deleted: whoever sat behind it must go in time.
    void excuse(Duration length);
    /// More than one host has had this address: no more claims about it before the end.
    void contest(const IpAddress& address) { contested_.insert(address); }

    /// At rest: zebra's table, the kernel's table and planed's wishes are one, and they are what
    /// the hosts make of them.
    void at_rest();
    /// An audit at rest is over by now, and has found nothing, as no other one since planed rests.
    void audited();
    /// From now on planed only reads.
    void expect_silence();

    [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }
    [[nodiscard]] bool failed() const { return !violations_.empty(); }

private:
    struct Loss {
        TimePoint began{};
        std::optional<TimePoint> ended{};
    };

    void on_input(const Input& input);
    void note_flaps(const Link& link);
    void on_output(const Output& output);
    void on_left(const RouteKey& key, Left why);
    void on_send(const SendRoute& send);
    void on_write(IfIndex link);
    void check_dead(TimePoint now);
    [[nodiscard]] Duration kept_for() const;
    void check_limits();
    void check_proxies();
    void collect_complaints();
    void fail(std::string what);

    [[nodiscard]] bool may_not_leave(const RouteKey& key) const;
    [[nodiscard]] bool is_healthy(const SimHost& host, const IpAddress& address) const;
    [[nodiscard]] bool is_loss_pending() const;
    [[nodiscard]] TimePoint facts_since() const;
    [[nodiscard]] std::optional<TimePoint> down_since(const SimHost& host) const;
    void note_unseen_ports();
    [[nodiscard]] std::optional<TimePoint> cut_since(const IpAddress& address) const;
    [[nodiscard]] bool is_wanted(const RouteKey& key) const;
    [[nodiscard]] bool is_served(IfIndex link) const;

    SimClock& clock_;
    SimKernel& kernel_;
    SimZebra& zebra_;
    SimDaemon& planed_;
    SimHosts& hosts_;

    std::vector<std::string> violations_;
    std::set<IpAddress> contested_;
    std::map<DumpKind, Loss> losses_;
    std::map<IpAddress, TimePoint> evidence_;  // Last event about this address.
    TimePoint link_evidence_{};                // Last word on any link.
    std::set<NeighborKey> collected_;          // By the garbage collector, while planed looked on.
    std::set<RouteKey> unanswered_;
    std::set<IfIndex> ever_set_;  // Interfaces with settings of ours, to be undone one day.
    std::optional<TimePoint> facts_whole_at_;
    std::set<std::string> unseen_ports_;  // Names of hosts whose port was down at that time.
    std::optional<TimePoint> session_up_at_;
    std::set<DumpKind> dumped_;
    std::map<IfIndex, std::uint32_t> downs_;  // Flaps that planed knows of.
    std::set<IfIndex> relearned_;             // Links that it has seen since it started.
    std::set<IfIndex> flapped_unseen_;
    TimePoint checked_{};
    TimePoint excused_until_{};
    bool silent_ = false;
    AuditCounters audits_at_rest_{};
};

}  // namespace planed::sim
