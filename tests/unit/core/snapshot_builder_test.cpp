// SPDX-License-Identifier: Apache-2.0
// Snapshots in slices: the same whatever their size, and whatever changes between two of them.
#include "core/snapshot_builder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/leaf.hpp"

namespace planed::test {
namespace {

constexpr SnapshotParts kAll{.hosts = true, .routes = true};

std::shared_ptr<const Snapshot> build(const Engine& engine, SnapshotParts parts, std::size_t rows) {
    SnapshotBuilder builder(parts);
    while (!builder.advance(EngineView(engine), rows)) {
    }
    return builder.take();
}

class SnapshotBuilderTest : public testing::Test {
protected:
    SnapshotBuilderTest() {
        for (int i = 6; i < 16; ++i) {
            const std::string address = "10.0.0." + std::to_string(i);
            (void)leaf.feed(leaf.kernel.set(on_br0(address), reachable(mac(5))));
        }
        (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.15"), failed()));
    }
    std::vector<std::string> addresses(const Snapshot& snapshot) {
        std::vector<std::string> all;
        for (const HostView& host : snapshot.hosts) {
            all.push_back(host.key.address.to_string());
        }
        return all;
    }
    RailLeaf leaf;
};

TEST_F(SnapshotBuilderTest, CountsWhatItShows) {
    const auto snapshot = build(leaf.engine, kAll, 1000);

    const Engine::Totals totals = leaf.engine.totals();
    EXPECT_EQ(snapshot->hosts_total, snapshot->hosts.size());
    EXPECT_EQ(snapshot->hosts_eligible, totals.eligible);
    EXPECT_EQ(snapshot->hosts_eligible + 1, snapshot->hosts_total);
    EXPECT_EQ(snapshot->routes_desired, totals.routes_desired);
    EXPECT_EQ(snapshot->routes_installed, totals.routes_installed);
    EXPECT_EQ(snapshot->routes.size(), totals.routes_desired);
    ASSERT_EQ(snapshot->interfaces.size(), 1U);
    EXPECT_EQ(snapshot->interfaces[0].interface.name, "br0");
    EXPECT_EQ(snapshot->interfaces[0].hosts, snapshot->hosts_total);
    EXPECT_TRUE(snapshot->node.ready);
    EXPECT_TRUE(snapshot->health.zebra_up);
}

TEST_F(SnapshotBuilderTest, IsTheSameInSlicesOfAnySize) {
    const auto whole = build(leaf.engine, kAll, 1000);

    for (std::size_t rows = 1; rows < 20; ++rows) {
        EXPECT_EQ(*build(leaf.engine, kAll, rows), *whole) << rows;
    }
}

TEST_F(SnapshotBuilderTest, ReadsNoMoreThanItsSlice) {
    SnapshotBuilder builder(kAll);
    int slices = 0;
    while (!builder.advance(EngineView(leaf.engine), 4)) {
        ++slices;
    }

    const auto rows = leaf.engine.neighbors().size() + leaf.engine.routes().size();
    EXPECT_GE(slices, static_cast<int>(rows / 4) - 1);
}

TEST_F(SnapshotBuilderTest, HasRowsOnlyOfWhatWasAskedFor) {
    const auto totals = build(leaf.engine, {}, 4);

    EXPECT_TRUE(totals->hosts.empty());
    EXPECT_TRUE(totals->routes.empty());
    EXPECT_GT(totals->hosts_total, 0U);
    EXPECT_GT(totals->routes_desired, 0U);
}

TEST_F(SnapshotBuilderTest, ReadsTheProxiedHostsIfAsked) {
    for (const char* address : {"fd00:0:0:1::71", "fd00:0:0:1::72", "fd00:0:0:1::73"}) {
        (void)leaf.feed(PlaneRouteSeen{.key = route_key(VrfId::Default, ip(address))});
    }

    for (std::size_t rows = 1; rows < 6; ++rows) {
        const auto snapshot = build(leaf.engine, {.proxies = true}, rows);
        ASSERT_EQ(snapshot->proxies.size(), 3U) << rows;
        EXPECT_EQ(
            snapshot->proxies[2],
            (ProxyView{
                .key = on_br0("fd00:0:0:1::73"), .interface = "br0", .state = SinkState::Held}));
        EXPECT_EQ(snapshot->interfaces.size(), 1U);
    }
    EXPECT_TRUE(build(leaf.engine, {}, 4)->proxies.empty());
}

TEST_F(SnapshotBuilderTest, GoesOnBehindARowThatHasGoneMeanwhile) {
    SnapshotBuilder builder(kAll);
    ASSERT_FALSE(builder.advance(EngineView(leaf.engine), 3));

    (void)leaf.feed(leaf.kernel.remove(on_br0("10.0.0.7")));
    (void)leaf.feed(leaf.kernel.remove(on_br0("10.0.0.12")));
    while (!builder.advance(EngineView(leaf.engine), 3)) {
    }

    const auto shown = addresses(*builder.take());
    EXPECT_THAT(shown, testing::IsSupersetOf({"10.0.0.8", "10.0.0.11", "10.0.0.13", "10.0.0.15"}));
    EXPECT_THAT(shown, testing::Not(testing::Contains("10.0.0.12")));
    EXPECT_EQ(std::set<std::string>(shown.begin(), shown.end()).size(), shown.size());
}

}  // namespace
}  // namespace planed::test
