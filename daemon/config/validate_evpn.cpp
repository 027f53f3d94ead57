// SPDX-License-Identifier: Apache-2.0
#include "config/validate_evpn.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "config/checks.hpp"
#include "config/duration.hpp"
#include "config/match.hpp"
#include "evpn/df_election.hpp"
#include "evpn/esi.hpp"

namespace planed::config {
namespace {

bool is_of(const std::string& pattern, const std::string& name) {
    return is_glob(pattern) ? glob_matches(pattern, name) : pattern == name;
}

class EvpnValidator {
public:
    EvpnValidator(const Config& config,
                  const Places& written,
                  FaultList& faults,
                  FaultList& warnings)
        : evpn_(config.evpn),
          uplinks_(config.uplinks),
          written_(written),
          faults_(faults),
          warnings_(warnings) {}

    void run() {
        check_ourselves();
        check_peers();
        check_vrfs();
        check_route_targets();
        check_segments();
    }

private:
    void fault(const std::string& path, std::string text) {
        faults_.add(place_of(written_, path), path, std::move(text));
    }
    void warn(const std::string& path, std::string text) {
        warnings_.add(place_of(written_, path), path, std::move(text));
    }

    void check_ourselves() {
        if (!evpn_.router_id) {
            fault("evpn", "lacks the key router_id, an IPv4 address that no other speaker has");
        }
        if (evpn_.local_as == 0 && !written_.contains("evpn.local_as")) {
            fault("evpn", "lacks the key local_as");
        } else if (const Problem problem = as_number_problem(evpn_.local_as)) {
            fault("evpn.local_as", *problem);
        }
    }

    void check_peers() {
        if (evpn_.peers.empty()) {
            warn("evpn.peers", "is empty: EVPN has nobody to talk to");
        }
        std::map<IpAddress, std::size_t> seen;
        for (std::size_t i = 0; i < evpn_.peers.size(); ++i) {
            const IpAddress& address = evpn_.peers[i].address;
            const std::string path = fmt::format("evpn.peers[{}]", i);
            const auto [first, fresh] = seen.emplace(address, i);
            if (!fresh && !address.is_unspecified()) {
                fault(path + ".address",
                      fmt::format(
                          "{} is already evpn.peers[{}]", address.to_string(), first->second));
            }
            check_peer(evpn_.peers[i], path);
        }
    }

    void check_peer(const EvpnPeerConfig& peer, const std::string& path) {
        const auto& listen = evpn_.listen;
        const bool v4 = peer.address.is_v4();
        const bool named = !peer.address.is_unspecified();  // Else it is a fault already.
        if (const Problem problem = as_number_problem(peer.remote_as);
            problem && peer.remote_as != 0) {
            fault(path + ".remote_as", *problem);
        }
        if (peer.source && !peer.source->is_unspecified() && named && peer.source->is_v4() != v4) {
            fault(path + ".source",
                  fmt::format("{} cannot reach {}: one is IPv4, the other IPv6",
                              peer.source->to_string(),
                              peer.address.to_string()));
        }
        if (named && (peer.source == peer.address ||
                      std::ranges::find(listen, peer.address) != listen.end())) {
            fault(path + ".address", fmt::format("{} is our own", peer.address.to_string()));
        }
        const auto same_family = [&](const IpAddress& own) { return own.is_v4() == v4; };
        if (peer.passive && named && std::ranges::none_of(listen, same_family)) {
            fault(path + ".passive",
                  fmt::format("nobody can connect: evpn.listen has no IPv{} address", v4 ? 4 : 6));
        }
        if (peer.hold_time == 1s || peer.hold_time == 2s) {
            fault(path + ".hold_time",
                  fmt::format("must be 0s or at least 3s, not {} (RFC 4271 4.2)",
                              format_duration(peer.hold_time)));
        }
    }

    void check_vrfs() {
        constexpr std::uint32_t kNumbering = 0xFFFF;
        std::map<std::string_view, std::size_t> names;
        std::map<std::uint32_t, std::size_t> numbers;
        for (std::size_t i = 0; i < evpn_.vrfs.size(); ++i) {
            const EvpnVrfConfig& vrf = evpn_.vrfs[i];
            const std::string path = fmt::format("evpn.vrfs[{}]", i);
            const auto [name, fresh_name] = names.emplace(vrf.vrf, i);
            if (!fresh_name && !vrf.vrf.empty()) {
                already(path + ".vrf", quoted(vrf.vrf), "evpn.vrfs", name->second);
            }
            if (vrf.vni == 0) {
                continue;  // Named as a fault already.
            }
            const auto [number, fresh_number] = numbers.emplace(vrf.vni & kNumbering, i);
            const std::uint32_t other = evpn_.vrfs[number->second].vni;
            if (!fresh_number && other == vrf.vni) {
                already(path + ".vni", fmt::format("{}", vrf.vni), "evpn.vrfs", number->second);
            } else if (!fresh_number) {
                fault(path + ".vni",
                      fmt::format("{} and {} (evpn.vrfs[{}]) have the same low 16 bits, which "
                                  "number route distinguishers",
                                  vrf.vni,
                                  other,
                                  number->second));
            }
        }
    }

