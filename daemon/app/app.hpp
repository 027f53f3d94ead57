// SPDX-License-Identifier: Apache-2.0
// The daemon: built, wired, started and stopped in one visible order. It decides nothing; the turn
// is here, what a turn decides is in core/engine.
#pragma once

#include <string>

#include "config/config.hpp"
#include "config/load.hpp"
#include "telemetry/note.hpp"

namespace planed {

struct AppOptions {
    std::string config_path;
    Level level = Level::Info;
    std::string version{};
    std::string record{};  // A file for all inputs (app/recorder.hpp); empty: none.
};

/// Runs until SIGTERM or SIGINT. Exit code: 0 stopped as asked, 1 the system refused something.
/// `loaded` has no faults.
int run_app(const AppOptions& options, const config::Loaded& loaded);

}  // namespace planed
