// SPDX-License-Identifier: Apache-2.0
// io/config_db_reader against a real redis-server.
#include <csignal>
#include <functional>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/config_db_reader.hpp"
#include "system/redis_server.hpp"
#include "unit/io/run_until.hpp"
#include "unit/io/zapi_temp_folder.hpp"

namespace planed::io {
namespace {

using config::DbRows;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

class ConfigDbReaderTest : public testing::Test {
protected:
    ConfigDbReaderTest() {
        (void)std::signal(SIGPIPE, SIG_IGN);
        prepare();
    }

    void prepare() {
        server.ask({"SELECT", "4"});
        server.ask({"CONFIG", "SET", "notify-keyspace-events", "AKE"});
    }
    void put(const std::string& key, const std::string& name, const std::string& value) {
        server.ask({"HSET", key, name, value});
    }
    void start() {
        options.config = {.endpoint = "unix:" + server.socket(), .config_db = true};
        options.backoff_max = 100ms;
        options.not_loaded_retry = 50ms;
        reader = std::make_unique<ConfigDbReader>(loop,
                                                  options,
                                                  ConfigDbCallbacks{.on_rows =
                                                                        [this](DbRows rows) {
                                                                            last = std::move(rows);
                                                                            ++reads;
                                                                        },
                                                                    .on_trouble = [] {}});
        reader->start();
    }
    bool until_reads(std::size_t count) {
        return run_until(loop, [this, count] { return reads >= count; });
    }
    bool until_trouble(const std::string& text) {
        return run_until(loop, [this, text] {
            return text.empty() ? reader->trouble().empty()
                                : reader->trouble().find(text) != std::string::npos;
        });
    }

