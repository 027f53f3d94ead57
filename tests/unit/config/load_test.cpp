// SPDX-License-Identifier: Apache-2.0
#include "config/load.hpp"

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/print.hpp"
#include "unit/config/lines.hpp"

namespace planed::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// One server-facing interface, so that no warning about none distracts.
const std::string kInterface = "interfaces: [{name: swp1}]\n";

std::vector<std::string> warnings_of(std::string_view text) {
    const Loaded loaded = load_text(kInterface + std::string(text), "f");
    EXPECT_THAT(lines(loaded.faults), IsEmpty());
    return lines(loaded.warnings);
}

TEST(Load, ReadsEveryKey) {
    const Loaded loaded = load_text(R"(
node: {name: leaf-a1, plane: "A side"}
state_dir: /tmp/state
on_exit: withdraw
interfaces:
  - name: Vlan1*
    prefixes: [10.0.0.0/16, "fd00::/64"]
    exclude: [10.0.0.9, 10.0.1.0/24]
    proxy_arp: pvlan
    proxy_nd: false
    snoop: false
    max_hosts: 7
    hosts:
      - {address: 10.0.0.5, mac: "02:00:00:00:00:05", port: swp5}
      - {address: "fd00::5"}
    unresolved: reject
uplinks: [swp49, swp50]
uplinks_down: shut
learning: {refresh: 1m, probe_interval: 250ms, probe_attempts: 5, duplicates: {max_moves: 3}}
routes:
  distance: 6
  metric: 7
  nexthop: self
  tag: 4294967295
  add_delay: 1s
  withdraw_delay: {silent: 2s, port_down: 3ms}
  damping: {max_flaps: 4, window: 5s, hold: 6s}
  max_withdraw: {share: 8%, at_least: 9, window: 10s}
frr: {socket: /tmp/z, release: "10.3", route_type: openfabric, stale_time: 20s}
redis: {endpoint: "tcp:[::1]:6380", database_config: /etc/db.json, config_db: true}
api:
  listen: ["unix:/tmp/a", "10.0.0.5:50051", "[fd00::5]:50051"]
  tls: {certificate: /c, key: /k, client_ca: /a}
metrics: {listen: "[::1]:9464"}
plugins: [{path: /lib/p.so, options: {mode: strict, level: 3}}]
evpn:
  router_id: 10.66.0.1
  local_as: 4200000001
  listen: [0.0.0.0, "fd00::1"]
  listen_port: 1179
  peers:
    - {address: 10.66.0.2, remote_as: 65000}
    - {address: "fd00::2", remote_as: 7, port: 180, passive: true, source: "fd00::1",
       password: "00 b#x", ttl_security: 2, hold_time: 9s, connect_retry: 1s, description: b1,
       max_prefixes: 8, enabled: false}
  hold: 1h
  startup_delay: 1s
  df_wait: 500ms
  vrfs:
    - {vrf: Vrf-red, vni: 16777215, route_targets: ["65000:100", 4200000001:7], profile: classic}
  segments:
    - {port: bond1, system_mac: "44:38:39:ff:ff:01", id: 16777215,
       df: {algorithm: lowest_preference, preference: 0, dont_preempt: true, ac_df: true}}
)",
                                    "f");

    EXPECT_THAT(lines(loaded.faults), IsEmpty());
    EXPECT_THAT(lines(loaded.warnings), IsEmpty());
    Config want;
    want.node = {.name = "leaf-a1", .plane = "A side"};
    want.state_dir = "/tmp/state";
    want.on_exit = OnExit::Withdraw;
    want.interfaces = {
        {.name = "Vlan1*",
         .prefixes = {*IpPrefix::parse("10.0.0.0/16"), *IpPrefix::parse("fd00::/64")},
         .exclude = {*IpPrefix::parse("10.0.0.9/32"), *IpPrefix::parse("10.0.1.0/24")},
         .proxy_arp = ProxyArp::Pvlan,
         .proxy_nd = false,
         .snoop = false,
         .max_hosts = 7,
         .hosts = {{.address = IpAddress::v4(10, 0, 0, 5),
                    .mac = MacAddress::parse("02:00:00:00:00:05"),
                    .port = "swp5"},
                   {.address = *IpAddress::parse("fd00::5"), .mac = std::nullopt, .port = ""}},
         .unresolved = Unresolved::Reject}};
    want.uplinks = {"swp49", "swp50"};
    want.uplinks_down = UplinksDown::Shut;
    want.learning = {.refresh = 1min,
                     .probe_interval = 250ms,
                     .probe_attempts = 5,
                     .duplicates = {.max_moves = 3}};
    want.routes = {.distance = 6,
                   .metric = 7,
                   .nexthop = NextHopForm::Self,
                   .tag = 4294967295,
                   .add_delay = 1s,
                   .withdraw_delay = {.silent = 2s, .port_down = 3ms},
                   .damping = {.max_flaps = 4, .window = 5s, .hold = 6s},
                   .max_withdraw = {.share_percent = 8, .at_least = 9, .window = 10s}};
    want.frr = {.socket = "/tmp/z",
                .release = "10.3",
                .route_type = RouteType::Openfabric,
                .stale_time = 20s};
    want.redis = {
        .endpoint = "tcp:[::1]:6380", .database_config = "/etc/db.json", .config_db = true};
    want.api = {.listen = {"unix:/tmp/a", "10.0.0.5:50051", "[fd00::5]:50051"},
                .tls = {.certificate = "/c", .key = "/k", .client_ca = "/a"}};
    want.metrics = {.listen = "[::1]:9464"};
    want.plugins = {{.path = "/lib/p.so", .options = {{"mode", "strict"}, {"level", "3"}}}};
    want.evpn = {.router_id = IpAddress::v4(10, 66, 0, 1),
                 .local_as = 4200000001,
                 .listen = {IpAddress::v4(0, 0, 0, 0), *IpAddress::parse("fd00::1")},
                 .listen_port = 1179,
                 .peers = {{.address = IpAddress::v4(10, 66, 0, 2), .remote_as = 65000},
                           {.address = *IpAddress::parse("fd00::2"),
                            .remote_as = 7,
                            .port = 180,
                            .passive = true,
                            .source = IpAddress::parse("fd00::1"),
                            .password = "00 b#x",
                            .ttl_security = 2,
                            .hold_time = 9s,
                            .connect_retry = 1s,
                            .description = "b1",
                            .max_prefixes = 8,
                            .enabled = false}}};
    want.evpn.hold = 1h;
    want.evpn.startup_delay = 1s;
    want.evpn.df_wait = 500ms;
    want.evpn.vrfs = {
        {.vrf = "Vrf-red",
         .vni = 16777215,
         .route_targets = {{.as = 65000, .number = 100}, {.as = 4200000001, .number = 7}},
         .profile = EvpnProfile::Classic}};
    want.evpn.segments = {{.port = "bond1",
                           .system_mac = MacAddress::parse("44:38:39:ff:ff:01"),
                           .id = 16777215,
                           .df = {.algorithm = evpn::DfAlgorithm::LowestPreference,
                                  .preference = 0,
                                  .dont_preempt = true,
                                  .ac_df = true}}};
    EXPECT_EQ(loaded.config, want) << to_yaml(loaded.config);
}

