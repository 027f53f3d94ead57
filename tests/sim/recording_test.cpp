// SPDX-License-Identifier: Apache-2.0
// Whatever happens to a leaf: from what was recorded another engine decides the same.
#include "record/recording.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/replay.hpp"
#include "sim/chaos.hpp"

namespace planed::sim {
namespace {

/// Records every life of a leaf's planed, and plays each again when it is over.
class Tape final : public Witness {
public:
    explicit Tape(SimWorld& world) : world_(world) {
        world.planed.witness = this;
        world.planed.on_start = [this] {
            play();
            add(record::to_line(record::Header{.config = world_.planed.config}));
        };
        world.planed.on_output = [this, before = world.planed.on_output](const Output& output) {
            if (!std::holds_alternative<Say>(output)) {
                decided_.push_back(record::to_line(output, world_.clock.now()));
                ++decided_in_turn_;
            }
            before(output);
        };
        world.planed.on_turn = [this] {
            const record::Turn turn{.decided = std::exchange(decided_in_turn_, 0)};
            add(record::to_line(turn, world_.clock.now()));
        };
    }

    void saw(const Input& input, TimePoint now) override { add(record::to_line(input, now)); }

    void play() {
        const std::vector<std::string> recording = std::exchange(lines_, {});
        const std::vector<std::string> before = std::exchange(decided_, {});
        decided_in_turn_ = 0;
        if (recording.empty()) {
            return;
        }
        std::vector<std::string> again;
        std::size_t at = 0;
        const auto next = [&]() -> std::optional<std::string> {
            return at == recording.size() ? std::nullopt : std::optional(recording[at++] + '\n');
        };
        const record::Replayed told =
            record::replay(next, "tape", Level::Error, [&again](std::string_view line) {
                if (line.find(R"("output":"Say")") == std::string_view::npos) {
                    again.emplace_back(line);
                }
            });
        EXPECT_EQ(told.problem, "");
        EXPECT_EQ(again, before);
        ++lives;
        decisions += told.decisions;
    }

    std::uint64_t lives = 0;
    std::uint64_t decisions = 0;

private:
    void add(std::string line) { lines_.push_back(std::move(line)); }

    SimWorld& world_;
    std::vector<std::string> lines_;
    std::vector<std::string> decided_;  // Since the start, as lines.
    std::uint64_t decided_in_turn_ = 0;
};

TEST(Recording, IsDecidedAgainAsItWas) {
    constexpr std::uint64_t kSeeds =
        2;  // Writing and reading all of it takes ten times as long as living it.
    std::uint64_t lives = 0;
    std::uint64_t decisions = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds && !::testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE(seed);
        std::unique_ptr<Tape> tape;
        const Outcome outcome =
            run_seed(seed, 0, {}, [&](SimWorld& world) { tape = std::make_unique<Tape>(world); });
        EXPECT_THAT(outcome.violations, testing::IsEmpty());
        tape->play();
        lives += tape->lives;
        decisions += tape->decisions;
    }
    EXPECT_GT(lives, kSeeds) << "no planed was started again: restarts are not tested";
    EXPECT_GT(decisions, 1000U);
}

}  // namespace
}  // namespace planed::sim
