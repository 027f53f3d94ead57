// SPDX-License-Identifier: Apache-2.0
#include "io/zapi_client.hpp"

#include <algorithm>
#include <functional>

#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/unix_diag.hpp"
#include "unit/io/run_until.hpp"
#include "unit/io/zapi_fake_zebra.hpp"
#include "unit/io/zapi_temp_folder.hpp"

namespace planed::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using zapi::WireFamily;

class ZapiClientTest : public testing::Test {
protected:
    bool run_until(const std::function<bool()>& claim) { return io::run_until(loop, claim); }

    void run_for(Duration time) {
        loop.restart();
        (void)loop.run_for(time);
    }

    ZapiClient& client() {
        if (!client_) {
            client_ = std::make_unique<ZapiClient>(
                loop,
                options,
                ZapiCallbacks{
                    .on_event = [this](const zapi::Event& event) { events.push_back(event); },
                    .on_down = [this](const Error& why) { downs.push_back(why); }});
        }
        return *client_;
    }
    bool connect(WireFamily family = WireFamily::D) {
        zebra.family = family;
        zebra.start();
        client().start();
        return run_until([this] { return client().session() != nullptr; });
    }
    bool is_down(std::size_t times = 1) {
        return run_until([this, times] { return downs.size() >= times; });
    }

    static zapi::Route route(std::uint32_t i) {
        return {.prefix = host_prefix(IpAddress::v4(10,
                                                    static_cast<std::uint8_t>(i >> 16U),
                                                    static_cast<std::uint8_t>(i >> 8U),
                                                    static_cast<std::uint8_t>(i))),
                .out = IfIndex{3},
                .distance = 5,
                .tag = 7};
    }

    TempFolder folder;
    boost::asio::io_context loop{1};
    ZapiClientOptions options = fast(folder.path() + "/zserv.api");
    FakeZebra zebra{loop, options.path, WireFamily::D};
    std::vector<zapi::Event> events;
    std::vector<Error> downs;

private:
    static ZapiClientOptions fast(const std::string& path) {
        ZapiClientOptions result;
        result.path = path;
        result.backoff_first = 1ms;
        result.backoff_max = 20ms;
        result.backoff_absent = 5ms;
        result.watch_interval = 5ms;
        result.settle_poll = 1ms;
        result.settle_after = 1ms;
        result.settle_blind = 1ms;
        result.leak_pause = 1ms;
        result.seed = 1;
        return result;
    }

    std::unique_ptr<ZapiClient> client_;
};

// --- Getting there. ---

class ZapiClientOf : public ZapiClientTest, public testing::WithParamInterface<WireFamily> {};
INSTANTIATE_TEST_SUITE_P(ZapiClient,
                         ZapiClientOf,
                         testing::ValuesIn(zapi::kWireFamilies),
                         [](const auto& instance) { return std::string(name_of(instance.param)); });

TEST_P(ZapiClientOf, FindsTheFamilyAndBeginsASession) {
    ASSERT_TRUE(connect(GetParam()));

    EXPECT_EQ(client().session()->family(), GetParam());
    EXPECT_EQ(zebra.accepted, 2U);  // The probe's, and the session's.
    EXPECT_EQ(zebra.hellos, 1U);
    ASSERT_THAT(events, SizeIs(1));
    EXPECT_EQ(std::get<zapi::Ready>(events[0]).family, GetParam());
    EXPECT_THAT(downs, SizeIs(0));
}

TEST_P(ZapiClientOf, WritesARouteAsSoonAsItIsFlushed) {
    ASSERT_TRUE(connect(GetParam()));

    client().session()->put(route(7));
    client().flush();

    EXPECT_TRUE(run_until([this] { return zebra.count(zebra.commands().route_add) == 1; }));
}

TEST_F(ZapiClientTest, HandsOutWhatZebraSays) {
    ASSERT_TRUE(connect());
    events.clear();

    zebra.say("owner_installed_v4");

    ASSERT_TRUE(run_until([this] { return !events.empty(); }));
    EXPECT_EQ(std::get<zapi::OwnerNotice>(events[0]).state, zapi::OwnerState::Installed);
}

TEST_F(ZapiClientTest, HasNoSessionBeforeZebraIsReady) {
    zebra.answers_hello = false;
    zebra.start();
    client().start();

    ASSERT_TRUE(run_until([this] { return zebra.hellos == 1; }));
    EXPECT_EQ(client().session(), nullptr);
    client().flush();  // Nothing to do, and no harm.
}

TEST_F(ZapiClientTest, TakesAPinnedReleaseThatAgrees) {
    options.release = "10.3";

    EXPECT_TRUE(connect(WireFamily::D));
}

