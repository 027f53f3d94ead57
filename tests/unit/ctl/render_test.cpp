// SPDX-License-Identifier: Apache-2.0
// Values as JSON, YAML and tables; numbers in names in the order of people.
#include "ctl/render.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace planed::ctl {
namespace {

Value number(std::uint64_t n) {
    return {.is = n};
}
Value row(std::string name, std::uint64_t hosts) {
    return {.is = Object{{"name", text_value(std::move(name))}, {"hosts", number(hosts)}}};
}
const Value kTree{
    .is = Object{{"name", text_value("leaf \"a\"\n")},
                 {"ready", {.is = true}},
                 {"since", {}},
                 {"empty", {.is = Array{}}},
                 {"prefixes", {.is = Array{text_value("10.0.0.0/16"), text_value("fd00::/64")}}},
                 {"frr", {.is = Object{{"routes", number(7)}}}}}};
const std::vector<Column> kColumns{{"INTERFACE", "name"}, {"HOSTS", "hosts"}};

TEST(Json, OfOneLineHasNoSpaces) {
    EXPECT_EQ(to_json(kTree, false),
              R"({"name":"leaf \"a\"\n","ready":true,"since":null,"empty":[],)"
              R"("prefixes":["10.0.0.0/16","fd00::/64"],"frr":{"routes":7}})");
}

TEST(Json, IsIndentedForPeople) {
    EXPECT_EQ(to_json({.is = Array{row("a", 1)}}, true),
              "[\n  {\n    \"name\": \"a\",\n    \"hosts\": 1\n  }\n]");
}

TEST(Json, EscapesControlCharacters) {
    EXPECT_EQ(to_json(text_value(std::string("\x01\t\\")), false), "\"\\u0001\\t\\\\\"");
}

TEST(Yaml, QuotesWhatYamlWouldTakeForSomethingElse) {
    EXPECT_EQ(to_yaml(kTree),
              "name: \"leaf \\\"a\\\"\\n\"\n"
              "ready: true\n"
              "since: null\n"
              "empty: []\n"
              "prefixes:\n"
              "  - \"10.0.0.0/16\"\n"
              "  - \"fd00::/64\"\n"
              "frr:\n"
              "  routes: 7\n");
    EXPECT_EQ(to_yaml(text_value("off")), "\"off\"\n");
    EXPECT_EQ(to_yaml(text_value("swp1")), "swp1\n");
}

TEST(Yaml, ListsObjects) {
    EXPECT_EQ(to_yaml({.is = Array{row("a", 1), row("b", 2)}}),
              "- name: a\n  hosts: 1\n- name: b\n  hosts: 2\n");
}

TEST(NaturalOrder, ReadsNumbersAsNumbers) {
    std::vector<std::string> names{
        "swp10", "swp2", "Vlan100", "10.0.0.10", "10.0.0.9", "swp2.5", "swp"};

    std::sort(names.begin(), names.end(), natural_less);

    EXPECT_THAT(
        names,
        testing::ElementsAre("10.0.0.9", "10.0.0.10", "Vlan100", "swp", "swp2", "swp2.5", "swp10"));
}

TEST(NaturalOrder, IsStrict) {
    EXPECT_FALSE(natural_less("a1", "a1"));
    EXPECT_FALSE(natural_less("a01", "a1"));
    EXPECT_FALSE(natural_less("a1", "a01"));
    EXPECT_TRUE(natural_less("99999999999999999999998", "99999999999999999999999"));
}

TEST(Table, AlignsSortsAndCounts) {
    EXPECT_EQ(to_table(kColumns, {row("swp10", 1), row("swp2", 20)}, "interface", {}),
              "INTERFACE  HOSTS\n"
              "swp2       20\n"
              "swp10      1\n"
              "2 interfaces\n");
}

TEST(Table, OfNothingIsItsCount) {
    EXPECT_EQ(to_table(kColumns, {}, "host", {}), "0 hosts\n");
}

TEST(Table, ForScriptsHasRowsAlone) {
    EXPECT_EQ(to_table(kColumns, {row("a", 1)}, "host", {.headers = false}), "a  1\n");
}

TEST(Table, HasColourOnlyWhereItIsWanted) {
    const Array rows{{.is = Object{{"state", text_value("rejected")}, {"n", number(1)}}}};
    const std::vector<Column> columns{{"STATE", "state"}, {"N", "n"}};

    EXPECT_THAT(to_table(columns, rows, "route", {.colour = true}),
                testing::HasSubstr("\x1b[31mrejected\x1b[0m  1\n"));
    EXPECT_THAT(to_table(columns, rows, "route", {.colour = false}),
                testing::Not(testing::HasSubstr("\x1b")));
}

// An audit ----------------------------------------------------------------------------------------

Value read_table(std::string where, std::string name, Value entries, Value began) {
    return {.is = Object{{"where", text_value(std::move(where))},
                         {"table", text_value(std::move(name))},
                         {"wanted", {.is = true}},
                         {"entries", std::move(entries)},
                         {"began", std::move(began)},
                         {"trouble", text_value("")}}};
}
Value difference(std::string object) {
    return {.is = Object{{"where", text_value("zebra")},
                         {"object", text_value(std::move(object))},
                         {"wanted", text_value("dev br0")},
                         {"found", text_value("")}}};
}
const std::vector<Column> kDifference{
    {"WHERE", "where"}, {"OBJECT", "object"}, {"WANTED", "wanted"}, {"FOUND", "found"}};

Array read_tables() {
    Value off = read_table("redis", "rows", number(0), {});
    std::get<Object>(off.is)[2].second = {.is = false};
    return {
        read_table("kernel", "neighbors", number(12), text_value("2026-05-04T10:20:30.000123Z")),
        read_table("zebra", "routes", number(0), {}),
        off};
}

TEST(Audit, WithoutDifferencesSaysSoAndWhatWasRead) {
    EXPECT_EQ(audit_text(read_tables(), kDifference, {}, 0, {}),
              "WHERE   TABLE      ENTRIES  READ\n"
              "kernel  neighbors  12       2026-05-04T10:20:30.000123Z\n"
              "redis   rows       -        off\n"
              "zebra   routes     -        -\n"
              "3 tables\n"
              "no differences\n");
}

TEST(Audit, TellsDifferencesInTheOrderOfPeopleAndCountsThem) {
    EXPECT_EQ(
        audit_text({}, kDifference, {difference("10.0.0.10/32"), difference("10.0.0.9/32")}, 3, {}),
        "0 tables\n"
        "\n"
        "WHERE  OBJECT        WANTED   FOUND\n"
        "zebra  10.0.0.9/32   dev br0  -\n"
        "zebra  10.0.0.10/32  dev br0  -\n"
        "2 differences\n"
        "and 3 more differences, which are not told\n");
}

TEST(Audit, ForScriptsIsItsRowsAlone) {
    EXPECT_EQ(audit_text(read_tables(), kDifference, {}, 0, {.headers = false}), "");
    EXPECT_EQ(audit_text(read_tables(), kDifference, {difference("a")}, 0, {.headers = false}),
              "zebra  a  dev br0  -\n");
}

TEST(Rows, AreSortedAsInTheirTable) {
    Array rows{row("swp10", 1), row("swp2", 20)};

    sort_rows(kColumns, rows);

    EXPECT_EQ(rows, (Array{row("swp2", 20), row("swp10", 1)}));
}

}  // namespace
}  // namespace planed::ctl
