// SPDX-License-Identifier: Apache-2.0
#include "ctl/bundle.hpp"

#include <array>
#include <chrono>
#include <cstdio>
#include <functional>
#include <utility>

#include <sys/wait.h>
#include <unistd.h>

#include <fmt/core.h>

#include "ctl/archive.hpp"
#include "ctl/render.hpp"
#include "ctl/value.hpp"

namespace planed::ctl {
namespace {

std::string host_name() {
    std::array<char, 256> name{};
    (void)::gethostname(name.data(), name.size() - 1);
    return name.data();
}

std::string now_text() {
    using namespace std::chrono;  // NOLINT(google-build-using-namespace): of this one function.
    const auto now = system_clock::now().time_since_epoch();
    return rfc3339(duration_cast<seconds>(now).count(), 0);
}

// "20260504T102030Z", for file names.
std::string compact(const std::string& time) {
    std::string text;
    for (const char c : time.substr(0, time.find('.'))) {
        if (c != '-' && c != ':') {
            text += c;
        }
    }
    return text + 'Z';
}

// What a command prints; its exit code other than 0 is an error. `command` is one of ours, no
// word of it comes from outside.
Outcome output_of(const char* command, std::string& text) {
    FILE* pipe = ::popen(command, "r");  // NOLINT(cert-env33-c)
    if (pipe == nullptr) {
        return {.exit_code = kExitFailed, .error = "cannot be run"};
    }
    std::array<char, 4096> piece{};
    std::size_t length = 0;
    while ((length = std::fread(piece.data(), 1, piece.size(), pipe)) > 0) {
        text.append(piece.data(), length);
    }
    const int status = ::pclose(pipe);
    if (status == 0) {
        return {};
    }
    return {.exit_code = kExitFailed,
            .error = fmt::format("{}: exit code {}", command, WEXITSTATUS(status))};
}

struct Piece {
    std::string_view name;
    bool of_planed = false;  // Not to be asked for once planed could not be reached.
    std::function<Outcome(std::string&)> get;
};

Piece rows(std::string_view name, std::function<Outcome(Array&)> ask) {
    return {name, true, [ask = std::move(ask)](std::string& text) {
                Array all;
                Outcome outcome = ask(all);
                text = outcome.ok() ? to_json({.is = std::move(all)}, true) + '\n' : "";
                return outcome;
            }};
}
Piece object(std::string_view name, std::function<Outcome(Value&)> ask) {
    return {name, true, [ask = std::move(ask)](std::string& text) {
                Value answer;
                Outcome outcome = ask(answer);
                text = outcome.ok() ? to_json(answer, true) + '\n' : "";
                return outcome;
            }};
}
// The field of an answer that is text by itself.
Piece text_of(std::string_view name, std::string_view field, std::function<Outcome(Value&)> ask) {
    return {name, true, [ask = std::move(ask), field](std::string& text) {
                Value answer;
                Outcome outcome = ask(answer);
                text = outcome.ok() ? answer.at(field).text() : "";
                return outcome;
            }};
}
Piece command(std::string_view name, const char* words) {
    return {name, false, [words](std::string& text) { return output_of(words, text); }};
}

std::vector<Piece> pieces_of(Client& client) {
    return {
        object("status.json", [&](Value& answer) { return client.status(answer); }),
        rows("interfaces.json", [&](Array& all) { return client.interfaces(all); }),
        rows("hosts.json", [&](Array& all) { return client.hosts({}, all); }),
        rows("routes.json", [&](Array& all) { return client.routes("", all); }),
        rows("proxies.json", [&](Array& all) { return client.proxies("", all); }),
        rows("segments.json", [&](Array& all) { return client.segments(all); }),
        rows("peers.json", [&](Array& all) { return client.peers(all); }),
        rows("evpn-routes.json", [&](Array& all) { return client.evpn_routes("", 0, all); }),
        rows("counters.json", [&](Array& all) { return client.counters(all); }),
        text_of("metrics.txt", "text", [&](Value& answer) { return client.metrics(answer); }),
        text_of("config.yaml", "yaml", [&](Value& answer) { return client.show_config(answer); }),
        command("journal.txt",
                "journalctl -u planed -n 20000 --no-pager -o short-iso-precise 2>&1"),
        command("kernel/links.txt", "ip -details link show 2>&1"),
        command("kernel/addresses.txt", "ip address show 2>&1"),
        command("kernel/neighbors.txt", "ip neighbor show nud all 2>&1"),
        command("kernel/forwarding.txt", "bridge fdb show 2>&1"),
        command("kernel/release.txt", "uname -a 2>&1"),
    };
}

}  // namespace

Bundle write_bundle(Client& client, const std::string& target, std::string path) {
    const std::string time = now_text();
    const std::string folder = fmt::format("planed-{}-{}", host_name(), compact(time));
    Bundle bundle{.path = path.empty() ? folder + ".tar.gz" : std::move(path)};
    Archive archive(bundle.path);
    bool reachable = true;
    for (const Piece& piece : pieces_of(client)) {
        if (!archive.error().empty()) {
            break;  // Nobody needs to be asked.
        }
        std::string text;
        const Outcome outcome =
            piece.of_planed && !reachable
                ? Outcome{.exit_code = kExitUnreachable, .error = "planed cannot be reached"}
                : piece.get(text);
        reachable = reachable && (!piece.of_planed || outcome.exit_code != kExitUnreachable);
        if (!outcome.ok()) {
            bundle.missing.push_back(fmt::format("{}: {}", piece.name, outcome.error));
        }
        if (outcome.ok() || !text.empty()) {
            archive.add(fmt::format("{}/{}", folder, piece.name), text);
        }
    }
    std::string told = fmt::format(
        "planectl {} of {} at {}, target {}\n", PLANED_VERSION, host_name(), time, target);
    for (const std::string& missing : bundle.missing) {
        told += fmt::format("missing: {}\n", missing);
    }
    archive.add(folder + "/about.txt", told);
    archive.close();
    bundle.error = archive.error();
    return bundle;
}

}  // namespace planed::ctl