    TempFolder folder;
    RedisServer server{folder.path()};
    boost::asio::io_context loop{1};
    ConfigDbReaderOptions options;
    DbRows last;
    std::size_t reads = 0;
    std::unique_ptr<ConfigDbReader> reader;
};

TEST_F(ConfigDbReaderTest, ReadsTheRowsThatConcernUsAndNoOthers) {
    put("PLANED_INTERFACE|Vlan1", "max_hosts", "5");
    put("NEIGH|Vlan1|fd00::5", "neigh", "x");
    put("VLAN_INTERFACE|Vlan1", "proxy_arp", "enabled");
    put("VLAN_INTERFACE|Vlan1|10.0.0.1/16", "scope", "global");
    put("LOGGER|orchagent", "LOGLEVEL", "INFO");
    put("PORT|Ethernet0", "mtu", "9100");
    server.ask({"SET", "PLANED|global", "no row"});

    start();

    ASSERT_TRUE(until_reads(1)) << reader->trouble();
    EXPECT_EQ(reader->trouble(), "");
    EXPECT_EQ(last,
              (DbRows{{"NEIGH", {{"Vlan1|fd00::5", {{"neigh", "x"}}}}},
                      {"PLANED_INTERFACE", {{"Vlan1", {{"max_hosts", "5"}}}}},
                      {"VLAN_INTERFACE", {{"Vlan1", {{"proxy_arp", "enabled"}}}}}}));
}

TEST_F(ConfigDbReaderTest, ReadsThousandsOfRows) {
    for (int i = 0; i < 3000; ++i) {
        put(fmt::format("NEIGH|Vlan1|10.0.{}.{}", i / 250, i % 250), "a", "b");
        put(fmt::format("PORT|{}", i), "a", "b");
    }

    start();

    ASSERT_TRUE(until_reads(1)) << reader->trouble();
    EXPECT_THAT(last.at("NEIGH"), SizeIs(3000));
}

TEST_F(ConfigDbReaderTest, ReadsAgainWhenARowChanges) {
    put("PLANED|global", "tag", "5");
    start();
    ASSERT_TRUE(until_reads(1)) << reader->trouble();

    put("PLANED|global", "tag", "6");
    ASSERT_TRUE(run_until(loop, [&] { return last["PLANED"]["global"]["tag"] == "6"; }));
    server.ask({"HDEL", "PLANED|global", "tag"});
    server.ask({"HSET", "PLANED_INTERFACE|Vlan1", "NULL", "NULL"});

    EXPECT_TRUE(run_until(loop, [&] {
        return last == DbRows{{"PLANED_INTERFACE", {{"Vlan1", {{"NULL", "NULL"}}}}}};
    }));
}

TEST_F(ConfigDbReaderTest, ReadsChangesThatComeTogetherOnce) {
    put("PLANED|global", "tag", "5");
    options.gather = 300ms;
    start();
    ASSERT_TRUE(until_reads(1)) << reader->trouble();

    for (int i = 0; i < 100; ++i) {
        put(fmt::format("NEIGH|Vlan1|10.0.0.{}", i), "a", "b");
    }

    ASSERT_TRUE(run_until(loop, [&] { return last["NEIGH"].size() == 100; }));
    EXPECT_EQ(reads, 2U);
}

TEST_F(ConfigDbReaderTest, DoesNotBelieveADatabaseThatIsBeingLoaded) {
    put("PLANED|global", "tag", "5");
    server.ask({"SET", "CONFIG_DB_INITIALIZED", "0"});
    start();
    ASSERT_TRUE(until_trouble("CONFIG_DB is not loaded yet"));

    server.ask({"SET", "CONFIG_DB_INITIALIZED", "1"});
    ASSERT_TRUE(until_reads(1));
    EXPECT_EQ(reader->trouble(), "");
    // Where it has been, its absence says something.
    server.ask({"DEL", "CONFIG_DB_INITIALIZED"});
    ASSERT_TRUE(until_trouble("CONFIG_DB is not loaded yet"));
    server.ask({"FLUSHDB"});
    ASSERT_TRUE(until_trouble("CONFIG_DB is empty"));

    EXPECT_EQ(reads, 1U);
    EXPECT_THAT(last, SizeIs(1));
}

TEST_F(ConfigDbReaderTest, ReadsAgainAndAgainWhereRedisTellsNothing) {
    server.ask({"CONFIG", "SET", "notify-keyspace-events", "Kl"});
    put("PLANED|global", "tag", "5");
    options.untold_interval = 50ms;
    start();
    ASSERT_TRUE(until_reads(1));
    EXPECT_THAT(reader->trouble(), HasSubstr("does not tell of changes"));

    put("PLANED|global", "tag", "6");
    EXPECT_TRUE(run_until(loop, [&] { return last["PLANED"]["global"]["tag"] == "6"; }));
    server.ask({"CONFIG", "SET", "notify-keyspace-events", "Kgh"});
    EXPECT_TRUE(until_trouble(""));
}

TEST_F(ConfigDbReaderTest, ComesBackWithTheServer) {
    put("PLANED|global", "tag", "5");
    start();
    ASSERT_TRUE(until_reads(1));

    server.kill();
    ASSERT_TRUE(until_trouble("CONFIG_DB is not read: "));
    EXPECT_THAT(reader->trouble(), StartsWith("CONFIG_DB is not read: "));
    server.start();
    prepare();
    put("PLANED|global", "tag", "6");

    ASSERT_TRUE(until_reads(2));
    EXPECT_EQ(reader->trouble(), "");
    EXPECT_EQ(last["PLANED"]["global"]["tag"], "6");
}

TEST_F(ConfigDbReaderTest, GivesAServerUpThatDoesNotAnswer) {
    put("PLANED|global", "tag", "5");
    options.give_up_after = 200ms;
    options.audit_interval = 50ms;
    start();
    ASSERT_TRUE(until_reads(1));

    server.signal(SIGSTOP);
    EXPECT_TRUE(until_trouble("no answer"));
    server.signal(SIGCONT);

    const std::size_t before = reads;
    EXPECT_TRUE(until_reads(before + 1)) << reader->trouble();
}

TEST_F(ConfigDbReaderTest, SaysWhereNobodyIs) {
    server.kill();
    start();

    ASSERT_TRUE(until_trouble("CONFIG_DB is not read: unix:"));

    EXPECT_EQ(reads, 0U);
}

TEST_F(ConfigDbReaderTest, SaysThatAPasswordIsAskedFor) {
    server.ask({"CONFIG", "SET", "requirepass", "secret"});
    start();

    EXPECT_TRUE(until_trouble("NOAUTH")) << reader->trouble();
}

TEST_F(ConfigDbReaderTest, MayEndAtAnyTime) {
    put("PLANED|global", "tag", "5");
    for (int i = 0; i < 20; ++i) {
        start();
        for (int k = 0; k < i; ++k) {
            (void)loop.run_one_for(5ms);
        }
        reader.reset();
        loop.restart();
    }
    (void)loop.poll();
    EXPECT_THAT(folder.path(), testing::Not(IsEmpty()));
}

}  // namespace
}  // namespace planed::io
