// SPDX-License-Identifier: Apache-2.0
// One EVPN peer over the simulated management link: the real session, in a shell that does with it
// what io/bgp_transport does over TCP.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include <absl/container/btree_map.h>

#include "app/evpn_peers.hpp"
#include "sim/aux_link.hpp"
#include "sim/clock.hpp"

namespace planed::sim {

class SimSpeaker : public EvpnPeers, private AuxUser {
public:
    SimSpeaker(SimClock& clock, AuxLink& link, std::size_t side, std::uint64_t seed);
    ~SimSpeaker() override;

    /// Whenever the session has said something.
    std::function<void()> on_event = [] {};

    void configure(const EvpnConfig& config) override;
    void want(const bgp::Route& route, const bgp::Path& path) override;
    void unwant(const bgp::RouteKey& key) override;
    void hold_end_of_rib(bool hold) override;
    void flush() override { run(); }
    [[nodiscard]] bool all_have_told() const override { return has_told_; }

    /// With a goodbye.
    void stop();
    [[nodiscard]] const bgp::Session* session() const { return session_.get(); }

private:
    struct Wanted {
        bgp::Route route{};
        bgp::Path path{};
    };

    std::optional<bgp::ConnectionId> accepted() override;
    void connected(bgp::ConnectionId id) override;
    void refused(bgp::ConnectionId id) override;
    void received(bgp::ConnectionId id, std::span<const std::uint8_t> bytes) override;
    void closed(bgp::ConnectionId id) override;

    void run();
    void run_later();
    void carry_out(const bgp::Event& event);
    void arm();

    SimClock& clock_;
    AuxLink& link_;
    std::size_t side_;
    std::uint64_t seed_;
    EvpnConfig config_;
    EvpnPeerConfig peer_;
    std::unique_ptr<bgp::Session> session_;
    absl::btree_map<bgp::RouteKey, Wanted> wanted_;
    std::vector<bgp::ConnectionId> connections_;  // To write to.
    std::optional<TimePoint> armed_at_;
    bool holds_end_of_rib_ = false;
    bool has_told_ = false;
    bool ended_ = false;
    std::shared_ptr<int> life_ = std::make_shared<int>();  // Timers outlive us.
};

}  // namespace planed::sim
