// SPDX-License-Identifier: Apache-2.0
#include "app/plugins.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include <absl/hash/hash.h>

namespace planed {
namespace {

// Interfaces come and go with these, and judges are told their names.
bool is_of_links(const Input& input) {
    return std::holds_alternative<LinkSeen>(input) || std::holds_alternative<LinkGone>(input);
}

plugin::Change change_of(const HostView& host) {
    return {.route = false,
            .eligible = host.reason == Reason::Eligible,
            .vrf = host.vrf,
            .interface = host.interface,
            .address = host.key.address.to_string(),
            .mac = host.mac.is_zero() ? std::string() : host.mac.to_string(),
            .port = host.port,
            .origin = std::string(word(host.origin)),
            .reason = std::string(word(host.reason))};
}

plugin::Change change_of(const RouteView& route) {
    return {.route = true,
            .eligible = route.state == SinkState::Held,
            .vrf = route.vrf,
            .interface = route.interface,
            .prefix = route.key.prefix.to_string(),
            .origin = std::string(word(route.origin)),
            .state = std::string(word(route.state)),
            .reason = std::string(route.reason)};
}

std::uint64_t digest_of(const plugin::Change& change) {
    return absl::HashOf(change.eligible,
                        change.vrf,
                        change.interface,
                        change.mac,
                        change.port,
                        change.origin,
                        change.state,
                        change.reason);
}

}  // namespace

Plugins::Plugins(Engine& engine, PluginsOptions options)
    : engine_(engine), options_(std::move(options)), host_(options_.host) {}

std::vector<std::string> Plugins::open(const std::vector<PluginConfig>& wanted) {
    std::vector<plugin::Wanted> list;
    for (const PluginConfig& one : wanted) {
        list.push_back({.path = one.path, .options = one.options});
    }
    std::vector<std::string> wrong = host_.open(list);
    observed_ = host_.has_observers();
    if (observed_) {
        options_.keep_changes(true);
    }
    return wrong;
}

// Judges ------------------------------------------------------------------------------------------

// The engine takes a turn's inputs faster in one piece; where they tell of links, what is judged
// after must know those.
void Plugins::handle(std::vector<Input>& inputs, TimePoint now) {
    if (std::ranges::none_of(inputs, is_of_links)) {
        for (Input& input : inputs) {
            judge(input);
        }
        engine_.handle(inputs, now);
    } else {
        for (Input& input : inputs) {
            judge(input);
            engine_.handle(input, now);
        }
        if (std::exchange(unnamed_, false)) {
            engine_.handle(JudgesChanged{}, now);
        }
    }
    (void)hand_over(now);  // It is settled in this turn.
}

void Plugins::judge(Input& input) {
    if (auto* seen = std::get_if<NeighborSeen>(&input); seen != nullptr) {
        if (seen->neighbor.mac.is_zero() || seen->key.address.is_multicast()) {
            return;
        }
        const Link* link = engine_.links().find(seen->key.link);
        unnamed_ = unnamed_ || link == nullptr;
        seen->denied = host_.judge({.address = seen->key.address,
                                    .mac = seen->neighbor.mac,
                                    .interface = link == nullptr ? std::string() : link->name});
    } else if (auto* heard = std::get_if<HostHeard>(&input); heard != nullptr) {
        const ServedInterface* served = engine_.served_at(*heard);
        if (served != nullptr) {
            heard->denied = host_.judge(
                {.address = heard->address, .mac = heard->mac, .interface = served->name});
        }
    }
}

bool Plugins::hand_over(TimePoint now) {
    const std::vector<Input> inputs = host_.take_inputs();
    for (const Input& input : inputs) {
        engine_.handle(input, now);
    }
    return !inputs.empty();
}

// Observers ---------------------------------------------------------------------------------------

bool Plugins::turn(const Changes& changes, TimePoint now) {
    if (!observed_) {
        return false;
    }
    if (!host_.has_observers()) {
        observed_ = false;
        hosts_.clear();
        routes_.clear();
        told_hosts_.clear();
        told_routes_.clear();
        options_.keep_changes(false);
        return false;
    }
    note(changes);
    const bool more = tell_some(now);
    const bool news = hand_over(now);
    return more || news;
}

void Plugins::note(const Changes& changes) {
    hosts_.insert(changes.hosts.begin(), changes.hosts.end());
    routes_.insert(changes.routes.begin(), changes.routes.end());
    if (changes.renamed) {
        const EngineView view(engine_);
        const std::vector<NeighborKey> hosts = view.all_hosts();
        const std::vector<RouteKey> routes = view.all_routes();
        hosts_.insert(hosts.begin(), hosts.end());
        routes_.insert(routes.begin(), routes.end());
    }
}

bool Plugins::tell_some(TimePoint now) {
    using std::chrono::duration_cast;
    using std::chrono::microseconds;
    const std::int64_t at_us =
        (duration_cast<microseconds>(now.time_since_epoch()) + options_.wall()).count();
    std::size_t told = 0;
    std::size_t looked_at = 0;
    const auto tell_from = [&](auto& waiting) {
        while (!waiting.empty() && told < kToldPerTurnMax && looked_at < kLookedAtPerTurnMax) {
            const auto key = *waiting.begin();
            waiting.erase(waiting.begin());
            told += tell(key, at_us) ? 1U : 0U;
            ++looked_at;
        }
    };
    tell_from(hosts_);
    tell_from(routes_);
    return waiting() > 0;
}

bool Plugins::tell(const NeighborKey& key, std::int64_t at_us) {
    const EngineView view(engine_);
    const auto host = view.host(key);
    plugin::Change change = host ? change_of(*host)
                                 : plugin::Change{.route = false,
                                                  .gone = true,
                                                  .vrf = view.vrf_of(key.link),
                                                  .interface = view.name_of(key.link),
                                                  .address = key.address.to_string()};
    change.at_us = at_us;
    return tell(change, key, told_hosts_);
}

bool Plugins::tell(const RouteKey& key, std::int64_t at_us) {
    const EngineView view(engine_);
    const auto route = view.route(key);
    plugin::Change change = route ? change_of(*route)
                                  : plugin::Change{.route = true,
                                                   .gone = true,
                                                   .vrf = view.name_of(key.vrf),
                                                   .prefix = key.prefix.to_string()};
    change.at_us = at_us;
    return tell(change, key, told_routes_);
}

template <class Key, class Told>
bool Plugins::tell(const plugin::Change& change, const Key& key, Told& told) {
    if (change.gone) {
        if (told.erase(key) == 0) {
            return false;
        }
    } else {
        const std::uint64_t digest = digest_of(change);
        const auto [known, fresh] = told.try_emplace(key);
        if (!fresh && known->second == digest) {
            return false;
        }
        known->second = digest;
    }
    host_.tell(change);
    return true;
}

}  // namespace planed
