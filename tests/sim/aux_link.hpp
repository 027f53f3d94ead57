// SPDX-License-Identifier: Apache-2.0
// The management link between two leaves, and TCP over it: bytes arrive in order, some time later,
// cut anywhere. A cut link tells nobody: what was sent waits, as TCP sends it again until somebody
// has had enough.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bgp/session.hpp"
#include "sim/clock.hpp"
#include "sim/random.hpp"
#include "sim/trace.hpp"

namespace planed::sim {

/// A process at one end, that listens and connects.
class AuxUser {
public:
    AuxUser() = default;
    AuxUser(const AuxUser&) = delete;
    AuxUser& operator=(const AuxUser&) = delete;
    virtual ~AuxUser() = default;

    /// Nullopt: closed at once.
    virtual std::optional<bgp::ConnectionId> accepted() = 0;
    virtual void connected(bgp::ConnectionId id) = 0;
    virtual void refused(bgp::ConnectionId id) = 0;
    virtual void received(bgp::ConnectionId id, std::span<const std::uint8_t> bytes) = 0;
    virtual void closed(bgp::ConnectionId id) = 0;
};

class AuxLink {
public:
    AuxLink(SimClock& clock, Random& random, Trace& trace)
        : clock_(clock), random_(random), trace_(trace) {}

    void cut();
    void mend();
    [[nodiscard]] bool is_cut() const { return cut_; }
    /// Since when it carries; while it is cut it does not.
    [[nodiscard]] TimePoint mended_at() const { return mended_at_; }

    // Of the end `side`, 0 or 1.
    void begin(std::size_t side, AuxUser& user) { users_.at(side) = &user; }
    /// The process is gone: its connections end, if the link lets the other one know.
    void end(std::size_t side);
    void connect(std::size_t side, bgp::ConnectionId id);
    void send(std::size_t side, bgp::ConnectionId id, std::span<const std::uint8_t> bytes);
    /// After what was sent.
    void close(std::size_t side, bgp::ConnectionId id);

private:
    struct Connection {
        std::array<std::optional<bgp::ConnectionId>, 2> ids{};  // Of those who still hold it.
        std::array<std::deque<std::vector<std::uint8_t>>, 2> under_way{};  // To each side.
        std::array<bool, 2> closing{};     // No more will come to it.
        std::array<bool, 2> delivering{};  // A delivery to it is due.
        bool answered = false;             // The one who was called has it.
    };
    using ConnectionPtr = std::shared_ptr<Connection>;

    ConnectionPtr find(std::size_t side, bgp::ConnectionId id);
    void call(std::size_t from, const ConnectionPtr& connection);
    void deliver_later(std::size_t to, const ConnectionPtr& connection);
    void deliver(std::size_t to, const ConnectionPtr& connection);
    void let_go(std::size_t side, const ConnectionPtr& connection);
    Duration latency() { return random_.between(50us, 2ms); }

    SimClock& clock_;
    Random& random_;
    Trace& trace_;
    std::array<AuxUser*, 2> users_{};
    std::vector<std::pair<std::size_t, ConnectionPtr>> calls_;  // That no answer has come to.
    std::vector<ConnectionPtr> connections_;
    bool cut_ = false;
    TimePoint mended_at_{};
};

}  // namespace planed::sim
