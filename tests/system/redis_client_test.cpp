// SPDX-License-Identifier: Apache-2.0
// io/redis_client, and the mirror on it, against a real redis-server.
#include "io/redis_client.hpp"

#include <csignal>
#include <functional>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/state_mirror.hpp"
#include "support/leaf.hpp"
#include "system/redis_server.hpp"
#include "unit/io/zapi_temp_folder.hpp"

namespace planed::io {
namespace {

using statedb::Answer;
using statedb::DropRow;
using statedb::MirrorOp;
using statedb::PutRow;
using statedb::ReadBack;
using statedb::ReadRow;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

class LoopTest : public testing::Test {
protected:
    LoopTest() { (void)std::signal(SIGPIPE, SIG_IGN); }

    /// Runs the loop until the claim holds; false if it does not within ten seconds.
    bool run_until(const std::function<bool()>& claim) {
        const TimePoint end = now() + 10s;
        loop.restart();
        while (!claim()) {
            if (now() >= end) {
                return false;
            }
            (void)loop.run_one_for(10ms);
            loop.restart();
        }
        return true;
    }

    TempFolder folder;
    RedisServer server{folder.path()};
    boost::asio::io_context loop{1};
};

class RedisClientTest : public LoopTest {
protected:
    RedisClient& client() {
        if (!client_) {
            client_ = std::make_unique<RedisClient>(loop, options, callbacks());
        }
        return *client_;
    }
    bool connect() {
        client().start();
        return run_until([this] { return ups > 0; });
    }
    /// Carried out, and answered.
    void carry_out(const MirrorOp& op) {
        client().carry_out(op);
        ASSERT_TRUE(run_until([this] { return client().under_way() == 0; }));
    }
    static PutRow put(const std::string& key, bool replace = false) {
        return {.id = 7, .key = key, .fields = {{"a", "1"}, {"b", ""}}, .replace = replace};
    }

    RedisClientOptions options = quick("unix:" + server.socket());
    int ups = 0;
    int downs = 0;
    std::vector<std::string> answers;
    std::map<std::string, std::vector<std::string>> rows;
    std::vector<std::string> wrong_types;
    std::vector<bool> read_backs;
    std::vector<std::vector<std::string>> heartbeats;
    int refused_heartbeats = 0;

private:
    static RedisClientOptions quick(const std::string& endpoint) {
        RedisClientOptions result;
        result.config.endpoint = endpoint;
        result.backoff_first = 1ms;
        result.backoff_max = 20ms;
        result.stalled_after = 50ms;
        result.give_up_after = 150ms;
        result.seed = 1;
        return result;
    }
    static std::string word(Answer answer) {
        switch (answer) {
            case Answer::Done: return "done";
            case Answer::Created: return "created";
            case Answer::Refused: return "refused";
            case Answer::WrongType: return "wrong type";
        }
        return "?";
    }
    RedisCallbacks callbacks() {
        return {
            .on_up = [this](const RedisPlace&) { ++ups; },
            .on_down = [this] { ++downs; },
            .on_answer =
                [this](
                    std::uint64_t id, const std::string& key, Answer answer, std::string_view why) {
                    answers.push_back(fmt::format("{} {} {} {}", id, key, word(answer), why));
                },
            .on_row =
                [this](const std::string& key, std::span<const std::string_view> row) {
                    rows[key] = {row.begin(), row.end()};
                },
            .on_wrong_type = [this](const std::string& key) { wrong_types.push_back(key); },
            .on_read_back = [this](bool complete) { read_backs.push_back(complete); },
            .on_heartbeat =
                [this](std::span<const std::string_view> row) {
                    heartbeats.emplace_back(row.begin(), row.end());
                },
            .on_heartbeat_refused = [this] { ++refused_heartbeats; },
            .on_progress = [] {},
        };
    }

