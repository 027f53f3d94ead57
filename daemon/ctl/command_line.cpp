// SPDX-License-Identifier: Apache-2.0
#include "ctl/command_line.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/core.h>

namespace planed::ctl {
namespace {

constexpr std::string_view kDefaultTarget = "unix:/run/planed/planed.sock";

std::string quoted(std::string_view word) {
    return fmt::format("\"{}\"", word);
}

std::string list_of(const std::vector<std::string_view>& words) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        text += i == 0 ? "" : i + 1 == words.size() ? " or " : ", ";
        text += words[i];
    }
    return text;
}

/// The one of `candidates` that is `word`, or the only one that begins with it.
struct Match {
    std::optional<std::string_view> word{};
    std::vector<std::string_view> ambiguous{};
};
Match match(std::string_view word, const std::vector<std::string_view>& candidates) {
    Match found;
    for (const std::string_view candidate : candidates) {
        if (candidate == word) {
            return {.word = candidate};
        }
        const bool known = std::find(found.ambiguous.begin(), found.ambiguous.end(), candidate) !=
                           found.ambiguous.end();
        if (candidate.starts_with(word) && !known) {
            found.ambiguous.push_back(candidate);
        }
    }
    if (found.ambiguous.size() == 1) {
        return {.word = found.ambiguous.front()};
    }
    return found;
}

// What can be asked again and again: watch goes on by itself.
bool shows_what_changes(Action action) {
    switch (action) {
        case Action::Status:
        case Action::Interfaces:
        case Action::Hosts:
        case Action::Routes:
        case Action::Proxies:
        case Action::Segments:
        case Action::Peers:
        case Action::EvpnRoutes:
        case Action::Explain:
        case Action::Audit:
        case Action::Counters:
        case Action::Metrics: return true;
        case Action::Watch:
        case Action::Drain:
        case Action::Undrain:
        case Action::Probe:
        case Action::Forget:
        case Action::ConfigCheck:
        case Action::ConfigShow:
        case Action::ConfigDiff:
        case Action::ConfigReload:
        case Action::Log:
        case Action::SupportBundle:
        case Action::Version:
        case Action::Completion:
        case Action::Help: return false;
    }
    return false;
}

std::string usage_of(const Verb& verb) {
    std::string text(verb.word);
    for (const std::string_view part : {verb.sub, verb.argument}) {
        text += part.empty() ? "" : fmt::format(" {}", part);
    }
    return text;
}

class Parser {
public:
    explicit Parser(std::span<const std::string> words) : words_(words) {}

    std::variant<Invocation, UsageError> run(const std::string& environment_target) {
        invocation_.target =
            environment_target.empty() ? std::string(kDefaultTarget) : environment_target;
        while (next_ < words_.size() && error_.empty()) {
            take(words_[next_++]);
        }
        if (error_.empty()) {
            finish();
        }
        if (!error_.empty()) {
            return UsageError{.text = error_};
        }
        return invocation_;
    }

private:
    void take(const std::string& word) {
        if (only_arguments_ || word.empty() || word[0] != '-' || word == "-") {
            take_word(word);
        } else if (word == "--") {
            only_arguments_ = true;
        } else {
            take_option(word);
        }
    }

    void take_word(const std::string& word) {
        if (verb_word_.empty()) {
            take_verb(word);
        } else if (needs_sub() && sub_.empty()) {
            take_sub(word);
        } else {
            invocation_.arguments.push_back(word);
        }
    }

    void take_verb(const std::string& word) {
        std::vector<std::string_view> candidates;
        for (const Verb& verb : verbs()) {
            candidates.push_back(verb.word);
        }
        const Match found = match(word, candidates);
        if (found.word) {
            verb_word_ = *found.word;
        } else if (!found.ambiguous.empty()) {
            error_ = fmt::format("{} could be {}", quoted(word), list_of(found.ambiguous));
        } else {
            error_ = fmt::format("no verb {}: planectl help lists them", quoted(word));
        }
    }

    [[nodiscard]] std::vector<std::string_view> subs() const {
        std::vector<std::string_view> candidates;
        for (const Verb& verb : verbs()) {
            if (verb.word == verb_word_ && !verb.sub.empty()) {
                candidates.push_back(verb.sub);
            }
        }
        return candidates;
    }
    [[nodiscard]] bool needs_sub() const { return !subs().empty(); }

