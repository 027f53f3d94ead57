// SPDX-License-Identifier: Apache-2.0
// Plug-ins and a real engine: who is judged, and what observers are told.
#include "app/plugins.hpp"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/leaf.hpp"

namespace planed {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// With the plug-in `good`, which judges by the last byte of an address (2 of 8: denied) and says
/// what it is told.
class PluggedLeaf : public RailLeaf {
public:
    explicit PluggedLeaf(std::vector<PluginConfig> config = {
                             {.path = PLANED_FIXTURES_DIR "/good.so",
                              .options = {{"mark", "x"}}}}) {
        wrong = plugins.open(config);
        said.clear();
    }

    std::vector<std::string> wrong;
    std::vector<std::string> said;
    std::vector<bool> kept;
    Duration cost{};
    Plugins plugins{engine,
                    {.host = {.version = "1",
                              .meter =
                                  [this] {
                                      spent_ += cost;
                                      return plugin::Reading{.wall = spent_, .busy = spent_};
                                  },
                              .log = [this](const Note& note) { said.push_back(note.text); }},
                     .wall = [] { return 7us; },
                     .keep_changes =
                         [this](bool keep) {
                             kept.push_back(keep);
                             engine.keep_changes(keep);
                         }}};

    std::vector<SendRoute> judge(std::vector<Input> inputs) {
        plugins.handle(inputs, now);
        engine.settle(now);
        std::vector<Output> outputs;
        while (auto output = engine.poll()) {
            outputs.push_back(std::move(*output));
        }
        return routes_of(outputs);
    }
    bool tell() {
        said.clear();
        return plugins.turn(engine.take_changes(), now);
    }
    Input host(std::string_view address, const MacAddress& of) {
        return kernel.set(on_br0(address), reachable(of));
    }

private:
    Duration spent_{};
};

TEST(Plugins, AreRefusedTogether) {
    const PluggedLeaf leaf({{.path = "/nowhere/a.so"}, {.path = PLANED_FIXTURES_DIR "/idle.so"}});

    EXPECT_THAT(leaf.wrong, SizeIs(2));
    EXPECT_THAT(leaf.kept, IsEmpty());
}

TEST(Plugins, JudgeEventsWithTheNamesOfTheirInterfaces) {
    PluggedLeaf leaf;

    EXPECT_THAT(leaf.judge({leaf.host("10.0.0.8", mac(6)), leaf.host("10.0.0.10", mac(6))}),
                ElementsAre(announces("10.0.0.8", kBr0)));
    EXPECT_EQ(*leaf.engine.denied(on_br0("10.0.0.10")),
              "good: 10.0.0.10 02:00:00:00:00:06 br0 06 x");
}

TEST(Plugins, JudgeByALinkThatCameInTheSameTurn) {
    PluggedLeaf leaf;
    const NeighborKey key{.link = IfIndex{77}, .address = ip("10.0.0.10")};

    (void)leaf.judge({leaf.kernel.set(routed_port(IfIndex{77}, "swp77")),
                      leaf.kernel.set(key, reachable(mac(6)))});

    EXPECT_THAT(*leaf.engine.denied(key), HasSubstr(" swp77 "));
}

TEST(Plugins, AreAskedAgainOnceAnInterfaceHasAName) {
    PluggedLeaf leaf;
    const NeighborKey key{.link = IfIndex{77}, .address = ip("10.0.0.10")};
    (void)leaf.judge({leaf.kernel.set(key, reachable(mac(6)))});
    std::vector<Input> link{leaf.kernel.set(routed_port(IfIndex{77}, "swp77"))};

    leaf.plugins.handle(link, leaf.now);

    EXPECT_THAT(only<StartDump>(leaf.turn(std::vector<Input>{})),
                testing::Contains(StartDump{.kind = DumpKind::Neighbors}));
}

TEST(Plugins, JudgeWhoIsHeardByTheInterfaceBehindThePort) {
    PluggedLeaf leaf;
    std::vector<Input> heard{HostHeard{.link = kSwp1, .address = ip("10.0.0.10"), .mac = mac(7)}};

    leaf.plugins.handle(heard, leaf.now);

    EXPECT_THAT(std::get<HostHeard>(heard[0]).denied, HasSubstr(" br0 "));
}

TEST(Plugins, AreNotAskedAboutEntriesWithoutAMac) {
    PluggedLeaf leaf;

    (void)leaf.judge({leaf.kernel.set(on_br0("10.0.0.10"), in_state(Nud::Incomplete, {}))});

    EXPECT_EQ(leaf.plugins.views()[0].totals.calls, 0U);
}

TEST(Plugins, ThatAreFencedAreTroubleAndTheTableIsReadAgain) {
    PluggedLeaf leaf;
    leaf.cost = 2ms;
    for (int i = 0; i < 3; ++i) {
        (void)leaf.judge({leaf.host("10.0.0.10", mac(6))});
    }

    EXPECT_FALSE(leaf.plugins.has_judges());
    EXPECT_THAT(leaf.engine.degraded().at("plugin good"), HasSubstr("fenced after 3 strikes"));
    EXPECT_EQ(leaf.engine.denied(on_br0("10.0.0.10")), nullptr);  // The third call did not count.
}

TEST(Plugins, TellOfAHostAndItsRouteOnceForEachChange) {
    PluggedLeaf leaf;
    (void)leaf.judge({leaf.host("10.0.0.8", mac(6)), leaf.kernel.learn(in_br0(mac(6)), kSwp1)});

    EXPECT_FALSE(leaf.tell());
    const auto at = std::chrono::microseconds(7) + leaf.now.time_since_epoch();
    const std::string host = fmt::format(
        "1 0 default br0 10.0.0.8 02:00:00:00:00:06 swp1 kernel  eligible at {}\"", at / 1us);
    EXPECT_THAT(
        leaf.said,
        ElementsAre(HasSubstr(host), HasSubstr("2 0 default br0 10.0.0.8/32   kernel pending ")));
    (void)leaf.judge({leaf.kernel.set(on_br0("10.0.0.8"), in_state(Nud::Stale, mac(6)))});
    EXPECT_FALSE(leaf.tell());
    EXPECT_THAT(leaf.said, IsEmpty());  // Nothing of what it is shown has changed.

    (void)leaf.judge({leaf.kernel.remove(on_br0("10.0.0.8"))});
    EXPECT_FALSE(leaf.tell());
    EXPECT_THAT(leaf.said[0], HasSubstr("1 1 default br0 10.0.0.8"));
}

TEST(Plugins, TellABoundedPartATurnAndThenTheRest) {
    PluggedLeaf leaf;
    std::vector<Input> many;
    for (int n = 0; n < 300; ++n) {
        many.push_back(leaf.host(fmt::format("10.0.{}.{}", 1 + n / 30, 8 * (1 + n % 30)), mac(6)));
    }
    (void)leaf.judge(many);

    EXPECT_TRUE(leaf.tell());
    EXPECT_THAT(leaf.said, SizeIs(Plugins::kToldPerTurnMax));
    EXPECT_GT(leaf.plugins.waiting(), 0U);
    EXPECT_TRUE(leaf.tell());
    EXPECT_FALSE(leaf.tell());
    EXPECT_EQ(leaf.plugins.waiting(), 0U);
}

TEST(Plugins, LetTheChangesGoWhenNobodyObservesAnyMore) {
    PluggedLeaf leaf;
    EXPECT_THAT(leaf.kept, ElementsAre(true));
    leaf.cost = 2ms;
    (void)leaf.judge({leaf.host("10.0.0.8", mac(6)),
                      leaf.host("10.0.0.16", mac(6)),
                      leaf.host("10.0.0.24", mac(6))});

    EXPECT_FALSE(leaf.tell());

    EXPECT_THAT(leaf.kept, ElementsAre(true, false));
    EXPECT_THAT(leaf.said, IsEmpty());
}

}  // namespace
}  // namespace planed
