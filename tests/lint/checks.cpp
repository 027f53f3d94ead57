// SPDX-License-Identifier: Apache-2.0
#include "lint/checks.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include <fmt/core.h>

#include "lint/layers.hpp"

namespace planed::lint {
namespace {

constexpr std::string_view kSpdx = "SPDX-License-Identifier: Apache-2.0";

// The standard library without what touches the world.
constexpr std::array kPureStandard =
    std::to_array<std::string_view>({"algorithm",     "any",
                                     "array",         "bit",
                                     "bitset",        "cassert",
                                     "cctype",        "cerrno",
                                     "charconv",      "chrono",
                                     "cinttypes",     "climits",
                                     "cmath",         "compare",
                                     "complex",       "concepts",
                                     "cstddef",       "cstdint",
                                     "cstdio",        "cstdlib",
                                     "cstring",       "deque",
                                     "exception",     "forward_list",
                                     "functional",    "initializer_list",
                                     "iterator",      "limits",
                                     "list",          "map",
                                     "memory",        "new",
                                     "numbers",       "numeric",
                                     "optional",      "queue",
                                     "random",        "ranges",
                                     "ratio",         "set",
                                     "span",          "sstream",
                                     "stack",         "stdexcept",
                                     "string",        "string_view",
                                     "system_error",  "tuple",
                                     "type_traits",   "typeindex",
                                     "typeinfo",      "unordered_map",
                                     "unordered_set", "utility",
                                     "variant",       "vector",
                                     "version"});
constexpr std::array kImpureStandard = std::to_array<std::string_view>({"atomic",
                                                                        "barrier",
                                                                        "condition_variable",
                                                                        "csetjmp",
                                                                        "csignal",
                                                                        "ctime",
                                                                        "filesystem",
                                                                        "fstream",
                                                                        "future",
                                                                        "iomanip",
                                                                        "ios",
                                                                        "iosfwd",
                                                                        "iostream",
                                                                        "istream",
                                                                        "latch",
                                                                        "locale",
                                                                        "memory_resource",
                                                                        "mutex",
                                                                        "ostream",
                                                                        "semaphore",
                                                                        "shared_mutex",
                                                                        "stop_token",
                                                                        "streambuf",
                                                                        "syncstream",
                                                                        "thread"});

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

// A folder ends in '/', anything else is one header.
bool fits(std::string_view target, std::string_view pattern) {
    return pattern == "*" ||
           (pattern.ends_with('/') ? target.starts_with(pattern) : target == pattern);
}

bool fits_any(std::string_view target, std::span<const std::string_view> patterns) {
    return std::any_of(patterns.begin(), patterns.end(), [&](std::string_view pattern) {
        return fits(target, pattern);
    });
}

// "core/" of "core/engine.cpp"; nothing for a file of no folder.
std::string_view folder_of(std::string_view path) {
    const std::size_t slash = path.find('/');
    return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash + 1);
}

// Why a file of this layer must not include this, if so.
std::string objection(const Include& include, const Layer& layer, std::string_view own_folder) {
    const std::string_view target = include.target;
    if (include.quoted) {
        if (target.find('/') == std::string_view::npos) {
            return "write the path from daemon/";
        }
        const std::string_view own = layer.apart ? layer.scope : own_folder;
        const bool inside = !own.empty() && target.starts_with(own);
        return inside || fits_any(target, layer.ours) ? "" : "not in the layer table";
    }
    if (is_one_of(target, kPureStandard)) {
        return "";
    }
    if (is_one_of(target, kImpureStandard)) {
        return layer.pure ? "this folder is pure" : "";
    }
    return fits_any(target, layer.others) ? "" : "not in the layer table";
}

// The joint of engine and Redis is tested with a real Redis on the other side; what systemd is told
// of the engine, by itself.
bool is_joint_under_test(const SourceFile& file, const Include& include) {
    return (file.path.starts_with("tests/system/") && include.target == "app/state_mirror.hpp") ||
           (file.path.starts_with("tests/unit/app/") &&
            (include.target == "app/auditor.hpp" || include.target == "app/service.hpp" ||
             include.target == "app/evpn_speaker.hpp" || include.target == "app/plugins.hpp"));
}

/// Of app/, what the simulator runs too.
bool is_pure_part(const Include& include) {
    const Layer* layer = layer_of(include.target);
    return layer != nullptr && layer->pure && layer->apart;
}

std::vector<Complaint> check_daemon_includes(const SourceFile& file) {
    const std::string_view path = std::string_view(file.path).substr(folder_of(file.path).size());
    const Layer* layer = layer_of(path);
    if (layer == nullptr) {
        return {{.path = file.path, .line = 1, .text = "is in no layer of tests/lint/layers.cpp"}};
    }
    std::vector<Complaint> complaints;
    for (const Include& include : includes_of(file.text)) {
        const std::string why = objection(include, *layer, folder_of(path));
        if (!why.empty()) {
            complaints.push_back({.path = file.path,
                                  .line = include.line,
                                  .text = fmt::format("includes {}: {}", include.target, why)});
        }
    }
    return complaints;
}

// A plug-in sees its own files, plugins/include and the system, never the daemon.
bool is_foreign_to_plugin(const Include& include) {
    return include.quoted && include.target != "planed/plugin.h" &&
           layer_of(include.target) != nullptr;
}

struct Ban {
    std::string_view word;
    std::string_view why;
};

constexpr std::array kClocks = std::to_array<Ban>({
    {"steady_clock::now", "only io/clock asks for the time"},
    {"high_resolution_clock", "only io/clock asks for the time"},
    {"system_clock", "only io/clock asks for the time"},
    {"clock_gettime", "only io/clock asks for the time"},
    {"gettimeofday", "only io/clock asks for the time"},
});
constexpr std::array kSleeps = std::to_array<Ban>({
    {"sleep", "nothing sleeps, the loop waits"},
    {"usleep", "nothing sleeps, the loop waits"},
    {"nanosleep", "nothing sleeps, the loop waits"},
    {"clock_nanosleep", "nothing sleeps, the loop waits"},
    {"sleep_for", "nothing sleeps, the loop waits"},
    {"sleep_until", "nothing sleeps, the loop waits"},
});
constexpr std::array kImpure = std::to_array<Ban>({
    {"random_device", "this folder is pure"},
    {"::socket", "this folder is pure"},
    {"::recv", "this folder is pure"},
    {"::recvmsg", "this folder is pure"},
    {"::send", "this folder is pure"},
    {"::sendmsg", "this folder is pure"},
    {"::open", "this folder is pure"},
    {"::read", "this folder is pure"},
    {"::write", "this folder is pure"},
    {"nl_connect", "this folder is pure"},
    {"nl_recvmsgs", "this folder is pure"},
    {"::fopen", "this folder is pure"},
    {"std::fopen", "this folder is pure"},
    {"getenv", "this folder is pure"},
    {"std::thread", "this folder is pure"},
});

void find_banned(const SourceFile& file,
                 std::string_view code,
                 std::span<const Ban> bans,
                 std::vector<Complaint>& complaints) {
    for (const Ban& ban : bans) {
        for (const int line : lines_with_word(code, ban.word)) {
            complaints.push_back({.path = file.path,
                                  .line = line,
                                  .text = fmt::format("uses {}: {}", ban.word, ban.why)});
        }
    }
}

bool is_pure(const SourceFile& file) {
    const std::string_view path = std::string_view(file.path).substr(folder_of(file.path).size());
    const Layer* layer = layer_of(path);
    return layer != nullptr && layer->pure;
}

std::string_view line_of(std::string_view text, int number) {
    for (; number > 1; --number) {
        const std::size_t end = text.find('\n');
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    }
    return text.substr(0, text.find('\n'));
}

}  // namespace

