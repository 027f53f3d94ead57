// SPDX-License-Identifier: Apache-2.0
#include "packet/arp.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/packet/frames.hpp"

namespace planed::packet {
namespace {

Heard from_host(Kind kind, const char* target) {
    return {.kind = kind,
            .ethernet_source = host_mac(),
            .ethernet_destination = broadcast_mac(),
            .sender = ip("10.0.0.5"),
            .sender_mac = host_mac(),
            .target = ip(target),
            .to_multicast = true};
}

TEST(Arp, ReadsARequest) {
    Heard expected = from_host(Kind::ArpRequest, "10.0.0.5");
    expected.ethernet_source = leaf_mac();
    expected.sender_mac = leaf_mac();
    expected.sender = ip("10.0.0.1");
    EXPECT_EQ(heard("arp-request"), expected);

    expected.ethernet_destination = host_mac();
    expected.to_multicast = false;
    EXPECT_EQ(heard("arp-request-unicast"), expected);
}

TEST(Arp, ReadsAReply) {
    Heard expected = from_host(Kind::ArpReply, "10.0.0.1");
    expected.ethernet_destination = leaf_mac();
    expected.target_mac = leaf_mac();
    expected.to_multicast = false;

    EXPECT_EQ(heard("arp-reply"), expected);
}

TEST(Arp, AnAnnouncementIsOneAsRequestAndAsReply) {
    EXPECT_EQ(heard("arp-announcement-request"), from_host(Kind::ArpAnnouncement, "10.0.0.5"));

    Heard expected = from_host(Kind::ArpAnnouncement, "10.0.0.5");
    expected.target_mac = host_mac();
    EXPECT_EQ(heard("arp-announcement-reply"), expected);
}

TEST(Arp, AProbeComesFromNoAddressYet) {
    Heard expected = from_host(Kind::ArpProbe, "10.0.0.1");
    expected.sender = IpAddress();

    EXPECT_EQ(heard("arp-probe"), expected);
    EXPECT_EQ(tentative(heard("arp-probe")), ip("10.0.0.1"));
}

TEST(Arp, AReplyToAProbeGoesToNoAddressYet) {
    const Heard reply = heard("arp-probe-reply");

    EXPECT_EQ(reply.kind, Kind::ArpReply);
    EXPECT_EQ(reply.target, IpAddress());
    EXPECT_EQ(evidence(reply), (Evidence{.address = ip("10.0.0.1"), .mac = leaf_mac()}));
}

TEST(Arp, PaddingIsNoPartOfIt) {
    EXPECT_EQ(heard(cut_to(wire("arp-reply"), 60)), heard("arp-reply"));
    EXPECT_EQ(heard(and_then(wire("arp-reply"), Buffer(1000, 0xFF))), heard("arp-reply"));
}

TEST(Arp, ACutOneIsRefused) {
    expect_prefixes_refused("arp-request");
    expect_prefixes_refused("arp-reply");
}

TEST(Arp, TheHeaderMustSayIpv4OverEthernet) {
    const Buffer frame = wire("arp-request");
    expect_refused({
        {"token ring", with(frame, kArp, Buffer{0x00, 0x04}), Refusal::ArpHardware},
        {"IEEE 802", with(frame, kArp, Buffer{0x00, 0x06}), Refusal::ArpHardware},
        {"its other byte", with(frame, kArp, Buffer{0x01, 0x01}), Refusal::ArpHardware},
        {"IPv6", with(frame, kArp + 2, Buffer{0x86, 0xDD}), Refusal::ArpProtocol},
        {"long MAC", with(frame, kArp + 4, Buffer{8}), Refusal::ArpLengths},
        {"no MAC", with(frame, kArp + 4, Buffer{0}), Refusal::ArpLengths},
        {"long address", with(frame, kArp + 5, Buffer{16}), Refusal::ArpLengths},
        {"no address", with(frame, kArp + 5, Buffer{0}), Refusal::ArpLengths},
    });
}

TEST(Arp, OnlyRequestsAndRepliesAreRead) {
    const Buffer frame = wire("arp-request");
    expect_refused({
        {"0", with(frame, kArpOperation, Buffer{0x00, 0x00}), Refusal::ArpOperation},
        {"RARP", with(frame, kArpOperation, Buffer{0x00, 0x03}), Refusal::ArpOperation},
        {"InARP", with(frame, kArpOperation, Buffer{0x00, 0x08}), Refusal::ArpOperation},
        {"its other byte", with(frame, kArpOperation, Buffer{0x01, 0x01}), Refusal::ArpOperation},
    });
}

TEST(Arp, TheSendersMacMustBeTheFramesSource) {
    const Buffer frame = wire("arp-reply");
    expect_refused({
        {"zero", with(frame, kArpSenderMac, MacAddress()), Refusal::ArpSenderMac},
        {"broadcast", with(frame, kArpSenderMac, broadcast_mac()), Refusal::ArpSenderMac},
        {"a group", with(frame, kArpSenderMac, mac("03:00:00:00:00:05")), Refusal::ArpSenderMac},
        {"another", with(frame, kArpSenderMac, leaf_mac()), Refusal::ArpMacMismatch},
        {"another source", with(frame, kSourceMac, leaf_mac()), Refusal::ArpMacMismatch},
    });
}

TEST(Arp, TheSenderMustBeOneThatAHostCanBe) {
    for (const char* address :
         {"0.0.0.1", "127.0.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"}) {
        EXPECT_EQ(refusal_of(with(wire("arp-request"), kArpSender, ip(address))), "arp_sender");
        EXPECT_EQ(refusal_of(with(wire("arp-reply"), kArpSender, ip(address))), "arp_sender");
    }
    EXPECT_EQ(refusal_of(with(wire("arp-reply"), kArpSender, ip("0.0.0.0"))), "arp_sender");
    EXPECT_EQ(refusal_of(with(wire("arp-request"), kArpSender, ip("169.254.0.1"))), "-");
    EXPECT_EQ(refusal_of(with(wire("arp-request"), kArpSender, ip("223.255.255.255"))), "-");
}

TEST(Arp, TheTargetMustBeOneThatAHostCanBe) {
    for (const char* address :
         {"0.0.0.1", "127.0.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"}) {
        EXPECT_EQ(refusal_of(with(wire("arp-request"), kArpTarget, ip(address))), "arp_target");
        EXPECT_EQ(refusal_of(with(wire("arp-reply"), kArpTarget, ip(address))), "arp_target");
    }
    EXPECT_EQ(refusal_of(with(wire("arp-request"), kArpTarget, ip("0.0.0.0"))), "arp_target");
    EXPECT_EQ(refusal_of(with(wire("arp-probe"), kArpTarget, ip("0.0.0.0"))), "arp_target");
}

TEST(Arp, WhatARequestSaysOfItsTargetsMacMeansNothing) {
    const Buffer frame = with(wire("arp-request"), kArpTargetMac, broadcast_mac());

    EXPECT_EQ(heard(frame), heard("arp-request"));
}

TEST(Arp, WritesRequestsAsLinuxDoes) {
    ArpRequest request{
        .source_mac = leaf_mac(), .source = ip("10.0.0.1"), .target = ip("10.0.0.5")};
    EXPECT_EQ(arp_request(request), wire("arp-request"));

    request.to = host_mac();
    EXPECT_EQ(arp_request(request), wire("arp-request-unicast"));
}

TEST(Arp, WritesRepliesAsLinuxDoes) {
    ArpReply reply{.mac = host_mac(),
                   .address = ip("10.0.0.5"),
                   .to = leaf_mac(),
                   .to_address = ip("10.0.0.1")};
    EXPECT_EQ(arp_reply(reply), wire("arp-reply"));

    reply = {.mac = leaf_mac(), .address = ip("10.0.0.1"), .to = host_mac()};
    EXPECT_EQ(arp_reply(reply), wire("arp-probe-reply"));
}

TEST(Arp, WritesProbesThatClaimNothing) {
    const auto probe = arp_request({.source_mac = leaf_mac(), .target = ip("10.0.0.5")});

    EXPECT_EQ(heard(probe).kind, Kind::ArpProbe);
    EXPECT_EQ(evidence(heard(probe)), std::nullopt);
}

TEST(Arp, WritesIntoAVlan) {
    const auto vlan = static_cast<VlanId>(300);
    const Buffer tag{0x81, 0x00, 0x01, 0x2C};

    EXPECT_EQ(arp_request({.source_mac = leaf_mac(),
                           .source = ip("10.0.0.1"),
                           .target = ip("10.0.0.5"),
                           .vlan = vlan}),
              tagged(wire("arp-request"), tag));
    EXPECT_EQ(
        arp_reply({.mac = leaf_mac(), .address = ip("10.0.0.1"), .to = host_mac(), .vlan = vlan}),
        tagged(wire("arp-probe-reply"), tag));
}

}  // namespace
}  // namespace planed::packet
