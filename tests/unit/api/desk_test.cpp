// SPDX-License-Identifier: Apache-2.0
// Readers at the desk: one snapshot for all who wait, begun after the question, in slices.
#include "api/desk.hpp"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/leaf.hpp"

namespace planed::api {
namespace {

using test::RailLeaf;

class DeskTest : public testing::Test {
protected:
    Desk::Ready note() {
        return [this](const auto& snapshot) { got.push_back(snapshot); };
    }
    bool turn() { return desk.turn(EngineView(leaf.engine), leaf.now); }

    RailLeaf leaf;
    Desk desk;
    std::vector<std::shared_ptr<const Snapshot>> got;
};

TEST_F(DeskTest, DoesNothingUnlessSomebodyAsks) {
    EXPECT_FALSE(turn());
    EXPECT_EQ(desk.wake_at(), std::nullopt);
}

TEST_F(DeskTest, BuildsOneSnapshotForAllWhoWait) {
    ASSERT_TRUE(desk.ask({}, note()));
    ASSERT_TRUE(desk.ask({.hosts = true}, note()));

    while (turn()) {
    }

    ASSERT_EQ(got.size(), 2U);
    EXPECT_EQ(got[0], got[1]);
    EXPECT_FALSE(got[0]->hosts.empty());
    EXPECT_TRUE(got[0]->routes.empty());
}

TEST_F(DeskTest, ReadsEveryTableThatSomebodyAsksFor) {
    (void)leaf.feed(PlaneRouteSeen{.key = {.prefix = host_prefix(test::ip("fd00:0:0:1::77"))}});
    ASSERT_TRUE(desk.ask({.routes = true}, note()));
    ASSERT_TRUE(desk.ask({.proxies = true}, note()));

    while (turn()) {
    }

    ASSERT_EQ(got.size(), 2U);
    EXPECT_TRUE(got[0]->hosts.empty());
    EXPECT_EQ(got[0]->routes.size(), 1U);
    EXPECT_EQ(got[0]->proxies.size(), 1U);
}

TEST_F(DeskTest, NeverAnswersWithWhatWasReadBeforeTheQuestion) {
    for (std::uint32_t i = 0; i < 2 * Desk::kRowsPerTurn; ++i) {
        const std::string address = fmt::format("10.0.{}.{}", 1 + i / 250, 1 + i % 250);
        (void)leaf.feed(leaf.kernel.set(test::on_br0(address), test::stale(test::mac(5))));
    }
    ASSERT_TRUE(desk.ask({.hosts = true}, note()));
    ASSERT_TRUE(turn());  // Begun, and not through yet.

    ASSERT_TRUE(desk.ask({.hosts = true}, note()));
    while (turn()) {
    }
    EXPECT_EQ(got.size(), 1U);

    ASSERT_TRUE(desk.wake_at());
    leaf.now = *desk.wake_at();
    while (turn()) {
    }
    EXPECT_EQ(got.size(), 2U);
    EXPECT_NE(got[0], got[1]);
}

TEST_F(DeskTest, PausesAfterASnapshotSoThatReadersDoNotTakeTheLoop) {
    ASSERT_TRUE(desk.ask({}, note()));
    while (turn()) {
    }
    ASSERT_TRUE(desk.ask({}, note()));

    EXPECT_FALSE(turn());

    EXPECT_EQ(got.size(), 1U);
    EXPECT_EQ(desk.wake_at(), leaf.now + Desk::kPauseMin);
}

TEST_F(DeskTest, TurnsReadersAwayWhenTooManyWait) {
    for (std::size_t i = 0; i < Desk::kWaitingMax; ++i) {
        ASSERT_TRUE(desk.ask({}, note()));
    }

    EXPECT_FALSE(desk.ask({}, note()));
}

TEST(ItemsOf, TellsEachObjectOnceAsItIsNow) {
    RailLeaf leaf;
    leaf.engine.keep_changes(true);
    (void)leaf.feed(leaf.kernel.set(test::on_br0("10.0.0.5"), test::failed()));

    const auto items = items_of(leaf.engine.take_changes(), EngineView(leaf.engine), leaf.now);

    ASSERT_TRUE(items);
    ASSERT_EQ(items->size(), 2U);
    const auto& host = std::get<HostView>((*items)[0]->object);
    EXPECT_EQ(host.reason, Reason::Failed);
    EXPECT_FALSE((*items)[0]->gone);
    EXPECT_TRUE((*items)[1]->gone);
    EXPECT_EQ(std::get<RouteView>((*items)[1]->object).key.prefix.to_string(), "10.0.0.5/32");
}

TEST(ItemsOf, NamesWhatIsGone) {
    RailLeaf leaf;
    leaf.engine.keep_changes(true);
    (void)leaf.feed(leaf.kernel.set(test::on_br0("10.0.0.5"), test::failed()));
    (void)leaf.feed(leaf.kernel.remove(test::on_br0("10.0.0.5")));

    const auto items = items_of(leaf.engine.take_changes(), EngineView(leaf.engine), leaf.now);

    ASSERT_TRUE(items);
    const auto& host = std::get<HostView>((*items)[0]->object);
    EXPECT_TRUE((*items)[0]->gone);
    EXPECT_EQ(host.interface, "br0");
    EXPECT_EQ(host.vrf, "default");
    EXPECT_EQ(host.key.address.to_string(), "10.0.0.5");
}

TEST(ItemsOf, GivesUpWhenTooMuchHasChanged) {
    RailLeaf leaf;
    Changes changes;
    for (std::uint16_t i = 1; i <= 1025; ++i) {
        changes.hosts.push_back(test::on_br0(fmt::format("10.0.{}.{}", i / 250, i % 250)));
    }

    EXPECT_EQ(items_of(changes, EngineView(leaf.engine), leaf.now), std::nullopt);
    EXPECT_EQ(items_of({.renamed = true}, EngineView(leaf.engine), leaf.now), std::nullopt);
}

}  // namespace
}  // namespace planed::api