std::string to_string(const Complaint& complaint) {
    const std::string line = complaint.line == 0 ? "" : fmt::format(":{}", complaint.line);
    return fmt::format("{}{}: {}", complaint.path, line, complaint.text);
}

std::vector<Complaint> check_includes(const SourceFile& file) {
    if (!is_cpp(file.path)) {
        return {};
    }
    if (file.path.starts_with("daemon/")) {
        return check_daemon_includes(file);
    }
    const bool plugin = file.path.starts_with("plugins/");
    std::vector<Complaint> complaints;
    for (const Include& include : includes_of(file.text)) {
        std::string_view why;
        if (plugin && is_foreign_to_plugin(include)) {
            why = "a plug-in sees planed/plugin.h alone";
        } else if (include.target.starts_with("app/") && !is_pure_part(include) &&
                   !is_joint_under_test(file, include)) {
            why = "nobody includes app but for what of it is pure";
        }
        if (!why.empty()) {
            complaints.push_back({.path = file.path,
                                  .line = include.line,
                                  .text = fmt::format("includes {}: {}", include.target, why)});
        }
    }
    return complaints;
}

std::vector<Complaint> check_calls(const SourceFile& file) {
    std::vector<Complaint> complaints;
    if (!is_cpp(file.path)) {
        return complaints;
    }
    const std::string code = without_comments(file.text, false);
    const std::string_view path = file.path;
    // planectl is a program of its own, for a person who waits.
    const bool has_the_time = path.starts_with("daemon/io/") || path.starts_with("daemon/ctl/");
    if (path.starts_with("daemon/") && !has_the_time) {
        find_banned(file, code, kClocks, complaints);
        find_banned(file, code, kSleeps, complaints);
        if (is_pure(file)) {
            find_banned(file, code, kImpure, complaints);
        }
    } else if (path.starts_with("tests/unit/") || path.starts_with("tests/sim/")) {
        find_banned(file, code, kSleeps, complaints);
    }
    return complaints;
}