    // A segment's route is for the VRFs together (RFC 7432 8.2.1).
    void check_route_targets() {
        constexpr std::size_t kTogetherMax = 256;  // Half of a message of 4096 octets.
        std::set<RouteTargetConfig> together;
        for (const EvpnVrfConfig& vrf : evpn_.vrfs) {
            together.insert(vrf.route_targets.begin(), vrf.route_targets.end());
        }
        if (together.size() > kTogetherMax) {
            fault("evpn.vrfs",
                  fmt::format("have {} route targets together; {} fit the route of a segment",
                              together.size(),
                              kTogetherMax));
        }
    }

    void check_segments() {
        if (!evpn_.segments.empty() && evpn_.vrfs.empty()) {
            fault("evpn.segments", "need a VRF: evpn.vrfs is empty");
        }
        std::map<std::string_view, std::size_t> ports;
        std::map<evpn::Esi, std::size_t> names;
        for (std::size_t i = 0; i < evpn_.segments.size(); ++i) {
            const EvpnSegmentConfig& segment = evpn_.segments[i];
            const std::string path = fmt::format("evpn.segments[{}]", i);
            const auto [port, fresh_port] = ports.emplace(segment.port, i);
            if (!fresh_port && !segment.port.empty()) {
                already(path + ".port", quoted(segment.port), "evpn.segments", port->second);
            }
            check_uplinks(segment, path);
            check_identifier(segment, path);
            const auto esi = segment.identifier();
            if (esi) {
                const auto [name, fresh_name] = names.emplace(*esi, i);
                if (!fresh_name) {
                    already(path + (segment.esi ? ".esi" : ".id"),
                            fmt::format("ESI {}", esi->to_string()),
                            "evpn.segments",
                            name->second);
                }
            }
            check_df(segment.df, path + ".df");
        }
    }

    void already(const std::string& path,
                 std::string_view what,
                 std::string_view list,
                 std::size_t first) {
        const std::string element = fmt::format("{}[{}]", list, first);
        fault(path,
              fmt::format(
                  "{} is already {}, in line {}", what, element, place_of(written_, element).line));
    }

    void check_uplinks(const EvpnSegmentConfig& segment, const std::string& path) {
        if (check_interface_name(segment.port)) {
            return;  // Named as a fault already.
        }
        for (std::size_t i = 0; i < uplinks_.size(); ++i) {
            const std::string& uplink = uplinks_[i];
            if (!check_interface_pattern(uplink) && is_of(uplink, segment.port)) {
                fault(path + ".port",
                      fmt::format("{} is also an uplink: uplinks[{}] ({})",
                                  quoted(segment.port),
                                  i,
                                  quoted(uplink)));
                return;
            }
        }
    }

    // A key that is there but wrong is a fault already, and not missing as well.
    void check_identifier(const EvpnSegmentConfig& segment, const std::string& path) {
        const bool esi = segment.esi || written_.contains(path + ".esi");
        const bool mac = segment.system_mac || written_.contains(path + ".system_mac");
        const bool id = segment.id || written_.contains(path + ".id");
        if (esi && (mac || id)) {
            fault(path + ".esi", "cannot stand beside system_mac and id: each names the segment");
        } else if (!esi && mac != id) {
            fault(path, fmt::format("lacks the key {}", mac ? "id" : "system_mac"));
        } else if (!esi && !mac) {
            fault(path, "lacks a name: the key esi, or the keys system_mac and id");
        }
    }

    void check_df(const EvpnDfConfig& df, const std::string& path) {
        using evpn::DfAlgorithm;
        if (df.algorithm != DfAlgorithm::Modulus && df.algorithm != DfAlgorithm::Hrw) {
            return;
        }
        const std::string why =
            fmt::format("has no effect: {} knows no preference", evpn::name_of(df.algorithm));
        if (df.preference != EvpnDfConfig{}.preference) {
            warn(path + ".preference", why);
        }
        if (df.dont_preempt) {
            warn(path + ".dont_preempt", why);
        }
    }

    const EvpnConfig& evpn_;
    const std::vector<std::string>& uplinks_;
    const Places& written_;
    FaultList& faults_;
    FaultList& warnings_;
};

}  // namespace

void validate_evpn(const Config& config,
                   const Places& written,
                   FaultList& faults,
                   FaultList& warnings) {
    if (config.evpn != EvpnConfig{}) {
        EvpnValidator(config, written, faults, warnings).run();
    }
}

}  // namespace planed::config
