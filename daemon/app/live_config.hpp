// SPDX-License-Identifier: Apache-2.0
// The configuration that is in effect: planed.yaml's, and over it CONFIG_DB's where
// `redis.config_db` says so. Stands between the file, io/config_db_reader and whoever is to be
// told. Until CONFIG_DB has been read, and while it cannot be, the rows that were last in effect go
// on.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "config/config.hpp"
#include "config/config_db.hpp"
#include "io/background_writer.hpp"
#include "io/config_db_file.hpp"
#include "io/config_db_reader.hpp"
#include "telemetry/note.hpp"

namespace planed {

struct LiveConfigHooks {
    /// CONFIG_DB has changed it.
    std::function<void(Config config)> apply;
    /// is_known() has become true.
    std::function<void()> known;
    /// A condition that `degraded` shows; it ends with an empty text.
    std::function<void(const std::string& what, const std::string& text)> trouble;
    /// All rows that are refused now.
    std::function<void(const std::vector<config::RefusedRow>& rows)> refused;
    /// What LOGGER|planed says; nothing once it says nothing any more.
    std::function<void(std::optional<Level> level)> level;
    std::function<void(const Note& note)> log;
};

class LiveConfig {
public:
    LiveConfig(boost::asio::io_context& loop,
               const std::string& state_dir,
               io::BackgroundWriter& writer,
               LiveConfigHooks hooks);

    /// At start and after each reload: what is in effect with this file. Begins, moves or ends the
    /// reading of CONFIG_DB; hooks.apply is not called for it.
    [[nodiscard]] Config over(const Config& file);
    /// CONFIG_DB is none of our affair, or has been read, in this run or an earlier one. Until then
    /// interfaces may be missing, and what zebra holds of them must not be let go.
    [[nodiscard]] bool is_known() const { return known_; }
    /// Why what is in effect could not be written to the disk, if so.
    [[nodiscard]] std::string problem() const { return kept_.problem(); }

private:
    void begin();
    void end();
    void read(config::DbRows rows);
    [[nodiscard]] Config merge();
    void say_refused(const std::vector<config::RefusedRow>& refused);
    void tell_trouble();
    void set_trouble(const std::string& what, const std::string& text);

    boost::asio::io_context& loop_;
    LiveConfigHooks hooks_;
    io::ConfigDbFile kept_;
    std::unique_ptr<io::ConfigDbReader> reader_;

    Config file_{};
    bool known_ = true;
    config::DbRows rows_;       // As CONFIG_DB had them when it was last read.
    config::DbRows in_effect_;  // As kept_ has them.
    std::vector<config::RefusedRow> refused_;
    std::set<std::string> told_;  // Conditions that are shown, by name.
    std::set<std::string> left_to_sonic_;
    std::set<std::string> not_acted_on_;
    std::string log_level_;
};

}  // namespace planed
