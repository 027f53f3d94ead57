// SPDX-License-Identifier: Apache-2.0
#include "io/snooper.hpp"

#include <cerrno>
#include <utility>

#include <fcntl.h>

#include <fmt/core.h>

#include "packet/parse.hpp"

namespace planed::io {
namespace {

Claim claim_of(packet::Strength strength) {
    switch (strength) {
        case packet::Strength::Confirms: return Claim::Confirms;
        case packet::Strength::Creates: return Claim::Creates;
        case packet::Strength::Replaces: return Claim::Replaces;
    }
    return Claim::Confirms;
}

}  // namespace

Snooper::Snooper(boost::asio::io_context& loop, std::function<void()> ready)
    : loop_(loop), ready_(std::move(ready)) {}

bool Snooper::carry_out(const Output& output, TimePoint now) {
    const auto* wanted = std::get_if<Listen>(&output);
    if (wanted == nullptr) {
        return false;
    }
    listen(*wanted, now);
    return true;
}

void Snooper::listen(const Listen& listen, TimePoint now) {
    absl::btree_map<IfIndex, Listen::Place> wanted;
    for (const Listen::Place& place : listen.places) {
        wanted[place.link] = place;
    }
    wanted_ = std::move(wanted);
    std::vector<IfIndex> unwanted;
    for (const auto& [link, port] : ports_) {
        if (!wanted_.contains(link)) {
            unwanted.push_back(link);
        }
    }
    for (const IfIndex link : unwanted) {
        close(link);
    }
    absl::erase_if(failed_, [this](IfIndex link) { return !wanted_.contains(link); });
    for (const auto& [link, place] : wanted_) {
        if (!ports_.contains(link)) {
            open(place, now);
        }
    }
}

void Snooper::open(const Listen::Place& place, TimePoint now) {
    auto port = std::make_shared<Port>(loop_);
    port->name = place.name;
    if (auto opened = open(*port, place); !opened) {
        fail(place.link, place.name, opened.error(), now);
        return;
    }
    if (failed_.erase(place.link) > 0) {
        told_.push_back({.interface = place.name});
    }
    watch(place.link, port);
    ports_[place.link] = std::move(port);
}

Result<void> Snooper::open(Port& port, const Listen::Place& place) {
    auto socket = PacketSocket::open({.link = place.link,
                                      .multicast = place.routed ? PacketSocket::Multicast::All
                                                                : PacketSocket::Multicast::Joined});
    if (!socket) {
        return tl::unexpected(socket.error());
    }
    port.socket.emplace(std::move(*socket));
    // Asio closes what it is given: it gets a descriptor of its own.
    const int copy = ::fcntl(port.socket->fd(), F_DUPFD_CLOEXEC, 0);
    if (copy < 0) {
        return fail_errno(errno, "cannot watch a packet socket");
    }
    port.watch.assign(copy);
    return {};
}

void Snooper::close(IfIndex link) {
    const auto port = ports_.find(link);
    if (port == ports_.end()) {
        return;
    }
    if (port->second->socket) {
        totals_.dropped += port->second->socket->statistics().dropped;
    }
    ports_.erase(port);
    readable_.erase(link);
}

void Snooper::fail(IfIndex link, std::string_view name, Error why, TimePoint now) {
    if (failed_.insert(link).second) {
        told_.push_back({.interface = std::string(name), .error = std::move(why)});
    }
    if (!retry_at_) {
        retry_at_ = now + kRetry;
    }
}

// What was readable may be closed before the loop says so.
void Snooper::watch(IfIndex link, const std::shared_ptr<Port>& port) {
    port->watch.async_wait(
        boost::asio::posix::stream_descriptor::wait_read,
        [this, link, weak = std::weak_ptr(port)](const boost::system::error_code& error) {
            const auto alive = weak.lock();
            if (error || alive == nullptr) {
                return;
            }
            readable_.insert(link);
            watch(link, alive);
            ready_();
        });
}

void Snooper::read(TimePoint now, const Sink& sink) {
    if (retry_at_ && *retry_at_ <= now) {
        retry_at_.reset();
        for (const IfIndex link : std::vector<IfIndex>(failed_.begin(), failed_.end())) {
            open(wanted_.at(link), now);
        }
    }
    for (const Listening& told : std::exchange(told_, {})) {
        sink(told);
    }
    for (std::size_t frames = 0; frames < kFramesPerTurn && !readable_.empty();
         frames += batch_.size()) {
        auto next = readable_.upper_bound(last_read_);
        next = next == readable_.end() ? readable_.begin() : next;
        const IfIndex link = *next;
        last_read_ = link;
        if (!read_batch(link, *ports_.at(link), sink, now)) {
            readable_.erase(link);
        }
    }
}

bool Snooper::read_batch(IfIndex link, Port& port, const Sink& sink, TimePoint now) {
    const PacketSocket::Received received = port.socket->receive(batch_);
    switch (received.kind) {
        case PacketSocket::Kind::Nothing:
        case PacketSocket::Kind::Down: return false;
        case PacketSocket::Kind::Frames:
            for (const packet::Frame& frame : received.frames) {
                hear(link, frame, sink);
            }
            return received.frames.size() == batch_.size();
        case PacketSocket::Kind::Gone:
            close(link);  // The engine hears of it by netlink.
            return false;
        case PacketSocket::Kind::Failed: {
            const std::string name = port.name;
            close(link);
            fail(link,
                 name,
                 fail_errno(received.system_errno, "cannot read a packet socket").value(),
                 now);
            return false;
        }
    }
    return false;
}

void Snooper::hear(IfIndex link, const packet::Frame& frame, const Sink& sink) {
    const auto heard = packet::parse(frame);
    if (!heard) {
        ++totals_.refused.at(static_cast<std::size_t>(heard.error()));
        return;
    }
    ++totals_.heard.at(static_cast<std::size_t>(heard->kind));
    if (const auto evidence = packet::evidence(*heard)) {
        sink(HostHeard{.link = link,
                       .vlan = heard->vlan,
                       .address = evidence->address,
                       .mac = evidence->mac,
                       .claim = claim_of(evidence->strength)});
    }
}

Snooper::Totals Snooper::totals() {
    for (auto& [link, port] : ports_) {
        totals_.dropped += port->socket->statistics().dropped;
    }
    return totals_;
}

}  // namespace planed::io
