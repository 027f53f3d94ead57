// SPDX-License-Identifier: Apache-2.0
#include "io/bgp_transport.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include "io/bgp_socket.hpp"
#include "net/assert.hpp"

namespace planed::io {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// Of one peer, before everybody else has a turn: some 500 routes, less than a millisecond.
constexpr std::size_t kReadSize = std::size_t{16} * 1024;
constexpr std::size_t kEventsPerRun = 1024;
constexpr std::size_t kWriteMax = std::size_t{64} * 1024;
// More than that are closed without waiting for the peer to have read why.
constexpr std::size_t kLingeringMax = 64;
constexpr int kBacklog = 16;

tcp::endpoint endpoint_of(const IpAddress& address, std::uint16_t port) {
    if (address.is_v4()) {
        asio::ip::address_v4::bytes_type bytes{};
        std::ranges::copy(address.bytes(), bytes.begin());
        return {asio::ip::address_v4(bytes), port};
    }
    asio::ip::address_v6::bytes_type bytes{};
    std::ranges::copy(address.bytes(), bytes.begin());
    return {asio::ip::address_v6(bytes), port};
}

IpAddress address_of(const tcp::endpoint& endpoint) {
    if (endpoint.address().is_v4()) {
        const auto bytes = endpoint.address().to_v4().to_bytes();
        return IpAddress::v4(bytes[0], bytes[1], bytes[2], bytes[3]);
    }
    IpAddress::Bytes bytes{};
    std::ranges::copy(endpoint.address().to_v6().to_bytes(), bytes.begin());
    return IpAddress::v6(bytes);
}

tcp protocol_of(const IpAddress& address) {
    return address.is_v4() ? tcp::v4() : tcp::v6();
}

std::string place_of(const BgpPeer& peer) {
    return fmt::format("{} port {}", peer.address.to_string(), peer.port);
}

Error no_connection(const BgpPeer& peer, int number) {
    const auto error = [number](std::string text) {
        return Error{.code = Errc::System, .text = std::move(text), .system_errno = number};
    };
    switch (number) {
        case ECONNREFUSED:
            return error(
                fmt::format("{} refuses connections (does its BGP listen there?)", place_of(peer)));
        case EADDRNOTAVAIL:
            return error(fmt::format("this leaf has no address {} to connect from",
                                     peer.source ? peer.source->to_string() : "at all"));
        default:
            return error(
                fmt::format("cannot connect to {}: {}", place_of(peer), std::strerror(number)));
    }
}

/// Whoever does not accept our packets, or we theirs, says nothing at all.
Error no_answer(const BgpPeer& peer) {
    std::string text = fmt::format("{} does not answer", place_of(peer));
    if (!peer.password.empty() && peer.hops_max != 0) {
        text += " (do the passwords differ, or is it farther away than ttl_security says?)";
    } else if (!peer.password.empty()) {
        text += " (do the passwords differ?)";
    } else if (peer.hops_max != 0) {
        text += " (is it farther away than ttl_security says?)";
    }
    return {.code = Errc::Lost, .text = std::move(text), .system_errno = ETIMEDOUT};
}

}  // namespace

BgpTransport::Connection::Connection(bgp::ConnectionId number, Socket from)
    : id(number), socket(std::move(from)), buffer(kReadSize) {}

BgpTransport::Peer::Peer(asio::io_context& loop, const BgpPeer& from)
    : options(from), session(from.session), timer(loop) {}

BgpTransport::Listener::Listener(asio::io_context& loop, const IpAddress& at, std::uint16_t on)
    : address(at), port(on), acceptor(loop), timer(loop) {}

BgpTransport::BgpTransport(asio::io_context& loop,
                           BgpTransportOptions options,
                           BgpCallbacks callbacks)
    : loop_(loop),
      options_(std::move(options)),
      callbacks_(std::move(callbacks)),
      close_timer_(loop) {}

// Listening ---------------------------------------------------------------------------------------

void BgpTransport::listen(const std::vector<IpAddress>& addresses, std::uint16_t port) {
    std::vector<ListenerPtr> stay;
    for (const ListenerPtr& listener : listeners_) {
        if (listener->port == port && std::ranges::count(addresses, listener->address) != 0) {
            stay.push_back(listener);
            continue;
        }
        error_code ignored;
        listener->open = false;
        listener->timer.cancel();
        listener->acceptor.close(ignored);  // There is nothing to lose.
    }
    listeners_ = std::move(stay);
    for (const IpAddress& address : addresses) {
        const bool known = std::ranges::any_of(
            listeners_, [&](const ListenerPtr& listener) { return listener->address == address; });
        if (!known) {
            listeners_.push_back(std::make_shared<Listener>(loop_, address, port));
            open(listeners_.back());
        }
    }
}