    void take_sub(const std::string& word) {
        const Match found = match(word, subs());
        if (found.word) {
            sub_ = *found.word;
        } else {
            error_ = fmt::format("planectl {} {}: must be {}",
                                 verb_word_,
                                 word,
                                 list_of(found.ambiguous.empty() ? subs() : found.ambiguous));
        }
    }

    void take_option(const std::string& word) {
        const std::size_t equals = word.find('=');
        std::string name = word.substr(0, equals);
        std::optional<std::string> value;
        if (equals != std::string::npos) {
            value = word.substr(equals + 1);
        }
        if (name.size() > 2 && name[0] == '-' && name[1] != '-') {
            value = name.substr(2);  // -ojson
            name.resize(2);
        }
        const Option* option = find_option(name);
        if (option == nullptr) {
            return;
        }
        if (option->value.empty()) {
            if (value) {
                error_ = fmt::format("{} takes no value", option->name);
            }
            invocation_.options[std::string(option->name)] = "";
            return;
        }
        if (!value && next_ == words_.size()) {
            error_ =
                fmt::format("{} needs a value: {} {}", option->name, option->name, option->value);
            return;
        }
        invocation_.options[std::string(option->name)] = value ? *value : words_[next_++];
    }

    // Of all verbs: which one it is may come later, and is checked then.
    const Option* find_option(const std::string& given) {
        const std::string name = given == "-o" ? "--output" : given == "-h" ? "--help" : given;
        std::vector<std::string_view> candidates;
        for (const Option* option : all_options()) {
            candidates.push_back(option->name);
        }
        const Match found = match(name, candidates);
        if (!found.word) {
            error_ = found.ambiguous.empty()
                         ? fmt::format("no option {}: planectl help lists them", given)
                         : fmt::format("{} could be {}", given, list_of(found.ambiguous));
            return nullptr;
        }
        for (const Option* option : all_options()) {
            if (option->name == *found.word) {
                return option;
            }
        }
        return nullptr;
    }

    // The verb's own and the global ones; before the verb is known, every verb's.
    [[nodiscard]] std::vector<const Option*> all_options() const {
        std::vector<const Option*> options;
        for (const Option& option : global_options()) {
            options.push_back(&option);
        }
        for (const Verb& verb : verbs()) {
            if (verb_word_.empty() || verb.word == verb_word_) {
                for (const Option& option : verb.options) {
                    options.push_back(&option);
                }
            }
        }
        return options;
    }

    void finish() {
        if (invocation_.has("--version")) {
            verb_word_ = "version";
        }
        if (verb_word_.empty() || (invocation_.has("--help") && needs_sub() && sub_.empty())) {
            const bool asked = invocation_.has("--help");
            error_ = asked ? "" : "no verb: planectl help lists them";
            verb_word_ = "help";
        }
        for (const Verb& verb : verbs()) {
            if (verb.word == verb_word_ && verb.sub == sub_) {
                invocation_.verb = &verb;
            }
        }
        if (invocation_.verb == nullptr) {
            error_ = fmt::format("planectl {} needs one of {}", verb_word_, list_of(subs()));
            return;
        }
        if (!invocation_.has("--help")) {
            check_arguments();
        }
        check_options();
    }

    void check_arguments() {
        const Verb& verb = *invocation_.verb;
        const std::size_t count = invocation_.arguments.size();
        const std::string name =
            fmt::format("planectl {}{}{}", verb.word, verb.sub.empty() ? "" : " ", verb.sub);
        if (count < verb.arguments_min) {
            error_ = fmt::format("{} needs {}", name, verb.argument);
        } else if (count > verb.arguments_max) {
            error_ = verb.arguments_max == 0
                         ? fmt::format("{} takes no argument, but got {}",
                                       name,
                                       quoted(invocation_.arguments.front()))
                         : fmt::format("{} takes {}, but got {} words", name, verb.argument, count);
        }
        const auto known = words_of(verb.kind);
        for (std::string& argument : invocation_.arguments) {
            if (known.empty() || !error_.empty()) {
                continue;
            }
            if (const auto found = match(argument, known).word) {
                argument = *found;
            } else {
                error_ = fmt::format("{}: {} must be {}", name, quoted(argument), list_of(known));
            }
        }
    }

