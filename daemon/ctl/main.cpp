// SPDX-License-Identifier: Apache-2.0
// planectl: words to an invocation to an exit code.
#include <csignal>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "ctl/client.hpp"
#include "ctl/commands.hpp"

int main(int argc, char** argv) {
    using namespace planed::ctl;  // NOLINT(google-build-using-namespace): of this one file.
    try {
        const std::vector<std::string> words(argv + 1, argv + argc);
        const char* target = std::getenv("PLANECTL_TARGET");
        const auto parsed = parse(words, target == nullptr ? "" : target);
        if (const auto* error = std::get_if<UsageError>(&parsed)) {
            fmt::print(stderr, "planectl: {}\n", error->text);
            return kExitUsage;
        }
        // A reader that has seen enough (head) is no error worth a word.
        (void)std::signal(SIGPIPE, SIG_DFL);
        return run(std::get<Invocation>(parsed));
    } catch (const std::exception& error) {
        fmt::print(stderr, "planectl: {}\n", error.what());
        return kExitFailed;
    }
}
