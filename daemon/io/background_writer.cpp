// SPDX-License-Identifier: Apache-2.0
#include "io/background_writer.hpp"

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <string_view>
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

struct BackgroundWriter::Shared {
    std::mutex mutex;
    std::condition_variable work;
    std::condition_variable idle;
    std::deque<std::function<void()>> jobs;
    std::size_t lines_waiting = 0;
    std::uint64_t lines_dropped = 0;
    bool busy = false;
    bool stopping = false;
};

BackgroundWriter::BackgroundWriter(Duration patience)
    : patience_(patience), shared_(std::make_shared<Shared>()) {
    // Signals are the loop's: the thread inherits a mask that blocks them all.
    sigset_t all{};
    sigset_t before{};
    (void)::sigfillset(&all);
    (void)::pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([shared = shared_] { run(shared); });
    (void)::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

BackgroundWriter::~BackgroundWriter() {
    const bool drained = drain();
    {
        const std::lock_guard lock(shared_->mutex);
        shared_->stopping = true;
    }
    shared_->work.notify_one();
    if (drained) {
        thread_.join();
    } else {
        thread_.detach();
    }
}

void BackgroundWriter::line(std::string text) {
    {
        const std::lock_guard lock(shared_->mutex);
        if (shared_->lines_waiting >= kLinesMax) {
            ++shared_->lines_dropped;
            return;
        }
        ++shared_->lines_waiting;
        if (const std::uint64_t dropped = std::exchange(shared_->lines_dropped, 0); dropped > 0) {
            text += fmt::format(" lines_dropped={}", dropped);
        }
        text += '\n';
        shared_->jobs.emplace_back([shared = shared_.get(), text = std::move(text)] {
            write_whole(STDERR_FILENO, text);
            const std::lock_guard inner(shared->mutex);
            --shared->lines_waiting;
        });
    }
    shared_->work.notify_one();
}

void BackgroundWriter::post(std::function<void()> job) {
    {
        const std::lock_guard lock(shared_->mutex);
        shared_->jobs.push_back(std::move(job));
    }
    shared_->work.notify_one();
}

bool BackgroundWriter::drain() {
    std::unique_lock lock(shared_->mutex);
    return shared_->idle.wait_for(
        lock, patience_, [this] { return shared_->jobs.empty() && !shared_->busy; });
}

void BackgroundWriter::run(const std::shared_ptr<Shared>& shared) {
    std::unique_lock lock(shared->mutex);
    while (true) {
        shared->work.wait(lock, [&] { return shared->stopping || !shared->jobs.empty(); });
        if (shared->stopping) {
            return;  // Drained, or given up.
        }
        const std::function<void()> job = std::move(shared->jobs.front());
        shared->jobs.pop_front();
        shared->busy = true;
        lock.unlock();
        job();
        lock.lock();
        shared->busy = false;
        if (shared->jobs.empty()) {
            shared->idle.notify_all();
        }
    }
}

}  // namespace planed::io
