// SPDX-License-Identifier: Apache-2.0
#include "evpn/mac_mobility.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "unit/evpn/values.hpp"

namespace planed::evpn {
namespace {

using Claim = MacMobility::Claim;

constexpr TimePoint kStart{1h};

Claim claim(const Esi& esi, std::uint32_t sequence, std::uint8_t of = 2) {
    return {.esi = esi.octets(), .sequence = sequence, .leaf = leaf(of).next_hop};
}

std::uint32_t number_of(MacMobility& mac) {
    (void)mac.weigh(kStart);
    return mac.said().sequence;
}

TEST(MacMobility, FirstSightHasNoNumber) {
    MacMobility mac;
    mac.add_local(kEs1, false);

    EXPECT_TRUE(mac.weigh(kStart));
    EXPECT_EQ(mac.said(), bgp::MacMobility());
    EXPECT_FALSE(mac.weigh(kStart)) << "nothing has changed";
}

TEST(MacMobility, AHostThatComesFromAnotherSegmentHasTheNextNumber) {
    MacMobility mac;
    mac.add(claim(kElsewhere, 4));
    mac.add(claim(kElsewhere, 7, 3));
    mac.add_local(kEs1, false);

    EXPECT_EQ(number_of(mac), 8U);
    ASSERT_NE(mac.rival(), nullptr);
    EXPECT_EQ(*mac.rival(), claim(kElsewhere, 7, 3));
}

TEST(MacMobility, SingleHomedElsewhereIsAnotherSegment) {
    MacMobility mac;
    mac.add({.leaf = leaf(2).next_hop});
    mac.add_local(kEs1, false);

    EXPECT_EQ(number_of(mac), 1U);
}

TEST(MacMobility, TheSameSegmentIsNoMove) {
    MacMobility mac;
    mac.add(claim(kEs1, 0));
    mac.add_local(kEs1, false);

    EXPECT_EQ(number_of(mac), 0U);
    EXPECT_EQ(mac.rival(), nullptr);
}

TEST(MacMobility, IsNeverBelowALeafOnTheSameSegment) {
    MacMobility mac;
    mac.add_local(kEs1, false);
    mac.add(claim(kEs1, 5));
    EXPECT_EQ(number_of(mac), 5U);

    mac.remove(claim(kEs1, 5));
    EXPECT_EQ(number_of(mac), 5U) << "and does not fall";
}

TEST(MacMobility, KeepsItsNumberWhileTheHostIsAway) {
    MacMobility mac;
    mac.add(claim(kElsewhere, 3));
    mac.add_local(kEs1, false);
    EXPECT_EQ(number_of(mac), 4U);
    mac.remove_local(kEs1, false);
    mac.remove(claim(kElsewhere, 3));
    (void)mac.weigh(kStart);
    EXPECT_TRUE(mac.is_idle());
    EXPECT_FALSE(mac.is_blank());

    mac.add(claim(kElsewhere, 9));  // It was there, and is not any more.
    (void)mac.weigh(kStart);
    mac.remove(claim(kElsewhere, 9));
    mac.add_local(kEs1, false);

    EXPECT_EQ(number_of(mac), 10U) << "the highest ever seen, and one";
}

TEST(MacMobility, WhatIsSecondHandElsewhereIsNoRival) {
    MacMobility mac;
    Claim proxied = claim(kElsewhere, 4);
    proxied.second_hand = true;
    mac.add(proxied);
    mac.add_local(kEs1, false);

    EXPECT_EQ(number_of(mac), 0U);
    EXPECT_EQ(mac.rival(), nullptr);
}

TEST(MacMobility, StaticIsStickyAndDoesNotMove) {
    MacMobility mac;
    mac.add(claim(kElsewhere, 4));
    mac.add_local(kEs1, true);
    (void)mac.weigh(kStart);
    EXPECT_EQ(mac.said(), (bgp::MacMobility{.is_static = true, .sequence = 0}));

    mac.add_local(kEs1, false);
    mac.remove_local(kEs1, true);
    EXPECT_TRUE(mac.weigh(kStart));
    EXPECT_EQ(mac.said(), (bgp::MacMobility{.is_static = false, .sequence = 5}));
}

TEST(MacMobility, IsNotTakenFromWhoHasItStatic) {
    MacMobility mac;
    Claim fixed = claim(kElsewhere, 4);
    fixed.is_static = true;
    mac.add(fixed);
    mac.add_local(kEs1, false);

    EXPECT_EQ(number_of(mac), 0U);
    EXPECT_NE(mac.rival(), nullptr);
}

TEST(MacMobility, ALeafThatAnswersEachRiseIsAnsweredFiveTimes) {
    MacMobility mac;
    mac.add_local(kEs1, false);
    std::uint32_t theirs = 0;
    mac.add(claim(kElsewhere, theirs));
    for (int i = 0; i < 20; ++i) {
        (void)mac.weigh(kStart + i * 1s);
        mac.remove(claim(kElsewhere, theirs));
        theirs = std::max(theirs, mac.said().sequence) + 1;
        mac.add(claim(kElsewhere, theirs));
    }

    EXPECT_EQ(mac.rises(), 5U);
    EXPECT_TRUE(mac.is_frozen());
    const std::uint32_t kept = mac.said().sequence;
    (void)mac.weigh(kStart + 1h);
    EXPECT_EQ(mac.said().sequence, kept) << "no time cures it";

    mac.remove(claim(kElsewhere, theirs));
    EXPECT_TRUE(mac.weigh(kStart + 1h));
    EXPECT_FALSE(mac.is_frozen());
    EXPECT_GT(mac.said().sequence, theirs);
}

TEST(MacMobility, RisesThatAreFarApartAreMoves) {
    MacMobility mac;
    mac.add_local(kEs1, false);
    for (std::uint32_t i = 0; i < 20; ++i) {
        mac.add(claim(kElsewhere, 2 * i));
        (void)mac.weigh(kStart + i * 37s);
        EXPECT_EQ(mac.said().sequence, 2 * i + 1);
    }
}

TEST(MacMobility, TheLastNumberIsNotOutbid) {
    MacMobility mac;
    mac.add(claim(kElsewhere, 0xFFFF'FFFF));
    mac.add_local(kEs1, false);

    EXPECT_EQ(number_of(mac), 0U);
}

TEST(MacMobility, IsBlankOnceAllThatWasClaimedIsGone) {
    MacMobility mac;
    mac.add(claim(kElsewhere, 4));
    mac.add(claim(kElsewhere, 4));
    (void)mac.weigh(kStart);
    mac.remove(claim(kElsewhere, 4));
    EXPECT_FALSE(mac.is_blank());
    mac.remove(claim(kElsewhere, 4));

    EXPECT_TRUE(mac.is_blank());
}

}  // namespace
}  // namespace planed::evpn
