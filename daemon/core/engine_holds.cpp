// SPDX-License-Identifier: Apache-2.0
// Engine: what stands between the verdict on a host and the wish for its route. A new
// host may have to wait, one that comes and goes is held back, and the route of a lost one may stay
// for a while.
//
// A restart of planed or of zebra delays nobody: wishes outlive zebra, and whoever lives when the
// tables have been read for the first time counts as announced before. That may announce a host
// early that was new a moment ago; it never takes a living one away.
#include <utility>

#include <fmt/core.h>

#include "core/engine.hpp"
#include "core/limits.hpp"
#include "core/planner.hpp"

namespace planed {

void Engine::configure_holds() {
    delays_.configure(config_->routes);
    damping_.configure(config_->routes.damping);
    shield_.configure(config_->routes.max_withdraw);
}

void Engine::announce(const RouteKey& key,
                      const NeighborRecord& host,
                      const ServedInterface& served,
                      TimePoint now) {
    const bool free = delays_.idle() && damping_.idle() && shield_.idle();
    if (!free && !may_be_announced(key, host, now)) {
        return;
    }
    const HostRoute route = plan_route(config_->routes, served);
    const auto& wish = sink_.routes().desired(key);
    // Who was there when planed started is not learned then, nor by another tag.
    if (!admits_all_ && (!wish || wish->out != route.out)) {
        times_.wished(key, now);
    }
    sink_.want(key, route);
}

bool Engine::may_be_announced(const RouteKey& key, const NeighborRecord& host, TimePoint now) {
    if (sink_.routes().desired(key)) {
        if (delays_.regain(key)) {
            note_hold(key);
        }
        if (shield_.find(key) != nullptr) {
            note_returned(key, host);
        }
        return true;
    }
    if (damping_.held(key, now)) {
        delays_.refuse(key);
        return false;
    }
    return admits_all_ ||
           delays_.admits(key, {.link = host.key.link, .since = host.claimed_at}, now);
}

void Engine::let_go(const RouteKey& key, TimePoint now) {
    const auto& wish = sink_.routes().desired(key);
    if (!wish) {
        lost_unannounced(key, now);
        return;
    }
    const Loss loss = loss_of(key, wish->out);
    if (loss == Loss::Silent && shield_.find(key) != nullptr) {
        suspect(key, wish->out);  // It has had its delay, and was asked.
        return;
    }
    const bool known = delays_.leaving(key) != nullptr;
    if (delays_.keeps(key, loss, now)) {
        if (!known) {
            shield_.release(key, false);
            note_hold(key);
        }
        return;
    }
    if (loss == Loss::Silent && shield_.is_on()) {
        suspect(key, wish->out);
        return;
    }
    withdraw(key, loss, now);
}

void Engine::withdraw(const RouteKey& key, Loss loss, TimePoint now) {
    shield_.release(key, false);
    time_withdrawal(key, loss);
    delays_.withdrawn(key, sink_.routes().desired(key)->out, now);
    sink_.unwant(key);
    if (loss == Loss::Silent && damping_.flapped(key, now)) {
        note_hold(key);
    }
}

void Engine::time_withdrawal(const RouteKey& key, Loss loss) {
    if (loss != Loss::PortDown) {
        times_.withdrawn(key);
        return;
    }
    const IfIndex link = sink_.routes().desired(key)->out;
    const PortFacts port = port_of({.link = link, .address = key.prefix.address()});
    times_.withdrawn(key, {port.port, link});
}

// A host that is held back for its flaps goes on flapping.
void Engine::lost_unannounced(const RouteKey& key, TimePoint now) {
    delays_.refuse(key);
    if (!damping_.held(key, now)) {
        return;
    }
    bool silent = false;
    neighbors_.for_each_place(key.prefix.address(), [&](const NeighborRecord& record) {
        silent = silent || loss_of(key, record.key.link) == Loss::Silent;
    });
    if (silent) {
        (void)damping_.flapped(key, now);
    }
}

// Of a wished route that no host claims; where it was announced says more than where else its
// address was seen.
Loss Engine::loss_of(const RouteKey& key, IfIndex link) const {
    const ServedInterface* served = served_.find(link);
    if (served == nullptr || served->vrf != key.vrf || links_.find(link) == nullptr) {
        return Loss::Administrative;
    }
    const IpAddress& address = key.prefix.address();
    const NeighborKey place{.link = link, .address = address};
    const NeighborRecord* record = neighbors_.find(place);
    const PortFacts port = port_of(place);
    if (is_drained(address, port)) {
        return Loss::Administrative;
    }
    const Reason reason = record == nullptr ? judge_unseen(address, *served)
                                            : judge_neighbor(place, *record, served, port);
    switch (reason) {
        case Reason::InterfaceDown:
        case Reason::PortDown:
        case Reason::PortUnconfirmed: return Loss::PortDown;
        case Reason::Eligible:  // As it was when the kernel let go of it.
        case Reason::Failed:
        case Reason::Unresolved:
        case Reason::NoMac: return Loss::Silent;
        case Reason::NotServed:
        case Reason::Isolated:
        case Reason::NotUnicast:
        case Reason::LinkLocal:
        case Reason::OwnAddress:
        case Reason::SubnetAddress:
        case Reason::OutsidePrefixes:
        case Reason::Excluded:
        case Reason::BgpPeer:
        case Reason::NoArpNotLearned:
        case Reason::BadMac:
        case Reason::OwnMac:
        case Reason::PortLeft:
        case Reason::Denied:
        case Reason::AddDelay:
        case Reason::Damped:
        case Reason::OverLimit:
        case Reason::Drained: break;
    }
    return Loss::Administrative;
}

/// Its route stays though it is lost: a verdict on another cause may end that.
bool Engine::is_held(const NeighborRecord& record) const {
    const ServedInterface* served = served_.find(record.key.link);
    if (served == nullptr || !(delays_.any_leaving() || shield_.is_up())) {
        return false;
    }
    const RouteKey key = route_key(served->vrf, record.key.address);
    return delays_.leaving(key) != nullptr || shield_.find(key) != nullptr;
}

void Engine::reinstall_leaving(IfIndex link) {
    for (const RouteKey& key : delays_.leaving()) {
        const auto& wish = sink_.routes().desired(key);
        if (wish && wish->out == link) {
            sink_.reinstall(key);
        }
    }
}

// Hosts that have left the kernel's table are in no dirty list; what speaks against their address
// now speaks against their route.
void Engine::recheck_leaving(TimePoint now) {
    for (const RouteKey& key : delays_.leaving()) {
        decide_route(key, now);
    }
    for (const RouteKey& key : shield_.guarded()) {
        decide_route(key, now);
    }
}

void Engine::run_holds(TimePoint now) {
    for (const RouteKey& key : damping_.due(now, limits::kPlannedPerTurnMax)) {
        if (damping_.expire(key, now)) {
            decide_route(key, now);
            note_hold(key);
        }
    }
    for (const RouteKey& key : delays_.due(now, limits::kPlannedPerTurnMax)) {
        decide_route(key, now);
        note_hold(key);
    }
}

void Engine::note_hold(const RouteKey& key) {
    if (!keeps_changes_) {
        return;
    }
    changes_.routes.push_back(key);
    neighbors_.for_each_place(key.prefix.address(), [this](const NeighborRecord& record) {
        changes_.hosts.push_back(record.key);
    });
}

std::optional<Engine::Hold> Engine::hold_of(const RouteKey& key) const {
    if (const RouteDelays::Leaving* leaving = delays_.leaving(key)) {
        return Hold{.host = Reason::Eligible,
                    .route = "withdraw_delay",
                    .until = delays_.leaves_at(key),
                    .text = fmt::format("kept until then, though {} (routes.withdraw_delay)",
                                        describe(leaving->loss))};
    }
    if (const BlastShield::Guarded* guarded = shield_.find(key)) {
        const bool silent = guarded->phase == BlastShield::Phase::Silent;
        return Hold{.host = Reason::Eligible,
                    .route = "max_withdraw",
                    .text = fmt::format("kept, because too many hosts fell silent at once: {} "
                                        "(routes.max_withdraw)",
                                        silent ? "it does not answer, and goes when its turn comes"
                                               : "it is asked first")};
    }
    if (const auto held = damping_.held(key, now_)) {
        return Hold{.host = Reason::Damped,
                    .until = held->until,
                    .text = fmt::format("held back until then, because it fell silent {} times "
                                        "within {} s (routes.damping)",
                                        held->flaps,
                                        config_->routes.damping.window / 1s)};
    }
    if (const auto until = delays_.announced_at(key)) {
        return Hold{.host = Reason::AddDelay,
                    .until = until,
                    .text = "held back until then, because it is new (routes.add_delay)"};
    }
    return std::nullopt;
}

}  // namespace planed
