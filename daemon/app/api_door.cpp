// SPDX-License-Identifier: Apache-2.0
#include "app/api_door.hpp"

#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace planed {

std::string ApiDoor::open(const ApiConfig& api, const MetricsConfig& metrics) {
    for (const std::string& address : api.listen) {
        if (const auto opened = open(address, api.tls); !opened) {
            api_trouble_ += api_trouble_.empty() ? "" : "; ";
            api_trouble_ += opened.error().text;
        }
    }
    return configure(metrics);
}

std::string ApiDoor::configure(const MetricsConfig& metrics) {
    if (metrics != metrics_config_) {
        metrics_config_ = metrics;
        open_metrics();
    }
    return trouble();
}

void ApiDoor::open_metrics() {
    metrics_.reset();  // First: the new address may differ in little.
    metrics_trouble_.clear();
    if (metrics_config_.listen.empty()) {
        return;
    }
    auto listener = std::make_unique<io::MetricsListener>(
        [this](io::MetricsListener::Reply reply) { server_.metrics(std::move(reply)); });
    if (const auto opened = listener->open(metrics_config_.listen); opened) {
        metrics_ = std::move(listener);
    } else {
        metrics_trouble_ = fmt::format("metrics: {}", opened.error().text);
    }
}

std::string ApiDoor::trouble() const {
    const bool both = !api_trouble_.empty() && !metrics_trouble_.empty();
    return api_trouble_ + (both ? "; " : "") + metrics_trouble_;
}

Result<void> ApiDoor::open(const std::string& address, const TlsConfig& tls) {
    constexpr std::string_view kUnix = "unix:";
    if (!address.starts_with(kUnix)) {
        return server_.listen(
            address, {.certificate = tls.certificate, .key = tls.key, .client_ca = tls.client_ca});
    }
    auto listener =
        std::make_unique<io::UnixListener>([this](int connection, const io::PeerCredentials& peer) {
            server_.adopt(connection, {.pid = peer.pid, .uid = peer.uid, .gid = peer.gid});
        });
    auto opened = listener->open(address.substr(kUnix.size()));
    if (opened) {
        listeners_.push_back(std::move(listener));
    }
    return opened;
}

void ApiDoor::close() {
    listeners_.clear();
    metrics_.reset();
    server_.stop();
}

}  // namespace planed
