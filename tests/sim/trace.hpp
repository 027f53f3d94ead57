// SPDX-License-Identifier: Apache-2.0
// The last steps of a world, for a person who reads why a seed failed. Off while seeds run by the
// hundred: a failed seed is run once more with the trace on, for it does exactly the same again.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "sim/clock.hpp"

namespace planed::sim {

class Trace {
public:
    explicit Trace(const SimClock& clock) : clock_(clock), book_(std::make_shared<Book>()) {}
    /// Writes into the same book, with a label before each line.
    Trace(const Trace& other, std::string label)
        : clock_(other.clock_), label_(std::move(label)), book_(other.book_) {}

    void turn_on(std::size_t steps) { book_->steps = steps; }

    /// `line` is called only if somebody will read it.
    template <class Line>
    void add(Line line) {
        if (book_->steps == 0) {
            return;
        }
        const double seconds = std::chrono::duration<double>(clock_.uptime()).count() - 3600;
        book_->lines.push_back(fmt::format("{:12.6f} {}{}", seconds, label_, line()));
        if (book_->lines.size() > book_->steps) {
            book_->lines.pop_front();
        }
    }
    [[nodiscard]] std::string text() const {
        return fmt::format("{}\n", fmt::join(book_->lines, "\n"));
    }

private:
    struct Book {
        std::size_t steps = 0;
        std::deque<std::string> lines;
    };

    const SimClock& clock_;
    std::string label_;
    std::shared_ptr<Book> book_;
};

}  // namespace planed::sim
