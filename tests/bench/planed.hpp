// SPDX-License-Identifier: Apache-2.0
// The daemon as a child process, and what the kernel says about it.
#pragma once

#include <cstdint>
#include <string>

#include <sys/types.h>

#include "bench/clock.hpp"

namespace planed::bench {

struct PlanedOptions {
    std::string binary;
    std::string folder;  // For its configuration, state and log.
    std::string zserv;
    bool withdraw_on_exit = false;
    std::string refresh = "24h";  // Nobody answers, unless the bench says so.
};

class Planed {
public:
    explicit Planed(const PlanedOptions& options);
    ~Planed();
    Planed(const Planed&) = delete;
    Planed& operator=(const Planed&) = delete;

    /// SIGTERM, and its end.
    void stop();
    /// Time on a core so far, all threads.
    [[nodiscard]] Nanoseconds cpu_time() const;
    [[nodiscard]] std::uint64_t resident_bytes() const;
    /// Whether its log has this text.
    [[nodiscard]] bool has_said(const std::string& text) const;

private:
    [[nodiscard]] std::string log() const;

    PlanedOptions options_;
    pid_t pid_ = -1;
};

}  // namespace planed::bench
