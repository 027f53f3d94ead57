// SPDX-License-Identifier: Apache-2.0
// Values as text: JSON and YAML for scripts, aligned tables for people. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ctl/value.hpp"

namespace planed::ctl {

enum class Form : std::uint8_t { Table, Json, JsonLines, Yaml };

/// One line without spaces, or (`pretty`) indented by two. No newline at the end.
std::string to_json(const Value& value, bool pretty);
/// Block style; newline at the end.
std::string to_yaml(const Value& value);

/// Text that holds numbers, as people sort it: swp2 before swp10, 10.0.0.9 before 10.0.0.10.
bool natural_less(std::string_view a, std::string_view b);

struct Column {
    std::string_view title;
    std::string_view field;
};

struct TableStyle {
    bool headers = true;
    bool colour = false;
};

/// Rows sorted naturally by their cells, from the first column on; columns aligned; then a line
/// "2 hosts" of `noun` and its plural.
std::string to_table(const std::vector<Column>& columns,
                     const Array& rows,
                     std::string_view noun,
                     const TableStyle& style);

/// In the same order.
void sort_rows(const std::vector<Column>& columns, Array& rows);

/// What was read and when, then a table of the differences, then how many there are.
std::string audit_text(const Array& tables,
                       const std::vector<Column>& columns,
                       const Array& differences,
                       std::uint64_t left_out,
                       const TableStyle& style);

/// "1 host", "0 hosts".
std::string count_of(std::size_t count, std::string_view noun);

/// Words of health in their colour: what is well, what waits, what is wrong.
std::string coloured(std::string_view text, bool colour);

}  // namespace planed::ctl
