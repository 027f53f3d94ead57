// SPDX-License-Identifier: Apache-2.0
// One connection to Redis: hiredis' asynchronous context on an Asio loop. Commands go out in order
// and are answered in order; it knows neither rows nor retries.
//
// A process that uses it ignores SIGPIPE: hiredis writes by write(2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <hiredis/async.h>
#include <hiredis/hiredis.h>

namespace planed::io {

struct RedisLinkCallbacks {
    std::function<void()> on_connected;
    std::function<void(const redisReply&)> on_reply;  // Of the oldest command not yet answered.
    std::function<void()> on_read;                    // After all replies that came at once.
    /// It never connected, or it ended. Nothing else is called afterwards.
    std::function<void(const std::string& why)> on_closed;
};

class RedisLink : public std::enable_shared_from_this<RedisLink> {
public:
    static std::shared_ptr<RedisLink> make(boost::asio::io_context& loop,
                                           RedisLinkCallbacks callbacks);
    RedisLink(boost::asio::io_context& loop, RedisLinkCallbacks callbacks);
    ~RedisLink();
    RedisLink(const RedisLink&) = delete;
    RedisLink& operator=(const RedisLink&) = delete;
    RedisLink(RedisLink&&) = delete;
    RedisLink& operator=(RedisLink&&) = delete;

    /// Neither waits. Empty: under way; else why not, and nothing is called.
    std::string connect_unix(const std::string& path);
    std::string connect_tcp(const std::string& address, std::uint16_t port);

    void send(std::span<const std::string_view> words);
    /// Nothing is called from now on, not from within this call either.
    void close();

private:
    std::string attach(redisAsyncContext* context);
    void want_read();
    void want_write();
    void ended(const std::string& why);

    // What hiredis calls.
    static RedisLink* of(void* link) { return static_cast<RedisLink*>(link); }
    static void add_read(void* link);
    static void drop_read(void* link);
    static void add_write(void* link);
    static void drop_write(void* link);
    static void cleanup(void* link);
    static void connected(const redisAsyncContext* context, int status);
    static void disconnected(const redisAsyncContext* context, int status);
    static void replied(redisAsyncContext* context, void* reply, void* unused);

    boost::asio::posix::stream_descriptor descriptor_;
    RedisLinkCallbacks callbacks_;
    redisAsyncContext* context_ = nullptr;
    std::shared_ptr<RedisLink> held_;  // By hiredis, as long as it may call.
    bool open_ = false;                // Callbacks may be called.
    bool failing_ = false;             // In the callback that says that it never connected.
    bool reads_ = false;
    bool writes_ = false;
    bool read_armed_ = false;
    bool write_armed_ = false;
};

}  // namespace planed::io