void BgpTransport::open(const ListenerPtr& listener) {
    const auto bound = bind(*listener);
    if (bound) {
        callbacks_.log({.level = Level::Info,
                        .id = "bgp.listening",
                        .text = fmt::format(
                            "address={} port={}", listener->address.to_string(), listener->port)});
        listener->problem.clear();
        accept(listener);
        return;
    }
    error_code ignored;
    listener->acceptor.close(ignored);
    if (listener->problem != bound.error().text) {
        listener->problem = bound.error().text;
        callbacks_.log({.level = Level::Error,
                        .id = "bgp.listen",
                        .text = fmt::format("address={} port={} text=\"{}, will be tried again\"",
                                            listener->address.to_string(),
                                            listener->port,
                                            listener->problem)});
    }
    listener->timer.expires_after(options_.listen_retry);
    listener->timer.async_wait([this, listener](const error_code& error) {
        if (!error && listener->open) {
            open(listener);
        }
    });
}

Result<void> BgpTransport::bind(Listener& listener) {
    Acceptor& acceptor = listener.acceptor;
    const bool v4 = listener.address.is_v4();
    error_code error;
    acceptor.open(protocol_of(listener.address), error);
    if (!error) {
        acceptor.set_option(Acceptor::reuse_address(true), error);
    }
    if (!error && !v4) {
        acceptor.set_option(asio::ip::v6_only(true), error);
    }
    if (error) {
        return fail_errno(error.value(), error.message());
    }
    // The answer to a SYN comes from this socket, before there is another one.
    if (auto set = set_sending(acceptor.native_handle(), v4); !set) {
        return set;
    }
    for (const auto& [address, peer] : peers_) {
        set_password(*peer, listener);
    }
    acceptor.bind(endpoint_of(listener.address, listener.port), error);
    if (!error) {
        acceptor.listen(kBacklog, error);
    }
    if (!error) {
        acceptor.non_blocking(true, error);
    }
    if (error) {
        return fail_errno(error.value(), error.message());
    }
    return {};
}

void BgpTransport::set_password(Peer& peer, Listener& listener) {
    const IpAddress& address = peer.options.address;
    if (!listener.acceptor.is_open() || address.family() != listener.address.family()) {
        return;
    }
    const std::string password = peer.removed ? std::string() : peer.options.password;
    const auto set = set_tcp_password(listener.acceptor.native_handle(), address, password);
    if (!set && !password.empty()) {
        peer.is_unprovable = true;
        callbacks_.log({.level = Level::Error,
                        .id = "bgp.password",
                        .text = fmt::format("peer={} text=\"{}, so its connections are refused\"",
                                            address.to_string(),
                                            set.error().text)});
    }
}

void BgpTransport::accept(const ListenerPtr& listener) {
    listener->acceptor.async_accept([this, listener](const error_code& error, Socket socket) {
        if (!listener->open) {
            return;
        }
        if (!error) {
            take(std::move(socket));
            accept(listener);
            return;
        }
        listener->timer.expires_after(options_.accept_pause);
        listener->timer.async_wait([this, listener](const error_code& cancelled) {
            if (!cancelled && listener->open) {
                accept(listener);
            }
        });
    });
}

void BgpTransport::take(Socket socket) {
    error_code error;
    const tcp::endpoint from = socket.remote_endpoint(error);
    if (error) {
        return;  // Gone already.
    }
    const auto found = peers_.find(address_of(from));
    if (found == peers_.end()) {
        ++counters_.strangers;
        callbacks_.log({.level = Level::Warn,
                        .id = "bgp.stranger",
                        .text = fmt::format("address={} text=\"refused: no peer has this address\"",
                                            address_of(from).to_string())});
        return;
    }
    const PeerPtr peer = found->second;
    const bool v4 = peer->options.address.is_v4();
    socket.non_blocking(true, error);
    const bool ready =
        !error && !peer->is_unprovable &&
        set_hops_max(socket.native_handle(), v4, peer->options.hops_max).has_value() &&
        set_sending(socket.native_handle(), v4).has_value();
    const auto id =
        ready ? peer->session.accepted(options_.now()) : std::optional<bgp::ConnectionId>{};
    if (!id) {
        ++counters_.unwanted;
        return;
    }
    ++counters_.accepted;
    socket.set_option(tcp::no_delay(true), error);  // Slower without it, not wrong.
    peer->connections[*id] = std::make_shared<Connection>(*id, std::move(socket));
    run(peer);
}

