// SPDX-License-Identifier: Apache-2.0
// SONiC's CONFIG_DB as a second source of configuration: the rows of its tables that concern
// planed, laid over what planed.yaml says. Every row is judged by itself, by the same rules as the
// file; a wrong one is refused with a reason, and what it last said rightly stays in effect. Reads
// nothing.
//
// Tables and fields: daemon/config/README.md.
#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"

namespace planed::config {

using DbFields = std::map<std::string, std::string, std::less<>>;  // By name.
using DbTable = std::map<std::string, DbFields, std::less<>>;      // By key: "Vlan100|10.0.0.5".
using DbRows = std::map<std::string, DbTable, std::less<>>;        // By table.

/// Bounds of what is taken; those of lists and of single values are planed.yaml's.
inline constexpr std::size_t kDbRowsMax = 65'536;
inline constexpr std::size_t kDbRowMax = std::size_t{1} << 16U;  // Bytes of names and values.

/// Tables that have rows for us.
[[nodiscard]] std::span<const std::string_view> db_tables();
/// Whether merge() has a use for this row; the rest need not be read.
[[nodiscard]] bool is_read(std::string_view table, std::string_view key);

struct RefusedRow {
    std::string table{};
    std::string key{};
    std::string reason{};  // "max_hosts: must be a whole number from 1 to 131072, not \"0\""
    auto operator<=>(const RefusedRow&) const = default;
};

struct Merged {
    Config config{};
    /// What stands behind it: of each row only the fields that count, of a refused one those that
    /// it had before, if it had.
    DbRows in_effect{};
    std::vector<RefusedRow> refused{};  // By table and key.
    /// Served interfaces whose proxy ARP is SONiC's to set, so that planed leaves it alone.
    std::vector<std::string> left_to_sonic{};
    std::vector<std::string> not_acted_on{};  // "PLANED_INTERFACE|Vlan9 unresolved": not built yet.
    std::string log_level{};                  // "debug"; empty: not said.
};

/// `file` is right by itself; `before`: the rows that were in effect, empty at first.
[[nodiscard]] Merged merge(const Config& file, const DbRows& rows, const DbRows& before);

}  // namespace planed::config
