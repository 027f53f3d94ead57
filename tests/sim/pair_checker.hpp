// SPDX-License-Identifier: Apache-2.0
// What must hold of two leaves that serve the same servers, at every step and at rest: a server
// that lives keeps its route on both, whichever of them hears it; one that is dead has none on
// either, however the two tell each other about it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/aux_link.hpp"
#include "sim/clock.hpp"
#include "sim/leaf.hpp"
#include "sim/server.hpp"

namespace planed::sim {

class PairChecker {
public:
    PairChecker(SimClock& clock,
                SimServers::Leaves& leaves,
                const SimServers& servers,
                const AuxLink& link);

    /// Cheap enough for every step.
    void after_step();
    /// More than one server has had this address: no more claims about it before the end.
    void contest(const IpAddress& address) { contested_.insert(address); }
    void at_rest();
    /// From now on nobody sends a route operation, or tells the other leaf anything.
    void expect_silence();

    /// UPDATEs that both have sent, since each was started.
    [[nodiscard]] std::uint64_t updates() const;

    [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }
    [[nodiscard]] bool failed() const { return !violations_.empty(); }

private:
    struct Side {
        std::set<DumpKind> dumped{};
        std::optional<TimePoint> whole_at{};  // It knows what its kernel knows.
        TimePoint zebra_up_at{};
    };

    void on_input(std::size_t side, const Input& input);
    void on_output(std::size_t side, const Output& output);
    void on_left(std::size_t side, const RouteKey& key, Left why);
    void note_sessions();
    void note_told();
    void note_told(std::size_t side, const SimServer& server);
    void check_routes();
    void check_overdue(std::size_t side, const SimServer& server, const IpAddress& address);
    void collect_complaints();
    void fail(std::size_t side, const std::string& what);

    [[nodiscard]] const SimServer* server_of(const IpAddress& address) const;
    [[nodiscard]] bool has_route(std::size_t side, const IpAddress& address) const;
    [[nodiscard]] bool may_not_leave(std::size_t side, const IpAddress& address) const;
    [[nodiscard]] bool knows_all(std::size_t side, Duration since) const;
    [[nodiscard]] bool are_in_session() const;
    [[nodiscard]] std::set<std::string> expected(std::size_t side) const;

    SimClock& clock_;
    SimServers::Leaves& leaves_;
    const SimServers& servers_;
    const AuxLink& link_;

    std::vector<std::string> violations_;
    std::set<IpAddress> contested_;
    std::array<Side, 2> sides_{};
    std::optional<TimePoint> in_session_since_;
    TimePoint disturbed_{};  // A leaf started or ended, or the session did.
    /// When a leaf was last told by the other that it hears this address.
    std::map<std::pair<std::size_t, IpAddress>, TimePoint> told_;
    TimePoint checked_{};
    std::optional<std::uint64_t> silent_at_;  // So many UPDATEs, and no more.
};

}  // namespace planed::sim
