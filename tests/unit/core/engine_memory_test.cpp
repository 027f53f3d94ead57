// SPDX-License-Identifier: Apache-2.0
// A restart with what the state file remembers: the dead do not rise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/leaf.hpp"

namespace planed::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// The kernel still has the host, its forwarding entry is gone; the state file knows its port.
class EngineMemory : public testing::Test {
protected:
    EngineMemory() {
        (void)leaf.kernel.set(on_br0("10.0.0.5"), stale(mac(5)));
        leaf.engine.handle(PortRemembered{.bridge = "br0", .mac = mac(5), .port = "swp1"},
                           leaf.now);
    }
    Leaf leaf{serving({"br0"}), rail()};
};

TEST_F(EngineMemory, KeepsAHostBehindADeadPortFromBeingAnnounced) {
    (void)leaf.kernel.set(without_carrier(leaf.kernel.link(kSwp1)));

    EXPECT_THAT(routes_of(leaf.feed(ZapiUp{.family = "C"})), IsEmpty());
    EXPECT_THAT(routes_of(leaf.run_for(1h)), IsEmpty());
}

TEST_F(EngineMemory, WaitsToHearAHostWhosePortWasDeadAtTheStart) {
    (void)leaf.kernel.set(without_carrier(leaf.kernel.link(kSwp1)));
    leaf.start();

    const auto outputs = leaf.feed(leaf.kernel.set(with_carrier(leaf.kernel.link(kSwp1))));
    EXPECT_THAT(routes_of(outputs), IsEmpty());
    EXPECT_THAT(only<WriteNeighbor>(outputs), SizeIs(1));

    EXPECT_THAT(routes_of(leaf.feed(leaf.kernel.learn(in_br0(mac(5)), kSwp1))),
                ElementsAre(announces("10.0.0.5", kBr0)));
}

TEST_F(EngineMemory, LetsAHostBehindALivingPortBeAnnouncedAndAsked) {
    const auto outputs = leaf.feed(ZapiUp{.family = "C"});

    EXPECT_THAT(routes_of(outputs), ElementsAre(announces("10.0.0.5", kBr0)));
    EXPECT_THAT(only<WriteNeighbor>(outputs), SizeIs(1));
    EXPECT_THAT(only<RememberPort>(outputs), IsEmpty());
}

TEST_F(EngineMemory, YieldsToWhatTheKernelKnows) {
    (void)leaf.kernel.set(without_carrier(leaf.kernel.link(kSwp1)));
    (void)leaf.kernel.learn(in_br0(mac(5)), kSwp2);

    const auto outputs = leaf.feed(ZapiUp{.family = "C"});

    EXPECT_THAT(routes_of(outputs), ElementsAre(announces("10.0.0.5", kBr0)));
    EXPECT_THAT(only<RememberPort>(outputs),
                ElementsAre(RememberPort{.bridge = "br0", .mac = mac(5), .port = "swp2"}));
}

TEST_F(EngineMemory, KeepsAHostWhosePortIsNotThereFromBeingAnnouncedUntilItIs) {
    const Link swp1 = leaf.kernel.link(kSwp1);
    (void)leaf.kernel.remove_link(kSwp1);
    EXPECT_THAT(routes_of(leaf.feed(ZapiUp{.family = "C"})), IsEmpty());

    const auto outputs = leaf.feed(leaf.kernel.set(swp1));

    EXPECT_THAT(routes_of(outputs), ElementsAre(announces("10.0.0.5", kBr0)));
    EXPECT_THAT(only<WriteNeighbor>(outputs), SizeIs(1));
}

}  // namespace
}  // namespace planed::test
