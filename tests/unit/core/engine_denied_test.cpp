// SPDX-License-Identifier: Apache-2.0
// Hosts that a plug-in denies: its verdict comes with each fact and is one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/snapshot.hpp"
#include "support/leaf.hpp"

namespace planed::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kDeniedHost = "10.0.0.5";  // Of a RailLeaf.
const std::string kWords = "guard: not here";

/// The same fact as judges let it pass, or do not.
Input judged(const Input& fact, const std::string& denied) {
    NeighborSeen seen = std::get<NeighborSeen>(fact);
    seen.denied = denied;
    return seen;
}

HostView shown(const Leaf& leaf, std::string_view address) {
    return EngineView(leaf.engine).host(on_br0(address)).value();
}

TEST(EngineDenied, IsNeverAnnounced) {
    RailLeaf leaf;

    const auto outputs =
        leaf.feed({judged(leaf.kernel.set(on_br0("10.0.0.6"), reachable(mac(6))), kWords),
                   leaf.kernel.learn(in_br0(mac(6)), kSwp1)});

    EXPECT_THAT(routes_of(outputs), IsEmpty());
    EXPECT_EQ(shown(leaf, "10.0.0.6").reason, Reason::Denied);
    EXPECT_EQ(shown(leaf, "10.0.0.6").denied, kWords);
    EXPECT_EQ(shown(leaf, kDeniedHost).denied, "");
}

TEST(EngineDenied, LosesTheRouteThatItHasAndGetsItBack) {
    RailLeaf leaf;

    EXPECT_THAT(routes_of(leaf.feed(
                    judged(leaf.kernel.set(on_br0(kDeniedHost), reachable(mac(5))), kWords))),
                ElementsAre(withdraws(kDeniedHost)));
    EXPECT_THAT(routes_of(leaf.turn(leaf.kernel.set(on_br0(kDeniedHost), reachable(mac(5))))),
                ElementsAre(announces(kDeniedHost, kBr0)));
}

// Though too many losses at once are held up, and routes of silent hosts stay for a while.
TEST(EngineDenied, GoesAtOnceWhateverDelaysOtherLosses) {
    Config config = serving({"br0"});
    config.routes.withdraw_delay.silent = 30s;
    config.routes.max_withdraw.at_least = 1;
    RailLeaf leaf(config);

    EXPECT_THAT(routes_of(leaf.turn(
                    judged(leaf.kernel.set(on_br0(kDeniedHost), reachable(mac(5))), kWords))),
                ElementsAre(withdraws(kDeniedHost)));
}

TEST(EngineDenied, StaysSoWhileTheKernelNamesNoMac) {
    RailLeaf leaf;
    (void)leaf.feed(judged(leaf.kernel.set(on_br0(kDeniedHost), reachable(mac(5))), kWords));

    (void)leaf.feed(leaf.kernel.set(on_br0(kDeniedHost), failed()));
    EXPECT_EQ(shown(leaf, kDeniedHost).reason, Reason::Failed);
    EXPECT_EQ(shown(leaf, kDeniedHost).denied, kWords);

    const auto outputs =
        leaf.feed(judged(leaf.kernel.set(on_br0(kDeniedHost), reachable(mac(5))), kWords));
    EXPECT_THAT(routes_of(outputs), IsEmpty());
}

TEST(EngineDenied, IsForgottenWithItsNeighbour) {
    RailLeaf leaf;
    (void)leaf.feed(judged(leaf.kernel.set(on_br0(kDeniedHost), reachable(mac(5))), kWords));

    (void)leaf.feed(leaf.kernel.remove(on_br0(kDeniedHost)));

    EXPECT_EQ(leaf.engine.denied(on_br0(kDeniedHost)), nullptr);
    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.set(on_br0(kDeniedHost), reachable(mac(5))))),
                ElementsAre(announces(kDeniedHost, kBr0)));
}

TEST(EngineDenied, IsJudgedByDumpsTooButNotByRowsThatAnEventHasOvertaken) {
    RailLeaf leaf;
    leaf.answer_dumps = false;
    NeighborSeen row{.key = on_br0(kDeniedHost), .neighbor = reachable(mac(5))};
    row.source = Source::Dump;
    row.denied = kWords;

    (void)leaf.turn({DumpStarted{.kind = DumpKind::Neighbors},
                     leaf.kernel.set(on_br0(kDeniedHost), in_state(Nud::Stale, mac(5))),
                     row});
    EXPECT_EQ(leaf.engine.denied(on_br0(kDeniedHost)), nullptr);
    (void)leaf.turn({DumpFinished{.kind = DumpKind::Neighbors, .complete = true},
                     DumpStarted{.kind = DumpKind::Neighbors}});

    EXPECT_THAT(routes_of(leaf.turn(row)), ElementsAre(withdraws(kDeniedHost)));
}

TEST(EngineDenied, IsNotWrittenToTheKernelWhenItIsOnlyHeard) {
    RailLeaf leaf;
    HostHeard heard{.link = kSwp1, .address = ip("10.0.0.7"), .mac = mac(7)};

    heard.denied = kWords;
    EXPECT_THAT(writes_of(leaf.turn(heard)), IsEmpty());
    EXPECT_EQ(leaf.engine.learning().ignored, 1U);
    heard.denied = "";
    EXPECT_THAT(writes_of(leaf.turn(heard)), testing::SizeIs(1));
}

TEST(EngineDenied, IsNoEvidenceForOtherLeaves) {
    RailLeaf leaf;
    const auto knows = [&leaf] {
        return leaf.engine.has_evidence(*leaf.engine.neighbors().find(on_br0(kDeniedHost)));
    };
    EXPECT_TRUE(knows());

    (void)leaf.feed(judged(leaf.kernel.set(on_br0(kDeniedHost), reachable(mac(5))), kWords));

    EXPECT_FALSE(knows());
}

TEST(EngineDenied, IsExplainedInThePluginsWords) {
    RailLeaf leaf;
    (void)leaf.feed(judged(leaf.kernel.set(on_br0(kDeniedHost), reachable(mac(5))), kWords));

    const Explanation explanation = EngineView(leaf.engine).explain(ip(kDeniedHost));

    EXPECT_EQ(explanation.verdict, "none");
    EXPECT_EQ(explanation.reason, "denied");
    EXPECT_THAT(explanation.chain, Contains(Cause{.stage = "plugin", .text = kWords}));
}

TEST(EngineDenied, NeighborsAreReadAgainWhenJudgesChange) {
    RailLeaf leaf;

    EXPECT_THAT(only<StartDump>(leaf.turn(JudgesChanged{})),
                ElementsAre(StartDump{.kind = DumpKind::Neighbors}));
}

}  // namespace
}  // namespace planed::test