std::vector<IpAddress> BgpTransport::listening() const {
    std::vector<IpAddress> addresses;
    for (const ListenerPtr& listener : listeners_) {
        if (listener->acceptor.is_open()) {
            addresses.push_back(listener->address);
        }
    }
    return addresses;
}

std::uint16_t BgpTransport::listening_port() const {
    for (const ListenerPtr& listener : listeners_) {
        error_code error;
        const tcp::endpoint endpoint = listener->acceptor.local_endpoint(error);
        if (!error) {
            return endpoint.port();
        }
    }
    return 0;
}

// Peers -------------------------------------------------------------------------------------------

void BgpTransport::add(const BgpPeer& options) {
    const auto peer = std::make_shared<Peer>(loop_, options);
    const bool fresh = peers_.emplace(options.address, peer).second;
    PLANED_ASSERT(fresh);
    for (const ListenerPtr& listener : listeners_) {
        set_password(*peer, *listener);
    }
    peer->session.hold_end_of_rib(holds_end_of_rib_);
    peer->session.start(options_.now());
    run(peer);
}

Result<void> BgpTransport::want(const IpAddress& address,
                                const bgp::Route& route,
                                const bgp::Path& path) {
    const auto found = peers_.find(address);
    if (found == peers_.end()) {
        return {};
    }
    found->second->untold = true;
    return found->second->session.want(route, path);
}

void BgpTransport::unwant(const IpAddress& address, const bgp::RouteKey& key) {
    if (const auto found = peers_.find(address); found != peers_.end()) {
        found->second->untold = true;
        found->second->session.unwant(key);
    }
}

void BgpTransport::hold_end_of_rib(bool hold) {
    if (std::exchange(holds_end_of_rib_, hold) == hold) {
        return;
    }
    for (const auto& [address, peer] : peers_) {
        peer->session.hold_end_of_rib(hold);
        peer->untold = true;
    }
}

void BgpTransport::flush() {
    std::vector<PeerPtr> untold;
    for (const auto& [address, peer] : peers_) {
        if (std::exchange(peer->untold, false)) {
            untold.push_back(peer);
        }
    }
    for (const PeerPtr& peer : untold) {
        if (!peer->removed) {
            run(peer);
        }
    }
}

void BgpTransport::remove(const IpAddress& address, std::string_view text) {
    const auto found = peers_.find(address);
    if (found == peers_.end()) {
        return;
    }
    const PeerPtr peer = found->second;
    peers_.erase(found);
    peer->session.stop(text, options_.now());
    while (const auto event = peer->session.poll_event()) {
        if (const auto* const unwanted = std::get_if<bgp::ConnectionUnwanted>(&*event)) {
            disconnect(peer, *unwanted);
        }
    }
    peer->removed = true;
    peer->timer.cancel();
    for (const ListenerPtr& listener : listeners_) {
        set_password(*peer, *listener);
    }
}

const bgp::Session* BgpTransport::session(const IpAddress& peer) const {
    const auto found = peers_.find(peer);
    return found == peers_.end() ? nullptr : &found->second->session;
}

/// After every call of the session.
void BgpTransport::run(const PeerPtr& peer) {
    std::size_t left = kEventsPerRun;
    do {
        while (left > 0) {
            const auto event = peer->session.poll_event();
            if (!event) {
                break;
            }
            --left;
            carry_out(peer, *event);
        }
    } while (write_all(peer) && left > 0);
    if (left == 0) {
        if (!std::exchange(peer->goes_on, true)) {
            asio::post(loop_, [this, peer] {
                peer->goes_on = false;
                if (!peer->removed) {
                    run(peer);
                }
            });
        }
    } else {
        for (const auto& [id, connection] : peer->connections) {
            read(peer, connection);
        }
    }
    arm(peer);
}

