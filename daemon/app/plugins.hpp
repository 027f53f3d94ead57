// SPDX-License-Identifier: Apache-2.0
// Plug-ins between their host and the engine: judges are asked of every neighbour before the engine
// hears of it, observers are told of what has changed after a turn, a bounded part at a time and
// each object once, however often it has changed meanwhile.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <absl/container/btree_set.h>
#include <absl/container/flat_hash_map.h>

#include "config/config.hpp"
#include "core/engine.hpp"
#include "core/snapshot.hpp"
#include "net/time.hpp"
#include "plugin/host.hpp"

namespace planed {

struct PluginsOptions {
    plugin::Hooks host{};
    std::function<std::chrono::microseconds()> wall;  // See io::wall_offset().
    std::function<void(bool)> keep_changes;           // See Engine::keep_changes.
};

class Plugins {
public:
    static constexpr std::size_t kToldPerTurnMax = 256;
    static constexpr std::size_t kLookedAtPerTurnMax = 4'096;

    /// The engine outlives it.
    Plugins(Engine& engine, PluginsOptions options);

    /// Once, before the first turn. One sentence for each that cannot be had; none is open then.
    std::vector<std::string> open(const std::vector<PluginConfig>& wanted);
    void close() { host_.close(); }

    [[nodiscard]] bool has_judges() const { return host_.has_judges(); }
    /// What has come in this turn: asks the judges, and hands it to the engine.
    void handle(std::vector<Input>& inputs, TimePoint now);
    /// After the engine's turn, with what has changed in it. True: another turn is due.
    bool turn(const Changes& changes, TimePoint now);

    [[nodiscard]] std::vector<plugin::View> views() const { return host_.views(); }
    [[nodiscard]] std::size_t waiting() const { return hosts_.size() + routes_.size(); }

private:
    void judge(Input& input);
    void note(const Changes& changes);
    bool tell_some(TimePoint now);
    bool tell(const NeighborKey& key, std::int64_t at_us);  // False: there was nothing to tell.
    bool tell(const RouteKey& key, std::int64_t at_us);
    template <class Key, class Told>
    bool tell(const plugin::Change& change, const Key& key, Told& told);
    bool hand_over(TimePoint now);  // True: there was something.

    Engine& engine_;
    PluginsOptions options_;
    plugin::Host host_;
    bool observed_ = false;
    bool unnamed_ = false;  // Somebody was judged whose interface had no name yet.
    // To be told, and what was told of it last, as a digest.
    absl::btree_set<NeighborKey> hosts_;
    absl::btree_set<RouteKey> routes_;
    absl::flat_hash_map<NeighborKey, std::uint64_t> told_hosts_;
    absl::flat_hash_map<RouteKey, std::uint64_t> told_routes_;
};

}  // namespace planed
