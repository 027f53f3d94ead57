// SPDX-License-Identifier: Apache-2.0
// A redis-server of the test's own: a process with a unix socket in a folder of the test, ended by
// its process number. It listens nowhere else.
#pragma once

#include <array>
#include <csignal>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <fmt/core.h>
#include <hiredis/hiredis.h>

#include "net/assert.hpp"
#include "net/time.hpp"

namespace planed::io {

class RedisServer {
public:
    explicit RedisServer(const std::string& folder)
        : folder_(folder), socket_(folder + "/redis.sock") {
        start();
    }
    ~RedisServer() { kill(); }
    RedisServer(const RedisServer&) = delete;
    RedisServer& operator=(const RedisServer&) = delete;
    RedisServer(RedisServer&&) = delete;
    RedisServer& operator=(RedisServer&&) = delete;

    [[nodiscard]] const std::string& socket() const { return socket_; }

    void start() {
        (void)::unlink(socket_.c_str());
        child_ = ::fork();
        PLANED_ASSERT(child_ >= 0);
        if (child_ == 0) {
            const std::string log = folder_ + "/redis.log";
            (void)::execlp("redis-server",
                           "redis-server",
                           "--port",
                           "0",
                           "--unixsocket",
                           socket_.c_str(),
                           "--save",
                           "",
                           "--dir",
                           folder_.c_str(),
                           "--logfile",
                           log.c_str(),
                           nullptr);
            ::_exit(127);
        }
        // It loads nothing: it listens within milliseconds.
        for (int i = 0; i < 1000 && !connect(); ++i) {
            (void)::usleep(10'000);
        }
        PLANED_ASSERT(connect());
    }
    /// As a crash: the socket's file stays.
    void kill() {
        client_.reset();
        if (child_ > 0) {
            (void)::kill(child_, SIGKILL);
            (void)::waitpid(child_, nullptr, 0);
            child_ = 0;
        }
    }
    void signal(int number) const { (void)::kill(child_, number); }

    /// One command in database 6; lists are joined by newlines.
    std::string ask(const std::vector<std::string>& words) {
        std::vector<const char*> texts;
        for (const std::string& word : words) {
            texts.push_back(word.c_str());
        }
        PLANED_ASSERT(connect());
        const Reply reply(
            redisCommandArgv(client_.get(), static_cast<int>(texts.size()), texts.data(), nullptr));
        PLANED_ASSERT(reply.pointer != nullptr);
        return text(*static_cast<redisReply*>(reply.pointer));
    }
    std::set<std::string> keys() {
        std::set<std::string> found;
        const std::string all = ask({"KEYS", "*"});
        for (std::size_t at = 0; at < all.size();) {
            const std::size_t end = std::min(all.find('\n', at), all.size());
            found.insert(all.substr(at, end - at));
            at = end + 1;
        }
        return found;
    }

private:
    struct Reply {
        explicit Reply(void* reply) : pointer(reply) {}
        ~Reply() { freeReplyObject(pointer); }
        Reply(const Reply&) = delete;
        Reply& operator=(const Reply&) = delete;
        Reply(Reply&&) = delete;
        Reply& operator=(Reply&&) = delete;
        void* pointer;
    };

    static std::string text(const redisReply& reply) {
        if (reply.type == REDIS_REPLY_INTEGER) {
            return std::to_string(reply.integer);
        }
        std::string all = reply.str == nullptr ? "" : std::string(reply.str, reply.len);
        for (std::size_t i = 0; reply.type == REDIS_REPLY_ARRAY && i < reply.elements; ++i) {
            all += (i == 0 ? "" : "\n") + text(*reply.element[i]);
        }
        return all;
    }

    bool connect() {
        if (client_) {
            return true;
        }
        client_ = Client(redisConnectUnix(socket_.c_str()), &redisFree);
        if (client_ == nullptr || client_->err != 0) {
            client_.reset();
            return false;
        }
        const Reply reply(redisCommand(client_.get(), "SELECT 6"));
        return reply.pointer != nullptr;
    }

    using Client = std::unique_ptr<redisContext, decltype(&redisFree)>;
    std::string folder_;
    std::string socket_;
    pid_t child_ = 0;
    Client client_{nullptr, &redisFree};
};

}  // namespace planed::io
