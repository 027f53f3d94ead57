// SPDX-License-Identifier: Apache-2.0
#include "io/redis_link.hpp"

#include <utility>
#include <vector>

#include <boost/asio/post.hpp>

#include "net/assert.hpp"

namespace planed::io {

namespace asio = boost::asio;
using boost::system::error_code;

std::shared_ptr<RedisLink> RedisLink::make(asio::io_context& loop, RedisLinkCallbacks callbacks) {
    return std::make_shared<RedisLink>(loop, std::move(callbacks));
}

RedisLink::RedisLink(asio::io_context& loop, RedisLinkCallbacks callbacks)
    : descriptor_(loop), callbacks_(std::move(callbacks)) {}

RedisLink::~RedisLink() {
    PLANED_ASSERT(context_ == nullptr);  // Else hiredis still holds us.
}

std::string RedisLink::connect_unix(const std::string& path) {
    return attach(redisAsyncConnectUnix(path.c_str()));
}

std::string RedisLink::connect_tcp(const std::string& address, std::uint16_t port) {
    return attach(redisAsyncConnect(address.c_str(), port));
}

std::string RedisLink::attach(redisAsyncContext* context) {
    if (context == nullptr) {
        return "no memory";
    }
    if (context->err != 0) {
        std::string why = context->errstr;
        redisAsyncFree(context);
        return why;
    }
    error_code error;
    descriptor_.assign(context->c.fd, error);
    if (error) {
        redisAsyncFree(context);
        return error.message();
    }
    context_ = context;
    held_ = shared_from_this();
    open_ = true;
    context->data = this;
    context->ev.data = this;
    context->ev.addRead = add_read;
    context->ev.delRead = drop_read;
    context->ev.addWrite = add_write;
    context->ev.delWrite = drop_write;
    context->ev.cleanup = cleanup;
    (void)redisAsyncSetDisconnectCallback(context, disconnected);
    (void)redisAsyncSetConnectCallback(context, connected);  // Waits for the first write event.
    return {};
}

void RedisLink::send(std::span<const std::string_view> words) {
    if (!open_) {
        return;
    }
    std::vector<const char*> texts;
    std::vector<std::size_t> sizes;
    texts.reserve(words.size());
    sizes.reserve(words.size());
    for (const std::string_view word : words) {
        texts.push_back(word.data() == nullptr ? "" : word.data());
        sizes.push_back(word.size());
    }
    (void)redisAsyncCommandArgv(context_,
                                replied,
                                nullptr,
                                static_cast<int>(words.size()),
                                texts.data(),
                                sizes.data());  // Fails only while it ends, which is told.
}

void RedisLink::close() {
    open_ = false;
    if (context_ != nullptr && !failing_) {
        const auto self = shared_from_this();
        redisAsyncFree(context_);  // At once, or after the callback in which we are.
    }
}

void RedisLink::ended(const std::string& why) {
    if (std::exchange(open_, false)) {
        callbacks_.on_closed(why);
    }
}

// Readiness ---------------------------------------------------------------------------------------

void RedisLink::want_read() {
    if (read_armed_ || context_ == nullptr) {
        return;
    }
    read_armed_ = true;
    descriptor_.async_wait(asio::posix::stream_descriptor::wait_read,
                           [self = shared_from_this()](const error_code& error) {
                               self->read_armed_ = false;
                               if (error || self->context_ == nullptr || !self->reads_) {
                                   return;
                               }
                               redisAsyncHandleRead(self->context_);
                               if (self->open_) {
                                   self->callbacks_.on_read();
                               }
                               if (self->reads_) {
                                   self->want_read();
                               }
                           });
}

void RedisLink::want_write() {
    if (write_armed_ || context_ == nullptr) {
        return;
    }
    write_armed_ = true;
    descriptor_.async_wait(asio::posix::stream_descriptor::wait_write,
                           [self = shared_from_this()](const error_code& error) {
                               self->write_armed_ = false;
                               if (error || self->context_ == nullptr || !self->writes_) {
                                   return;
                               }
                               redisAsyncHandleWrite(self->context_);
                               if (self->writes_) {
                                   self->want_write();
                               }
                           });
}

// What hiredis calls ------------------------------------------------------------------------------

void RedisLink::add_read(void* link) {
    of(link)->reads_ = true;
    of(link)->want_read();
}

void RedisLink::drop_read(void* link) {
    of(link)->reads_ = false;
}

void RedisLink::add_write(void* link) {
    of(link)->writes_ = true;
    of(link)->want_write();
}

void RedisLink::drop_write(void* link) {
    of(link)->writes_ = false;
}

/// hiredis is about to close the descriptor and to free the context.
void RedisLink::cleanup(void* link) {
    RedisLink& self = *of(link);
    self.reads_ = false;
    self.writes_ = false;
    self.context_ = nullptr;
    (void)self.descriptor_.release();
    // The disconnect callback still comes: whoever called into hiredis holds us until then.
    asio::post(self.descriptor_.get_executor(), [held = std::move(self.held_)] {});
}

void RedisLink::connected(const redisAsyncContext* context, int status) {
    RedisLink& self = *of(context->data);
    if (status != REDIS_OK) {
        self.failing_ = true;  // hiredis frees the context by itself as soon as we return.
        self.ended(&context->c.errstr[0]);
        return;
    }
    if (self.open_) {
        self.callbacks_.on_connected();
    }
}

void RedisLink::disconnected(const redisAsyncContext* context, int status) {
    of(context->data)->ended(status == REDIS_OK ? "closed" : &context->c.errstr[0]);
}

void RedisLink::replied(redisAsyncContext* context, void* reply, void* /*unused*/) {
    RedisLink& self = *of(context->data);
    if (reply != nullptr && self.open_) {  // Null: it ends, which is told once.
        self.callbacks_.on_reply(*static_cast<redisReply*>(reply));
    }
}

}  // namespace planed::io
