// SPDX-License-Identifier: Apache-2.0
// What is printed of a recording, and what is said of one that is damaged.
#include "record/replay.hpp"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/recording.hpp"
#include "support/leaf.hpp"

namespace planed::record {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

/// Two turns of an engine that serves nothing: the first asks for tables.
class Replay : public testing::Test {
protected:
    Replay() {
        Config served = test::serving({"br0"});
        served.learning.refresh = 30s;
        const auto config = std::make_shared<const Config>(served);
        Engine engine(config);
        lines.push_back(to_line(Header{.config = config}));
        add(engine, ConfigChanged{.config = config}, test::kStart);
        add(engine, StopRequested{}, test::kStart + 1s);
    }

    void add(Engine& engine, const Input& input, TimePoint at) {
        engine.handle(input, at);
        engine.settle(at);
        std::uint64_t decided = 0;
        while (const auto output = engine.poll()) {
            decided += std::holds_alternative<Say>(*output) ? 0U : 1U;
            outputs.push_back(to_line(*output, at));
        }
        lines.push_back(to_line(input, at));
        lines.push_back(to_line(Turn{.decided = decided}, at));
    }

    Replayed play(std::string_view end = "\n", Level level = Level::Info) {
        std::size_t at = 0;
        const auto next = [&]() -> std::optional<std::string> {
            if (at == lines.size()) {
                return std::nullopt;
            }
            const std::string& line = lines[at++];
            return line + std::string(at == lines.size() ? end : "\n");
        };
        printed.clear();
        return replay(
            next, "file", level, [this](std::string_view line) { printed.emplace_back(line); });
    }

    std::vector<std::string> lines;
    std::vector<std::string> outputs;
    std::vector<std::string> printed;
};

TEST_F(Replay, PrintsWhatWasDecided) {
    const Replayed told = play();
    EXPECT_EQ(told.problem, "");
    EXPECT_FALSE(told.cut);
    EXPECT_EQ(told.inputs, 2U);
    EXPECT_EQ(told.turns, 2U);
    EXPECT_GT(told.decisions, 0U);
    EXPECT_EQ(printed, outputs);
    EXPECT_THAT(printed, Contains(HasSubstr(R"("output":"StartDump","kind":"links")")));
    EXPECT_THAT(printed, Contains(HasSubstr(R"("output":"Finish")")));
}

TEST_F(Replay, NamesTheFirstTurnThatDecidesOtherwiseAndGoesOn) {
    lines[2] = to_line(Turn{.decided = 99}, test::kStart);
    const Replayed told = play();
    EXPECT_THAT(told.problem,
                testing::MatchesRegex("file:3: this turn decides [0-9]+, and had decided 99"));
    EXPECT_EQ(told.turns, 2U);
    EXPECT_EQ(printed, outputs);
}

TEST_F(Replay, StopsAtADamagedLine) {
    lines[3] = R"({"at":1,"input":"Nonsense"})";
    const Replayed told = play();
    EXPECT_EQ(told.problem, "file:4: there is no input Nonsense");
    EXPECT_EQ(told.turns, 1U);
}

TEST_F(Replay, LeavesOutALastLineThatIsNotWhole) {
    lines.back().resize(10);
    const Replayed told = play("");
    EXPECT_TRUE(told.cut);
    EXPECT_EQ(told.problem, "");
    EXPECT_EQ(told.turns, 1U);
}

TEST_F(Replay, RefusesWhatIsNoRecording) {
    lines = {"hello"};
    EXPECT_EQ(play().problem, "file:1: is no JSON object");
    lines = {};
    EXPECT_EQ(play("").problem, "file:1: is no recording of planed");
    EXPECT_THAT(printed, IsEmpty());
}

}  // namespace
}  // namespace planed::record
