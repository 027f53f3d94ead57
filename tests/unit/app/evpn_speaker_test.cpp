// SPDX-License-Identifier: Apache-2.0
#include "app/evpn_speaker.hpp"

#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bgp/update.hpp"
#include "unit/io/bgp_fake_peer.hpp"

namespace planed {
namespace {

using io::FakePeer;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const IpAddress kPeer = IpAddress::v4(127, 0, 0, 2);

bgp::Bytes announced(std::uint32_t count, const IpAddress& next_hop = kPeer) {
    const bgp::Path path{.next_hop = {.address = next_hop}, .attributes = {.local_pref = 100}};
    std::vector<bgp::Route> routes;
    for (std::uint32_t i = 0; i < count; ++i) {
        routes.emplace_back(bgp::MacIp{.tag = i});
    }
    bgp::Bytes bytes;
    EXPECT_EQ(bgp::encode_reachable(path, routes, bgp::kMessageMax, bytes), count);
    return bytes;
}

bgp::Bytes end_of_rib() {
    bgp::Bytes bytes;
    bgp::encode_end_of_rib(bytes);
    return bytes;
}

class EvpnSpeakerTest : public testing::Test {
protected:
    EvpnSpeakerTest() {
        fake.start();
        config = {.router_id = IpAddress::v4(10, 66, 0, 1),
                  .local_as = 65000,
                  .peers = {{.address = kPeer,
                             .remote_as = 65000,
                             .port = fake.port(),
                             .connect_retry = 5ms,
                             .description = "b1",
                             .max_prefixes = 50}}};
    }
    bool run_until(const std::function<bool()>& claim) {
        const TimePoint end = io::now() + 5s;
        loop.restart();
        while (!claim()) {
            if (io::now() >= end || loop.run_one_until(end) == 0) {
                return claim();
            }
        }
        return true;
    }
    [[nodiscard]] bgp::PeerView peer() const { return speaker.peers().at(0); }
    bool up(std::uint64_t sessions = 1) {
        return run_until([this, sessions] {
            return peer().state == bgp::State::Established && peer().sessions == sessions;
        });
    }
    bool has_routes(std::size_t count) {
        return run_until([this, count] { return peer().routes == count; });
    }
    [[nodiscard]] std::vector<bgp::RouteRow> routes(std::size_t slice = 1000) const {
        std::vector<bgp::RouteRow> rows;
        bgp::RouteCursor cursor;
        while (speaker.read_routes(cursor, slice, rows)) {
        }
        return rows;
    }
    [[nodiscard]] std::vector<std::string> said(std::string_view id) const {
        std::vector<std::string> texts;
        for (const Note& note : notes) {
            if (note.id == id) {
                texts.push_back(note.text);
            }
        }
        return texts;
    }

