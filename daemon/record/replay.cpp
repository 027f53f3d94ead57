// SPDX-License-Identifier: Apache-2.0
#include "record/replay.hpp"

#include <optional>
#include <variant>

#include <fmt/core.h>

#include "core/engine.hpp"
#include "record/recording.hpp"

namespace planed::record {
namespace {

class Player {
public:
    Player(const Header& header,
           Level level,
           const std::function<void(std::string_view)>& print,
           Replayed& told)
        : engine_(header.config), print_(print), told_(told) {
        engine_.set_level(level);
    }

    /// A turn: how many decisions differ from the recorded ones, in words; nullopt: none.
    std::optional<std::string> play(const Line& line) {
        if (const auto* input = std::get_if<Input>(&line.what)) {
            ++told_.inputs;
            engine_.handle(*input, line.at);
            return std::nullopt;
        }
        const std::uint64_t decided = turn(line.at);
        const std::uint64_t recorded = std::get<Turn>(line.what).decided;
        ++told_.turns;
        told_.decisions += decided;
        if (decided == recorded) {
            return std::nullopt;
        }
        return fmt::format("this turn decides {}, and had decided {}", decided, recorded);
    }

private:
    std::uint64_t turn(TimePoint at) {
        std::uint64_t decided = 0;
        engine_.settle(at);
        while (const auto output = engine_.poll()) {
            decided += std::holds_alternative<Say>(*output) ? 0U : 1U;
            print_(to_line(*output, at));
        }
        (void)engine_.wake_at();  // As the loop does, to set its timer.
        return decided;
    }

    Engine engine_;
    const std::function<void(std::string_view)>& print_;
    Replayed& told_;
};

}  // namespace

Replayed replay(const NextLine& next,
                const std::string& name,
                Level level,
                const std::function<void(std::string_view)>& print) {
    Replayed told;
    std::optional<Player> player;
    std::uint64_t number = 0;
    while (auto text = next()) {
        ++number;
        if (!text->ends_with('\n')) {
            told.cut = true;
            break;
        }
        const auto problem = [&](const std::string& what) {
            if (told.problem.empty()) {
                told.problem = fmt::format("{}:{}: {}", name, number, what);
            }
        };
        if (!player) {
            const auto header = parse_header(*text);
            if (!header) {
                problem(header.error().text);
                return told;
            }
            player.emplace(*header, level, print, told);
            continue;
        }
        const auto line = parse_line(*text);
        if (!line) {
            problem(line.error().text);
            return told;
        }
        if (const auto differs = player->play(*line)) {
            problem(*differs);
        }
    }
    if (!player && told.problem.empty()) {
        told.problem = fmt::format("{}:1: is no recording of planed", name);
    }
    return told;
}

}  // namespace planed::record