TEST(Load, TakesDefaultsForWhatIsNotWritten) {
    for (const char* text :
         {"", "# nothing\n", "{}", "---\n", "node:\nroutes: {}\ninterfaces:\n"}) {
        const Loaded loaded = load_text(text, "f");

        EXPECT_THAT(lines(loaded.faults), IsEmpty()) << text;
        EXPECT_EQ(loaded.config, Config{}) << text;
    }
}

TEST(Load, TakesJson) {
    const Loaded loaded = load_text(
        "{\n\t\"node\":{\"plane\":\"A\\/b\"},\"routes\":{\"distance\":7,\"add_delay\":\"2s\"},\n"
        "\t\"interfaces\":[{\"name\":\"swp*\",\"proxy_nd\":false}]\n}\n",
        "f");

    EXPECT_THAT(lines(loaded.faults), IsEmpty());
    EXPECT_EQ(loaded.config.node.plane, "A/b");
    EXPECT_EQ(loaded.config.routes.distance, 7);
    EXPECT_EQ(loaded.config.routes.add_delay, 2s);
    EXPECT_EQ(loaded.config.interfaces[0].name, "swp*");
    EXPECT_FALSE(loaded.config.interfaces[0].proxy_nd);
}

TEST(Load, TakesAnchorsAndAliases) {
    const Loaded loaded = load_text(
        "interfaces:\n"
        "  - {name: swp1, prefixes: &rail [10.0.0.0/16]}\n"
        "  - {name: swp2, prefixes: *rail}\n",
        "f");

    EXPECT_THAT(lines(loaded.faults), IsEmpty());
    EXPECT_EQ(loaded.config.interfaces[1].prefixes, loaded.config.interfaces[0].prefixes);
    EXPECT_EQ(loaded.config.interfaces[1].prefixes.size(), 1U);
}

TEST(Load, RemembersWhereEachKeyWasWritten) {
    const Loaded loaded = load_text("routes:\n  tag: 5\ninterfaces:\n  - name: swp1\n", "f");

    const Places want{{"routes", {.line = 2, .column = 3}},
                      {"routes.tag", {.line = 2, .column = 8}},
                      {"interfaces", {.line = 4, .column = 3}},
                      {"interfaces[0]", {.line = 4, .column = 5}},
                      {"interfaces[0].name", {.line = 4, .column = 11}}};
    EXPECT_EQ(loaded.written, want);
}

