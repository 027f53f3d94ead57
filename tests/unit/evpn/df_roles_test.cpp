// SPDX-License-Identifier: Apache-2.0
#include "evpn/df_roles.hpp"

#include <gtest/gtest.h>

#include "unit/evpn/values.hpp"

namespace planed::evpn {
namespace {

constexpr TimePoint kStart{1h};
const IpAddress kSelf = ip("10.66.0.2");
const IpAddress kLow = ip("10.66.0.1");
const IpAddress kHigh = ip("10.66.0.3");

DfRoles::Options roles_options(const DfOffer& offer) {
    return {.esi = kEs1, .self = kSelf, .configured = offer, .tags = {kVni}, .wait = 3s};
}

RouteId route_of(const IpAddress& originator, std::uint8_t peer = 9) {
    return {.peer = leaf(peer).next_hop,
            .key = bgp::RouteKey(bgp::Segment{.esi = kEs1.octets(), .originator = originator})};
}

struct Roles {
    explicit Roles(const DfOffer& offer = preference(100)) : roles(roles_options(offer)) {}

    void put(const IpAddress& originator, const DfOffer& offer) {
        roles.put(originator, route_of(originator), offer);
        roles.settle(now);
    }
    void remove(const IpAddress& originator) {
        roles.remove(originator, route_of(originator));
        roles.settle(now);
    }
    void come_up() {
        roles.come_up(now);
        roles.settle(now);
    }
    void pass(Duration span) {
        now += span;
        roles.tick(now);
        roles.settle(now);
    }
    [[nodiscard]] DfRole role() const { return roles.role(kVni); }

    DfRoles roles;
    TimePoint now = kStart;
};

TEST(DfRoles, AreHeldThreeSecondsAfterTheSegmentIsUp) {
    Roles leaf;
    EXPECT_EQ(leaf.role(), DfRole::NonDf);
    leaf.come_up();
    EXPECT_EQ(leaf.roles.wake_at(), kStart + 3s);

    leaf.pass(2999ms);
    EXPECT_EQ(leaf.role(), DfRole::NonDf);
    leaf.pass(1ms);

    EXPECT_EQ(leaf.role(), DfRole::Df);
    EXPECT_EQ(leaf.roles.wake_at(), std::nullopt);
}

TEST(DfRoles, ANewCandidateIsElectedWhenItsOwnTimeIsOver) {
    Roles leaf;
    leaf.come_up();
    leaf.pass(3s);

    leaf.put(kHigh, preference(200));
    EXPECT_EQ(leaf.role(), DfRole::Df) << "the other one still waits";
    leaf.pass(2s);
    leaf.put(kLow, preference(50));
    EXPECT_EQ(leaf.roles.wake_at(), kStart + 6s) << "more changes do not put it off";
    leaf.pass(1s);

    EXPECT_EQ(leaf.role(), DfRole::Backup);
    EXPECT_EQ(leaf.roles.result(kVni)->forwarder, kHigh);
}

TEST(DfRoles, TheLossOfTheForwarderIsAnsweredAtOnce) {
    Roles leaf;
    leaf.put(kHigh, preference(200));
    leaf.come_up();
    leaf.pass(3s);
    EXPECT_EQ(leaf.role(), DfRole::Backup);

    leaf.remove(kHigh);

    EXPECT_EQ(leaf.role(), DfRole::Df);
    EXPECT_EQ(leaf.roles.wake_at(), std::nullopt);
}

TEST(DfRoles, TheLossOfAnotherOneIsNot) {
    Roles leaf;
    leaf.put(kHigh, preference(200));
    leaf.put(kLow, preference(50));
    leaf.come_up();
    leaf.pass(3s);

    leaf.remove(kLow);

    EXPECT_EQ(leaf.role(), DfRole::Backup);
    EXPECT_EQ(leaf.roles.wake_at(), leaf.now + 3s);
}

TEST(DfRoles, ADownSegmentHasNone) {
    Roles leaf;
    leaf.come_up();
    leaf.pass(3s);
    leaf.roles.go_down();
    leaf.pass(1h);

    EXPECT_EQ(leaf.role(), DfRole::NonDf);
    EXPECT_EQ(leaf.roles.result(kVni), nullptr);
    EXPECT_TRUE(leaf.roles.candidates(kVni).empty());
}

TEST(DfRoles, ARouteThatTwoReflectorsTellStandsUntilBothTakeItBack) {
    Roles leaf;
    leaf.roles.put(kHigh, route_of(kHigh, 8), preference(200));
    leaf.roles.put(kHigh, route_of(kHigh, 9), preference(200));
    leaf.come_up();
    leaf.pass(3s);
    leaf.roles.remove(kHigh, route_of(kHigh, 8));
    leaf.roles.settle(leaf.now);
    EXPECT_EQ(leaf.role(), DfRole::Backup);

    leaf.remove(kHigh);
    EXPECT_EQ(leaf.role(), DfRole::Df);
}

TEST(DfRoles, WhoDoesNotPreemptComesBackBehindTheOneThatLeads) {
    Roles leaf(preference(300, DfOffer::kDontPreempt));
    leaf.put(kHigh, preference(200, DfOffer::kDontPreempt));
    leaf.come_up();
    EXPECT_EQ(leaf.roles.offer(), preference(300, DfOffer::kDontPreempt)) << "it is better";
    leaf.roles.go_down();

    leaf.put(kHigh, preference(300, DfOffer::kDontPreempt));
    leaf.come_up();
    EXPECT_EQ(leaf.roles.offer(), preference(300));
    leaf.pass(3s);
    EXPECT_EQ(leaf.role(), DfRole::Backup);

    leaf.remove(kHigh);
    EXPECT_EQ(leaf.role(), DfRole::Df);
    EXPECT_EQ(leaf.roles.offer(), preference(300, DfOffer::kDontPreempt)) << "as configured again";
}

TEST(DfRoles, AcInfluenceLosesAForwarderWithoutItsRoutes) {
    Roles leaf(preference(100, DfOffer::kAcInfluenced));
    leaf.put(kHigh, preference(200, DfOffer::kAcInfluenced));
    leaf.roles.add_ad(kHigh, 0);
    leaf.roles.add_ad(kHigh, kVni);
    leaf.come_up();
    leaf.pass(3s);
    EXPECT_EQ(leaf.role(), DfRole::Backup);

    leaf.roles.remove_ad(kHigh, kVni);
    leaf.roles.settle(leaf.now);

    EXPECT_EQ(leaf.role(), DfRole::Df);
}

TEST(DfRoles, ATagThatIsNewIsElectedAtOnce) {
    Roles leaf;
    leaf.come_up();
    leaf.pass(3s);
    DfRoles::Options more = roles_options(preference(100));
    more.tags = {200};
    leaf.roles.configure(more);
    leaf.roles.settle(leaf.now);

    EXPECT_EQ(leaf.roles.role(200), DfRole::Df);
    EXPECT_EQ(leaf.roles.result(kVni), nullptr);
}

TEST(DfRoles, AnotherPreferenceIsElectedAfterTheWait) {
    Roles leaf;
    leaf.put(kHigh, preference(200));
    leaf.come_up();
    leaf.pass(3s);
    leaf.roles.configure(roles_options(preference(300)));
    leaf.roles.settle(leaf.now);
    EXPECT_EQ(leaf.role(), DfRole::Backup);

    leaf.pass(3s);
    EXPECT_EQ(leaf.role(), DfRole::Df);
}

}  // namespace
}  // namespace planed::evpn
