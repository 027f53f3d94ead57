// SPDX-License-Identifier: Apache-2.0
// What EVPN's segments may be, and what is said of the rest.
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/keys.hpp"
#include "config/load.hpp"
#include "config/not_acted_on.hpp"
#include "config/validate.hpp"
#include "evpn/df_election.hpp"
#include "unit/config/evpn_text.hpp"
#include "unit/config/lines.hpp"

namespace planed::config {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::string_view kVrf =
    "  vrfs: [{vrf: default, vni: 100, route_targets: ['65000:100']}]\n";

/// The keys of each segment are a line, from column 8 on; the first one is 7.
std::string segments(const std::vector<std::string_view>& of_each) {
    std::string text = fmt::format("{}  segments:\n", kVrf);
    for (const std::string_view keys : of_each) {
        text += fmt::format("    - {{{}}}\n", keys);
    }
    return speaker_and(text);
}

std::vector<std::string> faults_of_segments(const std::vector<std::string_view>& of_each) {
    return faults_of(segments(of_each));
}

TEST(EvpnSegment, IsNamedByAnEsiOrByAMacAndANumber) {
    const Loaded loaded = load_text(segments({"port: bond1, esi: '00:01:02:03:04:05:06:07:08:FF'",
                                              "port: bond2, system_mac: 44:38:39:ff:ff:01, id: 2"}),
                                    "f");

    EXPECT_THAT(lines(loaded.faults), IsEmpty());
    ASSERT_EQ(loaded.config.evpn.segments.size(), 2U);
    EXPECT_EQ(loaded.config.evpn.segments[0].identifier(),
              *evpn::Esi::parse("00:01:02:03:04:05:06:07:08:ff"));
    EXPECT_EQ(loaded.config.evpn.segments[1].identifier(),
              *evpn::Esi::parse("03:44:38:39:ff:ff:01:00:00:02"));
    EXPECT_EQ(EvpnSegmentConfig{}.identifier(), std::nullopt);
}

TEST(EvpnSegment, MayHaveEveryKeyOfAnElection) {
    const Loaded loaded = load_text(
        segments({"port: bond1, system_mac: 44:38:39:ff:ff:01, id: 16777215, df: {algorithm: "
                  "lowest_preference, preference: 0, dont_preempt: true, ac_df: true}"}),
        "f");

    EXPECT_THAT(lines(loaded.faults), IsEmpty());
    EXPECT_THAT(lines(loaded.warnings), Each(Not(HasSubstr("evpn"))));
    EXPECT_EQ(loaded.config.evpn.segments[0].df,
              (EvpnDfConfig{.algorithm = evpn::DfAlgorithm::LowestPreference,
                            .preference = 0,
                            .dont_preempt = true,
                            .ac_df = true}));
}

TEST(EvpnSegment, SaysWhatIsWrongWithAnEsi) {
    const auto faults = [](std::string_view esi) {
        return faults_of_segments({fmt::format("port: bond1, esi: {}", esi)});
    };

    EXPECT_THAT(faults("\"03:44:38:39:ff:ff:01:00:00\""),
                ElementsAre("f:7:26: evpn.segments[0].esi: \"03:44:38:39:ff:ff:01:00:00\" is no "
                            "ESI: write ten octets, as in 03:44:38:39:ff:ff:01:00:00:01"));
    EXPECT_THAT(faults("\"a\\nb\""),
                ElementsAre("f:7:26: evpn.segments[0].esi: \"a\\x0ab\" is no ESI: write ten "
                            "octets, as in 03:44:38:39:ff:ff:01:00:00:01"));
    EXPECT_THAT(faults("\"00:00:00:00:00:00:00:00:00:00\""),
                ElementsAre("f:7:26: evpn.segments[0].esi: ESI 00:00:00:00:00:00:00:00:00:00 is "
                            "reserved and names no segment"));
    EXPECT_THAT(faults("\"ff:ff:ff:ff:ff:ff:ff:ff:ff:ff\""),
                ElementsAre("f:7:26: evpn.segments[0].esi: ESI ff:ff:ff:ff:ff:ff:ff:ff:ff:ff is "
                            "reserved and names no segment"));
    EXPECT_THAT(faults("\"06:00:00:00:00:00:00:00:00:01\""),
                ElementsAre("f:7:26: evpn.segments[0].esi: ESI 06:00:00:00:00:00:00:00:00:01: its "
                            "first octet is its type, and there is no type 6"));
    EXPECT_THAT(faults("\"04:0a:00:00:01:00:00:00:07:01\""),
                ElementsAre("f:7:26: evpn.segments[0].esi: ESI 04:0a:00:00:01:00:00:00:07:01: the "
                            "last octet of type 4 must be 00"));
    EXPECT_THAT(faults("{}"),
                ElementsAre("f:7:26: evpn.segments[0].esi: must be an ESI, not a "
                            "map"));
    for (const std::string_view right :
         {"01:00:11:22:33:44:55:00:09:00", "05:00:00:fd:e8:00:00:00:07:00"}) {
        EXPECT_THAT(faults(fmt::format("'{}'", right)), IsEmpty()) << right;
    }
}

TEST(EvpnSegment, SaysWhatIsWrongWithAKey) {
    const auto one = [](std::string_view keys, std::string_view fault) {
        EXPECT_THAT(faults_of_segments({keys}), ElementsAre(fmt::format("f:7:{}", fault))) << keys;
    };
    const std::string named = "system_mac: 44:38:39:ff:ff:01, id: 1, ";  // Ends in column 45.
    const std::string df = named + "port: a, df: ";                      // Ends in column 58.

    one(named + "port: ''", "52: evpn.segments[0].port: must name an interface");
    one(named + "port: bond*",
        "52: evpn.segments[0].port: must be one interface's name, not a glob, not \"bond*\"");
    one(named + "port: bond1234567890xy",
        "52: evpn.segments[0].port: \"bond1234567890xy\" is 16 characters long; an interface name "
        "has at most 15");
    one("port: a, id: 1, system_mac: 44-38-39-ff-ff-01",
        "36: evpn.segments[0].system_mac: must be a MAC address such as 02:00:00:00:00:05, not "
        "\"44-38-39-ff-ff-01\"");
    one("port: a, id: 1, system_mac: 00:00:00:00:00:00",
        "36: evpn.segments[0].system_mac: 00:00:00:00:00:00 is no single device's MAC address");
    one("port: a, id: 1, system_mac: 45:38:39:ff:ff:01",
        "36: evpn.segments[0].system_mac: 45:38:39:ff:ff:01 is no single device's MAC address");
    one("port: a, system_mac: 44:38:39:ff:ff:01, id: 0",
        "52: evpn.segments[0].id: must be a whole number from 1 to 16777215, not \"0\"");
    one("port: a, system_mac: 44:38:39:ff:ff:01, id: 16777216",
        "52: evpn.segments[0].id: must be a whole number from 1 to 16777215, not \"16777216\"");
    one(df + "3", "59: evpn.segments[0].df: must be a map of keys, not \"3\"");
    one(df + "{algorithm: highest}",
        "71: evpn.segments[0].df.algorithm: must be modulus, hrw, highest_preference or "
        "lowest_preference, not \"highest\"");
    one(df + "{preference: 65536}",
        "72: evpn.segments[0].df.preference: must be a whole number from 0 to 65535, not "
        "\"65536\"");
    one(df + "{dont_preempt: yes}",
        "74: evpn.segments[0].df.dont_preempt: must be true or false, not \"yes\" (did you mean "
        "true?)");
    one(df + "{ac_df: 0}",
        "67: evpn.segments[0].df.ac_df: must be true or false, not \"0\" (did you mean false?)");
    one(df + "{weight: 1}", "60: evpn.segments[0].df.weight: is no key of planed");
    one(named + "port: a, es_id: 1", "55: evpn.segments[0].es_id: is no key of planed");
}

TEST(EvpnSegment, HasOneNameAndAPort) {
    EXPECT_THAT(
        faults_of_segments({"port: a",
                            "port: b, id: 1",
                            "port: c, system_mac: 44:38:39:ff:ff:01",
                            "port: d, esi: '03:44:38:39:ff:ff:01:00:00:01', id: 1",
                            "port: e, esi: '03:44:38:39:ff:ff:01:00:00:02', system_mac: "
                            "44:38:39:ff:ff:01",
                            "esi: '03:44:38:39:ff:ff:01:00:00:03'"}),
        ElementsAre("f:7:7: evpn.segments[0]: lacks a name: the key esi, or the keys system_mac "
                    "and id",
                    "f:8:7: evpn.segments[1]: lacks the key system_mac",
                    "f:9:7: evpn.segments[2]: lacks the key id",
                    "f:10:22: evpn.segments[3].esi: cannot stand beside system_mac and id: each "
                    "names the segment",
                    "f:11:22: evpn.segments[4].esi: cannot stand beside system_mac and id: each "
                    "names the segment",
                    "f:12:7: evpn.segments[5]: lacks the key port"));
}

TEST(EvpnSegment, SaysWhatIsWrongAmongSegments) {
    EXPECT_THAT(
        faults_of_segments({"port: a, system_mac: 44:38:39:ff:ff:01, id: 1",
                            "port: b, esi: '03:44:38:39:ff:ff:01:00:00:01'",
                            "port: a, system_mac: 44:38:39:ff:ff:01, id: 2",
                            "port: c, system_mac: 44:38:39:ff:ff:01, id: 2",
                            "port: '', system_mac: 44:38:39:ff:ff:01, id: 4",
                            "port: '', system_mac: 44:38:39:ff:ff:01, id: 5"}),
        ElementsAre("f:8:22: evpn.segments[1].esi: ESI 03:44:38:39:ff:ff:01:00:00:01 is already "
                    "evpn.segments[0], in line 7",
                    "f:9:14: evpn.segments[2].port: \"a\" is already evpn.segments[0], in line 7",
                    "f:10:52: evpn.segments[3].id: ESI 03:44:38:39:ff:ff:01:00:00:02 is already "
                    "evpn.segments[2], in line 9",
                    "f:11:14: evpn.segments[4].port: must name an interface",
                    "f:12:14: evpn.segments[5].port: must name an interface"));
}

TEST(EvpnSegment, IsBehindNoUplink) {
    const std::string two = segments({"port: bond1, system_mac: 44:38:39:ff:ff:01, id: 1",
                                      "port: swp49, system_mac: 44:38:39:ff:ff:01, id: 2"});

    EXPECT_THAT(faults_of(two + "uplinks: [swp50, 'swp4?', swp49]\n"),
                ElementsAre("f:8:14: evpn.segments[1].port: \"swp49\" is also an uplink: "
                            "uplinks[1] (\"swp4?\")"));
    EXPECT_THAT(faults_of(two + "uplinks: [swp49]\n"),
                ElementsAre("f:8:14: evpn.segments[1].port: \"swp49\" is also an uplink: "
                            "uplinks[0] (\"swp49\")"));
    EXPECT_THAT(faults_of(two + "uplinks: [swp50, 'bond1?']\n"), IsEmpty());
}

TEST(EvpnSegment, IsOneOfSoMany) {
    std::string text = segments({});
    for (int i = 1; i <= 1024; ++i) {
        text += fmt::format("    - {{port: p{}, system_mac: 44:38:39:ff:ff:01, id: {}}}\n", i, i);
    }

    EXPECT_THAT(faults_of(text), IsEmpty());
    EXPECT_THAT(faults_of(text + "    - {port: p, system_mac: 44:38:39:ff:ff:01, id: 1025}\n"),
                ElementsAre("f:7:5: evpn.segments: has 1025 elements; at most 1024 are taken"));
}

TEST(EvpnSegment, NeedsASpeakerAndAVrf) {
    EXPECT_THAT(
        faults_of("evpn:\n"
                  "  segments: [{port: a, system_mac: 44:38:39:ff:ff:01, id: 1}]\n"),
        ElementsAre("f:2:3: evpn: lacks the key router_id, an IPv4 address that no other speaker "
                    "has",
                    "f:2:3: evpn: lacks the key local_as",
                    "f:2:13: evpn.segments: need a VRF: evpn.vrfs is empty"));
}

TEST(EvpnSegmentWarnings, NameAPreferenceThatNobodyAsksFor) {
    const auto warnings = [](std::string_view df) {
        return lines(
            load_text("interfaces: [{name: bond1}]\n" +
                          segments({fmt::format("port: bond1, system_mac: 44:38:39:ff:ff:01, id: "
                                                "1, df: {{{}}}",
                                                df)}),
                      "f")
                .warnings);
    };

    EXPECT_THAT(warnings("algorithm: hrw, preference: 5, dont_preempt: true"),
                ElementsAre("f:8:92: evpn.segments[0].df.preference: has no effect: hrw knows no "
                            "preference",
                            "f:8:109: evpn.segments[0].df.dont_preempt: has no effect: hrw knows "
                            "no preference"));
    EXPECT_THAT(warnings("algorithm: modulus, preference: 32767, dont_preempt: false"), IsEmpty());
    EXPECT_THAT(warnings("algorithm: highest_preference, preference: 5, dont_preempt: true"),
                IsEmpty());
}

TEST(EvpnSegment, HasTheAlgorithmsOfTheElection) {
    const auto& words = Choices<evpn::DfAlgorithm>::kWords;
    for (std::size_t i = 0; i < words.size(); ++i) {
        EXPECT_EQ(words[i], evpn::name_of(static_cast<evpn::DfAlgorithm>(i)));
    }
}

// CONFIG_DB has no lines.
TEST(EvpnSegment, IsJudgedWithoutPlacesToo) {
    Config config;
    config.evpn.router_id = IpAddress::v4(10, 66, 0, 1);
    config.evpn.local_as = 65000;
    config.evpn.vrfs = {{.vrf = "default", .vni = 1, .route_targets = {{.as = 1}}}};
    config.evpn.segments = {{.port = "a", .system_mac = MacAddress({0x44, 0, 0, 0, 0, 1}), .id = 1},
                            {.port = "b", .id = 1}};
    FaultList faults("f");
    FaultList warnings("f");

    validate(config, {}, faults, warnings);

    EXPECT_THAT(lines(faults.take()),
                ElementsAre("f:1:1: evpn.segments[1]: lacks the key system_mac"));
}

TEST(EvpnSegment, IsActedOn) {
    const Loaded loaded =
        load_text(segments({"port: a, system_mac: 44:38:39:ff:ff:01, id: 1"}), "f");

    EXPECT_THAT(not_acted_on(loaded.config, loaded.written), IsEmpty());
}

}  // namespace
}  // namespace planed::config
