// SPDX-License-Identifier: Apache-2.0
// What watchers read: everything in order, or word that something was lost.
#include "api/watch_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace planed::api {
namespace {

std::shared_ptr<const WatchItem> item(std::uint32_t link) {
    return std::make_shared<const WatchItem>(
        WatchItem{.object = InterfaceView{.link = IfIndex{link}}});
}
std::vector<std::uint32_t> links_of(const WatchLog::Batch& batch) {
    std::vector<std::uint32_t> links;
    for (const auto& each : batch.items) {
        links.push_back(number(std::get<InterfaceView>(each->object).link));
    }
    return links;
}
void push(WatchLog& log, std::uint32_t first, std::uint32_t count) {
    std::vector<std::shared_ptr<const WatchItem>> items;
    for (std::uint32_t i = 0; i < count; ++i) {
        items.push_back(item(first + i));
    }
    log.push(std::move(items));
}

TEST(WatchLog, TellsAWatcherWhatHappensAfterItBegan) {
    WatchLog log;
    push(log, 1, 2);
    const std::uint64_t from = log.end();

    push(log, 3, 2);

    const auto batch = log.read(from, 10);
    EXPECT_FALSE(batch.lost);
    EXPECT_THAT(links_of(batch), testing::ElementsAre(3, 4));
    EXPECT_EQ(batch.next, log.end());
    EXPECT_TRUE(log.read(batch.next, 10).items.empty());
}

TEST(WatchLog, GivesNoMoreThanWasAskedForAndGoesOnThere) {
    WatchLog log;
    const std::uint64_t from = log.end();
    push(log, 1, 5);

    const auto first = log.read(from, 2);
    const auto second = log.read(first.next, 10);

    EXPECT_THAT(links_of(first), testing::ElementsAre(1, 2));
    EXPECT_THAT(links_of(second), testing::ElementsAre(3, 4, 5));
}

TEST(WatchLog, ServesWatchersAtTheirOwnPace) {
    WatchLog log;
    const std::uint64_t slow = log.end();
    push(log, 1, 1);
    const std::uint64_t quick = log.read(slow, 10).next;
    push(log, 2, 1);

    EXPECT_THAT(links_of(log.read(quick, 10)), testing::ElementsAre(2));
    EXPECT_THAT(links_of(log.read(slow, 10)), testing::ElementsAre(1, 2));
}

TEST(WatchLog, TellsWhoIsTooSlowThatItHasLostSomething) {
    WatchLog log;
    const std::uint64_t slow = log.end();
    const auto max = static_cast<std::uint32_t>(WatchLog::kMax);
    push(log, 1, max);
    EXPECT_FALSE(log.read(slow, 1).lost);

    push(log, max + 1, 1);

    const auto batch = log.read(slow, 10);
    EXPECT_TRUE(batch.lost);
    EXPECT_TRUE(batch.items.empty());
    push(log, max + 2, 1);
    EXPECT_THAT(links_of(log.read(batch.next, 10)), testing::ElementsAre(max + 2));
}

TEST(WatchLog, TellsEveryoneThatHeldAPlaceWhenTooMuchHasChanged) {
    WatchLog log;
    const std::uint64_t before = log.end();

    log.lose();
    const std::uint64_t after = log.end();
    push(log, 7, 1);

    EXPECT_TRUE(log.read(before, 10).lost);
    EXPECT_THAT(links_of(log.read(after, 10)), testing::ElementsAre(7));
    EXPECT_FALSE(log.read(log.read(before, 10).next, 10).lost);
}

}  // namespace
}  // namespace planed::api
