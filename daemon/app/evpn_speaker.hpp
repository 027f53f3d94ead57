// SPDX-License-Identifier: Apache-2.0
// The EVPN peers of the configuration: begins, changes and ends their sessions, keeps what they
// have told, says in the log how they fare, and shows all of it. What it tells them, and what
// follows from what they tell, is its owner's affair.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <absl/container/btree_map.h>
#include <boost/asio/io_context.hpp>

#include "app/evpn_peers.hpp"
#include "bgp/rib_in.hpp"
#include "bgp/view.hpp"
#include "config/config.hpp"
#include "io/bgp_transport.hpp"
#include "telemetry/note.hpp"

namespace planed {

class EvpnSpeaker : public EvpnPeers {
public:
    using Log = std::function<void(const Note&)>;
    using Counters = std::vector<std::pair<std::string, std::uint64_t>>;

    EvpnSpeaker(boost::asio::io_context& loop, Log log, io::BgpTransportOptions options = {});

    void configure(const EvpnConfig& config) override;
    void want(const bgp::Route& route, const bgp::Path& path) override;
    void unwant(const bgp::RouteKey& key) override;
    void hold_end_of_rib(bool hold) override { transport_.hold_end_of_rib(hold); }
    void flush() override { transport_.flush(); }
    [[nodiscard]] bool all_have_told() const override;

    /// Says goodbye; calls `done`, never from within this call.
    void close(std::function<void()> done);

    [[nodiscard]] std::vector<bgp::PeerView> peers() const;
    /// Appends up to `max` routes behind the cursor, and moves it. False: those were the last ones.
    bool read_routes(bgp::RouteCursor& cursor,
                     std::size_t max,
                     std::vector<bgp::RouteRow>& rows) const;
    /// By name.
    [[nodiscard]] Counters counters() const;
    /// The port of the first address that is listened on; 0: none is.
    [[nodiscard]] std::uint16_t listening_port() const { return transport_.listening_port(); }

private:
    struct Peer {
        EvpnPeerConfig config{};
        bgp::RibIn rib{};
        TimePoint since{};
        std::optional<bgp::Open> open{};
        std::uint16_t hold_seconds = 0;
        std::uint64_t sessions = 0;
        std::uint64_t faults = 0;
        std::string last_error{};
        std::optional<TimePoint> last_error_at{};
        bool up = false;
        bool end_of_rib = false;
    };
    using Peers = std::map<IpAddress, Peer>;

    io::BgpCallbacks callbacks();
    void remove(Peers::iterator entry, std::string_view why);
    void begin(const EvpnPeerConfig& config);
    [[nodiscard]] io::BgpPeer options_for(const EvpnPeerConfig& config);
    [[nodiscard]] bgp::PeerView view_of(const IpAddress& address, const Peer& peer) const;

    void tell(const EvpnPeerConfig& peer, const bgp::Route& route, const bgp::Path& path);
    void handle(const IpAddress& address, const bgp::Event& event);
    void handle(const IpAddress& address, Peer& peer, const bgp::Established& up);
    void handle(const IpAddress& address, Peer& peer, const bgp::Down& down);
    void fail(const IpAddress& address, Peer& peer, const std::string& why);
    void say(Level level, std::string_view id, const IpAddress& peer, const std::string& words);

    struct Wanted {
        bgp::Route route{};
        bgp::Path path{};
    };

    Log log_;
    io::BgpTransportOptions options_;
    std::mt19937_64 random_{std::random_device{}()};
    EvpnConfig config_;
    Peers peers_;
    absl::btree_map<bgp::RouteKey, Wanted> wanted_;
    io::BgpTransport transport_;
};

}  // namespace planed
