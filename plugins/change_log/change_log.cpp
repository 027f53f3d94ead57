// SPDX-License-Identifier: Apache-2.0
// An observer: one line of JSON for each change of a host or a route, at the end of a file.
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "change_log/line.hpp"
#include "change_log/writer.hpp"
#include "planed/plugin.h"

namespace change_log {
namespace {

enum class What { Both, Hosts, Routes };

struct Log {
    planed_start daemon{};  // For say(); its options are gone by then.
    std::string path;
    What what = What::Both;
    std::unique_ptr<Writer> writer;
};

// What is wrong with an option, as words.
std::string set(Log& log, std::string_view key, std::string_view value) {
    if (key == "file") {
        log.path = value;
        return value.starts_with('/') ? "" : "file: must be an absolute path";
    }
    if (value == "hosts" || value == "routes") {
        log.what = value == "hosts" ? What::Hosts : What::Routes;
        return {};
    }
    return value == "both" ? "" : "what: must be hosts, routes or both";
}

std::string prepare(Log& log, const planed_start& start) {
    for (std::size_t i = 0; i < start.option_count; ++i) {
        std::string wrong = set(log, start.options[i].key, start.options[i].value);
        if (!wrong.empty()) {
            return wrong;
        }
    }
    if (log.path.empty()) {
        return "the option file is missing";
    }
    std::string wrong;
    log.writer = Writer::open(log.path, wrong);
    return wrong;
}

std::int32_t open(const planed_start* start,
                  void** self,
                  char* error,
                  std::size_t error_size) noexcept {
    auto log = std::make_unique<Log>();
    log->daemon = *start;
    const std::string wrong = prepare(*log, *start);
    if (!wrong.empty()) {
        (void)std::snprintf(error, error_size, "%s", wrong.c_str());
        return 1;
    }
    *self = log.release();
    return 0;
}

void changed(void* self, const planed_change* change) noexcept {
    auto& log = *static_cast<Log*>(self);
    const What kind = change->kind == PLANED_HOST ? What::Hosts : What::Routes;
    if (log.what == What::Both || log.what == kind) {
        log.writer->add(line_of(*change));
    }
    std::string problem;
    if (log.writer->news(problem)) {
        const std::string text = problem.empty() ? log.path + " is written again"
                                                 : log.path + ": " + problem + ", lines are lost";
        log.daemon.say(
            log.daemon.daemon, problem.empty() ? PLANED_INFO : PLANED_ERROR, text.c_str());
    }
}

void close(void* self) noexcept {
    delete static_cast<Log*>(self);
}

constexpr const char* kOptions[] = {"file", "what", nullptr};
constexpr planed_plugin kPlugin{.abi = PLANED_PLUGIN_ABI,
                                .size = sizeof(planed_plugin),
                                .name = "change_log",
                                .version = PLANED_VERSION,
                                .options = kOptions,
                                .open = open,
                                .judge = nullptr,
                                .changed = changed,
                                .close = close};

}  // namespace
}  // namespace change_log

const planed_plugin* planed_plugin_entry() {
    return &change_log::kPlugin;
}
