// SPDX-License-Identifier: Apache-2.0
// One session; its peer is played by the test, message by message.
#include <algorithm>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/bgp/session_talk.hpp"

namespace planed::bgp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// --- Coming up. ---

TEST(Session, SendsItsOpenOnceConnected) {
    Talk talk;
    EXPECT_EQ(talk.session.state(), State::Idle);
    talk.session.start(talk.now);
    EXPECT_EQ(talk.session.state(), State::Connect);
    talk.collect();
    talk.session.connected(talk.last_wanted, talk.now);
    talk.id = talk.last_wanted;

    EXPECT_THAT(talk.take(),
                ElementsAre(encoded({.as = kAs,
                                     .hold_seconds = 90,
                                     .id = kLeaf1,
                                     .capabilities = {.families = {AddressFamily{}},
                                                      .route_refresh = true,
                                                      .extended_message = true,
                                                      .four_octet_as = kAs,
                                                      .graceful_restart = GracefulRestart{}}})));
    EXPECT_EQ(talk.session.state(), State::OpenSent);
}

TEST(Session, AnnouncesGracefulRestartIfTold) {
    SessionOptions restarting = options();
    restarting.restart_seconds = 120;
    restarting.restarting = true;
    restarting.state_kept = true;
    Talk talk(restarting);
    talk.connect();
    const Bytes first = talk.take().at(0);
    talk.hear(encoded(peer_open()));
    talk.hear(keepalive());
    talk.lose();
    talk.pass(Session::kRetryFirst);
    talk.session.connected(talk.last_wanted, talk.now);
    talk.id = talk.last_wanted;

    EXPECT_EQ(decode_open(body_of(first))->capabilities.graceful_restart,
              (GracefulRestart{.restarting = true,
                               .notifications = true,
                               .seconds = 120,
                               .kept = {{.forwarding = true}}}));
    const Bytes second = talk.take().at(0);
    EXPECT_FALSE(decode_open(body_of(second))->capabilities.graceful_restart->restarting);
}

TEST(Session, AnswersAnOpenAndIsUpWithTheFirstKeepalive) {
    Talk talk;
    talk.connect();
    (void)talk.take();

    talk.hear(encoded(peer_open()));
    EXPECT_EQ(talk.session.state(), State::OpenConfirm);
    EXPECT_THAT(talk.take(), ElementsAre(keepalive()));
    talk.hear(keepalive());

    EXPECT_EQ(talk.session.state(), State::Established);
    EXPECT_THAT(talk.all<Established>(),
                ElementsAre(Established{.id = talk.id, .peer = peer_open(), .hold_seconds = 90}));
    EXPECT_THAT(talk.take(), ElementsAre(end_of_rib()));
}

TEST(Session, TalksWithFrrAndGobgp) {
    for (const Vector& vector : load_vectors("opens")) {
        SessionOptions from = options();
        from.id = kLeaf3;
        Talk talk(from);
        talk.connect();

        talk.hear(vector.bytes);

        EXPECT_EQ(talk.session.state(), State::OpenConfirm) << vector.origin;
    }
}

struct BadPeer {
    std::string text;
    Notification told;
    Open open;
};

std::vector<BadPeer> bad_peers() {
    BadPeer as{"OPEN: AS 65001 instead of 65000", {.code = 2, .subcode = 2}, peer_open()};
    as.open.as = AsNumber{65001};
    as.open.capabilities.four_octet_as = AsNumber{65001};
    BadPeer id{"OPEN: identifier 10.66.0.1 is ours too", {.code = 2, .subcode = 3}, peer_open()};
    id.open.id = kLeaf1;
    BadPeer family{"OPEN: without L2VPN EVPN",
                   {.code = 2, .subcode = 7, .data = from_hex("0104 0019 00 46")},
                   peer_open()};
    family.open.capabilities.families = {{.afi = 1, .safi = 1}};
    BadPeer short_as{"OPEN: without four-octet AS numbers",
                     {.code = 2, .subcode = 7, .data = from_hex("4104 0000fde8")},
                     peer_open()};
    short_as.open.capabilities.four_octet_as.reset();
    return {as, id, family, short_as};
}

TEST(Session, RefusesAPeerThatIsNotTheOne) {
    for (const auto& [text, told, open] : bad_peers()) {
        Talk talk;
        talk.connect();
        (void)talk.take();

        talk.hear(encoded(open));

        EXPECT_EQ(talk.down(), (Down{.reason = Down::Reason::Refused, .text = text}));
        EXPECT_THAT(talk.last_words(), ElementsAre(notification(told))) << text;
        EXPECT_EQ(talk.session.state(), State::Idle);
    }
}

