// SPDX-License-Identifier: Apache-2.0
// zebra's habits: which answers come, which do not, and what they say of ours.
#include "core/route_sink.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "support/builders.hpp"
#include "support/print.hpp"

namespace planed {
namespace {

using test::announces;
using test::ip;
using test::route_via;
using test::withdraws;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr IfIndex kLink{10};
const RouteKey kSunk = route_key(VrfId::Default, ip("10.0.0.5"));

class RouteSinkTest : public testing::Test {
protected:
    RouteSinkTest() { sink.up(now); }

    std::vector<SendRoute> sent() {
        std::vector<SendRoute> routes;
        while (auto route = sink.next(now)) {
            routes.push_back(*route);
        }
        return routes;
    }
    void answer(RouteAnswer answer) { sink.answered({.key = kSunk, .answer = answer}, now); }
    void want() { sink.want(kSunk, route_via(kLink)); }
    void hold() {
        want();
        (void)sent();
        answer(RouteAnswer::Installed);
    }
    // Returns false if none is due.
    bool read_back(const std::vector<RouteSeen>& rows) {
        if (!sink.read_back_due(now)) {
            return false;
        }
        for (const RouteSeen& shown : rows) {
            sink.seen(shown, now);
        }
        sink.read_back_finished({}, now);
        return true;
    }
    [[nodiscard]] SinkState state() const { return sink.routes().state(kSunk); }

