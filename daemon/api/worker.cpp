// SPDX-License-Identifier: Apache-2.0
#include "api/worker.hpp"

#include <chrono>
#include <utility>

namespace planed::api {

Worker::Worker(std::function<void()> every_second)
    : every_second_(std::move(every_second)), thread_([this] { run(); }) {}

Worker::~Worker() {
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    wakes_.notify_one();
    thread_.join();
}

void Worker::post(std::function<void()> job) {
    {
        const std::lock_guard lock(mutex_);
        jobs_.push_back(std::move(job));
    }
    wakes_.notify_one();
}

void Worker::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        const bool woken = wakes_.wait_for(
            lock, std::chrono::seconds(1), [this] { return ends_ || !jobs_.empty(); });
        if (!woken) {
            lock.unlock();
            every_second_();
            lock.lock();
            continue;
        }
        if (jobs_.empty()) {
            return;
        }
        auto job = std::move(jobs_.front());
        jobs_.pop_front();
        lock.unlock();
        job();
        job = nullptr;  // What it owns goes without the lock.
        lock.lock();
    }
}

}  // namespace planed::api
