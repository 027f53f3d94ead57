// SPDX-License-Identifier: Apache-2.0
#include "evpn/mac_mobility.hpp"

#include <algorithm>
#include <limits>

#include "net/assert.hpp"

namespace planed::evpn {

void MacMobility::remove(const Claim& claim) {
    const auto found = claims_.find(claim);
    PLANED_ASSERT(found != claims_.end());
    if (--found->second == 0) {
        claims_.erase(found);
    }
}

void MacMobility::add_local(const Esi& esi, bool is_static) {
    ++locals_[esi];
    statics_ += is_static ? 1 : 0;
}

void MacMobility::remove_local(const Esi& esi, bool is_static) {
    const auto found = locals_.find(esi);
    PLANED_ASSERT(found != locals_.end());
    if (--found->second == 0) {
        locals_.erase(found);
    }
    statics_ -= is_static ? 1 : 0;
}

std::optional<Esi> MacMobility::esi() const {
    return locals_.empty() ? std::nullopt : std::optional(locals_.begin()->first);
}

bool MacMobility::is_home(const bgp::EsiBytes& esi) const {
    if (locals_.empty()) {
        return !home_ || home_->octets() == esi;
    }
    return std::ranges::any_of(locals_,
                               [&esi](const auto& local) { return local.first.octets() == esi; });
}

const MacMobility::Claim* MacMobility::best_elsewhere() const {
    const Claim* best = nullptr;
    for (const auto& [claim, count] : claims_) {
        if (claim.second_hand || is_home(claim.esi)) {
            continue;
        }
        const bool better =
            best == nullptr || claim.sequence > best->sequence ||
            (claim.sequence == best->sequence && claim.is_static && !best->is_static);
        best = better ? &claim : best;
    }
    return best;
}

bool MacMobility::weigh(TimePoint now) {
    const Claim* other = best_elsewhere();
    if (other == nullptr) {
        frozen_ = false;
        rises_.clear();
    } else if (!other->is_static) {
        elsewhere_ = std::max(elsewhere_.value_or(0), other->sequence);
    }
    if (locals_.empty()) {
        weighed_ = {};
        weighed_esi_.reset();
        return false;  // Nothing is said of it.
    }
    for (const auto& [claim, count] : claims_) {
        if (is_home(claim.esi)) {
            number_ = std::max(number_, claim.sequence);
        }
    }
    // What is static does not move: that is for a person to see.
    const bool may_move = statics_ == 0 && (other == nullptr || !other->is_static);
    if (may_move && elsewhere_ && number_ <= *elsewhere_) {
        rise(other != nullptr, now);
    }
    home_ = esi();
    const bool changed = weighed_ != said() || weighed_esi_ != home_;
    weighed_ = said();
    weighed_esi_ = home_;
    return changed;
}

void MacMobility::rise(bool contested, TimePoint now) {
    std::erase_if(rises_, [now](TimePoint at) { return at + kRisesWindow <= now; });
    frozen_ = frozen_ || rises_.size() >= kRisesMax;
    // Nobody reaches the last number by moving: who sends it is broken, and is not outbid.
    if (frozen_ || *elsewhere_ == std::numeric_limits<std::uint32_t>::max()) {
        return;
    }
    number_ = *elsewhere_ + 1;
    ++rises_total_;
    if (contested) {
        rises_.push_back(now);
    }
}

}  // namespace planed::evpn
