// SPDX-License-Identifier: Apache-2.0
// The TCP connections of bgp::Session, one session a configured peer: opens and accepts them, moves
// bytes, keeps the timers. Which connection is wanted, and which of two stays, the session says.
// Strangers are turned away. All of it runs on the loop that it is given; nothing here blocks, and
// no peer has more than a slice of it at a time, whatever it sends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "bgp/session.hpp"
#include "io/clock.hpp"
#include "net/ip_address.hpp"
#include "net/result.hpp"
#include "net/time.hpp"
#include "telemetry/note.hpp"

namespace planed::io {

struct BgpPeer {
    IpAddress address{};
    std::uint16_t port = 179;
    std::optional<IpAddress> source{};
    std::string password{};     // Of TCP MD5; at most 80 bytes.
    std::uint8_t hops_max = 0;  // 0: not checked.
    bgp::SessionOptions session{};
};

struct BgpTransportOptions {
    Duration listen_retry = 5s;       // For an address that is not there yet.
    Duration accept_pause = 1s;       // When there are no descriptors left.
    Duration linger = 1s;             // For the peer to read our last words.
    Duration close_deadline = 300ms;  // close() waits no longer for that.
    TimePoint (*now)() = &io::now;
};

struct BgpCallbacks {
    /// Everything that a session says, but which connections it wants. Not to call back.
    std::function<void(const IpAddress& peer, const bgp::Event& event)> on_event;
    /// Why an attempt to connect came to nothing.
    std::function<void(const IpAddress& peer, const Error& why)> on_unreachable;
    std::function<void(const Note& note)> log;
};

class BgpTransport {
public:
    struct Counters {
        std::uint64_t accepted = 0;
        std::uint64_t strangers = 0;  // Turned away: no peer has that address.
        std::uint64_t unwanted = 0;   // A peer that was too early, or whom TCP MD5 cannot prove.
        bool operator==(const Counters&) const = default;
    };

    BgpTransport(boost::asio::io_context& loop,
                 BgpTransportOptions options,
                 BgpCallbacks callbacks);

    /// In place of what it listened on before.
    void listen(const std::vector<IpAddress>& addresses, std::uint16_t port);
    /// There must be none with this address.
    void add(const BgpPeer& peer);
    /// Says goodbye with a text for the other operator. No more is heard of it, not even that its
    /// routes are gone.
    void remove(const IpAddress& peer, std::string_view text);
    /// What this peer shall know, see bgp::Session::want(); it is told with the next flush().
    Result<void> want(const IpAddress& peer, const bgp::Route& route, const bgp::Path& path);
    void unwant(const IpAddress& peer, const bgp::RouteKey& key);
    /// For all peers, those that come later too: they have not been told everything yet.
    void hold_end_of_rib(bool hold);
    void flush();
    /// Null if there is none.
    [[nodiscard]] const bgp::Session* session(const IpAddress& peer) const;
    [[nodiscard]] const Counters& counters() const { return counters_; }
    /// The addresses that are listened on now.
    [[nodiscard]] std::vector<IpAddress> listening() const;
    /// The port of the first of those, where 0 was asked for.
    [[nodiscard]] std::uint16_t listening_port() const;

    /// Says goodbye to all; calls `done`, never from within this call.
    void close(std::string_view text, std::function<void()> done);

private:
    using Socket = boost::asio::ip::tcp::socket;
    using Acceptor = boost::asio::ip::tcp::acceptor;

    struct Connection {
        Connection(bgp::ConnectionId number, Socket from);

        bgp::ConnectionId id;
        Socket socket;
        std::vector<std::uint8_t> buffer;
        bool open = true;  // Else a handler that comes late does nothing.
        bool connecting = false;
        bool reading = false;
        bool waiting_writable = false;
    };
    using ConnectionPtr = std::shared_ptr<Connection>;

    struct Peer {
        Peer(boost::asio::io_context& loop, const BgpPeer& from);

        BgpPeer options;
        bgp::Session session;
        std::map<bgp::ConnectionId, ConnectionPtr> connections;
        boost::asio::steady_timer timer;
        std::optional<TimePoint> armed_at;
        bool removed = false;
        bool untold = false;         // Wants have changed since the last flush().
        bool goes_on = false;        // Events are left for the next slice.
        bool is_unprovable = false;  // A listener does not check its password.
    };
    using PeerPtr = std::shared_ptr<Peer>;

    struct Listener {
        Listener(boost::asio::io_context& loop, const IpAddress& at, std::uint16_t on);

        IpAddress address;
        std::uint16_t port;
        Acceptor acceptor;
        boost::asio::steady_timer timer;
        std::string problem;  // The last one, so that it is said once.
        bool open = true;
    };
    using ListenerPtr = std::shared_ptr<Listener>;

    void open(const ListenerPtr& listener);
    Result<void> bind(Listener& listener);
    void accept(const ListenerPtr& listener);
    void take(Socket socket);
    void set_password(Peer& peer, Listener& listener);

    void run(const PeerPtr& peer);
    void carry_out(const PeerPtr& peer, const bgp::Event& event);
    void connect(const PeerPtr& peer, bgp::ConnectionId id);
    static Result<void> prepare(Socket& socket, const BgpPeer& peer);
    void on_connect(const PeerPtr& peer,
                    const ConnectionPtr& connection,
                    const boost::system::error_code& error);
    void fail(const PeerPtr& peer, bgp::ConnectionId id, const Error& why);
    void disconnect(const PeerPtr& peer, const bgp::ConnectionUnwanted& unwanted);
    void say_goodbye(const ConnectionPtr& connection, const bgp::Bytes& last_words);
    void linger(const ConnectionPtr& connection);
    void drop_rest(const ConnectionPtr& connection,
                   const std::shared_ptr<boost::asio::steady_timer>& timer);
    void let_go(const ConnectionPtr& connection);

    void read(const PeerPtr& peer, const ConnectionPtr& connection);
    /// True: a connection broke, so the session has something to say.
    bool write_all(const PeerPtr& peer);
    bool write(const PeerPtr& peer, const ConnectionPtr& connection);
    void wait_writable(const PeerPtr& peer, const ConnectionPtr& connection);
    void lose(const PeerPtr& peer, const ConnectionPtr& connection);
    void arm(const PeerPtr& peer);
    void finish();

    boost::asio::io_context& loop_;
    BgpTransportOptions options_;
    BgpCallbacks callbacks_;
    std::vector<ListenerPtr> listeners_;
    std::map<IpAddress, PeerPtr> peers_;
    std::set<ConnectionPtr> lingering_;
    bool holds_end_of_rib_ = false;
    boost::asio::steady_timer close_timer_;
    std::function<void()> done_;
    Counters counters_;
};

}  // namespace planed::io
