// SPDX-License-Identifier: Apache-2.0
// Whatever happened before: once the sink answers truthfully, it comes to hold what is wanted, and
// then nothing more is sent.
#include <map>
#include <optional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "core/reconciler.hpp"

namespace planed {
namespace {

using Sink = Reconciler<int, int>;
using Table = std::map<int, int>;

constexpr int kKeys = 6;
constexpr int kValues = 3;

// A sink whose operations may be lost, answered late, refused or undone by others.
class SinkWorld {
public:
    explicit SinkWorld(std::uint32_t seed) : random_(seed) {}

    void anything() {
        switch (pick(10)) {
            case 0:
            case 1: want(pick(kKeys), pick(kValues)); return;
            case 2: unwant(pick(kKeys)); return;
            case 3:
            case 4: operate(); return;
            case 5:
            case 6: answer(); return;
            case 7: now_ += std::chrono::milliseconds(pick(4000)); return;
            case 8: interfere(); return;
            case 9: doubt(); return;
        }
    }

    // From here on every operation arrives and is answered at once, and audits are held when asked.
    void be_truthful() {
        unanswered_.clear();
        for (int round = 0; round < 16; ++round) {
            settle_operations();
            now_ += 4s;
            (void)sink_.overdue(now_);
            audit();
        }
    }
    std::size_t operations_of_an_hour() {
        std::size_t operations = 0;
        for (int part = 0; part < 12; ++part) {
            operations += settle_operations();
            now_ += 5min;
            EXPECT_FALSE(sink_.overdue(now_));
            audit();
        }
        return operations + settle_operations();
    }

    [[nodiscard]] const Table& wanted() const { return wanted_; }
    [[nodiscard]] const Table& held() const { return held_; }
    [[nodiscard]] std::size_t size() const { return sink_.size(); }
    [[nodiscard]] bool quiet() { return sink_.quiet() && !sink_.deadline(); }

private:
    int pick(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }

    void want(int key, int value) {
        wanted_[key] = value;
        sink_.want(key, value);
    }
    void unwant(int key) {
        wanted_.erase(key);
        sink_.unwant(key);
    }
    void apply(const Sink::Op& op) {
        if (op.put) {
            held_[op.key] = *op.put;
        } else {
            held_.erase(op.key);
        }
    }
    void operate() {
        if (const auto op = sink_.next(now_)) {
            const bool arrives = pick(4) != 0;
            if (arrives) {
                apply(*op);
            }
            unanswered_.push_back({*op, arrives});
        }
    }
    void answer() {
        if (unanswered_.empty()) {
            return;
        }
        const auto [op, arrived] = unanswered_.front();
        unanswered_.erase(unanswered_.begin());
        if (pick(5) == 0) {
            return;  // The answer is lost.
        }
        const OpResult refusal = pick(2) == 0 && op.put ? OpResult::Rejected : OpResult::Busy;
        sink_.complete(op, arrived ? OpResult::Done : refusal, now_);
    }
    // Somebody else changes the sink, or it forgets all.
    void interfere() {
        const int key = pick(kKeys);
        switch (pick(4)) {
            case 0: held_.erase(key); return;
            case 1: held_[key] = pick(kValues); return;
            case 2: held_.clear(); return;
            case 3:
                unanswered_.clear();
                sink_.forget_actual();
                return;
        }
    }
    void doubt() {
        const int key = pick(kKeys);
        switch (pick(4)) {
            case 0: sink_.reinstall(key); return;
            case 1: sink_.refresh(key); return;
            case 2: sink_.reject(key, now_); return;
            case 3:
                (void)sink_.overdue(now_);
                audit();
                return;
        }
    }
    void audit() {
        sink_.audit_begin(now_);
        for (const auto& [key, value] : held_) {
            sink_.observe(key, value, now_);
        }
        sink_.audit_end(now_);
    }
    std::size_t settle_operations() {
        std::size_t operations = 0;
        while (const auto op = sink_.next(now_)) {
            ++operations;
            apply(*op);
            sink_.complete(*op, OpResult::Done, now_);
        }
        return operations;
    }

    std::mt19937 random_;
    Sink sink_{Sink::Options{.in_flight_max = 3}};
    Table wanted_;
    Table held_;
    std::vector<std::pair<Sink::Op, bool>> unanswered_;
    TimePoint now_{1h};
};

TEST(ReconcilerProperty, EndsWithTheSinkAsWantedAndThenIsSilent) {
    for (std::uint32_t seed = 0; seed < 2000; ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        SinkWorld world(seed);
        for (int step = 0; step < 120; ++step) {
            world.anything();
        }

        world.be_truthful();

        ASSERT_EQ(world.held(), world.wanted());
        ASSERT_EQ(world.operations_of_an_hour(), 0U);
        ASSERT_EQ(world.size(), world.wanted().size());
        ASSERT_TRUE(world.quiet());
    }
}

}  // namespace
}  // namespace planed
