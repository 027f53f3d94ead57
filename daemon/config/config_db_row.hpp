// SPDX-License-Identifier: Apache-2.0
// One row of CONFIG_DB and what it changes. Its values are laid out as planed.yaml would have them
// and given to the same decoder, so that no rule is written twice. Part of config_db.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/checks.hpp"
#include "config/config.hpp"
#include "config/config_db.hpp"
#include "net/result.hpp"

namespace planed::config {

/// What rows have an effect on.
struct DbEffect {
    Config config{};
    std::vector<std::string> left_to_sonic{};
    std::string log_level{};
};

struct JudgedRow {
    DbFields fields{};  // Those that count.
    /// Carries the row out, or says why it cannot stand beside what is there and changes nothing.
    /// What only shows in the whole, first_fault() finds.
    std::function<Problem(DbEffect&)> apply{};
};

/// An error's text is the reason why the row is refused. `rows`: those that it may refer to.
[[nodiscard]] Result<JudgedRow> judge_row(std::string_view table,
                                          const std::string& key,
                                          const DbFields& fields,
                                          const DbRows& rows);

/// The first fault of the whole in the words of a row of this table, if there is one.
[[nodiscard]] Problem first_fault(const Config& config, std::string_view table);

}  // namespace planed::config
