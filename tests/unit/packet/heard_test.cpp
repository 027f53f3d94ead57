// SPDX-License-Identifier: Apache-2.0
#include "packet/heard.hpp"

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/packet/frames.hpp"

namespace planed::packet {
namespace {

std::optional<Evidence> shown(const char* address, const MacAddress& mac, Strength strength) {
    return Evidence{.address = ip(address), .mac = mac, .strength = strength};
}

TEST(Evidence, ArpShowsItsSender) {
    const auto host = shown("10.0.0.5", host_mac(), Strength::Replaces);
    EXPECT_EQ(evidence(heard("arp-reply")), host);
    EXPECT_EQ(evidence(heard("arp-announcement-request")), host);
    EXPECT_EQ(evidence(heard("arp-announcement-reply")), host);
    EXPECT_EQ(evidence(heard("arp-request")), shown("10.0.0.1", leaf_mac(), Strength::Replaces));
}

TEST(Evidence, ASolicitationShowsItsSource) {
    EXPECT_EQ(evidence(heard("ns")), shown("fd00::1", leaf_mac(), Strength::Replaces));
    EXPECT_EQ(evidence(heard("ns-ndisc6")), shown("fd00::5", host_mac(), Strength::Replaces));
}

TEST(Evidence, AnAdvertisementShowsItsTarget) {
    EXPECT_EQ(evidence(heard("na")), shown("fd00::5", host_mac(), Strength::Replaces));
    EXPECT_EQ(evidence(heard("na-unsolicited")), shown("fd00::8", host_mac(), Strength::Replaces));
    EXPECT_EQ(evidence(heard("na-proxy")), shown("fd00::9", leaf_mac(), Strength::Creates));
}

TEST(Evidence, AnAdvertisementThatDoesNotOverrideMovesNothing) {
    Heard modest = heard("na");
    modest.flags.overrides = false;

    EXPECT_EQ(evidence(modest), shown("fd00::5", host_mac(), Strength::Creates));
}

TEST(Evidence, ASolicitedAdvertisementWithoutAMacConfirmsWhereItCameFrom) {
    EXPECT_EQ(evidence(heard("na-of-unicast")), shown("fd00::5", host_mac(), Strength::Confirms));
}

TEST(Evidence, AnAdvertisementWithoutAMacIsElseOfNothing) {
    Heard unasked = heard("na-of-unicast");
    unasked.flags = {.overrides = true};
    EXPECT_EQ(evidence(unasked), std::nullopt);

    Heard to_all = heard("na-of-unicast");
    to_all.to_multicast = true;
    EXPECT_EQ(evidence(to_all), std::nullopt);
}

TEST(Evidence, ATentativeAddressIsNobodys) {
    for (const char* name : {"arp-probe", "ns-dad", "ns-dad-taken"}) {
        EXPECT_EQ(evidence(heard(name)), std::nullopt) << name;
        EXPECT_NE(tentative(heard(name)), std::nullopt) << name;
    }
}

TEST(Evidence, OnlyProbesAreTentative) {
    for (const char* name : kVectors) {
        const bool probe =
            name == std::string("arp-probe") || std::string(name).starts_with("ns-dad");
        EXPECT_EQ(tentative(heard(name)).has_value(), probe) << name;
    }
}

TEST(Evidence, AStrongerOneMayDoWhatAWeakerMay) {
    EXPECT_LT(Strength::Confirms, Strength::Creates);
    EXPECT_LT(Strength::Creates, Strength::Replaces);
}

template <class Enum>
std::set<std::string> names(std::size_t count) {
    std::set<std::string> found;
    for (std::size_t i = 0; i < count; ++i) {
        found.insert(std::string(name(static_cast<Enum>(i))));
    }
    return found;
}

TEST(Names, EachIsThereOnceAndNoneIsLeftOut) {
    EXPECT_EQ(names<Kind>(kKinds).size(), kKinds);
    EXPECT_EQ(names<Refusal>(kRefusals).size(), kRefusals);
    EXPECT_FALSE(names<Kind>(kKinds).contains("?"));
    EXPECT_FALSE(names<Refusal>(kRefusals).contains("?"));
    EXPECT_EQ(static_cast<std::size_t>(Kind::Advertisement) + 1, kKinds);
    EXPECT_EQ(static_cast<std::size_t>(Refusal::NdDadWithSource) + 1, kRefusals);
}

}  // namespace
}  // namespace planed::packet