TEST(Session, RefusesMessagesOutOfPlace) {
    const auto told = [](std::uint8_t subcode, std::uint8_t type) {
        return notification({.code = 5, .subcode = subcode, .data = {type}});
    };
    Talk early;
    early.connect();
    (void)early.take();
    early.hear(keepalive());
    EXPECT_THAT(early.last_words(), ElementsAre(told(1, 4)));
    EXPECT_EQ(early.down().text, "KEEPALIVE in state open_sent");

    Talk confirming;
    confirming.connect();
    confirming.hear(encoded(peer_open()));
    (void)confirming.take();
    confirming.hear(end_of_rib());
    EXPECT_THAT(confirming.last_words(), ElementsAre(told(2, 2)));

    Talk up = Talk::established();
    up.hear(encoded(peer_open()));
    EXPECT_THAT(up.last_words(), ElementsAre(told(3, 1)));
}

TEST(Session, RefusesAStreamThatIsNoBgp) {
    Talk talk = Talk::established();

    talk.hear(Bytes(30, 0));

    EXPECT_THAT(talk.last_words(), ElementsAre(notification({.code = 1, .subcode = 1})));
    EXPECT_EQ(talk.down().text, "the marker is not all ones (byte 0)");
}

TEST(Session, EndsWhatItHasBegunToWriteBeforeItsLastWord) {
    Talk talk = Talk::established();
    ASSERT_TRUE(talk.session.want(host(1), kPath));
    const auto bytes = talk.session.pending(talk.id);
    const Bytes all(bytes.begin(), bytes.end());
    talk.session.written(talk.id, 10);

    talk.hear(Bytes(30, 0));

    const auto unwanted = talk.all<ConnectionUnwanted>();
    ASSERT_THAT(unwanted, SizeIs(1));
    Bytes whole(all.begin(), all.begin() + 10);
    whole.insert(whole.end(), unwanted[0].last_words.begin(), unwanted[0].last_words.end());
    EXPECT_THAT(Talk::messages(whole), ElementsAre(all, notification({.code = 1, .subcode = 1})));
}

// --- Two connections. ---

/// Ours is in OpenConfirm when the peer's OPEN comes on the one that it made.
Talk collided(RouterId peer_id) {
    Talk talk;
    talk.connect();
    Open open = peer_open();
    open.id = peer_id;
    talk.hear(encoded(open));
    (void)talk.take();
    const auto accepted = talk.session.accepted(talk.now);
    EXPECT_TRUE(accepted.has_value());
    talk.session.receive(*accepted, encoded(open), talk.now);
    talk.collect();
    return talk;
}

TEST(Session, KeepsTheConnectionOfTheHigherIdentifier) {
    Talk higher = collided(kLeaf2);
    const auto closed = higher.all<ConnectionUnwanted>();
    ASSERT_THAT(closed, SizeIs(1));
    EXPECT_EQ(closed[0].id, higher.id) << "the peer's stays";
    EXPECT_THAT(higher.last_words(), testing::Contains(notification({.code = 6, .subcode = 7})));

    Talk lower = collided(RouterId{1});
    const auto other = lower.all<ConnectionUnwanted>();
    ASSERT_THAT(other, SizeIs(1));
    EXPECT_NE(other[0].id, lower.id) << "ours stays";
    EXPECT_EQ(lower.session.state(), State::OpenConfirm);
    EXPECT_THAT(lower.all<Down>(), IsEmpty()) << "nothing is wrong";
}

TEST(Session, StaysWithAnEstablishedConnection) {
    Open open = peer_open();
    open.capabilities.graceful_restart = GracefulRestart{.seconds = 120};  // As FRR: no family.
    Talk talk = Talk::established(options(), open);
    const auto accepted = talk.session.accepted(talk.now);
    ASSERT_TRUE(accepted.has_value());

    talk.session.receive(*accepted, encoded(peer_open()), talk.now);
    talk.collect();

    const auto closed = talk.all<ConnectionUnwanted>();
    ASSERT_THAT(closed, SizeIs(1));
    EXPECT_EQ(closed[0].id, *accepted);
    EXPECT_EQ(talk.session.state(), State::Established);
}

