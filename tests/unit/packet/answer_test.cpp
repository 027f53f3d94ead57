// SPDX-License-Identifier: Apache-2.0
#include "packet/answer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/packet/frames.hpp"

namespace planed::packet {
namespace {

Proxy leaf() {
    return {.mac = leaf_mac(), .source = ip("fd00::1"), .router = false};
}

TEST(Answer, ARequestGetsAReply) {
    const auto frame = answer(heard("arp-announcement-request"), leaf());
    EXPECT_EQ(frame, std::nullopt);

    // Were the host the proxy, it would say what it said.
    EXPECT_EQ(answer(heard("arp-request"), {.mac = host_mac()}), wire("arp-reply"));
    EXPECT_EQ(answer(heard("arp-request-unicast"), {.mac = host_mac()}), wire("arp-reply"));
}

TEST(Answer, AProbeGetsAReplyToNoAddress) {
    EXPECT_EQ(answer(heard("arp-probe"), {.mac = leaf_mac()}), wire("arp-probe-reply"));
}

TEST(Answer, ASolicitationGetsWhatLinuxAnswersForAProxiedAddress) {
    EXPECT_EQ(answer(heard("ns-for-proxy"), leaf()), wire("na-proxy"));
}

TEST(Answer, ASolicitationWithoutAMacIsAnsweredToWhereItCameFrom) {
    Heard question = heard("ns-for-proxy");
    question.sender_mac = std::nullopt;

    EXPECT_EQ(answer(question, leaf()), wire("na-proxy"));
}

TEST(Answer, DadIsAnsweredToAllNodes) {
    Proxy owner = leaf();
    owner.overrides = true;

    EXPECT_EQ(answer(heard("ns-dad-taken"), owner), wire("na-dad-taken"));
}

TEST(Answer, SaysByFlagsWhatTheProxyIs) {
    const auto flags = [](const Proxy& proxy) {
        return heard(answer(heard("ns-for-proxy"), proxy).value()).flags;
    };
    EXPECT_EQ(flags({.mac = leaf_mac(), .source = ip("fd00::1")}),
              (AdvertisementFlags{.router = true, .solicited = true}));
    EXPECT_EQ(flags({.mac = leaf_mac(), .source = ip("fd00::1"), .overrides = true}),
              (AdvertisementFlags{.router = true, .solicited = true, .overrides = true}));
}

TEST(Answer, StaysInTheVlan) {
    Heard arp = heard("arp-request");
    Heard ns = heard("ns");
    arp.vlan = ns.vlan = static_cast<VlanId>(7);

    EXPECT_EQ(heard(answer(arp, leaf()).value()).vlan, arp.vlan);
    EXPECT_EQ(heard(answer(ns, leaf()).value()).vlan, ns.vlan);
}

TEST(Answer, NothingIsSaidToWhatIsNoQuestion) {
    for (const char* name : {"arp-reply", "arp-announcement-reply", "na", "na-unsolicited"}) {
        EXPECT_EQ(answer(heard(name), leaf()), std::nullopt) << name;
    }
}

TEST(Answer, WithoutAnIpv6AddressNoNeighbourDiscoveryIsAnswered) {
    EXPECT_EQ(answer(heard("ns"), {.mac = leaf_mac()}), std::nullopt);
    EXPECT_EQ(answer(heard("ns-dad"), {.mac = leaf_mac()}), std::nullopt);
}

}  // namespace
}  // namespace planed::packet
