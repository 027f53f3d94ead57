// SPDX-License-Identifier: Apache-2.0
// One session; its peer is played by the test, message by message.
#include "bgp/session.hpp"

#include <algorithm>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/bgp/values.hpp"
#include "unit/bgp/vectors.hpp"

namespace planed::bgp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr TimePoint kStart{1h};

SessionOptions options() {
    return {.local_as = kAs, .peer_as = kAs, .id = kLeaf1, .hold_seconds = 90};
}

Open peer_open() {
    return {.as = kAs,
            .hold_seconds = 180,
            .id = kLeaf2,
            .capabilities = {
                .families = {AddressFamily{}}, .route_refresh = true, .four_octet_as = kAs}};
}

Bytes encoded(const Open& open) {
    Bytes out;
    encode_open(open, out);
    return out;
}
Bytes keepalive() {
    Bytes out;
    encode_keepalive(out);
    return out;
}
Bytes notification(const Notification& notification) {
    Bytes out;
    encode_notification(notification, out);
    return out;
}
Bytes end_of_rib() {
    Bytes out;
    encode_end_of_rib(out);
    return out;
}
Route host(std::uint8_t number) {
    return MacIp{.rd = rd(kLeaf2, 100),
                 .esi = kEsi,
                 .mac = mac(number),
                 .ip = IpAddress::v4(10, 0, 0, number),
                 .label1 = 100};
}
const Path kPath{.next_hop = {.address = address("10.66.0.2")}, .attributes = {.local_pref = 100}};
Bytes announced(const std::vector<Route>& routes, const Path& path = kPath) {
    Bytes out;
    EXPECT_EQ(encode_reachable(path, routes, kMessageMax, out), routes.size());
    return out;
}
Bytes withdrawn(const Route& route) {
    Bytes out;
    const std::vector<RouteKey> keys{RouteKey(route)};
    EXPECT_EQ(encode_withdrawn(keys, kMessageMax, out), 1U);
    return out;
}

class Talk {
public:
    explicit Talk(const SessionOptions& from = options()) : session(from) {}

    /// A connection that we opened; what was written until then is taken and forgotten.
    static Talk established(const SessionOptions& from = options(),
                            const Open& peer = peer_open()) {
        Talk talk(from);
        talk.connect();
        talk.hear(encoded(peer));
        talk.hear(keepalive());
        (void)talk.take();
        talk.events.clear();
        EXPECT_EQ(talk.session.state(), State::Established);
        return talk;
    }
    void connect() {
        session.start(now);
        collect();
        session.connected(last_wanted, now);
        id = last_wanted;
    }
    void hear(const Bytes& bytes) {
        session.receive(id, bytes, now);
        collect();
    }
    void lose() {
        session.lost(id, now);
        collect();
    }
    void pass(Duration span) {
        now += span;
        session.tick(now);
        collect();
    }
    void collect() {
        while (auto event = session.poll_event()) {
            if (const auto* const wanted = std::get_if<ConnectionWanted>(&*event)) {
                last_wanted = wanted->id;
            }
            if (const auto* const unwanted = std::get_if<ConnectionUnwanted>(&*event)) {
                last_said = unwanted->last_words;
            }
            events.push_back(std::move(*event));
        }
    }
    static std::vector<Bytes> messages(std::span<const std::uint8_t> stream) {
        std::vector<Bytes> result;
        while (!stream.empty()) {
            const auto length = decode_header(stream, kExtendedMessageMax).value().length;
            result.emplace_back(stream.begin(), stream.begin() + length);
            stream = stream.subspan(length);
        }
        return result;
    }
    /// Everything written, as whole messages.
    std::vector<Bytes> take() {
        Bytes stream;
        for (auto piece = session.pending(id); !piece.empty(); piece = session.pending(id)) {
            stream.insert(stream.end(), piece.begin(), piece.end());
            session.written(id, piece.size());
        }
        return messages(stream);
    }
    template <class T>
    std::vector<T> all() {
        std::vector<T> result;
        for (const Event& event : events) {
            if (const auto* const one = std::get_if<T>(&event)) {
                result.push_back(*one);
            }
        }
        return result;
    }
    [[nodiscard]] std::vector<Bytes> last_words() const { return messages(last_said); }
    /// The last one; there must be one.
    Down down() { return all<Down>().back(); }

    Session session;
    TimePoint now = kStart;
    ConnectionId id{};
    ConnectionId last_wanted{};
    std::vector<Event> events;
    Bytes last_said;  // With the last connection that was closed.
};

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
                                                      .four_octet_as = kAs}})));
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
    Talk talk = Talk::established();
    const auto accepted = talk.session.accepted(talk.now);
    ASSERT_TRUE(accepted.has_value());

    talk.session.receive(*accepted, encoded(peer_open()), talk.now);
    talk.collect();

    const auto closed = talk.all<ConnectionUnwanted>();
    ASSERT_THAT(closed, SizeIs(1));
    EXPECT_EQ(closed[0].id, *accepted);
    EXPECT_EQ(talk.session.state(), State::Established);
}

TEST(Session, TakesTheNewConnectionOfAPeerThatRestartsGracefully) {
    Open open = peer_open();
    open.capabilities.graceful_restart = GracefulRestart{.seconds = 60};
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

// --- Routes. ---

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
