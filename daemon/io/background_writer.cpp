// SPDX-License-Identifier: Apache-2.0
#include "io/background_writer.hpp"

#include <cerrno>
#include <csignal>
#include <utility>

#include <unistd.h>

#include <fmt/core.h>

namespace planed::io {
namespace {

void write_whole(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = ::write(fd, text.data(), text.size());
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return;  // Nobody reads stderr any more: there is no one to tell.
        }
        text.remove_prefix(static_cast<std::size_t>(count));
    }
}

}  // namespace

BackgroundWriter::BackgroundWriter() {
    // Signals are the loop's: the thread inherits a mask that blocks them all.
    sigset_t all{};
    sigset_t before{};
    (void)::sigfillset(&all);
    (void)::pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { run(); });
    (void)::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

BackgroundWriter::~BackgroundWriter() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    work_.notify_one();
    thread_.join();
}

void BackgroundWriter::line(std::string text) {
    {
        const std::lock_guard lock(mutex_);
        if (lines_waiting_ >= kLinesMax) {
            ++lines_dropped_;
            return;
        }
        ++lines_waiting_;
        if (const std::uint64_t dropped = std::exchange(lines_dropped_, 0); dropped > 0) {
            text += fmt::format(" lines_dropped={}", dropped);
        }
        text += '\n';
        jobs_.emplace_back([this, text = std::move(text)] {
            write_whole(STDERR_FILENO, text);
            const std::lock_guard inner(mutex_);
            --lines_waiting_;
        });
    }
    work_.notify_one();
}

void BackgroundWriter::post(std::function<void()> job) {
    {
        const std::lock_guard lock(mutex_);
        jobs_.push_back(std::move(job));
    }
    work_.notify_one();
}

void BackgroundWriter::drain() {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return jobs_.empty() && !busy_; });
}

void BackgroundWriter::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        work_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
        if (jobs_.empty()) {
            return;
        }
        const std::function<void()> job = std::move(jobs_.front());
        jobs_.pop_front();
        busy_ = true;
        lock.unlock();
        job();
        lock.lock();
        busy_ = false;
        if (jobs_.empty()) {
            idle_.notify_all();
        }
    }
}

}  // namespace planed::io
