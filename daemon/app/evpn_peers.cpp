// SPDX-License-Identifier: Apache-2.0
#include "app/evpn_peers.hpp"

#include <chrono>

namespace planed {

bgp::SessionOptions session_options(const EvpnConfig& config,
                                    const EvpnPeerConfig& peer,
                                    std::uint64_t seed) {
    using std::chrono::duration_cast;
    using std::chrono::seconds;
    return {
        .local_as = bgp::AsNumber{config.local_as},
        .peer_as = bgp::AsNumber{peer.remote_as},
        .id = bgp::router_id_of(*config.router_id),
        .hold_seconds = static_cast<std::uint16_t>(duration_cast<seconds>(peer.hold_time).count()),
        .passive = peer.passive,
        .connect_retry = peer.connect_retry,
        .keep = config.hold,
        .routes_max = peer.max_prefixes,
        .seed = seed};
}

bgp::Path path_for(const EvpnConfig& config, const EvpnPeerConfig& peer, const bgp::Path& path) {
    bgp::Path complete = path;
    if (peer.remote_as != config.local_as) {
        complete.attributes.local_pref.reset();
        complete.attributes.as_path = {{.numbers = {bgp::AsNumber{config.local_as}}}};
    }
    return complete;
}

}  // namespace planed
