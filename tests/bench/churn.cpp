// SPDX-License-Identifier: Apache-2.0
#include "bench/churn.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace planed::bench {
namespace {

constexpr std::size_t kTicksPerSecond = 1'000;

// Swaps MACs: the host takes its pair's one in the even rounds and gets its own back in the odd
// ones.
class Swaps {
public:
    Swaps(const Leaf& leaf, std::size_t hosts) : leaf_(leaf), order_(hosts) {
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::mt19937 random(11);  // NOLINT(cert-msc51-cpp): the same order in every run.
        std::shuffle(order_.begin(), order_.end(), random);
    }

    void make(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t number = order_[next_ % order_.size()];
            const bool away = next_ / order_.size() % 2 == 0;
            ++next_;
            changes_.neighbor(
                leaf_.bridge, host(number).v4, host(away ? number ^ 1U : number).mac, kStale);
        }
        (void)changes_.make();
    }

private:
    Leaf leaf_;
    std::vector<std::size_t> order_;
    std::size_t next_ = 0;
    Changes changes_;
};

}  // namespace

Churn::Churn(const Leaf& leaf, std::size_t hosts, std::size_t per_second)
    : leaf_(leaf), hosts_(hosts), per_second_(per_second), began_(now()), thread_([this] {
          run();
      }) {}

Churn::~Churn() {
    if (thread_.joinable()) {
        (void)stop();
    }
}

double Churn::stop() {
    stop_ = true;
    thread_.join();
    return static_cast<double>(made_) * static_cast<double>(kSecond) /
           static_cast<double>(now() - began_);
}

void Churn::run() {
    if (per_second_ == 0) {
        return;
    }
    Swaps swaps(leaf_, hosts_);
    Nanoseconds next = now();
    while (!stop_) {
        swaps.make(per_second_ / kTicksPerSecond);
        made_ += per_second_ / kTicksPerSecond;
        next = next + kSecond / static_cast<Nanoseconds>(kTicksPerSecond);
        sleep_until(next);  // Catches up if it was late.
    }
}

void change_macs(const Leaf& leaf, std::size_t hosts, std::size_t count, std::size_t per_second) {
    Swaps swaps(leaf, hosts);
    const std::size_t at_once = per_second / kTicksPerSecond;
    Nanoseconds next = now();
    for (std::size_t made = 0; made < count; made += at_once) {
        swaps.make(at_once);
        next = next + kSecond / static_cast<Nanoseconds>(kTicksPerSecond);
        sleep_until(next);
    }
}

}  // namespace planed::bench
