// SPDX-License-Identifier: Apache-2.0
// The EVPN peers as those see them who have something to tell: all at once, whoever is there. What
// is behind it are sessions over TCP (EvpnSpeaker), or simulated ones.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "bgp/session.hpp"
#include "config/config.hpp"
#include "net/ip_address.hpp"

namespace planed {

class EvpnPeers {
public:
    /// What sessions say, after it has been taken over by the peers' keeper; when a peer is
    /// removed, that its routes are gone and its session is down. Not to call back.
    using Listener = std::function<void(const IpAddress& peer, const bgp::Event& event)>;

    EvpnPeers() = default;
    EvpnPeers(const EvpnPeers&) = delete;
    EvpnPeers& operator=(const EvpnPeers&) = delete;
    virtual ~EvpnPeers() = default;

    void set_listener(Listener listener) { listener_ = std::move(listener); }

    /// Peers whose keys are as they were go on undisturbed.
    virtual void configure(const EvpnConfig& config) = 0;
    /// What all peers shall know, those that come later too; told with the next flush(). The path
    /// is as within our AS: to another one ours is in AS_PATH, and there is no LOCAL_PREF.
    virtual void want(const bgp::Route& route, const bgp::Path& path) = 0;
    virtual void unwant(const bgp::RouteKey& key) = 0;
    /// While held, peers are not told that this was all: there is more to come.
    virtual void hold_end_of_rib(bool hold) = 0;
    virtual void flush() = 0;
    /// Every peer that may be spoken with has told all it has.
    [[nodiscard]] virtual bool all_have_told() const = 0;

protected:
    void note(const IpAddress& peer, const bgp::Event& event) const {
        if (listener_) {
            listener_(peer, event);
        }
    }

private:
    Listener listener_;
};

/// What the configuration makes of a session. `seed`: of its jitter.
bgp::SessionOptions session_options(const EvpnConfig& config,
                                    const EvpnPeerConfig& peer,
                                    std::uint64_t seed);
/// The path as this peer is to see it (see EvpnPeers::want).
bgp::Path path_for(const EvpnConfig& config, const EvpnPeerConfig& peer, const bgp::Path& path);

}  // namespace planed