TEST(Session, TakesTheNewConnectionOfAPeerThatKeepsItsState) {
    Open open = peer_open();
    open.capabilities.graceful_restart =
        GracefulRestart{.seconds = 60, .kept = {{.forwarding = true}}};
    Talk talk = Talk::established(options(), open);
    talk.hear(announced({host(1)}));
    talk.events.clear();
    const auto accepted = talk.session.accepted(talk.now);

    talk.session.receive(*accepted, encoded(open), talk.now);
    talk.collect();

    const auto closed = talk.all<ConnectionUnwanted>();
    ASSERT_THAT(closed, SizeIs(1));
    EXPECT_EQ(closed[0].id, talk.id);
    EXPECT_THAT(closed[0].last_words, IsEmpty()) << "closed without a word";
    EXPECT_EQ(talk.down(),
              (Down{.reason = Down::Reason::Replaced,
                    .text = "the peer has connected again",
                    .was_established = true,
                    .routes_kept = true}));
    EXPECT_EQ(talk.session.state(), State::OpenConfirm);
    EXPECT_EQ(talk.session.routes_heard(), 1U);
}

TEST(Session, TakesTheLaterOfTwoConnectionsThatThePeerMade) {
    SessionOptions passive = options();
    passive.passive = true;
    Talk talk(passive);
    talk.session.start(talk.now);
    const auto first = talk.session.accepted(talk.now);
    const auto second = talk.session.accepted(talk.now);
    talk.collect();

    const auto closed = talk.all<ConnectionUnwanted>();
    ASSERT_THAT(closed, SizeIs(1));
    EXPECT_EQ(closed[0].id, *first);
    talk.session.receive(*first, encoded(peer_open()), talk.now);  // Too late: ignored.
    EXPECT_EQ(talk.session.state(), State::OpenSent);
    talk.id = *second;
    talk.hear(encoded(peer_open()));
    talk.hear(keepalive());
    EXPECT_EQ(talk.session.state(), State::Established);
}

TEST(Session, AcceptsNobodyWhileStoppedOrIdle) {
    Talk talk;
    EXPECT_EQ(talk.session.accepted(talk.now), std::nullopt);
    talk.connect();
    talk.hear(Bytes(30, 0));

    EXPECT_EQ(talk.session.accepted(talk.now), std::nullopt);
    talk.pass(Session::kIdleFirst);
    EXPECT_NE(talk.session.accepted(talk.now), std::nullopt);
}

// --- Time. ---

TEST(Session, TriesAgainLessAndLessOften) {
    Talk talk;
    talk.session.start(talk.now);
    talk.collect();
    Duration expected = Session::kRetryFirst;
    for (int i = 0; i < 8; ++i) {
        talk.session.connect_failed(talk.last_wanted, talk.now);
        const ConnectionId before = talk.last_wanted;
        EXPECT_EQ(talk.session.state(), State::Active);
        const Duration wait = talk.session.wake_at().value() - talk.now;
        EXPECT_GE(wait, expected * 3 / 4);
        EXPECT_LE(wait, expected);

        talk.pass(wait);

        EXPECT_NE(talk.last_wanted, before);
        expected = std::min(2 * expected, Session::kRetryMax);
    }
}

TEST(Session, BeginsItsRetriesWhereTheOptionsSay) {
    SessionOptions patient = options();
    patient.connect_retry = 10min;
    Talk talk(patient);
    talk.session.start(talk.now);
    talk.collect();
    for (int i = 0; i < 3; ++i) {
        talk.session.connect_failed(talk.last_wanted, talk.now);
        const Duration wait = talk.session.wake_at().value() - talk.now;

        EXPECT_GE(wait, patient.connect_retry * 3 / 4);
        EXPECT_LE(wait, patient.connect_retry);
        talk.pass(wait);
    }
}

TEST(Session, GivesUpAnAttemptThatTakesTooLong) {
    Talk talk;
    talk.session.start(talk.now);
    talk.collect();
    const ConnectionId first = talk.last_wanted;

    talk.pass(Session::kRetryFirst);

    EXPECT_THAT(talk.all<ConnectionUnwanted>(), ElementsAre(ConnectionUnwanted{.id = first}));
    EXPECT_NE(talk.last_wanted, first);
    talk.session.connected(first, talk.now);  // Late, and given up.
    EXPECT_EQ(talk.session.state(), State::Connect);
}

