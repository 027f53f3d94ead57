// SPDX-License-Identifier: Apache-2.0
#include "bgp/advertisements.hpp"

#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/bgp/values.hpp"
#include "unit/bgp/vectors.hpp"

namespace planed::bgp {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const Path kFirst{.next_hop = {.address = address("10.66.0.3")},
                  .attributes = {.local_pref = 100, .communities = {route_target(kAs, 100)}}};
const Path kOther{.next_hop = {.address = address("10.66.0.3")},
                  .attributes = {.local_pref = 100, .communities = {route_target(kAs, 200)}}};

Route host_route(std::uint32_t number) {
    return MacIp{.rd = rd(kLeaf3, 100),
                 .esi = kEsi,
                 .mac = mac(1),
                 .ip = IpAddress::v4(10,
                                     static_cast<std::uint8_t>(number >> 16U),
                                     static_cast<std::uint8_t>(number >> 8U),
                                     static_cast<std::uint8_t>(number)),
                 .label1 = 100};
}
const Route kSegment =
    Segment{.rd = rd(kLeaf3, 2), .esi = kEsi, .originator = address("10.66.0.3")};
const Route kPerEs = EthernetAd{.rd = rd(kLeaf3, 2), .esi = kEsi, .tag = kMaxEthernetTag};
const Route kPerEvi = EthernetAd{.rd = rd(kLeaf3, 100), .esi = kEsi, .label = 100};
const Route kMulticast = Multicast{.rd = rd(kLeaf3, 100), .originator = address("10.66.0.3")};
const Route kPrefix = Prefix{.rd = rd(kLeaf3, 5), .prefix = IpPrefix::parse("10.0.0.0/8").value()};

/// Everything that waits, message by message.
std::vector<Update> drain(Advertisements& queue, std::size_t longest = kMessageMax) {
    std::vector<Update> updates;
    for (Bytes out; queue.write_next(longest, out); out.clear()) {
        updates.push_back(decode_update(body_of(out), PeerKind::Internal).value());
    }
    EXPECT_TRUE(queue.empty());
    return updates;
}

/// Up, and with nothing left to say.
Advertisements begun(const std::vector<Route>& routes) {
    Advertisements queue;
    for (const Route& route : routes) {
        EXPECT_TRUE(queue.want(route, kFirst));
    }
    queue.begin();
    (void)drain(queue);
    return queue;
}

TEST(Advertisements, SaySegmentsFirstAndEndWithEndOfRib) {
    Advertisements queue;
    for (const Route& route : {kPrefix, host_route(1), kMulticast, kPerEvi, kPerEs, kSegment}) {
        ASSERT_TRUE(queue.want(route, kFirst));
    }
    queue.begin();

    const auto updates = drain(queue);

    ASSERT_THAT(updates, SizeIs(7));
    EXPECT_THAT(updates[0].reachable, ElementsAre(kSegment));
    EXPECT_THAT(updates[1].reachable, ElementsAre(kPerEs));
    EXPECT_THAT(updates[2].reachable, ElementsAre(kPerEvi));
    EXPECT_THAT(updates[3].reachable, ElementsAre(kMulticast));
    EXPECT_THAT(updates[4].reachable, ElementsAre(host_route(1)));
    EXPECT_THAT(updates[5].reachable, ElementsAre(kPrefix));
    EXPECT_EQ(updates[6], Update{.end_of_rib = true});
}

TEST(Advertisements, EndAnEmptyTableToo) {
    Advertisements queue;
    queue.begin();

    EXPECT_THAT(drain(queue), ElementsAre(Update{.end_of_rib = true}));
    EXPECT_THAT(drain(queue), IsEmpty()) << "once";
}

TEST(Advertisements, SayNothingWithoutASession) {
    Advertisements queue;
    ASSERT_TRUE(queue.want(host_route(1), kFirst));
    queue.unwant(RouteKey(host_route(1)));
    ASSERT_TRUE(queue.want(host_route(2), kFirst));

    EXPECT_THAT(drain(queue), IsEmpty());
    EXPECT_EQ(queue.wanted(), 1U);
}

TEST(Advertisements, PackRoutesOfOnePath) {
    Advertisements queue;
    std::set<Route> all;
    for (std::uint32_t i = 0; i < 10'000; ++i) {
        ASSERT_TRUE(queue.want(host_route(i), i % 2 == 0 ? kFirst : kOther));
        all.insert(host_route(i));
    }
    queue.begin();

    auto updates = drain(queue);

    ASSERT_TRUE(updates.back().end_of_rib);
    updates.pop_back();
    EXPECT_EQ(updates.size(), 98U);  // 2 x 49, with 103 routes in each but the last.
    std::set<Route> said;
    for (const Update& update : updates) {
        EXPECT_TRUE(update.path == kFirst || update.path == kOther);
        said.insert(update.reachable.begin(), update.reachable.end());
    }
    EXPECT_EQ(said, all);
}

TEST(Advertisements, WithdrawASegmentInOneMessage) {
    auto queue = begun({kPerEs, kSegment, host_route(1), kPerEvi});
    for (const Route& route : {host_route(1), kPerEvi, kPerEs, kSegment}) {
        queue.unwant(RouteKey(route));
    }

    EXPECT_THAT(drain(queue),
                ElementsAre(Update{.withdrawn = {RouteKey(kSegment),
                                                 RouteKey(kPerEs),
                                                 RouteKey(kPerEvi),
                                                 RouteKey(host_route(1))}}));
}

TEST(Advertisements, LetWithdrawalsGoFirst) {
    auto queue = begun({host_route(1)});
    ASSERT_TRUE(queue.want(host_route(2), kFirst));
    queue.unwant(RouteKey(host_route(1)));

    const auto updates = drain(queue);

    ASSERT_THAT(updates, SizeIs(2));
    EXPECT_THAT(updates[0].withdrawn, ElementsAre(RouteKey(host_route(1))));
    EXPECT_THAT(updates[1].reachable, ElementsAre(host_route(2)));
}

TEST(Advertisements, SayOnlyTheNewestWord) {
    auto queue = begun({host_route(1)});
    ASSERT_TRUE(queue.want(host_route(1), kOther));
    ASSERT_TRUE(queue.want(host_route(1), kFirst));
    ASSERT_TRUE(queue.want(host_route(1), kOther));
    ASSERT_TRUE(queue.want(host_route(2), kFirst));
    queue.unwant(RouteKey(host_route(2)));

    const auto updates = drain(queue);

    ASSERT_THAT(updates, SizeIs(1)) << "and no withdrawal of what was never said";
    EXPECT_THAT(updates[0].reachable, ElementsAre(host_route(1)));
    EXPECT_EQ(updates[0].path, kOther);
}

TEST(Advertisements, SayAgainWhatWasAlmostWithdrawn) {
    auto queue = begun({host_route(1)});
    queue.unwant(RouteKey(host_route(1)));
    ASSERT_TRUE(queue.want(host_route(1), kOther));
    EXPECT_EQ(queue.backlog(), 1U);
    const auto updates = drain(queue);
    queue.unwant(RouteKey(host_route(1)));

    ASSERT_THAT(updates, SizeIs(1));
    EXPECT_THAT(updates[0].reachable, ElementsAre(host_route(1)));
    EXPECT_THAT(drain(queue), SizeIs(1)) << "the peer still had it";
}

TEST(Advertisements, SayNothingTwice) {
    auto queue = begun({host_route(1)});

    ASSERT_TRUE(queue.want(host_route(1), kFirst));

    EXPECT_THAT(drain(queue), IsEmpty());
}

TEST(Advertisements, ReplaceARouteWhoseSegmentHasChanged) {
    auto queue = begun({host_route(1)});
    MacIp moved = std::get<MacIp>(host_route(1));
    moved.esi[9] = 2;
    ASSERT_TRUE(queue.want(moved, kFirst));

    const auto updates = drain(queue);

    ASSERT_THAT(updates, SizeIs(1));
    EXPECT_THAT(updates[0].withdrawn, IsEmpty());
    EXPECT_THAT(updates[0].reachable, ElementsAre(Route(moved)));
    EXPECT_EQ(queue.wanted(), 1U);
}

TEST(Advertisements, SayEverythingWhenAsked) {
    auto queue = begun({host_route(1), kSegment});
    queue.resend();

    const auto updates = drain(queue);

    ASSERT_THAT(updates, SizeIs(2)) << "and no second End-of-RIB";
    EXPECT_THAT(updates[0].reachable, ElementsAre(kSegment));
    EXPECT_THAT(updates[1].reachable, ElementsAre(host_route(1)));
}

TEST(Advertisements, BeginAnewInTheNextSession) {
    auto queue = begun({host_route(1)});
    ASSERT_TRUE(queue.want(host_route(2), kFirst));
    queue.unwant(RouteKey(host_route(1)));
    queue.end();
    EXPECT_THAT(drain(queue), IsEmpty());
    queue.begin();

    const auto updates = drain(queue);

    ASSERT_THAT(updates, SizeIs(2)) << "what the last session had not withdrawn is no affair";
    EXPECT_THAT(updates[0].reachable, ElementsAre(host_route(2)));
    EXPECT_TRUE(updates[1].end_of_rib);
}

TEST(Advertisements, EndTheRibBehindWhatWasWantedAtTheBeginning) {
    Advertisements queue;
    ASSERT_TRUE(queue.want(host_route(1), kFirst));
    ASSERT_TRUE(queue.want(kSegment, kFirst));
    queue.begin();
    queue.unwant(RouteKey(host_route(1)));
    ASSERT_TRUE(queue.want(kSegment, kOther));
    ASSERT_TRUE(queue.want(host_route(2), kFirst));

    const auto updates = drain(queue);

    ASSERT_THAT(updates, SizeIs(3));
    EXPECT_THAT(updates[0].reachable, ElementsAre(kSegment));
    EXPECT_TRUE(updates[1].end_of_rib) << "a newcomer does not hold it up";
    EXPECT_THAT(updates[2].reachable, ElementsAre(host_route(2)));
}

TEST(Advertisements, RefuseAttributesThatLeaveNoRoom) {
    auto queue = begun({host_route(1)});
    const Path path{.attributes = {.others = {{.type = 99, .value = Bytes(4000, 7)}}}};

    const auto wanted = queue.want(host_route(1), path);

    ASSERT_FALSE(wanted.has_value());
    EXPECT_EQ(wanted.error().code, Errc::Invalid);
    EXPECT_EQ(queue.wanted(), 1U);
    EXPECT_THAT(drain(queue), IsEmpty());
}

/// Whatever is wanted and unwanted between writes: the peer ends up with exactly what is wanted.
TEST(Advertisements, LeaveThePeerWithWhatIsWanted) {
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
        std::mt19937 generator(seed);
        const auto random = [&generator] { return static_cast<std::uint32_t>(generator()); };
        Advertisements queue;
        std::map<RouteKey, Path> wanted;
        std::map<RouteKey, Path> peer;
        const auto write = [&] {
            Bytes out;
            if (!queue.write_next(200, out)) {
                return false;
            }
            const Update update = decode_update(body_of(out), PeerKind::Internal).value();
            for (const RouteKey& key : update.withdrawn) {
                EXPECT_EQ(peer.erase(key), 1U) << "never had it, seed " << seed;
            }
            for (const Route& route : update.reachable) {
                peer[RouteKey(route)] = update.path;
            }
            return true;
        };
        for (int step = 0; step < 2000; ++step) {
            const Route route = random() % 2 == 0 ? host_route(random() % 12) : kSegment;
            const Path& path = random() % 2 == 0 ? kFirst : kOther;
            switch (random() % 8) {
                case 0:
                case 1:
                case 2:
                    ASSERT_TRUE(queue.want(route, path));
                    wanted[RouteKey(route)] = path;
                    break;
                case 3:
                case 4:
                    queue.unwant(RouteKey(route));
                    wanted.erase(RouteKey(route));
                    break;
                case 5:
                case 6: (void)write(); break;
                case 7:
                    if (random() % 8 == 0) {
                        queue.end();
                        peer.clear();
                        queue.begin();
                    } else if (random() % 8 == 0) {
                        queue.resend();
                    }
                    break;
            }
            if (step == 0) {
                queue.end();
                queue.begin();
            }
        }
        while (write()) {
        }
        ASSERT_EQ(peer, wanted) << "seed " << seed;
    }
}

