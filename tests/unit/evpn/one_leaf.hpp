// SPDX-License-Identifier: Apache-2.0
// Leaf 1, whose outputs are collected, and the routes that other leaves tell it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "evpn/multihoming.hpp"
#include "unit/evpn/values.hpp"

namespace planed::evpn {

inline BindingKey host(std::string_view address) {
    return {.vrf = "default", .address = ip(address)};
}

/// Leaf `last` with the two segments, on bond1 and bond2.
inline MultihomingOptions options(std::uint8_t last = 1) {
    return {.router_id = leaf(last).router_id,
            .next_hop = leaf(last).next_hop,
            .segments = {{.esi = kEs1, .port = "bond1", .df = preference(100)},
                         {.esi = kEs2, .port = "bond2", .df = preference(100)}},
            .vrfs = {vrf()}};
}

template <class T>
std::vector<T> only(const std::vector<Output>& outputs) {
    std::vector<T> found;
    for (const Output& output : outputs) {
        if (const T* one = std::get_if<T>(&output)) {
            found.push_back(*one);
        }
    }
    return found;
}

inline std::vector<Output> drain(Multihoming& multihoming) {
    std::vector<Output> all;
    while (auto output = multihoming.poll()) {
        all.push_back(std::move(*output));
    }
    return all;
}

struct OneLeaf {
    static constexpr TimePoint kStart{1h};

    explicit OneLeaf(MultihomingOptions wanted = options()) : config(std::move(wanted)) {
        multihoming.configure(config, now);
    }
    /// With bond1 and bond2 up and the elections held.
    static OneLeaf settled(MultihomingOptions wanted = options()) {
        OneLeaf leaf(std::move(wanted));
        leaf.multihoming.set_port("bond1", true, leaf.now);
        leaf.multihoming.set_port("bond2", true, leaf.now);
        leaf.pass(3s);
        (void)leaf.take();
        return leaf;
    }

    std::vector<Output> take() { return drain(multihoming); }
    template <class T>
    std::vector<T> take() {
        return only<T>(take());
    }
    void pass(Duration span) {
        now += span;
        multihoming.tick(now);
    }
    void configure() { multihoming.configure(config, now); }
    void local(std::string_view address,
               std::uint8_t mac_octet,
               const std::string& port = "bond1",
               bool is_static = false) {
        multihoming.set_local(
            host(address), {.mac = mac(mac_octet), .port = port, .is_static = is_static}, now);
    }
    void hear(const Advertised& told, const IpAddress& peer) {
        multihoming.heard(peer, told.route, told.path, now);
    }
    void hear(const Advertised& told) { hear(told, told.path->next_hop.address); }
    void lose(const Advertised& told, const IpAddress& peer) {
        multihoming.gone(peer, bgp::RouteKey(told.route), now);
    }
    void lose(const Advertised& told) { lose(told, told.path->next_hop.address); }

    MultihomingOptions config;
    TimePoint now = kStart;
    Multihoming multihoming;
};

/// As leaf `from` tells it, with `more` communities.
inline Advertised told(std::uint8_t from,
                       const std::optional<Esi>& esi,
                       std::uint8_t mac_octet,
                       std::string_view address,
                       std::vector<bgp::ExtendedCommunity> more = {}) {
    Advertised advertised =
        host_route(leaf(from),
                   vrf(),
                   {.esi = esi.value_or(kEs1), .mac = mac(mac_octet), .address = ip(address)});
    if (!esi) {
        std::get<bgp::MacIp>(advertised.route).esi = {};
    }
    bgp::Path path = *advertised.path;
    path.attributes.communities.insert(path.attributes.communities.end(), more.begin(), more.end());
    advertised.path = std::make_shared<const bgp::Path>(std::move(path));
    return advertised;
}

inline bgp::ExtendedCommunity moved(std::uint32_t sequence, bool is_static = false) {
    return bgp::mac_mobility({.is_static = is_static, .sequence = sequence});
}

}  // namespace planed::evpn