TEST_F(ZapiClientTest, RefusesAZebraOfAnotherReleaseThanThePinned) {
    options.release = "8.4";
    zebra.start();
    client().start();

    ASSERT_TRUE(is_down());
    EXPECT_EQ(downs[0].code, Errc::Unsupported);
    EXPECT_THAT(downs[0].text, HasSubstr("zebra is FRR 10.2 or later (wire family D)"));
    EXPECT_EQ(zebra.hellos, 0U);
}

TEST_F(ZapiClientTest, RefusesAReleaseThatItDoesNotSpeak) {
    options.release = "7.5";
    client().start();

    ASSERT_THAT(downs, SizeIs(1));
    EXPECT_EQ(downs[0].text, "frr.release: planed does not speak FRR 7.5");
}

TEST_F(ZapiClientTest, RefusesAPathThatNoSocketCanHave) {
    options.path = "/" + std::string(200, 'x');
    client().start();

    ASSERT_THAT(downs, SizeIs(1));
    EXPECT_EQ(downs[0].text, "frr.socket: longer than 107 bytes");
}

// --- No zebra. ---

TEST_F(ZapiClientTest, SaysOnceThatThereIsNoZebraAndComesBackWithIt) {
    client().start();
    run_for(30ms);
    ASSERT_THAT(downs, SizeIs(1));
    EXPECT_EQ(downs[0].text, "no zebra: " + options.path + " does not exist (is FRR running?)");
    EXPECT_EQ(downs[0].system_errno, ENOENT);

    zebra.start();

    EXPECT_TRUE(run_until([this] { return client().session() != nullptr; }));
}

TEST_F(ZapiClientTest, TellsADeadZebraFromNone) {
    (void)::close(listen_on(options.path));
    client().start();

    ASSERT_TRUE(is_down());
    EXPECT_THAT(downs[0].text, HasSubstr("nobody listens on"));
}

TEST_F(ZapiClientTest, SaysWhatToDoWithoutTheRightToOpenTheSocket) {
    if (::geteuid() == 0 && ::seteuid(65534) != 0) {
        GTEST_SKIP() << "cannot give up root's rights";
    }
    (void)::seteuid(0);
    zebra.start();
    (void)::chmod(options.path.c_str(), 0700);
    (void)::chmod(folder.path().c_str(), 0755);
    (void)::seteuid(65534);
    client().start();
    (void)::seteuid(0);

    ASSERT_THAT(downs, SizeIs(1));
    EXPECT_EQ(downs[0].code, Errc::Refused);
    EXPECT_EQ(
        downs[0].text,
        "no right to open " + options.path +
            ": zebra gives its socket to user frr alone (mode 0700), so run planed as root or "
            "with User=frr");
}

TEST_F(ZapiClientTest, LooksAgainEarlyWhenTheSocketIsMadeAnew) {
    options.release = "8.4";
    options.backoff_first = 1h;  // Only the watch can be the reason.
    options.backoff_max = 1h;
    zebra.start();
    client().start();
    ASSERT_TRUE(is_down());

    zebra.stop();
    zebra.family = WireFamily::A;
    zebra.start();

    EXPECT_TRUE(run_until([this] { return client().session() != nullptr; }));
}

TEST_F(ZapiClientTest, LooksAgainEarlyWhenZebraWasBackBeforeItsEndWasNoticed) {
    options.backoff_first = 1h;
    options.backoff_max = 1h;
    options.backoff_absent = 1h;
    zebra.start();
    client().start();
    ASSERT_TRUE(run_until([this] { return zebra.accepted == 1; }));

    zebra.stop();
    zebra.start();

    EXPECT_TRUE(run_until([this] { return client().session() != nullptr; }));
}

TEST_F(ZapiClientTest, DoesNotSpinOnASocketThatSpeaksGarbage) {
    zebra.greeting = zapi::from_hex("485454502f312e3120343030204261642052657175657374");
    zebra.start();
    client().start();
    run_for(100ms);

    ASSERT_THAT(downs, SizeIs(1));  // Said once, though tried again.
    EXPECT_EQ(downs[0].code, Errc::Malformed);
    EXPECT_THAT(downs[0].text, HasSubstr("does not speak ZAPI"));
    EXPECT_GE(zebra.accepted, 2U);
    EXPECT_LE(zebra.accepted, 15U);
    EXPECT_EQ(zebra.hellos, 0U);
}

TEST_F(ZapiClientTest, SaysThatAConnectionIsClosedWithoutAWord) {
    zebra.closes_at_once = true;
    zebra.start();
    client().start();

    ASSERT_TRUE(is_down());
    EXPECT_THAT(downs[0].text, HasSubstr("without a word"));
}

