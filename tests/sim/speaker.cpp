// SPDX-License-Identifier: Apache-2.0
#include "sim/speaker.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "net/assert.hpp"

namespace planed::sim {

SimSpeaker::SimSpeaker(SimClock& clock, AuxLink& link, std::size_t side, std::uint64_t seed)
    : clock_(clock), link_(link), side_(side), seed_(seed) {}

SimSpeaker::~SimSpeaker() {
    if (!std::exchange(ended_, true)) {
        link_.end(side_);
    }
}

void SimSpeaker::configure(const EvpnConfig& config) {
    if (session_ != nullptr) {
        PLANED_ASSERT(config.peers == config_.peers);  // Not simulated.
        config_ = config;
        return;
    }
    config_ = config;
    peer_ = config.peers.at(0);
    session_ = std::make_unique<bgp::Session>(session_options(config, peer_, seed_));
    session_->hold_end_of_rib(holds_end_of_rib_);
    for (const auto& [key, wanted] : wanted_) {
        want(wanted.route, wanted.path);
    }
    link_.begin(side_, *this);
    session_->start(clock_.now());
    run();
}

void SimSpeaker::want(const bgp::Route& route, const bgp::Path& path) {
    wanted_.insert_or_assign(bgp::RouteKey(route), Wanted{.route = route, .path = path});
    if (session_ != nullptr) {
        PLANED_ASSERT(session_->want(route, path_for(config_, peer_, path)));
    }
}

void SimSpeaker::unwant(const bgp::RouteKey& key) {
    wanted_.erase(key);
    if (session_ != nullptr) {
        session_->unwant(key);
    }
}

void SimSpeaker::hold_end_of_rib(bool hold) {
    holds_end_of_rib_ = hold;
    if (session_ != nullptr) {
        session_->hold_end_of_rib(hold);
    }
}

void SimSpeaker::stop() {
    if (session_ != nullptr) {
        session_->stop("stopping", clock_.now());
        run();
    }
}

// From the link -----------------------------------------------------------------------------------

std::optional<bgp::ConnectionId> SimSpeaker::accepted() {
    const auto id = session_->accepted(clock_.now());
    if (id) {
        connections_.push_back(*id);
    }
    run_later();
    return id;
}

void SimSpeaker::connected(bgp::ConnectionId id) {
    connections_.push_back(id);
    session_->connected(id, clock_.now());
    run();
}

void SimSpeaker::refused(bgp::ConnectionId id) {
    session_->connect_failed(id, clock_.now());
    run();
}

void SimSpeaker::received(bgp::ConnectionId id, std::span<const std::uint8_t> bytes) {
    session_->receive(id, bytes, clock_.now());
    run();
}

void SimSpeaker::closed(bgp::ConnectionId id) {
    std::erase(connections_, id);
    session_->lost(id, clock_.now());
    run();
}

// The session -------------------------------------------------------------------------------------

/// Who calls us is not done yet.
void SimSpeaker::run_later() {
    clock_.after(0us, [this, life = std::weak_ptr(life_)] {
        if (!life.expired()) {
            run();
        }
    });
}

void SimSpeaker::run() {
    if (session_ == nullptr || ended_) {
        return;
    }
    while (const auto event = session_->poll_event()) {
        carry_out(*event);
    }
    for (const bgp::ConnectionId id : connections_) {
        for (auto bytes = session_->pending(id); !bytes.empty(); bytes = session_->pending(id)) {
            link_.send(side_, id, bytes);
            session_->written(id, bytes.size());
        }
    }
    arm();
}

void SimSpeaker::carry_out(const bgp::Event& event) {
    if (const auto* wanted = std::get_if<bgp::ConnectionWanted>(&event)) {
        link_.connect(side_, wanted->id);
        return;
    }
    if (const auto* unwanted = std::get_if<bgp::ConnectionUnwanted>(&event)) {
        link_.send(side_, unwanted->id, unwanted->last_words);
        link_.close(side_, unwanted->id);
        std::erase(connections_, unwanted->id);
        return;
    }
    if (std::holds_alternative<bgp::Established>(event)) {
        has_told_ = false;
    } else if (std::holds_alternative<bgp::EndOfRib>(event)) {
        has_told_ = true;
    }
    on_event();
    note(peer_.address, event);
}

void SimSpeaker::arm() {
    const auto at = session_->wake_at();
    if (at == armed_at_ || !at) {
        return;
    }
    armed_at_ = at;
    clock_.at(*at, [this, when = *at, life = std::weak_ptr(life_)] {
        if (!life.expired() && armed_at_ == when) {
            armed_at_.reset();
            session_->tick(clock_.now());
            run();
        }
    });
}

}  // namespace planed::sim
