// SPDX-License-Identifier: Apache-2.0
#include "core/eligibility.hpp"

#include <functional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/builders.hpp"
#include "support/print.hpp"

namespace planed {

static void PrintTo(const Reason& reason, std::ostream* out) {  // NOLINT: GTest's name.
    *out << word(reason);
}

namespace {

using test::in_state;
using test::ip;
using test::mac;
using test::prefix;

ServedInterface rail() {
    return {.link = IfIndex{10},
            .name = "br0",
            .up = true,
            .bridge = IfIndex{10},
            .subnets = {prefix("10.0.0.1/16"), prefix("fd00:0:0:1::1/64")},
            .config = test::interface_config("br0")};
}

// One living host on a served bridge; a row changes what it is about.
struct Case {
    std::string name;
    Reason reason{};
    std::string address = "10.0.0.5";
    Neighbor neighbor = in_state(Nud::Reachable, mac(5));
    PortFacts port{.state = PortFacts::State::Up, .port = IfIndex{1}};
    std::function<void(ServedInterface&)> change_interface{};
    std::function<void(HostFacts&)> change_host{};
};

Reason judged(const Case& row) {
    ServedInterface served = rail();
    if (row.change_interface) {
        row.change_interface(served);
    }
    const IpAddress address = ip(row.address);
    HostFacts host{
        .address = address, .neighbor = row.neighbor, .served = &served, .port = row.port};
    if (row.change_host) {
        row.change_host(host);
    }
    return judge(host);
}

PortFacts port_in(PortFacts::State state) {
    return {.state = state, .port = IfIndex{1}};
}
auto with_subnet(const char* text) {
    return [text](ServedInterface& served) { served.subnets = {prefix(text)}; };
}
auto with_prefix(const char* text) {
    return [text](ServedInterface& served) { served.config.prefixes = {prefix(text)}; };
}
auto with_exclude(const char* text) {
    return [text](ServedInterface& served) { served.config.exclude = {prefix(text)}; };
}

std::vector<Case> cases() {
    using State = PortFacts::State;
    return {
        {"an IPv4 host", Reason::Eligible},
        {"an IPv6 host", Reason::Eligible, "fd00:0:0:1::5"},

        {"an interface that is not served",
         Reason::NotServed,
         "10.0.0.5",
         {},
         {},
         {},
         [](HostFacts& host) { host.served = nullptr; }},
        {"a leaf without uplinks",
         Reason::Isolated,
         "10.0.0.5",
         in_state(Nud::Reachable, mac(5)),
         {},
         {},
         [](HostFacts& host) { host.isolated = true; }},
        {"an interface that is down",
         Reason::InterfaceDown,
         "10.0.0.5",
         in_state(Nud::Permanent, mac(5)),
         {},
         [](ServedInterface& served) { served.up = false; }},

        {"IPv4 multicast", Reason::NotUnicast, "224.0.0.5"},
        {"IPv6 multicast", Reason::NotUnicast, "ff02::1"},
        {"limited broadcast", Reason::NotUnicast, "255.255.255.255"},
        {"class E", Reason::NotUnicast, "240.0.0.1"},
        {"unspecified IPv4", Reason::NotUnicast, "0.0.0.0"},
        {"unspecified IPv6", Reason::NotUnicast, "::"},
        {"loopback IPv4", Reason::NotUnicast, "127.0.0.1"},
        {"loopback IPv6", Reason::NotUnicast, "::1"},
        {"link-local IPv4 in an allowed prefix",
         Reason::LinkLocal,
         "169.254.3.4",
         in_state(Nud::Reachable, mac(5)),
         {},
         with_prefix("0.0.0.0/0")},
        {"link-local IPv6 in an allowed prefix",
         Reason::LinkLocal,
         "fe80::5",
         in_state(Nud::Reachable, mac(5)),
         {},
         with_prefix("::/0")},
        {"link-local IPv6 at the end of its range",
         Reason::LinkLocal,
         "febf::5",
         in_state(Nud::Reachable, mac(5)),
         {},
         with_prefix("::/0")},

        {"our own address",
         Reason::OwnAddress,
         "10.0.0.1",
         in_state(Nud::Reachable, mac(5)),
         {},
         {},
         [](HostFacts& host) { host.own_address = true; }},

        {"the network address", Reason::SubnetAddress, "10.0.0.0"},
        {"the broadcast address", Reason::SubnetAddress, "10.0.255.255"},
        {"the subnet-router anycast address", Reason::SubnetAddress, "fd00:0:0:1::"},
        {"the last address of an IPv6 subnet", Reason::Eligible, "fd00:0:0:1:ffff:ffff:ffff:ffff"},
        {"an address that ends in 0 inside the subnet", Reason::Eligible, "10.0.1.0"},
        {"the network address of a /30",
         Reason::SubnetAddress,
         "10.0.0.4",
         in_state(Nud::Reachable, mac(5)),
         {},
         with_subnet("10.0.0.5/30")},
        {"the broadcast address of a /30",
         Reason::SubnetAddress,
         "10.0.0.7",
         in_state(Nud::Reachable, mac(5)),
         {},
         with_subnet("10.0.0.5/30")},
        {"the lower address of a /31",
         Reason::Eligible,
         "10.0.0.4",
         in_state(Nud::Reachable, mac(5)),
         {},
         with_subnet("10.0.0.5/31")},
        {"the upper address of a /31",
         Reason::Eligible,
         "10.0.0.5",
         in_state(Nud::Reachable, mac(5)),
         {},
         with_subnet("10.0.0.4/31")},
        {"the address of a /32",
         Reason::Eligible,
         "10.0.0.5",
         in_state(Nud::Reachable, mac(5)),
         {},
         with_subnet("10.0.0.5/32")},
        {"the lower address of a /127",
         Reason::Eligible,
         "fd00::4",
         in_state(Nud::Reachable, mac(5)),
         {},
         with_subnet("fd00::5/127")},
        {"the zero address of a /126",
         Reason::SubnetAddress,
         "fd00::4",
         in_state(Nud::Reachable, mac(5)),
         {},
         with_subnet("fd00::5/126")},

        {"an address outside the subnet", Reason::OutsidePrefixes, "10.1.0.5"},
        {"an address of the subnet outside the configured prefixes",
         Reason::OutsidePrefixes,
         "10.0.0.5",
         in_state(Nud::Reachable, mac(5)),
         {},
         with_prefix("10.0.8.0/24")},
        {"an address of a configured prefix outside the subnet",
         Reason::Eligible,
         "192.0.2.7",
         in_state(Nud::Reachable, mac(5)),
         {},
         with_prefix("192.0.2.0/24")},
        {"an IPv6 host where only IPv4 is configured",
         Reason::OutsidePrefixes,
         "fd00:0:0:1::5",
         in_state(Nud::Reachable, mac(5)),
         {},
         with_subnet("10.0.0.1/16")},
        {"an interface without any address",
         Reason::OutsidePrefixes,
         "10.0.0.5",
         in_state(Nud::Reachable, mac(5)),
         {},
         [](ServedInterface& served) { served.subnets = {}; }},
        {"an excluded address",
         Reason::Excluded,
         "10.0.0.5",
         in_state(Nud::Reachable, mac(5)),
         {},
         with_exclude("10.0.0.5/32")},
        {"an excluded prefix",
         Reason::Excluded,
         "fd00:0:0:1::5",
         in_state(Nud::Reachable, mac(5)),
         {},
         with_exclude("fd00:0:0:1::/120")},
        {"a BGP peer",
         Reason::BgpPeer,
         "10.0.0.5",
         in_state(Nud::Reachable, mac(5)),
         {},
         {},
         [](HostFacts& host) { host.bgp_peer = true; }},

        {"STALE", Reason::Eligible, "10.0.0.5", in_state(Nud::Stale, mac(5))},
        {"DELAY", Reason::Eligible, "10.0.0.5", in_state(Nud::Delay, mac(5))},
        {"PROBE", Reason::Eligible, "10.0.0.5", in_state(Nud::Probe, mac(5))},
        {"PERMANENT", Reason::Eligible, "10.0.0.5", in_state(Nud::Permanent, mac(5))},
        {"FAILED", Reason::Failed, "10.0.0.5", test::failed()},
        {"INCOMPLETE", Reason::Unresolved, "10.0.0.5", in_state(Nud::Incomplete, {})},
        {"NONE", Reason::Unresolved, "10.0.0.5", in_state(Nud::None, {})},
        {"NOARP of the kernel", Reason::NoArpNotLearned, "10.0.0.5", in_state(Nud::NoArp, mac(5))},
        {"NOARP externally learned",
         Reason::Eligible,
         "10.0.0.5",
         {.mac = mac(5), .state = Nud::NoArp, .ext_learned = true}},

        {"a zero MAC", Reason::NoMac, "10.0.0.5", in_state(Nud::Reachable, {})},
        {"a multicast MAC",
         Reason::BadMac,
         "10.0.0.5",
         in_state(Nud::Reachable, mac("01:00:5e:00:00:05"))},
        {"the broadcast MAC",
         Reason::BadMac,
         "10.0.0.5",
         in_state(Nud::Reachable, mac("ff:ff:ff:ff:ff:ff"))},
        {"our own MAC",
         Reason::OwnMac,
         "10.0.0.5",
         in_state(Nud::Reachable, mac(5)),
         {},
         {},
         [](HostFacts& host) { host.own_mac = true; }},

        {"a routed port",
         Reason::Eligible,
         "10.0.0.5",
         in_state(Nud::Reachable, mac(5)),
         port_in(State::NotBridged)},
        {"a MAC seen on no port",
         Reason::Eligible,
         "10.0.0.5",
         in_state(Nud::Reachable, mac(5)),
         port_in(State::Unknown)},
        {"a port without carrier",
         Reason::PortDown,
         "10.0.0.5",
         in_state(Nud::Permanent, mac(5)),
         port_in(State::Down)},
        {"a port that left the bridge",
         Reason::PortLeft,
         "10.0.0.5",
         in_state(Nud::Reachable, mac(5)),
         port_in(State::Left)},
        {"a port that came back",
         Reason::PortUnconfirmed,
         "10.0.0.5",
         in_state(Nud::Reachable, mac(5)),
         port_in(State::Unconfirmed)},
        {"a host that a plug-in denies",
         Reason::Denied,
         "10.0.0.5",
         in_state(Nud::Reachable, mac(5)),
         port_in(State::Up),
         {},
         [](HostFacts& host) { host.denied = true; }},
        {"a denied host whose port is dead",
         Reason::PortDown,
         "10.0.0.5",
         in_state(Nud::Reachable, mac(5)),
         port_in(State::Down),
         {},
         [](HostFacts& host) { host.denied = true; }},
    };
}

TEST(Eligibility, IsDecidedByTheFirstConditionThatFails) {
    for (const Case& row : cases()) {
        EXPECT_EQ(judged(row), row.reason) << row.name;
    }
}

TEST(Eligibility, HasACaseForEveryReasonWithItsOwnWordAndSentence) {
    std::set<Reason> reasons;
    for (const Case& row : cases()) {
        reasons.insert(row.reason);
    }

    std::set<std::string> words;
    std::set<std::string> sentences;
    const ServedInterface served = rail();
    for (const Reason reason : reasons) {
        words.insert(std::string(word(reason)));
        sentences.insert(describe(reason, &served, "swp1"));
    }
    constexpr auto kReasons = static_cast<std::size_t>(Reason::Denied) + 1;
    EXPECT_EQ(reasons.size(), kReasons);
    EXPECT_EQ(words.size(), kReasons);
    EXPECT_EQ(sentences.size(), kReasons);
}

TEST(Eligibility, IsExplainedWithTheNamesOfPortAndInterface) {
    const ServedInterface served = rail();

    EXPECT_EQ(describe(Reason::PortDown, &served, "swp3"), "port swp3 has no carrier");
    EXPECT_EQ(describe(Reason::InterfaceDown, &served, "?"), "interface br0 is down");
    EXPECT_EQ(describe(Reason::NotServed, nullptr, "?"),
              "the interface is not in the configuration");
}

TEST(Eligibility, NamesStatesAsIpDoes) {
    EXPECT_EQ(word(Nud::Reachable), "REACHABLE");
    EXPECT_EQ(word(Nud::NoArp), "NOARP");
}

}  // namespace
}  // namespace planed
