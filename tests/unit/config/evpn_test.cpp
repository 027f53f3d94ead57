// SPDX-License-Identifier: Apache-2.0
// What may stand under evpn, and what is said of the rest.
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.hpp"
#include "config/not_acted_on.hpp"
#include "unit/config/lines.hpp"

namespace planed::config {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// One peer, in line 1, from column 51 on; `more` begins in column 86.
std::vector<std::string> faults_of_peer(std::string_view more) {
    return faults_of(
        fmt::format("evpn: {{router_id: 10.66.0.1, local_as: 1, peers: "
                    "[{{address: 10.66.0.2, remote_as: 2, {}}}], listen: [10.66.0.1]}}",
                    more));
}

TEST(EvpnConfig, IsOffByDefault) {
    EXPECT_FALSE(Config{}.evpn.is_on());
    EXPECT_FALSE(load_text("evpn: {router_id: '', listen: []}", "f").config.evpn.is_on());
    EXPECT_THAT(faults_of("evpn: {router_id: '', local_as: 0, peers: []}"), IsEmpty());
}

TEST(EvpnConfig, IsOnWithARouterId) {
    const Loaded loaded = load_text("evpn: {router_id: 10.66.0.1, local_as: 65000}", "f");

    EXPECT_THAT(lines(loaded.faults), IsEmpty());
    EXPECT_TRUE(loaded.config.evpn.is_on());
    EXPECT_THAT(lines(loaded.warnings), Each(Not(HasSubstr("evpn.router_id"))));
    EXPECT_THAT(not_acted_on(loaded.config, loaded.written), IsEmpty());
}

TEST(EvpnConfig, NeedsARouterIdAndAnAs) {
    EXPECT_THAT(
        faults_of("evpn: {listen: [0.0.0.0]}"),
        ElementsAre("f:1:7: evpn: lacks the key router_id, an IPv4 address that no other speaker "
                    "has",
                    "f:1:7: evpn: lacks the key local_as"));
    EXPECT_THAT(faults_of("evpn: {router_id: 1.2.3.4}"),
                ElementsAre("f:1:7: evpn: lacks the key local_as"));
}

TEST(EvpnConfig, SaysWhatIsWrongWithARouterId) {
    const auto faults = [](std::string_view id) {
        return faults_of(fmt::format("evpn: {{router_id: {}, local_as: 1}}", id));
    };

    EXPECT_THAT(faults("'::1'"), ElementsAre("f:1:19: evpn.router_id: ::1 is no IPv4 address"));
    EXPECT_THAT(faults("0.0.0.0"), ElementsAre("f:1:19: evpn.router_id: 0.0.0.0 names nobody"));
    EXPECT_THAT(faults("leaf"),
                ElementsAre("f:1:19: evpn.router_id: must be an address, not \"leaf\""));
    EXPECT_THAT(faults("240.0.0.1"), IsEmpty());  // A number that looks like an address.
}

TEST(EvpnConfig, RefusesAsNumbersThatNobodyCanHave) {
    const auto faults = [](std::string_view as) {
        return faults_of(fmt::format("evpn: {{router_id: 1.2.3.4, local_as: {}}}", as));
    };

    EXPECT_THAT(faults("0"), ElementsAre("f:1:38: evpn.local_as: 0 is no AS number"));
    EXPECT_THAT(faults("23456"),
                ElementsAre("f:1:38: evpn.local_as: 23456 stands for other AS numbers (RFC 6793)"));
    EXPECT_THAT(faults("65535"),
                ElementsAre("f:1:38: evpn.local_as: 65535 is reserved (RFC 7300)"));
    EXPECT_THAT(faults("4294967295"),
                ElementsAre("f:1:38: evpn.local_as: 4294967295 is reserved (RFC 7300)"));
    EXPECT_THAT(faults("4294967294"), IsEmpty());
}

TEST(EvpnConfig, RefusesAddressesNobodyCanListenOn) {
    EXPECT_THAT(faults_of("evpn: {router_id: 1.2.3.4, local_as: 1, listen: [224.0.0.5, 'fe80::1', "
                          "240.0.0.1, 10.0.0.1, 10.0.0.1, '::', x]}"),
                ElementsAre("f:1:50: evpn.listen[0]: 224.0.0.5 is a multicast address",
                            "f:1:61: evpn.listen[1]: fe80::1 is link-local: it does not say on "
                            "which interface",
                            "f:1:72: evpn.listen[2]: 240.0.0.1 is in the reserved 240.0.0.0/4",
                            "f:1:93: evpn.listen[4]: is listed twice, first in line 1",
                            "f:1:109: evpn.listen[6]: must be an address, not \"x\""));
}

TEST(EvpnPeerConfig, MayHaveEveryKey) {
    EXPECT_THAT(faults_of_peer("port: 180, passive: true, source: 127.0.0.1, password: x, "
                               "ttl_security: 254, hold_time: 0s, connect_retry: 100ms, "
                               "description: d, max_prefixes: 1000000, enabled: false"),
                IsEmpty());
}

TEST(EvpnPeerConfig, SaysWhatIsWrongWithAKey) {
    const auto one = [](std::string_view more, std::string_view fault) {
        EXPECT_THAT(faults_of_peer(more), ElementsAre(fmt::format("f:1:{}", fault))) << more;
    };

    one("port: 0", "92: evpn.peers[0].port: must be a whole number from 1 to 65535, not \"0\"");
    one("passive: 1",
        "95: evpn.peers[0].passive: must be true or false, not \"1\" (did you mean true?)");
    one("source: 0.0.0.0", "94: evpn.peers[0].source: 0.0.0.0 is the unspecified address");
    one("source: '::1'",
        "94: evpn.peers[0].source: ::1 cannot reach 10.66.0.2: one is IPv4, the other IPv6");
    one("ttl_security: 255",
        "100: evpn.peers[0].ttl_security: must be a whole number from 0 to 254, not \"255\"");
    one("hold_time: 2s",
        "97: evpn.peers[0].hold_time: must be 0s or at least 3s, not 2s (RFC 4271 4.2)");
    one("hold_time: 65536s",
        "97: evpn.peers[0].hold_time: must be from 0s to 65535s, not \"65536s\"");
    one("hold_time: 3500ms", "97: evpn.peers[0].hold_time: must be in steps of 1s, not \"3500ms\"");
    one("connect_retry: 0s",
        "101: evpn.peers[0].connect_retry: must be from 100ms to 1h, not \"0s\"");
    one("max_prefixes: 0",
        "100: evpn.peers[0].max_prefixes: must be a whole number from 1 to 1000000, not \"0\"");
    one("enabled: []", "95: evpn.peers[0].enabled: must be true or false, not a list");
    one("keepalive: 3s", "86: evpn.peers[0].keepalive: is no key of planed");
}

TEST(EvpnPeerConfig, SaysWhatIsWrongAmongPeers) {
    EXPECT_THAT(
        faults_of("evpn:\n"
                  "  router_id: 10.66.0.1\n"
                  "  local_as: 1\n"
                  "  listen: [10.66.0.1]\n"
                  "  peers:\n"
                  "    - {address: 10.66.0.2, remote_as: 23456}\n"
                  "    - {address: 10.66.0.2, remote_as: 2}\n"
                  "    - {address: 10.66.0.1, remote_as: 2}\n"
                  "    - {address: 10.66.0.3, remote_as: 2, source: 10.66.0.3}\n"
                  "    - {address: 'fd00::2', remote_as: 2, passive: true}\n"
                  "    - {address: 0.0.0.0, remote_as: 2}\n"),
        ElementsAre("f:6:39: evpn.peers[0].remote_as: 23456 stands for other AS numbers (RFC 6793)",
                    "f:7:17: evpn.peers[1].address: 10.66.0.2 is already evpn.peers[0]",
                    "f:8:17: evpn.peers[2].address: 10.66.0.1 is our own",
                    "f:9:17: evpn.peers[3].address: 10.66.0.3 is our own",
                    "f:10:51: evpn.peers[4].passive: nobody can connect: evpn.listen has no IPv6 "
                    "address",
                    "f:11:17: evpn.peers[5].address: 0.0.0.0 is the unspecified address"));
}

TEST(EvpnPeerConfig, KeepsAPasswordOutOfFaults) {
    const std::string secret(81, 's');

    EXPECT_THAT(faults_of_peer("password: " + secret),
                ElementsAre("f:1:96: evpn.peers[0].password: is 81 characters long; 80 fit"));
    EXPECT_THAT(faults_of_peer("password: \"s\\u0007ss\""),
                ElementsAre("f:1:96: evpn.peers[0].password: has a control character"));
    EXPECT_THAT(faults_of_peer("password: [s]"),
                ElementsAre("f:1:96: evpn.peers[0].password: must be text, not a list"));
    EXPECT_THAT(faults_of_peer("password: " + secret.substr(1)), IsEmpty());
}

TEST(EvpnConfigWarnings, NameAListOfPeersThatIsEmpty) {
    EXPECT_THAT(
        lines(load_text("interfaces: [{name: a}]\nevpn: {router_id: 1.2.3.4, local_as: 1}", "f")
                  .warnings),
        ElementsAre("f:2:7: evpn.peers: is empty: EVPN has nobody to talk to"));
}

}  // namespace
}  // namespace planed::config
