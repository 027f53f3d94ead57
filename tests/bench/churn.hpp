// SPDX-License-Identifier: Apache-2.0
// Neighbours that change their MAC at a steady rate, each between its own and its pair's: both are
// behind the same port and remain in use (by the IPv6 addresses), so no route changes.
#pragma once

#include <atomic>
#include <cstddef>
#include <thread>

#include "bench/leaf.hpp"

namespace planed::bench {

class Churn {
public:
    /// Begins at once; 0 a second: never. `hosts` is even.
    Churn(const Leaf& leaf, std::size_t hosts, std::size_t per_second);
    ~Churn();
    Churn(const Churn&) = delete;
    Churn& operator=(const Churn&) = delete;

    /// Changes a second that were really made.
    double stop();

private:
    void run();

    Leaf leaf_;
    std::size_t hosts_;
    std::size_t per_second_;
    std::atomic<bool> stop_ = false;
    std::atomic<std::size_t> made_ = 0;
    Nanoseconds began_ = 0;
    std::thread thread_;
};

/// `count` such changes, every host in turn in an order without locality, `per_second` of them.
void change_macs(const Leaf& leaf, std::size_t hosts, std::size_t count, std::size_t per_second);

}  // namespace planed::bench
