// SPDX-License-Identifier: Apache-2.0
#include "io/config_db_file.hpp"

#include <cstdio>
#include <fstream>
#include <mutex>
#include <sstream>
#include <utility>

#include <unistd.h>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "io/state_file.hpp"

namespace planed::io {
namespace {

using Json = nlohmann::json;

constexpr int kVersion = 1;

tl::unexpected<Error> damaged(std::string text) {
    return fail(Errc::Malformed, std::move(text));
}

/// Calls each(name, value) for every member; false if it is no object, or each() says so.
template <class Each>
bool for_members(const Json& object, Each each) {
    if (!object.is_object()) {
        return false;
    }
    for (auto member = object.begin(); member != object.end(); ++member) {
        if (!each(member.key(), member.value())) {
            return false;
        }
    }
    return true;
}

}  // namespace

std::string print_rows(const config::DbRows& rows) {
    Json tables = Json::object();
    for (const auto& [table, keys] : rows) {
        for (const auto& [key, fields] : keys) {
            Json& row = tables[table][key];
            row = Json::object();
            for (const auto& [name, value] : fields) {
                row[name] = value;
            }
        }
    }
    const Json whole{{"planed_config_db", kVersion}, {"rows", std::move(tables)}};
    constexpr int kIndent = 1;
    return whole.dump(kIndent, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<config::DbRows> parse_rows(std::string_view text) {
    const Json whole = Json::parse(text, nullptr, false);
    if (!whole.is_object()) {
        return damaged("is no JSON object");
    }
    const auto version = whole.find("planed_config_db");
    if (version == whole.end() || *version != kVersion) {
        return damaged(fmt::format("planed_config_db is not {}", kVersion));
    }
    config::DbRows rows;
    const auto field_into = [](config::DbFields& fields) {
        return [&fields](const std::string& name, const Json& value) {
            if (value.is_string()) {
                fields[name] = value.get<std::string>();
            }
            return value.is_string();
        };
    };
    const auto row_into = [&](config::DbTable& table) {
        return [&](const std::string& key, const Json& row) {
            return for_members(row, field_into(table[key]));
        };
    };
    const auto found = whole.find("rows");
    const bool right = found != whole.end() &&
                       for_members(*found, [&](const std::string& name, const Json& table) {
                           return for_members(table, row_into(rows[name]));
                       });
    return right ? Result<config::DbRows>(std::move(rows)) : damaged("rows are not as expected");
}

struct ConfigDbFile::Shared {
    std::string path;
    mutable std::mutex mutex;
    std::string problem;

    void write(const config::DbRows& rows) {
        std::string result = replace_file(path, print_rows(rows));
        const std::lock_guard lock(mutex);
        problem = std::move(result);
    }
};

ConfigDbFile::ConfigDbFile(const std::string& directory, BackgroundWriter& writer)
    : shared_(std::make_shared<Shared>()), writer_(writer) {
    shared_->path = directory + "/config_db";
}

std::optional<config::DbRows> ConfigDbFile::load(std::string& problem) {
    std::ifstream file(shared_->path, std::ios::binary);
    if (!file) {
        return std::nullopt;
    }
    std::ostringstream whole;
    whole << file.rdbuf();
    auto rows = parse_rows(whole.str());
    if (!rows) {
        const std::string aside = shared_->path + ".damaged";
        problem = fmt::format("{}: {}; set aside as {}", shared_->path, rows.error().text, aside);
        (void)std::rename(shared_->path.c_str(), aside.c_str());
        return std::nullopt;
    }
    return std::move(*rows);
}

void ConfigDbFile::keep(const config::DbRows& rows) {
    writer_.post([shared = shared_, rows] { shared->write(rows); });
}

void ConfigDbFile::remove() {
    writer_.post([shared = shared_] {
        (void)::unlink(shared->path.c_str());  // It is not there, most often.
    });
}

std::string ConfigDbFile::problem() const {
    const std::lock_guard lock(shared_->mutex);
    return shared_->problem;
}

}  // namespace planed::io
