// SPDX-License-Identifier: Apache-2.0
// A zebra on a unix socket inside the test: answers probe, HELLO and end marks as the family's real
// one does, remembers every message, and can be told to misbehave.
#pragma once

#include <algorithm>
#include <array>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>

#include "unit/zapi/vectors.hpp"
#include "zapi/codec.hpp"

namespace planed::io {

class FakeZebra {
public:
    using Protocol = boost::asio::local::stream_protocol;

    struct Message {
        std::uint16_t command = 0;
        zapi::Bytes body;
        bool operator==(const Message&) const = default;
    };

    FakeZebra(boost::asio::io_context& loop, std::string path, zapi::WireFamily speaks)
        : family(speaks), loop_(loop), path_(std::move(path)), acceptor_(loop) {}
    ~FakeZebra() { stop(); }
    FakeZebra(const FakeZebra&) = delete;
    FakeZebra& operator=(const FakeZebra&) = delete;
    FakeZebra(FakeZebra&&) = delete;
    FakeZebra& operator=(FakeZebra&&) = delete;

    void start() {
        (void)::unlink(path_.c_str());
        acceptor_ = Protocol::acceptor(loop_, Protocol::endpoint(path_));
        accept();
    }
    /// As by SIGKILL: the connections end, the file stays.
    void stop() {
        boost::system::error_code ignored;
        acceptor_.close(ignored);
        drop_all();
    }
    void drop_all() {
        for (const auto& connection : connections_) {
            boost::system::error_code ignored;
            connection->socket.close(ignored);
        }
        connections_.clear();
        session_.reset();
        ++dropped_;
    }
    void stop_reading() { ++dropped_; }
    /// Closes the ends whose clients went while keeps_ends_open.
    void forget_ended() {
        connections_.remove_if([](const Handle& c) { return c->ended; });
    }
    /// To the client that said HELLO last.
    void say(const zapi::Bytes& bytes) {
        if (session_) {
            boost::asio::write(session_->socket, boost::asio::buffer(bytes));
        }
    }
    void say(const std::string& vector) {
        const auto all = zapi::load_vectors(family);
        say(std::find_if(all.begin(), all.end(), [&](const auto& v) {
                return v.name == vector;
            })->bytes);
    }
    [[nodiscard]] const zapi::Commands& commands() const { return zapi::commands_of(family); }
    [[nodiscard]] std::size_t count(std::uint16_t command) const {
        return static_cast<std::size_t>(std::count_if(
            heard.begin(), heard.end(), [=](const Message& m) { return m.command == command; }));
    }

    zapi::WireFamily family;
    std::vector<Message> heard;  // From HELLO on; probes are not recorded.
    unsigned accepted = 0;
    unsigned hellos = 0;
    unsigned ended = 0;  // Sessions that the client ended.
    bool answers_hello = true;
    bool answers_marks = true;
    bool closes_at_once = false;
    bool keeps_ends_open = false;  // Does not notice that clients go.
    zapi::Bytes greeting;          // Said to everyone who connects.

private:
    struct Connection {
        explicit Connection(Protocol::socket accepted) : socket(std::move(accepted)) {}
        Protocol::socket socket;
        std::array<std::uint8_t, 65536> buffer{};
        zapi::Framer framer;
        bool said_hello = false;
        bool ended = false;
    };
    using Handle = std::shared_ptr<Connection>;

    void accept() {
        acceptor_.async_accept(
            [this](const boost::system::error_code& error, Protocol::socket socket) {
                if (error) {
                    return;
                }
                ++accepted;
                if (!closes_at_once) {
                    const auto connection = std::make_shared<Connection>(std::move(socket));
                    connections_.push_back(connection);
                    boost::asio::write(connection->socket, boost::asio::buffer(greeting));
                    read(connection);
                }
                accept();
            });
    }

    void read(const Handle& connection) {
        connection->socket.async_read_some(
            boost::asio::buffer(connection->buffer),
            [this, connection, dropped = dropped_](const boost::system::error_code& error,
                                                   std::size_t count) {
                if (dropped != dropped_) {
                    return;
                }
                if (error) {
                    end(connection);
                    return;
                }
                take(*connection, std::span(connection->buffer).first(count));
                read(connection);
            });
    }

    void end(const Handle& connection) {
        ended += connection->said_hello ? 1U : 0U;
        connection->ended = true;
        if (!keeps_ends_open) {
            connections_.remove(connection);
            session_ = session_ == connection ? nullptr : session_;
        }
    }

    void take(Connection& connection, std::span<const std::uint8_t> bytes) {
        connection.framer.feed(bytes);
        for (auto frame = connection.framer.next(); frame && *frame;
             frame = connection.framer.next()) {
            handle(connection, **frame);
        }
    }

    void handle(Connection& connection, const zapi::Frame& frame) {
        const zapi::Header& header = frame.header;
        if (header.command == commands().hello && !frame.body.empty()) {
            hello(connection);
        }
        if (connection.said_hello) {
            heard.push_back({.command = header.command,
                             .body = zapi::Bytes(frame.body.begin(), frame.body.end())});
        }
        if (header.vrf == zapi::kNoVrf) {
            if (!answers_marks) {
                return;
            }
            refuse(connection, header, 1);
        } else if (header.command == zapi::kUnknownCommand ||
                   header.command == commands().capabilities) {
            refuse(connection, header, 2);
        }
    }

    void hello(Connection& connection) {
        ++hellos;
        connection.said_hello = true;
        session_ = *std::find_if(connections_.begin(), connections_.end(), [&](const Handle& c) {
            return c.get() == &connection;
        });
        if (answers_hello) {
            say("capabilities");
        }
    }

    void refuse(Connection& connection, const zapi::Header& refused, std::uint8_t code) {
        zapi::Bytes out;
        zapi::encode_bare(commands().error, refused.vrf, out);
        out[1] = 14;
        out.insert(out.end(), {code, 0, 0, 0});
        boost::asio::write(connection.socket, boost::asio::buffer(out));
    }

    boost::asio::io_context& loop_;
    std::string path_;
    Protocol::acceptor acceptor_;
    std::list<Handle> connections_;
    Handle session_;
    unsigned dropped_ = 0;  // Readers that began before are deaf.
};

}  // namespace planed::io