    std::unique_ptr<RedisClient> client_;
};

TEST_F(RedisClientTest, WritesAndRemovesRowsInTheDatabaseOfStateDb) {
    ASSERT_TRUE(connect());

    carry_out(put("PLANED_TABLE|x"));
    EXPECT_EQ(server.ask({"HGETALL", "PLANED_TABLE|x"}), "a\n1\nb\n");
    carry_out(DropRow{.id = 8, .key = "PLANED_TABLE|x"});

    EXPECT_THAT(server.keys(), IsEmpty());
    EXPECT_THAT(answers, ElementsAre("7 PLANED_TABLE|x created ", "8 PLANED_TABLE|x done "));
}

TEST_F(RedisClientTest, TellsARowThatWasThereFromOneThatWasNot) {
    ASSERT_TRUE(connect());

    carry_out(put("PLANED_TABLE|x"));
    carry_out(put("PLANED_TABLE|x"));
    server.ask({"HDEL", "PLANED_TABLE|x", "a"});
    carry_out(put("PLANED_TABLE|x"));

    EXPECT_THAT(
        answers,
        ElementsAre(
            "7 PLANED_TABLE|x created ", "7 PLANED_TABLE|x done ", "7 PLANED_TABLE|x created "));
}

TEST_F(RedisClientTest, ReplacesARowAsOne) {
    server.ask({"HSET", "PLANED_TABLE|x", "old", "field"});
    server.ask({"SET", "PLANED_TABLE|y", "no row"});
    ASSERT_TRUE(connect());

    carry_out(put("PLANED_TABLE|x", true));
    carry_out(put("PLANED_TABLE|y", true));

    EXPECT_EQ(server.ask({"HGETALL", "PLANED_TABLE|x"}), "a\n1\nb\n");
    EXPECT_EQ(server.ask({"HGETALL", "PLANED_TABLE|y"}), "a\n1\nb\n");
    EXPECT_THAT(answers, ElementsAre("7 PLANED_TABLE|x done ", "7 PLANED_TABLE|y done "));
}

TEST_F(RedisClientTest, SaysOfWhatIsNoRowThatItIsNone) {
    server.ask({"SET", "PLANED_TABLE|x", "no row"});
    ASSERT_TRUE(connect());

    carry_out(put("PLANED_TABLE|x"));
    carry_out(ReadBack{});

    EXPECT_THAT(answers, ElementsAre(HasSubstr("7 PLANED_TABLE|x wrong type WRONGTYPE")));
    EXPECT_THAT(wrong_types, ElementsAre("PLANED_TABLE|x"));
}

TEST_F(RedisClientTest, HandsOnWhatAFullDatabaseSays) {
    ASSERT_TRUE(connect());
    server.ask({"CONFIG", "SET", "maxmemory", "1"});

    carry_out(put("PLANED_TABLE|x"));
    carry_out(put("PLANED_TABLE|x", true));

    EXPECT_THAT(answers,
                ElementsAre(HasSubstr("7 PLANED_TABLE|x refused OOM"),
                            HasSubstr("7 PLANED_TABLE|x refused OOM")));
}

TEST_F(RedisClientTest, ReadsBackRowsOfOursAndNoOthers) {
    for (int i = 0; i < 2000; ++i) {
        server.ask({"HSET", fmt::format("PLANED_ROUTE_TABLE|default|{}", i), "a", "b"});
        server.ask({"HSET", fmt::format("OTHER_TABLE|{}", i), "a", "b"});
    }
    server.ask({"HSET", "PLANED|x", "a", "b"});
    server.ask({"HSET", "PLANED_TABLE:x", "a", "b"});
    ASSERT_TRUE(connect());

    carry_out(ReadBack{});

    EXPECT_THAT(read_backs, ElementsAre(true));
    EXPECT_THAT(rows, SizeIs(2000));
    EXPECT_THAT(rows["PLANED_ROUTE_TABLE|default|17"], ElementsAre("a", "b"));
}

TEST_F(RedisClientTest, ReadsBackAnEmptyDatabase) {
    ASSERT_TRUE(connect());

    carry_out(ReadBack{});

    EXPECT_THAT(read_backs, ElementsAre(true));
    EXPECT_THAT(rows, IsEmpty());
}

TEST_F(RedisClientTest, SaysThatAReadBackWasNotWhole) {
    ASSERT_TRUE(connect());
    server.ask({"ACL", "SETUSER", "default", "-scan"});

    carry_out(ReadBack{});

    EXPECT_THAT(read_backs, ElementsAre(false));
}

TEST_F(RedisClientTest, ReadsOneRow) {
    server.ask({"HSET", "PLANED_TABLE|global", "a", "b"});
    ASSERT_TRUE(connect());

    carry_out(ReadRow{.key = "PLANED_TABLE|global"});
    carry_out(ReadRow{.key = "PLANED_TABLE|none"});
    server.ask({"SET", "PLANED_TABLE|global", "no row"});
    carry_out(ReadRow{.key = "PLANED_TABLE|global"});

    EXPECT_THAT(heartbeats, ElementsAre(ElementsAre("a", "b"), IsEmpty()));
    EXPECT_EQ(refused_heartbeats, 1);
}

TEST_F(RedisClientTest, TellsWhyNobodyIsThere) {
    server.kill();
    client().start();

    ASSERT_TRUE(run_until([this] { return !client().trouble().empty(); }));

    EXPECT_EQ(client().trouble(), "no Redis: unix:" + server.socket() + ": Connection refused");
    EXPECT_FALSE(client().has_room());
}

TEST_F(RedisClientTest, ComesBackWhenTheServerDoes) {
    ASSERT_TRUE(connect());
    server.kill();
    ASSERT_TRUE(run_until([this] { return downs == 1; }));
    EXPECT_FALSE(client().has_room());

    server.start();

    ASSERT_TRUE(run_until([this] { return ups == 2; }));
    EXPECT_EQ(client().trouble(), "");
    carry_out(put("PLANED_TABLE|x"));
    EXPECT_THAT(server.keys(), UnorderedElementsAre("PLANED_TABLE|x"));
}

TEST_F(RedisClientTest, SaysNothingOfCommandsWhoseConnectionEnded) {
    ASSERT_TRUE(connect());
    server.signal(SIGSTOP);
    client().carry_out(put("PLANED_TABLE|x"));
    client().carry_out(ReadBack{});
    server.kill();

    ASSERT_TRUE(run_until([this] { return downs == 1; }));

    EXPECT_THAT(answers, IsEmpty());
    EXPECT_THAT(read_backs, IsEmpty());
    EXPECT_EQ(client().under_way(), 0U);
}

TEST_F(RedisClientTest, TakesNoMoreWhileTheServerDoesNotAnswer) {
    options.give_up_after = 1h;
    ASSERT_TRUE(connect());
    server.signal(SIGSTOP);
    client().carry_out(put("PLANED_TABLE|x"));

    ASSERT_TRUE(run_until([this] { return !client().has_room(); }));
    EXPECT_THAT(client().trouble(), HasSubstr("has not answered"));
    server.signal(SIGCONT);

    ASSERT_TRUE(run_until([this] { return client().has_room(); }));
    EXPECT_EQ(client().trouble(), "");
    EXPECT_THAT(answers, ElementsAre("7 PLANED_TABLE|x created "));
    EXPECT_EQ(downs, 0);
}

TEST_F(RedisClientTest, GivesUpAServerThatDoesNotAnswerForLong) {
    ASSERT_TRUE(connect());
    server.signal(SIGSTOP);
    client().carry_out(put("PLANED_TABLE|x"));

    ASSERT_TRUE(run_until([this] { return downs == 1; }));
    server.signal(SIGCONT);

    ASSERT_TRUE(run_until([this] { return ups == 2; }));
}

TEST_F(RedisClientTest, HasRoomForABoundedNumberOfCommands) {
    options.under_way_max = 3;
    ASSERT_TRUE(connect());

    int sent = 0;
    for (; client().has_room(); ++sent) {
        client().carry_out(put("PLANED_TABLE|x"));
    }

    EXPECT_EQ(sent, 3);
    EXPECT_TRUE(run_until([this] { return client().has_room(); }));
}

TEST_F(RedisClientTest, MayEndInTheMiddleOfAnything) {
    for (int i = 0; i < 3; ++i) {
        auto callbacks = RedisCallbacks{.on_up = [](const RedisPlace&) {},
                                        .on_down = [] {},
                                        .on_answer = [](auto, const auto&, auto, auto) {},
                                        .on_row = [](const auto&, auto) {},
                                        .on_wrong_type = [](const auto&) {},
                                        .on_read_back = [](bool) {},
                                        .on_heartbeat = [](auto) {},
                                        .on_heartbeat_refused = [] {},
                                        .on_progress = [] {}};
        auto other = std::make_unique<RedisClient>(loop, options, callbacks);
        other->start();
        if (i > 0) {
            ASSERT_TRUE(run_until([&] { return other->has_room(); }));
        }
        if (i > 1) {
            other->carry_out(ReadBack{});
            other->carry_out(put("PLANED_TABLE|x"));
        }
        other.reset();
        (void)loop.run_for(20ms);
    }
}

// The whole mirror --------------------------------------------------------------------------------

class StateMirrorTest : public LoopTest {
protected:
    StateMirrorTest() { mirror.configure({.endpoint = "unix:" + server.socket()}); }