    void check_options() {
        for (const auto& [name, value] : invocation_.options) {
            const auto fits = [&name = name](const Option& option) { return option.name == name; };
            const auto globals = global_options();
            const auto& own = invocation_.verb->options;
            const bool global = std::any_of(globals.begin(), globals.end(), fits);
            if (!global && std::none_of(own.begin(), own.end(), fits)) {
                error_ = fmt::format("planectl {} has no option {}", invocation_.verb->word, name);
                return;
            }
        }
        if (invocation_.has("--target")) {
            invocation_.target = invocation_.option("--target");
        }
        check_output();
        check_timeout();
        check_watch();
        check_count();
        check_type();
    }
    void check_output() {
        if (!invocation_.has("--output")) {
            return;
        }
        const std::string given = invocation_.option("--output");
        const auto form = match(given, words_of(Kind::Output)).word;
        // "json" is a word of its own, though "jsonl" begins with it.
        if (form == "table") {
            invocation_.form = Form::Table;
        } else if (form == "json") {
            invocation_.form = Form::Json;
        } else if (form == "jsonl") {
            invocation_.form = Form::JsonLines;
        } else if (form == "yaml") {
            invocation_.form = Form::Yaml;
        } else {
            error_ = fmt::format(
                "--output {}: must be {}", quoted(given), list_of(words_of(Kind::Output)));
        }
    }
    void check_timeout() {
        if (!invocation_.has("--timeout")) {
            return;
        }
        take_duration("--timeout", invocation_.timeout);
    }
    void check_watch() {
        const Action action = invocation_.verb->action;
        if (invocation_.has("--watch") && !shows_what_changes(action)) {
            error_ = fmt::format("--watch: planectl {} shows nothing that changes",
                                 usage_of(*invocation_.verb));
        } else if (invocation_.has("--every") && !invocation_.has("--watch")) {
            error_ = "--every goes with --watch";
        } else if (invocation_.has("--every")) {
            take_duration("--every", invocation_.interval);
        }
    }
    void take_duration(std::string_view option, std::chrono::milliseconds& value) {
        const std::string given = invocation_.option(option);
        if (const auto duration = parse_duration(given)) {
            value = *duration;
        } else {
            error_ = fmt::format("{} {}: must be like 5s, 300ms or 2m", option, quoted(given));
        }
    }
    void check_count() {
        const std::string given = invocation_.option("--count");
        const bool digits =
            std::all_of(given.begin(), given.end(), [](char c) { return c >= '0' && c <= '9'; });
        if (invocation_.has("--count") &&
            (given.empty() || !digits || given.size() > 9 || given == "0")) {
            error_ = fmt::format("--count {}: must be a number from 1 on", quoted(given));
        }
    }

    void check_type() {
        const std::string given = invocation_.option("--type");
        const auto types = words_of(Kind::RouteType);
        if (invocation_.has("--type") &&
            std::find(types.begin(), types.end(), given) == types.end()) {
            error_ = fmt::format("--type {}: must be {}", quoted(given), list_of(types));
        }
    }

    std::span<const std::string> words_;
    std::size_t next_ = 0;
    bool only_arguments_ = false;
    std::string_view verb_word_;
    std::string_view sub_;
    Invocation invocation_;
    std::string error_;
};

std::string option_lines(std::span<const Option> options) {
    std::string text;
    for (const Option& option : options) {
        text += fmt::format(
            "  {:<24}{}\n",
            fmt::format("{}{}{}", option.name, option.value.empty() ? "" : " ", option.value),
            option.help);
    }
    return text;
}

}  // namespace