TEST_F(ZapiClientTest, WaitsUntilZebraHasClosedAnEarlierSession) {
    zebra.start();
    if (!look_at_unix_server(options.path)) {
        GTEST_SKIP() << "no sock_diag";
    }
    zebra.keeps_ends_open = true;
    const int killed = connect_to(options.path);
    ASSERT_TRUE(run_until([this] { return zebra.accepted == 1; }));
    (void)::close(killed);

    client().start();
    run_for(30ms);
    EXPECT_EQ(zebra.hellos, 0U);
    zebra.keeps_ends_open = false;
    zebra.forget_ended();

    EXPECT_TRUE(run_until([this] { return client().session() != nullptr; }));
}

TEST_F(ZapiClientTest, WaitsUntilZebraHasClosedTheProbe) {
    zebra.start();
    if (!look_at_unix_server(options.path)) {
        GTEST_SKIP() << "no sock_diag";
    }
    zebra.keeps_ends_open = true;

    client().start();
    run_for(30ms);
    EXPECT_EQ(zebra.accepted, 2U);
    EXPECT_EQ(zebra.hellos, 0U);
    zebra.keeps_ends_open = false;
    zebra.forget_ended();

    EXPECT_TRUE(run_until([this] { return client().session() != nullptr; }));
    EXPECT_EQ(zebra.accepted, 2U);
}

TEST_F(ZapiClientTest, DoesNotWaitForEverForAZebraThatDoesNotCloseTheProbe) {
    options.settle_deadline = 20ms;
    zebra.start();
    if (!look_at_unix_server(options.path)) {
        GTEST_SKIP() << "no sock_diag";
    }
    zebra.keeps_ends_open = true;

    client().start();

    ASSERT_TRUE(is_down());
    EXPECT_THAT(downs[0].text, HasSubstr("has not yet closed an earlier"));
    EXPECT_EQ(zebra.hellos, 0U);
}

// --- Losing it. ---

TEST_F(ZapiClientTest, BeginsAgainWhenZebraGoesAndProbesAgain) {
    ASSERT_TRUE(connect(WireFamily::A));
    zebra.stop();
    ASSERT_TRUE(is_down());
    EXPECT_EQ(downs[0].text, "zebra closed the session");
    EXPECT_EQ(client().session(), nullptr);

    zebra.family = WireFamily::D;  // It was an upgrade.
    zebra.start();

    ASSERT_TRUE(run_until([this] { return client().session() != nullptr; }));
    EXPECT_EQ(client().session()->family(), WireFamily::D);
}

TEST_F(ZapiClientTest, BeginsAgainWhenZebraBreaksTheProtocol) {
    ASSERT_TRUE(connect());
    events.clear();

    zebra.say(zapi::from_hex("00000000000000000000"));

    ASSERT_TRUE(is_down());
    EXPECT_EQ(downs[0].text, "zebra: marker 0x00, not 0xfe");
    EXPECT_TRUE(run_until([this] { return client().session() != nullptr; }));
    EXPECT_EQ(zebra.ended, 1U);
}

TEST_F(ZapiClientTest, HandsOutWhatCameBeforeTheViolation) {
    ASSERT_TRUE(connect());
    events.clear();
    const auto vectors = zapi::load_vectors(WireFamily::D);
    const auto notice = std::ranges::find(vectors, "owner_installed_v4", &zapi::Vector::name);
    ASSERT_NE(notice, vectors.end());
    zapi::Bytes both = notice->bytes;
    both.insert(both.end(), 10, 0);

    zebra.say(both);

    ASSERT_TRUE(is_down());
    ASSERT_FALSE(events.empty());
    EXPECT_TRUE(std::holds_alternative<zapi::OwnerNotice>(events[0]));
}

