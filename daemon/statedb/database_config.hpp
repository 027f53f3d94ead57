// SPDX-License-Identifier: Apache-2.0
// SONiC's database_config.json and database_global.json: which database has which number, separator
// and server. As swss-common lays them down (common/database_config.json, common/dbconnector.cpp);
// keys that we do not know are passed over.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "net/result.hpp"

namespace planed::statedb {

struct DatabaseInstance {
    std::string host{};
    std::uint16_t port = 0;     // 0: none.
    std::string unix_socket{};  // Empty: none.
    bool operator==(const DatabaseInstance&) const = default;
};

struct Database {
    std::uint32_t id = 0;
    std::string separator{};
    std::string instance{};
    bool operator==(const Database&) const = default;
};

struct DatabaseConfig {
    /// database_global.json: another file, relative to this one's folder, for each namespace; the
    /// host's own has an empty name.
    struct Include {
        std::string file{};
        std::string name_space{};
        bool operator==(const Include&) const = default;
    };
    std::vector<Include> includes{};
    std::map<std::string, DatabaseInstance, std::less<>> instances{};
    std::map<std::string, Database, std::less<>> databases{};
    bool operator==(const DatabaseConfig&) const = default;
};

/// Errors say which key is wrong.
[[nodiscard]] Result<DatabaseConfig> parse_database_config(std::string_view json);

}  // namespace planed::statedb
