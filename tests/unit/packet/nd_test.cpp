// SPDX-License-Identifier: Apache-2.0
#include "packet/nd.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "packet/checksum.hpp"
#include "unit/packet/frames.hpp"

namespace planed::packet {
namespace {

// The option of RFC 3971 5.3.2, which RFC 7527 puts into DAD.
Buffer nonce() {
    return {14, 1, 1, 2, 3, 4, 5, 6};
}

Heard ns_of_leaf() {
    return {.kind = Kind::Solicitation,
            .ethernet_source = leaf_mac(),
            .ethernet_destination = mac("33:33:ff:00:00:05"),
            .sender = ip("fd00::1"),
            .sender_mac = leaf_mac(),
            .target = ip("fd00::5"),
            .to_multicast = true};
}

Heard na_of_host() {
    return {.kind = Kind::Advertisement,
            .ethernet_source = host_mac(),
            .ethernet_destination = leaf_mac(),
            .sender = ip("fd00::5"),
            .target = ip("fd00::5"),
            .target_mac = host_mac(),
            .flags = {.solicited = true, .overrides = true}};
}

Buffer without_option(const char* name) {
    return repaired(cut_to(wire(name), kNdOption));
}

TEST(Nd, ReadsASolicitation) {
    EXPECT_EQ(heard("ns"), ns_of_leaf());

    Heard unicast = ns_of_leaf();
    unicast.ethernet_destination = host_mac();
    unicast.sender = ip("fe80::ff:fe00:1");
    unicast.to_multicast = false;
    EXPECT_EQ(heard("ns-unicast"), unicast);
}

TEST(Nd, ASolicitationWithoutAMacIsHeardAllTheSame) {
    Heard expected = ns_of_leaf();
    expected.sender_mac = std::nullopt;

    EXPECT_EQ(heard(without_option("ns")), expected);
    EXPECT_EQ(evidence(expected), std::nullopt);
}

TEST(Nd, DadComesFromNoAddressYet) {
    const Heard dad = heard("ns-dad");

    EXPECT_EQ(dad,
              (Heard{.kind = Kind::DadSolicitation,
                     .ethernet_source = host_mac(),
                     .ethernet_destination = mac("33:33:ff:00:00:07"),
                     .sender = ip("::"),
                     .target = ip("fd00::7"),
                     .to_multicast = true}));
    EXPECT_EQ(tentative(dad), ip("fd00::7"));
}

TEST(Nd, ReadsASolicitedAdvertisement) {
    EXPECT_EQ(heard("na"), na_of_host());
}

// Linux leaves the option out where the asker has shown that it knows the MAC.
TEST(Nd, ReadsAnAdvertisementWithoutAMac) {
    Heard expected = na_of_host();
    expected.target_mac = std::nullopt;
    expected.flags.overrides = false;

    EXPECT_EQ(heard("na-of-unicast"), expected);
}

TEST(Nd, ReadsAnUnsolicitedAdvertisement) {
    Heard expected = na_of_host();
    expected.ethernet_destination = mac("33:33:00:00:00:01");
    expected.sender = ip("fd00::8");
    expected.target = ip("fd00::8");
    expected.to_multicast = true;
    expected.flags.solicited = false;

    EXPECT_EQ(heard("na-unsolicited"), expected);
}

TEST(Nd, TheSenderOfAnAdvertisementNeedNotBeItsTarget) {
    EXPECT_EQ(heard("na-proxy").sender, ip("fd00::1"));
    EXPECT_EQ(heard("na-proxy").target, ip("fd00::9"));
}

TEST(Nd, ReadsEachFlag) {
    const auto flags = [](std::uint8_t byte) {
        return heard(repaired(with(wire("na"), kNdFlags, Buffer{byte}))).flags;
    };
    EXPECT_EQ(flags(0x00), AdvertisementFlags());
    EXPECT_EQ(flags(0x80), (AdvertisementFlags{.router = true}));
    EXPECT_EQ(flags(0x40), (AdvertisementFlags{.solicited = true}));
    EXPECT_EQ(flags(0x20), (AdvertisementFlags{.overrides = true}));
    EXPECT_EQ(flags(0x1F), AdvertisementFlags());  // Reserved: ignored (RFC 4861 4.4).
}

TEST(Nd, TheReservedFieldOfASolicitationIsIgnored) {
    const Buffer frame = with(wire("ns"), kNdFlags, Buffer{0xFF, 0xFF, 0xFF, 0xFF});

    EXPECT_EQ(heard(repaired(frame)), ns_of_leaf());
}

TEST(Nd, PaddingIsNoPartOfIt) {
    EXPECT_EQ(heard(and_then(wire("ns"), Buffer(100, 0xFF))), ns_of_leaf());
}

TEST(Nd, ACutOneIsRefused) {
    expect_prefixes_refused("ns");
    expect_prefixes_refused("na");
}

TEST(Nd, OtherIpv6IsNotOurs) {
    const Buffer frame = wire("ns");
    expect_refused({
        {"UDP", with(frame, kIpv6NextHeader, Buffer{17}), Refusal::NotOurs},
        {"hop-by-hop options", with(frame, kIpv6NextHeader, Buffer{0}), Refusal::NotOurs},
        {"a fragment", with(frame, kIpv6NextHeader, Buffer{44}), Refusal::NotOurs},
        {"echo request", repaired(with(frame, kIcmp, Buffer{128})), Refusal::NotOurs},
        {"router advertisement", repaired(with(frame, kIcmp, Buffer{134})), Refusal::NotOurs},
        {"redirect", repaired(with(frame, kIcmp, Buffer{137})), Refusal::NotOurs},
        {"no payload", with(frame, kIpv6Length, Buffer{0, 0}), Refusal::NotOurs},
    });
}

TEST(Nd, Ipv6MustBeOfVersion6) {
    expect_refused({{"4", with(wire("ns"), kArp, Buffer{0x40}), Refusal::Ipv6Version},
                    {"7", with(wire("ns"), kArp, Buffer{0x70}), Refusal::Ipv6Version}});
}

TEST(Nd, MustNotHaveComeThroughARouter) {
    expect_refused({{"254", with(wire("ns"), kIpv6HopLimit, Buffer{254}), Refusal::NdHopLimit},
                    {"64", with(wire("na"), kIpv6HopLimit, Buffer{64}), Refusal::NdHopLimit}});
}

TEST(Nd, TheChecksumMustBeRight) {
    const auto flipped = [](const char* name, std::size_t at) {
        Buffer frame = wire(name);
        frame[at] ^= 0x01U;
        return frame;
    };
    expect_refused({
        {"itself", flipped("ns", kIcmpChecksum + 1), Refusal::NdChecksum},
        {"target", flipped("ns", kNdTarget + 15), Refusal::NdChecksum},
        {"option", flipped("na", kNdOption + 7), Refusal::NdChecksum},
        {"source", flipped("na", kIpv6Source + 15), Refusal::NdChecksum},
        {"destination", flipped("na", kIpv6Destination + 15), Refusal::NdChecksum},
        {"none", with(wire("na"), kIcmpChecksum, Buffer{0, 0}), Refusal::NdChecksum},
    });
}

TEST(Nd, TheCodeMustBeZero) {
    expect_refused({{"NS", repaired(with(wire("ns"), kIcmpCode, Buffer{1})), Refusal::NdCode},
                    {"NA", repaired(with(wire("na"), kIcmpCode, Buffer{255})), Refusal::NdCode}});
}

TEST(Nd, TheFixedPartMustBeThere) {
    for (std::size_t size = 1; size < 24; ++size) {
        const Buffer frame =
            with(wire("ns"), kIpv6Length, Buffer{0, static_cast<std::uint8_t>(size)});
        EXPECT_EQ(refusal_of(frame), "nd_length") << size;
    }
}

TEST(Nd, TheTargetMustBeOneThatAHostCanBe) {
    for (const char* address : {"::", "::1", "ff02::1", "ff02::1:ff00:5"}) {
        for (const char* name : {"ns", "na", "ns-dad"}) {
            EXPECT_EQ(refusal_of(repaired(with(wire(name), kNdTarget, ip(address)))), "nd_target")
                << name << ' ' << address;
        }
    }
    EXPECT_EQ(refusal_of(repaired(with(wire("na"), kNdTarget, ip("fe80::5")))), "-");
}

TEST(Nd, TheSenderMustBeOneThatAHostCanBe) {
    for (const char* address : {"::1", "ff02::1"}) {
        EXPECT_EQ(refusal_of(repaired(with(wire("ns"), kIpv6Source, ip(address)))), "nd_sender");
    }
    for (const char* address : {"::", "::1", "ff02::1"}) {
        EXPECT_EQ(refusal_of(repaired(with(wire("na"), kIpv6Source, ip(address)))), "nd_sender");
    }
}

TEST(Nd, DadAsksASolicitedNodeGroup) {
    for (const char* address :
         {"fd00::7", "ff02::1", "ff02::2:ff00:7", "ff02::1:fe00:7", "ff05::1:ff00:7"}) {
        EXPECT_EQ(refusal_of(repaired(with(wire("ns-dad"), kIpv6Destination, ip(address)))),
                  "nd_destination")
            << address;
    }
}

TEST(Nd, DadHasNoSourceMac) {
    const Buffer option{1, 1, 2, 0, 0, 0, 0, 5};
    const Buffer other{2, 1, 2, 0, 0, 0, 0, 5};  // A target's, which means nothing in an NS.

    EXPECT_EQ(refusal_of(repaired(and_then(wire("ns-dad"), option))), "nd_dad_with_source");
    EXPECT_EQ(refusal_of(repaired(and_then(wire("ns-dad"), other))), "-");
}

TEST(Nd, ASolicitedAdvertisementGoesToOne) {
    const Buffer frame = repaired(with(wire("na"), kIpv6Destination, ip("ff02::1")));

    EXPECT_EQ(refusal_of(frame), "nd_solicited_to_group");
}

TEST(Nd, EveryOptionHasALength) {
    const Buffer bare = without_option("ns");
    const auto option = [&](const Buffer& bytes) { return repaired(and_then(bare, bytes)); };
    expect_refused({
        {"zero", with(wire("ns"), kNdOption + 1, Buffer{0}), Refusal::NdChecksum},
        {"zero", repaired(with(wire("ns"), kNdOption + 1, Buffer{0})), Refusal::NdOptionLength},
        {"unknown, zero", option({200, 0, 0, 0, 0, 0, 0, 0}), Refusal::NdOptionLength},
        {"past the end", option({200, 2, 0, 0, 0, 0, 0, 0}), Refusal::NdOptionLength},
        {"far past the end", option({1, 255, 2, 0, 0, 0, 0, 1}), Refusal::NdOptionLength},
        {"type alone", option({1}), Refusal::NdOptionLength},
        {"odd end", option({1, 1, 2, 0, 0, 0, 0}), Refusal::NdOptionLength},
        {"second is zero", repaired(and_then(wire("ns"), {14, 0})), Refusal::NdOptionLength},
    });
}

TEST(Nd, OptionsOfOtherKindsAreSkipped) {
    EXPECT_EQ(heard(repaired(and_then(wire("ns"), nonce()))), ns_of_leaf());
    const Buffer nonce_first =
        and_then(and_then(without_option("ns"), nonce()), {1, 1, 2, 0, 0, 0, 0, 1});
    EXPECT_EQ(heard(repaired(nonce_first)), ns_of_leaf());
    // A source's in an NA, whatever it says.
    const Buffer sources = and_then(wire("na"), {1, 1, 9, 9, 9, 9, 9, 9});
    EXPECT_EQ(heard(repaired(sources)), na_of_host());
    Buffer many = wire("ns");
    for (int i = 0; i < 200; ++i) {
        many = and_then(std::move(many), nonce());
    }
    EXPECT_EQ(heard(repaired(many)), ns_of_leaf());
}

TEST(Nd, TheOptionsMacMustBeTheFramesSource) {
    for (const char* name : {"ns", "na"}) {
        const auto option = [&](const MacAddress& value) {
            return repaired(with(wire(name), kNdOption + 2, value));
        };
        EXPECT_EQ(refusal_of(option(MacAddress())), "nd_link_layer") << name;
        EXPECT_EQ(refusal_of(option(broadcast_mac())), "nd_link_layer") << name;
        EXPECT_EQ(refusal_of(option(mac("33:33:00:00:00:01"))), "nd_link_layer") << name;
        EXPECT_EQ(refusal_of(option(mac("02:00:00:00:00:99"))), "nd_mac_mismatch") << name;
    }
}

TEST(Nd, TheOptionsMacMustBeEthernets) {
    const Buffer frame = and_then(wire("ns"), Buffer(8, 0));

    EXPECT_EQ(refusal_of(repaired(with(frame, kNdOption + 1, Buffer{2}))), "nd_link_layer");
}

TEST(Nd, NoSecondOptionNamesAnotherMac) {
    EXPECT_EQ(heard(repaired(and_then(wire("na"), {2, 1, 2, 0, 0, 0, 0, 5}))), na_of_host());
    EXPECT_EQ(refusal_of(repaired(and_then(wire("na"), {2, 1, 2, 0, 0, 0, 0, 6}))),
              "nd_mac_mismatch");
}

TEST(Nd, KnowsTheGroupsOfAnAddress) {
    EXPECT_EQ(solicited_node(ip("fd00::1234:5678")), ip("ff02::1:ff34:5678"));
    EXPECT_EQ(multicast_mac(ip("ff02::1:ff34:5678")), mac("33:33:ff:34:56:78"));
    EXPECT_EQ(multicast_mac(ip("ff02::1")), mac("33:33:00:00:00:01"));
}

TEST(Nd, WritesSolicitationsAsLinuxDoes) {
    Solicitation ask{.source_mac = leaf_mac(), .source = ip("fd00::1"), .target = ip("fd00::5")};
    EXPECT_EQ(solicitation(ask), wire("ns"));

    ask.source = ip("fe80::ff:fe00:1");
    ask.to = host_mac();
    EXPECT_EQ(solicitation(ask), wire("ns-unicast"));
}

TEST(Nd, WritesAdvertisementsAsLinuxDoes) {
    EXPECT_EQ(advertisement({.mac = host_mac(),
                             .target = ip("fd00::5"),
                             .source = ip("fd00::5"),
                             .to = Receiver{.address = ip("fd00::1"), .mac = leaf_mac()},
                             .flags = {.solicited = true, .overrides = true}}),
              wire("na"));
    EXPECT_EQ(advertisement({.mac = host_mac(),
                             .target = ip("fd00::8"),
                             .source = ip("fd00::8"),
                             .flags = {.overrides = true}}),
              wire("na-unsolicited"));
}

TEST(Nd, WritesIntoAVlan) {
    const auto vlan = static_cast<VlanId>(300);
    const Buffer tag{0x81, 0x00, 0x01, 0x2C};

    EXPECT_EQ(solicitation({.source_mac = leaf_mac(),
                            .source = ip("fd00::1"),
                            .target = ip("fd00::5"),
                            .vlan = vlan}),
              tagged(wire("ns"), tag));
    EXPECT_EQ(advertisement({.mac = host_mac(),
                             .target = ip("fd00::8"),
                             .source = ip("fd00::8"),
                             .flags = {.overrides = true},
                             .vlan = vlan}),
              tagged(wire("na-unsolicited"), tag));
}

TEST(Nd, WritesEachFlagAsItIsRead) {
    for (unsigned bits = 0; bits < 8; ++bits) {
        const AdvertisementFlags flags{.router = (bits & 1U) != 0,
                                       .solicited = (bits & 2U) != 0,
                                       .overrides = (bits & 4U) != 0};

        const auto frame =
            advertisement({.mac = host_mac(),
                           .target = ip("fd00::5"),
                           .source = ip("fd00::5"),
                           .to = Receiver{.address = ip("fd00::1"), .mac = leaf_mac()},
                           .flags = flags});

        EXPECT_EQ(heard(frame).flags, flags);
    }
}

// RFC 1071's own example is 16-bit words; a last byte alone is the high half of one.
TEST(Checksum, AnOddLengthIsFilledUpWithZero) {
    const Buffer odd{0x80, 0x00, 0x00, 0x00, 0xAB};
    const auto checksum = icmpv6_checksum(ip("::"), ip("::"), odd);

    EXPECT_EQ(checksum, 0xFFFF - (0x8000 + 0xAB00 + 5 + 58 - 0xFFFF));
}

TEST(Checksum, TheCarryOfACarryComesRound) {
    const Buffer words{0xFF, 0xFF, 0xFF, 0xC2};  // With the length and 58: 0x1FFFF, 0x10000, 1.

    EXPECT_EQ(icmpv6_checksum(ip("::"), ip("::"), words), 0xFFFE);
}

TEST(Checksum, CarriesOfManyWordsComeRound) {
    const Buffer full(1500, 0xFF);  // 750 words of -0 add nothing.

    EXPECT_EQ(icmpv6_checksum(ip("::"), ip("::"), full), 0xFFFF - (1500 + 58));
}

}  // namespace
}  // namespace planed::packet
