// SPDX-License-Identifier: Apache-2.0
// What is printed loads back as it was: for random configurations built from keys.hpp, so that a
// new key is covered on the day it comes.
#include <random>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/keys.hpp"
#include "config/load.hpp"
#include "config/print.hpp"

namespace planed::config {
namespace {

class RandomConfig {
public:
    explicit RandomConfig(std::uint32_t seed) : random_(seed) {}

    Config make() {
        Config config;
        part(config);
        return config;
    }

private:
    std::uint32_t below(std::uint64_t bound) {
        return static_cast<std::uint32_t>(random_() % bound);
    }

    template <class T>
    void part(T& out) {
        Keys<T>::each(
            [&](std::string_view, auto field, const auto& rule) { value(out.*field, rule); });
    }

    // Texts that are right by their own rule and awkward for a printer.
    std::string text(TextCheck check) {
        const std::vector<std::string> samples{
            "",           "off",         "null", "~",      "true",      "10.3",       "8.4",
            "auto",       "7",           "a b",  "a: b",   "# a",       "a #b",       "- a",
            "'",          "\"",          "\\",   "ä€😀",    "swp1",      "Vlan1*",     "sw?p",
            "[ab]c",      "/a",          "/a b", "/'\"\\", "unix:/a b", "10.0.0.5:1", "[fd00::5]:2",
            "tcp:h:1",    "tcp:[::1]:1", "*x",   "&x",     "!x",        "%x",         "@x",
            "`x",         "{x",          "}x",   ",x",     "?",         "1e3",        "0x10",
            "2024-01-01", "1:2",         "::",   "=",      "<<",        "-",          "trailing ",
            " leading"};
        for (;;) {
            const std::string& sample = samples[below(samples.size())];
            if (!check(sample)) {
                return sample;
            }
        }
    }

    IpAddress address() {
        IpAddress::Bytes bytes{};
        for (std::uint8_t& byte : bytes) {
            byte = static_cast<std::uint8_t>(below(3) == 0 ? below(256) : 0);
        }
        bytes[0] = static_cast<std::uint8_t>(1 + below(100));
        return below(2) == 0 ? IpAddress::v4(bytes[0], bytes[1], bytes[2], bytes[3])
                             : IpAddress::v6(bytes);
    }

    void value(std::string& out, const Text& rule) { out = text(rule.check); }
    void value(bool& out, const Flag&) { out = below(2) == 0; }
    template <class Number>
    void value(Number& out, const Whole& rule) {
        const std::uint64_t span = std::uint64_t{rule.max} - rule.min + 1;
        out = static_cast<Number>(rule.min + below(span));
    }
    void value(std::optional<std::uint32_t>& out, const Whole& rule) {
        if (below(2) == 0) {
            value(out.emplace(), rule);
        }
    }
    void value(std::uint32_t& out, const Percent&) { out = below(101); }
    void value(Duration& out, const Span& rule) {
        const auto steps = static_cast<std::uint64_t>((rule.max - rule.min) / rule.step) + 1;
        out = rule.min + rule.step * static_cast<Duration::rep>(random_() % steps);
    }
    template <class Enum>
    void value(Enum& out, const Choice&) {
        out = static_cast<Enum>(below(Choices<Enum>::kWords.size()));
    }
    void value(IpAddress& out, const HostAddress&) { out = address(); }
    IpAddress address(AddressCheck check) {
        for (;;) {
            const IpAddress sample = address();
            if (!check(sample)) {
                return sample;
            }
        }
    }
    void value(IpAddress& out, const Address& rule) { out = address(rule.check); }
    void value(std::optional<IpAddress>& out, const Address& rule) {
        if (below(2) == 0) {
            out = address(rule.check);
        }
    }
    void value(std::vector<IpAddress>& out, const AddressList& rule) {
        for (std::uint32_t i = below(4); i > 0; --i) {
            out.push_back(address(rule.check));
        }
    }
    void value(std::string& /*out*/, const Secret&) {}  // It is never printed.
    void value(std::optional<MacAddress>& out, const HostMac&) {
        if (below(2) == 0) {
            out = MacAddress({2, 0, 0, 0, 0, static_cast<std::uint8_t>(below(256))});
        }
    }
    void value(std::optional<evpn::Esi>& out, const SegmentIdentifier&) {
        if (below(2) == 0) {
            out = evpn::Esi::arbitrary(
                {static_cast<std::uint8_t>(below(256)), 0, 0, 0, 0, 0, 0, 0, 1});
        }
    }
    void value(std::vector<RouteTargetConfig>& out, const RouteTargetList&) {
        for (std::uint32_t number = 1 + below(3); number > 0; --number) {
            const bool by_address = below(2) == 0;
            out.push_back(
                {.address = by_address ? std::optional(IpAddress::v4(10, 0, 0, 1)) : std::nullopt,
                 .as = by_address ? 0 : 1 + below(20000),
                 .number = number});
        }
    }
    template <class T>
    void value(T& out, const Part&) {
        part(out);
    }
    void value(std::map<std::string, std::string>& out, const Words&) {
        for (std::uint32_t i = below(4); i > 0; --i) {
            out[text(check_any)] = text(check_any);
        }
    }
    void value(std::vector<std::string>& out, const TextList& rule) {
        out.clear();
        for (std::uint32_t i = below(4); i > 0; --i) {
            out.push_back(text(rule.check));
        }
    }
    void value(std::vector<IpPrefix>& out, const PrefixList& rule) {
        for (std::uint32_t i = below(4); i > 0; --i) {
            const auto length = static_cast<std::uint8_t>(8 + below(121));
            const bool host = rule.form == Form::PrefixOrAddress && below(2) == 0;
            out.push_back(host ? host_prefix(address()) : IpPrefix(address(), length).network());
        }
    }
    template <class T>
    void value(std::vector<T>& out, const PartList&) {
        for (std::uint32_t i = below(4); i > 0; --i) {
            part(out.emplace_back());
        }
    }