std::vector<Complaint> check_using_namespace(const SourceFile& file) {
    std::vector<Complaint> complaints;
    if (!is_header(file.path)) {
        return complaints;
    }
    const std::string code = without_comments(file.text, false);
    for (const int line : lines_with_word(code, "using namespace")) {
        const bool permitted =
            file.path == "daemon/net/time.hpp" &&
            line_of(code, line).starts_with("using namespace std::chrono_literals;");
        if (!permitted) {
            complaints.push_back(
                {.path = file.path, .line = line, .text = "using namespace in a header"});
        }
    }
    return complaints;
}

std::vector<Complaint> check_spdx(const SourceFile& file) {
    const std::string_view path = file.path;
    std::string want;
    int line = 1;
    if (is_cpp(path)) {
        want = fmt::format("// {}", kSpdx);
    } else if (file.text.starts_with("#!")) {
        want = fmt::format("# {}", kSpdx);
        line = 2;
    } else if (path.ends_with("CMakeLists.txt") || path.ends_with(".cmake") ||
               (path.ends_with(".py") && !file.text.empty())) {
        want = fmt::format("# {}", kSpdx);
    }
    if (want.empty() || line_of(file.text, line) == want) {
        return {};
    }
    return {{.path = file.path, .line = line, .text = fmt::format("must be \"{}\"", want)}};
}

std::vector<Complaint> check_readmes(const std::vector<SourceFile>& files) {
    std::set<std::string> folders;
    std::set<std::string> readmes;
    for (const SourceFile& file : files) {
        const std::string_view path = file.path;
        const std::size_t first = path.find('/');
        const std::size_t second = path.find('/', first + 1);
        for (const std::size_t slash : {first, second}) {
            if (slash != std::string_view::npos) {
                folders.emplace(path.substr(0, slash));
            }
        }
        if (path.ends_with("/README.md")) {
            readmes.emplace(path.substr(0, path.rfind('/')));
        }
    }
    std::vector<Complaint> complaints;
    for (const std::string& folder : folders) {
        if (!readmes.contains(folder)) {
            complaints.push_back({.path = folder, .line = 0, .text = "has no README.md"});
        }
    }
    return complaints;
}

}  // namespace planed::lint
