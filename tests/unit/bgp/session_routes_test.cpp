// SPDX-License-Identifier: Apache-2.0
// What a session tells of its peer's routes, and what becomes of them when it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/bgp/session_talk.hpp"

namespace planed::bgp {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Session, ReportsRoutesAndTheirEnd) {
    Talk talk = Talk::established();

    talk.hear(announced({host(1), host(2)}));
    talk.hear(withdrawn(host(1)));
    talk.hear(withdrawn(host(3)));
    talk.hear(end_of_rib());

    const auto heard = talk.all<RouteHeard>();
    ASSERT_THAT(heard, SizeIs(2));
    EXPECT_EQ(heard[0].route, host(1));
    EXPECT_EQ(*heard[0].path, kPath);
    EXPECT_EQ(heard[0].path, heard[1].path) << "shared";
    EXPECT_THAT(talk.all<RouteGone>(), ElementsAre(RouteGone{RouteKey(host(1))}))
        << "and nothing of what was never there";
    EXPECT_THAT(talk.all<EndOfRib>(), SizeIs(1));
    EXPECT_EQ(talk.session.routes_heard(), 1U);
}

TEST(Session, SurvivesAFaultAndReportsIt) {
    Talk talk = Talk::established();
    talk.hear(announced({host(1)}));

    talk.hear(message_of(MessageType::Update, from_hex("0000 000d 800f0a 001946 0405 0102030405")));

    const auto faults = talk.all<Faulty>();
    ASSERT_THAT(faults, SizeIs(1));
    EXPECT_EQ(faults[0].fault.kind, Fault::Kind::RouteSkipped);
    EXPECT_EQ(talk.session.state(), State::Established);
    EXPECT_EQ(talk.session.routes_heard(), 1U);
}

TEST(Session, EndsWithAnUpdateThatCannotBeRead) {
    Talk talk = Talk::established();
    (void)talk.take();

    talk.hear(message_of(MessageType::Update, from_hex("0000 0003 800f00")));

    EXPECT_EQ(talk.down().text, "UPDATE: MP_UNREACH_NLRI: 0 octets are too few (byte 23)");
    EXPECT_THAT(talk.last_words(),
                ElementsAre(notification({.code = 3, .subcode = 9, .data = {0x80, 0x0F, 0}})));
}

TEST(Session, TakesALoopForAWithdrawal) {
    Path ours = kPath;
    ours.attributes.originator = kLeaf1;
    Path cluster = kPath;
    cluster.attributes.clusters = {kLeaf2, kLeaf1};
    Path as = kPath;
    as.attributes.as_path = {{.numbers = {kAs}}};
    for (const Path& path : {ours, cluster, as}) {
        Talk talk = Talk::established();
        talk.hear(announced({host(1)}));

        talk.hear(announced({host(1)}, path));

        EXPECT_THAT(talk.all<RouteHeard>(), SizeIs(1));
        EXPECT_THAT(talk.all<RouteGone>(), ElementsAre(RouteGone{RouteKey(host(1))}));
        EXPECT_EQ(talk.session.state(), State::Established);
    }
}

TEST(Session, WarnsOfManyRoutesAndEndsWithTooMany) {
    SessionOptions bounded = options();
    bounded.routes_max = 4;
    Talk talk = Talk::established(bounded);
    talk.hear(announced({host(1), host(2)}));
    EXPECT_THAT(talk.all<NearRoutesMax>(), IsEmpty());
    talk.hear(announced({host(2), host(3)}));
    talk.hear(announced({host(4)}));
    EXPECT_THAT(talk.all<NearRoutesMax>(), ElementsAre(NearRoutesMax{.routes = 3}));
    (void)talk.take();

    talk.hear(announced({host(5)}));

    EXPECT_EQ(talk.down().text, "5 routes where 4 may be");
    EXPECT_THAT(
        talk.last_words(),
        ElementsAre(notification({.code = 6, .subcode = 1, .data = from_hex("0019 46 00000004")})));
    EXPECT_THAT(talk.all<RouteGone>(), SizeIs(5));
    EXPECT_EQ(talk.session.wake_at(), talk.now + Session::kPrefixPause);
}

TEST(Session, SendsEverythingOnceMoreWhenAsked) {
    Talk talk = Talk::established();
    ASSERT_TRUE(talk.session.want(host(1), kPath));
    const auto first = talk.take();
    Bytes request;
    encode_route_refresh({}, request);
    Bytes other;
    encode_route_refresh({.afi = 1, .safi = 1}, other);

    talk.hear(other);
    EXPECT_THAT(talk.take(), IsEmpty());
    talk.hear(request);

    EXPECT_EQ(talk.take(), first);
}

TEST(Session, AsksForEverythingOnceMore) {
    Talk talk;
    EXPECT_FALSE(talk.session.ask_refresh());
    talk = Talk::established();
    EXPECT_TRUE(talk.session.ask_refresh());
    Bytes request;
    encode_route_refresh({}, request);

    EXPECT_THAT(talk.take(), ElementsAre(request));
}

TEST(Session, CannotAskAPeerThatDoesNotKnowHow) {
    Open open = peer_open();
    open.capabilities.route_refresh = false;
    Talk talk = Talk::established(options(), open);

    EXPECT_FALSE(talk.session.ask_refresh());
}

TEST(Session, WritesLongMessagesOnlyToAPeerThatTakesThem) {
    for (const bool extended : {false, true}) {
        Open open = peer_open();
        open.capabilities.extended_message = extended;
        Talk talk = Talk::established(options(), open);
        for (unsigned i = 0; i < 250; ++i) {
            ASSERT_TRUE(talk.session.want(host(static_cast<std::uint8_t>(i)), kPath));
        }

        EXPECT_THAT(talk.take(), SizeIs(extended ? 1 : 3));
    }
}

