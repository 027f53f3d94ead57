// SPDX-License-Identifier: Apache-2.0
#include "io/config_db_file.hpp"

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/io/zapi_temp_folder.hpp"

namespace planed::io {
namespace {

using config::DbRows;
using testing::HasSubstr;

DbRows two_rows() {
    return {{"PLANED_INTERFACE", {{"Vlan100", {{"max_hosts", "5"}, {"prefixes@", "10.0.0.0/16"}}}}},
            {"NEIGH", {{"Vlan100|10.0.0.5", {}}}}};
}

class ConfigDbFileTest : public testing::Test {
protected:
    [[nodiscard]] std::string path() const { return folder.path() + "/config_db"; }
    /// What one planed has kept, as the next one finds it.
    std::optional<DbRows> kept(const DbRows& rows) {
        {
            BackgroundWriter writer{10s};
            ConfigDbFile(folder.path(), writer).keep(rows);
        }
        return load();
    }
    std::optional<DbRows> load() {
        BackgroundWriter writer{10s};
        return ConfigDbFile(folder.path(), writer).load(problem);
    }

    TempFolder folder;
    std::string problem;
};

TEST_F(ConfigDbFileTest, IsReadAsItWasKept) {
    EXPECT_EQ(kept(two_rows()), two_rows());
    EXPECT_EQ(problem, "");
    EXPECT_FALSE(std::filesystem::exists(path() + ".new"));
}

TEST_F(ConfigDbFileTest, HasNothingWhereThereIsNone) {
    EXPECT_EQ(load(), std::nullopt);
    EXPECT_EQ(problem, "");
}

TEST_F(ConfigDbFileTest, HasWhatWasKeptLast) {
    (void)kept(two_rows());

    EXPECT_EQ(kept({}), DbRows());
}

TEST_F(ConfigDbFileTest, IsGoneOnceItIsRemoved) {
    (void)kept(two_rows());
    {
        BackgroundWriter writer{10s};
        ConfigDbFile(folder.path(), writer).remove();
    }

    EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(ConfigDbFileTest, IsSetAsideWhenDamaged) {
    std::ofstream(path()) << print_rows(two_rows()).substr(0, 40);

    EXPECT_EQ(load(), std::nullopt);

    EXPECT_EQ(problem, path() + ": is no JSON object; set aside as " + path() + ".damaged");
    EXPECT_FALSE(std::filesystem::exists(path()));
    EXPECT_TRUE(std::filesystem::exists(path() + ".damaged"));
}

TEST_F(ConfigDbFileTest, SaysThatItCannotBeWritten) {
    std::filesystem::create_directory(path() + ".new");
    BackgroundWriter writer{10s};
    ConfigDbFile file(folder.path(), writer);

    file.keep(two_rows());

    EXPECT_TRUE(writer.drain());
    EXPECT_THAT(file.problem(), HasSubstr("cannot create"));
}

TEST(ConfigDbRows, AreRefusedWhereTheyAreNotAsExpected) {
    const auto problem_of = [](std::string_view text) {
        const auto rows = parse_rows(text);
        return rows ? std::string("none") : rows.error().text;
    };
    EXPECT_EQ(problem_of(R"({"planed_config_db": 1, "rows": {"A": {"B": {"c": "d"}}}})"), "none");
    EXPECT_EQ(problem_of("[]"), "is no JSON object");
    EXPECT_EQ(problem_of("{}"), "planed_config_db is not 1");
    EXPECT_EQ(problem_of(R"({"planed_config_db": 2, "rows": {}})"), "planed_config_db is not 1");
    EXPECT_EQ(problem_of(R"({"planed_config_db": 1})"), "rows are not as expected");
    EXPECT_EQ(problem_of(R"({"planed_config_db": 1, "rows": []})"), "rows are not as expected");
    EXPECT_EQ(problem_of(R"({"planed_config_db": 1, "rows": {"A": 5}})"),
              "rows are not as expected");
    EXPECT_EQ(problem_of(R"({"planed_config_db": 1, "rows": {"A": {"B": []}}})"),
              "rows are not as expected");
    EXPECT_EQ(problem_of(R"({"planed_config_db": 1, "rows": {"A": {"B": {"c": 5}}}})"),
              "rows are not as expected");
}

TEST(ConfigDbRows, ArePrintedWhateverBytesTheyHave) {
    const auto rows = parse_rows(print_rows({{"A", {{"B", {{"c", "\xff\n"}}}}}}));

    ASSERT_TRUE(rows.has_value());
    EXPECT_EQ(rows->at("A").at("B").at("c"), "\xEF\xBF\xBD\n");
}

}  // namespace
}  // namespace planed::io