    std::mt19937_64 random_;
};

// Rules between keys may object to a random mix; no key may be lost or changed for that.
TEST(Print, LoadsBackToAnEqualConfig) {
    int without_fault = 0;
    for (std::uint32_t seed = 0; seed < 500; ++seed) {
        const Config config = RandomConfig(seed).make();
        const std::string yaml = to_yaml(config);

        const Loaded loaded = load_text(yaml, "f");

        ASSERT_EQ(to_yaml(loaded.config), yaml) << "seed " << seed;
        ASSERT_EQ(loaded.config, config) << "seed " << seed << "\n" << yaml;
        without_fault += loaded.ok() ? 1 : 0;
    }
    EXPECT_GT(without_fault, 5);
}

TEST(Print, WritesEveryKeyOnce) {
    Config config;
    config.interfaces = {{.name = "Vlan100",
                          .hosts = {{.address = IpAddress::v4(10, 0, 0, 5),
                                     .mac = MacAddress::parse("02:00:00:00:00:05"),
                                     .port = "swp5"}}}};
    config.evpn.listen = {IpAddress::v4(10, 66, 0, 1)};
    config.evpn.peers = {{.address = IpAddress::v4(10, 66, 0, 2), .remote_as = 65000}};
    config.evpn.vrfs = {{.vrf = "default",
                         .vni = 100,
                         .route_targets = {{.as = 65000, .number = 100},
                                           {.address = IpAddress::v4(10, 66, 0, 1), .number = 7}}}};
    config.evpn.segments = {
        {.port = "bond1", .esi = evpn::Esi::parse("03:44:38:39:ff:ff:01:00:00:01").value()},
        {.port = "bond2", .system_mac = MacAddress::parse("44:38:39:ff:ff:01"), .id = 2}};

    EXPECT_EQ(to_yaml(config), R"(node:
  name: ""
  plane: ""
state_dir: /var/lib/planed
on_exit: keep
interfaces:
  - name: Vlan100
    prefixes: []
    exclude: []
    proxy_arp: routed
    proxy_nd: true
    snoop: true
    max_hosts: 16384
    hosts:
      - address: 10.0.0.5
        mac: "02:00:00:00:00:05"
        port: swp5
    unresolved: none
uplinks: []
uplinks_down: withdraw
learning:
  refresh: 30s
  probe_interval: 1s
  probe_attempts: 3
  duplicates:
    max_moves: 5
    window: 3m
    freeze: 3m
routes:
  distance: 5
  metric: 0
  nexthop: interface
  tag: 100
  add_delay: 0s
  withdraw_delay:
    silent: 0s
    port_down: 0s
  damping:
    max_flaps: 0
    window: 1m
    hold: 2m
  max_withdraw:
    share: 50%
    at_least: 16
    window: 10s
frr:
  socket: /run/frr/zserv.api
  release: auto
  route_type: babel
  stale_time: 15m
redis:
  endpoint: auto
  database_config: ""
  config_db: false
api:
  listen:
    - "unix:/run/planed/planed.sock"
  tls:
    certificate: ""
    key: ""
    client_ca: ""
metrics:
  listen: ""
plugins: []
evpn:
  router_id: ""
  local_as: 0
  listen:
    - 10.66.0.1
  listen_port: 179
  peers:
    - address: 10.66.0.2
      remote_as: 65000
      port: 179
      passive: false
      source: ""
      password: ""
      ttl_security: 0
      hold_time: 90s
      connect_retry: 5s
      description: ""
      max_prefixes: 65536
      enabled: true
  hold: 2m
  startup_delay: 30s
  df_wait: 3s
  vrfs:
    - vrf: default
      vni: 100
      route_targets:
        - "65000:100"
        - "10.66.0.1:7"
      profile: l3
  segments:
    - port: bond1
      esi: "03:44:38:39:ff:ff:01:00:00:01"
      df:
        algorithm: highest_preference
        preference: 32767
        dont_preempt: false
        ac_df: false
    - port: bond2
      system_mac: "44:38:39:ff:ff:01"
      id: 2
      df:
        algorithm: highest_preference
        preference: 32767
        dont_preempt: false
        ac_df: false
)");
}

TEST(Print, KeepsPasswordsToItself) {
    Config config;
    config.evpn.peers = {{.address = IpAddress::v4(10, 66, 0, 2), .password = "s3cret"}};

    const std::string yaml = to_yaml(config);

    EXPECT_THAT(yaml, testing::HasSubstr("      # password is set, and never printed\n"));
    EXPECT_THAT(yaml, testing::Not(testing::HasSubstr("s3cret")));
}

}  // namespace
}  // namespace planed::config
