// SPDX-License-Identifier: Apache-2.0
// planed: flags to configuration to app to exit code.
#include <cerrno>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "app/app.hpp"
#include "config/load.hpp"
#include "config/print.hpp"
#include "record/replay.hpp"
#include "telemetry/log_line.hpp"

namespace {

constexpr int kExitSystem = 1;
constexpr int kExitConfig = 2;

void print(const std::vector<planed::config::Fault>& faults) {
    for (const planed::config::Fault& fault : faults) {
        fmt::print(stderr, "{}\n", planed::config::to_string(fault));
    }
}

// The file may be for another machine: that is no fault of it.
void warn_of_missing_plugins(const planed::config::Loaded& loaded, const std::string& file) {
    for (std::size_t i = 0; i < loaded.config.plugins.size(); ++i) {
        const std::string& path = loaded.config.plugins[i].path;
        std::error_code error;
        if (std::filesystem::exists(path, error)) {
            continue;
        }
        const std::string key = fmt::format("plugins[{}].path", i);
        const planed::config::Fault fault{
            .file = file,
            .place = planed::config::place_of(loaded.written, key),
            .path = key,
            .text = fmt::format("{}: {}, planed would not start",
                                path,
                                error ? error.message() : "there is no such file")};
        fmt::print(stderr, "{}\n", planed::config::to_string(fault));
    }
}

// Decisions to stdout, what there is to say of the recording to stderr. Exit code 0: all was
// decided as it had been.
int replay(const std::string& path, planed::Level level) {
    std::ifstream file(path);
    if (!file) {
        fmt::print(
            stderr, "planed: cannot read {}: {}\n", path, std::generic_category().message(errno));
        return kExitSystem;
    }
    const auto next = [&file]() -> std::optional<std::string> {
        std::string line;
        if (!std::getline(file, line)) {
            return std::nullopt;
        }
        return file.eof() ? line : line + '\n';
    };
    const planed::record::Replayed told = planed::record::replay(
        next, path, level, [](std::string_view line) { fmt::print("{}\n", line); });
    if (told.cut) {
        fmt::print(stderr, "{}: the last line is not whole and was left out\n", path);
    }
    if (!told.problem.empty()) {
        fmt::print(stderr, "{}\n", told.problem);
    }
    fmt::print(stderr,
               "{} inputs, {} turns, {} decisions{}\n",
               told.inputs,
               told.turns,
               told.decisions,
               told.problem.empty() ? ", as recorded" : "");
    return told.problem.empty() ? 0 : kExitSystem;
}

int run(int argc, char** argv) {
    CLI::App cli{"Leaf daemon for dual-plane GPU fabrics: learned hosts become host routes in FRR"};
    planed::AppOptions options{.config_path = "/etc/planed/planed.yaml"};
    bool check = false;
    bool print_config = false;
    std::string level = "info";
    cli.add_option("--config", options.config_path, "Configuration file")->capture_default_str();
    cli.add_flag("--check", check, "Load and validate, print every fault, exit 0 or 2");
    cli.add_flag("--print-config", print_config, "Print the effective configuration as YAML");
    cli.add_option("--log-level", level, "error, warn, info, debug or trace")
        ->check(CLI::IsMember({"error", "warn", "info", "debug", "trace"}))
        ->capture_default_str();
    cli.add_option("--record", options.record, "Write every input to this file, for --replay");
    std::string replayed;
    cli.add_option("--replay",
                   replayed,
                   "Print what planed decides when it is told what this recording says, and end");
    cli.set_version_flag("--version", "planed " PLANED_VERSION);
    try {
        cli.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return cli.exit(error) == 0 ? 0 : kExitConfig;
    }
    options.version = PLANED_VERSION;
    options.level = planed::parse_level(level).value_or(planed::Level::Info);

    if (!replayed.empty()) {
        return replay(replayed, options.level);
    }
    const planed::config::Loaded loaded = planed::config::load_file(options.config_path);
    print(loaded.faults);
    if (!loaded.ok()) {
        return kExitConfig;
    }
    print(loaded.warnings);
    if (print_config) {
        fmt::print("{}", planed::config::to_yaml(loaded.config));
    }
    if (check || print_config) {
        warn_of_missing_plugins(loaded, options.config_path);
        return 0;
    }
    return planed::run_app(options, loaded);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        fmt::print(stderr, "planed: {}\n", error.what());
        return kExitSystem;
    }
}
