// SPDX-License-Identifier: Apache-2.0
#include "core/fdb_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "support/builders.hpp"
#include "support/print.hpp"

namespace planed {

static bool operator==(const PortBinding& a, const PortBinding& b) {
    return a.port == b.port && a.live == b.live && a.unconfirmed == b.unconfirmed &&
           a.remembered == b.remembered && a.saved == b.saved;
}

namespace {

using test::bridge;
using test::bridge_port;
using test::mac;
using test::without_carrier;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr IfIndex kPort1{1};
constexpr IfIndex kPort2{2};
constexpr IfIndex kFdbBridge{10};
constexpr FdbKey kEntry{
    .bridge = kFdbBridge, .vlan = VlanId::None, .mac = MacAddress({2, 0, 0, 0, 0, 5})};

class FdbTableTest : public testing::Test {
protected:
    bool see(IfIndex port, bool port_up = true, Source source = Source::Event) {
        return table.see({.key = kEntry, .entry = {.port = port}, .source = source}, port_up);
    }
    std::vector<FdbKey> appear(const Link& link) {
        (void)links.see({.link = link});
        return table.link_appeared(link, links);
    }
    void disappear(IfIndex index) {
        const auto link = links.gone(index);
        table.link_gone(*link, links);
    }
    PortBinding binding() { return *table.find(kEntry); }

