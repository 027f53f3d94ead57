// SPDX-License-Identifier: Apache-2.0
#include "io/bgp_transport.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bgp/update.hpp"
#include "unit/io/bgp_fake_peer.hpp"
#include "unit/io/run_until.hpp"

namespace planed::io {
namespace {

using bgp::MessageType;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const IpAddress kOwn = IpAddress::v4(127, 0, 0, 1);
const IpAddress kPeer = IpAddress::v4(127, 0, 0, 2);

/// Added to the real clock, so that a test can let time pass.
Duration& skipped() {
    static Duration span{};
    return span;
}
TimePoint shifted_now() {
    return now() + skipped();
}

bgp::Bytes announced(std::uint32_t first, std::uint32_t count) {
    const bgp::Path path{.next_hop = {.address = kPeer}, .attributes = {.local_pref = 100}};
    std::vector<bgp::Route> routes;
    for (std::uint32_t i = first; i < first + count; ++i) {
        routes.emplace_back(bgp::MacIp{.tag = i});
    }
    bgp::Bytes bytes;
    std::span<const bgp::Route> left(routes);
    while (!left.empty()) {
        left = left.subspan(bgp::encode_reachable(path, left, bgp::kMessageMax, bytes));
    }
    return bytes;
}

class BgpTransportTest : public testing::Test {
protected:
    BgpTransportTest() { skipped() = {}; }

    bool run_until(const std::function<bool()>& claim) { return io::run_until(loop, claim); }
    /// As long as something is ready.
    void run_ready() {
        loop.restart();
        (void)loop.poll();
    }

    BgpTransport& transport() {
        if (!transport_) {
            transport_ = std::make_unique<BgpTransport>(
                loop,
                options,
                BgpCallbacks{.on_event =
                                 [this](const IpAddress& from, const bgp::Event& event) {
                                     EXPECT_EQ(from, peer.address);
                                     events.push_back(event);
                                 },
                             .on_unreachable =
                                 [this](const IpAddress& from, const Error& why) {
                                     EXPECT_EQ(from, peer.address);
                                     unreachable.push_back(why.text);
                                 },
                             .log = [this](const Note& note) { notes.push_back(note); }});
        }
        return *transport_;
    }
    void listen(const IpAddress& address = kOwn) { transport().listen({address}, 0); }
    void add() {
        peer.port = fake.port();
        transport().add(peer);
    }
    bool established(std::size_t times = 1) {
        return run_until([this, times] { return all<bgp::Established>().size() >= times; });
    }
    bool up() {
        fake.start();
        add();
        return established();
    }
    template <class T>
    [[nodiscard]] std::vector<T> all() const {
        std::vector<T> result;
        for (const bgp::Event& event : events) {
            if (const auto* const one = std::get_if<T>(&event)) {
                result.push_back(*one);
            }
        }
        return result;
    }
    /// The last message is this NOTIFICATION.
    bool is_told(std::uint8_t code, std::uint8_t subcode) {
        return run_until([this, code, subcode] {
            if (fake.connections.empty() || fake.connections.back()->heard.empty() ||
                fake.last().type != MessageType::Notification) {
                return false;
            }
            const auto told = bgp::decode_notification(fake.last().body);
            return told && told->code == code && told->subcode == subcode;
        });
    }

