// SPDX-License-Identifier: Apache-2.0
// Listens where the engine wants it to: a packet socket on each server port, frames in, HostHeard
// out. Decides nothing about hosts; counts what it could not believe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "core/input.hpp"
#include "core/output.hpp"
#include "io/packet_socket.hpp"
#include "net/time.hpp"
#include "packet/heard.hpp"

namespace planed::io {

class Snooper {
public:
    using Sink = std::function<void(const Input&)>;

    /// `ready` is called from the loop whenever there is something to read().
    Snooper(boost::asio::io_context& loop, std::function<void()> ready);

    /// True if the output was one of ours.
    bool carry_out(const Output& output, TimePoint now);
    /// Hands over what was heard, kFramesPerTurn at most, each port its share.
    void read(TimePoint now, const Sink& sink);
    /// The budget ended before the sockets did.
    [[nodiscard]] bool has_more() const { return !readable_.empty() || !told_.empty(); }
    [[nodiscard]] std::optional<TimePoint> wake_at() const { return retry_at_; }

    /// Frames since the start.
    struct Totals {
        std::array<std::uint64_t, packet::kKinds> heard{};
        std::array<std::uint64_t, packet::kRefusals> refused{};
        std::uint64_t dropped = 0;  // By the kernel: their socket was full.
        bool operator==(const Totals&) const = default;
    };
    [[nodiscard]] Totals totals();

private:
    static constexpr std::size_t kFramesPerTurn = 512;  // Half a millisecond.
    static constexpr Duration kRetry = 1s;              // A place that could not be listened on.

    struct Port {
        explicit Port(boost::asio::io_context& loop) : watch(loop) {}
        std::string name;
        std::optional<PacketSocket> socket;
        boost::asio::posix::stream_descriptor watch;
    };

    void listen(const Listen& listen, TimePoint now);
    void open(const Listen::Place& place, TimePoint now);
    Result<void> open(Port& port, const Listen::Place& place);
    void close(IfIndex link);
    void watch(IfIndex link, const std::shared_ptr<Port>& port);
    /// False: nothing more there.
    bool read_batch(IfIndex link, Port& port, const Sink& sink, TimePoint now);
    void hear(IfIndex link, const packet::Frame& frame, const Sink& sink);
    void fail(IfIndex link, std::string_view name, Error why, TimePoint now);

    boost::asio::io_context& loop_;
    std::function<void()> ready_;
    FrameBatch batch_;
    absl::btree_map<IfIndex, Listen::Place> wanted_;
    absl::btree_map<IfIndex, std::shared_ptr<Port>> ports_;
    absl::btree_set<IfIndex> readable_;
    IfIndex last_read_{};  // The next turn begins after it.
    absl::btree_set<IfIndex> failed_;
    std::optional<TimePoint> retry_at_;
    std::vector<Listening> told_;  // Not handed over yet.
    Totals totals_;
};

}  // namespace planed::io