TEST(Load, GathersAllFaultsInTheOrderOfTheFile) {
    EXPECT_THAT(faults_of("node:\n"
                          "  nam: leaf\n"
                          "on_exit: stay\n"
                          "interfaces:\n"
                          "  - proxy_arp: maybe\n"
                          "    snoop: 3\n"
                          "routes: {tag: x, distance: 0}\n"),
                ElementsAre("f:2:3: node.nam: is no key of planed (did you mean name?)",
                            "f:3:10: on_exit: must be keep or withdraw, not \"stay\"",
                            "f:5:5: interfaces[0]: lacks the key name",
                            "f:5:16: interfaces[0].proxy_arp: must be off, routed or pvlan, not "
                            "\"maybe\"",
                            "f:6:12: interfaces[0].snoop: must be true or false, not \"3\"",
                            "f:7:15: routes.tag: must be a whole number from 0 to 4294967295, not "
                            "\"x\"",
                            "f:7:28: routes.distance: must be a whole number from 1 to 255, not "
                            "\"0\""));
}

TEST(Load, KeepsNoWarningBesideFaults) {
    EXPECT_THAT(load_text("routes: {distance: 30, tag: x}", "f").warnings, IsEmpty());
}

TEST(Load, ChoosesTheNextHopByConfigDbUnlessWritten) {
    const auto nexthop = [](std::string_view text) {
        return load_text(text, "f").config.routes.nexthop;
    };

    EXPECT_EQ(nexthop(""), NextHopForm::Interface);
    EXPECT_EQ(nexthop("redis: {config_db: true}"), NextHopForm::Self);
    EXPECT_EQ(nexthop("redis: {config_db: true}\nroutes: {nexthop: interface}"),
              NextHopForm::Interface);
    EXPECT_EQ(nexthop("redis: {config_db: false}"), NextHopForm::Interface);
    EXPECT_EQ(nexthop("routes: {nexthop: self}"), NextHopForm::Self);
}

TEST(LoadFile, SaysWhyAFileCannotBeRead) {
    EXPECT_THAT(
        lines(load_file("/nonexistent/planed.yaml").faults),
        ElementsAre("/nonexistent/planed.yaml:1:1: cannot be read: No such file or directory"));
    EXPECT_THAT(lines(load_file("/").faults), ElementsAre("/:1:1: cannot be read: Is a directory"));
}

TEST(LoadFile, NamesTheFileInItsFaults) {
    const std::string path = testing::TempDir() + fmt::format("planed_load_{}.yaml", ::getpid());
    std::ofstream(path) << "on_exit: keep\nfoo: 1\n";

    const Loaded loaded = load_file(path);

    EXPECT_THAT(lines(loaded.faults), ElementsAre(path + ":2:1: foo: is no key of planed"));
    EXPECT_EQ(std::remove(path.c_str()), 0);
}

// A file with exactly one thing wrong, and the one line that says so.
struct Wrong {
    std::string text;
    std::string fault;
};

void PrintTo(const Wrong& wrong, std::ostream* out) {
    *out << wrong.fault;
}

class LoadWrong : public testing::TestWithParam<Wrong> {};

TEST_P(LoadWrong, GivesOneLine) {
    EXPECT_THAT(faults_of(GetParam().text), ElementsAre("f:" + GetParam().fault))
        << GetParam().text;
}

std::vector<Wrong> wrong_yaml() {
    return {
        {"node: {name: a", "1:15: is not YAML: end of map flow not found"},
        {"node:\n  name: a\n bad: x\n", "3:2: is not YAML: end of map not found"},
        {"node: *a", "1:7: is not YAML: the referenced anchor is not defined"},
        {"node: {name: \"\\q\"}", "1:17: is not YAML: unknown escape character: q"},
        {"- a\n", "1:1: must be a map of keys, not a list"},
        {"hello", "1:1: must be a map of keys, not \"hello\""},
        {"node: {}\n---\nnode: {}\n", "2:1: a second document begins; there may be only one"},
        {"node: &a {name: *a}\n", "1:17: an alias points at nothing that is complete before it"},
        {"node: !x {}", "1:7: the tag !x is not supported"},
        {"node: {name: !!str x}", "1:14: the tag tag:yaml.org,2002:str is not supported"},
        {"a: \xff", "1:4: is not UTF-8 text"},
        {"ä: 1\nnode: {plane: \xc0\x80}", "2:15: is not UTF-8 text"},
        {std::string("on_exit: keep\0", 14), "1:14: is not UTF-8 text"},
        {"node: {plane: \xed\xa0\x80}", "1:15: is not UTF-8 text"},
        {"? [a, b]\n: 1", "1:3: a key must be text, not a list"},
    };
}

std::vector<Wrong> wrong_keys() {
    return {
        {"statedir: /x", "1:1: statedir: is no key of planed (did you mean state_dir?)"},
        {"distance: 5", "1:1: distance: is no key of planed here (did you mean routes.distance?)"},
        {"node: {on_exit: keep}",
         "1:8: node.on_exit: is no key of planed here (it belongs at the top level)"},
        {"xyzzy: 1", "1:1: xyzzy: is no key of planed"},
        {"? \"a\\nb\"\n: 1", "1:3: \"a\\x0ab\": is no key of planed"},
        {"node: {<<: {name: a}}", "1:8: node.\"<<\": is no key of planed"},
        {"on_exit: keep\non_exit: keep", "2:1: on_exit: is written twice, first in line 1"},
        {"evpn: {local_asn: 65000}",
         "1:8: evpn.local_asn: is no key of planed (did you mean local_as?)"},
        {"evpn: {router_id: 10.66.0.1, local_as: 1, peers: [{address: 10.66.0.2}]}",
         "1:51: evpn.peers[0]: lacks the key remote_as"},
        {"evpn: {router_id: 10.66.0.1, local_as: 1, peers: [{remote_as: 1}]}",
         "1:51: evpn.peers[0]: lacks the key address"},
        {"routes: {withdraw_delay: {port-down: 1s}}",
         "1:27: routes.withdraw_delay.port-down: is no key of planed (did you mean port_down?)"},
        {"plugins: [{options: {}}]", "1:11: plugins[0]: lacks the key path"},
        {"interfaces: [{name: a, hosts: [{port: b}]}]",
         "1:32: interfaces[0].hosts[0]: lacks the key address"},
    };
}

