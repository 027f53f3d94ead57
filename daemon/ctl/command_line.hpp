// SPDX-License-Identifier: Apache-2.0
// The one table of verbs and options: what is parsed, what help and the manual say, and what the
// shells complete all come from it. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ctl/render.hpp"

namespace planed::ctl {

enum class Action : std::uint8_t {
    Status,
    Interfaces,
    Hosts,
    Routes,
    Proxies,
    Segments,
    Peers,
    EvpnRoutes,
    Explain,
    Audit,
    Watch,
    Counters,
    Drain,
    Undrain,
    Probe,
    Forget,
    Metrics,
    ConfigCheck,
    ConfigShow,
    ConfigDiff,
    ConfigReload,
    Log,
    SupportBundle,
    Version,
    Completion,
    Help,
};

/// What a word on the command line may be, for completion.
enum class Kind : std::uint8_t {
    Text,
    File,
    Interface,
    Address,
    Level,
    Shell,
    WatchKind,
    Output,
    When,
    RouteType
};

struct Option {
    std::string_view name;   // "--interface"
    std::string_view value;  // "NAME"; empty: a flag.
    Kind kind = Kind::Text;
    std::string_view help;
};

struct Verb {
    Action action{};
    std::string_view word;      // "config"
    std::string_view sub;       // "check"; mostly empty.
    std::string_view argument;  // "ADDRESS", "[KIND]…" (as help shows it); empty: none.
    Kind kind = Kind::Text;     // Of the argument.
    std::size_t arguments_min = 0;
    std::size_t arguments_max = 0;
    std::vector<Option> options;
    std::string_view help;
};

std::span<const Verb> verbs();
std::span<const Option> global_options();
/// The words of a kind that has only some; empty for the others.
std::vector<std::string_view> words_of(Kind kind);

struct Invocation {
    const Verb* verb = nullptr;
    std::vector<std::string> arguments{};
    std::map<std::string, std::string, std::less<>> options{};  // By name; flags: "".
    Form form = Form::Table;
    std::chrono::milliseconds timeout{5000};
    std::chrono::milliseconds interval{2000};  // Between two rounds of --watch.
    std::string target{};

    [[nodiscard]] bool has(std::string_view option) const { return options.contains(option); }
    [[nodiscard]] std::string option(std::string_view name) const {
        const auto found = options.find(name);
        return found == options.end() ? std::string() : found->second;
    }
};

/// The sentence that goes to stderr; the exit code is 2.
struct UsageError {
    std::string text;
};

/// `words` without the program's name. `environment_target`: PLANECTL_TARGET, empty if unset.
std::variant<Invocation, UsageError> parse(std::span<const std::string> words,
                                           const std::string& environment_target);

/// "5s", "300ms", "2m", or seconds; nullopt: none of these, or zero.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

std::string help_text();
std::string help_text(const Verb& verb);

/// A script for bash, zsh or fish.
std::string completion_script(std::string_view shell);

}  // namespace planed::ctl
