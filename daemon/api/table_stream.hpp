// SPDX-License-Identifier: Apache-2.0
// A table as a stream: the loop sets what it is made of once, the client takes it message by
// message.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "api/stream.hpp"

namespace planed::api {

inline constexpr int kRowsPerMessage = 256;
inline constexpr int kTableSecondsMax = 60;  // Then whoever does not read makes room for others.

enum class Row : std::uint8_t { Added, Skipped, End };

/// A table out of a Source (a snapshot), row by row into messages.
template <class Request, class Response, class Source>
class TableStream final : public Stream<Response> {
public:
    /// Appends row `index` of the snapshot, if the request asks for it.
    using AddRow = std::function<Row(Response&, const Request&, const Source&, std::size_t index)>;

    /// Is there what the request asks for?
    using Check = std::function<grpc::Status(const Request&, const Source&)>;

    TableStream(grpc::CallbackServerContext& context,
                const Request& request,
                Check check,
                AddRow add)
        : Stream<Response>(context),
          request_(request),
          check_(std::move(check)),
          add_(std::move(add)) {}

    /// pump() after this.
    void set(std::shared_ptr<const Source> snapshot) {
        const std::lock_guard lock(mutex_);
        snapshot_ = std::move(snapshot);
    }
    bool is_too_old() override { return ++seconds_ > kTableSecondsMax; }

protected:
    using Next = typename Stream<Response>::Next;

    Next next(Response& response) override {
        const auto snapshot = held();
        if (!snapshot) {
            return Next::Wait;
        }
        if (index_ == 0 && check_) {
            if (const grpc::Status status = check_(request_, *snapshot); !status.ok()) {
                return this->fail_with(status);
            }
        }
        int rows = 0;
        while (rows < kRowsPerMessage) {
            const Row row = add_(response, request_, *snapshot, index_);
            if (row == Row::End) {
                return rows > 0 ? Next::Message : Next::End;
            }
            rows += row == Row::Added ? 1 : 0;
            ++index_;
        }
        return Next::Message;
    }

private:
    std::shared_ptr<const Source> held() {
        const std::lock_guard lock(mutex_);
        return snapshot_;
    }

    const Request request_;
    Check check_;
    AddRow add_;
    std::mutex mutex_;
    std::shared_ptr<const Source> snapshot_;
    std::size_t index_ = 0;
    std::atomic<int> seconds_ = 0;
};

}  // namespace planed::api
