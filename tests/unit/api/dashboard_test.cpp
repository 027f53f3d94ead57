// SPDX-License-Identifier: Apache-2.0
// The dashboard that is shipped asks for metrics that there are, and Grafana finds what it needs.
#include <fstream>
#include <regex>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/metrics.hpp"

namespace planed::api {
namespace {

using nlohmann::json;
using testing::IsEmpty;
using testing::IsSupersetOf;

json dashboard() {
    std::ifstream file(PLANED_SOURCE_DIR "/config/grafana/planed.json");
    return json::parse(file);
}

std::set<std::string> names_in(const std::string& text, const std::regex& what) {
    std::set<std::string> names;
    for (auto at = std::sregex_iterator(text.begin(), text.end(), what);
         at != std::sregex_iterator();
         ++at) {
        names.insert(at->str(at->size() - 1));
    }
    return names;
}

/// Of every sample that a leaf may have.
std::set<std::string> metric_names() {
    Snapshot snapshot;
    snapshot.health.degraded = {"zebra: away"};
    snapshot.health.milestones = {{.name = "CONFIG_LOADED", .at = TimePoint{}}};
    snapshot.health.zebra_up = true;
    snapshot.oldest_proof = TimePoint{};
    snapshot.interfaces = {{.interface = {.name = "Vlan100"}}};
    Counters counters;
    for (const std::string_view name : described_counters()) {
        counters.emplace_back(name, 0);
    }
    const std::string text = to_open_metrics(snapshot, {}, counters, TimePoint{});
    static const std::regex kSample("(^|\n)([a-z][a-z0-9_]*)(?=[{ ])");
    return names_in(text, kSample);
}

std::set<std::string> used_names(const json& board) {
    static const std::regex kName("(planed_[a-z0-9_]+)");
    std::set<std::string> names;
    for (const json& panel : board.at("panels")) {
        for (const json& target : panel.value("targets", json::array())) {
            names.merge(names_in(target.at("expr").get<std::string>(), kName));
        }
    }
    for (const json& variable : board.at("templating").at("list")) {
        names.merge(names_in(variable.value("definition", ""), kName));
    }
    return names;
}

TEST(Dashboard, AsksOnlyForMetricsThatThereAre) {
    const std::set<std::string> used = used_names(dashboard());

    EXPECT_GT(used.size(), 30U);
    EXPECT_THAT(metric_names(), IsSupersetOf(used));
}

TEST(Dashboard, HasWhatGrafanaNeeds) {
    const json board = dashboard();

    for (const char* field : {"uid", "title", "time", "panels", "templating", "annotations"}) {
        EXPECT_TRUE(board.contains(field)) << field;
    }
    EXPECT_GE(board.at("schemaVersion").get<int>(), 36);
    EXPECT_FALSE(board.contains("id"));  // Of the Grafana that it was drawn with.
    std::set<int> ids;
    for (const json& panel : board.at("panels")) {
        const std::string title = panel.at("title").get<std::string>();
        EXPECT_TRUE(ids.insert(panel.at("id").get<int>()).second) << title;
        EXPECT_FALSE(title.empty());
        const json& place = panel.at("gridPos");
        EXPECT_LE(place.at("x").get<int>() + place.at("w").get<int>(), 24) << title;
        if (panel.at("type") == "row") {
            continue;
        }
        EXPECT_EQ(panel.at("datasource").at("uid"), "${datasource}") << title;
        std::set<std::string> references;
        for (const json& target : panel.at("targets")) {
            EXPECT_TRUE(references.insert(target.at("refId").get<std::string>()).second) << title;
        }
        EXPECT_THAT(references, testing::Not(IsEmpty())) << title;
    }
}

// Who chooses some leaves sees those alone.
TEST(Dashboard, AsksOfTheChosenLeavesOnly) {
    static const std::regex kUnchosen(
        "planed_[a-z0-9_]+(?!\\{instance=~\"\\$instance\")(?![a-z0-9_])");
    const json board = dashboard();
    for (const json& panel : board.at("panels")) {
        for (const json& target : panel.value("targets", json::array())) {
            const auto expression = target.at("expr").get<std::string>();
            EXPECT_FALSE(std::regex_search(expression, kUnchosen)) << expression;
        }
    }
}

}  // namespace
}  // namespace planed::api
