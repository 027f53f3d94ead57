// SPDX-License-Identifier: Apache-2.0
#include "bgp/advertisements.hpp"

#include <array>
#include <utility>
#include <vector>

#include "net/assert.hpp"

namespace planed::bgp {
namespace {

/// The shortest route on the wire, so that no more are gathered than can fit.
constexpr std::size_t kShortestRoute = 19;

std::size_t most_in(std::size_t longest) {
    return longest / kShortestRoute;
}

}  // namespace

std::uint8_t Advertisements::rank_of(const Route& route) {
    if (const auto* const ad = std::get_if<EthernetAd>(&route)) {
        return ad->tag == kMaxEthernetTag ? 1 : 2;
    }
    constexpr std::array<std::uint8_t, 6> kRankOfType{0, 1, 4, 3, 0, 5};
    return kRankOfType.at(type_of(route));
}

Advertisements::Ranked Advertisements::ranked(const RouteKey& key) {
    return {.rank = rank_of(key.route()), .key = key};
}

Advertisements::Waiting Advertisements::waiting(const Entry& entry) {
    return {
        .rank = rank_of(entry.route), .path = entry.path->second.id, .key = RouteKey(entry.route)};
}

Result<Advertisements::Paths::iterator> Advertisements::use(const Path& path) {
    const auto found = paths_.find(path);
    if (found != paths_.end()) {
        ++found->second.count;
        return found;
    }
    // The longest route with the shortest messages: then any fits.
    const std::array<Route, 1> longest{
        Prefix{.prefix = IpPrefix(IpAddress::v6({}), 0), .gateway = IpAddress::v6({})}};
    Bytes probe;
    if (encode_reachable(path, longest, kMessageMax, probe) == 0) {
        return fail(Errc::Invalid, "attributes that leave no room for a route in a message");
    }
    return paths_.emplace(path, Use{.id = ++last_path_, .count = 1}).first;
}

void Advertisements::release(Paths::iterator path) {
    if (--path->second.count == 0) {
        paths_.erase(path);
    }
}

void Advertisements::queue(const Entry& entry) {
    if (active_) {
        waiting_.insert(waiting(entry));
    }
}

void Advertisements::unqueue(Entry& entry) {
    waiting_.erase(waiting(entry));
    settle_initial(entry);
}

void Advertisements::settle_initial(Entry& entry) {
    if (std::exchange(entry.initial, false)) {
        --initial_left_;
    }
}

Result<void> Advertisements::want(const Route& route, const Path& path) {
    const RouteKey key(route);
    const auto used = use(path);
    if (!used) {
        return tl::unexpected(used.error());
    }
    const auto found = wanted_.find(key);
    if (found == wanted_.end()) {
        // A withdrawal that has not been written: the peer still has the route.
        const bool sent = withdrawals_.erase(ranked(key)) != 0;
        const Entry entry{.route = route, .path = *used, .sent = sent};
        queue(entry);
        wanted_.emplace(key, entry);
        return {};
    }
    Entry& entry = found->second;
    if (entry.route == route && entry.path == *used) {
        release(*used);
        return {};
    }
    const bool initial = entry.initial;
    unqueue(entry);
    release(entry.path);
    entry.route = route;
    entry.path = *used;
    if (initial) {
        entry.initial = true;
        ++initial_left_;
    }
    queue(entry);
    return {};
}

void Advertisements::unwant(const RouteKey& key) {
    const auto found = wanted_.find(key);
    if (found == wanted_.end()) {
        return;
    }
    Entry& entry = found->second;
    unqueue(entry);
    if (entry.sent) {
        withdrawals_.insert(ranked(key));
    }
    release(entry.path);
    wanted_.erase(found);
}

void Advertisements::begin() {
    PLANED_ASSERT(!active_);
    active_ = true;
    end_of_rib_due_ = true;
    initial_left_ = wanted_.size();
    for (auto& [key, entry] : wanted_) {
        entry.initial = true;
        queue(entry);
    }
}

void Advertisements::end() {
    active_ = false;
    end_of_rib_due_ = false;
    initial_left_ = 0;
    waiting_.clear();
    withdrawals_.clear();
    for (auto& [key, entry] : wanted_) {
        entry.sent = false;
        entry.initial = false;
    }
}

void Advertisements::resend() {
    for (const auto& [key, entry] : wanted_) {
        queue(entry);
    }
}

void Advertisements::hold_end_of_rib(bool hold) {
    if (end_of_rib_held_ && !hold && end_of_rib_due_) {
        for (const Waiting& next : waiting_) {
            Entry& entry = wanted_.at(next.key);
            initial_left_ += entry.initial ? 0U : 1U;
            entry.initial = true;
        }
    }
    end_of_rib_held_ = hold;
}

bool Advertisements::write_next(std::size_t longest, Bytes& out) {
    if (!withdrawals_.empty()) {
        write_withdrawals(longest, out);
        return true;
    }
    if (owes_end_of_rib() && initial_left_ == 0) {
        encode_end_of_rib(out);
        end_of_rib_due_ = false;
        return true;
    }
    if (!waiting_.empty()) {
        write_routes(longest, out);
        return true;
    }
    return false;
}

void Advertisements::write_withdrawals(std::size_t longest, Bytes& out) {
    std::vector<RouteKey> keys;
    for (const Ranked& withdrawal : withdrawals_) {
        if (keys.size() == most_in(longest)) {
            break;
        }
        keys.push_back(withdrawal.key);
    }
    const std::size_t count = encode_withdrawn(keys, longest, out);
    for (std::size_t i = 0; i < count; ++i) {
        withdrawals_.erase(withdrawals_.begin());
    }
}

void Advertisements::write_routes(std::size_t longest, Bytes& out) {
    const std::uint8_t rank = waiting_.begin()->rank;
    const std::uint64_t path = waiting_.begin()->path;
    std::vector<Route> routes;
    for (const Waiting& next : waiting_) {
        if (next.rank != rank || next.path != path || routes.size() == most_in(longest)) {
            break;
        }
        routes.push_back(wanted_.at(next.key).route);
    }
    const Path& shared = wanted_.at(waiting_.begin()->key).path->first;
    const std::size_t count = encode_reachable(shared, routes, longest, out);
    PLANED_ASSERT(count > 0);  // want() has seen to that.
    for (std::size_t i = 0; i < count; ++i) {
        Entry& entry = wanted_.at(waiting_.begin()->key);
        entry.sent = true;
        settle_initial(entry);
        waiting_.erase(waiting_.begin());
    }
}

}  // namespace planed::bgp