    bool turn_until(const std::function<bool()>& claim) {
        return run_until([&] {
            leaf.now = io::now();
            (void)leaf.feed(std::vector<Input>{});
            mirror.turn(leaf.now);
            return claim();
        });
    }
    bool is_degraded() const { return leaf.engine.degraded().contains("redis"); }

    static Config named() {
        Config config = test::serving({"br0"});
        config.node.name = "leaf-a1";
        return config;
    }
    const std::set<std::string> all{"PLANED_INTERFACE_TABLE|br0",
                                    "PLANED_NEIGHBOR_TABLE|default|br0|10.0.0.5",
                                    "PLANED_ROUTE_TABLE|default|10.0.0.5/32",
                                    "PLANED_TABLE|global"};
    test::RailLeaf leaf{named()};
    std::vector<std::string> notes;
    std::size_t turns_requested = 0;
    statedb::EvpnRows evpn;
    std::size_t evpn_asked = 0;
    StateMirror mirror{loop,
                       leaf.engine,
                       {.version = "1.2.3",
                        .host_name = "h",
                        .request_turn = [this] { ++turns_requested; },
                        .log = [this](const Note& note) { notes.push_back(note.text); },
                        .evpn_rows =
                            [this] {
                                ++evpn_asked;
                                return evpn;
                            }}};
};

TEST_F(StateMirrorTest, ShowsTheEngineInRedis) {
    ASSERT_TRUE(turn_until([&] { return server.keys() == all; }));

    EXPECT_FALSE(is_degraded());
    EXPECT_EQ(server.ask({"HGET", "PLANED_TABLE|global", "version"}), "1.2.3");
    EXPECT_THAT(notes, ElementsAre("at=unix:" + server.socket() + " database=6"));
}

TEST_F(StateMirrorTest, DegradesTheEngineUntilTheRowsAreRightAgain) {
    ASSERT_TRUE(turn_until([&] { return server.keys() == all; }));

    server.kill();
    ASSERT_TRUE(turn_until([&] { return is_degraded(); }));
    server.start();
    ASSERT_TRUE(turn_until([&] { return !is_degraded(); }));

    EXPECT_EQ(server.keys(), all);
}

TEST_F(StateMirrorTest, EndsAndBeginsWithTheConfiguration) {
    ASSERT_TRUE(turn_until([&] { return server.keys() == all; }));

    mirror.configure({.endpoint = "off"});
    mirror.turn(io::now());
    EXPECT_EQ(mirror.wake_at(), std::nullopt);
    server.ask({"FLUSHALL"});
    mirror.configure({.endpoint = "unix:" + server.socket()});

    EXPECT_TRUE(turn_until([&] { return server.keys() == all; }));
}

TEST_F(StateMirrorTest, AsksForEvpnsRowsWhenTheyMayHaveChanged) {
    ASSERT_TRUE(turn_until([&] { return server.keys() == all; }));
    EXPECT_EQ(evpn_asked, 1U);
    auto with_peer = all;
    with_peer.insert("PLANED_EVPN_PEER_TABLE|10.66.0.2");
    evpn.peers.push_back({.address = test::ip("10.66.0.2"), .state = "idle"});

    mirror.evpn_changed();

    ASSERT_TRUE(turn_until([&] { return server.keys() == with_peer; }));
    EXPECT_EQ(server.ask({"HGET", "PLANED_EVPN_PEER_TABLE|10.66.0.2", "state"}), "idle");
    EXPECT_EQ(evpn_asked, 2U);
}

TEST_F(StateMirrorTest, RequestsATurnForTheFirstOfManyChangesOfEvpn) {
    ASSERT_TRUE(turn_until([&] { return server.keys() == all; }));
    const std::size_t before = turns_requested;

    for (int i = 0; i < 1000; ++i) {
        mirror.evpn_changed();
    }

    EXPECT_EQ(turns_requested, before + 1);
}

TEST_F(StateMirrorTest, AsksForEvpnsRowsWhenItBegins) {
    mirror.evpn_changed();  // There is nothing yet that could be asked for.
    EXPECT_EQ(turns_requested, 0U);
    auto with_segment = all;
    with_segment.insert("PLANED_SEGMENT_TABLE|00:01:00:00:00:00:00:00:00:00");
    evpn.segments.push_back({.esi = {0, 1}});

    EXPECT_TRUE(turn_until([&] { return server.keys() == with_segment; }));
    EXPECT_EQ(evpn_asked, 1U);
}

TEST_F(StateMirrorTest, TakesAFullDatabaseForTrouble) {
    ASSERT_TRUE(turn_until([&] { return server.keys() == all; }));

    server.ask({"CONFIG", "SET", "maxmemory", "1"});
    server.ask({"FLUSHALL"});
    ASSERT_TRUE(turn_until([&] { return is_degraded(); }));
    EXPECT_THAT(leaf.engine.degraded().at("redis"),
                HasSubstr("Redis refuses what is written: OOM"));
    server.ask({"CONFIG", "SET", "maxmemory", "0"});

    EXPECT_TRUE(turn_until([&] { return !is_degraded() && server.keys() == all; }));
}

}  // namespace
}  // namespace planed::io