TEST_F(ZapiClientTest, GoesOnWithARemainderOnceZebraReads) {
    ASSERT_TRUE(connect());
    for (std::uint32_t i = 0; i < 20'000; ++i) {
        client().session()->put(route(i));
    }
    client().flush();
    EXPECT_GT(client().session()->backlog(), 0U);

    ASSERT_TRUE(run_until([this] { return zebra.count(zebra.commands().route_add) == 20'000; }));
    EXPECT_TRUE(client().session()->idle());
}

TEST_F(ZapiClientTest, WithdrawsInTheSameTurnThoughAdditionsWait) {
    ASSERT_TRUE(connect());
    for (std::uint32_t i = 0; i < 20'000; ++i) {
        client().session()->put(route(i));
    }
    client().flush();
    client().session()->remove(VrfId::Default, route(19'999).prefix);

    ASSERT_TRUE(run_until([this] { return zebra.count(zebra.commands().route_delete) == 1; }));
    EXPECT_LT(zebra.count(zebra.commands().route_add), 15'000U);
}

// --- The end. ---

TEST_F(ZapiClientTest, WritesWhatWaitsBeforeItCloses) {
    ASSERT_TRUE(connect());
    for (std::uint32_t i = 0; i < 10'000; ++i) {
        client().session()->put(route(i));
    }
    bool done = false;
    client().close(false, [&done] { done = true; });
    EXPECT_FALSE(done);

    ASSERT_TRUE(run_until([&] { return done && zebra.ended == 1; }));
    EXPECT_EQ(zebra.count(zebra.commands().route_add), 10'000U);
    EXPECT_EQ(zebra.count(zebra.commands().client_capabilities), 1U);  // The start's.
    EXPECT_THAT(downs, SizeIs(0));
}

// What zebra has read but not handled when the connection ends is lost, a GR_DISABLE as well.
TEST_F(ZapiClientTest, ClosesOnlyOnceZebraHasHandledEverything) {
    ASSERT_TRUE(connect());
    zebra.answers_marks = false;
    bool done = false;
    client().close(true, [&done] { done = true; });
    ASSERT_TRUE(run_until([this] { return zebra.count(zapi::kUnknownCommand) == 1; }));
    run_for(20ms);
    EXPECT_FALSE(done);
    EXPECT_EQ(zebra.ended, 0U);

    zebra.say("error_mark");

    EXPECT_TRUE(run_until([&] { return done && zebra.ended == 1; }));
}

TEST_F(ZapiClientTest, LeavesAZebraThatLeaksOnlyOnceItIsQuiet) {
    options.leak_pause = 400ms;
    ASSERT_TRUE(connect(WireFamily::A));
    bool done = false;
    client().close(true, [&done] { done = true; });
    ASSERT_TRUE(run_until([this] { return zebra.count(zapi::kUnknownCommand) == 1; }));
    run_for(50ms);

    const TimePoint last_word = now();
    zebra.say("owner_installed_v4");

    ASSERT_TRUE(run_until([&done] { return done; }));
    EXPECT_GE(now() - last_word, options.leak_pause);
}

class ZapiClientLeaving : public ZapiClientOf {};
INSTANTIATE_TEST_SUITE_P(ZapiClient,
                         ZapiClientLeaving,
                         testing::ValuesIn(zapi::kWireFamilies),
                         [](const auto& instance) { return std::string(name_of(instance.param)); });

TEST_P(ZapiClientLeaving, EndsGracefulRestartLastIfItWithdraws) {
    ASSERT_TRUE(connect(GetParam()));
    client().session()->put(route(1));
    bool done = false;

    client().close(true, [&done] { done = true; });

    ASSERT_TRUE(run_until([&] { return done && zebra.ended == 1; }));
    EXPECT_EQ(zebra.count(zebra.commands().route_add), 0U);
    EXPECT_EQ(zebra.heard.at(zebra.heard.size() - 2),
              (FakeZebra::Message{.command = zebra.commands().client_capabilities,
                                  .body = zapi::from_hex("00000004 00000000")}));
    EXPECT_EQ(client().session(), nullptr);
}

TEST_F(ZapiClientTest, EndsGracefulRestartThoughTheSessionHadNotBegun) {
    zebra.start();
    client().start();
    bool done = false;

    client().close(true, [&done] { done = true; });

    ASSERT_TRUE(run_until([&] { return done; }));
    EXPECT_EQ(zebra.heard.at(zebra.heard.size() - 2).body, zapi::from_hex("00000004 00000000"));
    EXPECT_THAT(events, SizeIs(0));
}

TEST_F(ZapiClientTest, DoesNotWaitForAZebraThatDoesNotRead) {
    options.drain_deadline = 20ms;
    ASSERT_TRUE(connect());
    zebra.stop_reading();
    for (std::uint32_t i = 0; i < 20'000; ++i) {
        client().session()->put(route(i));
    }
    bool done = false;

    client().close(false, [&done] { done = true; });

    EXPECT_TRUE(run_until([&] { return done; }));
}

TEST_F(ZapiClientTest, ClosesAtOnceWithoutZebra) {
    client().start();
    bool done = false;

    client().close(true, [&done] { done = true; });

    EXPECT_TRUE(run_until([&] { return done; }));
    EXPECT_THAT(downs, SizeIs(1));
}

TEST_F(ZapiClientTest, StopsTryingOnceItIsClosed) {
    client().start();
    bool done = false;
    client().close(false, [&done] { done = true; });
    ASSERT_TRUE(run_until([&] { return done; }));

    zebra.start();
    run_for(20ms);

    EXPECT_EQ(zebra.accepted, 0U);
}

}  // namespace
}  // namespace planed::io
