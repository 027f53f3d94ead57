// SPDX-License-Identifier: Apache-2.0
// EVPN multihoming between its three parts: what the engine finds out becomes facts of
// evpn/multihoming, what that wants goes to the peers, and what the peers tell goes back by it to
// the engine. Decides nothing but the order at the start: the sessions begin when the engine has
// judged all it knows, so that peers are told everything at once, and end of all is only said after
// their own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <absl/container/btree_map.h>

#include "app/evpn_peers.hpp"
#include "config/config.hpp"
#include "core/engine.hpp"
#include "core/snapshot.hpp"
#include "evpn/multihoming.hpp"
#include "net/time.hpp"
#include "telemetry/note.hpp"

namespace planed {

struct EvpnSyncHooks {
    std::function<TimePoint()> now;
    std::function<void()> request_turn;
    std::function<void(bool)> keep_changes;  // See Engine::keep_changes.
    std::function<void()> changed;           // What there is to show may have.
    std::function<void(const Note&)> log;
};

class EvpnSync {
public:
    /// Both outlive it.
    EvpnSync(Engine& engine, EvpnPeers& peers, EvpnSyncHooks hooks);

    /// Takes effect with the next turn.
    void configure(const EvpnConfig& config);
    /// After the engine's turn, with what has changed in it.
    void turn(const Changes& changes, TimePoint now);
    [[nodiscard]] std::optional<TimePoint> wake_at() const;

    [[nodiscard]] const evpn::Multihoming& multihoming() const { return multihoming_; }

private:
    using Name = std::pair<IpAddress, std::string>;  // Address, VRF.

    void listen(const IpAddress& peer, const bgp::Event& event);
    void adopt(TimePoint now);
    void look_at_ports(TimePoint now);
    void look_at_hosts(const Changes& changes, TimePoint now);
    void look_at(const IpAddress& address, TimePoint now);
    [[nodiscard]] evpn::LocalBinding binding_of(const NeighborRecord& record) const;
    void carry_out(TimePoint now);
    void settle(TimePoint now);

    Engine& engine_;
    EvpnPeers& peers_;
    EvpnSyncHooks hooks_;
    EvpnConfig config_;
    evpn::Multihoming multihoming_;
    bool changed_ = true;   // The configuration is to be adopted.
    bool running_ = false;  // The sessions have begun.
    bool settled_ = false;  // The engine was told that peers have told all.
    std::optional<TimePoint> settle_at_{};
    std::optional<std::uint64_t> links_seen_{};
    absl::btree_map<Name, evpn::LocalBinding> told_;  // What multihoming_ knows of.
};

}  // namespace planed