TEST(Session, WaitsLongerAfterEachError) {
    Talk talk;
    talk.session.start(talk.now);
    Duration expected = Session::kIdleFirst;
    for (int i = 0; i < 8; ++i) {
        talk.collect();
        talk.session.connected(talk.last_wanted, talk.now);
        talk.id = talk.last_wanted;
        talk.hear(Bytes(30, 0));
        EXPECT_EQ(talk.session.state(), State::Idle);
        const Duration wait = talk.session.wake_at().value() - talk.now;
        EXPECT_GE(wait, expected * 3 / 4);
        EXPECT_LE(wait, expected);
        talk.pass(wait);
        expected = std::min(2 * expected, Session::kIdleMax);
    }
}

TEST(Session, SendsKeepalivesThreeTimesInTheHoldTime) {
    Talk talk = Talk::established();
    std::size_t sent = 0;
    for (int second = 0; second < 900; ++second) {
        if (second % 30 == 0) {
            talk.hear(keepalive());
        }
        talk.pass(1s);
        sent += talk.take().size();
    }

    EXPECT_GE(sent, 30U);
    EXPECT_LE(sent, 40U);
    EXPECT_EQ(talk.session.state(), State::Established);
}

TEST(Session, EndsWhenNothingIsHeardInTheHoldTime) {
    Talk talk = Talk::established();
    talk.pass(90s - 1ns);
    EXPECT_EQ(talk.session.state(), State::Established);
    (void)talk.take();

    talk.pass(1ns);

    EXPECT_EQ(talk.down().reason, Down::Reason::HoldExpired);
    EXPECT_THAT(talk.last_words(), ElementsAre(notification({.code = 4})));
}

TEST(Session, TakesAnyMessageForASignOfLife) {
    for (const Bytes& message : {keepalive(), end_of_rib()}) {
        Talk talk = Talk::established();
        talk.pass(89s);
        talk.hear(message);
        talk.pass(89s);

        EXPECT_EQ(talk.session.state(), State::Established);
    }
}

TEST(Session, AgreesOnTheLowerHoldTime) {
    Open open = peer_open();
    open.hold_seconds = 9;
    Talk talk = Talk::established(options(), open);

    talk.pass(9s);

    EXPECT_EQ(talk.down().reason, Down::Reason::HoldExpired);
}

TEST(Session, WithoutAHoldTimeIsSilent) {
    Open open = peer_open();
    open.hold_seconds = 0;
    Talk talk = Talk::established(options(), open);

    talk.pass(24h);

    EXPECT_EQ(talk.session.state(), State::Established);
    EXPECT_EQ(talk.session.wake_at(), std::nullopt);
    EXPECT_THAT(talk.take(), IsEmpty());
}

TEST(Session, WaitsFourMinutesForAnOpen) {
    Talk talk;
    talk.connect();
    (void)talk.take();

    talk.pass(Session::kOpenHold - 1ns);
    EXPECT_EQ(talk.session.state(), State::OpenSent);
    talk.pass(1ns);

    EXPECT_THAT(talk.last_words(), ElementsAre(notification({.code = 4})));
}

TEST(Session, GivesUpAPeerThatDoesNotRead) {
    Talk talk = Talk::established();
    ASSERT_TRUE(talk.session.want(host(1), kPath));
    EXPECT_FALSE(talk.session.pending(talk.id).empty());
    for (Duration passed{}; passed <= Session::kSendHoldLeast; passed += 10s) {
        talk.hear(keepalive());
        talk.pass(10s);
    }

    EXPECT_EQ(talk.down().text, "the peer does not read");
    EXPECT_THAT(talk.last_words(), testing::Contains(notification({.code = 8})));
}

TEST(Session, CountsItsMessages) {
    Talk talk;
    ASSERT_TRUE(talk.session.want(host(1), kPath));
    talk.connect();
    talk.hear(encoded(peer_open()));
    talk.hear(keepalive());
    (void)talk.take();
    talk.hear(announced({host(2)}));

    // OPEN and KEEPALIVE each way; our route and our End-of-RIB, the peer's route.
    EXPECT_EQ(
        talk.session.traffic(),
        (Traffic{
            .messages_received = 3, .messages_sent = 4, .updates_received = 1, .updates_sent = 2}));
}

TEST(Session, SpreadsItsTimersByTheSeed) {
    std::set<TimePoint> times;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        SessionOptions from = options();
        from.seed = seed;
        Talk talk(from);
        talk.session.start(talk.now);
        times.insert(talk.session.wake_at().value());
    }

    EXPECT_GT(times.size(), 15U);
}

}  // namespace
}  // namespace planed::bgp