std::span<const Verb> verbs() {
    static const std::vector<Option> kHostFilters{
        {"--interface", "NAME", Kind::Interface, "only hosts on this served interface"},
        {"--port", "NAME", Kind::Interface, "only hosts behind this bridge port"},
        {"--vrf", "NAME", Kind::Text, "only hosts in this VRF (\"default\", or its device)"}};
    static const std::vector<Option> kVrf{
        {"--vrf", "NAME", Kind::Text, "only routes of this VRF (\"default\", or its device)"}};
    static const std::vector<Option> kOneInterface{
        {"--interface", "NAME", Kind::Interface, "only on this served interface"}};
    static const std::vector<Option> kDrained{
        {"--port", "NAME", Kind::Text, "only hosts behind this bridge port"},
        {"--host", "ADDRESS", Kind::Address, "only this host"}};
    static const std::vector<Option> kEvpnFilters{
        {"--peer", "ADDRESS", Kind::Address, "only routes of this peer"},
        {"--type", "N", Kind::RouteType, "only routes of this type, 1 to 5"}};
    static const std::vector<Option> kCount{{"--count", "N", Kind::Text, "end after N events"}};
    static const std::vector<Verb> kVerbs{
        {Action::Status,
         "status",
         "",
         "",
         Kind::Text,
         0,
         0,
         {},
         "is this leaf well, and if not, why"},
        {Action::Interfaces, "interfaces", "", "", Kind::Text, 0, 0, {}, "the served interfaces"},
        {Action::Hosts,
         "hosts",
         "",
         "",
         Kind::Text,
         0,
         0,
         kHostFilters,
         "hosts, and whether they may have a route"},
        {Action::Routes,
         "routes",
         "",
         "",
         Kind::Text,
         0,
         0,
         kVrf,
         "host routes, and what zebra says of them"},
        {Action::Proxies,
         "proxies",
         "",
         "",
         Kind::Text,
         0,
         0,
         kOneInterface,
         "addresses that this leaf answers for in place of other leaves' hosts"},
        {Action::Segments,
         "segments",
         "",
         "",
         Kind::Text,
         0,
         0,
         {},
         "Ethernet segments, and how their leaves have agreed"},
        {Action::Peers,
         "peers",
         "",
         "",
         Kind::Text,
         0,
         0,
         {},
         "EVPN peers, and how it is with each"},
        {Action::EvpnRoutes,
         "evpn-routes",
         "",
         "",
         Kind::Text,
         0,
         0,
         kEvpnFilters,
         "what EVPN peers have told"},
        {Action::Explain,
         "explain",
         "",
         "ADDRESS",
         Kind::Address,
         1,
         1,
         {},
         "why an address is, or is not, a route"},
        {Action::Audit,
         "audit",
         "",
         "",
         Kind::Text,
         0,
         0,
         {},
         "what differs in the kernel, zebra and Redis; exit 0: nothing"},
        {Action::Watch,
         "watch",
         "",
         "[hosts|routes|ports|segments]...",
         Kind::WatchKind,
         0,
         4,
         kCount,
         "changes as they happen, until interrupted"},
        {Action::Counters,
         "counters",
         "",
         "",
         Kind::Text,
         0,
         0,
         {},
         "counters since planed was started"},
        {Action::Metrics,
         "metrics",
         "",
         "",
         Kind::Text,
         0,
         0,
         {},
         "what this leaf measures, as OpenMetrics text"},
        {Action::Drain,
         "drain",
         "",
         "",
         Kind::Text,
         0,
         0,
         kDrained,
         "take hosts out of BGP: all, those behind a port, or one"},
        {Action::Undrain,
         "undrain",
         "",
         "",
         Kind::Text,
         0,
         0,
         kDrained,
         "bring them back, as soon as planed is ready"},
        {Action::Probe,
         "probe",
         "",
         "ADDRESS",
         Kind::Address,
         1,
         1,
         {},
         "ask a host whether it lives"},
        {Action::Forget,
         "forget",
         "",
         "ADDRESS",
         Kind::Address,
         1,
         1,
         {},
         "believe nothing seen of a host until now: it answers, or goes"},
        {Action::ConfigCheck,
         "config",
         "check",
         "FILE",
         Kind::File,
         1,
         1,
         {},
         "is this planed.yaml right"},
        {Action::ConfigShow,
         "config",
         "show",
         "",
         Kind::Text,
         0,
         0,
         {},
         "the running configuration with all defaults"},
        {Action::ConfigDiff,
         "config",
         "diff",
         "FILE",
         Kind::File,
         1,
         1,
         {},
         "what a reload to this planed.yaml would change"},
        {Action::ConfigReload,
         "config",
         "reload",
         "",
         Kind::Text,
         0,
         0,
         {},
         "read the configuration file again"},
        {Action::Log,
         "log",
         "",
         "LEVEL",
         Kind::Level,
         1,
         1,
         {},
         "set the log level until the next start"},
        {Action::SupportBundle,
         "support-bundle",
         "",
         "[FILE]",
         Kind::File,
         0,
         1,
         {},
         "all tables, the configuration and the log in one .tar.gz, without passwords"},
        {Action::Version, "version", "", "", Kind::Text, 0, 0, {}, "of planectl and of planed"},
        {Action::Completion,
         "completion",
         "",
         "SHELL",
         Kind::Shell,
         1,
         1,
         {},
         "a script for bash, zsh or fish"},
        {Action::Help,
         "help",
         "",
         "[VERB]...",
         Kind::Text,
         0,
         2,
         {},
         "this list, or more about a verb"},
    };
    return kVerbs;
}

