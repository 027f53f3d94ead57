// SPDX-License-Identifier: Apache-2.0
// A netlink socket in notification groups, as af_netlink.c has it: when a message does not fit the
// socket becomes congested, everything is dropped without another word until the reader has emptied
// the queue, and the one ENOBUFS is read before the messages that were queued earlier.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <utility>

#include "core/input.hpp"

namespace planed::sim {

class EventSocket {
public:
    std::function<void()> readable = [] {};

    void push(Input event) {
        if (!open_) {
            return;
        }
        if (congested_ || lose_ > 0 || queue_.size() >= kCapacity) {
            lose_ -= lose_ > 0 ? 1U : 0U;
            overrun_ = overrun_ || !congested_;
            congested_ = true;
            ++dropped_;
        } else {
            queue_.push_back(std::move(event));
        }
        readable();
    }
    /// The next `count` messages find the buffer full.
    void overrun_next(std::size_t count) { lose_ = count; }

    /// ENOBUFS, once each time.
    bool take_overrun() { return std::exchange(overrun_, false); }
    std::optional<Input> receive() {
        if (queue_.empty()) {
            congested_ = false;
            return std::nullopt;
        }
        Input event = std::move(queue_.front());
        queue_.pop_front();
        if (queue_.empty()) {
            congested_ = false;
        }
        return event;
    }
    [[nodiscard]] bool is_readable() const { return overrun_ || !queue_.empty(); }
    [[nodiscard]] std::size_t dropped() const { return dropped_; }

    void open() { open_ = true; }
    void close() {
        open_ = false;
        queue_.clear();
        congested_ = overrun_ = false;
        lose_ = 0;
    }

private:
    static constexpr std::size_t kCapacity = 40'000;  // Of 16 MiB, measured.

    std::deque<Input> queue_;
    bool open_ = false;
    bool congested_ = false;
    bool overrun_ = false;
    std::size_t lose_ = 0;
    std::size_t dropped_ = 0;
};

}  // namespace planed::sim