std::vector<Wrong> wrong_types() {
    return {
        {"node: leaf", "1:7: node: must be a map of keys, not \"leaf\""},
        {"node: [a]", "1:7: node: must be a map of keys, not a list"},
        {"node: {name: [a]}", "1:14: node.name: must be text, not a list"},
        {"node:\n  name:\n  plane: A\n", "2:3: node.name: must be text, not nothing"},
        {"state_dir: {}", "1:12: state_dir: must be text, not a map"},
        {"interfaces: {name: a}", "1:13: interfaces: must be a list, not a map"},
        {"interfaces: [swp1]", "1:14: interfaces[0]: must be a map of keys, not \"swp1\""},
        {"uplinks: swp1", "1:10: uplinks: must be a list, not \"swp1\""},
        {"uplinks: [[a]]", "1:11: uplinks[0]: must be text, not a list"},
        {"on_exit: [keep]", "1:10: on_exit: must be keep or withdraw, not a list"},
        {"redis: {config_db: []}", "1:20: redis.config_db: must be true or false, not a list"},
        {"redis: {config_db: yes}",
         "1:20: redis.config_db: must be true or false, not \"yes\" (did you mean true?)"},
        {"redis: {config_db: \"false\"}",
         "1:20: redis.config_db: must be true or false, not \"false\" (did you mean false?)"},
        {"routes: {tag: {}}",
         "1:15: routes.tag: must be a whole number from 0 to 4294967295, not a map"},
        {"routes: {tag: \"5\"}",
         "1:15: routes.tag: must be a whole number from 0 to 4294967295, not \"5\", in quotes"},
        {"routes: {add_delay: [1s]}",
         "1:21: routes.add_delay: must be a duration such as 900ms, 30s or 5m, not a list"},
        {"plugins: [{path: /a, options: [a]}]",
         "1:31: plugins[0].options: must be a map of keys, not a list"},
        {"plugins: [{path: /a, options: {a: [b]}}]",
         "1:35: plugins[0].options.a: must be text, not a list"},
        {"evpn: []", "1:7: evpn: must be a map of keys, not a list"},
    };
}

std::vector<Wrong> wrong_numbers() {
    const std::string distance = "routes.distance: must be a whole number from 1 to 255, not ";
    const std::string share =
        "routes.max_withdraw.share: must be a percentage from 0% to 100%, not ";
    std::vector<Wrong> wrong;
    for (const char* text :
         {"0", "256", "-1", "+5", "1.5", "05", "0x5", "1e1", "five", "4294967297"}) {
        wrong.push_back({fmt::format("routes: {{distance: {}}}", text),
                         fmt::format("1:20: {}\"{}\"", distance, text)});
    }
    for (const char* text : {"half", "101%", "-1%", "0.5", "%", "05%", "50 %"}) {
        wrong.push_back({fmt::format("routes: {{max_withdraw: {{share: '{}'}}}}", text),
                         fmt::format("1:32: {}\"{}\"", share, text)});
    }
    wrong.push_back({"routes: {max_withdraw: {share: 50}}",
                     fmt::format("1:32: {}\"50\" (did you mean 50%?)", share)});
    wrong.push_back({"routes: {metric: 4294967296}",
                     "1:18: routes.metric: must be a whole number from 0 to 4294967295, not "
                     "\"4294967296\""});
    wrong.push_back({"interfaces: [{name: a, max_hosts: 0}]",
                     "1:35: interfaces[0].max_hosts: must be a whole number from 1 to 131072, not "
                     "\"0\""});
    wrong.push_back({"learning: {probe_attempts: 0}",
                     "1:28: learning.probe_attempts: must be a whole number from 1 to 100, not "
                     "\"0\""});
    return wrong;
}

std::vector<Wrong> wrong_durations() {
    const std::string form =
        "must be a duration such as 900ms, 30s or 5m (units: us, ms, s, m, h), not ";
    return {
        {"routes: {add_delay: 5}", "1:21: routes.add_delay: " + form + "\"5\" (did you mean 5s?)"},
        {"routes: {add_delay: 1m30s}", "1:21: routes.add_delay: " + form + "\"1m30s\""},
        {"routes: {add_delay: -1s}", "1:21: routes.add_delay: " + form + "\"-1s\""},
        {"routes: {add_delay: soon}", "1:21: routes.add_delay: " + form + "\"soon\""},
        {"routes: {add_delay: 61m}", "1:21: routes.add_delay: must be from 0s to 1h, not \"61m\""},
        {"learning: {refresh: 0s}", "1:21: learning.refresh: must be from 1s to 24h, not \"0s\""},
        {"frr: {stale_time: 2500ms}",
         "1:19: frr.stale_time: must be in steps of 1s, not \"2500ms\""},
    };
}

