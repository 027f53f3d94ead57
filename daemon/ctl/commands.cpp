// SPDX-License-Identifier: Apache-2.0
#include "ctl/commands.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#include <unistd.h>

#include <fmt/core.h>

#include "ctl/bundle.hpp"
#include "ctl/client.hpp"

namespace planed::ctl {
namespace {

// What people see --------------------------------------------------------------------------------

std::string plugin_text(const Value& plugin) {
    std::string text = fmt::format("{} {} {}, {} calls",
                                   plugin.at("name").text(),
                                   plugin.at("version").text(),
                                   plugin.at("state").text(),
                                   plugin.at("calls").text());
    if (plugin.at("judges").is_true()) {
        text += fmt::format(", {} denials", plugin.at("denials").text());
    }
    if (const std::string strikes = plugin.at("strikes").text(); strikes != "0") {
        text += fmt::format(", {} strikes", strikes);
    }
    return text;
}

std::string status_text(const Value& status, bool colour) {
    const std::string plane = status.at("plane").text();
    std::string text = fmt::format("{}{}, planed {}: {}\n",
                                   status.at("name").text(),
                                   plane == "-" ? "" : fmt::format(" (plane {})", plane),
                                   status.at("version").text(),
                                   status.at("ready").is_true() ? "ready" : "not ready yet");
    const Value& frr = status.at("frr");
    text += fmt::format("frr         {}; routes: {} desired, {} installed, {} rejected\n",
                        frr.at("connected").is_true() ? frr.at("release").text() : "not connected",
                        frr.at("routes_desired").text(),
                        frr.at("routes_installed").text(),
                        frr.at("routes_rejected").text());
    text += fmt::format("hosts       {}, {} eligible\n",
                        status.at("hosts").at("total").text(),
                        status.at("hosts").at("eligible").text());
    text += fmt::format("netlink     {} overruns, {} resyncs\n",
                        status.at("netlink").at("overruns").text(),
                        status.at("netlink").at("resyncs").text());
    text +=
        fmt::format("redis       {}\n",
                    status.at("redis").at("connected").is_true() ? "connected" : "not connected");
    std::string_view title = "milestones";
    for (const Value& milestone : std::get<Array>(status.at("milestones").is)) {
        text += fmt::format(
            "{:<12}{:<18}{}\n", title, milestone.at("name").text(), milestone.at("at").text());
        title = "";
    }
    title = "plugins";
    for (const Value& plugin : std::get<Array>(status.at("plugins").is)) {
        text += fmt::format("{:<12}{}\n", title, plugin_text(plugin));
        title = "";
    }
    title = "drained";
    for (const Value& what : std::get<Array>(status.at("drains").is)) {
        text += fmt::format("{:<12}{}\n", title, what.text());
        title = "";
    }
    const auto& degraded = std::get<Array>(status.at("degraded").is);
    title = "degraded";
    for (const Value& what : degraded) {
        text += fmt::format("{}{:<12}{}{}\n",
                            colour ? "\x1b[31m" : "",
                            title,
                            what.text(),
                            colour ? "\x1b[0m" : "");
        title = "";
    }
    return text + (degraded.empty() ? "degraded    no\n" : "");
}

std::string explanation_text(const Value& explanation, bool colour) {
    const std::string verdict = explanation.at("verdict").text();
    std::string text =
        fmt::format("{}: {} ({})\n",
                    explanation.at("address").text(),
                    verdict == "none" ? "no route" : "route " + coloured(verdict, colour),
                    explanation.at("reason").text());
    for (const Value& cause : std::get<Array>(explanation.at("chain").is)) {
        text += fmt::format("  {:<28}{:<11}{}\n",
                            cause.at("at").text(),
                            cause.at("stage").text(),
                            cause.at("text").text());
    }
    return text;
}

std::string event_text(const Value& event, bool colour) {
    std::string text = fmt::format("{} {}{}",
                                   event.at("at").text(),
                                   event.at("kind").text(),
                                   event.at("gone").is_true() ? " gone" : "");
    for (const auto& [name, value] : std::get<Object>(event.is)) {
        const bool told = name == "at" || name == "kind" || name == "gone" || name == "since" ||
                          name == "vrfs" || name.starts_with("last_");
        if (!told && value.text() != "-") {
            const std::string shown = value.text();
            text += fmt::format(" {}={}", name, coloured(shown, colour));
        }
    }
    return text + '\n';
}

std::string checked_text(const Value& checked, bool with_changes) {
    std::string text;
    for (const std::string_view list : {"faults", "warnings"}) {
        for (const Value& line : std::get<Array>(checked.at(list).is)) {
            text += line.text() + '\n';
        }
    }
    const auto& changed = std::get<Array>(checked.at("changed").is);
    const auto& restart = std::get<Array>(checked.at("needs_restart").is);
    if (with_changes) {
        for (const Value& key : changed) {
            bool waits = false;
            for (const Value& waiting : restart) {
                waits = waits || waiting == key;
            }
            text += key.text() + (waits ? " (at the next start)\n" : "\n");
        }
        text += count_of(changed.size(), "change") + '\n';
    }
    return text;
}

// The session
// --------------------------------------------------------------------------------------

class Session {
public:
    explicit Session(const Invocation& invocation)
        : invocation_(invocation),
          client_({.target = invocation.target,
                   .timeout = invocation.timeout,
                   .tls_ca = invocation.option("--tls-ca"),
                   .tls_cert = invocation.option("--tls-cert"),
                   .tls_key = invocation.option("--tls-key")}),
          style_{.headers = !invocation.has("--no-headers"), .colour = wants_colour()} {}

