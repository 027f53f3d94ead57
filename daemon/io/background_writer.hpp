// SPDX-License-Identifier: Apache-2.0
// One thread that does what may block: lines to stderr, or the state file to disk (each has a
// writer of its own: a journal that hangs must not keep the state from the disk). The loop hands
// over and goes on; what hangs costs lines (counted) or freshness, never a turn, and never the end
// of the daemon.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "net/time.hpp"

namespace planed::io {

class BackgroundWriter {
public:
    static constexpr std::size_t kLinesMax = 4096;

    /// `patience`: how long the destructor waits for what is queued. After that the thread is left
    /// to itself, with all that it needs, until the process ends.
    explicit BackgroundWriter(Duration patience);
    ~BackgroundWriter();
    BackgroundWriter(const BackgroundWriter&) = delete;
    BackgroundWriter& operator=(const BackgroundWriter&) = delete;
    BackgroundWriter(BackgroundWriter&&) = delete;
    BackgroundWriter& operator=(BackgroundWriter&&) = delete;

    /// A line for stderr, newline added here. Dropped and counted if too many wait.
    void line(std::string text);
    /// Any job, in order with the others. It owns what it needs.
    void post(std::function<void()> job);
    /// Waits until everything handed over so far is done; false if that took longer than the
    /// patience.
    bool drain();

private:
    struct Shared;  // With the thread, which may outlive us.

    static void run(const std::shared_ptr<Shared>& shared);

    Duration patience_;
    std::shared_ptr<Shared> shared_;
    std::thread thread_;
};

}  // namespace planed::io
