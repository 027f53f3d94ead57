// SPDX-License-Identifier: Apache-2.0
// planed as a service: when it is ready, what its status line says, and that its loop turns. Stands
// between the engine and io::ServiceNotifier; without a service manager it costs nothing.
#pragma once

#include <cstddef>
#include <string>

#include <absl/container/btree_map.h>
#include <boost/asio/io_context.hpp>

#include "core/engine.hpp"
#include "io/service_notifier.hpp"

namespace planed {

/// What there is to report of.
struct ServiceFacts {
    bool planned = false;  // All tables were read, and what is in them is judged.
    bool synced = false;   // zebra has had every route, and confirmed or rejected it.
    bool reloading = false;
    bool stopping = false;
    std::size_t routes = 0;
    std::size_t faults = 0;  // Of the configuration that was refused last; 0: none was.
    absl::btree_map<std::string, std::string> degraded{};
    bool operator==(const ServiceFacts&) const = default;
};

/// Ready once the routes are in zebra, or once it is known that zebra is away: what starts after us
/// must not wait for an FRR that may come tomorrow. From then on ready, whatever happens.
io::ServiceReport service_report(const ServiceFacts& facts, io::ServicePhase before);

class Service {
public:
    Service(boost::asio::io_context& loop, const Engine& engine)
        : engine_(engine), notifier_(loop, io::service_environment()) {}

    void start();
    /// At the end of a turn: says what has changed but for the number of routes, which is said with
    /// the next tick.
    void turn();
    /// Before the configuration is read; the turn that has applied it ends the reload.
    void reloading();
    void refused(std::size_t faults) { facts_.faults = faults; }
    void stopping();

private:
    void report();

    const Engine& engine_;
    io::ServiceNotifier notifier_;
    ServiceFacts facts_;
    io::ServicePhase phase_ = io::ServicePhase::Starting;
};

}  // namespace planed
