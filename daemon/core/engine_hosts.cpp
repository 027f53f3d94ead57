// SPDX-License-Identifier: Apache-2.0
// Engine: hosts that the configuration names, addresses that more than one claims, and
// the alarms that tell of a single host. A *pinned* address has its MAC from us, as a PERMANENT
// entry that the kernel does not change whatever it hears.
#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "core/engine.hpp"
#include "core/limits.hpp"

namespace planed {
namespace {

bool is_pinned_by_us(const Neighbor& neighbor) {
    return neighbor.state == Nud::Permanent && is_ours(neighbor);
}

}  // namespace

// Static hosts ------------------------------------------------------------------------------------

void Engine::update_statics() {
    absl::btree_map<NeighborKey, StaticHost> wanted;
    for (const auto& [link, served] : served_.all()) {
        for (const StaticHost& host : served.config.hosts) {
            wanted.emplace(NeighborKey{.link = link, .address = host.address}, host);
        }
    }
    for (const auto& [key, host] : std::exchange(statics_, std::move(wanted))) {
        mark_dirty(key);  // What is no longer pinned is asked whether it is there.
    }
    for (const auto& [key, host] : statics_) {
        mark_dirty(key);
        pins_.push_back(key);
    }
    next_resolve_ = TimePoint{};
    if (std::any_of(statics_.begin(), statics_.end(), [](const auto& host) {
            return !host.second.mac.has_value();
        })) {
        next_resolve_ = now_;
    }
}

void Engine::mark_statics_dirty(std::string_view port) {
    for (const auto& [key, host] : statics_) {
        if (host.port == port) {
            mark_dirty(key);
        }
    }
}

// The configuration knows where it is: its carrier decides, whatever was learned elsewhere.
std::optional<PortFacts> Engine::static_port(const NeighborKey& key,
                                             const ServedInterface& served) const {
    const auto host = statics_.find(key);
    if (host == statics_.end() || host->second.port.empty() || served.bridge == IfIndex::None) {
        return std::nullopt;
    }
    const Link* port = links_.find(host->second.port);
    if (port == nullptr || port->master != served.bridge) {
        return PortFacts{.state = PortFacts::State::Left,
                         .port = port == nullptr ? IfIndex::None : port->index};
    }
    return PortFacts{.state = is_up(*port) ? PortFacts::State::Up : PortFacts::State::Down,
                     .port = port->index};
}

std::optional<MacAddress> Engine::pinned_mac(const NeighborKey& key) const {
    if (!statics_.empty()) {
        if (const auto host = statics_.find(key); host != statics_.end() && host->second.mac) {
            return host->second.mac;
        }
    }
    const Conflicts::Freeze* freeze = conflicts_.empty() ? nullptr : conflicts_.frozen(key);
    return freeze == nullptr ? std::nullopt : std::optional(freeze->owner);
}

// An entry that we pinned and do not want pinned any more becomes one like the others: the kernel
// asks the host, and keeps it if it answers.
void Engine::check_pin(const NeighborRecord& record, TimePoint now) {
    if (is_pinned_by_us(record.neighbor) && record.in_kernel && !pinned_mac(record.key)) {
        probes_.add(record.key, now);
    }
}

void Engine::run_pins(TimePoint now) {
    if (!knows_neighbors() || !facts_whole_) {
        return;
    }
    for (const NeighborKey& key : std::exchange(pins_, {})) {
        const auto mac = pinned_mac(key);
        const NeighborRecord* record = neighbors_.find(key);
        const ServedInterface* served = served_.find(key.link);
        const bool pinned = record != nullptr && record->in_kernel && mac &&
                            record->neighbor.mac == *mac && is_pinned_by_us(record->neighbor);
        if (!mac || pinned || served == nullptr || !served->up) {
            continue;
        }
        write_neighbor({.key = key, .mac = *mac, .state = Nud::Permanent, .ext_learned = true});
    }
    if (next_resolve_ == TimePoint{} || next_resolve_ > now) {
        return;
    }
    next_resolve_ = now + config_->learning.refresh;
    for (const auto& [key, host] : statics_) {
        const NeighborRecord* record = neighbors_.find(key);
        const ServedInterface* served = served_.find(key.link);
        const bool known = record != nullptr && judge_state(record->neighbor) != Reason::Failed &&
                           record->neighbor.state != Nud::None;
        if (host.mac || known || served == nullptr || !served->up) {
            continue;
        }
        write_neighbor({.key = key, .state = Nud::None, .resolve = true});
    }
}

// Conflicts ---------------------------------------------------------------------------------------

void Engine::note_move(const NeighborKey& key, const MacAddress& from, const MacAddress& to) {
    const ServedInterface* served = served_.find(key.link);
    if (to.is_zero() || served == nullptr || pinned_mac(key)) {
        return;
    }
    if (!conflicts_.moved(key, from, to, now_, config_->learning.duplicates)) {
        return;
    }
    const Conflicts::Freeze& freeze = *conflicts_.frozen(key);
    ++learning_.frozen;
    pins_.push_back(key);
    degrade(fmt::format("address {}", key.address.to_string()),
            fmt::format("claimed by two MACs on {}: {} and {}; stays with {} for {} s",
                        served->name,
                        place_of(*served, freeze.owner),
                        place_of(*served, freeze.other),
                        freeze.owner.to_string(),
                        (freeze.until - now_) / 1s));
}

void Engine::run_thaws(TimePoint now) {
    for (const NeighborKey& key : conflicts_.thaw(now)) {
        recover(fmt::format("address {}", key.address.to_string()));
        mark_dirty(key);
    }
}

// The address is pinned to another MAC, or this leaf's own.
void Engine::refuse_claim(const HostHeard& heard, const ServedInterface& served) {
    ++learning_.claims_refused;
    const NeighborKey key{.link = served.link, .address = heard.address};
    conflicts_.claimed(key, heard.mac);
    if (conflicts_.frozen(key) != nullptr) {
        return;  // There is an alarm already.
    }
    const auto pinned = pinned_mac(key);
    const std::string whose = pinned ? fmt::format("a static host with MAC {}", pinned->to_string())
                                     : std::string("an address of this leaf");
    raise(fmt::format("claim of {}", heard.address.to_string()),
          fmt::format("{}, {}, says that it has it, by {}",
                      whose,
                      heard.mac.to_string(),
                      links_.name_of(heard.link)),
          now_);
}

std::string Engine::place_of(const ServedInterface& served, const MacAddress& mac) const {
    const PortFacts port = port_of(served.link, mac);
    return port.port == IfIndex::None
               ? mac.to_string()
               : fmt::format("{} ({})", mac.to_string(), links_.name_of(port.port));
}

// Alarms ------------------------------------------------------------------------------------------

void Engine::raise(const std::string& id, std::string text, TimePoint now) {
    if (alarms_.size() >= limits::kHostAlarmsMax && !alarms_.contains(id)) {
        return;  // Counted, and there are alarms enough.
    }
    alarms_[id] = now + limits::kHostAlarm;
    degrade(id, std::move(text));
}

void Engine::run_alarms(TimePoint now) {
    for (auto at = alarms_.begin(); at != alarms_.end();) {
        if (at->second > now) {
            ++at;
            continue;
        }
        recover(at->first);
        at = alarms_.erase(at);
    }
}

}  // namespace planed
