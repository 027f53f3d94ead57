// SPDX-License-Identifier: Apache-2.0
// Where STATE_DB or CONFIG_DB may be: the configuration's endpoint, and SONiC's
// database_config.json where one is named, as a list of places to try in order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "net/result.hpp"

namespace planed::io {

enum class SonicDatabase : std::uint8_t { ConfigDb = 4, StateDb = 6 };  // Their usual numbers.

struct RedisPlace {
    std::string unix_socket{};  // Or else host and port.
    std::string host{};
    std::uint16_t port = 0;
    std::uint32_t database = 6;  // SONiC's STATE_DB.
    std::string separator = "|";
    bool operator==(const RedisPlace&) const = default;
};

/// "unix:/run/redis/redis.sock", "tcp:127.0.0.1:6379", as the configuration writes it.
[[nodiscard]] std::string to_string(const RedisPlace& place);

/// Empty: endpoint is off. Reads the file that the configuration names, if it does, each time anew:
/// it may come later than we do. `name_space`: whose entry of a file with INCLUDES is ours.
[[nodiscard]] Result<std::vector<RedisPlace>> redis_places(
    const RedisConfig& config,
    std::string_view name_space,
    SonicDatabase wanted = SonicDatabase::StateDb);

/// SONiC tells a container of several ASICs whose it is by NAMESPACE_ID and NAMESPACE_PREFIX:
/// "asic0"; empty on the host and where there is one.
[[nodiscard]] std::string sonic_namespace();

}  // namespace planed::io