std::vector<Wrong> wrong_texts() {
    const std::string a15(15, 'a');
    return {
        {"state_dir: var/lib", "1:12: state_dir: must be an absolute path, not \"var/lib\""},
        {"state_dir: ''", "1:12: state_dir: must be an absolute path, not \"\""},
        {"node: {name: a b}", "1:14: node.name: must be one word, without spaces"},
        {"node: {plane: \"a\\u0007b\"}", "1:15: node.plane: has a control character: \"a\\x07b\""},
        {"node: {plane: \"a\\N\"}", "1:15: node.plane: is not UTF-8 text: \"a\\x85\""},
        {"node: {plane: " + std::string(65, 'p') + "}",
         "1:15: node.plane: is 65 characters long; 64 fit"},
        {"frr: {socket: zserv.api}",
         "1:15: frr.socket: must be an absolute path, not \"zserv.api\""},
        {"frr: {socket: /" + std::string(107, 's') + "}",
         "1:15: frr.socket: is 108 characters long; 107 fit"},
        {"frr: {release: 10.3.1}",
         "1:16: frr.release: must be auto or one of 8.4, 8.5, 9.0, 9.1, 10.0, 10.1, 10.2, 10.3, "
         "10.4, 10.5, 10.6, 10.7, not \"10.3.1\" (did you mean 10.3?)"},
        {"frr: {release: \"7.5\"}",
         "1:16: frr.release: must be auto or one of 8.4, 8.5, 9.0, 9.1, 10.0, 10.1, 10.2, 10.3, "
         "10.4, 10.5, 10.6, 10.7, not \"7.5\""},
        {"frr: {route_type: bable}",
         "1:19: frr.route_type: must be babel, openfabric, table or sharp, not \"bable\" (did you "
         "mean babel?)"},
        {"interfaces: [{name: " + a15 + "a}]",
         "1:21: interfaces[0].name: \"" + a15 +
             "a\" is 16 characters long; an interface name has at most 15"},
        {"interfaces: [{name: ''}]", "1:21: interfaces[0].name: must name an interface"},
        {"interfaces: [{name: a/b}]",
         "1:21: interfaces[0].name: must be an interface name, which has no space, / or :, not "
         "\"a/b\""},
        {"interfaces: [{name: ..}]",
         "1:21: interfaces[0].name: must be an interface name, which has no space, / or :, not "
         "\"..\""},
        {"interfaces: [{name: 'swp 1*'}]",
         "1:21: interfaces[0].name: must be a glob for interface names, which have no space, not "
         "\"swp 1*\""},
        {"interfaces: [{name: 'eth0:*'}]",
         "1:21: interfaces[0].name: must be a glob for interface names, which have no / or :, not "
         "\"eth0:*\""},
        {"interfaces: [{name: 'swp[1'}]",
         "1:21: interfaces[0].name: \"swp[1\" has a [ that no ] closes"},
        {"interfaces: [{name: 'swp[[:digit:]]'}]",
         "1:21: interfaces[0].name: \"swp[[:digit:]]\" classes such as [:digit:] are not "
         "supported, write [0-9]"},
        {"interfaces: [{name: '" + a15 + "?'}]",
         "1:21: interfaces[0].name: \"" + a15 +
             "?\" can match nothing: an interface name has at most 15 characters"},
        {"interfaces: [{name: '" + std::string(65, '*') + "'}]",
         "1:21: interfaces[0].name: is 65 characters long; 64 fit"},
        {"uplinks: ['swp[']", "1:11: uplinks[0]: \"swp[\" has a [ that no ] closes"},
        {"uplinks: [a, b, a]", "1:17: uplinks[2]: is listed twice, first in line 1"},
        {"plugins: [{path: a.so}]",
         "1:18: plugins[0].path: must be an absolute path, not \"a.so\""},
        {"redis: {database_config: db.json}",
         "1:26: redis.database_config: must be an absolute path, not \"db.json\""},
    };
}

