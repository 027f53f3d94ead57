// SPDX-License-Identifier: Apache-2.0
// The kernel's side of the daemon: notifications, dumps, reads, writes, each on sockets of its own,
// so that none can hold up another. Turns messages into inputs and outputs into messages; decides
// nothing.
//
// Order within one read(): what links say first, then addresses, then neighbours and forwarding
// entries, then answers, then at most one datagram of a running dump.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <absl/container/btree_map.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "core/input.hpp"
#include "core/output.hpp"
#include "io/netlink_socket.hpp"
#include "net/result.hpp"
#include "net/time.hpp"
#include "netlink/dump.hpp"
#include "netlink/message.hpp"

namespace planed::io {

class Kernel {
public:
    using Sink = std::function<void(const Input&)>;

    /// `ready` is called from the loop whenever there is something to read().
    Kernel(boost::asio::io_context& loop, std::function<void()> ready);

    /// Opens all sockets. The error says what is missing ("needs CAP_NET_ADMIN").
    Result<void> open();
    /// Bytes that the kernel grants for notifications, of kReceiveBuffer wanted; less without
    /// CAP_NET_ADMIN, and then overruns come sooner.
    [[nodiscard]] int receive_buffer() const { return neighbors_.socket->receive_buffer() / 2; }

    /// Hands over what has come, at most kDatagramsPerTurn of each socket.
    void read(TimePoint now, const Sink& sink);
    /// The budget ended before the sockets did.
    [[nodiscard]] bool has_more() const { return more_; }
    /// True if the output was one of ours.
    bool carry_out(const Output& output, TimePoint now);
    /// Tell BgpPeersSeen whenever the set changes, from now on. Off by default: every look walks
    /// the machine's whole TCP table.
    void watch_bgp_peers(bool wanted) { peers_wanted_ = wanted; }
    /// Sends what carry_out() has gathered.
    void flush();
    [[nodiscard]] std::optional<TimePoint> wake_at() const;

private:
    static constexpr int kDatagramsPerTurn = 64;
    static constexpr Duration kDumpDeadline = 10s;    // Without a datagram of it.
    static constexpr Duration kTablesInterval = 30s;  // How full are the neighbour tables?
    static constexpr Duration kPeersInterval = 2s;    // With whom does bgpd speak?
    static constexpr Duration kReadsDeadline = 1s;    // For a round of link reads.

    struct Source {
        explicit Source(boost::asio::io_context& loop) : watch(loop) {}
        std::optional<NetlinkSocket> socket;
        boost::asio::posix::stream_descriptor watch;
    };
    struct Request {
        std::uint64_t id = 0;  // The engine's, for KernelAnswered.
        std::string what;      // For the error's text.
        std::optional<std::uint32_t> found;
        bool reads_forwarding = false;
    };
    struct Waiting {
        std::uint32_t sequence = 0;
        std::vector<std::uint8_t> bytes;
    };

    Result<void> open(Source& source, int protocol, const std::vector<unsigned>& groups);
    void watch(Source& source);
    template <class OnMessage>
    bool drain(Source& source, int datagrams, OnMessage on_message);
    void read_events(Source& source, const std::vector<DumpKind>& kinds, const Sink& sink);
    void read_answers(const Sink& sink);
    static Input answer_to(const Request& request, Result<Duration> silence);
    static Input answer_to(const Request& request, std::optional<Error> error);
    void read_link_reads(const Sink& sink);
    void read_dump(TimePoint now, const Sink& sink);
    void read_tables(const Sink& sink);
    void read_peers(const Sink& sink);
    void note_link_event(const Input& input);

    void start_next_dump(TimePoint now);
    void spoil_dump(Error why, const Sink& sink);
    void start_link_reads(const ReadLinks& reads, TimePoint now);
    void ask_tables(TimePoint now);
    void ask_peers(TimePoint now);
    void apply(const ApplySetting& apply);
    void request(Request request, std::vector<std::uint8_t> bytes);

    std::function<void()> ready_;
    std::vector<std::uint8_t> buffer_;
    bool more_ = false;
    std::uint32_t sequence_ = 0;

    Source links_;
    Source addresses_;
    Source neighbors_;
    Source dump_socket_;
    Source request_socket_;
    Source read_socket_;
    Source table_socket_;
    Source peer_socket_;

    std::deque<DumpKind> dumps_wanted_;
    std::optional<netlink::Dump> dump_;
    TimePoint dump_deadline_{};

    absl::btree_map<std::uint32_t, Request> requests_;  // In flight, by sequence.
    std::deque<Waiting> to_send_;
    std::deque<Input> inputs_;  // Answers that needed no kernel.

    TimePoint reads_deadline_{};
    std::set<std::uint32_t> reads_open_;  // Sequences of the round of link reads that runs.
    absl::btree_map<std::uint32_t, IfIndex> reads_of_;
    std::set<IfIndex> links_in_events_;  // Since the round began: their answers may be older.

    TimePoint next_tables_{};
    TimePoint next_peers_{};
    bool peers_wanted_ = false;
    bool peers_running_ = false;
    int peer_dumps_open_ = 0;
    std::set<IpAddress> peers_;
    std::optional<std::vector<IpAddress>> peers_told_;
};

}  // namespace planed::io
