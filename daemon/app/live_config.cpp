// SPDX-License-Identifier: Apache-2.0
#include "app/live_config.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/core.h>

#include "telemetry/log_line.hpp"

namespace planed {
namespace {

constexpr std::string_view kDatabase = "config_db";

// Of refused rows; what is more is counted. Redis and the log have them all.
constexpr std::size_t kShownMax = 32;

std::string condition_of(const config::RefusedRow& row) {
    return fmt::format("{} {}|{}", kDatabase, row.table, row.key);
}

/// Calls each(text) for what has not been said before.
template <class Each>
void say_fresh(std::set<std::string>& said, const std::vector<std::string>& now, Each each) {
    for (const std::string& text : now) {
        if (!said.contains(text)) {
            each(text);
        }
    }
    said = std::set<std::string>(now.begin(), now.end());
}

}  // namespace

LiveConfig::LiveConfig(boost::asio::io_context& loop,
                       const std::string& state_dir,
                       io::BackgroundWriter& writer,
                       LiveConfigHooks hooks)
    : loop_(loop), hooks_(std::move(hooks)), kept_(state_dir, writer) {}

Config LiveConfig::over(const Config& file) {
    const RedisConfig before = std::exchange(file_, file).redis;
    if (!file_.redis.config_db) {
        end();
        return file_;
    }
    if (!before.config_db) {
        std::string problem;
        const auto kept = kept_.load(problem);
        known_ = kept.has_value();
        in_effect_ = kept.value_or(config::DbRows());
        rows_ = in_effect_;
        if (!problem.empty()) {
            hooks_.log({.level = Level::Error,
                        .id = "config_db.damaged",
                        .text = fmt::format("text=\"{}\"", problem)});
        }
    }
    if (before != file_.redis) {
        begin();
    }
    return merge();
}

void LiveConfig::begin() {
    reader_ = std::make_unique<io::ConfigDbReader>(
        loop_,
        io::ConfigDbReaderOptions{.config = file_.redis, .name_space = io::sonic_namespace()},
        io::ConfigDbCallbacks{.on_rows = [this](config::DbRows rows) { read(std::move(rows)); },
                              .on_trouble = [this] { tell_trouble(); }});
    reader_->start();
}

/// What is kept of CONFIG_DB would be a surprise if it came back after months.
void LiveConfig::end() {
    reader_.reset();
    known_ = true;
    rows_.clear();
    in_effect_.clear();
    kept_.remove();
    set_trouble(std::string(kDatabase), "");
    (void)merge();
}

void LiveConfig::read(config::DbRows rows) {
    tell_trouble();
    if (rows != rows_) {
        rows_ = std::move(rows);
        hooks_.apply(merge());
        hooks_.log({.level = Level::Info,
                    .id = "config_db.read",
                    .text = fmt::format("refused={}", refused_.size())});
    }
    if (!std::exchange(known_, true)) {
        hooks_.known();
    }
}

Config LiveConfig::merge() {
    config::Merged merged = config::merge(file_, rows_, in_effect_);
    if (merged.in_effect != in_effect_) {
        in_effect_ = std::move(merged.in_effect);
        kept_.keep(in_effect_);
    }
    say_refused(merged.refused);
    say_fresh(left_to_sonic_, merged.left_to_sonic, [this](const std::string& name) {
        hooks_.log({.level = Level::Info,
                    .id = "config_db.proxy_arp",
                    .text = fmt::format("interface={} text=\"VLAN_INTERFACE has proxy_arp, which "
                                        "SONiC sets: left alone\"",
                                        name)});
    });
    say_fresh(not_acted_on_, merged.not_acted_on, [this](const std::string& key) {
        hooks_.log({.level = Level::Warn,
                    .id = "config.not_acted_on",
                    .text = fmt::format(
                        "key=\"{}\" text=\"accepted, but this release does not act on it\"", key)});
    });
    if (merged.log_level != log_level_) {
        log_level_ = merged.log_level;
        hooks_.level(parse_level(log_level_));
    }
    return std::move(merged.config);
}

void LiveConfig::say_refused(const std::vector<config::RefusedRow>& refused) {
    if (refused == refused_) {
        return;
    }
    for (const config::RefusedRow& row : refused) {
        if (!std::binary_search(refused_.begin(), refused_.end(), row)) {
            hooks_.log({.level = Level::Error,
                        .id = "config_db.refused",
                        .text = fmt::format(
                            "table={} key={} text=\"{}\"", row.table, row.key, row.reason)});
        }
    }
    std::set<std::string> now;
    for (std::size_t i = 0; i < std::min(refused.size(), kShownMax); ++i) {
        now.insert(condition_of(refused[i]));
        set_trouble(condition_of(refused[i]), refused[i].reason);
    }
    std::vector<std::string> mended;
    std::set_difference(
        told_.begin(), told_.end(), now.begin(), now.end(), std::back_inserter(mended));
    for (const std::string& what : mended) {
        if (what != kDatabase) {
            set_trouble(what, "");
        }
    }
    refused_ = refused;
    hooks_.refused(refused_);
    tell_trouble();
}

/// Of the database as a whole.
void LiveConfig::tell_trouble() {
    std::string text = reader_ ? reader_->trouble() : std::string();
    if (text.empty() && refused_.size() > kShownMax) {
        text = fmt::format("{} more rows are refused", refused_.size() - kShownMax);
    }
    set_trouble(std::string(kDatabase), text);
}

void LiveConfig::set_trouble(const std::string& what, const std::string& text) {
    if (text.empty() ? told_.erase(what) > 0 : true) {
        hooks_.trouble(what, text);
    }
    if (!text.empty()) {
        told_.insert(what);
    }
}

}  // namespace planed