std::vector<Wrong> wrong_endpoints() {
    const std::string redis =
        "1:19: redis.endpoint: must be auto, off, unix:PATH, tcp:HOST:PORT or "
        "tcp:[ADDRESS]:PORT, not ";
    const std::string listen =
        "1:16: api.listen[0]: must be unix:PATH, ADDRESS:PORT or [ADDRESS]:PORT, not ";
    std::vector<Wrong> wrong;
    for (const char* text : {"",
                             "on",
                             "127.0.0.1:6379",
                             "tcp:127.0.0.1",
                             "tcp:127.0.0.1:0",
                             "tcp:127.0.0.1:65536",
                             "tcp:127.0.0.1:x",
                             "tcp:::1:6379",
                             "tcp:[127.0.0.1]:6379",
                             "tcp::6379",
                             "tcp:a b:1"}) {
        wrong.push_back(
            {fmt::format("redis: {{endpoint: '{}'}}", text), fmt::format("{}\"{}\"", redis, text)});
    }
    for (const char* text :
         {"50051", ":50051", "localhost:50051", "::1:50051", "[10.0.0.1]:5", "10.0.0.1:080", ""}) {
        wrong.push_back(
            {fmt::format("api: {{listen: ['{}']}}", text), fmt::format("{}\"{}\"", listen, text)});
    }
    for (const char* text : {"9464", "localhost:9464", "unix:/a", "::1:9464", "127.0.0.1:0"}) {
        wrong.push_back(
            {fmt::format("metrics: {{listen: '{}'}}", text),
             fmt::format("1:19: metrics.listen: must be ADDRESS:PORT or [ADDRESS]:PORT, not "
                         "\"{}\"",
                         text)});
    }
    wrong.push_back({"redis: {endpoint: 'unix:redis.sock'}",
                     "1:19: redis.endpoint: must be an absolute path, not \"redis.sock\""});
    wrong.push_back({"api: {listen: ['unix:a.sock']}",
                     "1:16: api.listen[0]: must be an absolute path, not \"a.sock\""});
    return wrong;
}

std::vector<Wrong> wrong_addresses() {
    const std::string prefixes = "interfaces: [{name: a, prefixes: [";
    const std::string exclude = "interfaces: [{name: a, exclude: [";
    const std::string host = "interfaces: [{name: a, hosts: [{address: ";
    std::vector<Wrong> wrong{
        {prefixes + "10.0.0.1/16]}]",
         "1:35: interfaces[0].prefixes[0]: 10.0.0.1/16 has host bits set (did you mean "
         "10.0.0.0/16?)"},
        {prefixes + "10.0.0.5]}]",
         "1:35: interfaces[0].prefixes[0]: must be a prefix such as 10.0.0.0/16, not \"10.0.0.5\" "
         "(did you mean 10.0.0.5/32?)"},
        {prefixes + "10.0.0.0/33]}]",
         "1:35: interfaces[0].prefixes[0]: must be a prefix such as 10.0.0.0/16, not "
         "\"10.0.0.0/33\""},
        {prefixes + "10.0.0.0/8, 10.0.0.0/8]}]",
         "1:47: interfaces[0].prefixes[1]: is listed twice, first in line 1"},
        {exclude + "fd00::1/64]}]",
         "1:34: interfaces[0].exclude[0]: fd00::1/64 has host bits set (did you mean fd00::/64?)"},
        {exclude + "here]}]",
         "1:34: interfaces[0].exclude[0]: must be a prefix or an address, not \"here\""},
        {exclude + "10.0.0.5, 10.0.0.5/32]}]",
         "1:44: interfaces[0].exclude[1]: is listed twice, first in line 1"},
        {host + "10.0.0}]}]",
         "1:42: interfaces[0].hosts[0].address: must be an address, not \"10.0.0\""},
        {host + "10.0.0.5/32}]}]",
         "1:42: interfaces[0].hosts[0].address: must be an address, not \"10.0.0.5/32\""},
        {host + "0.0.0.0}]}]",
         "1:42: interfaces[0].hosts[0].address: 0.0.0.0 is the unspecified address"},
        {host + "224.0.0.1}]}]",
         "1:42: interfaces[0].hosts[0].address: 224.0.0.1 is a multicast address"},
        {host + "fe80::1}]}]",
         "1:42: interfaces[0].hosts[0].address: fe80::1 is link-local, which is never routed"},
        {host + "127.0.0.1}]}]",
         "1:42: interfaces[0].hosts[0].address: 127.0.0.1 is a loopback address"},
        {host + "255.255.255.255}]}]",
         "1:42: interfaces[0].hosts[0].address: 255.255.255.255 is in the reserved 240.0.0.0/4"},
        {host + "10.0.0.5, mac: 02-00-00-00-00-05}]}]",
         "1:57: interfaces[0].hosts[0].mac: must be a MAC address such as 02:00:00:00:00:05, not "
         "\"02-00-00-00-00-05\""},
        {host + "10.0.0.5, mac: 01:00:5e:00:00:05}]}]",
         "1:57: interfaces[0].hosts[0].mac: 01:00:5e:00:00:05 is no single device's MAC address"},
        {host + "10.0.0.5, port: a/b}]}]",
         "1:58: interfaces[0].hosts[0].port: must be an interface name, which has no space, / or "
         ":, not \"a/b\""},
    };
    for (const char* text : {"224.0.0.0/4",
                             "169.254.0.0/16",
                             "169.254.7.0/24",
                             "127.0.0.0/8",
                             "240.0.0.0/5",
                             "224.0.0.0/3",
                             "fe80::/10",
                             "fe80::/64",
                             "ff00::/8",
                             "::1/128",
                             "0.0.0.0/32"}) {
        wrong.push_back(
            {prefixes + text + "]}]",
             fmt::format("1:35: interfaces[0].prefixes[0]: {} has no address that a host could own",
                         text)});
    }
    return wrong;
}

