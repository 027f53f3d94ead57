// SPDX-License-Identifier: Apache-2.0
// How long routes take: what begins a measurement, what ends it, and what makes it void.
#include "core/route_times.hpp"

#include <gtest/gtest.h>

#include "support/leaf.hpp"

namespace planed::test {
namespace {

const RouteKey kKey = route_key(VrfId::Default, ip("10.0.0.5"));

TEST(Histogram, CountsATimeInTheClassThatItsBoundEnds) {
    Histogram histogram;
    histogram.record(0ns);
    histogram.record(250us);
    histogram.record(250001ns);
    histogram.record(30s);
    histogram.record(31s);

    Histogram::Counts want{};
    want.front() = 2;
    want[1] = 1;
    want[want.size() - 2] = 1;
    want.back() = 1;
    EXPECT_EQ(histogram.counts(), want);
    EXPECT_EQ(histogram.count(), 5U);
    EXPECT_EQ(histogram.sum(), 61s + 500001ns);
}

TEST(RouteTimes, EndsAWishWhenItsRouteIsHeld) {
    RouteTimes times;
    times.wished(kKey, kStart);
    times.wished(kKey, kStart + 1ms);  // It goes on waiting.

    times.settled(kKey, SinkState::Pending, kStart + 2ms);
    EXPECT_TRUE(times.waits_for(kKey));
    times.settled(kKey, SinkState::Held, kStart + 3ms);

    EXPECT_FALSE(times.waits_for(kKey));
    EXPECT_EQ(times.learn_to_installed().count(), 1U);
    EXPECT_EQ(times.learn_to_installed().sum(), 3ms);
}

TEST(RouteTimes, DoesNotCountARouteThatWasRejectedOrTakenBack) {
    RouteTimes times;
    times.wished(kKey, kStart);
    times.settled(kKey, SinkState::Rejected, kStart);
    times.settled(kKey, SinkState::Held, kStart + 1h);  // The better one is gone.
    times.wished(kKey, kStart);
    times.withdrawn(kKey);
    times.settled(kKey, SinkState::Held, kStart);

    EXPECT_EQ(times.learn_to_installed().count(), 0U);
}

TEST(RouteTimes, MeasuresAWithdrawalFromTheFirstPlaceThatWentDown) {
    RouteTimes times;
    times.port_down(kSwp1, kStart);
    times.port_down(kSwp1, kStart + 1ms);  // It is down already.
    times.port_down(kBr0, kStart + 2ms);

    times.withdrawn(kKey, {kSwp1, kBr0});
    times.settled(kKey, SinkState::Withdrawing, kStart + 4ms);
    times.settled(kKey, SinkState::Absent, kStart + 5ms);

    EXPECT_EQ(times.port_down_to_withdrawn().sum(), 5ms);

    times.port_up(kSwp1);
    times.withdrawn(kKey, {kSwp1, kBr0});
    times.settled(kKey, SinkState::Absent, kStart + 9ms);
    EXPECT_EQ(times.port_down_to_withdrawn().sum(), 5ms + 7ms);
    EXPECT_EQ(times.port_down_to_withdrawn().count(), 2U);
}

TEST(RouteTimes, DoesNotMeasureWhatWentWithoutAPort) {
    RouteTimes times;
    times.withdrawn(kKey, {kSwp1, kBr0});

    EXPECT_FALSE(times.waits_for(kKey));
}

TEST(RouteTimes, ForgetsAWithdrawalWhoseHostIsBack) {
    RouteTimes times;
    times.port_down(kSwp1, kStart);
    times.withdrawn(kKey, {kSwp1, kBr0});
    times.wished(kKey, kStart + 1ms);
    times.settled(kKey, SinkState::Absent, kStart + 2ms);

    EXPECT_EQ(times.port_down_to_withdrawn().count(), 0U);
}

TEST(RouteTimes, LeavesToAnAuditWhatNobodyHasAnswered) {
    RouteTimes times;
    times.port_down(kSwp1, kStart);
    times.withdrawn(kKey, {kSwp1, kBr0});

    times.audited([](const RouteKey&) { return SinkState::Withdrawing; });
    EXPECT_TRUE(times.waits_for(kKey));
    times.audited([](const RouteKey&) { return SinkState::Absent; });

    EXPECT_FALSE(times.waits_for(kKey));
    EXPECT_EQ(times.port_down_to_withdrawn().count(), 0U);
}

TEST(RouteTimes, KeepsNoMoreThanItsLimit) {
    RouteTimes times;
    for (std::uint32_t i = 0; i <= limits::kTimedRoutesMax; ++i) {
        const auto byte = [i](unsigned shift) { return static_cast<std::uint8_t>(i >> shift); };
        times.wished(route_key(VrfId::Default, IpAddress::v4(10, byte(16), byte(8), byte(0))),
                     kStart);
    }

    EXPECT_TRUE(times.waits_for(route_key(VrfId::Default, ip("10.0.0.0"))));
    EXPECT_FALSE(times.waits_for(route_key(VrfId::Default, ip("10.0.64.0"))));
}

// In the engine -----------------------------------------------------------------------------------

class EngineTimes : public testing::Test {
protected:
    HealthView health() const { return EngineView(leaf.engine).health(); }
    RailLeaf leaf;
};

TEST_F(EngineTimes, OfAHostThatWasThereAtTheStartAreNotTaken) {
    EXPECT_EQ(leaf.zebra.size(), 1U);
    EXPECT_EQ(health().learn_to_installed.count(), 0U);
}

TEST_F(EngineTimes, RunFromTheWishToZebrasAnswer) {
    leaf.answer_routes = false;
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.6"), reachable(mac(5))));
    leaf.now += 4ms;
    const RouteKey key = route_key(VrfId::Default, ip("10.0.0.6"));

    (void)leaf.feed(RouteAnswered{.key = key, .answer = RouteAnswer::Installed});
    (void)leaf.feed(RouteAnswered{.key = key, .answer = RouteAnswer::Installed});

    EXPECT_EQ(health().learn_to_installed.count(), 1U);
    EXPECT_EQ(health().learn_to_installed.sum(), 4ms);
}

TEST_F(EngineTimes, AreNotTakenAgainWhenZebraComesBack) {
    (void)leaf.feed(ZapiLost{});
    leaf.zebra.clear();
    leaf.now += 10s;
    (void)leaf.feed(ZapiUp{.family = "C"});

    EXPECT_EQ(leaf.zebra.size(), 1U);
    EXPECT_EQ(health().learn_to_installed.count(), 0U);
}

TEST_F(EngineTimes, RunFromTheLossOfCarrierToZebrasAnswer) {
    leaf.answer_routes = false;
    (void)leaf.feed(leaf.kernel.cut(without_carrier(leaf.kernel.link(kSwp1))));
    leaf.now += 3ms;

    (void)leaf.feed(RouteAnswered{.key = kKey, .answer = RouteAnswer::Removed});

    EXPECT_EQ(health().port_down_to_withdrawn.count(), 1U);
    EXPECT_EQ(health().port_down_to_withdrawn.sum(), 3ms);
}

TEST_F(EngineTimes, CountNoWithdrawalOfAHostThatFellSilent) {
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), failed()));

    EXPECT_TRUE(leaf.zebra.empty());
    EXPECT_EQ(health().port_down_to_withdrawn.count(), 0U);
}

TEST_F(EngineTimes, CountWhatIsAsked) {
    const std::uint64_t before = leaf.engine.learning().asked;
    (void)leaf.feed(leaf.kernel.cut(without_carrier(leaf.kernel.link(kSwp1))));

    const auto outputs = leaf.feed(leaf.kernel.set(with_carrier(leaf.kernel.link(kSwp1))));

    EXPECT_EQ(only<WriteNeighbor>(outputs).size(), 1U);
    EXPECT_EQ(leaf.engine.learning().asked, before + 1);
}

}  // namespace
}  // namespace planed::test