    boost::asio::io_context loop{1};
    FakePeer fake{loop, "127.0.0.2"};
    EvpnConfig config;
    std::vector<Note> notes;
    EvpnSpeaker speaker{loop, [this](const Note& note) { notes.push_back(note); }};
};

TEST_F(EvpnSpeakerTest, IsSilentUntilItIsConfigured) {
    speaker.configure({});
    (void)loop.poll();

    EXPECT_THAT(speaker.peers(), IsEmpty());
    EXPECT_EQ(fake.accepted, 0U);
    EXPECT_THAT(notes, IsEmpty());
}

TEST_F(EvpnSpeakerTest, ShowsASessionThatIsUp) {
    speaker.configure(config);
    ASSERT_TRUE(up());

    EXPECT_EQ(peer().address, kPeer);
    EXPECT_EQ(peer().remote_as, bgp::AsNumber{65000});
    EXPECT_EQ(peer().open, fake.open);
    EXPECT_EQ(peer().hold_seconds, 90);
    EXPECT_EQ(peer().description, "b1");
    EXPECT_THAT(said("bgp.peer.up"),
                testing::ElementsAre("peer=127.0.0.2 as=65000 router_id=10.66.0.2 hold=90s"));
}

TEST_F(EvpnSpeakerTest, KeepsWhatAPeerTells) {
    speaker.configure(config);
    ASSERT_TRUE(up());
    fake.say(announced(30));
    fake.say(end_of_rib());

    ASSERT_TRUE(run_until([this] { return peer().end_of_rib; }));
    EXPECT_THAT(routes(), SizeIs(30));
    EXPECT_EQ(routes()[0].peer, kPeer);
    EXPECT_EQ(routes()[0].path->next_hop.address, kPeer);
    EXPECT_FALSE(routes()[0].stale);
    EXPECT_THAT(speaker.counters(),
                Contains(std::pair<std::string, std::uint64_t>("evpn_routes", 30)));
}

TEST_F(EvpnSpeakerTest, ReadsTheSameInSlicesOfAnySize) {
    speaker.configure(config);
    ASSERT_TRUE(up());
    fake.say(announced(30));
    ASSERT_TRUE(has_routes(30));

    for (const std::size_t slice : {1U, 7U, 29U, 30U, 31U}) {
        EXPECT_THAT(routes(slice), SizeIs(30)) << slice;
    }
}

TEST_F(EvpnSpeakerTest, CallsRoutesStaleWhenThePeerIsSilentlyGone) {
    speaker.configure(config);
    ASSERT_TRUE(up());
    fake.say(announced(3));
    ASSERT_TRUE(has_routes(3));

    fake.drop_all();
    ASSERT_TRUE(run_until([this] { return !said("bgp.peer.down").empty(); }));

    EXPECT_THAT(said("bgp.peer.down")[0], HasSubstr("peer=127.0.0.2 reason=lost routes=3"));
    EXPECT_THAT(routes(), SizeIs(3));
    EXPECT_TRUE(routes()[0].stale);
    ASSERT_TRUE(up(2));
    fake.say(end_of_rib());
    EXPECT_TRUE(has_routes(0));
}

TEST_F(EvpnSpeakerTest, EndsASessionWithTooManyRoutes) {
    speaker.configure(config);
    ASSERT_TRUE(up());

    fake.say(announced(51));

    ASSERT_TRUE(run_until([this] { return !said("bgp.peer.down").empty(); }));
    EXPECT_THAT(peer().last_error, HasSubstr("51 routes where 50 may be"));
    EXPECT_TRUE(has_routes(0));
}

TEST_F(EvpnSpeakerTest, SaysAReasonOnceThatKeepsItDown) {
    fake.stop();
    speaker.configure(config);

    const TimePoint until = io::now() + 30ms;  // Some attempts.
    (void)run_until([until] { return io::now() >= until; });

    EXPECT_THAT(said("bgp.peer.failed"), SizeIs(1));
    EXPECT_THAT(peer().last_error, HasSubstr("refuses connections"));
    EXPECT_NE(peer().last_error_at, std::nullopt);
}

TEST_F(EvpnSpeakerTest, LeavesASessionAloneThatDidNotChange) {
    speaker.configure(config);
    ASSERT_TRUE(up());

    config.peers[0].description = "other words";
    config.peers.push_back(
        {.address = IpAddress::v4(127, 0, 0, 3), .remote_as = 7, .enabled = false});
    speaker.configure(config);
    (void)loop.poll();

    EXPECT_EQ(peer().state, bgp::State::Established);
    EXPECT_EQ(peer().description, "other words");
    ASSERT_THAT(speaker.peers(), SizeIs(2));
    EXPECT_FALSE(speaker.peers()[1].enabled);
    EXPECT_EQ(speaker.peers()[1].since, std::nullopt);
}

TEST_F(EvpnSpeakerTest, BeginsASessionAnewThatDidChange) {
    speaker.configure(config);
    ASSERT_TRUE(up());
    fake.say(announced(3));
    ASSERT_TRUE(has_routes(3));

    config.peers[0].hold_time = 30s;
    speaker.configure(config);
    EXPECT_THAT(routes(), IsEmpty());

    ASSERT_TRUE(up());
    EXPECT_EQ(peer().hold_seconds, 30);
    EXPECT_EQ(fake.accepted, 2U);
    EXPECT_THAT(said("bgp.peer.down"),
                testing::ElementsAre("peer=127.0.0.2 reason=stopped routes=0 text=\"the "
                                     "configuration has changed\""));
}

TEST_F(EvpnSpeakerTest, EndsAllSessionsWhenItIsSwitchedOff) {
    speaker.configure(config);
    ASSERT_TRUE(up());

    speaker.configure({});

    EXPECT_THAT(speaker.peers(), IsEmpty());
    EXPECT_TRUE(run_until([this] { return fake.connections.back()->ended; }));
    EXPECT_EQ(fake.last().type, bgp::MessageType::Notification);
}

TEST_F(EvpnSpeakerTest, SaysGoodbyeAtTheEnd) {
    speaker.configure(config);
    ASSERT_TRUE(up());
    bool done = false;

    speaker.close([&done] { done = true; });

    ASSERT_TRUE(run_until([&] { return fake.connections.back()->ended; }));
    const auto told = bgp::decode_notification(fake.last().body);
    ASSERT_TRUE(told);
    EXPECT_EQ(bgp::shutdown_text(*told), "planed is stopping");
    fake.drop_all();
    EXPECT_TRUE(run_until([&done] { return done; }));
}

}  // namespace
}  // namespace planed
