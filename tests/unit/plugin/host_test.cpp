// SPDX-License-Identifier: Apache-2.0
#include "plugin/host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/plugin/opened.hpp"

namespace planed::plugin {
namespace {

using namespace test;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

std::string why_not(const std::string& name, Instance::Options options = {}) {
    const Opened plugins({wanted(fixture(name), std::move(options))});
    if (plugins.wrong.size() != 1 || !plugins.wrong[0].starts_with(fixture(name) + ": ")) {
        return "opened";
    }
    return plugins.wrong[0].substr(fixture(name).size() + 2);
}

TEST(PluginHost, SaysOfEachThatCannotBeHadWhichAndWhy) {
    EXPECT_THAT(why_not("nowhere"), HasSubstr("No such file or directory"));
    EXPECT_EQ(why_not("no_entry"), "no plug-in of planed: it has no symbol planed_plugin_entry");
    EXPECT_EQ(why_not("null_entry"), "planed_plugin_entry() returned no plug-in");
    EXPECT_EQ(why_not("other_abi"), "built for ABI 2 of planed/plugin.h, this planed has ABI 1");
    EXPECT_EQ(why_not("too_small"),
              "its struct planed_plugin is too small: 16 bytes, ABI 1 has 64");
    EXPECT_EQ(why_not("nameless"), "its name is not 1 to 32 of a-z, 0-9 and _");
    EXPECT_EQ(why_not("ill_named"), "its name is not 1 to 32 of a-z, 0-9 and _");
    EXPECT_EQ(why_not("versionless"), "its version is not 1 to 32 printable characters");
    EXPECT_EQ(why_not("idle"), "it neither judges nor observes");
    EXPECT_EQ(why_not("fails_to_open"), "the 'moon' is away");
    EXPECT_EQ(why_not("fails_silently"), "it cannot be opened, and does not say why (-3)");
    EXPECT_EQ(why_not("good", {{"colour", "red"}}), "unknown option \"colour\": it knows mark");
    EXPECT_EQ(why_not("plain", {{"a", "b"}}), "unknown option \"a\": it knows none");
}

TEST(PluginHost, TakesNoneIfOneCannotBeHad) {
    const Opened plugins({wanted(fixture("good"), {{"mark", "first"}}),
                          wanted(fixture("other_abi")),
                          wanted(fixture("idle"))});

    EXPECT_THAT(plugins.wrong, SizeIs(2));
    EXPECT_THAT(plugins.host.views(), IsEmpty());
    EXPECT_EQ(plugins.said.back(), "plugin.says plugin=good text=\"close first\"");
}

TEST(PluginHost, OpensInOrderAndClosesInReverse) {
    Opened plugins({wanted(fixture("good"), {{"mark", "first"}}),
                    wanted(fixture("good"), {{"mark", "second"}})});
    ASSERT_THAT(plugins.wrong, IsEmpty());

    plugins.host.close();

    EXPECT_THAT(
        plugins.said,
        ElementsAre("plugin.says plugin=good text=\"open 1.2.3 'first'\"",
                    StartsWith("plugin.opened plugin=good version=1.0 judges=yes observes=yes "),
                    "plugin.says plugin=good#2 text=\"open 1.2.3 'second'\"",
                    StartsWith("plugin.opened plugin=good#2 "),
                    "plugin.says plugin=good#2 text=\"close second\"",
                    "plugin.says plugin=good text=\"close first\""));
}

TEST(PluginHost, HasNeitherJudgesNorObserversWithoutPlugins) {
    Opened plugins({});

    EXPECT_FALSE(plugins.host.has_judges());
    EXPECT_FALSE(plugins.host.has_observers());
    EXPECT_EQ(plugins.host.judge(candidate("10.0.0.2")), "");
}

TEST(PluginJudge, IsAskedWithAllThatIsKnownAndDeniesInItsOwnWords) {
    Opened plugins({wanted(fixture("good"), {{"mark", "x"}})});

    EXPECT_EQ(plugins.host.judge(candidate("10.0.0.2")),
              "good: 10.0.0.2 02:00:00:00:00:05 Vlan100 05 x");
    EXPECT_EQ(plugins.host.judge(candidate("fd00::a", "", "02:00:00:00:00:ff")),
              "good: fd00::a 02:00:00:00:00:ff  ff x");
    EXPECT_EQ(plugins.host.judge(candidate("10.0.0.1")), "");  // Allowed.
    EXPECT_EQ(plugins.host.judge(candidate("10.0.0.8")), "");  // Abstained.
    EXPECT_EQ(plugins.host.views()[0].totals.calls, 4U);
    EXPECT_EQ(plugins.host.views()[0].totals.denials, 2U);
}

TEST(PluginJudge, IsAskedInOrderUntilOneHasAnOpinion) {
    Opened plugins({wanted(fixture("good"), {{"mark", "x"}}), wanted(fixture("plain"))});

    EXPECT_EQ(plugins.host.judge(candidate("10.0.0.1")), "");  // An exception from the second.
    EXPECT_EQ(plugins.host.judge(candidate("10.0.0.8")), "plain: no reason given");
    EXPECT_THAT(plugins.host.judge(candidate("10.0.0.2")), StartsWith("good: "));
    EXPECT_EQ(plugins.host.views()[1].totals.calls, 1U);
}

TEST(PluginJudge, IsFencedByItsThirdCallThatTakesTooLong) {
    Opened plugins({wanted(fixture("plain"))});
    plugins.cost = {.wall = 1200us, .busy = 1100us};

    EXPECT_THAT(plugins.host.judge(candidate("10.0.0.1")), StartsWith("plain: "));
    EXPECT_THAT(plugins.host.judge(candidate("10.0.0.1")), StartsWith("plain: "));
    EXPECT_TRUE(plugins.host.has_judges());
    EXPECT_THAT(plugins.host.take_inputs(), IsEmpty());
    EXPECT_EQ(plugins.host.judge(candidate("10.0.0.1")), "");  // It abstains from now on.

    EXPECT_FALSE(plugins.host.has_judges());
    EXPECT_EQ(plugins.host.judge(candidate("10.0.0.1")), "");
    EXPECT_EQ(plugins.host.views()[0].totals.calls, 3U);
    EXPECT_EQ(plugins.host.views()[0].fenced, "judge() took 1.2 ms, 1.1 ms of them computing");
    EXPECT_EQ(plugins.said.back(),
              "plugin.strike plugin=plain strike=3 of=3 text=\"judge() took 1.2 ms, 1.1 ms of them "
              "computing\"");
}

TEST(PluginJudge, ThatIsFencedIsTroubleAndHasEverybodyJudgedAnew) {
    Opened plugins({wanted(fixture("plain"))});
    plugins.cost = {.wall = 30ms, .busy = 10us, .waits = 1};
    for (int call = 0; call < 3; ++call) {
        (void)plugins.host.judge(candidate("10.0.0.1"));
    }

    EXPECT_THAT(plugins.host.take_inputs(),
                ElementsAre(Input{TroubleSeen{
                                .what = "plugin plain",
                                .text = "fenced after 3 strikes, the last: judge() took 30.0 ms, "
                                        "waiting; not called any more until planed is started "
                                        "again, what it had denied is not denied any more"}},
                            Input{JudgesChanged{}}));
    EXPECT_THAT(plugins.host.take_inputs(), IsEmpty());
}

TEST(PluginJudge, IsNotToBlameWhenTheMachineDidNotLetItRun) {
    Opened plugins({wanted(fixture("plain"))});
    plugins.cost = {.wall = 500ms, .busy = 900us};

    for (int call = 0; call < 10; ++call) {
        EXPECT_THAT(plugins.host.judge(candidate("10.0.0.1")), StartsWith("plain: "));
    }
    EXPECT_EQ(plugins.host.views()[0].totals.strikes, 0U);
}

TEST(PluginJudge, IsFencedForAnswersThatMeanNothing) {
    Opened plugins({wanted(fixture("good"))});

    for (int call = 0; call < 4; ++call) {
        EXPECT_EQ(plugins.host.judge(candidate("10.0.0.5")), "");
    }

    EXPECT_EQ(plugins.host.views()[0].fenced, "judge() answered 5, which means nothing");
    EXPECT_EQ(plugins.host.views()[0].totals.calls, 3U);
}

TEST(PluginObserver, IsToldOfHostsAndRoutes) {
    Opened plugins({wanted(fixture("good"), {{"mark", "x"}})});

    plugins.host.tell({.route = false,
                       .eligible = true,
                       .at_us = 12,
                       .vrf = "blue",
                       .interface = "Vlan1",
                       .address = "10.0.0.5",
                       .mac = "02:00:00:00:00:05",
                       .port = "swp1",
                       .origin = "kernel",
                       .reason = "eligible"});
    plugins.host.tell({.route = true, .gone = true, .vrf = "blue", .prefix = "10.0.0.5/32"});

    EXPECT_THAT(plugins.said[2],
                HasSubstr("\"x: 1 0 blue Vlan1 10.0.0.5 02:00:00:00:00:05 swp1 kernel  eligible at "
                          "12\""));
    EXPECT_THAT(plugins.said[3], HasSubstr("\"x: 2 1 blue  10.0.0.5/32     "));
}

TEST(PluginObserver, IsFencedAsWell) {
    Opened plugins({wanted(fixture("good"), {{"mark", "x"}})});
    plugins.cost = {.wall = 2ms, .busy = 2ms};

    for (int call = 0; call < 5; ++call) {
        plugins.host.tell({.vrf = "default"});
    }

    EXPECT_FALSE(plugins.host.has_observers());
    EXPECT_EQ(plugins.host.views()[0].totals.calls, 3U);
    EXPECT_THAT(plugins.host.views()[0].fenced, StartsWith("changed() took 2.0 ms"));
}

TEST(PluginReadme, HasAnExampleThatWorks) {
    EXPECT_THAT(why_not("nic_vendor"), StartsWith("it needs the option oui"));
    Opened plugins({wanted(fixture("nic_vendor"), {{"oui", "b8:ce:f6"}})});
    ASSERT_THAT(plugins.wrong, IsEmpty());

    EXPECT_EQ(plugins.host.judge(candidate("10.0.0.5", "Vlan100", "b8:ce:f6:00:00:05")), "");
    EXPECT_EQ(plugins.host.judge(candidate("10.0.0.5")),
              "nic_vendor: the card is not of vendor b8:ce:f6");
}

}  // namespace
}  // namespace planed::plugin
