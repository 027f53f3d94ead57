// SPDX-License-Identifier: Apache-2.0
// Engine: what operators ask for. Drained hosts are learned and asked like all others, so that they
// are there at once when the drain ends; only their routes are missing.
#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "core/engine.hpp"
#include "core/limits.hpp"
#include "core/planner.hpp"

namespace planed {

Result<std::size_t> Engine::concerned_by(const Command& command) const {
    return std::visit([this](const auto& what) { return concerned(what); }, command);
}

// Drain -------------------------------------------------------------------------------------------

bool Engine::is_drained(const IpAddress& address, const PortFacts& port) const {
    return !drains_.empty() && drains_.covers(address, links_.name_of(port.port));
}

// A member of a served bridge, or a served interface that is on none.
bool Engine::is_port_of_ours(std::string_view name) const {
    const Link* link = links_.find(name);
    return link != nullptr && std::ranges::any_of(served_.all(), [&](const auto& each) {
               const ServedInterface& served = each.second;
               return served.bridge == IfIndex::None ? served.link == link->index
                                                     : served.bridge == link->master;
           });
}

// Those that are announced, or would be.
std::vector<NeighborKey> Engine::hosts_in(const DrainScope& scope) const {
    std::vector<NeighborKey> hosts;
    if (scope.kind == DrainScope::Kind::Host) {
        neighbors_.for_each_place(scope.address, [&](const NeighborRecord& record) {
            if (served_.find(record.key.link) != nullptr && is_kept_alive(record)) {
                hosts.push_back(record.key);
            }
        });
        return hosts;
    }
    for (const auto& [link, served] : served_.all()) {
        for (const NeighborKey& key : neighbors_.on_link(link)) {
            const bool here = scope.kind == DrainScope::Kind::Leaf ||
                              links_.name_of(port_of(key).port) == scope.port;
            if (here && is_kept_alive(*neighbors_.find(key))) {
                hosts.push_back(key);
            }
        }
    }
    return hosts;
}

Result<std::size_t> Engine::concerned(const DrainRequested& requested) const {
    const DrainScope& scope = requested.scope;
    if (scope.kind == DrainScope::Kind::Port && !is_port_of_ours(scope.port)) {
        return fail(Errc::Invalid,
                    fmt::format("no server port {}; planectl hosts shows those that have hosts",
                                scope.port));
    }
    if (scope.kind == DrainScope::Kind::Host && places_of(scope.address) == 0) {
        return fail(Errc::Invalid,
                    fmt::format("no host {} on this leaf; planectl hosts lists them",
                                scope.address.to_string()));
    }
    if (!drains_.contains(scope) && drains_.all().size() >= limits::kDrainsMax) {
        return fail(Errc::Refused,
                    fmt::format("{} drains already; drain the whole leaf", limits::kDrainsMax));
    }
    return hosts_in(scope).size();
}

Result<std::size_t> Engine::concerned(const UndrainRequested& requested) const {
    if (requested.scope && !drains_.contains(*requested.scope)) {
        return fail(Errc::Invalid,
                    fmt::format("{} is not drained; planectl status lists what is",
                                to_string(*requested.scope)));
    }
    return requested.scope ? hosts_in(*requested.scope).size()
                           : (drains_.empty() ? 0 : hosts_in(DrainScope{}).size());
}

void Engine::on(const DrainRemembered& remembered, TimePoint /*now*/) {
    (void)drains_.begin(remembered.scope);
}

void Engine::on(const DrainRequested& requested, TimePoint /*now*/) {
    if (!drains_.begin(requested.scope)) {
        return;
    }
    outputs_.emplace_back(RememberDrain{.scope = requested.scope, .drained = true});
    std::vector<NeighborKey> hosts = hosts_in(requested.scope);
    say(Level::Info,
        "drain.begin",
        fmt::format("scope=\"{}\" hosts={}", to_string(requested.scope), hosts.size()));
    move_drained(std::move(hosts));
}

void Engine::on(const UndrainRequested& requested, TimePoint /*now*/) {
    const bool ready = milestones_.at(Milestone::Ready).has_value();
    for (const DrainScope& scope :
         requested.scope ? std::vector{*requested.scope} : drains_.all()) {
        if (ready) {
            end_drain(scope);
        } else {
            (void)drains_.end_when_ready(scope);
        }
    }
}

void Engine::end_waiting_drains() {
    for (const DrainScope& scope : drains_.to_end_when_ready()) {
        end_drain(scope);
    }
}

void Engine::end_drain(const DrainScope& scope) {
    std::vector<NeighborKey> hosts = hosts_in(scope);
    if (!drains_.end(scope)) {
        return;
    }
    outputs_.emplace_back(RememberDrain{.scope = scope, .drained = false});
    say(Level::Info,
        "drain.end",
        fmt::format("scope=\"{}\" hosts={}", to_string(scope), hosts.size()));
    move_drained(std::move(hosts));
}

void Engine::move_drained(std::vector<NeighborKey> hosts) {
    if (moving_.empty()) {
        next_move_ = now_;
    }
    moving_.insert(moving_.end(), hosts.begin(), hosts.end());
}

/// Whoever is judged meanwhile for another reason goes a little before its turn.
void Engine::run_drains(TimePoint now) {
    if (moving_.empty() || next_move_ > now) {
        return;
    }
    next_move_ = now + limits::kDrainPace;
    for (std::size_t left = limits::kDrainedAtOnce; left > 0 && !moving_.empty(); --left) {
        mark_dirty(moving_.front());
        moving_.pop_front();
    }
}

/// It is announced, or would be if no operator held it back.
bool Engine::is_kept_alive(const NeighborRecord& record) {
    return record.claim.has_value() || record.reason == Reason::Drained;
}

// Single hosts ------------------------------------------------------------------------------------

/// On how many served interfaces the address was seen.
std::size_t Engine::places_of(const IpAddress& address) const {
    std::size_t places = 0;
    neighbors_.for_each_place(address, [&](const NeighborRecord& record) {
        places += served_.find(record.key.link) == nullptr ? 0U : 1U;
    });
    return places;
}

std::vector<const ServedInterface*> Engine::served_for(const IpAddress& address) const {
    std::vector<const ServedInterface*> found;
    for (const auto& [link, served] : served_.all()) {
        const bool known = neighbors_.find({.link = link, .address = address}) != nullptr;
        if (served.up && (known || judge_unseen(address, served) == Reason::Unresolved)) {
            found.push_back(&served);
        }
    }
    return found;
}

Result<std::size_t> Engine::concerned(const ProbeRequested& requested) const {
    const std::size_t places = served_for(requested.address).size();
    if (places == 0) {
        return fail(Errc::Invalid,
                    fmt::format("{} can be no host of an interface that is up; planectl explain {} "
                                "says why",
                                requested.address.to_string(),
                                requested.address.to_string()));
    }
    if (is_fixed(requested.address)) {
        return fail(Errc::Refused,
                    fmt::format("{} is static: nobody asks it, its port decides",
                                requested.address.to_string()));
    }
    return places;
}

void Engine::on(const ProbeRequested& requested, TimePoint now) {
    if (is_fixed(requested.address)) {
        return;  // What was asked would make it an entry like others.
    }
    for (const ServedInterface* served : served_for(requested.address)) {
        const NeighborKey key{.link = served->link, .address = requested.address};
        const NeighborRecord* record = neighbors_.find(key);
        if (record == nullptr || judge_state(record->neighbor) != Reason::Eligible) {
            write_neighbor({.key = key, .state = Nud::None, .resolve = true});
        } else {
            probes_.add(key, now);
        }
    }
}

/// Static by the configuration, or by somebody else's hand.
bool Engine::is_fixed(const IpAddress& address) const {
    bool fixed = false;
    neighbors_.for_each_place(address, [&](const NeighborRecord& record) {
        fixed = fixed || statics_.contains(record.key) || record.neighbor.state == Nud::Permanent ||
                record.neighbor.state == Nud::NoArp;
    });
    return fixed;
}

Result<std::size_t> Engine::concerned(const ForgetRequested& requested) const {
    const std::size_t places = places_of(requested.address);
    if (places == 0) {
        return fail(Errc::Invalid,
                    fmt::format("no host {} on this leaf; planectl hosts lists them",
                                requested.address.to_string()));
    }
    if (is_fixed(requested.address)) {
        return fail(Errc::Refused,
                    fmt::format("{} is static: it goes when it leaves the configuration (hosts:) "
                                "or the kernel's table (ip neigh del)",
                                requested.address.to_string()));
    }
    return places;
}

void Engine::on(const ForgetRequested& requested, TimePoint now) {
    if (is_fixed(requested.address)) {
        return;
    }
    neighbors_.for_each_place(requested.address, [&](NeighborRecord& record) {
        if (served_.find(record.key.link) == nullptr) {
            return;
        }
        record.doubted = true;
        record.heard = TimePoint{};
        record.sent = TimePoint{};
        if (judge_state(record.neighbor) == Reason::Eligible) {
            probes_.add(record.key, now);
        }
    });
}

}  // namespace planed
