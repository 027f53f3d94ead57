// SPDX-License-Identifier: Apache-2.0
// Two sessions that talk to each other, over connections that collide, break and fall silent.
#include "unit/bgp/session_pair.hpp"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace planed::bgp {
namespace {

constexpr std::uint32_t kSeeds = 12;

const Path kLeafPath{.next_hop = {.address = address("10.66.0.3")},
                     .attributes = {.local_pref = 100, .communities = {route_target(kAs, 100)}}};

Route host_of(RouterId leaf, std::uint32_t number) {
    return MacIp{.rd = rd(leaf, 100),
                 .esi = kEsi,
                 .mac = mac(1),
                 .ip = IpAddress::v4(10,
                                     0,
                                     static_cast<std::uint8_t>(number >> 8U),
                                     static_cast<std::uint8_t>(number & 0xFFU)),
                 .label1 = 100};
}

SessionOptions leaf1(std::uint64_t seed = 1) {
    return {.local_as = kAs, .peer_as = kAs, .id = kLeaf1, .hold_seconds = 9, .seed = seed};
}
SessionOptions leaf2(std::uint64_t seed = 2) {
    return {.local_as = kAs, .peer_as = kAs, .id = kLeaf2, .hold_seconds = 90, .seed = seed};
}

/// Each side has `count` hosts of its own.
void give_hosts(SessionPair& pair, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
        ASSERT_TRUE(pair.sessions[0].want(host_of(kLeaf1, i), kLeafPath));
        ASSERT_TRUE(pair.sessions[1].want(host_of(kLeaf2, i), kLeafPath));
    }
}

void expect_synced(const SessionPair& pair, std::uint32_t count) {
    for (const std::size_t side : {0U, 1U}) {
        EXPECT_EQ(pair.seen[side].routes.size(), count);
        for (const auto& [key, route] : pair.seen[side].routes) {
            EXPECT_EQ(std::get<MacIp>(route).rd, rd(side == 0 ? kLeaf2 : kLeaf1, 100));
        }
    }
}