void BgpTransport::carry_out(const PeerPtr& peer, const bgp::Event& event) {
    if (const auto* const wanted = std::get_if<bgp::ConnectionWanted>(&event)) {
        connect(peer, wanted->id);
    } else if (const auto* const unwanted = std::get_if<bgp::ConnectionUnwanted>(&event)) {
        disconnect(peer, *unwanted);
    } else {
        callbacks_.on_event(peer->options.address, event);
    }
}

// Connections come and go -------------------------------------------------------------------------

void BgpTransport::connect(const PeerPtr& peer, bgp::ConnectionId id) {
    const auto connection = std::make_shared<Connection>(id, Socket(loop_));
    if (const auto prepared = prepare(connection->socket, peer->options); !prepared) {
        fail(peer, id, prepared.error());
        return;
    }
    connection->connecting = true;
    peer->connections[id] = connection;
    connection->socket.async_connect(endpoint_of(peer->options.address, peer->options.port),
                                     [this, peer, connection](const error_code& error) {
                                         if (connection->open && !peer->removed) {
                                             on_connect(peer, connection, error);
                                         }
                                     });
}

Result<void> BgpTransport::prepare(Socket& socket, const BgpPeer& peer) {
    const bool v4 = peer.address.is_v4();
    error_code error;
    socket.open(protocol_of(peer.address), error);
    if (!error) {
        socket.non_blocking(true, error);
    }
    if (!error) {
        socket.set_option(tcp::no_delay(true), error);
    }
    if (!error && peer.source) {
        socket.bind(endpoint_of(*peer.source, 0), error);
    }
    if (error) {
        return tl::unexpected(no_connection(peer, error.value()));
    }
    const int fd = socket.native_handle();
    auto set = set_sending(fd, v4);
    if (set) {
        set = set_hops_max(fd, v4, peer.hops_max);
    }
    if (set && !peer.password.empty()) {
        set = set_tcp_password(fd, peer.address, peer.password);
    }
    return set;
}

void BgpTransport::on_connect(const PeerPtr& peer,
                              const ConnectionPtr& connection,
                              const error_code& error) {
    if (error) {
        peer->connections.erase(connection->id);
        connection->open = false;
        fail(peer, connection->id, no_connection(peer->options, error.value()));
    } else {
        connection->connecting = false;
        peer->session.connected(connection->id, options_.now());
    }
    run(peer);
}

void BgpTransport::fail(const PeerPtr& peer, bgp::ConnectionId id, const Error& why) {
    peer->session.connect_failed(id, options_.now());
    callbacks_.on_unreachable(peer->options.address, why);
}

void BgpTransport::disconnect(const PeerPtr& peer, const bgp::ConnectionUnwanted& unwanted) {
    const auto found = peer->connections.find(unwanted.id);
    if (found == peer->connections.end()) {
        return;
    }
    const ConnectionPtr connection = found->second;
    peer->connections.erase(found);
    connection->open = false;
    if (!connection->connecting) {
        say_goodbye(connection, unwanted.last_words);
        return;
    }
    error_code ignored;
    connection->socket.close(ignored);
    if (peer->session.state() == bgp::State::Connect) {
        callbacks_.on_unreachable(peer->options.address, no_answer(peer->options));
    }
}

/// A socket that is closed with unread bytes in it resets the connection, and what the peer has not
/// read by then is lost, our reasons with it.
void BgpTransport::say_goodbye(const ConnectionPtr& connection, const bgp::Bytes& last_words) {
    error_code error;
    if (!last_words.empty() && lingering_.size() < kLingeringMax) {
        (void)connection->socket.write_some(asio::buffer(last_words), error);
        if (!error) {
            connection->socket.shutdown(Socket::shutdown_send, error);
        }
        if (!error) {
            linger(connection);
            return;
        }
    }
    connection->socket.close(error);
}

void BgpTransport::linger(const ConnectionPtr& connection) {
    lingering_.insert(connection);
    const auto timer = std::make_shared<asio::steady_timer>(loop_, options_.linger);
    timer->async_wait([this, connection, timer](const error_code& cancelled) {
        if (!cancelled) {
            let_go(connection);
        }
    });
    drop_rest(connection, timer);
}

/// A read that was begun for the session ends by itself and does nothing more.
void BgpTransport::drop_rest(const ConnectionPtr& connection,
                             const std::shared_ptr<asio::steady_timer>& timer) {
    connection->socket.async_wait(Socket::wait_read, [this, connection, timer](error_code error) {
        if (lingering_.count(connection) == 0) {
            return;
        }
        std::array<std::uint8_t, 4096> dropped{};
        constexpr int kPieces = 4;
        for (int i = 0; i < kPieces && !error; ++i) {
            (void)connection->socket.read_some(asio::buffer(dropped), error);
        }
        if (!error || error == asio::error::would_block) {
            drop_rest(connection, timer);
            return;
        }
        timer->cancel();
        let_go(connection);
    });
}

