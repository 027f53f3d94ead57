// SPDX-License-Identifier: Apache-2.0
// One thread that does what the loop has finished with: writing answers into gRPC costs system
// calls that a turn must not pay for. Jobs in order; a tick every second while somebody asks for
// it.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace planed::api {

class Worker {
public:
    explicit Worker(std::function<void()> every_second);
    ~Worker();  // Does what is queued first.
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;
    Worker(Worker&&) = delete;
    Worker& operator=(Worker&&) = delete;

    /// From any thread.
    void post(std::function<void()> job);

private:
    void run();

    std::function<void()> every_second_;
    std::mutex mutex_;
    std::condition_variable wakes_;
    std::deque<std::function<void()>> jobs_;
    bool ends_ = false;
    std::thread thread_;  // Last: it uses all the others.
};

}  // namespace planed::api
