// SPDX-License-Identifier: Apache-2.0
// The calls that there are: unary ones that wait for the loop, and streams. Bounded, and ended all
// at once when planed stops. Any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <grpcpp/grpcpp.h>

#include "api/stream.hpp"

namespace planed::api {

inline constexpr std::size_t kCallsMax = 256;

inline const grpc::Status& stopping() {
    static const grpc::Status kStopping(grpc::StatusCode::UNAVAILABLE, "planed is stopping");
    return kStopping;
}

inline grpc::Status exhausted(std::string_view what) {
    return {grpc::StatusCode::RESOURCE_EXHAUSTED,
            fmt::format("too many {} at once, try again in a moment", what)};
}

/// Unary calls that wait for the loop. Whoever takes one out of here finishes it, so it is finished
/// once, even if the loop ends before it has answered.
class Calls {
public:
    /// Nullopt: the call was finished already.
    std::optional<std::uint64_t> open(grpc::ServerUnaryReactor& reactor) {
        std::unique_lock lock(mutex_);
        if (!stopped_ && open_.size() < kCallsMax) {
            open_.emplace(++last_, &reactor);
            return last_;
        }
        const grpc::Status status = stopped_ ? stopping() : exhausted("calls");
        lock.unlock();
        reactor.Finish(status);
        return std::nullopt;
    }
    /// The reactor, if nobody has finished it; the caller does so now.
    grpc::ServerUnaryReactor* take(std::uint64_t id) {
        const std::lock_guard lock(mutex_);
        const auto node = open_.extract(id);
        return node.empty() ? nullptr : node.mapped();
    }
    void stop() {
        std::map<std::uint64_t, grpc::ServerUnaryReactor*> left;
        {
            const std::lock_guard lock(mutex_);
            stopped_ = true;
            left.swap(open_);
        }
        for (const auto& [id, reactor] : left) {
            reactor->Finish(stopping());
        }
    }

private:
    std::mutex mutex_;
    std::map<std::uint64_t, grpc::ServerUnaryReactor*> open_;
    std::uint64_t last_ = 0;
    bool stopped_ = false;
};

/// The streams that there are; they own themselves, here they are found.
class Streams {
public:
    explicit Streams(std::size_t max) : max_(max) {}

    [[nodiscard]] grpc::Status add(const std::shared_ptr<AnyStream>& stream) {
        const std::lock_guard lock(mutex_);
        if (stopped_) {
            return stopping();
        }
        if (streams_.size() >= max_) {
            return exhausted("streams");
        }
        streams_.insert(stream);
        return grpc::Status::OK;
    }
    /// The last reference may be the caller's.
    void remove(const std::shared_ptr<AnyStream>& stream) {
        const std::lock_guard lock(mutex_);
        streams_.erase(stream);
    }
    [[nodiscard]] std::size_t size() const {
        const std::lock_guard lock(mutex_);
        return streams_.size();
    }
    [[nodiscard]] std::vector<std::shared_ptr<AnyStream>> all() const {
        const std::lock_guard lock(mutex_);
        return {streams_.begin(), streams_.end()};
    }
    void stop() {
        {
            const std::lock_guard lock(mutex_);
            stopped_ = true;
        }
        for (const auto& stream : all()) {
            stream->end(stopping());
        }
    }

private:
    std::size_t max_;
    mutable std::mutex mutex_;
    std::set<std::shared_ptr<AnyStream>> streams_;
    bool stopped_ = false;
};

}  // namespace planed::api