void BgpTransport::let_go(const ConnectionPtr& connection) {
    error_code ignored;
    connection->socket.close(ignored);
    lingering_.erase(connection);
    if (done_ && lingering_.empty()) {
        finish();
    }
}

void BgpTransport::lose(const PeerPtr& peer, const ConnectionPtr& connection) {
    error_code ignored;
    connection->open = false;
    connection->socket.close(ignored);
    peer->connections.erase(connection->id);
    peer->session.lost(connection->id, options_.now());
}

// Bytes -------------------------------------------------------------------------------------------

void BgpTransport::read(const PeerPtr& peer, const ConnectionPtr& connection) {
    if (connection->connecting || std::exchange(connection->reading, true)) {
        return;
    }
    connection->socket.async_read_some(
        asio::buffer(connection->buffer),
        [this, peer, connection](const error_code& error, std::size_t count) {
            connection->reading = false;
            if (!connection->open || peer->removed) {
                return;
            }
            if (error) {
                lose(peer, connection);
            } else {
                peer->session.receive(
                    connection->id,
                    std::span<const std::uint8_t>(connection->buffer).first(count),
                    options_.now());
            }
            run(peer);
        });
}

bool BgpTransport::write_all(const PeerPtr& peer) {
    std::vector<ConnectionPtr> connections;
    for (const auto& [id, connection] : peer->connections) {
        if (!connection->connecting && !connection->waiting_writable) {
            connections.push_back(connection);
        }
    }
    bool broke = false;
    for (const ConnectionPtr& connection : connections) {
        broke = !write(peer, connection) || broke;
    }
    return broke;
}

bool BgpTransport::write(const PeerPtr& peer, const ConnectionPtr& connection) {
    std::size_t total = 0;
    for (auto bytes = peer->session.pending(connection->id); !bytes.empty();
         bytes = peer->session.pending(connection->id)) {
        error_code error;
        const std::size_t count =
            total < kWriteMax
                ? connection->socket.write_some(asio::buffer(bytes.data(), bytes.size()), error)
                : 0;
        if (count == 0 && (!error || error == asio::error::would_block)) {
            wait_writable(peer, connection);
            return true;
        }
        if (error) {
            lose(peer, connection);
            return false;
        }
        peer->session.written(connection->id, count);
        total += count;
    }
    return true;
}

void BgpTransport::wait_writable(const PeerPtr& peer, const ConnectionPtr& connection) {
    connection->waiting_writable = true;
    connection->socket.async_wait(Socket::wait_write,
                                  [this, peer, connection](const error_code& error) {
                                      connection->waiting_writable = false;
                                      if (!error && connection->open && !peer->removed) {
                                          run(peer);
                                      }
                                  });
}

// Time --------------------------------------------------------------------------------------------

void BgpTransport::arm(const PeerPtr& peer) {
    const auto at = peer->session.wake_at();
    if (at == peer->armed_at || peer->removed) {
        return;
    }
    peer->armed_at = at;
    if (!at) {
        peer->timer.cancel();
        return;
    }
    peer->timer.expires_after(std::max(Duration::zero(), *at - options_.now()));
    peer->timer.async_wait([this, peer](const error_code& error) {
        if (!error && !peer->removed) {
            peer->armed_at.reset();
            peer->session.tick(options_.now());
            run(peer);
        }
    });
}

// The end -----------------------------------------------------------------------------------------

void BgpTransport::close(std::string_view text, std::function<void()> done) {
    PLANED_ASSERT(!done_);
    done_ = std::move(done);
    listen({}, 0);
    while (!peers_.empty()) {
        remove(peers_.begin()->first, text);
    }
    if (lingering_.empty()) {
        finish();
        return;
    }
    close_timer_.expires_after(options_.close_deadline);
    close_timer_.async_wait([this](const error_code& error) {
        if (!error) {
            finish();
        }
    });
}

void BgpTransport::finish() {
    close_timer_.cancel();
    if (done_) {
        asio::post(loop_, std::exchange(done_, nullptr));
    }
}

}  // namespace planed::io
