// SPDX-License-Identifier: Apache-2.0
#include "io/redis_places.hpp"

#include <filesystem>
#include <fstream>

#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/io/zapi_temp_folder.hpp"

namespace planed::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::string_view kFile = R"({
    "INSTANCES": {"redis": {"hostname": "127.0.0.1", "port": 6379, "unix_socket_path": "/s"},
                  "bare": {}},
    "DATABASES": {"STATE_DB": {"id": 13, "separator": ":", "instance": "redis"}}})";

class RedisPlacesTest : public testing::Test {
protected:
    std::string write(const std::string& name, std::string_view text) {
        const std::filesystem::path path = folder.path() + "/" + name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
        return path;
    }
    static Result<std::vector<RedisPlace>> places(const std::string& file,
                                                  std::string_view name_space = "",
                                                  const std::string& endpoint = "auto") {
        return redis_places({.endpoint = endpoint, .database_config = file}, name_space);
    }
    TempFolder folder;
};

TEST_F(RedisPlacesTest, AutoIsSonicsSocketThenDebiansThenTcp) {
    EXPECT_THAT(redis_places({.endpoint = "auto"}, "").value(),
                ElementsAre(RedisPlace{.unix_socket = "/var/run/redis/redis.sock"},
                            RedisPlace{.unix_socket = "/run/redis/redis-server.sock"},
                            RedisPlace{.host = "127.0.0.1", .port = 6379}));
}

TEST_F(RedisPlacesTest, ConfigDbIsAnotherDatabaseOfTheSamePlaces) {
    EXPECT_THAT(redis_places({.endpoint = "unix:/a"}, "", SonicDatabase::ConfigDb).value(),
                ElementsAre(RedisPlace{.unix_socket = "/a", .database = 4}));
    const std::string file = write("database_config.json", R"({
        "INSTANCES": {"one": {"unix_socket_path": "/1"}, "two": {"unix_socket_path": "/2"}},
        "DATABASES": {"STATE_DB": {"id": 13, "separator": "|", "instance": "one"},
                      "CONFIG_DB": {"id": 14, "separator": "%", "instance": "two"}}})");
    const RedisConfig config{.endpoint = "auto", .database_config = file};
    EXPECT_THAT(redis_places(config, "", SonicDatabase::ConfigDb).value(),
                ElementsAre(RedisPlace{.unix_socket = "/2", .database = 14, .separator = "%"}));
    EXPECT_THAT(places(write("state_only.json", kFile)).value(), SizeIs(2));
    EXPECT_THAT(redis_places({.endpoint = "auto", .database_config = write("s.json", kFile)},
                             "",
                             SonicDatabase::ConfigDb)
                    .error()
                    .text,
                HasSubstr("no CONFIG_DB"));
}

TEST_F(RedisPlacesTest, OffIsNowhere) {
    EXPECT_THAT(redis_places({.endpoint = "off"}, "").value(), IsEmpty());
    EXPECT_THAT(places("/nowhere", "", "off").value(), IsEmpty());
}

TEST_F(RedisPlacesTest, TakesEveryFormOfAnEndpoint) {
    EXPECT_THAT(redis_places({.endpoint = "unix:/a/b.sock"}, "").value(),
                ElementsAre(RedisPlace{.unix_socket = "/a/b.sock"}));
    EXPECT_THAT(redis_places({.endpoint = "tcp:redis-1.example:6380"}, "").value(),
                ElementsAre(RedisPlace{.host = "redis-1.example", .port = 6380}));
    EXPECT_THAT(redis_places({.endpoint = "tcp:[::1]:6380"}, "").value(),
                ElementsAre(RedisPlace{.host = "::1", .port = 6380}));
}

TEST_F(RedisPlacesTest, WritesPlacesAsTheConfigurationDoes) {
    EXPECT_EQ(to_string(RedisPlace{.unix_socket = "/a"}), "unix:/a");
    EXPECT_EQ(to_string(RedisPlace{.host = "::1", .port = 5}), "tcp:[::1]:5");
    EXPECT_EQ(to_string(RedisPlace{.host = "a", .port = 5}), "tcp:a:5");
}

TEST_F(RedisPlacesTest, TakesInstanceNumberAndSeparatorFromTheFile) {
    const std::string file = write("database_config.json", kFile);

    EXPECT_THAT(
        places(file).value(),
        ElementsAre(
            RedisPlace{.unix_socket = "/s", .database = 13, .separator = ":"},
            RedisPlace{.host = "127.0.0.1", .port = 6379, .database = 13, .separator = ":"}));
}

TEST_F(RedisPlacesTest, GoesWhereTheEndpointSaysThoughThereIsAFile) {
    const std::string file = write("database_config.json", kFile);

    EXPECT_THAT(places(file, "", "unix:/other").value(),
                ElementsAre(RedisPlace{.unix_socket = "/other", .database = 13, .separator = ":"}));
}

TEST_F(RedisPlacesTest, FollowsTheIncludeOfItsNamespace) {
    write("redis0/sonic-db/database_config.json", kFile);
    const std::string file = write("redis/sonic-db/database_global.json",
                                   R"({"INCLUDES": [
            {"include": "../../none.json"},
            {"namespace": "asic0", "include": "../../redis0/sonic-db/database_config.json"}]})");

    EXPECT_EQ(places(file, "asic0").value().at(0).database, 13U);
    EXPECT_THAT(places(file, "").error().text, HasSubstr("none.json: No such file"));
    EXPECT_THAT(places(file, "asic1").error().text,
                HasSubstr("neither DATABASES nor an INCLUDES entry for namespace \"asic1\""));
}

TEST_F(RedisPlacesTest, SaysWhatIsWrongWithAFile) {
    EXPECT_THAT(places(folder.path() + "/none").error().text,
                HasSubstr("cannot read " + folder.path() + "/none: No such file"));
    EXPECT_THAT(places(folder.path()).error().text, HasSubstr("is no file"));
    EXPECT_THAT(places(write("a", "x")).error().text, HasSubstr("/a: is not JSON"));
    EXPECT_THAT(
        places(write("b", R"({"DATABASES": {"X": {"id": 1, "separator": "|"}}})")).error().text,
        HasSubstr("/b: no STATE_DB"));
    EXPECT_THAT(
        places(
            write("c",
                  R"({"DATABASES": {"STATE_DB": {"id": 1, "separator": "|", "instance": "i"}}})"))
            .error()
            .text,
        HasSubstr("/c: no instance \"i\""));
    EXPECT_THAT(places(write("d",
                             R"({"INSTANCES": {"i": {}}, "DATABASES": {"STATE_DB": {"id": 1,
                         "separator": "|", "instance": "i"}}})"))
                    .error()
                    .text,
                HasSubstr("neither a unix socket nor host and port"));
    EXPECT_THAT(places(write("e", std::string((1 << 20) + 1, ' '))).error().text,
                HasSubstr("is larger than"));
}

TEST_F(RedisPlacesTest, DoesNotWaitForAFifo) {
    const std::string fifo = folder.path() + "/fifo";
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);

    EXPECT_THAT(places(fifo).error().text, HasSubstr("is no file"));
}

}  // namespace
}  // namespace planed::io
