// SPDX-License-Identifier: Apache-2.0
// One thread that does what may block: lines to stderr, the state file to disk. The loop hands over
// and goes on; a journal or a disk that hangs costs lines (counted) or freshness, never a turn.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace planed::io {

class BackgroundWriter {
public:
    static constexpr std::size_t kLinesMax = 4096;

    BackgroundWriter();
    ~BackgroundWriter();  // Writes what is queued, then joins.
    BackgroundWriter(const BackgroundWriter&) = delete;
    BackgroundWriter& operator=(const BackgroundWriter&) = delete;
    BackgroundWriter(BackgroundWriter&&) = delete;
    BackgroundWriter& operator=(BackgroundWriter&&) = delete;

    /// A line for stderr, newline added here. Dropped and counted if too many wait.
    void line(std::string text);
    /// Any job, in order with the others. It owns what it needs.
    void post(std::function<void()> job);
    /// Waits until everything handed over so far is done.
    void drain();

private:
    void run();

    std::mutex mutex_;
    std::condition_variable work_;
    std::condition_variable idle_;
    std::deque<std::function<void()>> jobs_;
    std::size_t lines_waiting_ = 0;
    std::uint64_t lines_dropped_ = 0;
    bool busy_ = false;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace planed::io
