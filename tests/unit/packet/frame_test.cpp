// SPDX-License-Identifier: Apache-2.0
#include "packet/frame.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/packet/frames.hpp"

namespace planed::packet {
namespace {

constexpr auto kVlan100 = static_cast<VlanId>(100);

TEST(Frame, ATagInTheFrameIsItsVlan) {
    Heard expected = heard("arp-request");
    expected.vlan = kVlan100;

    EXPECT_EQ(heard(tagged(wire("arp-request"), {0x81, 0x00, 0x00, 0x64})), expected);
}

TEST(Frame, ATagBesideTheFrameIsItsVlan) {
    Heard expected = heard("ns");
    expected.vlan = kVlan100;

    EXPECT_EQ(heard(wire("ns"), Tag{.control = 100}), expected);
}

TEST(Frame, PriorityAndDropEligibilityAreNoPartOfTheVlan) {
    EXPECT_EQ(heard(wire("arp-request"), Tag{.control = 0xF064}).vlan, kVlan100);
    EXPECT_EQ(heard(tagged(wire("arp-request"), {0x81, 0x00, 0xF0, 0x64})).vlan, kVlan100);
}

TEST(Frame, AVlanOfZeroIsAPriorityAlone) {
    EXPECT_EQ(heard(wire("arp-request"), Tag{.control = 0xE000}).vlan, VlanId::None);
}

TEST(Frame, TheLastVlanIsOneAndTheReservedIsNot) {
    EXPECT_EQ(heard(wire("arp-request"), Tag{.control = 4094}).vlan, static_cast<VlanId>(4094));
    EXPECT_EQ(refusal_of(wire("arp-request"), Tag{.control = 4095}), "tag_vlan");
    EXPECT_EQ(refusal_of(tagged(wire("arp-request"), {0x81, 0x00, 0x0F, 0xFF})), "tag_vlan");
}

TEST(Frame, ATagInATagIsRefused) {
    const Buffer inner = tagged(wire("arp-request"), {0x81, 0x00, 0x00, 0x64});

    EXPECT_EQ(refusal_of(inner, Tag{.control = 5}), "tag_nested");
    EXPECT_EQ(refusal_of(tagged(inner, {0x81, 0x00, 0x00, 0x05})), "tag_nested");
    EXPECT_EQ(refusal_of(tagged(wire("ns"), {0x88, 0xA8, 0x00, 0x64}), Tag{.control = 5}),
              "tag_nested");
}

TEST(Frame, AProvidersTagIsRefused) {
    EXPECT_EQ(refusal_of(wire("ns"), Tag{.protocol = 0x88A8, .control = 100}), "tag_protocol");
    EXPECT_EQ(refusal_of(tagged(wire("ns"), {0x88, 0xA8, 0x00, 0x64})), "tag_protocol");
}

TEST(Frame, ItsSourceMustBeOneStation) {
    const Buffer frame = wire("arp-request");

    EXPECT_EQ(refusal_of(with(frame, kSourceMac, MacAddress())), "ethernet_source");
    EXPECT_EQ(refusal_of(with(frame, kSourceMac, broadcast_mac())), "ethernet_source");
    EXPECT_EQ(refusal_of(with(frame, kSourceMac, mac("01:00:5e:00:00:01"))), "ethernet_source");
}

TEST(Frame, OtherTypesAreNotOurs) {
    EXPECT_EQ(refusal_of(with(wire("arp-request"), kType, Buffer{0x08, 0x00})), "not_ours");
    EXPECT_EQ(refusal_of(with(wire("arp-request"), kType, Buffer{0x00, 0x2A})), "not_ours");
    EXPECT_EQ(refusal_of(with(wire("arp-request"), kType, Buffer{0x80, 0x35})), "not_ours");
}

TEST(Frame, ACutTagIsRefused) {
    const Buffer whole = tagged(wire("arp-request"), {0x81, 0x00, 0x00, 0x64});
    for (std::size_t size = 0; size < 18; ++size) {
        EXPECT_EQ(refusal_of(cut_to(whole, size)), "truncated") << size;
    }
}

TEST(Frame, IsWrittenAsItIsRead) {
    const Buffer payload{1, 2, 3};
    for (const VlanId vlan : {VlanId::None, kVlan100}) {
        const Ethernet header{.destination = leaf_mac(),
                              .source = host_mac(),
                              .vlan = vlan,
                              .type = 0x1234,
                              .payload = payload};
        Buffer bytes;
        ByteWriter out(bytes);
        write_ethernet(out, header);

        const auto read = read_ethernet({.bytes = bytes});

        ASSERT_TRUE(read);
        EXPECT_EQ(read->destination, header.destination);
        EXPECT_EQ(read->source, header.source);
        EXPECT_EQ(read->vlan, vlan);
        EXPECT_EQ(read->type, header.type);
        EXPECT_THAT(read->payload, testing::ElementsAre(1, 2, 3));
    }
}

}  // namespace
}  // namespace planed::packet
