// SPDX-License-Identifier: Apache-2.0
// Two sessions back to back in memory. Their TCP is a pair of byte queues a connection; which byte
// queue moves next, and how far, is chosen from a seed, so messages of two connections cross each
// other in every order. Time moves only when nothing else can.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "bgp/session.hpp"
#include "unit/bgp/values.hpp"

namespace planed::bgp {

/// What a session's owner would know of its peer.
struct Seen {
    std::map<RouteKey, Route> routes{};
    std::size_t established = 0;
    std::size_t ends_of_rib = 0;
    std::vector<Down> downs{};
};

class SessionPair {
public:
    SessionPair(const SessionOptions& first, const SessionOptions& second, std::uint32_t seed)
        : random_(seed), sessions{Session(first), Session(second)} {}

    void start_both() {
        sessions[0].start(now);
        sessions[1].start(now);
    }

    /// Until nothing can move at this moment.
    void settle() {
        for (int moves = 0; move(); ++moves) {
            ASSERT_LT(moves, 200'000) << "never at rest";
        }
    }
    /// Settles at each moment that a session asks for, until `span` has passed.
    void run_for(Duration span) {
        const TimePoint end = now + span;
        settle();
        for (;;) {
            const TimePoint next = std::min(earliest().value_or(end), end);
            now = std::max(now, next);
            sessions[0].tick(now);
            sessions[1].tick(now);
            settle();
            if (now >= end) {
                return;
            }
        }
    }

    /// The cable: without it bytes and attempts get lost, and nobody is told.
    void cut() { cable_ = false; }
    void mend() {
        cable_ = true;
        // What was sent meanwhile does not come any more: TCP gives up.
        break_connections();
    }
    /// Both ends see their connections break.
    void break_connections() {
        for (auto& pipe : pipes_) {
            if (pipe->open) {
                close(*pipe);
                for (std::size_t side = 0; side < 2; ++side) {
                    sessions[side].lost(pipe->ids[side], now);
                }
            }
        }
    }
    [[nodiscard]] bool both_established() const {
        return sessions[0].state() == State::Established &&
               sessions[1].state() == State::Established;
    }
    [[nodiscard]] std::size_t open_connections() const {
        return static_cast<std::size_t>(
            std::ranges::count_if(pipes_, [](const auto& pipe) { return pipe->open; }));
    }

private:
    struct Pipe {
        std::array<ConnectionId, 2> ids{};  // What each side calls it.
        std::array<Bytes, 2> to{};          // On their way to that side.
        std::array<bool, 2> closed{};       // By the other side, behind those bytes.
        bool open = true;
    };
    struct Attempt {
        std::size_t side = 0;
        ConnectionId id{};
    };

    std::mt19937 random_;

public:
    TimePoint now = kStart;
    std::array<Session, 2> sessions;
    std::array<Seen, 2> seen{};

private:
    std::optional<TimePoint> earliest() {
        std::optional<TimePoint> result;
        for (const Session& session : sessions) {
            if (const auto at = session.wake_at()) {
                result = result ? std::min(*result, *at) : *at;
            }
        }
        return result;
    }

    void close(Pipe& pipe) {
        pipe.open = false;
        pipe.to = {};
    }

    Pipe* pipe_of(std::size_t side, ConnectionId id) {
        for (auto& pipe : pipes_) {
            if (pipe->open && pipe->ids[side] == id) {
                return pipe.get();
            }
        }
        return nullptr;
    }

    /// One thing happens: an event is handled, bytes move, an attempt is answered.
    bool move() {
        bool moved = false;
        for (std::size_t side = 0; side < 2; ++side) {
            while (auto event = sessions[side].poll_event()) {
                handle(side, *event);
                moved = true;
            }
        }
        for (auto& pipe : pipes_) {
            for (std::size_t side = 0; side < 2 && pipe->open; ++side) {
                moved = write(*pipe, side) || moved;
            }
        }
        return deliver() || moved;
    }

    void handle(std::size_t side, const Event& event) {
        Seen& owner = seen[side];
        if (const auto* const wanted = std::get_if<ConnectionWanted>(&event)) {
            attempts_.push_back({.side = side, .id = wanted->id});
        } else if (const auto* const unwanted = std::get_if<ConnectionUnwanted>(&event)) {
            hang_up(side, *unwanted);
        } else if (std::holds_alternative<Established>(event)) {
            ++owner.established;
        } else if (const auto* const down = std::get_if<Down>(&event)) {
            owner.downs.push_back(*down);
        } else if (const auto* const heard = std::get_if<RouteHeard>(&event)) {
            owner.routes[RouteKey(heard->route)] = heard->route;
        } else if (const auto* const gone = std::get_if<RouteGone>(&event)) {
            EXPECT_EQ(owner.routes.erase(gone->key), 1U);
        } else if (std::holds_alternative<EndOfRib>(event)) {
            ++owner.ends_of_rib;
        }
    }

    void hang_up(std::size_t side, const ConnectionUnwanted& unwanted) {
        std::erase_if(attempts_, [&](const Attempt& attempt) {
            return attempt.side == side && attempt.id == unwanted.id;
        });
        if (Pipe* const pipe = pipe_of(side, unwanted.id)) {
            Bytes& to = pipe->to[1 - side];
            to.insert(to.end(), unwanted.last_words.begin(), unwanted.last_words.end());
            pipe->closed[1 - side] = true;
            pipe->ids[side] = ConnectionId::None;
        }
    }

    bool write(Pipe& pipe, std::size_t side) {
        if (pipe.ids[side] == ConnectionId::None) {
            return false;
        }
        const auto bytes = sessions[side].pending(pipe.ids[side]);
        const std::size_t count = bytes.size();
        if (cable_) {
            pipe.to[1 - side].insert(pipe.to[1 - side].end(), bytes.begin(), bytes.end());
        }
        sessions[side].written(pipe.ids[side], count);
        return count > 0;
    }

    /// One of the queues that have something, or one of the attempts.
    bool deliver() {
        if (!cable_) {
            attempts_.clear();
            return false;
        }
        struct Choice {
            Pipe* pipe;
            std::size_t side;
        };
        std::vector<Choice> choices;
        for (auto& pipe : pipes_) {
            for (std::size_t side = 0; side < 2 && pipe->open; ++side) {
                if (!pipe->to[side].empty() || pipe->closed[side]) {
                    choices.push_back({.pipe = pipe.get(), .side = side});
                }
            }
        }
        const std::size_t all = choices.size() + attempts_.size();
        if (all == 0) {
            return false;
        }
        const std::size_t chosen = random_() % all;
        if (chosen >= choices.size()) {
            answer(attempts_[chosen - choices.size()]);
        } else {
            carry(*choices[chosen].pipe, choices[chosen].side);
        }
        return true;
    }

    void answer(const Attempt attempt) {
        std::erase_if(attempts_, [&](const Attempt& other) {
            return other.side == attempt.side && other.id == attempt.id;
        });
        const std::size_t other = 1 - attempt.side;
        const auto accepted = sessions[other].accepted(now);
        if (!accepted) {
            sessions[attempt.side].connect_failed(attempt.id, now);
            return;
        }
        auto pipe = std::make_unique<Pipe>();
        pipe->ids[attempt.side] = attempt.id;
        pipe->ids[other] = *accepted;
        pipes_.push_back(std::move(pipe));
        sessions[attempt.side].connected(attempt.id, now);
    }

    void carry(Pipe& pipe, std::size_t side) {
        Bytes& bytes = pipe.to[side];
        if (bytes.empty()) {  // Closed behind the last byte.
            const ConnectionId id = pipe.ids[side];
            close(pipe);
            sessions[side].lost(id, now);
            return;
        }
        const std::size_t most = std::min<std::size_t>(bytes.size(), 1 + random_() % 400);
        const Bytes piece(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(most));
        bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(most));
        sessions[side].receive(pipe.ids[side], piece, now);
    }

    bool cable_ = true;
    std::vector<Attempt> attempts_;
    std::vector<std::unique_ptr<Pipe>> pipes_;
};

}  // namespace planed::bgp