    int run() {
        if (!invocation_.has("--watch")) {
            return once();
        }
        // What fails at once was meant otherwise; what fails later is planed that starts again.
        for (bool first = true;; first = false) {
            begin_round(first);
            const int code = once();
            const bool told = code == kExitDone || invocation_.verb->action == Action::Audit;
            if (first && (!told || code == kExitUnreachable)) {
                return code;
            }
            std::this_thread::sleep_for(invocation_.interval);
        }
    }

private:
    int once() {
        switch (invocation_.verb->action) {
            case Action::Status: return status();
            case Action::Interfaces: return interfaces();
            case Action::Hosts: return hosts();
            case Action::Routes: return routes();
            case Action::Proxies: return proxies();
            case Action::Segments: return segments();
            case Action::Peers: return peers();
            case Action::EvpnRoutes: return evpn_routes();
            case Action::Explain: return explain();
            case Action::Audit: return audit();
            case Action::Watch: return watch();
            case Action::Counters: return counters();
            case Action::Drain: return drain();
            case Action::Undrain: return undrain();
            case Action::Probe: return probe();
            case Action::Forget: return forget();
            case Action::Metrics: return metrics();
            case Action::ConfigCheck: return check(false);
            case Action::ConfigDiff: return check(true);
            case Action::ConfigShow: return show_config();
            case Action::ConfigReload: return reload();
            case Action::Log: return log();
            case Action::SupportBundle: return support_bundle();
            case Action::Version: return version();
            case Action::Completion: return print(completion_script(invocation_.arguments[0]));
            case Action::Help: break;
        }
        return help();
    }

    void begin_round(bool first) const {
        const bool people = invocation_.form == Form::Table && ::isatty(STDOUT_FILENO) == 1;
        if (people) {
            (void)print("\x1b[H\x1b[2J");
        } else if (invocation_.form == Form::Yaml) {
            (void)print("---\n");
        } else if (invocation_.form == Form::Table && !first) {
            (void)print("\n");
        }
    }

    [[nodiscard]] bool wants_colour() const {
        const std::string when = invocation_.option("--color");
        if (when == "always" || when == "never") {
            return when == "always";
        }
        const char* terminal = std::getenv("TERM");
        return ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr &&
               terminal != nullptr && std::strcmp(terminal, "dumb") != 0;
    }

    static int print(const std::string& text) {
        const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
                             std::fflush(stdout) == 0;
        return written ? kExitDone : kExitFailed;
    }
    static int fail(const Outcome& outcome) {
        fmt::print(stderr, "planectl: {}\n", outcome.error);
        return outcome.exit_code;
    }

