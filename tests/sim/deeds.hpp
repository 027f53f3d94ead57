// SPDX-License-Identifier: Apache-2.0
// What a driver of chaos may do, each as often as its weight says; and numbers from the
// environment, by which a person asks for seeds.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <span>

#include "net/assert.hpp"
#include "sim/random.hpp"

namespace planed::sim {

struct Deed {
    unsigned weight = 0;
    bool allowed = true;
    std::function<void()> what;
};

/// At least one is allowed.
inline void do_one(std::span<const Deed> deeds, Random& random) {
    unsigned sum = 0;
    for (const Deed& deed : deeds) {
        sum += deed.allowed ? deed.weight : 0;
    }
    PLANED_ASSERT(sum > 0);
    auto left = static_cast<unsigned>(random.below(sum));
    for (const Deed& deed : deeds) {
        if (!deed.allowed) {
            continue;
        }
        if (left < deed.weight) {
            deed.what();
            return;
        }
        left -= deed.weight;
    }
}

inline std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): one thread.
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace planed::sim