    LinkTable links;
    FdbTable table;
};

TEST_F(FdbTableTest, TellsOfANewMacAndOfItsMoves) {
    EXPECT_TRUE(see(kPort1));
    EXPECT_FALSE(see(kPort1));
    EXPECT_TRUE(see(kPort2));

    EXPECT_EQ(binding(), (PortBinding{.port = kPort2, .live = true}));
    EXPECT_THAT(table.behind(kPort1), IsEmpty());
    EXPECT_THAT(table.behind(kPort2), ElementsAre(kEntry));
}

TEST_F(FdbTableTest, RemembersThePortAfterTheEntryIsGone) {
    (void)see(kPort1);

    table.gone({.key = kEntry, .port = kPort1});

    EXPECT_EQ(binding(), (PortBinding{.port = kPort1}));
    EXPECT_THAT(table.behind(kPort1), ElementsAre(kEntry));
}

TEST_F(FdbTableTest, KeepsTheNewPlaceWhenTheOldOnesEndComesLate) {
    (void)see(kPort1);
    (void)see(kPort2);

    table.gone({.key = kEntry, .port = kPort1});

    EXPECT_EQ(binding(), (PortBinding{.port = kPort2, .live = true}));
}

TEST_F(FdbTableTest, TrustsAMacAgainOnlyWhenItIsHeardOnAPortThatIsUp) {
    (void)see(kPort1);
    EXPECT_THAT(table.distrust(kPort1), ElementsAre(kEntry));
    EXPECT_TRUE(binding().unconfirmed);

    EXPECT_FALSE(see(kPort1, false));
    EXPECT_TRUE(binding().unconfirmed);
    EXPECT_TRUE(see(kPort1, true));

    EXPECT_FALSE(binding().unconfirmed);
}

TEST_F(FdbTableTest, TrustsAMacThatSpokeBeforeTheLinkMessageOfItsPortArrived) {
    (void)see(kPort1);
    (void)table.distrust(kPort1);
    table.gone({.key = kEntry, .port = kPort1});
    (void)see(kPort1, false);

    EXPECT_THAT(table.port_up(kPort1), ElementsAre(kEntry));

    EXPECT_FALSE(binding().unconfirmed);
}

TEST_F(FdbTableTest, DoesNotTrustAMacWhoseEntryWasFlushedBeforeThePortCameUp) {
    (void)see(kPort1);
    (void)table.distrust(kPort1);
    (void)see(kPort1, false);
    table.gone({.key = kEntry, .port = kPort1});

    EXPECT_THAT(table.port_up(kPort1), ElementsAre(kEntry));

    EXPECT_TRUE(binding().unconfirmed);
}

TEST_F(FdbTableTest, DoesNotTrustAnEntryFromBeforeThePortWentDown) {
    (void)see(kPort1);
    (void)table.distrust(kPort1);  // The link message overtook the entry's end.

    (void)table.port_up(kPort1);

    EXPECT_TRUE(binding().unconfirmed);
}

TEST_F(FdbTableTest, ForgetsAMacThatTheKernelDoesNotHave) {
    (void)see(kPort1);
    table.forget(kEntry, "br0");
    EXPECT_EQ(binding(), (PortBinding{.port = kPort1, .live = true}));

    table.gone({.key = kEntry, .port = kPort1});
    table.forget(kEntry, "br0");

    EXPECT_EQ(table.find(kEntry), nullptr);
    EXPECT_THAT(table.behind(kPort1), IsEmpty());
}

// Dumps -------------------------------------------------------------------------------------------

TEST_F(FdbTableTest, TakesWhatACompleteDumpDidNotShowForAgedNotForForgotten) {
    (void)see(kPort1);
    table.dump_begin();
    table.dump_finish(true);

    EXPECT_EQ(binding(), (PortBinding{.port = kPort1}));
}

TEST_F(FdbTableTest, ConcludesNothingFromAnInterruptedDump) {
    (void)see(kPort1);
    table.dump_begin();
    table.dump_finish(false);

    EXPECT_TRUE(binding().live);
}

TEST_F(FdbTableTest, LetsAnEventOverruleTheRowOfARunningDump) {
    (void)see(kPort1);
    table.dump_begin();
    (void)see(kPort2);

    EXPECT_FALSE(see(kPort1, true, Source::Dump));
    EXPECT_EQ(binding().port, kPort2);
}

TEST_F(FdbTableTest, LetsARowOfTheDumpNotReviveWhatAnEventEnded) {
    (void)see(kPort1);
    table.dump_begin();
    table.gone({.key = kEntry, .port = kPort1});

    (void)see(kPort1, true, Source::Dump);
    table.dump_finish(true);

    EXPECT_FALSE(binding().live);
}

// Memory by names ---------------------------------------------------------------------------------

TEST_F(FdbTableTest, FindsARememberedPortWhicheverLinkAppearsLast) {
    const PortRemembered memory{.bridge = "br0", .mac = kEntry.mac, .port = "swp1"};
    table.remember(memory, links);
    EXPECT_THAT(appear(bridge(kFdbBridge, "br0")), IsEmpty());

    EXPECT_THAT(appear(bridge_port(kPort1, "swp1", kFdbBridge)), ElementsAre(kEntry));

    EXPECT_EQ(binding(), (PortBinding{.port = kPort1, .remembered = true, .saved = true}));
}

TEST_F(FdbTableTest, FindsARememberedPortThatIsThereAlready) {
    (void)appear(bridge_port(kPort1, "swp1", kFdbBridge));
    (void)appear(bridge(kFdbBridge, "br0"));

    table.remember({.bridge = "br0", .mac = kEntry.mac, .port = "swp1"}, links);

    EXPECT_EQ(binding(), (PortBinding{.port = kPort1, .remembered = true, .saved = true}));
}

TEST_F(FdbTableTest, DoesNotTrustARememberedPortThatIsDownInWhateverOrderTheLinksAppear) {
    table.remember({.bridge = "br0", .mac = kEntry.mac, .port = "swp1"}, links);

    (void)appear(without_carrier(bridge_port(kPort1, "swp1", kFdbBridge)));
    (void)appear(bridge(kFdbBridge, "br0"));

    EXPECT_TRUE(binding().unconfirmed);
}

TEST_F(FdbTableTest, PrefersWhatTheKernelSaysToWhatIsRemembered) {
    table.remember({.bridge = "br0", .mac = kEntry.mac, .port = "swp1"}, links);
    (void)appear(bridge(kFdbBridge, "br0"));
    (void)appear(bridge_port(kPort2, "swp2", kFdbBridge));
    (void)see(kPort2);

    EXPECT_THAT(appear(bridge_port(kPort1, "swp1", kFdbBridge)), IsEmpty());

    EXPECT_EQ(binding(), (PortBinding{.port = kPort2, .live = true}));
}

TEST_F(FdbTableTest, FindsAPortAgainThatWasDeletedAndMadeAnew) {
    (void)appear(bridge(kFdbBridge, "br0"));
    (void)appear(bridge_port(kPort1, "swp1", kFdbBridge));
    (void)see(kPort1);

    disappear(kPort1);
    EXPECT_EQ(binding(), (PortBinding{.unconfirmed = true}));

    EXPECT_THAT(appear(bridge_port(kPort2, "swp1", kFdbBridge)), ElementsAre(kEntry));
    EXPECT_EQ(binding(), (PortBinding{.port = kPort2, .unconfirmed = true}));
}

TEST_F(FdbTableTest, FindsABridgeAgainThatWasDeletedAndMadeAnew) {
    (void)appear(bridge(kFdbBridge, "br0"));
    (void)appear(bridge_port(kPort1, "swp1", kFdbBridge));
    (void)see(kPort1);

    disappear(kFdbBridge);
    EXPECT_EQ(table.find(kEntry), nullptr);

    EXPECT_THAT(appear(bridge(IfIndex{11}, "br0")),
                ElementsAre(FdbKey{.bridge = IfIndex{11}, .mac = kEntry.mac}));
}

TEST_F(FdbTableTest, ForgetsByNamesToo) {
    (void)appear(bridge(kFdbBridge, "br0"));
    (void)appear(bridge_port(kPort1, "swp1", kFdbBridge));
    (void)see(kPort1);
    disappear(kPort1);

    table.forget(kEntry, "br0");

    EXPECT_THAT(appear(bridge_port(kPort1, "swp1", kFdbBridge)), IsEmpty());
    EXPECT_EQ(table.find(kEntry), nullptr);
}

TEST_F(FdbTableTest, CountsWhatItHasNoRoomFor) {
    for (std::uint32_t i = 0; i < limits::kFdbMax; ++i) {
        (void)table.see(
            {.key = {.bridge = IfIndex{i + 1}, .mac = mac(1)}, .entry = {.port = kPort1}}, true);
    }

    EXPECT_FALSE(
        table.see({.key = {.bridge = kFdbBridge, .mac = mac(9)}, .entry = {.port = kPort1}}, true));
    table.remember({.bridge = "br0", .mac = mac(8), .port = "swp1"}, links);

    EXPECT_EQ(table.size(), limits::kFdbMax);
    EXPECT_EQ(table.refused(), 2U);
}

TEST_F(FdbTableTest, HasABoundOnWhatIsRememberedToo) {
    for (std::size_t i = 0; i < limits::kFdbMax; ++i) {
        table.remember({.bridge = "br0",
                        .vlan = VlanId{static_cast<std::uint16_t>(i >> 16U)},
                        .mac = mac(static_cast<std::uint16_t>(i & 0xFFFFU)),
                        .port = "swp1"},
                       links);
    }
    EXPECT_EQ(table.refused(), 0U);

    table.remember({.bridge = "br1", .mac = mac(1), .port = "swp1"}, links);

    EXPECT_EQ(table.refused(), 1U);
}

}  // namespace
}  // namespace planed
