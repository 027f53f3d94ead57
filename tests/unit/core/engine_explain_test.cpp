// SPDX-License-Identifier: Apache-2.0
// The chain of causes between an address and its route, or the first condition that fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/snapshot.hpp"
#include "support/leaf.hpp"

namespace planed::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> stages(const Explanation& explanation) {
    std::vector<std::string> all;
    for (const Cause& cause : explanation.chain) {
        all.emplace_back(cause.stage);
    }
    return all;
}
std::string text_of(const Explanation& explanation, std::string_view stage) {
    for (const Cause& cause : explanation.chain) {
        if (cause.stage == stage) {
            return cause.text;
        }
    }
    return "(no such stage)";
}
Explanation explain(const Leaf& leaf, std::string_view address) {
    return EngineView(leaf.engine).explain(ip(address));
}

TEST(Explain, TellsARoutesWholeChain) {
    RailLeaf leaf;

    const Explanation explanation = explain(leaf, "10.0.0.5");

    EXPECT_EQ(explanation.verdict, "installed");
    EXPECT_EQ(explanation.reason, "eligible");
    EXPECT_THAT(stages(explanation),
                ElementsAre("neighbor", "port", "verdict", "route", "sent", "zebra"));
    EXPECT_THAT(text_of(explanation, "neighbor"), HasSubstr("REACHABLE"));
    EXPECT_THAT(text_of(explanation, "port"), HasSubstr("behind swp1, which has carrier"));
    EXPECT_THAT(text_of(explanation, "route"), HasSubstr("10.0.0.5/32 dev br0 distance 5"));
    EXPECT_EQ(text_of(explanation, "sent"), "add to zebra");
    EXPECT_EQ(text_of(explanation, "zebra"), "installed");
}

TEST(Explain, SaysWhatFailsForAHostThatDoesNotAnswer) {
    RailLeaf leaf;
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.5"), failed()));

    const Explanation explanation = explain(leaf, "10.0.0.5");

    EXPECT_EQ(explanation.verdict, "none");
    EXPECT_EQ(explanation.reason, "failed");
    EXPECT_THAT(text_of(explanation, "verdict"), HasSubstr("FAILED"));
}

TEST(Explain, SaysThatZebraHasNotAnsweredYet) {
    RailLeaf leaf;
    leaf.answer_routes = false;
    (void)leaf.feed(leaf.kernel.set(on_br0("10.0.0.77"), reachable(mac(5))));

    const Explanation explanation = explain(leaf, "10.0.0.77");

    EXPECT_EQ(explanation.verdict, "pending");
    EXPECT_EQ(explanation.reason, "waits_for_zebra");
    EXPECT_EQ(text_of(explanation, "zebra"), "not answered yet");
}

TEST(Explain, SaysWhereAnAddressWouldBeThatNobodyHas) {
    RailLeaf leaf;

    const Explanation explanation = explain(leaf, "10.0.0.99");

    EXPECT_EQ(explanation.verdict, "none");
    EXPECT_EQ(explanation.reason, "no_neighbor");
    EXPECT_THAT(stages(explanation), ElementsAre("interface", "neighbor"));
    EXPECT_THAT(text_of(explanation, "interface"), HasSubstr("would be on br0"));
}

TEST(Explain, SaysThatTheGatewayIsOurs) {
    RailLeaf leaf;

    EXPECT_EQ(explain(leaf, "10.0.0.1").reason, "own_address");
}

TEST(Explain, SaysThatNoInterfaceServesAnAddress) {
    RailLeaf leaf;

    const Explanation explanation = explain(leaf, "192.0.2.1");

    EXPECT_EQ(explanation.reason, "outside_prefixes");
    EXPECT_THAT(text_of(explanation, "interface"), HasSubstr("br0 10.0.0.0/16"));
}

TEST(Explain, SaysThatAnInterfaceIsDownBeforeAnythingElse) {
    RailLeaf leaf;
    (void)leaf.feed(leaf.kernel.set(without_carrier(bridge(kBr0, "br0"))));

    EXPECT_EQ(explain(leaf, "10.0.0.99").reason, "interface_down");
}

TEST(Explain, NamesTheInterfaceThatIsNotServed) {
    RailLeaf leaf;
    (void)leaf.feed(leaf.kernel.set({.link = kUp0, .address = ip("10.9.0.1")}, reachable(mac(9))));

    const Explanation explanation = explain(leaf, "10.9.0.1");

    EXPECT_EQ(explanation.reason, "not_served");
    EXPECT_EQ(explanation.verdict, "none");
}

}  // namespace
}  // namespace planed::test