    boost::asio::io_context loop{1};
    FakePeer fake{loop, "127.0.0.2"};
    BgpTransportOptions options{
        .listen_retry = 1ms, .linger = 50ms, .close_deadline = 20ms, .now = &shifted_now};
    BgpPeer peer{.address = kPeer,
                 .source = kOwn,
                 .session = {.local_as = bgp::AsNumber{65000},
                             .peer_as = bgp::AsNumber{65000},
                             .id = bgp::RouterId{0x0A420001},
                             .connect_retry = 5ms}};
    std::vector<bgp::Event> events;
    std::vector<std::string> unreachable;
    std::vector<Note> notes;

private:
    std::unique_ptr<BgpTransport> transport_;
};

// --- Coming up. ---

TEST_F(BgpTransportTest, ConnectsToItsPeer) {
    ASSERT_TRUE(up());

    EXPECT_EQ(fake.accepted, 1U);
    EXPECT_EQ(transport().session(kPeer)->state(), bgp::State::Established);
    EXPECT_EQ(all<bgp::Established>().at(0).peer, fake.open);
    EXPECT_THAT(unreachable, IsEmpty());
}

TEST_F(BgpTransportTest, ConnectsFromTheSourceAddress) {
    peer.source = IpAddress::v4(127, 0, 0, 3);
    ASSERT_TRUE(up());

    EXPECT_EQ(fake.connections.back()->socket.remote_endpoint().address().to_string(), "127.0.0.3");
}

TEST_F(BgpTransportTest, TakesAPeersConnection) {
    peer.session.passive = true;
    listen();
    add();
    fake.connect(transport().listening_port());

    ASSERT_TRUE(established());
    EXPECT_EQ(transport().counters(), (BgpTransport::Counters{.accepted = 1}));
}

TEST_F(BgpTransportTest, SpeaksIpv6) {
    const IpAddress loopback = *IpAddress::parse("::1");
    FakePeer six(loop, "::1");
    six.start();
    peer.address = loopback;
    peer.source.reset();
    peer.port = six.port();
    peer.hops_max = 0;
    transport().add(peer);

    ASSERT_TRUE(established());
    transport().remove(loopback, "");
    peer.session.passive = true;
    listen(loopback);
    transport().add(peer);
    six.connect(transport().listening_port());
    EXPECT_TRUE(established(2));
}

TEST_F(BgpTransportTest, KeepsOneOfTwoConnections) {
    fake.answers = false;
    fake.start();
    listen();
    add();
    ASSERT_TRUE(run_until([this] { return fake.count(MessageType::Open) == 1; }));
    fake.connect(transport().listening_port());
    ASSERT_TRUE(run_until([this] { return fake.count(MessageType::Open) == 2; }));

    FakePeer::say(fake.connections.front(), fake.open_bytes());
    ASSERT_TRUE(run_until([this] { return fake.count(MessageType::Keepalive) == 1; }));
    bgp::Bytes bytes = fake.open_bytes();
    bgp::encode_keepalive(bytes);
    FakePeer::say(fake.connections.back(), bytes);

    ASSERT_TRUE(established());
    // Its identifier is the higher one, so the connection that it has made stays.
    EXPECT_TRUE(run_until([this] { return fake.connections.front()->ended; }));
    EXPECT_EQ(fake.connections.front()->heard.back().type, MessageType::Notification);
    EXPECT_FALSE(fake.connections.back()->ended);
    EXPECT_THAT(all<bgp::Established>(), SizeIs(1));
}

// --- Not coming up. ---

TEST_F(BgpTransportTest, SaysThatNobodyListens) {
    fake.start();
    fake.stop();
    add();

    ASSERT_TRUE(run_until([this] { return !unreachable.empty(); }));
    EXPECT_EQ(unreachable[0],
              fmt::format("127.0.0.2 port {} refuses connections (does its BGP listen there?)",
                          fake.port()));
}

TEST_F(BgpTransportTest, TriesAgainUntilSomebodyDoes) {
    fake.start();
    fake.stop();
    add();
    ASSERT_TRUE(run_until([this] { return unreachable.size() >= 2; }));

    fake.start();

    EXPECT_TRUE(established());
}

TEST_F(BgpTransportTest, SaysThatItLacksTheSourceAddress) {
    peer.source = IpAddress::v4(192, 0, 2, 1);
    fake.start();
    add();

    ASSERT_TRUE(run_until([this] { return !unreachable.empty(); }));
    EXPECT_EQ(unreachable[0], "this leaf has no address 192.0.2.1 to connect from");
}

TEST_F(BgpTransportTest, TurnsStrangersAway) {
    FakePeer stranger(loop, "127.0.0.9");
    listen();
    stranger.connect(transport().listening_port());

    ASSERT_TRUE(run_until(
        [&] { return !stranger.connections.empty() && stranger.connections.back()->ended; }));
    EXPECT_EQ(transport().counters(), (BgpTransport::Counters{.strangers = 1}));
    EXPECT_THAT(stranger.connections.back()->heard, IsEmpty());
    EXPECT_EQ(notes.back().id, "bgp.stranger");
    EXPECT_THAT(notes.back().text, HasSubstr("address=127.0.0.9"));
}

TEST_F(BgpTransportTest, TakesNoConnectionInAPauseAfterAnError) {
    peer.session.passive = true;
    listen();
    add();
    fake.open.as = bgp::AsNumber{65001};
    fake.open.capabilities.four_octet_as = bgp::AsNumber{65001};
    fake.connect(transport().listening_port());
    ASSERT_TRUE(is_told(2, 2));

    fake.connect(transport().listening_port());

    ASSERT_TRUE(run_until(
        [this] { return fake.connections.size() == 2 && fake.connections.back()->ended; }));
    EXPECT_EQ(transport().counters(), (BgpTransport::Counters{.accepted = 1, .unwanted = 1}));
}

TEST_F(BgpTransportTest, SaysOnceThatItCannotListen) {
    transport().listen({IpAddress::v4(192, 0, 2, 1)}, 0);
    const TimePoint until = now() + 10ms;  // Some retries.
    (void)run_until([until] { return now() >= until; });

    ASSERT_THAT(notes, SizeIs(1));
    EXPECT_EQ(notes[0].id, "bgp.listen");
    EXPECT_THAT(notes[0].text, HasSubstr("address=192.0.2.1"));
    EXPECT_THAT(transport().listening(), IsEmpty());
}

TEST_F(BgpTransportTest, ListensWhereItIsToldAndNowhereElse) {
    const IpAddress other = IpAddress::v4(127, 0, 0, 4);
    transport().listen({kOwn}, 0);
    transport().listen({other}, 0);
    EXPECT_THAT(transport().listening(), ElementsAre(other));

    transport().listen({}, 0);
    EXPECT_THAT(transport().listening(), IsEmpty());
}

// --- Proofs. ---

TEST_F(BgpTransportTest, ComesUpWithTheSamePassword) {
    peer.password = fake.password = "s3cret";
    fake.start();
    add();
    EXPECT_TRUE(established());

    transport().remove(kPeer, "");
    peer.session.passive = true;
    listen();
    add();
    fake.connect(transport().listening_port());
    EXPECT_TRUE(established(2));
}

TEST_F(BgpTransportTest, HintsAtThePasswordWhenNobodyAnswers) {
    peer.password = "s3cret";
    fake.password = "an0ther";
    fake.start();
    add();

    ASSERT_TRUE(run_until([this] { return !unreachable.empty(); }));
    EXPECT_THAT(unreachable[0], HasSubstr("does not answer (do the passwords differ?)"));
    EXPECT_THAT(unreachable[0], testing::Not(HasSubstr("s3cret")));
    EXPECT_EQ(fake.accepted, 0U);
}

TEST_F(BgpTransportTest, ForgetsThePasswordOfAPeerThatIsRemoved) {
    peer.session.passive = true;
    peer.password = "s3cret";
    listen();
    add();
    transport().remove(kPeer, "");

    peer.password.clear();
    transport().add(peer);
    fake.connect(transport().listening_port());

    EXPECT_TRUE(established());
}

TEST_F(BgpTransportTest, HearsNobodyFromFartherAwayThanAllowed) {
    peer.hops_max = 1;
    fake.ttl = 254;
    fake.start();
    add();

    ASSERT_TRUE(run_until([this] { return !unreachable.empty(); }));
    EXPECT_THAT(unreachable[0], HasSubstr("is it farther away than ttl_security says?"));
    EXPECT_THAT(all<bgp::Established>(), IsEmpty());
}

TEST_F(BgpTransportTest, HearsWhoIsAsNearAsAllowed) {
    peer.hops_max = 2;
    fake.ttl = 254;
    ASSERT_TRUE(up());
}

// --- Talking. ---

TEST_F(BgpTransportTest, HandsOutWhatThePeerTells) {
    constexpr std::uint32_t kRoutes = 5000;  // More than one slice.
    ASSERT_TRUE(up());

    fake.say(announced(0, kRoutes));

    ASSERT_TRUE(run_until([this] { return all<bgp::RouteHeard>().size() == kRoutes; }));
    EXPECT_EQ(transport().session(kPeer)->routes_heard(), kRoutes);
    fake.drop_all();
    EXPECT_TRUE(run_until([this] { return all<bgp::RouteGone>().size() == kRoutes; }));
}

TEST_F(BgpTransportTest, EndsTheSessionWithTooManyRoutes) {
    peer.session.routes_max = 10;
    ASSERT_TRUE(up());

    fake.say(announced(0, 11));

    EXPECT_TRUE(is_told(6, 1));
    EXPECT_THAT(all<bgp::Down>().at(0).text, HasSubstr("11 routes where 10 may be"));
    EXPECT_THAT(all<bgp::RouteGone>(), SizeIs(11));
}

TEST_F(BgpTransportTest, AnswersNonsenseWithAReason) {
    ASSERT_TRUE(up());

    fake.say(bgp::Bytes(100, 0));

    EXPECT_TRUE(is_told(1, 1));
    EXPECT_TRUE(run_until([this] { return fake.connections.back()->ended; }));
    EXPECT_EQ(all<bgp::Down>().at(0).reason, bgp::Down::Reason::Refused);
}

TEST_F(BgpTransportTest, GivesUpAPeerThatIsSilent) {
    peer.session.hold_seconds = 3;
    ASSERT_TRUE(up());

    skipped() += 3s;  // Seen with the next KEEPALIVE that is due.

    ASSERT_TRUE(run_until([this] { return !all<bgp::Down>().empty(); }));
    EXPECT_EQ(all<bgp::Down>()[0].reason, bgp::Down::Reason::HoldExpired);
    EXPECT_TRUE(is_told(4, 0));
}

TEST_F(BgpTransportTest, ConnectsAnewWhenTheConnectionIsLost) {
    ASSERT_TRUE(up());

    fake.drop_all();

    EXPECT_TRUE(established(2));
    EXPECT_EQ(all<bgp::Down>().at(0).reason, bgp::Down::Reason::Lost);
}

// --- The end. ---

TEST_F(BgpTransportTest, SaysGoodbyeToAPeerThatIsRemoved) {
    ASSERT_TRUE(up());
    events.clear();

    transport().remove(kPeer, "no more");

    ASSERT_TRUE(is_told(6, 2));
    EXPECT_EQ(bgp::shutdown_text(*bgp::decode_notification(fake.last().body)), "no more");
    EXPECT_TRUE(run_until([this] { return fake.connections.back()->ended; }));
    EXPECT_EQ(transport().session(kPeer), nullptr);
    run_ready();
    EXPECT_THAT(events, IsEmpty());
}

TEST_F(BgpTransportTest, ComesUpAgainWithAPeerThatWasChanged) {
    ASSERT_TRUE(up());

    transport().remove(kPeer, "");
    peer.session.hold_seconds = 30;
    add();

    ASSERT_TRUE(established(2));
    EXPECT_EQ(all<bgp::Established>()[1].hold_seconds, 30);
}

TEST_F(BgpTransportTest, SaysGoodbyeAtTheEnd) {
    ASSERT_TRUE(up());
    bool done = false;

    transport().close("planed is stopping", [&done] { done = true; });
    EXPECT_FALSE(done);

    EXPECT_TRUE(is_told(6, 2));
    fake.drop_all();
    EXPECT_TRUE(run_until([&done] { return done; }));
}

TEST_F(BgpTransportTest, EndsThoughThePeerStaysConnected) {
    ASSERT_TRUE(up());
    bool done = false;

    transport().close("", [&done] { done = true; });

    EXPECT_TRUE(run_until([&done] { return done; }));
}

TEST_F(BgpTransportTest, EndsAtOnceWithoutPeers) {
    bool done = false;

    transport().close("", [&done] { done = true; });

    EXPECT_TRUE(run_until([&done] { return done; }));
}

}  // namespace
}  // namespace planed::io
