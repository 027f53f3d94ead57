// SPDX-License-Identifier: Apache-2.0
// A reconciler of numbers by name, and a sink that the test plays.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/reconciler.hpp"

namespace planed {

inline void PrintTo(const Reconciler<std::string, int>::Op& op, std::ostream* out) {  // NOLINT
    *out << op.id << ": " << (op.put ? "put " + std::to_string(*op.put) : "delete") << ' '
         << op.key;
}

using Sink = Reconciler<std::string, int>;
using Op = Sink::Op;

class ReconcilerTest : public testing::Test {
protected:
    std::vector<Op> drain() {
        std::vector<Op> ops;
        while (auto op = sink.next(now)) {
            ops.push_back(*op);
        }
        return ops;
    }
    // Wanted, sent and taken.
    void hold(const std::string& key, int value) {
        sink.want(key, value);
        const auto op = sink.next(now);
        ASSERT_TRUE(op.has_value());
        sink.complete(*op, OpResult::Done, now);
    }
    std::vector<Op> after(Duration span) {
        now += span;
        return drain();
    }

    TimePoint now{1h};
    Sink sink{Sink::Options{.in_flight_max = 2}};
};

}  // namespace planed
