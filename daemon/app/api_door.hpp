// SPDX-License-Identifier: Apache-2.0
// Joins the engine's loop, api::Server and the sockets that the configuration names, metrics' too.
// An API that cannot be opened is told in `degraded`; the daemon goes on without.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/server.hpp"
#include "config/config.hpp"
#include "io/metrics_listener.hpp"
#include "io/unix_listener.hpp"

namespace planed {

class ApiDoor {
public:
    ApiDoor(api::ServerOptions options, api::Hooks hooks)
        : server_(std::move(options), std::move(hooks)) {}

    /// What could not be opened and why, as a sentence; empty: all is well.
    std::string open(const ApiConfig& api, const MetricsConfig& metrics);
    /// The same after a reload: what is as it was goes on undisturbed.
    std::string configure(const MetricsConfig& metrics);
    void close();

    /// See api::Server.
    bool turn(const Changes& changes, TimePoint now) { return server_.turn(changes, now); }
    void evpn_changed() { server_.evpn_changed(); }
    [[nodiscard]] std::optional<TimePoint> wake_at() const { return server_.wake_at(); }

private:
    Result<void> open(const std::string& address, const TlsConfig& tls);
    void open_metrics();
    [[nodiscard]] std::string trouble() const;

    api::Server server_;
    std::vector<std::unique_ptr<io::UnixListener>> listeners_;  // They hand over to the server.
    std::unique_ptr<io::MetricsListener> metrics_;              // It asks the server.
    MetricsConfig metrics_config_;
    std::string api_trouble_;
    std::string metrics_trouble_;
};

}  // namespace planed