std::span<const Option> global_options() {
    static const std::vector<Option> kOptions{
        {"--target",
         "ADDRESS",
         Kind::Text,
         "unix:PATH or HOST:PORT (default: $PLANECTL_TARGET, else unix:/run/planed/planed.sock)"},
        {"--output", "FORM", Kind::Output, "-o: table, json, jsonl or yaml"},
        {"--timeout", "TIME", Kind::Text, "how long to wait for an answer (default: 5s)"},
        {"--color", "WHEN", Kind::When, "auto, always or never (default: auto, on a terminal)"},
        {"--no-headers", "", Kind::Text, "tables without titles and count"},
        {"--watch", "", Kind::Text, "show it again and again, until interrupted"},
        {"--every", "TIME", Kind::Text, "with --watch: how often (default: 2s)"},
        {"--tls-ca", "FILE", Kind::File, "for HOST:PORT: the authority of planed's certificate"},
        {"--tls-cert", "FILE", Kind::File, "for HOST:PORT: our certificate"},
        {"--tls-key", "FILE", Kind::File, "for HOST:PORT: its key"},
        {"--version", "", Kind::Text, "the same as the verb"},
        {"--help", "", Kind::Text, "-h"},
    };
    return kOptions;
}

std::vector<std::string_view> words_of(Kind kind) {
    switch (kind) {
        case Kind::Level: return {"error", "warn", "info", "debug", "trace"};
        case Kind::Shell: return {"bash", "zsh", "fish"};
        case Kind::WatchKind: return {"hosts", "routes", "ports", "segments"};
        case Kind::Output: return {"table", "json", "jsonl", "yaml"};
        case Kind::When: return {"auto", "always", "never"};
        case Kind::RouteType: return {"1", "2", "3", "4", "5"};
        case Kind::Text:
        case Kind::File:
        case Kind::Interface:
        case Kind::Address: break;
    }
    return {};
}

std::variant<Invocation, UsageError> parse(std::span<const std::string> words,
                                           const std::string& environment_target) {
    return Parser(words).run(environment_target);
}

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
    std::uint32_t number = 0;
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number);
    const std::string_view unit(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr));
    constexpr std::uint32_t kMax = 1'000'000;
    if (parsed.ec != std::errc{} || number == 0 || number > kMax) {
        return std::nullopt;
    }
    if (unit == "ms") {
        return std::chrono::milliseconds(number);
    }
    if (unit == "s" || unit.empty()) {
        return std::chrono::seconds(number);
    }
    if (unit == "m") {
        return std::chrono::minutes(number);
    }
    return std::nullopt;
}

std::string help_text() {
    std::string text =
        "planectl [OPTION]... VERB: what planed on this leaf knows, decides and does\n\n";
    for (const Verb& verb : verbs()) {
        text += fmt::format("  {:<33}{}\n", usage_of(verb), verb.help);
    }
    text += "\nVerbs and options may be shortened as long as one alone begins so.\n\n";
    text += option_lines(global_options());
    text += "\nExit codes: 0 done, 1 failed or not found, 2 usage, 3 planed cannot be reached.\n";
    return text;
}

std::string help_text(const Verb& verb) {
    std::string text = fmt::format("planectl {}: {}\n", usage_of(verb), verb.help);
    if (!verb.options.empty()) {
        text += '\n' + option_lines(verb.options);
    }
    return text + "\nplanectl help: all verbs, and the options that all have.\n";
}

}  // namespace planed::ctl