    int print_object(const Outcome& outcome, const Value& answer, const std::string& for_people) {
        if (!outcome.ok()) {
            return fail(outcome);
        }
        switch (invocation_.form) {
            case Form::Table: return print(for_people);
            case Form::Json: return print(to_json(answer, true) + '\n');
            case Form::JsonLines: return print(to_json(answer, false) + '\n');
            case Form::Yaml: return print(to_yaml(answer));
        }
        return kExitFailed;
    }

    int print_rows(const Outcome& outcome,
                   Array rows,
                   const std::vector<Column>& columns,
                   std::string_view noun) {
        if (!outcome.ok()) {
            return fail(outcome);
        }
        std::string lines;
        switch (invocation_.form) {
            case Form::Table: return print(to_table(columns, rows, noun, style_));
            case Form::Json: return print(to_json({.is = std::move(rows)}, true) + '\n');
            case Form::Yaml: return print(to_yaml({.is = std::move(rows)}));
            case Form::JsonLines:
                for (const Value& row : rows) {
                    lines += to_json(row, false) + '\n';
                }
                return print(lines);
        }
        return kExitFailed;
    }

    int status() {
        Value answer;
        const Outcome outcome = client_.status(answer);
        return print_object(
            outcome, answer, outcome.ok() ? status_text(answer, style_.colour) : "");
    }
    int explain() {
        Value answer;
        const Outcome outcome = client_.explain(invocation_.arguments[0], answer);
        return print_object(
            outcome, answer, outcome.ok() ? explanation_text(answer, style_.colour) : "");
    }
    int interfaces() {
        Array rows;
        const Outcome outcome = client_.interfaces(rows);
        return print_rows(outcome,
                          std::move(rows),
                          {{"INTERFACE", "name"},
                           {"IFINDEX", "ifindex"},
                           {"VRF", "vrf"},
                           {"CARRIER", "carrier"},
                           {"PROXY_ARP", "proxy_arp"},
                           {"PROXY_ND", "proxy_nd"},
                           {"HOSTS", "hosts"},
                           {"MAX", "max_hosts"},
                           {"PREFIXES", "prefixes"}},
                          "interface");
    }
    int hosts() {
        Array rows;
        const Outcome outcome = client_.hosts({.interface = invocation_.option("--interface"),
                                               .port = invocation_.option("--port"),
                                               .vrf = invocation_.option("--vrf")},
                                              rows);
        return print_rows(outcome,
                          std::move(rows),
                          {{"VRF", "vrf"},
                           {"INTERFACE", "interface"},
                           {"ADDRESS", "address"},
                           {"MAC", "mac"},
                           {"PORT", "port"},
                           {"STATE", "state"},
                           {"ORIGIN", "origin"},
                           {"ANSWERS", "answers"},
                           {"REASON", "reason"},
                           {"SINCE", "since"}},
                          "host");
    }
    int routes() {
        Array rows;
        const Outcome outcome = client_.routes(invocation_.option("--vrf"), rows);
        return print_rows(outcome,
                          std::move(rows),
                          {{"VRF", "vrf"},
                           {"PREFIX", "prefix"},
                           {"INTERFACE", "interface"},
                           {"ORIGIN", "origin"},
                           {"STATE", "state"},
                           {"REASON", "reason"},
                           {"SINCE", "since"}},
                          "route");
    }
    int proxies() {
        Array rows;
        const Outcome outcome = client_.proxies(invocation_.option("--interface"), rows);
        return print_rows(outcome,
                          std::move(rows),
                          {{"INTERFACE", "interface"}, {"ADDRESS", "address"}, {"STATE", "state"}},
                          "proxied host");
    }
    int segments() {
        Array rows;
        const Outcome outcome = client_.segments(rows);
        return print_rows(outcome,
                          std::move(rows),
                          {{"ESI", "esi"},
                           {"PORT", "port"},
                           {"UP", "up"},
                           {"ROLE", "role"},
                           {"FORWARDER", "forwarder"},
                           {"LOCAL", "local_hosts"},
                           {"SYNCED", "synced_hosts"}},
                          "segment");
    }

