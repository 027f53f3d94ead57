// SPDX-License-Identifier: Apache-2.0
#include "packet/answer.hpp"

#include "packet/arp.hpp"
#include "packet/nd.hpp"

namespace planed::packet {
namespace {

std::vector<std::uint8_t> reply(const Heard& question, const Proxy& proxy) {
    return arp_reply({.mac = proxy.mac,
                      .address = question.target,
                      .to = question.ethernet_source,
                      .to_address = question.sender,
                      .vlan = question.vlan});
}

std::optional<std::vector<std::uint8_t>> advertise(const Heard& question, const Proxy& proxy) {
    if (proxy.source.is_unspecified()) {
        return std::nullopt;
    }
    Advertisement tell{.mac = proxy.mac,
                       .target = question.target,
                       .source = proxy.source,
                       .flags = {.router = proxy.router, .overrides = proxy.overrides},
                       .vlan = question.vlan};
    if (question.kind == Kind::Solicitation) {
        tell.to = Receiver{.address = question.sender, .mac = question.ethernet_source};
        tell.flags.solicited = true;
    }
    return advertisement(tell);
}

}  // namespace

std::optional<std::vector<std::uint8_t>> answer(const Heard& question, const Proxy& proxy) {
    switch (question.kind) {
        case Kind::ArpRequest:
        case Kind::ArpProbe: return reply(question, proxy);
        case Kind::Solicitation:
        case Kind::DadSolicitation: return advertise(question, proxy);
        case Kind::ArpReply:
        case Kind::ArpAnnouncement:
        case Kind::Advertisement: return std::nullopt;
    }
    return std::nullopt;
}

}  // namespace planed::packet
