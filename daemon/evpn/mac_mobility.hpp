// SPDX-License-Identifier: Apache-2.0
// The mobility number of one MAC (RFC 7432 15, RFC 9721): what other leaves claim of it, what is
// local, and which number follows. Moves inside one segment are none. Our number never falls while
// we run, and is never below that of a leaf on the same segment.
//
// Two leaves that name one server's bond differently look like a host that flaps between two
// segments, and each answers the other with a higher number for ever. So rises are counted: after
// kRisesMax of them within kRisesWindow the number stays where it is until the other claim goes.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <absl/container/btree_map.h>

#include "bgp/communities.hpp"
#include "bgp/values.hpp"
#include "evpn/esi.hpp"
#include "net/ip_address.hpp"
#include "net/time.hpp"

namespace planed::evpn {

class MacMobility {
public:
    static constexpr std::size_t kRisesMax = 5;  // RFC 7432 15.1
    static constexpr Duration kRisesWindow = 180s;

    /// What a route of type 2 says of its MAC.
    struct Claim {
        bgp::EsiBytes esi{};  // Zeros: single-homed.
        std::uint32_t sequence = 0;
        bool is_static = false;
        bool second_hand = false;  // The proxy flag: it has it from another leaf.
        IpAddress leaf{};
        friend auto operator<=>(const Claim&, const Claim&) = default;
    };

    /// Each add is undone by a remove of the same.
    void add(const Claim& claim) { ++claims_[claim]; }
    void remove(const Claim& claim);
    void add_local(const Esi& esi, bool is_static);
    void remove_local(const Esi& esi, bool is_static);
    /// All that others claim is about to be told anew.
    void forget_claims() { claims_.clear(); }

    /// After any of the above. True: what we say of the MAC has changed.
    bool weigh(TimePoint now);

    [[nodiscard]] bgp::MacMobility said() const {
        return {.is_static = statics_ > 0, .sequence = number_};
    }
    /// The segment that it is local on; the lowest, where it is on several.
    [[nodiscard]] std::optional<Esi> esi() const;
    /// Who claims it with another ESI while it is local: the highest number, then the lower leaf.
    [[nodiscard]] const Claim* rival() const {
        return locals_.empty() ? nullptr : best_elsewhere();
    }
    [[nodiscard]] bool is_frozen() const { return frozen_; }
    [[nodiscard]] std::uint64_t rises() const { return rises_total_; }
    [[nodiscard]] const absl::btree_map<Claim, std::size_t>& claims() const { return claims_; }
    /// Nothing is known of it that must be kept.
    [[nodiscard]] bool is_blank() const {
        return claims_.empty() && locals_.empty() && number_ == 0 && !elsewhere_;
    }
    /// Nothing but a number is known.
    [[nodiscard]] bool is_idle() const { return claims_.empty() && locals_.empty(); }

private:
    [[nodiscard]] bool is_home(const bgp::EsiBytes& esi) const;
    [[nodiscard]] const Claim* best_elsewhere() const;
    void rise(bool contested, TimePoint now);

    absl::btree_map<Claim, std::size_t> claims_;
    absl::btree_map<Esi, std::size_t> locals_;
    std::optional<Esi> home_;  // Where it was local last.
    std::size_t statics_ = 0;
    std::uint32_t number_ = 0;
    std::optional<std::uint32_t> elsewhere_;  // The highest that another segment ever had.
    bgp::MacMobility weighed_{};              // As of the last weigh().
    std::optional<Esi> weighed_esi_;
    std::vector<TimePoint> rises_;  // Within the window.
    std::uint64_t rises_total_ = 0;
    bool frozen_ = false;
};

}  // namespace planed::evpn
