// SPDX-License-Identifier: Apache-2.0
#include "evpn/df_roles.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "net/assert.hpp"

namespace planed::evpn {

std::string_view name_of(DfRole role) {
    switch (role) {
        case DfRole::NonDf: return "non_df";
        case DfRole::Backup: return "backup";
        case DfRole::Df: return "df";
    }
    return "?";
}

void DfRoles::configure(Options options) {
    // Who came back behind another leaf stays there, whatever its own wish is now.
    const bool stepped_back = offer_ != options_.configured;
    options_ = std::move(options);
    offer_ = stepped_back ? offer_on_return(options_.configured, others(0)) : options_.configured;
    for (auto at = results_.begin(); at != results_.end();) {
        const bool stays = std::ranges::find(options_.tags, at->first) != options_.tags.end();
        at = stays ? std::next(at) : results_.erase(at);
    }
}

void DfRoles::come_up(TimePoint now) {
    up_ = true;
    fresh_ = true;
    results_.clear();
    offer_ = offer_on_return(options_.configured, others(0));
    wait_until_ = now + options_.wait;
}

void DfRoles::go_down() {
    up_ = false;
    fresh_ = false;
    results_.clear();
    seen_.clear();
    wait_until_.reset();
    offer_ = options_.configured;
}

void DfRoles::put(const IpAddress& originator, const RouteId& id, const DfOffer& offer) {
    originators_[originator][id] = offer;
}

void DfRoles::remove(const IpAddress& originator, const RouteId& id) {
    const auto found = originators_.find(originator);
    PLANED_ASSERT(found != originators_.end());
    found->second.erase(id);
    if (found->second.empty()) {
        originators_.erase(found);
    }
}

void DfRoles::remove_ad(const IpAddress& leaf, std::uint32_t tag) {
    const auto found = ads_.find({.leaf = leaf, .tag = tag});
    PLANED_ASSERT(found != ads_.end());
    if (--found->second == 0) {
        ads_.erase(found);
    }
}

void DfRoles::forget_heard() {
    originators_.clear();
    ads_.clear();
}

std::vector<DfCandidate> DfRoles::others(std::uint32_t tag) const {
    std::vector<DfCandidate> all;
    for (const auto& [originator, offers] : originators_) {
        all.push_back({.originator = originator,
                       .offer = offers.begin()->second,
                       .has_segment_route = ads_.contains({.leaf = originator, .tag = 0}),
                       .has_tag_route = ads_.contains({.leaf = originator, .tag = tag})});
    }
    return all;
}

std::vector<DfCandidate> DfRoles::candidates(std::uint32_t tag) const {
    std::vector<DfCandidate> all = others(tag);
    if (up_) {
        all.push_back({.originator = options_.self, .offer = offer_});
    }
    std::ranges::sort(all, [](const DfCandidate& a, const DfCandidate& b) {
        return goes_before(a.originator, b.originator);
    });
    return all;
}

bool DfRoles::has_lost_forwarder(std::uint32_t tag) const {
    const auto found = results_.find(tag);
    if (found == results_.end()) {
        return true;  // A tag that is new.
    }
    const DfResult& last = found->second;
    if (!last.forwarder) {
        return false;
    }
    const std::vector<DfCandidate> now = candidates(tag);
    return std::ranges::none_of(now, [&last](const DfCandidate& candidate) {
        const bool takes_part =
            !last.ac_influenced || (candidate.has_segment_route && candidate.has_tag_route);
        return candidate.originator == *last.forwarder && takes_part;
    });
}

void DfRoles::settle(TimePoint now) {
    if (!up_) {
        return;
    }
    absl::btree_map<std::uint32_t, std::vector<DfCandidate>> current;
    for (const std::uint32_t tag : options_.tags) {
        current.emplace(tag, candidates(tag));
    }
    if (current == seen_) {
        return;
    }
    seen_ = std::move(current);
    if (fresh_) {
        return;  // Its first election is planned.
    }
    bool lost = false;
    for (const std::uint32_t tag : options_.tags) {
        const bool is_new = !results_.contains(tag);
        if (is_new) {
            elect_one(tag);
        }
        lost = lost || (!is_new && has_lost_forwarder(tag));
    }
    if (lost) {
        elect_all();
    } else if (!wait_until_) {
        wait_until_ = now + options_.wait;
    }
}

void DfRoles::tick(TimePoint now) {
    if (wait_until_ && *wait_until_ <= now) {
        elect_all();
    }
}

void DfRoles::elect_all() {
    wait_until_.reset();
    fresh_ = false;
    // Nobody leads any more behind whom we stepped back: as configured again (RFC 9785 4.3).
    if (offer_ != options_.configured &&
        offer_on_return(options_.configured, others(0)) == options_.configured) {
        offer_ = options_.configured;
    }
    for (const std::uint32_t tag : options_.tags) {
        elect_one(tag);
        seen_[tag] = candidates(tag);
    }
}

void DfRoles::elect_one(std::uint32_t tag) {
    ++elections_;
    results_[tag] = elect({.esi = options_.esi, .tag = tag, .candidates = candidates(tag)});
}

const DfResult* DfRoles::result(std::uint32_t tag) const {
    const auto found = results_.find(tag);
    return found == results_.end() ? nullptr : &found->second;
}

DfRole DfRoles::role(std::uint32_t tag) const {
    const DfResult* last = result(tag);
    if (last == nullptr) {
        return DfRole::NonDf;
    }
    if (last->forwarder == options_.self) {
        return DfRole::Df;
    }
    return last->backup == options_.self ? DfRole::Backup : DfRole::NonDf;
}

}  // namespace planed::evpn
