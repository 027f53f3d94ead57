// SPDX-License-Identifier: Apache-2.0
// The small ones: ids, results, assertions, time.
#include <cerrno>
#include <type_traits>

#include <gtest/gtest.h>

#include "net/assert.hpp"
#include "net/ids.hpp"
#include "net/result.hpp"
#include "net/time.hpp"

namespace planed {
namespace {

TEST(Ids, AreOrderedNumbersThatDoNotMix) {
    EXPECT_EQ(number(IfIndex{7}), 7U);
    EXPECT_LT(IfIndex{7}, IfIndex{8});
    EXPECT_EQ(number(VlanId::None), 0);
    static_assert(std::is_same_v<decltype(number(IfIndex{})), std::uint32_t>);
    static_assert(std::is_same_v<decltype(number(VlanId{})), std::uint16_t>);
    static_assert(!std::is_convertible_v<IfIndex, VrfId>);
    static_assert(!std::is_convertible_v<std::uint32_t, IfIndex>);
}

TEST(Result, CarriesAValueOrWhatWentWrong) {
    const Result<int> good = 5;
    const Result<int> bad = fail(Errc::Unsupported, "no such thing");
    const Result<int> short_read = fail_at(12, Errc::Truncated, "needs 4 bytes");
    const Result<void> refused = fail_errno(EPERM, "bind");

    EXPECT_EQ(*good, 5);
    EXPECT_EQ(bad.error(), (Error{.code = Errc::Unsupported, .text = "no such thing"}));
    EXPECT_EQ(bad.error().offset, std::nullopt);
    EXPECT_EQ(short_read.error(),
              (Error{.code = Errc::Truncated, .text = "needs 4 bytes", .offset = 12}));
    EXPECT_EQ(refused.error(),
              (Error{.code = Errc::System, .text = "bind", .system_errno = EPERM}));
    EXPECT_NE(bad.error(), short_read.error());
}

TEST(AssertDeathTest, PrintsConditionAndPlaceAndAborts) {
    PLANED_ASSERT(1 + 1 == 2);
    EXPECT_DEATH(PLANED_ASSERT(1 + 1 == 3),
                 "assertion failed: 1 \\+ 1 == 3 at .*values_test.cpp:[0-9]+");
}

TEST(Time, CountsNanosecondsOfTheSteadyClock) {
    static_assert(std::is_same_v<Duration::period, std::nano>);
    static_assert(TimePoint::clock::is_steady);
    EXPECT_EQ(TimePoint{} + 1s, TimePoint(Duration(1'000'000'000)));
}

}  // namespace
}  // namespace planed
