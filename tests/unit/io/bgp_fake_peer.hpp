// SPDX-License-Identifier: Apache-2.0
// A BGP speaker on a loopback address inside the test: takes and makes connections, answers OPEN
// with its own and a KEEPALIVE, remembers every message, and can be told to misbehave.
#pragma once

#include <array>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/unicast.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>

#include "bgp/message.hpp"
#include "bgp/open.hpp"
#include "io/bgp_socket.hpp"
#include "net/ip_address.hpp"

namespace planed::io {

class FakePeer {
public:
    using Tcp = boost::asio::ip::tcp;
    struct Message {
        bgp::MessageType type{};
        bgp::Bytes body{};
    };
    struct Connection {
        explicit Connection(Tcp::socket from) : socket(std::move(from)) {}
        Tcp::socket socket;
        std::array<std::uint8_t, 65536> buffer{};
        bgp::Framer framer;
        std::vector<Message> heard;
        bool ended = false;
    };
    using Handle = std::shared_ptr<Connection>;

    FakePeer(boost::asio::io_context& loop, std::string address)
        : loop_(loop), address_(std::move(address)), acceptor_(loop) {}

    /// On a port of the kernel's choice; the same one again after stop().
    void start() {
        const Tcp::endpoint endpoint(boost::asio::ip::make_address(address_), port_);
        acceptor_.open(endpoint.protocol());
        acceptor_.set_option(Tcp::acceptor::reuse_address(true));
        if (ttl != 0) {
            acceptor_.set_option(boost::asio::ip::unicast::hops(ttl));
        }
        if (!password.empty()) {
            EXPECT_TRUE(
                set_tcp_password(acceptor_.native_handle(), IpAddress::v4(127, 0, 0, 1), password));
        }
        acceptor_.bind(endpoint);
        acceptor_.listen();
        port_ = acceptor_.local_endpoint().port();
        accept();
    }
    void stop() {
        acceptor_.close();
        drop_all();
    }
    void drop_all() {
        for (const Handle& connection : connections) {
            boost::system::error_code ignored;
            connection->socket.close(ignored);
        }
        connections.clear();
    }
    /// To 127.0.0.1 or ::1.
    void connect(std::uint16_t port) {
        const auto from = boost::asio::ip::make_address(address_);
        Tcp::socket socket(loop_, Tcp::endpoint(from, 0));
        if (!password.empty()) {
            EXPECT_TRUE(
                set_tcp_password(socket.native_handle(), IpAddress::v4(127, 0, 0, 1), password));
        }
        const auto connecting = std::make_shared<Connection>(std::move(socket));
        const auto to = boost::asio::ip::make_address(from.is_v4() ? "127.0.0.1" : "::1");
        connecting->socket.async_connect(Tcp::endpoint(to, port),
                                         [this, connecting](boost::system::error_code error) {
                                             if (!error) {
                                                 take(connecting);
                                             }
                                         });
    }
    void say(const bgp::Bytes& bytes) { say(connections.back(), bytes); }
    static void say(const Handle& connection, const bgp::Bytes& bytes) {
        boost::asio::write(connection->socket, boost::asio::buffer(bytes));
    }
    [[nodiscard]] bgp::Bytes open_bytes() const {
        bgp::Bytes bytes;
        bgp::encode_open(open, bytes);
        return bytes;
    }
    [[nodiscard]] std::uint16_t port() const { return port_; }
    /// Of all connections.
    [[nodiscard]] std::size_t count(bgp::MessageType type) const {
        std::size_t result = 0;
        for (const Handle& connection : connections) {
            for (const Message& message : connection->heard) {
                result += message.type == type ? 1 : 0;
            }
        }
        return result;
    }
    /// The last message of the last connection; there must be one.
    [[nodiscard]] const Message& last() const { return connections.back()->heard.back(); }

    bgp::Open open{.as = bgp::AsNumber{65000},
                   .hold_seconds = 90,
                   .id = bgp::RouterId{0x0A420002},
                   .capabilities = {.families = {bgp::AddressFamily{}},
                                    .route_refresh = true,
                                    .four_octet_as = bgp::AsNumber{65000}}};
    bool answers = true;
    int ttl = 0;           // Of its listening socket; 0: as the kernel likes.
    std::string password;  // With 127.0.0.1.
    std::list<Handle> connections;
    unsigned accepted = 0;

private:
    void accept() {
        acceptor_.async_accept([this](boost::system::error_code error, Tcp::socket socket) {
            if (!error) {
                ++accepted;
                take(std::make_shared<Connection>(std::move(socket)));
                accept();
            }
        });
    }
    void take(const Handle& connection) {
        connections.push_back(connection);
        read(connection);
    }
    void read(const Handle& connection) {
        connection->socket.async_read_some(
            boost::asio::buffer(connection->buffer),
            [this, connection](boost::system::error_code error, std::size_t count) {
                if (error) {
                    connection->ended = true;
                    return;
                }
                connection->framer.feed(
                    std::span<const std::uint8_t>(connection->buffer).first(count));
                hear(connection);
                read(connection);
            });
    }
    void hear(const Handle& connection) {
        for (auto frame = connection->framer.next(); frame && *frame;
             frame = connection->framer.next()) {
            const auto& [header, body] = **frame;
            connection->heard.push_back({.type = header.type, .body = {body.begin(), body.end()}});
            if (header.type == bgp::MessageType::Open && answers) {
                bgp::Bytes bytes = open_bytes();
                bgp::encode_keepalive(bytes);
                say(connection, bytes);
            }
        }
    }

    boost::asio::io_context& loop_;
    std::string address_;
    Tcp::acceptor acceptor_;
    std::uint16_t port_ = 0;
};

}  // namespace planed::io
