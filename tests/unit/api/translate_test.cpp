// SPDX-License-Identifier: Apache-2.0
// Values of the core as messages: each field where it belongs, times on the wall clock.
#include "api/translate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/builders.hpp"

namespace planed::api {
namespace {

constexpr WallOffset kWall{1'000'000'000'000'000};  // 2001-09-09T01:46:40Z

const HostView kHost{.key = {.link = IfIndex{3}, .address = test::ip("10.0.0.5")},
                     .vrf = "default",
                     .interface = "br0",
                     .mac = test::mac(5),
                     .port = "swp1",
                     .state = Nud::Stale,
                     .origin = HostOrigin::Kernel,
                     .reason = Reason::PortDown,
                     .since = TimePoint{1500ms},
                     .answers = Answers::Data,
                     .last_seen = TimePoint{2us},
                     .last_heard = TimePoint{2us}};

TEST(Translate, Host) {
    v1::Host message;

    fill(message, kHost, kWall);

    EXPECT_EQ(message.ShortDebugString(),
              "vrf: \"default\" interface: \"br0\" address: \"10.0.0.5\" mac: \"" +
                  test::mac(5).to_string() +
                  "\" port: \"swp1\" state: \"STALE\" origin: \"kernel\" reason: \"port_down\" "
                  "since { seconds: 1000000001 nanos: 500000000 } "
                  "last_seen { seconds: 1000000000 nanos: 2000 } answers: \"data\" "
                  "last_heard { seconds: 1000000000 nanos: 2000 }");
}

TEST(Translate, DeniedHostOfWhichLittleIsKnown) {
    HostView host = kHost;
    host.mac = {};
    host.port = "";
    host.last_seen.reset();
    host.denied = "guard: not here";
    v1::Host message;

    fill(message, host, kWall);

    EXPECT_EQ(message.denied(), "guard: not here");
    EXPECT_EQ(message.mac(), "");
    EXPECT_FALSE(message.has_last_seen());
}

TEST(Translate, Proxy) {
    const ProxyView proxy{.key = {.link = IfIndex{3}, .address = test::ip("fd00::77")},
                          .interface = "br0",
                          .state = SinkState::Held};
    v1::Proxy message;

    fill(message, proxy);

    EXPECT_EQ(message.ShortDebugString(),
              "interface: \"br0\" address: \"fd00::77\" state: \"installed\"");
    v1::ProxiesRequest request;
    EXPECT_TRUE(matches(request, proxy));
    request.set_interface("br1");
    EXPECT_FALSE(matches(request, proxy));
}

TEST(Translate, Route) {
    v1::Route message;

    fill(message,
         RouteView{.key = {.vrf = VrfId::Default, .prefix = test::prefix("10.0.0.5/32")},
                   .vrf = "default",
                   .interface = "br0",
                   .state = SinkState::Rejected,
                   .reason = "zebra_prefers_another"},
         kWall);

    EXPECT_EQ(message.ShortDebugString(),
              "vrf: \"default\" prefix: \"10.0.0.5/32\" interface: \"br0\" origin: \"kernel\" "
              "state: \"rejected\" reason: \"zebra_prefers_another\"");
}

TEST(Translate, Status) {
    Snapshot snapshot;
    snapshot.node = {.name = "", .plane = "A", .ready = true};
    snapshot.health = {.drains = {"port swp3"},
                       .degraded = {"zebra: away"},
                       .milestones = {{.name = "CONFIG_LOADED", .at = TimePoint{0s}},
                                      {.name = "READY", .at = std::nullopt}},
                       .zebra_up = false,
                       .redis_wanted = true,
                       .redis_well = true,
                       .overruns = 3,
                       .resyncs = 2};
    snapshot.hosts_total = 9;
    snapshot.hosts_eligible = 8;
    snapshot.routes_desired = 7;
    v1::StatusResponse message;

    fill(message,
         snapshot,
         {.host_name = "leaf",
          .version = "1.2",
          .zebra_release = "FRR 8.4",
          .plugins =
              {{.name = "guard",
                .version = "3",
                .path = "/p/guard.so",
                .judges = true,
                .totals = {.calls = 20, .denials = 2}},
               {.name = "log", .observes = true, .fenced = "slow", .totals = {.strikes = 3}}}},
         kWall);

    EXPECT_EQ(message.name(), "leaf");
    EXPECT_EQ(message.plane(), "A");
    EXPECT_TRUE(message.ready());
    EXPECT_THAT(message.degraded(), testing::ElementsAre("zebra: away"));
    EXPECT_TRUE(message.drained());
    EXPECT_THAT(message.drains(), testing::ElementsAre("port swp3"));
    ASSERT_EQ(message.milestones_size(), 2);
    EXPECT_EQ(message.milestones(0).at().seconds(), 1'000'000'000);
    EXPECT_FALSE(message.milestones(1).has_at());
    EXPECT_EQ(message.frr().release(), "");  // Of a zebra that is away nothing is known.
    EXPECT_EQ(message.frr().routes_desired(), 7U);
    EXPECT_TRUE(message.redis().connected());
    EXPECT_EQ(message.netlink().overruns(), 3U);
    EXPECT_EQ(message.hosts().eligible(), 8U);
    ASSERT_EQ(message.plugins_size(), 2);
    EXPECT_EQ(message.plugins(0).ShortDebugString(),
              "name: \"guard\" version: \"3\" path: \"/p/guard.so\" judges: true "
              "state: \"running\" calls: 20 denials: 2");
    EXPECT_EQ(message.plugins(1).ShortDebugString(),
              "name: \"log\" observes: true state: \"fenced\" reason: \"slow\" strikes: 3");
}

TEST(Translate, Difference) {
    v1::Difference message;

    fill(message,
         {.table = AuditTable::Routes,
          .vrf = "default",
          .interface = "br0",
          .object = "10.0.0.5/32",
          .wanted = "dev br0",
          .found = "dev br1",
          .action = "sent again"});

    EXPECT_EQ(message.ShortDebugString(),
              "where: \"zebra\" kind: \"route\" vrf: \"default\" interface: \"br0\" "
              "object: \"10.0.0.5/32\" wanted: \"dev br0\" found: \"dev br1\" "
              "action: \"sent again\"");
}

TEST(Translate, ATableThatCouldNotBeReadIsADifferenceOfItsOwnKind) {
    v1::Difference message;

    fill(message, {.table = AuditTable::Rows, .object = "rows", .whole_table = true});

    EXPECT_EQ(message.ShortDebugString(), "where: \"redis\" kind: \"table\" object: \"rows\"");
}

TEST(Translate, WhatAnAuditHasRead) {
    const AuditReport report{
        .tables = {{.table = AuditTable::Forwarding, .began = TimePoint{1500ms}, .entries = 7},
                   {.table = AuditTable::Routes, .trouble = "not connected"},
                   {.table = AuditTable::Rows, .wanted = false}},
        .differences = {{.table = AuditTable::Routes}},
        .left_out = 2};
    v1::AuditResponse message;

    fill(message, report, kWall);

    EXPECT_EQ(message.ShortDebugString(),
              "tables { where: \"kernel\" table: \"forwarding\" wanted: true entries: 7 "
              "began { seconds: 1000000001 nanos: 500000000 } } "
              "tables { where: \"zebra\" table: \"routes\" wanted: true "
              "trouble: \"not connected\" } "
              "tables { where: \"redis\" table: \"rows\" } left_out: 2");
}

TEST(Translate, AGoneObjectIsItsNamesAlone) {
    v1::WatchEvent message;

    fill(message, WatchItem{.at = TimePoint{1s}, .gone = true, .object = kHost}, kWall);

    EXPECT_EQ(message.ShortDebugString(),
              "at { seconds: 1000000001 } kind: \"host\" gone: true "
              "host { vrf: \"default\" interface: \"br0\" address: \"10.0.0.5\" }");
}

TEST(Translate, FiltersMatchWhatTheyNameAndNothingElse) {
    v1::HostsRequest request;
    EXPECT_TRUE(matches(request, kHost));
    request.set_port("swp1");
    request.set_interface("br0");
    EXPECT_TRUE(matches(request, kHost));
    request.set_port("swp");
    EXPECT_FALSE(matches(request, kHost));
}

}  // namespace
}  // namespace planed::api
