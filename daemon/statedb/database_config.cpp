// SPDX-License-Identifier: Apache-2.0
#include "statedb/database_config.hpp"

#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace planed::statedb {
namespace {

using Json = nlohmann::json;

constexpr std::uint32_t kIdMax = 65'535;
constexpr std::uint32_t kPortMax = 65'535;
constexpr std::size_t kSeparatorMax = 8;

tl::unexpected<Error> wrong(std::string_view key, std::string_view what) {
    return fail(Errc::Invalid, fmt::format("{} {}", key, what));
}

const Json* member(const Json& object, const char* name) {
    const auto found = object.find(name);
    return found == object.end() ? nullptr : &*found;
}

/// Absent: empty.
Result<std::string> text_of(const Json& object, const char* name, std::string_view where) {
    const Json* value = member(object, name);
    if (value == nullptr) {
        return std::string();
    }
    if (!value->is_string()) {
        return wrong(fmt::format("{}.{}", where, name), "is not text");
    }
    return value->get<std::string>();
}

/// Absent: 0.
Result<std::uint32_t> number_of(const Json& object,
                                const char* name,
                                std::string_view where,
                                std::uint32_t max) {
    const Json* value = member(object, name);
    if (value == nullptr) {
        return 0U;
    }
    if (!value->is_number_unsigned() || value->get<std::uint64_t>() > max) {
        return wrong(fmt::format("{}.{}", where, name),
                     fmt::format("is not a number up to {}", max));
    }
    return value->get<std::uint32_t>();
}

Result<DatabaseInstance> instance_of(const Json& json, std::string_view where) {
    if (!json.is_object()) {
        return wrong(where, "is not an object");
    }
    auto host = text_of(json, "hostname", where);
    const auto port = number_of(json, "port", where, kPortMax);
    auto path = text_of(json, "unix_socket_path", where);
    if (!host || !port || !path) {
        return tl::unexpected(!host ? host.error() : !port ? port.error() : path.error());
    }
    return DatabaseInstance{.host = std::move(*host),
                            .port = static_cast<std::uint16_t>(*port),
                            .unix_socket = std::move(*path)};
}

Result<Database> database_of(const Json& json, std::string_view where) {
    if (!json.is_object()) {
        return wrong(where, "is not an object");
    }
    const auto id = number_of(json, "id", where, kIdMax);
    auto separator = text_of(json, "separator", where);
    auto instance = text_of(json, "instance", where);
    if (!id || !separator || !instance) {
        return tl::unexpected(!id ? id.error() : !separator ? separator.error() : instance.error());
    }
    if (!json.contains("id") || separator->empty() || separator->size() > kSeparatorMax) {
        return wrong(where, "needs an id and a short separator");
    }
    return Database{
        .id = *id, .separator = std::move(*separator), .instance = std::move(*instance)};
}

Result<DatabaseConfig::Include> include_of(const Json& json, std::string_view where) {
    if (!json.is_object()) {
        return wrong(where, "is not an object");
    }
    auto file = text_of(json, "include", where);
    auto name_space = text_of(json, "namespace", where);
    if (!file || !name_space) {
        return tl::unexpected(!file ? file.error() : name_space.error());
    }
    if (file->empty()) {
        return wrong(where, "names no file to include");
    }
    return DatabaseConfig::Include{.file = std::move(*file), .name_space = std::move(*name_space)};
}

/// Every member of an object, by name.
template <class Value, class Read>
Result<std::map<std::string, Value, std::less<>>> members_of(const Json& root,
                                                             const char* name,
                                                             Read read) {
    std::map<std::string, Value, std::less<>> values;
    const Json* object = member(root, name);
    if (object == nullptr) {
        return values;
    }
    if (!object->is_object()) {
        return wrong(name, "is not an object");
    }
    for (auto each = object->begin(); each != object->end(); ++each) {
        auto value = read(each.value(), fmt::format("{}.{}", name, each.key()));
        if (!value) {
            return tl::unexpected(value.error());
        }
        values.insert_or_assign(each.key(), std::move(*value));
    }
    return values;
}

Result<std::vector<DatabaseConfig::Include>> includes_of(const Json& root) {
    std::vector<DatabaseConfig::Include> includes;
    const Json* list = member(root, "INCLUDES");
    if (list == nullptr) {
        return includes;
    }
    if (!list->is_array()) {
        return wrong("INCLUDES", "is not a list");
    }
    for (const Json& each : *list) {
        auto include = include_of(each, fmt::format("INCLUDES[{}]", includes.size()));
        if (!include) {
            return tl::unexpected(include.error());
        }
        includes.push_back(std::move(*include));
    }
    return includes;
}

}  // namespace

Result<DatabaseConfig> parse_database_config(std::string_view json) {
    const Json root = Json::parse(json, nullptr, false);
    if (root.is_discarded()) {
        return fail(Errc::Malformed, "is not JSON");
    }
    if (!root.is_object()) {
        return fail(Errc::Invalid, "is not a JSON object");
    }
    auto includes = includes_of(root);
    auto instances = members_of<DatabaseInstance>(root, "INSTANCES", instance_of);
    auto databases = members_of<Database>(root, "DATABASES", database_of);
    if (!includes || !instances || !databases) {
        return tl::unexpected(!includes    ? includes.error()
                              : !instances ? instances.error()
                                           : databases.error());
    }
    return DatabaseConfig{.includes = std::move(*includes),
                          .instances = std::move(*instances),
                          .databases = std::move(*databases)};
}

}  // namespace planed::statedb