std::vector<Wrong> wrong_together() {
    return {
        {"interfaces:\n  - {name: swp1}\n  - {name: swp2}\n  - {name: swp1}\n",
         "4:12: interfaces[2].name: \"swp1\" is already interfaces[0], in line 2"},
        {"interfaces:\n  - {name: swp*}\n  - {name: swp*}\n",
         "3:12: interfaces[1].name: \"swp*\" is already interfaces[0], in line 2"},
        {"interfaces:\n  - {name: Eth1*}\n  - {name: Eth*1}\n",
         "3:12: interfaces[1].name: \"Eth*1\" and \"Eth1*\" (interfaces[0]) can match the same "
         "interface, and neither is the more specific"},
        {"interfaces: [{name: a, prefixes: [10.0.0.0/16], hosts: [{address: 10.1.0.5}]}]",
         "1:67: interfaces[0].hosts[0].address: 10.1.0.5 is outside of interfaces[0].prefixes"},
        {"interfaces: [{name: a, exclude: [10.1.0.0/16], hosts: [{address: 10.1.0.5}]}]",
         "1:66: interfaces[0].hosts[0].address: 10.1.0.5 is in interfaces[0].exclude"},
        {"interfaces: [{name: a, hosts: [{address: 10.0.0.5}, {address: 10.0.0.5}]}]",
         "1:63: interfaces[0].hosts[1].address: 10.0.0.5 is already interfaces[0].hosts[0]"},
        {"interfaces: [{name: a, max_hosts: 1, hosts: [{address: 10.0.0.5}, {address: 10.0.0.6}]}]",
         "1:45: interfaces[0].hosts: has 2 hosts, more than max_hosts 1"},
        {"interfaces: [{name: swp1}]\nuplinks: [swp2, swp1]",
         "2:17: uplinks[1]: \"swp1\" is also a server-facing interface: interfaces[0] (\"swp1\")"},
        {"interfaces: [{name: swp*}]\nuplinks: [swp1]",
         "2:11: uplinks[0]: \"swp1\" is also a server-facing interface: interfaces[0] (\"swp*\")"},
        {"interfaces: [{name: swp5}]\nuplinks: ['swp*']",
         "2:11: uplinks[0]: \"swp*\" is also a server-facing interface: interfaces[0] (\"swp5\")"},
        {"interfaces: [{name: a}, {name: swp*}]\nuplinks: ['*1']",
         "2:11: uplinks[0]: \"*1\" is also a server-facing interface: interfaces[1] (\"swp*\")"},
        {"redis: {endpoint: off, config_db: true}",
         "1:35: redis.config_db: needs Redis, but redis.endpoint is off"},
        {"api: {listen: ['127.0.0.1:5']}",
         "1:16: api.listen[0]: \"127.0.0.1:5\" needs api.tls.certificate and api.tls.key: only a "
         "unix socket goes without TLS"},
        {"api: {listen: ['[::1]:5'], tls: {client_ca: /a}}",
         "1:16: api.listen[0]: \"[::1]:5\" needs api.tls.certificate and api.tls.key: only a unix "
         "socket goes without TLS"},
        {"api: {tls: {certificate: /c}}",
         "1:26: api.tls.certificate: is useless without api.tls.key"},
        {"api: {tls: {key: /k}}", "1:18: api.tls.key: is useless without api.tls.certificate"},
    };
}

INSTANTIATE_TEST_SUITE_P(Yaml, LoadWrong, testing::ValuesIn(wrong_yaml()));
INSTANTIATE_TEST_SUITE_P(Keys, LoadWrong, testing::ValuesIn(wrong_keys()));
INSTANTIATE_TEST_SUITE_P(Types, LoadWrong, testing::ValuesIn(wrong_types()));
INSTANTIATE_TEST_SUITE_P(Numbers, LoadWrong, testing::ValuesIn(wrong_numbers()));
INSTANTIATE_TEST_SUITE_P(Durations, LoadWrong, testing::ValuesIn(wrong_durations()));
INSTANTIATE_TEST_SUITE_P(Texts, LoadWrong, testing::ValuesIn(wrong_texts()));
INSTANTIATE_TEST_SUITE_P(Endpoints, LoadWrong, testing::ValuesIn(wrong_endpoints()));
INSTANTIATE_TEST_SUITE_P(Addresses, LoadWrong, testing::ValuesIn(wrong_addresses()));
INSTANTIATE_TEST_SUITE_P(Together, LoadWrong, testing::ValuesIn(wrong_together()));

