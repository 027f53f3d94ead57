// SPDX-License-Identifier: Apache-2.0
#include "core/plane_routes.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "core/planner.hpp"
#include "support/builders.hpp"
#include "support/print.hpp"

namespace planed {
namespace {

using test::ip;
using test::prefix;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr VrfId kRed{7};

RouteKey key(std::string_view address, VrfId vrf = VrfId::Default) {
    return route_key(vrf, ip(address));
}

class PlaneRoutesTest : public testing::Test {
protected:
    // Two hosts, and the first dump is over.
    void fill() {
        (void)plane.see(key("fd00::5"));
        (void)plane.see(key("fd00::6"));
        plane.dumped(VrfId::Default, now);
    }
    std::vector<RouteKey> sweep_at(Duration later) { return plane.sweep(now + later); }

    PlaneRoutes plane;
    TimePoint now{1h};
};

TEST_F(PlaneRoutesTest, KnowWhatTheyHaveSeen) {
    EXPECT_TRUE(plane.see(key("fd00::5")));
    EXPECT_FALSE(plane.see(key("fd00::5")));

    EXPECT_TRUE(plane.has(key("fd00::5")));
    EXPECT_FALSE(plane.has(key("fd00::6")));
    EXPECT_FALSE(plane.has(key("fd00::5", kRed)));
}

TEST_F(PlaneRoutesTest, AreKnownWholeOnceTheDumpOfTheirVrfIsOver) {
    (void)plane.see(key("fd00::5"));
    EXPECT_FALSE(plane.is_known(VrfId::Default));

    plane.dumped(VrfId::Default, now);

    EXPECT_TRUE(plane.is_known(VrfId::Default));
    EXPECT_FALSE(plane.is_known(kRed));
    EXPECT_EQ(plane.wake_at(), std::nullopt);
}

TEST_F(PlaneRoutesTest, ForgetWhatHasGoneWhenNothingMoreGoes) {
    fill();

    plane.gone(key("fd00::5"), now);

    EXPECT_TRUE(plane.has(key("fd00::5")));
    EXPECT_EQ(plane.wake_at(), now + limits::kPlaneGoneQuiet);
    EXPECT_THAT(sweep_at(limits::kPlaneGoneQuiet - 1ms), IsEmpty());
    EXPECT_THAT(sweep_at(limits::kPlaneGoneQuiet), ElementsAre(key("fd00::5")));
    EXPECT_FALSE(plane.has(key("fd00::5")));
    EXPECT_EQ(plane.wake_at(), std::nullopt);
}

TEST_F(PlaneRoutesTest, WaitNoLongerThanTheMostWhileOneAfterTheOtherGoes) {
    fill();
    plane.gone(key("fd00::5"), now);

    plane.gone(key("fd00::6"), now + limits::kPlaneGoneMost - 1ms);

    EXPECT_EQ(plane.wake_at(), now + limits::kPlaneGoneMost);
    EXPECT_EQ(sweep_at(limits::kPlaneGoneMost).size(), 2U);
}

TEST_F(PlaneRoutesTest, KeepARouteThatWasReplaced) {
    fill();
    plane.gone(key("fd00::5"), now);

    EXPECT_FALSE(plane.see(key("fd00::5")));

    EXPECT_THAT(sweep_at(1h), IsEmpty());
    EXPECT_TRUE(plane.has(key("fd00::5")));
}

TEST_F(PlaneRoutesTest, KeepWhatWentWithBgpdUntilItHadTimeToReturn) {
    fill();
    plane.gone(key("fd00::5"), now);

    plane.doubt(now + 10ms);

    plane.gone(key("fd00::6"), now + 20ms);  // Also what goes after its end.
    EXPECT_THAT(sweep_at(limits::kPlaneGrace), IsEmpty());
    (void)plane.see(key("fd00::6"));
    EXPECT_THAT(sweep_at(limits::kPlaneGrace + 10ms), ElementsAre(key("fd00::5")));
    EXPECT_TRUE(plane.has(key("fd00::6")));
}

TEST_F(PlaneRoutesTest, BelieveARouteThatGoesAfterBgpdHasNamedItAgain) {
    fill();
    plane.doubt(now);
    (void)plane.see(key("fd00::5"));

    plane.gone(key("fd00::5"), now + 1s);

    EXPECT_THAT(sweep_at(1s + limits::kPlaneGoneQuiet), ElementsAre(key("fd00::5")));
}

TEST_F(PlaneRoutesTest, KeepEverythingAsLongAsZebraIsAway) {
    fill();
    plane.gone(key("fd00::5"), now);

    plane.lost();

    EXPECT_EQ(plane.wake_at(), std::nullopt);
    EXPECT_THAT(sweep_at(24h), IsEmpty());
    EXPECT_TRUE(plane.has(key("fd00::5")));
}

TEST_F(PlaneRoutesTest, ForgetWhatANewSessionDoesNotNameInTime) {
    fill();
    plane.lost();
    plane.dumped(VrfId::Default, now);  // A zebra that has just begun: it names nothing.
    EXPECT_EQ(plane.wake_at(), now + limits::kPlaneGrace);

    (void)plane.see(key("fd00::6"));

    EXPECT_THAT(sweep_at(limits::kPlaneGrace - 1ms), IsEmpty());
    EXPECT_THAT(sweep_at(limits::kPlaneGrace), ElementsAre(key("fd00::5")));
    EXPECT_TRUE(plane.has(key("fd00::6")));
}

TEST_F(PlaneRoutesTest, ForgetNothingOfAVrfWhoseDumpIsNotOver) {
    fill();
    (void)plane.see(key("fd00::5", kRed));
    plane.dumped(kRed, now);
    plane.lost();

    plane.dumped(VrfId::Default, now);

    EXPECT_THAT(sweep_at(limits::kPlaneGrace), ElementsAre(key("fd00::5"), key("fd00::6")));
    EXPECT_TRUE(plane.has(key("fd00::5", kRed)));
}

TEST_F(PlaneRoutesTest, ForgetVrfsThatMatterNoMore) {
    fill();
    (void)plane.see(key("fd00::5", kRed));
    plane.dumped(kRed, now);

    plane.keep_only({kRed});

    EXPECT_EQ(plane.size(), 1U);
    EXPECT_TRUE(plane.has(key("fd00::5", kRed)));
    EXPECT_FALSE(plane.is_known(VrfId::Default));
}

TEST_F(PlaneRoutesTest, NameTheHostsInsideAPrefixInOrder) {
    for (const char* address : {"fd00::9", "fd00::5", "fd00:1::1", "10.0.0.5"}) {
        (void)plane.see(key(address));
    }
    (void)plane.see(key("fd00::7", kRed));
    std::vector<IpAddress> named;

    plane.for_each_in(VrfId::Default, prefix("fd00::1/64"), [&](const IpAddress& address) {
        named.push_back(address);
    });

    EXPECT_THAT(named, ElementsAre(ip("fd00::5"), ip("fd00::9")));
}

TEST_F(PlaneRoutesTest, CountWhatTheyHaveNoRoomFor) {
    IpAddress::Bytes bytes{0xfd};
    const auto next = [&bytes](std::size_t i) {
        bytes[13] = static_cast<std::uint8_t>(i >> 16U);
        bytes[14] = static_cast<std::uint8_t>((i >> 8U) & 0xFFU);
        bytes[15] = static_cast<std::uint8_t>(i & 0xFFU);
        return route_key(VrfId::Default, IpAddress::v6(bytes));
    };
    for (std::size_t i = 0; i < limits::kPlaneRoutesMax; ++i) {
        (void)plane.see(next(i));
    }

    EXPECT_FALSE(plane.see(next(limits::kPlaneRoutesMax)));

    EXPECT_EQ(plane.refused(), 1U);
    EXPECT_EQ(plane.size(), limits::kPlaneRoutesMax);
}

}  // namespace
}  // namespace planed
