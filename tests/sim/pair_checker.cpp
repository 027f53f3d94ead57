// SPDX-License-Identifier: Apache-2.0
#include "sim/pair_checker.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/describe.hpp"

namespace planed::sim {
namespace {

constexpr Duration kSettled = 3s;
constexpr Duration kHeardWithin = 20s;  // Twice learning.refresh.
// What was heard at one leaf a moment ago has been told to the other.
constexpr Duration kTelling = 500ms;
// A dead server is asked within ten seconds, for six; so is the other leaf, when the first one's
// word ends; and zebra may be slow.
constexpr Duration kDeathBound = 50s;
constexpr Duration kPortBound = 12s;
constexpr Duration kLookEvery = 20ms;

}  // namespace

PairChecker::PairChecker(SimClock& clock,
                         SimServers::Leaves& leaves,
                         const SimServers& servers,
                         const AuxLink& link)
    : clock_(clock), leaves_(leaves), servers_(servers), link_(link) {
    for (std::size_t side = 0; side < leaves.size(); ++side) {
        SimLeaf& leaf = *leaves.at(side);
        leaf.planed.on_input = [this, side](const Input& input) { on_input(side, input); };
        leaf.planed.on_output = [this, side](const Output& output) { on_output(side, output); };
        leaf.zebra.on_left = [this, side](const RouteKey& key, Left why) {
            on_left(side, key, why);
        };
    }
}

void PairChecker::fail(std::size_t side, const std::string& what) {
    violations_.push_back(fmt::format("leaf {}: {}", side == 0 ? "a" : "b", what));
}

// What the leaves hear and do ---------------------------------------------------------------------

void PairChecker::on_input(std::size_t side, const Input& input) {
    Side& mine = sides_.at(side);
    const TimePoint now = clock_.now();
    if (const auto* finished = std::get_if<DumpFinished>(&input)) {
        if (finished->complete && finished->kind != DumpKind::Proxies) {
            mine.dumped.insert(finished->kind);
        }
        if (mine.dumped.size() == kFactDumps && !mine.whole_at) {
            mine.whole_at = now;
        }
    } else if (std::holds_alternative<ZapiUp>(input) || std::holds_alternative<ZapiLost>(input)) {
        mine.zebra_up_at = now;
    } else if (std::holds_alternative<ConfigChanged>(input)) {
        mine = {.zebra_up_at = now};
        std::erase_if(told_, [side](const auto& told) { return told.first.first == side; });
        disturbed_ = now;
    }
}

void PairChecker::on_output(std::size_t side, const Output& output) {
    const auto* send = std::get_if<SendRoute>(&output);
    if (send == nullptr) {
        return;
    }
    if (silent_at_) {
        fail(side, "not silent at rest: " + describe(output));
    }
    if (!send->put && may_not_leave(side, send->key.prefix.address())) {
        fail(side, "withdraws a living server: " + send->key.prefix.to_string());
    }
}

void PairChecker::on_left(std::size_t side, const RouteKey& key, Left why) {
    const bool ours = why == Left::Purged || why == Left::Closed;
    if (ours && may_not_leave(side, key.prefix.address())) {
        fail(side, "zebra drops the route of a living server: " + key.prefix.to_string());
    }
}

// Truth -------------------------------------------------------------------------------------------

const SimServer* PairChecker::server_of(const IpAddress& address) const {
    for (const auto& [name, server] : servers_.all()) {
        if (std::ranges::find(server.addresses, address) != server.addresses.end()) {
            return &server;
        }
    }
    return nullptr;
}

bool PairChecker::has_route(std::size_t side, const IpAddress& address) const {
    const RouteKey key{.prefix = host_prefix(address)};
    return leaves_.at(side)->zebra.is_selected(key);
}

bool PairChecker::knows_all(std::size_t side, Duration since) const {
    const auto& whole = sides_.at(side).whole_at;
    return leaves_.at(side)->planed.is_running() && whole && *whole + since <= clock_.now();
}

/// It lives, nothing about it has changed lately, and this leaf has heard it, or has been told by
/// the other one.
bool PairChecker::may_not_leave(std::size_t side, const IpAddress& address) const {
    const SimServer* server = server_of(address);
    if (server == nullptr || contested_.contains(address) || !server->alive ||
        !has_route(side, address)) {
        return false;
    }
    const TimePoint now = clock_.now();
    const TimePoint steady = servers_.steady_since(*server);
    if (steady + kSettled > now || !servers_.is_connected(*server, side) ||
        !knows_all(side, kSettled)) {
        return false;
    }
    const auto& here = server->heard.at(side);
    const auto heard = here.find(address);
    const auto told = told_.find({side, address});
    const TimePoint last = std::max(heard == here.end() ? TimePoint{} : heard->second,
                                    told == told_.end() ? TimePoint{} : told->second);
    return last >= steady + kTelling && last + kHeardWithin >= now;
}

bool PairChecker::are_in_session() const {
    return std::ranges::all_of(leaves_, [](const auto& leaf) {
        const bgp::Session* session = leaf->planed.bgp();
        return session != nullptr && session->state() == bgp::State::Established;
    });
}

std::uint64_t PairChecker::updates() const {
    std::uint64_t sum = 0;
    for (const auto& leaf : leaves_) {
        const bgp::Session* session = leaf->planed.bgp();
        sum += session == nullptr ? 0 : session->traffic().updates_sent;
    }
    return sum;
}

// At every step -----------------------------------------------------------------------------------

void PairChecker::after_step() {
    collect_complaints();
    if (clock_.now() < checked_ + kLookEvery) {
        return;
    }
    checked_ = clock_.now();
    note_sessions();
    note_told();
    check_routes();
    if (silent_at_ && updates() != *silent_at_) {
        fail(0, fmt::format("{} UPDATEs at rest", updates() - *silent_at_));
    }
}

void PairChecker::note_sessions() {
    const bool in_session = are_in_session();
    if (in_session != in_session_since_.has_value()) {
        in_session_since_ = in_session ? std::optional(clock_.now()) : std::nullopt;
        disturbed_ = clock_.now();
    }
}

void PairChecker::note_told() {
    const TimePoint now = clock_.now();
    if (!in_session_since_ || *in_session_since_ + kSettled > now || link_.is_cut()) {
        return;
    }
    for (const auto& [name, server] : servers_.all()) {
        for (std::size_t side = 0; side < 2; ++side) {
            if (server.alive && knows_all(1 - side, kSettled)) {
                note_told(side, server);
            }
        }
    }
}

/// What the other leaf has heard while it was in session and nothing changed, and a moment ago.
void PairChecker::note_told(std::size_t side, const SimServer& server) {
    const TimePoint now = clock_.now();
    const TimePoint steady =
        std::max({servers_.steady_since(server), *in_session_since_ + kSettled, link_.mended_at()});
    for (const auto& [address, heard] : server.heard.at(1 - side)) {
        if (heard >= steady && heard + kTelling <= now) {
            told_[{side, address}] = heard;
        }
    }
}

void PairChecker::check_routes() {
    for (const auto& [name, server] : servers_.all()) {
        for (const IpAddress& address : server.addresses) {
            for (std::size_t side = 0; side < 2; ++side) {
                if (!contested_.contains(address) && has_route(side, address)) {
                    check_overdue(side, server, address);
                }
            }
        }
    }
}

void PairChecker::check_overdue(std::size_t side,
                                const SimServer& server,
                                const IpAddress& address) {
    const TimePoint now = clock_.now();
    if (!knows_all(side, kPortBound) || sides_.at(side).zebra_up_at + kPortBound > now) {
        return;
    }
    const SimLeaf& leaf = *leaves_.at(side);
    const Link* port = leaf.kernel.find(server.port);
    const bool cut = port != nullptr && !leaf.kernel.is_up(port->index) &&
                     leaf.kernel.up_since(port->index) + kPortBound <= now &&
                     server.since + kDeathBound <= now;
    if (cut) {
        fail(side, address.to_string() + " has a route through a port that is down");
    }
    const TimePoint since =
        std::max({servers_.steady_since(server), disturbed_, *sides_.at(side).whole_at});
    if (!server.alive && since + kDeathBound <= now) {
        fail(side, address.to_string() + " is dead and has a route");
    }
}

void PairChecker::collect_complaints() {
    for (std::size_t side = 0; side < 2; ++side) {
        for (auto* complaints :
             {&leaves_.at(side)->kernel.complaints, &leaves_.at(side)->planed.complaints}) {
            for (const std::string& complaint : *complaints) {
                fail(side, complaint);
            }
            complaints->clear();
        }
    }
}

// At rest -----------------------------------------------------------------------------------------

std::set<std::string> PairChecker::expected(std::size_t side) const {
    std::set<std::string> prefixes;
    for (const auto& [name, server] : servers_.all()) {
        if (server.alive && servers_.is_connected(server, side)) {
            for (const IpAddress& address : server.addresses) {
                prefixes.insert(host_prefix(address).to_string());
            }
        }
    }
    return prefixes;
}

void PairChecker::at_rest() {
    if (!are_in_session()) {
        fail(0, "no session at rest");
        return;
    }
    for (std::size_t side = 0; side < 2; ++side) {
        const SimLeaf& leaf = *leaves_.at(side);
        const auto routes = leaf.routes();
        const std::set<std::string> found(routes.begin(), routes.end());
        const auto wanted = expected(side);
        if (found != wanted) {
            fail(side,
                 fmt::format("routes at rest: {}; expected: {}",
                             fmt::join(found, " "),
                             fmt::join(wanted, " ")));
        }
        for (const std::string& prefix : wanted) {
            if (!leaf.kernel.fib().contains({.prefix = IpPrefix::parse(prefix).value()})) {
                fail(side, "not in the kernel at rest: " + prefix);
            }
        }
    }
    const auto mine = leaves_.at(0)->planed.evpn()->multihoming().segments();
    const auto others = leaves_.at(1)->planed.evpn()->multihoming().segments();
    for (std::size_t i = 0; i < mine.size(); ++i) {
        std::size_t forwarders = 0;
        for (const auto* view : {&mine.at(i), &others.at(i)}) {
            for (const auto& role : view->roles) {
                forwarders += role.role == evpn::DfRole::Df ? 1 : 0;
            }
        }
        if (forwarders != 1) {
            fail(0, fmt::format("{} forwarders of the segment on {}", forwarders, mine.at(i).port));
        }
    }
}

void PairChecker::expect_silence() {
    silent_at_ = updates();
}

}  // namespace planed::sim