class Pairs : public testing::TestWithParam<std::uint32_t> {
protected:
    SessionPair pair{leaf1(GetParam()), leaf2(GetParam() + 1000), GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Session, Pairs, testing::Range(1U, kSeeds + 1));

TEST_P(Pairs, ComeUpOnOneConnectionAlthoughBothConnect) {
    give_hosts(pair, 300);
    pair.start_both();

    pair.run_for(60s);

    EXPECT_TRUE(pair.both_established());
    EXPECT_EQ(pair.open_connections(), 1U);
    expect_synced(pair, 300);
    EXPECT_GE(pair.seen[0].ends_of_rib, 1U);
    EXPECT_GE(pair.seen[1].ends_of_rib, 1U);
}

TEST_P(Pairs, StayUpForAnHour) {
    pair.start_both();
    pair.run_for(60s);
    const std::size_t established = pair.seen[0].established;

    pair.run_for(1h);

    EXPECT_TRUE(pair.both_established());
    EXPECT_EQ(pair.seen[0].established, established);
}

TEST_P(Pairs, ComeBackAfterABrokenConnection) {
    give_hosts(pair, 50);
    pair.start_both();
    pair.run_for(60s);
    for (int times = 0; times < 5; ++times) {
        pair.break_connections();
        pair.sessions[0].unwant(RouteKey(host_of(kLeaf1, 49)));
        pair.sessions[1].unwant(RouteKey(host_of(kLeaf2, 49)));
        pair.run_for(60s);
    }

    EXPECT_TRUE(pair.both_established());
    expect_synced(pair, 49);
}

TEST_P(Pairs, NoticeACutCableByTheHoldTime) {
    give_hosts(pair, 10);
    pair.start_both();
    pair.run_for(60s);
    pair.seen[0].downs.clear();
    pair.cut();

    pair.run_for(9s);

    ASSERT_FALSE(pair.seen[0].downs.empty());
    EXPECT_EQ(pair.seen[0].downs.back().reason, Down::Reason::HoldExpired);
    EXPECT_TRUE(pair.seen[0].downs.back().was_established);
    EXPECT_TRUE(pair.seen[0].routes.empty()) << "nothing was to be kept";
    pair.mend();
    pair.run_for(120s);
    EXPECT_TRUE(pair.both_established());
    expect_synced(pair, 10);
}

TEST_P(Pairs, SayGoodbye) {
    give_hosts(pair, 10);
    pair.start_both();
    pair.run_for(60s);
    pair.seen[1].downs.clear();

    pair.sessions[0].stop("new firmware", pair.now);
    pair.settle();

    ASSERT_FALSE(pair.seen[1].downs.empty());
    EXPECT_EQ(pair.seen[1].downs[0].reason, Down::Reason::Notified);
    EXPECT_EQ(pair.seen[1].downs[0].text, "6/2 cease: administrative shutdown: \"new firmware\"");
    EXPECT_TRUE(pair.seen[0].routes.empty());
    EXPECT_TRUE(pair.seen[1].routes.empty());
    EXPECT_EQ(pair.sessions[0].state(), State::Idle);
    EXPECT_EQ(pair.open_connections(), 0U);
    pair.run_for(120s);
    EXPECT_FALSE(pair.both_established());
    pair.sessions[0].start(pair.now);
    pair.run_for(120s);
    EXPECT_TRUE(pair.both_established());
    expect_synced(pair, 10);
}

class KeepingPairs : public testing::TestWithParam<std::uint32_t> {
protected:
    /// Every second pair with graceful restart, too.
    static SessionOptions keeping(SessionOptions options) {
        options.keep = 120s;
        options.restart_seconds = GetParam() % 2 == 0 ? 60 : 0;
        return options;
    }
    SessionPair pair{keeping(leaf1(GetParam())), keeping(leaf2(GetParam() + 1000)), GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Session, KeepingPairs, testing::Range(1U, kSeeds + 1));

TEST_P(KeepingPairs, KeepRoutesOverACutAndDropWhatDidNotComeBack) {
    give_hosts(pair, 20);
    pair.start_both();
    pair.run_for(60s);
    pair.cut();
    pair.run_for(30s);
    EXPECT_EQ(pair.seen[0].routes.size(), 20U);
    pair.sessions[1].unwant(RouteKey(host_of(kLeaf2, 19)));
    pair.sessions[0].unwant(RouteKey(host_of(kLeaf1, 19)));

    pair.mend();
    pair.run_for(80s);

    EXPECT_TRUE(pair.both_established());
    expect_synced(pair, 19);
}

TEST_P(KeepingPairs, ForgetAPeerThatDoesNotComeBack) {
    give_hosts(pair, 20);
    pair.start_both();
    pair.run_for(60s);
    pair.cut();

    pair.run_for(125s);
    EXPECT_EQ(pair.seen[0].routes.size(), 20U) << "9 s of hold, and 120 s on";
    pair.run_for(5s);

    EXPECT_TRUE(pair.seen[0].routes.empty());
}

TEST_P(KeepingPairs, ForgetAPeerThatSaidGoodbye) {
    give_hosts(pair, 20);
    pair.start_both();
    pair.run_for(60s);

    pair.sessions[1].stop("", pair.now);
    pair.settle();

    EXPECT_TRUE(pair.seen[0].routes.empty());
}

/// Anything may happen, at any time; once it stops, both know what the other wants.
TEST_P(KeepingPairs, AgreeInTheEnd) {
    std::mt19937 generator(GetParam() * 7919);
    const auto random = [&generator] { return static_cast<std::uint32_t>(generator()); };
    pair.start_both();
    std::array<std::set<std::uint32_t>, 2> wanted;
    const std::array<RouterId, 2> ids{kLeaf1, kLeaf2};
    for (int step = 0; step < 300; ++step) {
        const std::size_t side = random() % 2;
        const std::uint32_t number = random() % 40;
        switch (random() % 16) {
            case 0: pair.break_connections(); break;
            case 1: pair.cut(); break;
            case 2: pair.mend(); break;
            case 3: pair.sessions[side].stop("", pair.now); break;
            case 4: pair.sessions[side].start(pair.now); break;
            case 5: (void)pair.sessions[side].ask_refresh(); break;
            case 6:
            case 7:
            case 8:
                pair.sessions[side].unwant(RouteKey(host_of(ids[side], number)));
                wanted[side].erase(number);
                break;
            case 9: pair.run_for(std::chrono::seconds(random() % 40)); break;
            default:
                ASSERT_TRUE(pair.sessions[side].want(host_of(ids[side], number), kLeafPath));
                wanted[side].insert(number);
                break;
        }
    }
    pair.mend();
    pair.start_both();
    pair.run_for(10min);

    EXPECT_TRUE(pair.both_established());
    for (const std::size_t side : {0U, 1U}) {
        std::set<RouteKey> want;
        for (const std::uint32_t number : wanted[1 - side]) {
            want.insert(RouteKey(host_of(ids[1 - side], number)));
        }
        std::set<RouteKey> have;
        for (const auto& [key, route] : pair.seen[side].routes) {
            have.insert(key);
        }
        EXPECT_EQ(have, want) << "side " << side;
    }
}

TEST(SessionPair, OverEbgpHasThePeersPath) {
    SessionOptions other = leaf2();
    other.local_as = AsNumber{65003};
    SessionOptions first = leaf1();
    first.peer_as = AsNumber{65003};
    SessionPair pair(first, other, 1);
    Path path = kLeafPath;
    path.attributes.local_pref.reset();
    path.attributes.as_path = {{.numbers = {AsNumber{65003}}}};
    ASSERT_TRUE(pair.sessions[1].want(host_of(kLeaf2, 1), path));
    path.attributes.as_path = {{.numbers = {AsNumber{65003}, kAs}}};
    ASSERT_TRUE(pair.sessions[1].want(host_of(kLeaf2, 2), path));
    pair.start_both();

    pair.run_for(60s);

    EXPECT_TRUE(pair.both_established());
    EXPECT_EQ(pair.seen[0].routes.size(), 1U) << "not the one that came from us";
    EXPECT_TRUE(pair.seen[0].routes.contains(RouteKey(host_of(kLeaf2, 1))));
}

TEST(SessionPair, OfTwoPassivePeersWaits) {
    SessionOptions first = leaf1();
    SessionOptions second = leaf2();
    first.passive = second.passive = true;
    SessionPair pair(first, second, 1);
    pair.start_both();

    pair.run_for(60s);

    EXPECT_EQ(pair.sessions[0].state(), State::Active);
    EXPECT_EQ(pair.open_connections(), 0U);
}

TEST(SessionPair, WithTheSameIdentifierDoesNotComeUp) {
    SessionOptions second = leaf2();
    second.id = kLeaf1;
    SessionPair pair(leaf1(), second, 1);
    pair.start_both();

    pair.run_for(60s);

    EXPECT_FALSE(pair.both_established());
    ASSERT_FALSE(pair.seen[0].downs.empty());
    const auto says_so = [](const Down& down) {
        return down.text == "OPEN: identifier 10.66.0.1 is ours too";
    };
    EXPECT_TRUE(std::ranges::any_of(pair.seen[0].downs, says_so) ||
                std::ranges::any_of(pair.seen[1].downs, says_so));
    EXPECT_LT(pair.seen[0].downs.size(), 20U) << "less often each time";
}

TEST(SessionPair, CarriesTenThousandHosts) {
    SessionPair pair(leaf1(), leaf2(), 1);
    give_hosts(pair, 10'000);
    pair.start_both();

    pair.run_for(60s);

    expect_synced(pair, 10'000);
    EXPECT_EQ(pair.sessions[0].backlog(), 0U);
}

}  // namespace
}  // namespace planed::bgp