    int peers() {
        Array rows;
        const Outcome outcome = client_.peers(rows);
        return print_rows(outcome,
                          std::move(rows),
                          {{"ADDRESS", "address"},
                           {"AS", "remote_as"},
                           {"STATE", "state"},
                           {"SINCE", "since"},
                           {"ROUTES", "routes"},
                           {"RECEIVED", "messages_received"},
                           {"SENT", "messages_sent"},
                           {"DESCRIPTION", "description"},
                           {"LAST_ERROR", "last_error"}},
                          "peer");
    }
    int evpn_routes() {
        Array rows;
        const std::string type = invocation_.option("--type");
        const Outcome outcome =
            client_.evpn_routes(invocation_.option("--peer"),
                                static_cast<std::uint32_t>(std::strtoul(type.c_str(), nullptr, 10)),
                                rows);
        return print_rows(outcome,
                          std::move(rows),
                          {{"TYPE", "type"},
                           {"RD", "rd"},
                           {"ESI", "esi"},
                           {"TAG", "tag"},
                           {"MAC", "mac"},
                           {"IP", "ip"},
                           {"LABELS", "labels"},
                           {"NEXT_HOP", "next_hop"},
                           {"PEER", "peer"},
                           {"STALE", "stale"}},
                          "route");
    }
    int audit() {
        Client::Audit audit;
        const Outcome outcome = client_.audit(audit);
        if (!outcome.ok()) {
            return fail(outcome);
        }
        const bool same = audit.differences.empty() && audit.left_out == 0;
        const std::vector<Column> columns{{"WHERE", "where"},
                                          {"KIND", "kind"},
                                          {"VRF", "vrf"},
                                          {"INTERFACE", "interface"},
                                          {"OBJECT", "object"},
                                          {"WANTED", "wanted"},
                                          {"FOUND", "found"},
                                          {"ACTION", "action"}};
        sort_rows(columns, audit.differences);
        const int printed =
            invocation_.form == Form::Table
                ? print(
                      audit_text(audit.tables, columns, audit.differences, audit.left_out, style_))
                : print_rows(outcome, std::move(audit.differences), columns, "difference");
        return same ? printed : kExitFailed;
    }
    int counters() {
        Array rows;
        const Outcome outcome = client_.counters(rows);
        return print_rows(
            outcome, std::move(rows), {{"COUNTER", "name"}, {"VALUE", "value"}}, "counter");
    }

    int support_bundle() {
        const auto& arguments = invocation_.arguments;
        const Bundle bundle = write_bundle(
            client_, invocation_.target, arguments.empty() ? std::string() : arguments[0]);
        if (!bundle.error.empty()) {
            return fail({.exit_code = kExitFailed, .error = bundle.error});
        }
        for (const std::string& missing : bundle.missing) {
            fmt::print(stderr, "planectl: not in it: {}\n", missing);
        }
        return print(bundle.path + '\n');
    }

    int metrics() {
        Value answer;
        const Outcome outcome = client_.metrics(answer);
        return print_object(outcome, answer, answer.at("text").text());
    }

    int watch() {
        const std::string count = invocation_.option("--count");
        unsigned long left = count.empty() ? 0 : std::strtoul(count.c_str(), nullptr, 10);
        const Outcome outcome =
            client_.watch(invocation_.arguments, [this, &left](const Value& event) {
                if (print(event_form(event)) != kExitDone) {
                    return false;  // Nobody reads what we write.
                }
                return left == 0 || --left > 0;
            });
        return outcome.ok() ? kExitDone : fail(outcome);
    }
    [[nodiscard]] std::string event_form(const Value& event) const {
        switch (invocation_.form) {
            case Form::Table: return event_text(event, style_.colour);
            case Form::Json:
            case Form::JsonLines: return to_json(event, false) + '\n';
            case Form::Yaml: return "---\n" + to_yaml(event);
        }
        return {};
    }

