// SPDX-License-Identifier: Apache-2.0
// A recording: everything that the engine was told, as lines of JSON, and nothing that it decided.
// Since it decides by nothing else, whoever tells another engine the same sees the same decisions.
//
//   {"planed_recording":1,"version":"0.1.0","node":"leaf-a1","started":"2026-…Z","level":"info",
//    "config":"node:\n  name: …"}                                          the first line
//   {"at":81342000000000,"input":"NeighborSeen","key":{"link":5,"address":"10.0.0.5"},…}
//   {"at":81342000000000,"turn":{"decided":3}}                             the turn ends
//
// `at` is the steady clock in nanoseconds. Addresses, MACs and prefixes are text, enumerations
// words, interface and VRF ids numbers, durations nanoseconds, a configuration is YAML. What is
// absent is left out. Passwords are in none (config/print.hpp prints none).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "config/config.hpp"
#include "core/input.hpp"
#include "core/output.hpp"
#include "net/result.hpp"
#include "net/time.hpp"
#include "telemetry/note.hpp"

namespace planed::record {

inline constexpr unsigned kFormat = 1;

struct Header {
    std::string version{};
    std::string node{};
    std::string started{};  // RFC 3339.
    Level level = Level::Info;
    std::shared_ptr<const Config> config{};  // Of the engine, before its first input.
};

/// The engine has settled, and been asked for what it wants.
struct Turn {
    std::uint64_t decided = 0;  // How many outputs, notes not counted: they depend on the level.
    bool operator==(const Turn&) const = default;
};

struct Line {
    TimePoint at{};
    std::variant<Input, Turn> what{};
};

/// Without a newline, as all of these.
std::string to_line(const Header& header);
std::string to_line(const Input& input, TimePoint at);
std::string to_line(const Turn& turn, TimePoint at);
/// For people and scripts; not read back.
std::string to_line(const Output& output, TimePoint at);

/// The error says which field is wrong. Errc::Unsupported: of another format.
Result<Header> parse_header(std::string_view line);
Result<Line> parse_line(std::string_view line);

}  // namespace planed::record
