// SPDX-License-Identifier: Apache-2.0
#include "config/config_db.hpp"

#include <string>
#include <string_view>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.hpp"
#include "unit/config/evpn_text.hpp"

namespace planed::config {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

Config file(std::string_view text) {
    const Loaded loaded = load_text(text, "f");
    EXPECT_TRUE(loaded.ok()) << to_string(loaded.faults.front());
    return loaded.config;
}

Config file() {
    return file("redis: {config_db: true}\nroutes: {tag: 7, metric: 3}\n");
}

Merged merged(const DbRows& rows, const Config& base = file()) {
    return merge(base, rows, {});
}

/// The reason why the only refused row is; else what was refused, so that a test shows it.
std::string reason(const Merged& merged) {
    if (merged.refused.size() == 1) {
        return merged.refused.front().reason;
    }
    std::string text = fmt::format("{} rows", merged.refused.size());
    for (const RefusedRow& row : merged.refused) {
        text += fmt::format("; {}|{}: {}", row.table, row.key, row.reason);
    }
    return text;
}

std::string reason_of_interface(const std::string& key, const DbFields& fields) {
    return reason(merged({{"PLANED_INTERFACE", {{key, fields}}}}));
}

std::string reason_of_global(const DbFields& fields) {
    return reason(merged({{"PLANED", {{"global", fields}}}}));
}

std::vector<std::string> names_of(const Config& config) {
    std::vector<std::string> names;
    for (const InterfaceConfig& entry : config.interfaces) {
        names.push_back(entry.name);
    }
    return names;
}

// PLANED ------------------------------------------------------------------------------------------

TEST(ConfigDb, WithoutRowsIsTheFile) {
    const Config base = file();

    const Merged result = merge(base, {}, {});

    EXPECT_EQ(result.config, base);
    EXPECT_THAT(result.refused, IsEmpty());
    EXPECT_THAT(result.in_effect, IsEmpty());
}

TEST(ConfigDb, IsWhereInterfacesMayBeThatTheFileLacks) {
    EXPECT_THAT(load_text("redis: {config_db: true}", "f").warnings, IsEmpty());
    EXPECT_THAT(load_text("redis: {config_db: false}", "f").warnings, SizeIs(1));
}

TEST(ConfigDb, GlobalRowLaysEveryFieldOverTheFile) {
    const DbFields fields{{"plane", "A"},
                          {"on_exit", "withdraw"},
                          {"uplinks@", "swp1,swp3*"},
                          {"uplinks_down", "shut"},
                          {"refresh", "20s"},
                          {"probe_interval", "500ms"},
                          {"probe_attempts", "4"},
                          {"distance", "9"},
                          {"metric", "11"},
                          {"nexthop", "interface"},
                          {"add_delay", "2s"},
                          {"withdraw_delay_silent", "3s"},
                          {"withdraw_delay_port_down", "4s"},
                          {"max_flaps", "6"},
                          {"flap_window", "70s"},
                          {"flap_hold", "80s"}};
    Config wanted = file();
    wanted.node.plane = "A";
    wanted.on_exit = OnExit::Withdraw;
    wanted.uplinks = {"swp1", "swp3*"};
    wanted.uplinks_down = UplinksDown::Shut;
    wanted.learning.refresh = 20s;
    wanted.learning.probe_interval = 500ms;
    wanted.learning.probe_attempts = 4;
    wanted.routes.distance = 9;
    wanted.routes.metric = 11;
    wanted.routes.nexthop = NextHopForm::Interface;
    wanted.routes.add_delay = 2s;
    wanted.routes.withdraw_delay = {.silent = 3s, .port_down = 4s};
    wanted.routes.damping = {.max_flaps = 6, .window = 70s, .hold = 80s};

    const Merged result = merged({{"PLANED", {{"global", fields}}}});

    EXPECT_EQ(reason(result), "0 rows");
    EXPECT_EQ(result.config, wanted);  // The tag is still the file's.
    EXPECT_EQ(result.in_effect, (DbRows{{"PLANED", {{"global", fields}}}}));
}

TEST(ConfigDb, RefusesAWrongGlobalRowWithTheFieldsName) {
    EXPECT_EQ(reason_of_global({{"distance", "0"}}),
              "distance: must be a whole number from 1 to 255, not \"0\"");
    EXPECT_EQ(reason_of_global({{"flap_hold", "9"}}),
              "flap_hold: must be a duration such as 900ms, 30s or 5m (units: us, ms, s, m, h), "
              "not \"9\" (did you mean 9s?)");
    EXPECT_EQ(reason_of_global({{"uplinks@", "swp1,,swp2"}}), "uplinks@: must name an interface");
    EXPECT_EQ(reason_of_global({{"uplinks@", "swp1,swp1"}}), "uplinks@: is listed twice");
    EXPECT_EQ(reason_of_global({{"uplinks", "swp1"}}),
              "\"uplinks\" is no field of PLANED (did you mean uplinks@?)");
    EXPECT_EQ(reason_of_global({{"routes.tag", "5"}}), "\"routes.tag\" is no field of PLANED");
    EXPECT_EQ(reason_of_global({{"plane", std::string(65, 'x')}}),
              "plane: is 65 characters long; 64 fit");
    EXPECT_EQ(reason_of_global({{"plane", std::string(kDbRowMax, 'x')}}),
              "has 65541 bytes; at most 65536 are taken");
    EXPECT_EQ(reason(merged({{"PLANED", {{"gobal", {}}}}})),
              "key: is no row of planed, which has PLANED|global alone");
}

TEST(ConfigDb, SaysEveryFaultOfARow) {
    EXPECT_EQ(reason_of_global({{"distance", "0"}, {"on_exit", "kep"}}),
              "on_exit: must be keep or withdraw, not \"kep\" (did you mean keep?); distance: must "
              "be a whole number from 1 to 255, not \"0\"");
}

// PLANED_INTERFACE --------------------------------------------------------------------------------

TEST(ConfigDb, AddsAnInterface) {
    const DbFields fields{{"prefixes@", "10.0.0.0/16,fd00:0:0:1::/64"},
                          {"exclude@", "10.0.0.1,10.0.9.0/24"},
                          {"proxy_arp", "off"},
                          {"proxy_nd", "false"},
                          {"snoop", "false"},
                          {"max_hosts", "50"},
                          {"unresolved", "reject"}};
    const InterfaceConfig wanted{
        .name = "Vlan100",
        .prefixes = {*IpPrefix::parse("10.0.0.0/16"), *IpPrefix::parse("fd00:0:0:1::/64")},
        .exclude = {*IpPrefix::parse("10.0.0.1"), *IpPrefix::parse("10.0.9.0/24")},
        .proxy_arp = ProxyArp::Off,
        .proxy_nd = false,
        .snoop = false,
        .max_hosts = 50,
        .unresolved = Unresolved::Reject};

    const Merged result = merged({{"PLANED_INTERFACE", {{"Vlan100", fields}}}});

    EXPECT_EQ(reason(result), "0 rows");
    EXPECT_THAT(result.config.interfaces, ElementsAre(wanted));
}

TEST(ConfigDb, TakesSonicsEmptyRowForTheDefaults) {
    const Merged result = merged({{"PLANED_INTERFACE", {{"Vlan100", {{"NULL", "NULL"}}}}}});

    EXPECT_EQ(reason(result), "0 rows");
    EXPECT_THAT(result.config.interfaces, ElementsAre(InterfaceConfig{.name = "Vlan100"}));
}

TEST(ConfigDb, LaysARowOverTheFilesEntryOfThatName) {
    const Config base = file(
        "interfaces:\n"
        "  - {name: Vlan100, max_hosts: 9, snoop: false, hosts: [{address: 10.0.0.9}]}\n"
        "  - {name: 'Vlan*', max_hosts: 7}\n");

    const Merged result =
        merged({{"PLANED_INTERFACE", {{"Vlan100", {{"max_hosts", "5"}}}, {"Vlan200", {}}}}}, base);

    ASSERT_THAT(names_of(result.config), ElementsAre("Vlan100", "Vlan*", "Vlan200"));
    InterfaceConfig wanted = base.interfaces[0];
    wanted.max_hosts = 5;
    EXPECT_EQ(result.config.interfaces[0], wanted);
    EXPECT_EQ(result.config.interfaces[1], base.interfaces[1]);
    EXPECT_EQ(result.config.interfaces[2], InterfaceConfig{.name = "Vlan200"});
}

TEST(ConfigDb, RefusesOneInterfaceAloneWithTheFieldsName) {
    const DbRows rows{
        {"PLANED_INTERFACE", {{"Vlan1", {}}, {"Vlan2", {{"max_hosts", "0"}}}, {"Vlan3", {}}}}};

    const Merged result = merged(rows);

    EXPECT_THAT(names_of(result.config), ElementsAre("Vlan1", "Vlan3"));
    EXPECT_THAT(result.refused,
                ElementsAre(RefusedRow{
                    .table = "PLANED_INTERFACE",
                    .key = "Vlan2",
                    .reason = "max_hosts: must be a whole number from 1 to 131072, not \"0\""}));
    EXPECT_THAT(result.in_effect.at("PLANED_INTERFACE"), SizeIs(2));
}

TEST(ConfigDb, JudgesAnInterfaceAsTheFileWouldBe) {
    EXPECT_EQ(reason_of_interface("Vlan1", {{"prefixes@", "10.0.0.1/16"}}),
              "prefixes@: 10.0.0.1/16 has host bits set (did you mean 10.0.0.0/16?)");
    EXPECT_EQ(reason_of_interface("Vlan1", {{"prefixes@", "10.0.0.0/16,"}}),
              "prefixes@: must be a prefix such as 10.0.0.0/16, not \"\"");
    EXPECT_EQ(reason_of_interface("Vlan1", {{"snoop", "yes"}}),
              "snoop: must be true or false, not \"yes\" (did you mean true?)");
    EXPECT_EQ(reason_of_interface("Vlan1", {{"proxy_arp", "on"}}),
              "proxy_arp: must be off, routed or pvlan, not \"on\"");
    EXPECT_EQ(reason_of_interface("Vlan1", {{"unresolved", "drop"}}),
              "unresolved: must be none or reject, not \"drop\"");
    EXPECT_EQ(reason_of_interface("Vlan1", {{"max_host", "5"}}),
              "\"max_host\" is no field of PLANED_INTERFACE (did you mean max_hosts?)");
    EXPECT_EQ(reason_of_interface("Vlan1", {{"hosts", "5"}}),
              "\"hosts\" is no field of PLANED_INTERFACE");
    EXPECT_EQ(reason_of_interface("Vlan 1", {}),
              "key: must be an interface name, which has no space, / or :, not \"Vlan 1\"");
    EXPECT_THAT(reason_of_interface("Vlan1", {{"proxy_nd", "\xff"}}),
                StartsWith("proxy_nd: must be true or false, not "));
}

TEST(ConfigDb, RefusesAnInterfaceThatIsAnUplink) {
    const Config base = file("uplinks: ['swp3*']\n");

    const Merged result =
        merged({{"PLANED_INTERFACE", {{"swp1", {}}, {"swp31", {}}, {"swp4", {}}}}}, base);

    EXPECT_THAT(names_of(result.config), ElementsAre("swp1", "swp4"));
    EXPECT_EQ(reason(result),
              "uplinks[0]: \"swp3*\" is also a server-facing interface: swp31 (\"swp31\")");
}

TEST(ConfigDb, RefusesAGlobalRowWhoseUplinksTheFileServes) {
    const Config base = file("interfaces: [{name: swp1}]\n");

    const Merged result =
        merged({{"PLANED", {{"global", {{"uplinks@", "swp1"}, {"tag", "9"}}}}}}, base);

    EXPECT_EQ(reason(result),
              "uplinks@: \"swp1\" is also a server-facing interface: swp1 (\"swp1\")");
    EXPECT_EQ(result.config, base);
}

TEST(ConfigDb, RefusesTheSecondOfTwoGlobsThatTie) {
    const Merged result =
        merged({{"PLANED_INTERFACE", {{"a*", {}}, {"*b", {}}, {"Vlan1", {}}, {"Vlan2", {}}}}});

    EXPECT_THAT(names_of(result.config), ElementsAre("*b", "Vlan1", "Vlan2"));
    EXPECT_THAT(reason(result), HasSubstr("\"a*\" and \"*b\" (*b) can match the same interface"));
}

TEST(ConfigDb, NamesWhatIsNotBuiltYetByRow) {
    const Merged result = merged({{"PLANED_INTERFACE",
                                   {{"Vlan1", {{"proxy_arp", "routed"}, {"unresolved", "reject"}}},
                                    {"Vlan2", {{"proxy_arp", "pvlan"}}}}}});

    EXPECT_THAT(
        result.not_acted_on,
        ElementsAre("PLANED_INTERFACE|Vlan1 unresolved", "PLANED_INTERFACE|Vlan2 proxy_arp"));
}

TEST(ConfigDb, TakesAsManyInterfacesAsTheFileMayHave) {
    DbTable table;
    for (int i = 0; i < 1030; ++i) {
        table[fmt::format("Vlan{:04}", i)] = {};
    }

    const Merged result = merged({{"PLANED_INTERFACE", table}});

    EXPECT_THAT(result.config.interfaces, SizeIs(1024));
    EXPECT_THAT(result.refused, SizeIs(6));
    EXPECT_EQ(result.refused.front().reason, "there are 1024 interfaces already");
}

// What was in effect before -----------------------------------------------------------------------

TEST(ConfigDb, KeepsWhatARowSaidBeforeItWasWrong) {
    const DbRows right{{"PLANED_INTERFACE", {{"Vlan1", {{"max_hosts", "9"}}}, {"Vlan2", {}}}}};
    const DbRows wrong{{"PLANED_INTERFACE",
                        {{"Vlan1", {{"max_hosts", "many"}}}, {"Vlan2", {{"snoop", "false"}}}}}};

    const Merged result = merge(file(), wrong, merged(right).in_effect);

    ASSERT_THAT(names_of(result.config), ElementsAre("Vlan1", "Vlan2"));
    EXPECT_EQ(result.config.interfaces[0].max_hosts, 9U);
    EXPECT_FALSE(result.config.interfaces[1].snoop);
    EXPECT_THAT(reason(result), StartsWith("max_hosts: "));
    EXPECT_EQ(result.in_effect.at("PLANED_INTERFACE").at("Vlan1"), (DbFields{{"max_hosts", "9"}}));
}

TEST(ConfigDb, KeepsWhatARowSaidBeforeItCouldNotStandBesideTheOthers) {
    const DbRows right{{"PLANED", {{"global", {{"uplinks@", "swp9"}}}}},
                       {"PLANED_INTERFACE", {{"swp1", {}}}}};
    const Config base = file("interfaces: [{name: swp2}]\n");
    DbRows wrong = right;
    wrong["PLANED"]["global"] = {{"uplinks@", "swp2"}};

    const Merged result = merge(base, wrong, merged(right, base).in_effect);

    EXPECT_THAT(result.config.uplinks, ElementsAre("swp9"));
    EXPECT_THAT(names_of(result.config), ElementsAre("swp2", "swp1"));
    EXPECT_THAT(reason(result), StartsWith("uplinks@: \"swp2\" is also"));
}

TEST(ConfigDb, LetsGoOfWhatARowSaidBeforeOnceThatIsWrongToo) {
    const DbRows right{{"PLANED_INTERFACE", {{"swp1", {}}}}};
    const Config base = file("uplinks: [swp1]\n");
    const DbRows wrong{{"PLANED_INTERFACE", {{"swp1", {{"snoop", "maybe"}}}}}};

    const Merged result = merge(base, wrong, right);

    EXPECT_THAT(result.config.interfaces, IsEmpty());
    EXPECT_THAT(result.in_effect, IsEmpty());
    EXPECT_THAT(reason(result), StartsWith("snoop: "));
}

TEST(ConfigDb, ForgetsARowThatIsGone) {
    const DbRows right{{"PLANED_INTERFACE", {{"Vlan1", {}}, {"Vlan2", {}}}}};
    const DbRows fewer{{"PLANED_INTERFACE", {{"Vlan2", {}}}}};

    const Merged result = merge(file(), fewer, merged(right).in_effect);

    EXPECT_THAT(names_of(result.config), ElementsAre("Vlan2"));
    EXPECT_EQ(result.in_effect, fewer);
}

// NEIGH -------------------------------------------------------------------------------------------

DbRows served_with(DbTable neighbors) {
    return {{"PLANED_INTERFACE", {{"Vlan100", {{"prefixes@", "10.0.0.0/16"}}}}},
            {"NEIGH", std::move(neighbors)}};
}

TEST(ConfigDb, MakesANeighbourAStaticHost) {
    const Merged result = merged(
        served_with({{"Vlan100|10.0.0.5", {{"neigh", "02:00:00:00:00:05"}, {"family", "IPv4"}}},
                     {"Vlan100|10.0.0.6", {{"neigh", "00:00:00:00:00:00"}, {"family", "IPv4"}}},
                     {"Vlan100|10.0.0.7", {{"family", "IPv4"}}},
                     {"Vlan7|10.0.0.8", {{"neigh", "02:00:00:00:00:08"}}}}));

    EXPECT_EQ(reason(result), "0 rows");
    ASSERT_THAT(names_of(result.config), ElementsAre("Vlan100"));
    EXPECT_THAT(result.config.interfaces[0].hosts,
                ElementsAre(StaticHost{.address = *IpAddress::parse("10.0.0.5"),
                                       .mac = MacAddress::parse("02:00:00:00:00:05")},
                            StaticHost{.address = *IpAddress::parse("10.0.0.6")},
                            StaticHost{.address = *IpAddress::parse("10.0.0.7")}));
}

TEST(ConfigDb, MakesANeighbourOfAGlobsInterfaceAHostOfThatInterfaceAlone) {
    const Config base = file(
        "interfaces: [{name: 'Vlan*', max_hosts: 7, hosts: [{address: 10.0.0.9, port: swp1}]}]\n");

    const Merged result = merged({{"NEIGH",
                                   {{"Vlan100|10.0.0.5", {{"neigh", "02:00:00:00:00:05"}}},
                                    {"Vlan100|10.0.0.9", {{"neigh", "02:00:00:00:00:09"}}}}}},
                                 base);

    ASSERT_THAT(names_of(result.config), ElementsAre("Vlan*", "Vlan100"));
    EXPECT_EQ(result.config.interfaces[0], base.interfaces[0]);
    EXPECT_EQ(result.config.interfaces[1].max_hosts, 7U);
    EXPECT_THAT(result.config.interfaces[1].hosts,
                ElementsAre(StaticHost{.address = *IpAddress::parse("10.0.0.9"),
                                       .mac = MacAddress::parse("02:00:00:00:00:09"),
                                       .port = "swp1"},
                            StaticHost{.address = *IpAddress::parse("10.0.0.5"),
                                       .mac = MacAddress::parse("02:00:00:00:00:05")}));
}

TEST(ConfigDb, RefusesAWrongNeighbour) {
    const auto reason_of = [](const std::string& key, const DbFields& fields) {
        const Merged result = merged(served_with({{key, fields}, {"Vlan100|10.0.1.1", {}}}));
        EXPECT_THAT(result.config.interfaces[0].hosts, SizeIs(1));
        return reason(result);
    };
    EXPECT_EQ(reason_of("Vlan100|10.0.0.5", {{"neigh", "02:00"}}),
              "neigh: must be a MAC address such as 02:00:00:00:00:05, not \"02:00\"");
    EXPECT_EQ(reason_of("Vlan100|10.0.0.5", {{"family", "IPv6"}}),
              "family: 10.0.0.5 is IPv4, not \"IPv6\"");
    EXPECT_EQ(reason_of("Vlan100|10.0.0.500", {}), "key: must be an address, not \"10.0.0.500\"");
    EXPECT_EQ(reason_of("Vlan100|fe80::1", {}),
              "key: fe80::1 is link-local, which is never routed");
    EXPECT_EQ(reason_of("Vlan100|10.9.0.5", {}), "key: 10.9.0.5 is outside of Vlan100.prefixes");
    EXPECT_EQ(reason_of("Vlan100", {}), "key: must be an interface and an address");
}

TEST(ConfigDb, JudgesThousandsOfNeighbours) {
    DbTable neighbors;
    for (int i = 0; i < 5000; ++i) {
        neighbors[fmt::format("Vlan100|10.{}.{}.{}", i % 2, i / 250 + 1, i % 250 + 1)] = {};
    }

    const Merged result = merged(served_with(neighbors));

    EXPECT_THAT(result.config.interfaces[0].hosts, SizeIs(2500));
    EXPECT_THAT(result.refused, SizeIs(2500));
    EXPECT_THAT(result.refused.front().reason, HasSubstr("is outside of Vlan100.prefixes"));
}

TEST(ConfigDb, RefusesMoreNeighboursThanAnInterfaceMayHaveHosts) {
    DbRows rows = served_with({{"Vlan100|10.0.0.1", {}}, {"Vlan100|10.0.0.2", {}}});
    rows["PLANED_INTERFACE"]["Vlan100"]["max_hosts"] = "1";

    const Merged result = merged(rows);

    EXPECT_THAT(result.config.interfaces[0].hosts, SizeIs(1));
    EXPECT_THAT(reason(result), HasSubstr("has 2 hosts, more than max_hosts 1"));
}

// SONiC's others ----------------------------------------------------------------------------------

TEST(ConfigDb, LeavesProxyArpAloneWhereSonicSetsIt) {
    const DbRows rows{{"PLANED_INTERFACE", {{"Vlan1", {}}, {"Vlan2", {}}, {"Vlan3", {}}}},
                      {"VLAN_INTERFACE",
                       {{"Vlan1", {{"proxy_arp", "enabled"}, {"vrf_name", "Vrf1"}}},
                        {"Vlan2", {{"proxy_arp", "disabled"}}},
                        {"Vlan3", {{"NULL", "NULL"}}},
                        {"Vlan4", {{"proxy_arp", "enabled"}}}}}};

    const Merged result = merged(rows);

    ASSERT_THAT(names_of(result.config), ElementsAre("Vlan1", "Vlan2", "Vlan3"));
    EXPECT_EQ(result.config.interfaces[0].proxy_arp, ProxyArp::Off);
    EXPECT_EQ(result.config.interfaces[1].proxy_arp, ProxyArp::Off);
    EXPECT_EQ(result.config.interfaces[2].proxy_arp, ProxyArp::Routed);
    EXPECT_THAT(result.left_to_sonic, ElementsAre("Vlan1", "Vlan2"));
    EXPECT_EQ(reason(merged({{"VLAN_INTERFACE", {{"Vlan1", {{"proxy_arp", "on"}}}}}})),
              "proxy_arp: must be enabled or disabled, not \"on\"");
}

TEST(ConfigDb, TakesSonicsLogLevels) {
    const auto level = [](const std::string& word) {
        return merged({{"LOGGER", {{"planed", {{"LOGLEVEL", word}, {"LOGOUTPUT", "SYSLOG"}}}}}})
            .log_level;
    };
    EXPECT_EQ(level("DEBUG"), "debug");
    EXPECT_EQ(level("INFO"), "info");
    EXPECT_EQ(level("NOTICE"), "info");
    EXPECT_EQ(level("WARN"), "warn");
    EXPECT_EQ(level("CRIT"), "error");
    EXPECT_EQ(merged({}).log_level, "");
    EXPECT_EQ(reason(merged({{"LOGGER", {{"planed", {{"LOGLEVEL", "debug"}}}}}})),
              "LOGLEVEL: must be one of EMERG, ALERT, CRIT, ERROR, WARN, NOTICE, INFO and DEBUG, "
              "not \"debug\"");
}

TEST(ConfigDb, HasNoUseForRowsOfOthers) {
    EXPECT_TRUE(is_read("LOGGER", "planed"));
    EXPECT_FALSE(is_read("LOGGER", "orchagent"));
    EXPECT_TRUE(is_read("VLAN_INTERFACE", "Vlan100"));
    EXPECT_FALSE(is_read("VLAN_INTERFACE", "Vlan100|10.0.0.1/16"));
    EXPECT_TRUE(is_read("NEIGH", "Vlan100|10.0.0.5"));
}

// EVPN --------------------------------------------------------------------------------------------

Config speaker(std::string_view more = "") {
    return file(speaker_and(fmt::format(
        "  vrfs: [{{vrf: default, vni: 100, route_targets: ['65000:100']}}]\n{}", more)));
}

TEST(ConfigDb, AddsSegmentsOfBothTypes) {
    const DbRows rows{
        {"PORTCHANNEL",
         {{"PortChannel0012", {{"system_mac", "44:38:39:ff:ff:01"}, {"mtu", "9100"}}}}},
        {"EVPN_ETHERNET_SEGMENT",
         {{"PortChannel0012", {{"esi", "AUTO"}, {"type", "TYPE_3_MAC_BASED"}, {"df_pref", "9"}}},
          {"PortChannel2",
           {{"esi", "00:01:02:03:04:05:06:07:08:09"},
            {"type", "TYPE_0_OPERATOR_CONFIGURED"},
            {"ifname", "PortChannel2"}}}}}};

    const Merged result = merged(rows, speaker());

    EXPECT_EQ(reason(result), "0 rows");
    const auto& segments = result.config.evpn.segments;
    ASSERT_THAT(segments, SizeIs(2));
    EXPECT_EQ(segments[0].port, "PortChannel0012");
    EXPECT_EQ(segments[0].identifier(), *evpn::Esi::parse("03:44:38:39:ff:ff:01:00:00:0c"));
    EXPECT_EQ(segments[0].df.preference, 9);
    EXPECT_EQ(segments[1].identifier(), *evpn::Esi::parse("00:01:02:03:04:05:06:07:08:09"));
    EXPECT_EQ(segments[1].df.preference, EvpnDfConfig{}.preference);
}

TEST(ConfigDb, NamesTheFilesSegmentOfThatPortAnew) {
    const Config base = speaker(
        "  segments: [{port: bond1, system_mac: 44:38:39:ff:ff:01, id: 2, df: {ac_df: true}}]\n");

    const Merged result = merged(
        {{"EVPN_ETHERNET_SEGMENT",
          {{"bond1",
            {{"esi", "00:01:02:03:04:05:06:07:08:09"}, {"type", "TYPE_0_OPERATOR_CONFIGURED"}}}}}},
        base);

    EXPECT_EQ(reason(result), "0 rows");
    ASSERT_THAT(result.config.evpn.segments, SizeIs(1));
    EXPECT_EQ(result.config.evpn.segments[0].identifier(),
              *evpn::Esi::parse("00:01:02:03:04:05:06:07:08:09"));
    EXPECT_TRUE(result.config.evpn.segments[0].df.ac_df);
}

TEST(ConfigDb, RefusesAWrongSegment) {
    const auto reason_of = [](const DbFields& fields) {
        return reason(merged({{"EVPN_ETHERNET_SEGMENT", {{"PortChannel1", fields}}}}, speaker()));
    };
    EXPECT_EQ(reason_of({{"esi", "AUTO"}, {"type", "TYPE_3_MAC_BASED"}}),
              "type: TYPE_3_MAC_BASED needs a system_mac in PORTCHANNEL|PortChannel1");
    EXPECT_EQ(reason_of({{"esi", "AUTO"}, {"type", "TYPE_1_LACP_BASED"}}),
              "type: must be TYPE_0_OPERATOR_CONFIGURED or TYPE_3_MAC_BASED, not "
              "\"TYPE_1_LACP_BASED\"");
    EXPECT_THAT(reason_of({{"esi", "AUTO"}, {"type", "TYPE_0_OPERATOR_CONFIGURED"}}),
                StartsWith("esi: \"AUTO\" is no ESI"));
    EXPECT_EQ(reason_of({{"esi", "03:44:38:39:ff:ff:01:00:00:01"},
                         {"type", "TYPE_0_OPERATOR_CONFIGURED"}}),
              "esi: 03:44:38:39:ff:ff:01:00:00:01 is not of type 0, which begins with 00");
    EXPECT_EQ(reason_of({{"esi", "00:01:02:03:04:05:06:07:08:09"},
                         {"type", "TYPE_0_OPERATOR_CONFIGURED"},
                         {"df_pref", "70000"}}),
              "df_pref: must be a whole number from 0 to 65535, not \"70000\"");
}

TEST(ConfigDb, RefusesTheSecondSegmentOfOneName) {
    const DbFields fields{{"esi", "00:01:02:03:04:05:06:07:08:09"},
                          {"type", "TYPE_0_OPERATOR_CONFIGURED"}};

    const Merged result =
        merged({{"EVPN_ETHERNET_SEGMENT", {{"bond1", fields}, {"bond2", fields}}}}, speaker());

    EXPECT_THAT(result.config.evpn.segments, SizeIs(1));
    EXPECT_EQ(reason(result), "esi: ESI 00:01:02:03:04:05:06:07:08:09 is already bond1");
}

TEST(ConfigDb, TakesTheStartupDelayOfMultihoming) {
    const auto with = [](const std::string& seconds) {
        return merged({{"EVPN_MH_GLOBAL", {{"default", {{"startup_delay", seconds}}}}}}, speaker());
    };
    EXPECT_EQ(with("300").config.evpn.startup_delay, 300s);
    EXPECT_EQ(reason(with("3601")),
              "startup_delay: must be a whole number of seconds up to 3600, not \"3601\"");
    EXPECT_EQ(reason(with("5m")),
              "startup_delay: must be a whole number of seconds up to 3600, not \"5m\"");
}

TEST(ConfigDb, LeavesSegmentsToOthersWhereTheFileHasNoEvpn) {
    const Merged result = merged({{"EVPN_ETHERNET_SEGMENT", {{"bond1", {{"type", "nonsense"}}}}},
                                  {"EVPN_MH_GLOBAL", {{"default", {{"startup_delay", "x"}}}}}});

    EXPECT_EQ(reason(result), "0 rows");
    EXPECT_EQ(result.config, file());
}

}  // namespace
}  // namespace planed::config
