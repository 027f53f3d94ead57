// SPDX-License-Identifier: Apache-2.0
#include "core/link_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "support/builders.hpp"
#include "support/print.hpp"

namespace planed {
namespace {

using test::bridge_port;
using test::flapped;
using test::ip;
using test::prefix;
using test::routed_port;
using test::with_carrier;
using test::without_carrier;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr IfIndex kPort{3};
constexpr IfIndex kMaster{10};

class LinkTableTest : public testing::Test {
protected:
    std::optional<LinkChange> see(const Link& link, Source source = Source::Event) {
        return table.see({.link = link, .source = source});
    }
    LinkTable table;
};

TEST_F(LinkTableTest, TellsOfANewLink) {
    EXPECT_EQ(see(routed_port(kPort, "swp3")),
              (LinkChange{.appeared = true, .structure = true, .carrier = true}));
    EXPECT_EQ(*table.find(kPort), routed_port(kPort, "swp3"));
    EXPECT_EQ(table.find("swp3"), table.find(kPort));
}

TEST_F(LinkTableTest, TellsNothingOfTheSameAgain) {
    (void)see(routed_port(kPort, "swp3"));

    EXPECT_EQ(see(routed_port(kPort, "swp3")), std::nullopt);
}

TEST_F(LinkTableTest, CallsACarrierLossAFlapToo) {
    const Link up = routed_port(kPort, "swp3");
    (void)see(up);

    EXPECT_EQ(see(without_carrier(up)), (LinkChange{.carrier = true, .flapped = true}));
    EXPECT_FALSE(table.is_up(kPort));
    EXPECT_EQ(see(with_carrier(without_carrier(up))), (LinkChange{.carrier = true}));
    EXPECT_TRUE(table.is_up(kPort));
}

TEST_F(LinkTableTest, SeesAFlapThatFellBetweenTwoLooksByTheKernelsCounter) {
    const Link up = routed_port(kPort, "swp3");
    (void)see(up);

    EXPECT_EQ(see(flapped(up)), (LinkChange{.flapped = true}));
}

TEST_F(LinkTableTest, CallsALinkWithCarrierButAdministrativelyDownDown) {
    Link link = routed_port(kPort, "swp3");
    link.admin_up = false;
    (void)see(link);

    EXPECT_FALSE(table.is_up(kPort));
}

TEST_F(LinkTableTest, TellsOfANewMasterAsStructure) {
    (void)see(bridge_port(kPort, "swp3", kMaster));

    EXPECT_EQ(see(bridge_port(kPort, "swp3", IfIndex::None)), (LinkChange{.structure = true}));
    EXPECT_THAT(table.members_of(kMaster), IsEmpty());
}

TEST_F(LinkTableTest, FindsARenamedLinkByItsNewNameOnly) {
    (void)see(routed_port(kPort, "swp3"));

    EXPECT_EQ(see(routed_port(kPort, "eth3")), (LinkChange{.appeared = true, .structure = true}));
    EXPECT_EQ(table.find("swp3"), nullptr);
    EXPECT_EQ(table.find("eth3")->index, kPort);
}

TEST_F(LinkTableTest, SurvivesTwoLinksThatSwapTheirNames) {
    (void)see(routed_port(IfIndex{1}, "a"));
    (void)see(routed_port(IfIndex{2}, "b"));

    (void)see(routed_port(IfIndex{1}, "b"));
    (void)see(routed_port(IfIndex{2}, "a"));

    EXPECT_EQ(table.find("b")->index, IfIndex{1});
    EXPECT_EQ(table.find("a")->index, IfIndex{2});
}

TEST_F(LinkTableTest, KnowsTheMembersOfAMaster) {
    (void)see(bridge_port(IfIndex{2}, "swp2", kMaster));
    (void)see(bridge_port(IfIndex{1}, "swp1", kMaster));
    (void)see(routed_port(IfIndex{3}, "swp3"));

    EXPECT_THAT(table.members_of(kMaster), ElementsAre(IfIndex{1}, IfIndex{2}));

    (void)table.gone(IfIndex{1});
    EXPECT_THAT(table.members_of(kMaster), ElementsAre(IfIndex{2}));
}

TEST_F(LinkTableTest, OwnsAMacAsLongAsOneLinkCarriesIt) {
    Link first = routed_port(IfIndex{1}, "swp1");
    Link second = routed_port(IfIndex{2}, "swp2");
    first.mac = second.mac = test::mac(77);
    (void)see(first);
    (void)see(second);

    (void)table.gone(IfIndex{1});
    EXPECT_TRUE(table.owns_mac(test::mac(77)));
    second.mac = test::mac(78);
    (void)see(second);

    EXPECT_FALSE(table.owns_mac(test::mac(77)));
    EXPECT_TRUE(table.owns_mac(test::mac(78)));
}

TEST_F(LinkTableTest, DoesNotOwnTheZeroMac) {
    Link link = routed_port(kPort, "tun0");
    link.mac = {};
    (void)see(link);

    EXPECT_FALSE(table.owns_mac({}));
}

TEST_F(LinkTableTest, HandsBackTheLinkThatIsGone) {
    (void)see(routed_port(kPort, "swp3"));

    EXPECT_EQ(table.gone(kPort), routed_port(kPort, "swp3"));
    EXPECT_EQ(table.gone(kPort), std::nullopt);
    EXPECT_EQ(table.name_of(kPort), "?");
}

TEST_F(LinkTableTest, NamesWhatACompleteDumpDidNotShow) {
    (void)see(routed_port(IfIndex{1}, "swp1"));
    (void)see(routed_port(IfIndex{2}, "swp2"));
    table.dump_begin();
    (void)see(routed_port(IfIndex{1}, "swp1"), Source::Dump);

    EXPECT_THAT(table.dump_finish(true), ElementsAre(IfIndex{2}));
}

TEST_F(LinkTableTest, ConcludesNothingFromAnInterruptedDump) {
    (void)see(routed_port(IfIndex{1}, "swp1"));
    table.dump_begin();

    EXPECT_THAT(table.dump_finish(false), IsEmpty());
}

TEST_F(LinkTableTest, LetsAReadOverruleTheRowOfARunningDump) {
    const Link up = routed_port(kPort, "swp3");
    (void)see(up);
    table.dump_begin();
    (void)see(without_carrier(up), Source::Read);

    EXPECT_EQ(see(up, Source::Dump), std::nullopt);
    EXPECT_FALSE(table.is_up(kPort));
}

TEST_F(LinkTableTest, CountsWhatItHasNoRoomFor) {
    for (std::uint32_t i = 1; i <= limits::kLinksMax; ++i) {
        (void)see(routed_port(IfIndex{i}, std::to_string(i)));
    }

    EXPECT_EQ(see(routed_port(IfIndex{1'000'000}, "one more")), std::nullopt);
    EXPECT_EQ(table.size(), limits::kLinksMax);
    EXPECT_EQ(table.refused(), 1U);
}

// The machine's own addresses ---------------------------------------------------------------------

class AddressTableTest : public testing::Test {
protected:
    bool see(std::string_view address, IfIndex link = kPort, Source source = Source::Event) {
        return table.see({.link = link, .address = prefix(address), .source = source});
    }
    AddressTable table;
};

TEST_F(AddressTableTest, KeepsHostBitsAndLength) {
    EXPECT_TRUE(see("10.0.0.1/16"));
    EXPECT_FALSE(see("10.0.0.1/16"));

    EXPECT_THAT(table.of(kPort), ElementsAre(prefix("10.0.0.1/16")));
    EXPECT_TRUE(table.owns(ip("10.0.0.1")));
    EXPECT_FALSE(table.owns(ip("10.0.0.0")));
}

TEST_F(AddressTableTest, OwnsAnAddressThatTwoLinksShareUntilBothLoseIt) {
    (void)see("10.0.0.1/16", IfIndex{1});
    (void)see("10.0.0.1/16", IfIndex{2});

    EXPECT_TRUE(table.gone(IfIndex{1}, prefix("10.0.0.1/16")));
    EXPECT_TRUE(table.owns(ip("10.0.0.1")));
    EXPECT_TRUE(table.link_gone(IfIndex{2}));
    EXPECT_FALSE(table.owns(ip("10.0.0.1")));
}

TEST_F(AddressTableTest, TakesOneAddressWithTwoLengthsForTwo) {
    (void)see("10.0.0.1/16");
    (void)see("10.0.0.1/24");

    EXPECT_TRUE(table.gone(kPort, prefix("10.0.0.1/16")));

    EXPECT_TRUE(table.owns(ip("10.0.0.1")));
    EXPECT_THAT(table.of(kPort), ElementsAre(prefix("10.0.0.1/24")));
}

TEST_F(AddressTableTest, SweepsWhatACompleteDumpDidNotShow) {
    (void)see("10.0.0.1/16");
    (void)see("10.1.0.1/16");
    table.dump_begin();
    (void)see("10.0.0.1/16", kPort, Source::Dump);

    EXPECT_THAT(table.dump_finish(true), ElementsAre(std::pair(kPort, prefix("10.1.0.1/16"))));
    EXPECT_THAT(table.of(kPort), ElementsAre(prefix("10.0.0.1/16")));
}

TEST_F(AddressTableTest, KeepsAllAfterAnInterruptedDump) {
    (void)see("10.0.0.1/16");
    table.dump_begin();

    EXPECT_THAT(table.dump_finish(false), IsEmpty());
    EXPECT_TRUE(table.owns(ip("10.0.0.1")));
}

TEST_F(AddressTableTest, DoesNotBringBackAnAddressThatWentDuringTheDump) {
    (void)see("10.0.0.1/16");
    table.dump_begin();
    (void)table.gone(kPort, prefix("10.0.0.1/16"));

    EXPECT_FALSE(see("10.0.0.1/16", kPort, Source::Dump));
    EXPECT_FALSE(table.owns(ip("10.0.0.1")));
}

TEST_F(AddressTableTest, CountsWhatItHasNoRoomFor) {
    for (std::uint32_t i = 0; i < limits::kAddressesMax; ++i) {
        (void)table.see({.link = IfIndex{i + 1}, .address = prefix("10.0.0.1/16")});
    }

    EXPECT_FALSE(see("10.0.0.2/16"));
    EXPECT_EQ(table.refused(), 1U);
}

}  // namespace
}  // namespace planed
