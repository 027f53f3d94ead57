// SPDX-License-Identifier: Apache-2.0
#include "app/api_door.hpp"

#include <string_view>
#include <utility>

namespace planed {

std::string ApiDoor::open(const ApiConfig& config) {
    std::string trouble;
    for (const std::string& address : config.listen) {
        if (const auto opened = open(address, config.tls); !opened) {
            trouble += trouble.empty() ? opened.error().text : "; " + opened.error().text;
        }
    }
    return trouble;
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
    server_.stop();
}

}  // namespace planed