    [[nodiscard]] Client::DrainScope drain_scope() const {
        return {.port = invocation_.option("--port"), .address = invocation_.option("--host")};
    }
    int drain() {
        Value answer;
        const Outcome outcome = client_.drain(drain_scope(), answer);
        return print_object(
            outcome,
            answer,
            fmt::format("drained, {} host(s) leave BGP; planectl undrain brings them back\n",
                        answer.at("hosts").text()));
    }
    int undrain() {
        Value answer;
        const Outcome outcome = client_.undrain(drain_scope(), answer);
        return print_object(
            outcome,
            answer,
            fmt::format("undrained, {} host(s) come back{}\n",
                        answer.at("hosts").text(),
                        answer.at("waits").is_true() ? " when planed is ready" : ""));
    }
    int probe() {
        Value answer;
        const std::string& address = invocation_.arguments[0];
        const Outcome outcome = client_.probe(address, answer);
        return print_object(
            outcome,
            answer,
            fmt::format("asked; planectl explain {} shows what it answers\n", address));
    }
    int forget() {
        Value answer;
        const std::string& address = invocation_.arguments[0];
        const Outcome outcome = client_.forget(address, answer);
        return print_object(
            outcome,
            answer,
            fmt::format("asked; it goes unless it answers, planectl explain {} shows it\n",
                        address));
    }

    int check(bool with_changes) {
        const std::string& path = invocation_.arguments[0];
        std::ifstream file(path);
        std::ostringstream text;
        if (!file.is_open() || !(text << file.rdbuf())) {
            return fail(
                {kExitFailed, fmt::format("cannot read {}: {}", path, std::strerror(errno))});
        }
        Value answer;
        const Outcome outcome = client_.check_config(text.str(), path, answer);
        if (!outcome.ok()) {
            return fail(outcome);
        }
        const bool right = std::get<Array>(answer.at("faults").is).empty();
        const int printed =
            print_object(outcome, answer, checked_text(answer, with_changes && right));
        return right ? printed : kExitFailed;
    }
    int show_config() {
        Value answer;
        const Outcome outcome = client_.show_config(answer);
        return print_object(outcome, answer, answer.at("yaml").text());
    }
    int reload() {
        Value answer;
        const Outcome outcome = client_.reload(answer);
        return print_object(outcome, answer, outcome.ok() ? reloaded_text(answer) : "");
    }
    static std::string reloaded_text(const Value& answer) {
        std::string text;
        for (const Value& key : std::get<Array>(answer.at("needs_restart").is)) {
            text += fmt::format("{} waits for the next start\n", key.text());
        }
        return text + "reloaded, " +
               count_of(std::get<Array>(answer.at("changed").is).size(), "change") + '\n';
    }
    int log() {
        Value answer;
        const std::string& level = invocation_.arguments[0];
        const Outcome outcome = client_.set_log_level(level, answer);
        return print_object(
            outcome,
            answer,
            fmt::format("log level {}, was {}\n", level, answer.at("before").text()));
    }

    // planectl's own version is known even where no planed is.
    int version() {
        Value status;
        const Outcome outcome = client_.status(status);
        const Value daemon = outcome.ok() ? status.at("version") : Value{};
        const Value answer{
            .is = Object{{"planectl", text_value(PLANED_VERSION)}, {"planed", daemon}}};
        return print_object(
            {},
            answer,
            fmt::format(
                "planectl {}\nplaned {}\n",
                PLANED_VERSION,
                outcome.ok() ? daemon.text() : "cannot be reached at " + invocation_.target));
    }

    int help() {
        std::string text;
        for (const Verb& verb : verbs()) {
            if (!invocation_.arguments.empty() && verb.word == invocation_.arguments[0]) {
                text += help_text(verb);
            }
        }
        return print(text.empty() ? help_text() : text);
    }

    const Invocation& invocation_;
    Client client_;
    TableStyle style_;
};

}  // namespace

int run(const Invocation& invocation) {
    if (invocation.has("--help") && invocation.verb->action != Action::Help) {
        fmt::print("{}", help_text(*invocation.verb));
        return kExitDone;
    }
    return Session(invocation).run();
}

}  // namespace planed::ctl
