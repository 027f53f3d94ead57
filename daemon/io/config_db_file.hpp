// SPDX-License-Identifier: Apache-2.0
// The rows of CONFIG_DB that were last in effect, in `state_dir`: a planed that starts while Redis
// is away goes on with them, and withdraws nobody. One file, replaced as a whole by the background
// thread. A damaged file is set aside and reported, never fatal.
//
// Format: JSON, {"planed_config_db": 1, "rows": {TABLE: {KEY: {FIELD: VALUE}}}}.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "config/config_db.hpp"
#include "io/background_writer.hpp"
#include "net/result.hpp"

namespace planed::io {

std::string print_rows(const config::DbRows& rows);
/// Whatever the text is; what rows may say, config::merge() judges.
Result<config::DbRows> parse_rows(std::string_view text);

class ConfigDbFile {
public:
    ConfigDbFile(const std::string& directory, BackgroundWriter& writer);

    /// Reads the file, if there is one; a damaged one is renamed to `config_db.damaged` and
    /// `problem` says why.
    std::optional<config::DbRows> load(std::string& problem);
    /// These instead of what it has, soon.
    void keep(const config::DbRows& rows);
    /// CONFIG_DB is none of our affair any more.
    void remove();
    /// The error of the last write, if it failed.
    [[nodiscard]] std::string problem() const;

private:
    struct Shared;  // With the writer's thread.

    std::shared_ptr<Shared> shared_;
    BackgroundWriter& writer_;
};

}  // namespace planed::io