// --- The end. ---

TEST(Session, SaysWhyThePeerHasEndedIt) {
    Talk talk = Talk::established();
    talk.hear(announced({host(1)}));

    talk.hear(notification(shutdown_notice(Notification::kAdminShutdown, "upgrade at 17:00")));

    EXPECT_EQ(talk.down(),
              (Down{.reason = Down::Reason::Notified,
                    .text = "6/2 cease: administrative shutdown: \"upgrade at 17:00\"",
                    .was_established = true}));
    EXPECT_THAT(talk.last_words(), IsEmpty()) << "nobody answers a NOTIFICATION";
    EXPECT_THAT(talk.all<RouteGone>(), SizeIs(1));
}

TEST(Session, KeepsRoutesOverANotificationIfBothSaidSo) {
    SessionOptions restarting = options();
    restarting.restart_seconds = 120;
    Open open = peer_open();
    open.capabilities.graceful_restart = GracefulRestart{.notifications = true, .seconds = 60};
    for (const bool hard : {false, true}) {
        Talk talk = Talk::established(restarting, open);
        talk.hear(announced({host(1)}));

        talk.hear(notification(hard ? Notification{.code = 6, .subcode = 9, .data = {6, 2}}
                                    : Notification{.code = 6, .subcode = 4}));

        EXPECT_EQ(talk.down().routes_kept, !hard);
        EXPECT_EQ(talk.session.routes_heard(), hard ? 0U : 1U);
    }
}

TEST(Session, KeepsRoutesOverALossForSoLong) {
    SessionOptions keeping = options();
    keeping.keep = 120s;
    Talk talk = Talk::established(keeping);
    talk.hear(announced({host(1)}));
    talk.lose();
    EXPECT_TRUE(talk.down().routes_kept);

    talk.pass(120s - 1ns);
    EXPECT_THAT(talk.all<RouteGone>(), IsEmpty());
    talk.pass(1ns);

    EXPECT_THAT(talk.all<RouteGone>(), ElementsAre(RouteGone{RouteKey(host(1))}));
}

TEST(Session, WaitsForEndOfRibNoLongerThanItsBound) {
    SessionOptions keeping = options();
    keeping.keep = 120s;
    Talk talk = Talk::established(keeping);
    talk.hear(announced({host(1), host(2)}));
    talk.lose();
    talk.pass(Session::kRetryFirst);
    talk.session.connected(talk.last_wanted, talk.now);
    talk.id = talk.last_wanted;
    talk.hear(encoded(peer_open()));
    talk.hear(keepalive());
    talk.hear(announced({host(2)}));
    EXPECT_THAT(talk.all<RouteGone>(), IsEmpty());

    talk.pass(Session::kEndOfRibBound);

    EXPECT_THAT(talk.all<RouteGone>(), ElementsAre(RouteGone{RouteKey(host(1))}));
    EXPECT_EQ(talk.session.routes_heard(), 1U);
}

TEST(Session, DoesNotKeepTwiceWhatWasNotRepeated) {
    SessionOptions keeping = options();
    keeping.keep = 120s;
    Talk talk = Talk::established(keeping);
    talk.hear(announced({host(1), host(2)}));
    talk.lose();
    talk.pass(Session::kRetryFirst);
    talk.session.connected(talk.last_wanted, talk.now);
    talk.id = talk.last_wanted;
    talk.hear(encoded(peer_open()));
    talk.hear(keepalive());
    talk.hear(announced({host(2)}));

    talk.lose();

    EXPECT_THAT(talk.all<RouteGone>(), ElementsAre(RouteGone{RouteKey(host(1))}));
    EXPECT_EQ(talk.session.routes_heard(), 1U);
}

TEST(Session, StopsWithAWordForTheOtherOperator) {
    Talk talk = Talk::established();
    talk.hear(announced({host(1)}));
    (void)talk.take();

    talk.session.stop("moved", talk.now);
    talk.collect();

    EXPECT_THAT(talk.last_words(),
                ElementsAre(notification(shutdown_notice(Notification::kAdminShutdown, "moved"))));
    EXPECT_EQ(talk.down().reason, Down::Reason::Stopped);
    EXPECT_THAT(talk.all<RouteGone>(), SizeIs(1));
    EXPECT_EQ(talk.session.state(), State::Idle);
    EXPECT_EQ(talk.session.wake_at(), std::nullopt);
}

TEST(Session, StopsForGoodWhereGracefulRestartWouldKeepItsRoutes) {
    SessionOptions restarting = options();
    restarting.restart_seconds = 120;
    Open open = peer_open();
    open.capabilities.graceful_restart = GracefulRestart{.notifications = true, .seconds = 60};
    Talk talk = Talk::established(restarting, open);

    talk.session.stop("moved", talk.now);
    talk.collect();

    EXPECT_THAT(talk.last_words(),
                ElementsAre(notification(
                    hard_reset(shutdown_notice(Notification::kAdminShutdown, "moved")))));
}

TEST(Session, IgnoresWhatComesForAConnectionThatIsGone) {
    Talk talk = Talk::established();
    const ConnectionId old = talk.id;
    talk.lose();
    talk.events.clear();

    talk.session.receive(old, keepalive(), talk.now);
    talk.session.lost(old, talk.now);
    talk.session.written(old, 5);
    talk.session.connect_failed(old, talk.now);
    talk.collect();

    EXPECT_TRUE(talk.session.pending(old).empty());
    EXPECT_THAT(talk.events, IsEmpty());
}

}  // namespace
}  // namespace planed::bgp