// What looks odd and is right.
TEST(Load, TakesWhatAnOperatorMayWrite) {
    const std::vector<std::string> right{
        "frr: {release: 10.3}",
        "frr: {release: \"8.4\"}",
        "node: {name: 7, plane: true}",
        "redis: {config_db: True}",
        "redis: {endpoint: off}",
        "redis: {endpoint: 'unix:/run/redis/redis.sock'}",
        "redis: {endpoint: 'tcp:redis-1.example:6379'}",
        "interfaces: [{name: swp1, proxy_arp: off}]",
        "interfaces: [{name: abcdefghijklmno}]",
        "interfaces: [{name: 'Ethernet[0-9][0-9]'}]",
        "interfaces: [{name: a, prefixes: [0.0.0.0/0, '::/0']}]",
        "interfaces: [{name: a, prefixes: [10.0.0.0/16]}, {name: b, prefixes: [10.0.0.0/24]}]",
        "interfaces: [{name: a, exclude: [224.0.0.0/4, 10.0.0.1]}]",
        "interfaces: [{name: 'Vlan*'}, {name: 'Vlan1*'}, {name: Vlan100}]",
        "interfaces: [{name: 'Eth*0'}, {name: 'Eth*1'}]",
        "interfaces: [{name: 'swp[1-4]'}]\nuplinks: [swp5, 'eth*']",
        "routes: {max_withdraw: {share: 0%}}",
        "evpn:",
        "# BOM and line ends of another system\r\non_exit: keep\r\n",
        "\xef\xbb\xbfon_exit: keep\n",
        "node: {plane: \"Ebene ä\"}",
        "---\non_exit: keep\n...\n",
    };

    for (const std::string& text : right) {
        EXPECT_THAT(faults_of(text), IsEmpty()) << text;
    }
}

TEST(LoadWarnings, NameWhatWorksButHardlyAsMeant) {
    EXPECT_THAT(lines(load_text("", "f").warnings),
                ElementsAre("f:1:1: interfaces: is empty: no interface is managed, no host becomes "
                            "a route"));
    EXPECT_THAT(warnings_of("routes: {distance: 19}"), IsEmpty());
    EXPECT_THAT(
        warnings_of("routes: {distance: 20}"),
        ElementsAre("f:2:20: routes.distance: 20 does not beat eBGP's 20: a leaf that hears "
                    "of a host by BGP first will not announce it itself"));
    EXPECT_THAT(
        warnings_of("routes: {distance: 255}"),
        ElementsAre("f:2:20: routes.distance: 255 means unreachable to zebra: no route will "
                    "be used"));
    EXPECT_THAT(warnings_of("routes: {tag: 0}"),
                ElementsAre("f:2:15: routes.tag: 0 is no tag: route-maps cannot match on it"));
    EXPECT_THAT(warnings_of("uplinks_down: shut"),
                ElementsAre("f:2:15: uplinks_down: has no effect: uplinks is empty"));
    EXPECT_THAT(warnings_of("learning: {refresh: 3s}"),
                ElementsAre("f:2:21: learning.refresh: 3s is over before 3 probes, 1s apart, are"));
    EXPECT_THAT(warnings_of("api: {listen: []}"),
                ElementsAre("f:2:15: api.listen: is empty: planectl cannot reach this planed"));
    EXPECT_THAT(warnings_of("api: {tls: {certificate: /c, key: /k}}"),
                ElementsAre("f:2:12: api.tls: has no effect: no api.listen is a TCP address"));
    EXPECT_THAT(warnings_of("metrics: {listen: '127.0.0.1:9464'}"), IsEmpty());
    EXPECT_THAT(warnings_of("metrics: {listen: '[::1]:9464'}"), IsEmpty());
    EXPECT_THAT(warnings_of("metrics: {listen: '10.0.0.5:9464'}"),
                ElementsAre("f:2:19: metrics.listen: \"10.0.0.5:9464\" is no loopback address: "
                            "whoever reaches it may read the metrics"));
    EXPECT_THAT(warnings_of("metrics: {listen: '[::]:9464'}"), SizeIs(1));
}

TEST(LoadWarnings, NameExclusionsThatExcludeNothingOrAll) {
    const Loaded loaded = load_text(
        "interfaces:\n"
        "  - name: a\n"
        "    prefixes: [10.0.0.0/16, 10.1.0.0/24]\n"
        "    exclude: [10.0.0.0/24, 10.1.0.0/16, 10.2.0.1]\n",
        "f");

    EXPECT_THAT(lines(loaded.warnings),
                ElementsAre("f:3:29: interfaces[0].prefixes[1]: nothing is left of 10.1.0.0/24: "
                            "10.1.0.0/16 is excluded",
                            "f:4:41: interfaces[0].exclude[2]: 10.2.0.1/32 excludes nothing: it is "
                            "outside of interfaces[0].prefixes"));
}

TEST(LoadWarnings, NameAHostOnTwoInterfaces) {
    const Loaded loaded = load_text(
        "interfaces:\n"
        "  - {name: a, hosts: [{address: 10.0.0.5}]}\n"
        "  - {name: b, hosts: [{address: 10.0.0.5}]}\n",
        "f");

    EXPECT_THAT(lines(loaded.warnings),
                ElementsAre("f:3:33: interfaces[1].hosts[0].address: 10.0.0.5 is also a host of "
                            "interfaces[0]; in one VRF only one of them can hold the route"));
}

}  // namespace
}  // namespace planed::config
