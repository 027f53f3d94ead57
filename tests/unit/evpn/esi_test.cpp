// SPDX-License-Identifier: Apache-2.0
#include "evpn/esi.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace planed::evpn {
namespace {

MacAddress mac(std::string_view text) {
    return MacAddress::parse(text).value();
}

TEST(Esi, OfLacpIsTheServersSystemAndKey) {
    const Esi esi = Esi::lacp(mac("00:11:22:33:44:55"), 9);

    EXPECT_EQ(esi.to_string(), "01:00:11:22:33:44:55:00:09:00");
    EXPECT_EQ(esi.type(), 1);
    EXPECT_EQ(esi.import_target(), mac("00:11:22:33:44:55"));
}

TEST(Esi, OfAMacHasATwentyFourBitNumber) {
    const MacAddress system = mac("44:38:39:ff:ff:01");

    EXPECT_EQ(Esi::of_mac(system, 1)->to_string(), "03:44:38:39:ff:ff:01:00:00:01");
    EXPECT_EQ(Esi::of_mac(system, 16777215)->to_string(), "03:44:38:39:ff:ff:01:ff:ff:ff");
    EXPECT_EQ(Esi::of_mac(system, 0), std::nullopt);
    EXPECT_EQ(Esi::of_mac(system, 16777216), std::nullopt);
    EXPECT_EQ(Esi::of_mac(MacAddress(), 1), std::nullopt);
}

TEST(Esi, OfAMacSharesItsImportTargetWithAllOfThatMac) {
    const MacAddress system = mac("44:38:39:ff:ff:01");
    const Esi first = Esi::of_mac(system, 1).value();
    const Esi second = Esi::of_mac(system, 2).value();

    EXPECT_EQ(first.import_target(), system);
    EXPECT_EQ(second.import_target(), first.import_target());
    EXPECT_NE(second, first);
}

TEST(Esi, IsArbitraryInItsNineOctets) {
    const auto esi = Esi::arbitrary({0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99});

    EXPECT_EQ(esi->to_string(), "00:11:22:33:44:55:66:77:88:99");
    EXPECT_EQ(esi->import_target(), mac("11:22:33:44:55:66"));
    EXPECT_EQ(Esi::arbitrary({}), std::nullopt) << "that would be single-homed";
}

TEST(Esi, PrintsWhatItParses) {
    for (const std::string text : {"00:11:22:33:44:55:66:77:88:99",
                                   "01:00:11:22:33:44:55:00:09:00",
                                   "02:00:11:22:33:44:55:80:00:00",
                                   "03:44:38:39:ff:ff:01:ff:ff:ff",
                                   "04:0a:00:00:01:00:00:00:07:00",
                                   "05:00:00:fd:e8:00:00:00:07:00"}) {
        const auto esi = Esi::parse(text);

        ASSERT_TRUE(esi) << text;
        EXPECT_EQ(esi->to_string(), text);
        EXPECT_EQ(esi->type(), text[1] - '0');
    }
    EXPECT_EQ(Esi::parse("03:44:38:39:FF:FF:01:00:00:0A")->to_string(),
              "03:44:38:39:ff:ff:01:00:00:0a");
}

struct Wrong {
    std::string text;
    std::string why;
};

TEST(Esi, SaysWhyATextIsNone) {
    const std::string form = " is no ESI: write ten octets, as in 03:44:38:39:ff:ff:01:00:00:01";
    const std::vector<Wrong> wrongs{
        {"", "\"\"" + form},
        {"1", "\"1\"" + form},
        {"03:44:38:39:ff:ff:01:00:00", "\"03:44:38:39:ff:ff:01:00:00\"" + form},
        {"03:44:38:39:ff:ff:01:00:00:01:", "\"03:44:38:39:ff:ff:01:00:00:01:\"" + form},
        {"03-44-38-39-ff-ff-01-00-00-01", "\"03-44-38-39-ff-ff-01-00-00-01\"" + form},
        {"03:44:38:39:fg:ff:01:00:00:01", "\"03:44:38:39:fg:ff:01:00:00:01\"" + form},
        {"03:44:38:39:+f:ff:01:00:00:01", "\"03:44:38:39:+f:ff:01:00:00:01\"" + form},
        {"00:00:00:00:00:00:00:00:00:00",
         "ESI 00:00:00:00:00:00:00:00:00:00 is reserved and names no segment"},
        {"ff:ff:ff:ff:ff:ff:ff:ff:ff:ff",
         "ESI ff:ff:ff:ff:ff:ff:ff:ff:ff:ff is reserved and names no segment"},
        {"06:00:00:00:00:00:00:00:00:01",
         "ESI 06:00:00:00:00:00:00:00:00:01: its first octet is its type, and there is no type 6"},
        {"01:00:11:22:33:44:55:00:09:01",
         "ESI 01:00:11:22:33:44:55:00:09:01: the last octet of type 1 must be 00"},
        {"04:0a:00:00:01:00:00:00:07:01",
         "ESI 04:0a:00:00:01:00:00:00:07:01: the last octet of type 4 must be 00"},
    };
    for (const auto& [text, why] : wrongs) {
        const auto esi = Esi::parse(text);

        ASSERT_FALSE(esi) << text;
        EXPECT_EQ(esi.error().code, Errc::Invalid);
        EXPECT_EQ(esi.error().text, why);
    }
}

TEST(Esi, OfAPeerIsAnythingButTheReservedTwo) {
    Esi::Octets ones{};
    ones.fill(0x01);
    Esi::Octets all{};
    all.fill(0xFF);

    EXPECT_EQ(Esi::received(ones)->octets(), ones);
    EXPECT_EQ(Esi::received({}), std::nullopt);
    EXPECT_EQ(Esi::received(all), std::nullopt);
    all[9] = 0xFE;
    EXPECT_NE(Esi::received(all), std::nullopt);
}

}  // namespace
}  // namespace planed::evpn
