// SPDX-License-Identifier: Apache-2.0
// One server-streaming call: at most one message is under way, the next one is made when the client
// has taken it, so a client that does not read costs one message. Any thread may wake or end it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <grpcpp/grpcpp.h>

namespace planed::api {

/// A stream as whoever ends all of them sees it.
class AnyStream {
public:
    AnyStream() = default;
    virtual ~AnyStream() = default;
    AnyStream(const AnyStream&) = delete;
    AnyStream& operator=(const AnyStream&) = delete;
    AnyStream(AnyStream&&) = delete;
    AnyStream& operator=(AnyStream&&) = delete;

    virtual void pump() = 0;  // There may be something to send.
    virtual void end(const grpc::Status& status) = 0;
    virtual bool is_too_old() = 0;  // Asked once a second.
};

template <class Response>
class Stream : public grpc::ServerWriteReactor<Response>, public AnyStream {
public:
    explicit Stream(grpc::CallbackServerContext& context) : context_(context) {}

    using Gone = std::function<void(const std::shared_ptr<AnyStream>&)>;
    /// From now on it keeps itself, until gRPC lets go of it; then `gone` is told.
    void live(std::shared_ptr<AnyStream> self, Gone gone) {
        self_ = std::move(self);
        gone_ = std::move(gone);
    }

    void pump() final {
        for (;;) {
            {
                const std::lock_guard lock(mutex_);
                again_ = true;
                if (busy_ || ended_) {
                    return;
                }
                busy_ = true;
                again_ = false;
            }
            response_.Clear();
            switch (next(response_)) {
                case Next::Message:
                    this->StartWrite(&response_);
                    return;  // Busy until it is taken.
                case Next::End: finish(result_); return;
                case Next::Wait: break;
            }
            std::optional<grpc::Status> ends;
            {
                const std::lock_guard lock(mutex_);
                busy_ = false;
                ends = std::exchange(end_with_, std::nullopt);
                if (!ends && !again_) {
                    return;
                }
            }
            if (ends) {
                end(*ends);
                return;
            }
        }
    }

    void end(const grpc::Status& status) final {
        {
            const std::lock_guard lock(mutex_);
            if (ended_) {
                return;
            }
            if (busy_) {
                end_with_ = status;
                context_.TryCancel();  // The message under way may never be taken.
                return;
            }
            ended_ = true;
        }
        this->Finish(status);
    }

protected:
    enum class Next : std::uint8_t { Message, Wait, End };

    /// Fills the next message. Never called twice at a time.
    virtual Next next(Response& response) = 0;
    /// What next() returns to end the call otherwise than well.
    Next fail_with(const grpc::Status& status) {
        result_ = status;
        return Next::End;
    }

private:
    void OnWriteDone(bool ok) final {
        std::optional<grpc::Status> ends;
        {
            const std::lock_guard lock(mutex_);
            busy_ = false;
            ends = std::exchange(end_with_, std::nullopt);
        }
        if (ends || !ok) {
            end(ends.value_or(grpc::Status::CANCELLED));
        } else {
            pump();
        }
    }
    void OnCancel() final { end(grpc::Status::CANCELLED); }
    void OnDone() final {
        const auto self = std::move(self_);
        const auto gone = std::move(gone_);
        gone(self);
    }

    void finish(const grpc::Status& status) {
        {
            const std::lock_guard lock(mutex_);
            ended_ = true;
        }
        this->Finish(status);
    }

    grpc::CallbackServerContext& context_;
    std::shared_ptr<AnyStream> self_;
    Gone gone_;
    Response response_;
    grpc::Status result_;
    std::mutex mutex_;
    bool busy_ = false;   // Makes a message, or one is under way.
    bool again_ = false;  // Woken while busy.
    bool ended_ = false;  // Finish was called.
    std::optional<grpc::Status> end_with_;
};

}  // namespace planed::api
