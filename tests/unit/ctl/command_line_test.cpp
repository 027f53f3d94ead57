// SPDX-License-Identifier: Apache-2.0
// What may be typed, what it means, and what is said of what may not.
#include "ctl/command_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace planed::ctl {
namespace {

using namespace std::chrono_literals;

using testing::ElementsAre;
using testing::HasSubstr;

std::variant<Invocation, UsageError> parse_all(const std::vector<std::string>& words,
                                               const std::string& target = "") {
    return parse(words, target);
}
Invocation parsed(const std::vector<std::string>& words, const std::string& target = "") {
    const auto result = parse_all(words, target);
    if (const auto* error = std::get_if<UsageError>(&result)) {
        ADD_FAILURE() << error->text;
        return Invocation{.verb = &verbs().front()};
    }
    return std::get<Invocation>(result);
}
std::string refused(const std::vector<std::string>& words) {
    const auto result = parse_all(words);
    const auto* error = std::get_if<UsageError>(&result);
    return error == nullptr ? "(taken)" : error->text;
}

TEST(CommandLine, FindsAVerbItsArgumentsAndItsOptions) {
    const Invocation hosts =
        parsed({"hosts", "--interface", "Vlan100", "--port=swp1", "-o", "json"});

    EXPECT_EQ(hosts.verb->action, Action::Hosts);
    EXPECT_EQ(hosts.option("--interface"), "Vlan100");
    EXPECT_EQ(hosts.option("--port"), "swp1");
    EXPECT_EQ(hosts.form, Form::Json);
    EXPECT_EQ(hosts.target, "unix:/run/planed/planed.sock");
    EXPECT_EQ(hosts.timeout, std::chrono::seconds(5));
}

TEST(CommandLine, TakesOptionsAnywhereAndJoined) {
    EXPECT_EQ(parsed({"-ojsonl", "explain", "--timeout=300ms", "10.0.0.5"}).form, Form::JsonLines);
    EXPECT_THAT(parsed({"--target", "unix:/x", "explain", "10.0.0.5"}).arguments,
                ElementsAre("10.0.0.5"));
}

TEST(CommandLine, TakesTheTargetFromTheEnvironmentUnlessItIsGiven) {
    EXPECT_EQ(parsed({"status"}, "unix:/e").target, "unix:/e");
    EXPECT_EQ(parsed({"status", "--target", "unix:/t"}, "unix:/e").target, "unix:/t");
}

TEST(CommandLine, TakesUniqueAbbreviations) {
    EXPECT_EQ(parsed({"st"}).verb->action, Action::Status);
    EXPECT_EQ(parsed({"int"}).verb->action, Action::Interfaces);
    EXPECT_EQ(parsed({"conf", "rel"}).verb->action, Action::ConfigReload);
    EXPECT_EQ(parsed({"hosts", "--int", "Vlan100"}).option("--interface"), "Vlan100");
    EXPECT_THAT(parsed({"watch", "r", "h"}).arguments, ElementsAre("routes", "hosts"));
    EXPECT_EQ(parsed({"status", "-o", "json"}).form, Form::Json);  // Though jsonl begins so too.
    EXPECT_EQ(parsed({"status", "-o", "y"}).form, Form::Yaml);
}

TEST(CommandLine, SaysWhichWordsAnAbbreviationCouldBe) {
    EXPECT_EQ(refused({"co"}), "\"co\" could be counters, config or completion");
    EXPECT_THAT(refused({"config", "x"}), HasSubstr("check, show, diff or reload"));
    EXPECT_THAT(refused({"status", "--t", "1"}), HasSubstr("could be --target, --timeout"));
}

TEST(CommandLine, SaysWhatIsMissingOrTooMuch) {
    EXPECT_EQ(refused({}), "no verb: planectl help lists them");
    EXPECT_EQ(refused({"frob"}), "no verb \"frob\": planectl help lists them");
    EXPECT_EQ(refused({"explain"}), "planectl explain needs ADDRESS");
    EXPECT_THAT(refused({"status", "now"}), HasSubstr("takes no argument"));
    EXPECT_THAT(refused({"explain", "a", "b"}), HasSubstr("2 words"));
    EXPECT_THAT(refused({"config"}), HasSubstr("check, show, diff or reload"));
    EXPECT_THAT(refused({"hosts", "--port"}), HasSubstr("--port needs a value"));
    EXPECT_THAT(refused({"status", "--port", "x"}), HasSubstr("no option --port"));
    EXPECT_THAT(refused({"status", "--port=x", "hosts"}), HasSubstr("no option --port"));
    EXPECT_THAT(refused({"--port=x", "status"}), HasSubstr("status has no option --port"));
    EXPECT_THAT(refused({"log", "loud"}), HasSubstr("error, warn, info, debug or trace"));
    EXPECT_THAT(refused({"status", "-o", "xml"}), HasSubstr("table, json, jsonl or yaml"));
    EXPECT_THAT(refused({"status", "--timeout", "soon"}), HasSubstr("5s, 300ms or 2m"));
    EXPECT_THAT(refused({"watch", "--count", "0"}), HasSubstr("from 1 on"));
    EXPECT_THAT(refused({"evpn-routes", "--type", "6"}), HasSubstr("1, 2, 3, 4 or 5"));
}

TEST(CommandLine, WatchesOnlyWhatChanges) {
    EXPECT_TRUE(parsed({"hosts", "--watch"}).has("--watch"));
    EXPECT_EQ(parsed({"hosts", "--watch"}).interval, 2s);
    EXPECT_EQ(parsed({"status", "--watch", "--every", "300ms"}).interval, 300ms);
    EXPECT_EQ(refused({"config", "reload", "--watch"}),
              "--watch: planectl config reload shows nothing that changes");
    EXPECT_THAT(refused({"drain", "--watch"}), HasSubstr("shows nothing that changes"));
    EXPECT_EQ(refused({"hosts", "--every", "2s"}), "--every goes with --watch");
    EXPECT_THAT(refused({"hosts", "--watch", "--every", "often"}), HasSubstr("5s, 300ms or 2m"));
}

TEST(CommandLine, TakesWhatEvpnRoutesAreChosenBy) {
    const Invocation invocation = parsed({"evpn", "--peer", "10.66.0.2", "--type", "2"});

    EXPECT_EQ(invocation.verb->action, Action::EvpnRoutes);
    EXPECT_EQ(invocation.option("--peer"), "10.66.0.2");
    EXPECT_EQ(invocation.option("--type"), "2");
    EXPECT_EQ(parsed({"pe"}).verb->action, Action::Peers);
}

TEST(CommandLine, HelpsWithAndWithoutAVerb) {
    EXPECT_EQ(parsed({"--help"}).verb->action, Action::Help);
    EXPECT_EQ(parsed({"explain", "-h"}).verb->action, Action::Explain);
    EXPECT_EQ(parsed({"config", "--help"}).verb->action, Action::Help);
    EXPECT_EQ(parsed({"--version"}).verb->action, Action::Version);
    EXPECT_THAT(help_text(), HasSubstr("explain ADDRESS"));
}

TEST(Duration, HasAUnitOrIsInSeconds) {
    EXPECT_EQ(parse_duration("5"), std::chrono::seconds(5));
    EXPECT_EQ(parse_duration("250ms"), std::chrono::milliseconds(250));
    EXPECT_EQ(parse_duration("2m"), std::chrono::minutes(2));
    for (const std::string_view wrong : {"", "0s", "-1s", "5h", "s", "1.5s", "99999999999s"}) {
        EXPECT_EQ(parse_duration(wrong), std::nullopt) << wrong;
    }
}

TEST(Completion, KnowsEveryVerbAndOptionOfTheTable) {
    for (const std::string_view shell : words_of(Kind::Shell)) {
        const std::string script = completion_script(shell);
        for (const Verb& verb : verbs()) {
            EXPECT_THAT(script, HasSubstr(std::string(verb.word))) << shell;
            EXPECT_THAT(script, HasSubstr(std::string(verb.sub))) << shell;
            for (const Option& option : verb.options) {
                EXPECT_THAT(script, HasSubstr(std::string(option.name.substr(2)))) << shell;
            }
        }
    }
}

}  // namespace
}  // namespace planed::ctl
