// SPDX-License-Identifier: Apache-2.0
#include "io/redis_places.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/core.h>

#include "statedb/database_config.hpp"

namespace planed::io {
namespace {

constexpr std::string_view kUnix = "unix:";
constexpr std::string_view kTcp = "tcp:";
constexpr std::size_t kFileMax = std::size_t{1} << 20U;

/// Never waits: nothing but a file of sane size is read.
Result<std::string> read_file(const std::string& path) {
    const auto refuse = [&path](int number) {
        return fail_errno(number, fmt::format("cannot read {}: {}", path, strerror(number)));
    };
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) {
        return refuse(errno);
    }
    struct stat status {};
    std::string text(kFileMax + 1, '\0');
    const bool is_file = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
    const ssize_t count = is_file ? ::read(descriptor, text.data(), text.size()) : 0;
    const int number = errno;
    (void)::close(descriptor);
    if (!is_file) {
        return fail(Errc::Invalid, fmt::format("{} is no file", path));
    }
    if (count < 0) {
        return refuse(number);
    }
    text.resize(static_cast<std::size_t>(count));
    if (text.size() > kFileMax) {
        return fail(Errc::Invalid, fmt::format("{} is larger than {} bytes", path, kFileMax));
    }
    return text;
}

Result<statedb::DatabaseConfig> load_one(const std::string& path) {
    const auto text = read_file(path);
    if (!text) {
        return tl::unexpected(text.error());
    }
    auto config = statedb::parse_database_config(*text);
    if (!config) {
        return fail(config.error().code, fmt::format("{}: {}", path, config.error().text));
    }
    return config;
}

/// The file itself, or the one that it includes for our namespace.
Result<statedb::DatabaseConfig> load(const std::string& path, std::string_view name_space) {
    auto config = load_one(path);
    if (!config || !config->databases.empty()) {
        return config;
    }
    const auto include =
        std::find_if(config->includes.begin(), config->includes.end(), [&](const auto& each) {
            return each.name_space == name_space;
        });
    if (include == config->includes.end()) {
        return fail(Errc::Invalid,
                    fmt::format("{}: neither DATABASES nor an INCLUDES entry for namespace \"{}\"",
                                path,
                                name_space));
    }
    // An absolute name replaces the folder.
    return load_one((std::filesystem::path(path).parent_path() / include->file).lexically_normal());
}

std::string_view name_of(SonicDatabase database) {
    switch (database) {
        case SonicDatabase::ConfigDb: return "CONFIG_DB";
        case SonicDatabase::StateDb: return "STATE_DB";
    }
    return "";
}

struct Found {
    statedb::Database database;
    statedb::DatabaseInstance instance;
};

Result<Found> find_database(const RedisConfig& config,
                            std::string_view name_space,
                            SonicDatabase wanted) {
    const auto file = load(config.database_config, name_space);
    if (!file) {
        return tl::unexpected(file.error());
    }
    const auto database = file->databases.find(name_of(wanted));
    if (database == file->databases.end()) {
        return fail(Errc::Invalid,
                    fmt::format("{}: no {}", config.database_config, name_of(wanted)));
    }
    const auto instance = file->instances.find(database->second.instance);
    if (instance == file->instances.end()) {
        return fail(
            Errc::Invalid,
            fmt::format(
                "{}: no instance \"{}\"", config.database_config, database->second.instance));
    }
    return Found{.database = database->second, .instance = instance->second};
}

RedisPlace place_of(std::string_view endpoint) {
    if (endpoint.starts_with(kUnix)) {
        return {.unix_socket = std::string(endpoint.substr(kUnix.size()))};
    }
    endpoint.remove_prefix(kTcp.size());
    const auto colon = endpoint.rfind(':');
    std::string_view host = endpoint.substr(0, colon);
    if (host.starts_with('[')) {
        host = host.substr(1, host.size() - 2);
    }
    RedisPlace place{.host = std::string(host)};
    (void)std::from_chars(endpoint.data() + colon + 1,
                          endpoint.data() + endpoint.size(),
                          place.port);  // The configuration's checks have seen to it.
    return place;
}

std::vector<RedisPlace> places_of(const statedb::DatabaseInstance& instance) {
    std::vector<RedisPlace> places;
    // The unix socket first: the way by TCP ends where the kernel's neighbour table is full
    // (sonic-buildimage issue 2189).
    if (!instance.unix_socket.empty()) {
        places.push_back({.unix_socket = instance.unix_socket});
    }
    if (!instance.host.empty() && instance.port != 0) {
        places.push_back({.host = instance.host, .port = instance.port});
    }
    return places;
}

std::vector<RedisPlace> usual_places() {
    return {place_of("unix:/var/run/redis/redis.sock"),     // SONiC.
            place_of("unix:/run/redis/redis-server.sock"),  // Debian's redis-server.
            place_of("tcp:127.0.0.1:6379")};
}

}  // namespace

std::string to_string(const RedisPlace& place) {
    if (!place.unix_socket.empty()) {
        return fmt::format("unix:{}", place.unix_socket);
    }
    const bool is_v6 = place.host.find(':') != std::string::npos;
    return fmt::format("tcp:{}{}{}:{}", is_v6 ? "[" : "", place.host, is_v6 ? "]" : "", place.port);
}

Result<std::vector<RedisPlace>> redis_places(const RedisConfig& config,
                                             std::string_view name_space,
                                             SonicDatabase wanted) {
    std::vector<RedisPlace> places;
    if (config.endpoint == "off") {
        return places;
    }
    const bool automatic = config.endpoint == "auto";
    if (config.database_config.empty()) {
        places = automatic ? usual_places() : std::vector{place_of(config.endpoint)};
        for (RedisPlace& place : places) {
            place.database = static_cast<std::uint32_t>(wanted);
        }
        return places;
    }
    const auto found = find_database(config, name_space, wanted);
    if (!found) {
        return tl::unexpected(found.error());
    }
    places = automatic ? places_of(found->instance) : std::vector{place_of(config.endpoint)};
    if (places.empty()) {
        return fail(Errc::Invalid,
                    fmt::format("{}: {}'s instance has neither a unix socket nor host and port",
                                config.database_config,
                                name_of(wanted)));
    }
    for (RedisPlace& place : places) {
        place.database = found->database.id;
        place.separator = found->database.separator;
    }
    return places;
}

std::string sonic_namespace() {
    const char* id = std::getenv("NAMESPACE_ID");  // NOLINT(concurrency-mt-unsafe)
    if (id == nullptr || *id == '\0') {
        return {};
    }
    const char* prefix = std::getenv("NAMESPACE_PREFIX");  // NOLINT(concurrency-mt-unsafe)
    return fmt::format("{}{}", prefix == nullptr ? "asic" : prefix, id);
}

}  // namespace planed::io
