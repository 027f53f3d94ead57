// SPDX-License-Identifier: Apache-2.0
// EVPN peers and their routes as messages: each field where it belongs, nothing where there is
// none.
#include "api/translate_evpn.hpp"

#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace planed::api {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr WallOffset kClock{1'000'000'000'000'000};  // 2001-09-09T01:46:40Z
const IpAddress kPeer = IpAddress::v4(10, 66, 0, 2);
const bgp::EsiBytes kEsi{0x03, 0x44, 0x38, 0x39, 0xff, 0xff, 0x01, 0, 0, 0x01};
const auto kRd = bgp::RouteDistinguisher::of(bgp::RouterId{0x0A420002}, 100);

bgp::RouteRow row(const bgp::Route& route, const bgp::Attributes& attributes = {}) {
    return {.peer = kPeer,
            .route = route,
            .path = std::make_shared<const bgp::Path>(bgp::Path{
                .next_hop = {.address = IpAddress::v4(10, 66, 0, 3)}, .attributes = attributes}),
            .since = TimePoint{2us}};
}

v1::EvpnRoute filled(const bgp::RouteRow& from) {
    v1::EvpnRoute message;
    fill(message, from, kClock);
    return message;
}

TEST(TranslateEvpn, MacIpRoute) {
    bgp::RouteRow from =
        row(bgp::MacIp{.rd = kRd,
                       .esi = kEsi,
                       .tag = 100,
                       .mac = MacAddress({2, 0, 0, 0, 0, 5}),
                       .ip = IpAddress::v4(10, 0, 0, 5),
                       .label1 = 0,
                       .label2 = 4001},
            {.as_path = {{.numbers = {bgp::AsNumber{65001}, bgp::AsNumber{65002}}}},
             .communities = {bgp::route_target(bgp::AsNumber{65000}, 100)}});
    from.stale = true;

    EXPECT_EQ(filled(from).ShortDebugString(),
              "peer: \"10.66.0.2\" type: 2 rd: \"10.66.0.2:100\" "
              "esi: \"03:44:38:39:ff:ff:01:00:00:01\" tag: 100 mac: \"02:00:00:00:00:05\" "
              "ip: \"10.0.0.5\" labels: 0 labels: 4001 next_hop: \"10.66.0.3\" "
              "as_path: \"65001 65002\" communities: \"RT:65000:100\" stale: true "
              "since { seconds: 1000000000 nanos: 2000 }");
}

TEST(TranslateEvpn, MacRouteOfNoSegmentAndWithoutAddress) {
    const v1::EvpnRoute message = filled(row(bgp::MacIp{.rd = kRd, .label1 = 100}));

    EXPECT_EQ(message.esi(), "");
    EXPECT_EQ(message.ip(), "");
    EXPECT_THAT(message.labels(), ElementsAre(100));
}

TEST(TranslateEvpn, OtherTypes) {
    EXPECT_EQ(
        filled(row(bgp::EthernetAd{.rd = kRd, .esi = kEsi, .tag = bgp::kMaxEthernetTag})).tag(),
        4294967295);
    const v1::EvpnRoute multicast = filled(row(bgp::Multicast{.rd = kRd, .originator = kPeer},
                                               {.pmsi = bgp::PmsiTunnel{.label = 100}}));
    EXPECT_EQ(multicast.type(), 3U);
    EXPECT_EQ(multicast.ip(), "10.66.0.2");
    EXPECT_THAT(multicast.labels(), ElementsAre(100));
    EXPECT_THAT(filled(row(bgp::Multicast{.rd = kRd, .originator = kPeer})).labels(), IsEmpty());
    const v1::EvpnRoute segment =
        filled(row(bgp::Segment{.rd = kRd, .esi = kEsi, .originator = kPeer}));
    EXPECT_EQ(segment.esi(), "03:44:38:39:ff:ff:01:00:00:01");
    EXPECT_EQ(segment.ip(), "10.66.0.2");
    const v1::EvpnRoute prefix = filled(row(bgp::Prefix{.rd = kRd,
                                                        .prefix = *IpPrefix::parse("10.1.0.0/24"),
                                                        .gateway = IpAddress::v4(10, 0, 0, 9),
                                                        .label = 4001}));
    EXPECT_EQ(prefix.ip(), "10.1.0.0/24");
    EXPECT_EQ(prefix.gateway(), "10.0.0.9");
    EXPECT_EQ(filled(row(bgp::Prefix{.rd = kRd})).gateway(), "");
}