// There is more to come ---------------------------------------------------------------------------

TEST(Advertisements, HoldEndOfRibUntilEverythingIsWanted) {
    Advertisements queue;
    queue.hold_end_of_rib(true);
    queue.begin();
    ASSERT_TRUE(queue.want(host_route(1), kFirst));
    EXPECT_THAT(drain(queue), SizeIs(1)) << "the route alone";
    ASSERT_TRUE(queue.want(host_route(2), kFirst));
    ASSERT_TRUE(queue.want(host_route(3), kOther));

    queue.hold_end_of_rib(false);

    const auto updates = drain(queue);
    ASSERT_THAT(updates, SizeIs(3));
    EXPECT_THAT(updates[0].reachable, ElementsAre(host_route(2)));
    EXPECT_THAT(updates[1].reachable, ElementsAre(host_route(3)));
    EXPECT_EQ(updates[2], Update{.end_of_rib = true});
}

TEST(Advertisements, SayEndOfRibAtOnceIfNothingWaitsWhenItIsLetGo) {
    Advertisements queue = begun({host_route(1)});
    queue.end();
    queue.hold_end_of_rib(true);
    queue.begin();
    EXPECT_THAT(drain(queue), SizeIs(1));

    queue.hold_end_of_rib(false);

    EXPECT_THAT(drain(queue), ElementsAre(Update{.end_of_rib = true}));
    EXPECT_THAT(drain(queue), IsEmpty()) << "once a session";
}

TEST(Advertisements, HoldEndOfRibInTheNextSessionToo) {
    Advertisements queue;
    queue.hold_end_of_rib(true);
    queue.begin();
    queue.end();
    queue.begin();
    EXPECT_THAT(drain(queue), IsEmpty());
}

}  // namespace
}  // namespace planed::bgp
