// SPDX-License-Identifier: Apache-2.0
#include "sim/aux_link.hpp"

#include <algorithm>

namespace planed::sim {

void AuxLink::cut() {
    trace_.add([] { return "aux: cut"; });
    cut_ = true;
}

void AuxLink::mend() {
    trace_.add([] { return "aux: mended"; });
    cut_ = false;
    mended_at_ = clock_.now();
    for (const auto& [from, connection] : calls_) {
        call(from, connection);
    }
    for (const ConnectionPtr& connection : connections_) {
        deliver_later(0, connection);
        deliver_later(1, connection);
    }
}

AuxLink::ConnectionPtr AuxLink::find(std::size_t side, bgp::ConnectionId id) {
    const auto found = std::ranges::find_if(connections_, [&](const ConnectionPtr& connection) {
        return connection->ids.at(side) == id;
    });
    return found == connections_.end() ? nullptr : *found;
}

void AuxLink::end(std::size_t side) {
    users_.at(side) = nullptr;
    const std::vector<ConnectionPtr> before = connections_;
    for (const ConnectionPtr& connection : before) {
        if (connection->ids.at(side)) {
            let_go(side, connection);
        }
    }
}

// Beginnings --------------------------------------------------------------------------------------

void AuxLink::connect(std::size_t side, bgp::ConnectionId id) {
    const auto connection = std::make_shared<Connection>();
    connection->ids.at(side) = id;
    connections_.push_back(connection);
    calls_.emplace_back(side, connection);
    call(side, connection);
}

void AuxLink::call(std::size_t from, const ConnectionPtr& connection) {
    clock_.after(latency(), [this, from, connection] {
        const std::size_t to = 1 - from;
        if (cut_ || connection->answered) {
            return;
        }
        std::erase_if(calls_, [&](const auto& call) { return call.second == connection; });
        connection->answered = true;
        const auto id = connection->ids.at(from);
        if (!id || users_.at(from) == nullptr) {
            return;  // Given up meanwhile.
        }
        if (users_.at(to) == nullptr) {
            let_go(from, connection);
            users_.at(from)->refused(*id);
            return;
        }
        const auto accepted = users_.at(to)->accepted();
        if (!accepted) {
            connection->closing.at(from) = true;
        }
        connection->ids.at(to) = accepted;
        if (connection->ids.at(from)) {
            users_.at(from)->connected(*id);
        }
        deliver_later(from, connection);
    });
}

// Bytes -------------------------------------------------------------------------------------------

void AuxLink::send(std::size_t side, bgp::ConnectionId id, std::span<const std::uint8_t> bytes) {
    const ConnectionPtr connection = find(side, id);
    if (connection == nullptr || bytes.empty()) {
        return;
    }
    auto& queue = connection->under_way.at(1 - side);
    while (!bytes.empty()) {
        const std::size_t length = std::min<std::size_t>(bytes.size(), 1 + random_.below(1500));
        queue.emplace_back(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
        bytes = bytes.subspan(length);
    }
    deliver_later(1 - side, connection);
}

void AuxLink::deliver_later(std::size_t to, const ConnectionPtr& connection) {
    const bool idle = connection->under_way.at(to).empty() && !connection->closing.at(to);
    if (!idle && !std::exchange(connection->delivering.at(to), true)) {
        clock_.after(latency(), [this, to, connection] {
            connection->delivering.at(to) = false;
            deliver(to, connection);
        });
    }
}

void AuxLink::deliver(std::size_t to, const ConnectionPtr& connection) {
    const auto id = connection->ids.at(to);
    if (cut_ || !connection->answered || !id) {
        return;
    }
    auto& queue = connection->under_way.at(to);
    if (!queue.empty()) {
        const std::vector<std::uint8_t> bytes = std::move(queue.front());
        queue.pop_front();
        if (users_.at(to) != nullptr) {
            users_.at(to)->received(*id, bytes);
        }
        deliver_later(to, connection);
        return;
    }
    if (connection->closing.at(to)) {
        let_go(to, connection);
        if (users_.at(to) != nullptr) {
            users_.at(to)->closed(*id);
        }
    }
}

// Ends --------------------------------------------------------------------------------------------

void AuxLink::close(std::size_t side, bgp::ConnectionId id) {
    if (const ConnectionPtr connection = find(side, id)) {
        let_go(side, connection);
    }
}

void AuxLink::let_go(std::size_t side, const ConnectionPtr& connection) {
    connection->ids.at(side).reset();
    connection->closing.at(1 - side) = true;
    if (!connection->ids.at(1 - side)) {
        std::erase(connections_, connection);
        return;
    }
    deliver_later(1 - side, connection);
}

}  // namespace planed::sim
