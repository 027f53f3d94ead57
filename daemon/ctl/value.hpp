// SPDX-License-Identifier: Apache-2.0
// An answer of planed as a tree of plain values, in the order of the API's fields: what all output
// forms are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace google::protobuf {
class Message;
}

namespace planed::ctl {

struct Value;
using Array = std::vector<Value>;
using Object = std::vector<std::pair<std::string, Value>>;

struct Value {
    std::variant<std::nullptr_t, bool, std::uint64_t, std::string, Array, Object> is = nullptr;
    bool operator==(const Value&) const = default;

    /// Of an object; null if there is no such field.
    [[nodiscard]] const Value& at(std::string_view name) const;
    /// As a table's cell has it: "yes", "12", "10.0.0.0/16 fd00::/64", "-" for what is not known.
    [[nodiscard]] std::string text() const;
    [[nodiscard]] bool is_true() const { return is == decltype(is)(true); }
};

inline Value text_value(std::string text) {
    return {.is = std::move(text)};
}

/// Every field of a message, times as RFC 3339 with microseconds, absent ones as null. An event of
/// Watch is flat: its object's fields stand beside its own, of a gone object those that name it.
Value to_value(const google::protobuf::Message& message);

/// Seconds since 1970 and microseconds: "2026-05-04T10:20:30.000123Z".
std::string rfc3339(std::int64_t seconds, std::int64_t microseconds);

}  // namespace planed::ctl
