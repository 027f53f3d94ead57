// SPDX-License-Identifier: Apache-2.0
#include "zapi/dialect.hpp"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace planed::zapi {
namespace {

TEST(Dialect, FindsTheFamilyOfARelease) {
    EXPECT_EQ(family_of_release("8.4"), WireFamily::A);
    EXPECT_EQ(family_of_release("8.5"), WireFamily::A);
    EXPECT_EQ(family_of_release("9.0"), WireFamily::A);
    EXPECT_EQ(family_of_release("9.1"), WireFamily::B);
    EXPECT_EQ(family_of_release("10.0"), WireFamily::C);
    EXPECT_EQ(family_of_release("10.1"), WireFamily::C);
    EXPECT_EQ(family_of_release("10.2"), WireFamily::D);
    EXPECT_EQ(family_of_release("10.3"), WireFamily::D);
    EXPECT_EQ(family_of_release("10.10"), WireFamily::D);
}

TEST(Dialect, TakesPatchLevelsAndSuffixes) {
    EXPECT_EQ(family_of_release("8.4.4"), WireFamily::A);
    EXPECT_EQ(family_of_release("10.8-dev"), WireFamily::D);
    EXPECT_EQ(family_of_release("10.0~rc1"), WireFamily::C);
}

TEST(Dialect, KnowsNoFamilyForOtherReleasesAndText) {
    for (const auto* const text : {"",
                                   "8",
                                   "8.",
                                   ".4",
                                   "8.3",
                                   "9.2",
                                   "7.5",
                                   "11.0",
                                   "x8.4",
                                   "8.4x",
                                   "8,4",
                                   "-8.4",
                                   "8.-4",
                                   "auto",
                                   "99999999999.1",
                                   " 8.4"}) {
        EXPECT_EQ(family_of_release(text), std::nullopt) << text;
    }
}

TEST(Dialect, NumbersRouteTypesByFamily) {
    EXPECT_EQ(number_of(RouteType::Babel, WireFamily::A), 22);
    EXPECT_EQ(number_of(RouteType::Babel, WireFamily::B), 22);
    EXPECT_EQ(number_of(RouteType::Babel, WireFamily::C), 23);
    EXPECT_EQ(number_of(RouteType::Babel, WireFamily::D), 23);
    EXPECT_EQ(number_of(RouteType::Openfabric, WireFamily::A), 26);
    EXPECT_EQ(number_of(RouteType::Openfabric, WireFamily::D), 27);
    EXPECT_EQ(number_of(RouteType::Table, WireFamily::A), 15);
    EXPECT_EQ(number_of(RouteType::Table, WireFamily::D), 16);
    EXPECT_EQ(number_of(RouteType::Sharp, WireFamily::A), 23);
    EXPECT_EQ(number_of(RouteType::Sharp, WireFamily::D), 24);
}

TEST(Dialect, TellsFamiliesApartByTheirCapabilities) {
    std::set<std::pair<std::uint16_t, std::size_t>> seen;
    for (const WireFamily family : kWireFamilies) {
        for (std::size_t length = 0; length < 64; ++length) {
            if (is_capabilities_length(family, length)) {
                EXPECT_TRUE(seen.emplace(commands_of(family).capabilities, length).second);
            }
        }
    }
    EXPECT_EQ(seen.size(), 5U);
}

// What makes a wrong family dangerous, and the probe and the wait for CAPABILITIES necessary.
TEST(Dialect, ADeleteOfOneFamilyIsAnAddOfAnother) {
    EXPECT_EQ(commands_of(WireFamily::A).route_delete, commands_of(WireFamily::D).route_add);
}

TEST(Dialect, NamesItsFamiliesForPeople) {
    EXPECT_EQ(name_of(WireFamily::C), "C");
    EXPECT_EQ(releases_of(WireFamily::A), "FRR 8.4 to 9.0");
}

}  // namespace
}  // namespace planed::zapi