TEST(TranslateEvpn, Peer) {
    v1::Peer message;

    fill(message,
         {.address = kPeer,
          .remote_as = bgp::AsNumber{65000},
          .description = "leaf-b1",
          .passive = true,
          .state = bgp::State::Established,
          .since = TimePoint{1s},
          .routes = 3,
          .routes_max = 65536,
          .traffic = {.messages_received = 4,
                      .messages_sent = 5,
                      .updates_received = 6,
                      .updates_sent = 7},
          .sessions = 2,
          .faults = 1,
          .last_error = "the connection was lost",
          .last_error_at = TimePoint{2s},
          .open = bgp::Open{.id = bgp::RouterId{0x0A420002},
                            .capabilities = {.families = {{}, {.afi = 1, .safi = 1}},
                                             .route_refresh = true,
                                             .four_octet_as = bgp::AsNumber{65000},
                                             .others = {{.code = 73}}}},
          .hold_seconds = 9,
          .end_of_rib = true},
         kClock);

    EXPECT_EQ(message.ShortDebugString(),
              "address: \"10.66.0.2\" remote_as: 65000 description: \"leaf-b1\" "
              "state: \"established\" since { seconds: 1000000001 } passive: true routes: 3 "
              "max_prefixes: 65536 messages_received: 4 messages_sent: 5 updates_received: 6 "
              "updates_sent: 7 sessions: 2 faults: 1 last_error: \"the connection was lost\" "
              "last_error_at { seconds: 1000000002 } router_id: \"10.66.0.2\" hold_time_ms: 9000 "
              "capabilities: \"l2vpn_evpn\" capabilities: \"afi_1_safi_1\" "
              "capabilities: \"route_refresh\" capabilities: \"four_octet_as\" "
              "capabilities: \"capability_73\" end_of_rib: true");
}

TEST(TranslateEvpn, PeerThatIsDisabled) {
    v1::Peer message;

    fill(message, {.address = kPeer, .enabled = false}, kClock);

    EXPECT_EQ(message.ShortDebugString(), "address: \"10.66.0.2\" state: \"disabled\"");
}

TEST(TranslateEvpn, RequestsChooseByPeerAndType) {
    const bgp::RouteRow from = row(bgp::MacIp{.rd = kRd});
    v1::EvpnRoutesRequest request;
    EXPECT_TRUE(matches(request, from));

    request.set_type(2);
    request.set_peer("10.66.0.2");
    EXPECT_TRUE(matches(request, from));

    request.set_type(5);
    EXPECT_FALSE(matches(request, from));
    request.set_type(2);
    request.set_peer("10.66.0.9");
    EXPECT_FALSE(matches(request, from));
}

// Segments ----------------------------------------------------------------------------------------

evpn::SegmentView segment() {
    const IpAddress other = IpAddress::v4(10, 66, 0, 1);
    const evpn::DfOffer offer{.algorithm = 2, .bitmap = 0x8000, .preference = 200};
    return {.esi = *evpn::Esi::received(kEsi),
            .port = "bond1",
            .up = true,
            .announced = true,
            .offer = offer,
            .roles = {{.vrf = "default",
                       .vni = 100,
                       .role = evpn::DfRole::Backup,
                       .result = {.forwarder = other,
                                  .backup = kPeer,
                                  .algorithm = evpn::DfAlgorithm::Modulus,
                                  .fell_back = true},
                       .elected = true,
                       .candidates = {{.originator = other, .offer = {.algorithm = 31}},
                                      {.originator = kPeer, .offer = offer}}}},
            .local = 3,
            .synced = 4};
}
v1::Segment filled(const evpn::SegmentView& from) {
    v1::Segment message;
    fill(message, from);
    return message;
}

TEST(TranslateEvpn, Segment) {
    EXPECT_EQ(filled(segment()).ShortDebugString(),
              "esi: \"03:44:38:39:ff:ff:01:00:00:01\" port: \"bond1\" up: true announced: true "
              "role: \"backup\" forwarder: \"10.66.0.1\" local_hosts: 3 synced_hosts: 4 "
              "algorithm: \"highest_preference\" preference: 200 "
              "vrfs { vrf: \"default\" vni: 100 role: \"backup\" forwarder: \"10.66.0.1\" "
              "backup: \"10.66.0.2\" algorithm: \"modulus\" fell_back: true "
              "leaves { leaf: \"10.66.0.1\" algorithm: \"algorithm_31\" } "
              "leaves { leaf: \"10.66.0.2\" algorithm: \"highest_preference\" preference: 200 "
              "dont_preempt: true } }");
}

TEST(TranslateEvpn, SegmentThatIsNotAnnouncedOrNotElectedYetHasNoForwarder) {
    evpn::SegmentView from = segment();
    from.roles.at(0).elected = false;
    EXPECT_EQ(filled(from).role(), "waiting");
    EXPECT_EQ(filled(from).forwarder(), "");
    from.announced = false;
    EXPECT_EQ(filled(from).role(), "down");
    EXPECT_EQ(filled(from).vrfs(0).algorithm(), "");
}

TEST(TranslateEvpn, SegmentWhoseVrfsDiffer) {
    evpn::SegmentView from = segment();
    evpn::VrfRoleView& red = from.roles.emplace_back(from.roles.front());
    red.role = evpn::DfRole::Df;
    EXPECT_EQ(filled(from).role(), "differs");
    EXPECT_EQ(filled(from).forwarder(), "10.66.0.1");
    red.result.forwarder = kPeer;
    EXPECT_EQ(filled(from).forwarder(), "");
    EXPECT_EQ(filled(from).vrfs(1).forwarder(), "10.66.0.2");
}

}  // namespace
}  // namespace planed::api
