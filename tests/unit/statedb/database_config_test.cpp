// SPDX-License-Identifier: Apache-2.0
#include "statedb/database_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace planed::statedb {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kSonic = R"({
    "INSTANCES": {
        "redis": {
            "hostname": "127.0.0.1",
            "port": 6379,
            "unix_socket_path": "/var/run/redis/redis.sock",
            "persistence_for_warm_boot": "yes"
        }
    },
    "DATABASES": {
        "APPL_DB": {"id": 0, "separator": ":", "instance": "redis"},
        "STATE_DB": {"id": 6, "separator": "|", "instance": "redis"}
    },
    "VERSION": "1.0"
})";

TEST(DatabaseConfig, ReadsDatabasesAndTheirInstances) {
    const auto config = parse_database_config(kSonic);

    ASSERT_TRUE(config) << config.error().text;
    EXPECT_EQ(config->databases.at("STATE_DB"),
              (Database{.id = 6, .separator = "|", .instance = "redis"}));
    EXPECT_EQ(config->databases.at("APPL_DB").separator, ":");
    EXPECT_EQ(config->instances.at("redis"),
              (DatabaseInstance{
                  .host = "127.0.0.1", .port = 6379, .unix_socket = "/var/run/redis/redis.sock"}));
}

TEST(DatabaseConfig, ReadsTheNamespacesOfAGlobalFile) {
    const auto config = parse_database_config(R"({
        "INCLUDES": [
            {"include": "../../redis/sonic-db/database_config.json"},
            {"container_name": "database0", "namespace": "asic0",
             "include": "../../redis0/sonic-db/database_config.json"}],
        "VERSION": "1.0"})");

    ASSERT_TRUE(config) << config.error().text;
    EXPECT_THAT(
        config->includes,
        ElementsAre(DatabaseConfig::Include{.file = "../../redis/sonic-db/database_config.json"},
                    DatabaseConfig::Include{.file = "../../redis0/sonic-db/database_config.json",
                                            .name_space = "asic0"}));
}

TEST(DatabaseConfig, PassesOverWhatItDoesNotKnow) {
    EXPECT_TRUE(parse_database_config(R"({"FUTURE": [1, {"a": null}], "DATABASES": {}})"));
    EXPECT_TRUE(parse_database_config("{}"));
}

TEST(DatabaseConfig, SaysWhatIsWrong) {
    struct Wrong {
        std::string_view json;
        std::string_view words;
    };
    for (const auto& [json, words] : std::vector<Wrong>{
             {"", "is not JSON"},
             {"{", "is not JSON"},
             {"[]", "is not a JSON object"},
             {R"({"DATABASES": []})", "DATABASES is not an object"},
             {R"({"INSTANCES": {"redis": 5}})", "INSTANCES.redis is not an object"},
             {R"({"INSTANCES": {"redis": {"port": "x"}}})", "INSTANCES.redis.port is not a number"},
             {R"({"INSTANCES": {"redis": {"port": 65536}}})", "port is not a number up to 65535"},
             {R"({"INSTANCES": {"redis": {"port": -1}}})", "port is not a number"},
             {R"({"INSTANCES": {"redis": {"hostname": 1}}})", "hostname is not text"},
             {R"({"DATABASES": {"STATE_DB": {"id": 6}}})", "STATE_DB needs an id and a short sep"},
             {R"({"DATABASES": {"STATE_DB": {"separator": "|"}}})", "STATE_DB needs an id"},
             {R"({"DATABASES": {"X": {"id": 6.5, "separator": "|"}}})", "X.id is not a number"},
             {R"({"INCLUDES": {}})", "INCLUDES is not a list"},
             {R"({"INCLUDES": [{"namespace": "asic0"}]})", "INCLUDES[0] names no file"},
         }) {
        const auto config = parse_database_config(json);
        ASSERT_FALSE(config) << json;
        EXPECT_THAT(config.error().text, HasSubstr(words)) << json;
    }
}

TEST(DatabaseConfig, BearsDeepNesting) {
    EXPECT_FALSE(parse_database_config(std::string(1'000'000, '[')));
}

}  // namespace
}  // namespace planed::statedb