    TimePoint now{1h};
    RouteSink sink;
    const RouteSeen row{.key = kSunk, .route = route_via(kLink)};
};

TEST_F(RouteSinkTest, SendsNothingWhileTheSessionIsAway) {
    sink.lost();
    want();

    EXPECT_THAT(sent(), IsEmpty());
    EXPECT_EQ(sink.wake_at(), std::nullopt);

    sink.up(now);
    EXPECT_THAT(sent(), ElementsAre(announces("10.0.0.5", kLink)));
}

TEST_F(RouteSinkTest, HoldsWhatZebraInstalled) {
    hold();

    EXPECT_EQ(state(), SinkState::Held);
    EXPECT_TRUE(sink.quiet());
}

TEST_F(RouteSinkTest, TakesOneInstalledForADeleteAndAnAddThatZebraCollapsed) {
    hold();
    sink.unwant(kSunk);
    EXPECT_THAT(sent(), ElementsAre(withdraws("10.0.0.5")));
    want();
    EXPECT_THAT(sent(), IsEmpty());  // The add waits for the word on the removal,

    answer(RouteAnswer::Installed);  // which an older add's answer is not;
    EXPECT_THAT(sent(), IsEmpty());
    now += 2s;
    EXPECT_TRUE(read_back({}));  // in the end zebra is asked.

    EXPECT_THAT(sent(), ElementsAre(announces("10.0.0.5", kLink)));
}

TEST_F(RouteSinkTest, DoesNotTakeTheEndOfAnEarlierRemovalForTheEndOfTheAdd) {
    want();
    (void)sent();

    answer(RouteAnswer::Removed);
    EXPECT_EQ(state(), SinkState::Pending);
    answer(RouteAnswer::Installed);

    EXPECT_EQ(state(), SinkState::Held);
    EXPECT_THAT(sent(), IsEmpty());
}

TEST_F(RouteSinkTest, PutsAgainWhatSomebodyElsesEndRemoved) {
    hold();

    answer(RouteAnswer::Removed);

    EXPECT_THAT(sent(), ElementsAre(announces("10.0.0.5", kLink)));
}

TEST_F(RouteSinkTest, IgnoresUnaskedWordsOnWhatItDoesNotWant) {
    answer(RouteAnswer::Removed);
    answer(RouteAnswer::Installed);
    answer(RouteAnswer::BetterWon);
    answer(RouteAnswer::FailedInstall);
    answer(RouteAnswer::RemoveFailed);

    EXPECT_THAT(sent(), IsEmpty());
    EXPECT_EQ(sink.routes().size(), 0U);
}

TEST_F(RouteSinkTest, TriesAFailedInstallAgainByItself) {
    want();
    (void)sent();

    answer(RouteAnswer::FailedInstall);
    EXPECT_EQ(sink.wake_at(), now + 100ms);
    now += 100ms;

    EXPECT_THAT(sent(), ElementsAre(announces("10.0.0.5", kLink)));
}

TEST_F(RouteSinkTest, TriesAFailedRemovalAgainByItself) {
    hold();
    sink.unwant(kSunk);
    (void)sent();

    answer(RouteAnswer::RemoveFailed);
    now += 100ms;

    EXPECT_THAT(sent(), ElementsAre(withdraws("10.0.0.5")));
}

TEST_F(RouteSinkTest, StaysQuietWhenABetterRouteWinsAndComesBackWhenItGoes) {
    hold();

    answer(RouteAnswer::BetterWon);
    EXPECT_EQ(state(), SinkState::Rejected);
    EXPECT_THAT(sent(), IsEmpty());

    answer(RouteAnswer::Installed);  // Unasked: the better route went away.
    EXPECT_EQ(state(), SinkState::Held);
    EXPECT_THAT(sent(), IsEmpty());
}

TEST_F(RouteSinkTest, LearnsByReadBackThatItLostToABetterRouteInSilence) {
    want();
    (void)sent();
    now += 2s;

    EXPECT_TRUE(read_back({}));  // It may have been lost: once more.
    now += 100ms;
    EXPECT_THAT(sent(), SizeIs(1));
    now += 2s;
    EXPECT_TRUE(read_back({}));

    EXPECT_EQ(state(), SinkState::Rejected);
    EXPECT_THAT(sent(), IsEmpty());
    EXPECT_EQ(sink.wake_at(), now + limits::kAuditInterval);
}

TEST_F(RouteSinkTest, LearnsByReadBackThatARouteIsInWithoutInstalled) {
    want();  // notify_on_offload without an offload: no INSTALLED, ever.
    (void)sent();
    now += 2s;

    EXPECT_TRUE(read_back({row}));

    EXPECT_EQ(state(), SinkState::Held);
    EXPECT_TRUE(sink.quiet());
}

TEST_F(RouteSinkTest, LearnsByReadBackThatARemovalOfNothingIsDone) {
    want();
    (void)sent();
    sink.unwant(kSunk);
    EXPECT_THAT(sent(), ElementsAre(withdraws("10.0.0.5")));
    now += 2s;  // Of an unknown route zebra says nothing.

    EXPECT_TRUE(read_back({}));

    EXPECT_THAT(sent(), IsEmpty());
    EXPECT_EQ(sink.routes().size(), 0U);
}

TEST_F(RouteSinkTest, RemovesWhatAReadBackShowsAndNobodyWants) {
    now += limits::kAuditInterval;

    EXPECT_TRUE(read_back({row}));

    EXPECT_THAT(sent(), ElementsAre(withdraws("10.0.0.5")));
}

TEST_F(RouteSinkTest, ReplacesWhatZebraReadFromTheKernelWithoutOurTag) {
    hold();
    now += limits::kAuditInterval;
    RouteSeen untagged = row;
    untagged.route->tag = 0;
    untagged.route->distance = 100;

    EXPECT_TRUE(read_back({untagged}));

    EXPECT_THAT(sent(), ElementsAre(announces("10.0.0.5", kLink)));
}

TEST_F(RouteSinkTest, PutsAgainWhatLeftWhileItWasRead) {
    hold();
    now += limits::kAuditInterval;

    EXPECT_TRUE(read_back({row, {.key = kSunk, .route = std::nullopt}}));

    EXPECT_THAT(sent(), ElementsAre(announces("10.0.0.5", kLink)));
}

TEST_F(RouteSinkTest, ConcludesNothingFromAReadBackThatDidNotFinish) {
    hold();
    now += limits::kAuditInterval;
    EXPECT_TRUE(sink.read_back_due(now));

    sink.read_back_finished({.complete = false}, now);

    EXPECT_THAT(sent(), IsEmpty());
    EXPECT_FALSE(sink.read_back_due(now));
    EXPECT_EQ(sink.wake_at(), now + limits::kReadBackSpacing);
    now += limits::kReadBackSpacing;
    EXPECT_TRUE(sink.read_back_due(now));
}

TEST_F(RouteSinkTest, ReadsBackAgainWhenAReadBackDoesNotEnd) {
    now += limits::kAuditInterval;
    EXPECT_TRUE(sink.read_back_due(now));
    EXPECT_EQ(sink.wake_at(), now + limits::kReadBackTimeout);
    EXPECT_FALSE(sink.read_back_due(now + limits::kReadBackTimeout - 1ns));

    EXPECT_TRUE(sink.read_back_due(now + limits::kReadBackTimeout));
}

TEST_F(RouteSinkTest, IgnoresRowsThatItDidNotAskFor) {
    sink.seen(row, now);
    sink.read_back_finished({}, now);

    EXPECT_THAT(sent(), IsEmpty());
    EXPECT_FALSE(sink.read_back_done());
}

TEST_F(RouteSinkTest, DeletesWaitsAndAddsAgainAfterAFlap) {
    hold();

    sink.reinstall(kSunk);

    EXPECT_THAT(sent(), ElementsAre(withdraws("10.0.0.5")));
    answer(RouteAnswer::Removed);
    EXPECT_THAT(sent(), ElementsAre(announces("10.0.0.5", kLink)));
}

TEST_F(RouteSinkTest, PutsARouteThatABetterOneHadBeatenAgainAfterAFlap) {
    hold();
    answer(RouteAnswer::BetterWon);

    sink.reinstall(kSunk);

    EXPECT_THAT(sent(), ElementsAre(withdraws("10.0.0.5")));
    answer(RouteAnswer::Removed);
    EXPECT_THAT(sent(), ElementsAre(announces("10.0.0.5", kLink)));
}

TEST_F(RouteSinkTest, RefreshesWithoutAGap) {
    hold();

    sink.refresh_all();

    EXPECT_THAT(sent(), ElementsAre(announces("10.0.0.5", kLink)));
}

TEST_F(RouteSinkTest, PushesEverythingAgainToAZebraThatCameBack) {
    hold();
    sink.lost();

    sink.up(now);

    EXPECT_THAT(sent(), ElementsAre(announces("10.0.0.5", kLink)));
    EXPECT_FALSE(sink.read_back_done());
}

TEST_F(RouteSinkTest, WithdrawsFromAZebraThatCameBackWhatDiedMeanwhile) {
    hold();
    sink.lost();
    sink.unwant(kSunk);

    sink.up(now);

    EXPECT_THAT(sent(), ElementsAre(withdraws("10.0.0.5")));
}

}  // namespace
}  // namespace planed
