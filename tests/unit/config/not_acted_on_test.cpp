// SPDX-License-Identifier: Apache-2.0
#include "config/not_acted_on.hpp"

#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.hpp"

namespace planed::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> not_acted_on_in(std::string_view text) {
    const Loaded loaded = load_text(text, "f");
    EXPECT_TRUE(loaded.ok()) << to_string(loaded.faults.front());
    return not_acted_on(loaded.config, loaded.written);
}

TEST(NotActedOn, IsEmptyForWhatTheFileDoesNotSay) {
    EXPECT_THAT(not_acted_on_in(""), IsEmpty());
    EXPECT_THAT(not_acted_on_in("interfaces: [{name: swp1, proxy_arp: routed}]"), IsEmpty());
}

TEST(NotActedOn, NamesTheKeysInTheOrderOfTheFile) {
    EXPECT_THAT(not_acted_on_in("redis: {endpoint: auto, config_db: true}\n"
                                "plugins: [{path: /a}]\n"
                                "api: {listen: ['unix:/a', '10.0.0.5:5'], tls: {certificate: /c, "
                                "key: /k}}\n"
                                "interfaces:\n"
                                "  - name: swp1\n"
                                "    snoop: true\n"
                                "    proxy_arp: pvlan\n"
                                "  - {name: swp2, proxy_nd: true, max_hosts: 5, hosts: [{address: "
                                "10.0.0.5}], unresolved: reject}\n"
                                "learning: {refresh: 30s, probe_interval: 1s, probe_attempts: 3}\n"
                                "routes: {add_delay: 1s, max_withdraw: {at_least: 5}}\n"),
                ElementsAre("interfaces[0].proxy_arp", "interfaces[1].unresolved"));
}

TEST(NotActedOn, LeavesOutWhatAsksForNothing) {
    EXPECT_THAT(not_acted_on_in("redis: {endpoint: off, config_db: false, database_config: ''}\n"
                                "plugins: []\n"
                                "api: {listen: [], tls: {}}\n"
                                "interfaces: [{name: swp1, snoop: false, proxy_arp: off, proxy_nd: "
                                "false, hosts: [], unresolved: none}]\n"
                                "evpn: {}\n"),
                IsEmpty());
}

}  // namespace
}  // namespace planed::config
