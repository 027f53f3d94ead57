// SPDX-License-Identifier: Apache-2.0
// The designated forwarder of one segment, per VRF, as it stands (RFC 8584 2.1): who the candidates
// are, when the next election is due, and what the last one said. It gates nothing.
//
// While this leaf is a candidate, a change among the others is answered by an election `wait`
// later, which is when a leaf that has just come up holds its own: both change over at once. Only
// when the forwarder is lost is there one at once.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <absl/container/btree_map.h>

#include "bgp/routes.hpp"
#include "evpn/df_election.hpp"
#include "evpn/esi.hpp"
#include "net/ip_address.hpp"
#include "net/time.hpp"

namespace planed::evpn {

/// A route as one peer told it: two reflectors tell the same route.
struct RouteId {
    IpAddress peer{};
    bgp::RouteKey key{};
    friend auto operator<=>(const RouteId&, const RouteId&) = default;
};

enum class DfRole : std::uint8_t { NonDf, Backup, Df };
std::string_view name_of(DfRole role);  // "non_df"

class DfRoles {
public:
    struct Options {
        Esi esi;
        IpAddress self{};
        DfOffer configured{};
        std::vector<std::uint32_t> tags{};  // VNIs, none 0.
        Duration wait{};
        bool operator==(const Options&) const = default;
    };

    explicit DfRoles(Options options) : options_(std::move(options)), offer_(options_.configured) {}
    void configure(Options options);

    /// Our type 4 goes out, or is taken back.
    void come_up(TimePoint now);
    void go_down();

    /// A type 4 of another leaf, the one with the lowest id where there are several.
    void put(const IpAddress& originator, const RouteId& id, const DfOffer& offer);
    void remove(const IpAddress& originator, const RouteId& id);
    /// Type 1 routes of a leaf: each add is undone by a remove of the same. Tag 0: the segment's.
    void add_ad(const IpAddress& leaf, std::uint32_t tag) { ++ads_[{leaf, tag}]; }
    void remove_ad(const IpAddress& leaf, std::uint32_t tag);
    /// All of the above is about to be told anew.
    void forget_heard();

    /// After any of the above: holds the elections that are due at once and plans the others.
    void settle(TimePoint now);
    void tick(TimePoint now);
    [[nodiscard]] std::optional<TimePoint> wake_at() const { return wait_until_; }

    /// What our type 4 says: as configured, or lower, having come back without preempting.
    [[nodiscard]] const DfOffer& offer() const { return offer_; }
    /// Null: no election was held yet.
    [[nodiscard]] const DfResult* result(std::uint32_t tag) const;
    [[nodiscard]] DfRole role(std::uint32_t tag) const;
    /// Ourselves among them while we are up; per tag, for AC-DF.
    [[nodiscard]] std::vector<DfCandidate> candidates(std::uint32_t tag) const;
    [[nodiscard]] std::uint64_t elections() const { return elections_; }

private:
    struct LeafTag {
        IpAddress leaf{};
        std::uint32_t tag = 0;
        friend auto operator<=>(const LeafTag&, const LeafTag&) = default;
    };

    [[nodiscard]] std::vector<DfCandidate> others(std::uint32_t tag) const;
    [[nodiscard]] bool has_lost_forwarder(std::uint32_t tag) const;
    void elect_all();
    void elect_one(std::uint32_t tag);

    Options options_;
    DfOffer offer_;
    bool up_ = false;
    bool fresh_ = false;  // Up, and without a first election.
    absl::btree_map<IpAddress, absl::btree_map<RouteId, DfOffer>> originators_;
    absl::btree_map<LeafTag, std::size_t> ads_;
    absl::btree_map<std::uint32_t, DfResult> results_;
    absl::btree_map<std::uint32_t, std::vector<DfCandidate>> seen_;  // When last settled.
    std::optional<TimePoint> wait_until_;
    std::uint64_t elections_ = 0;
};

}  // namespace planed::evpn
