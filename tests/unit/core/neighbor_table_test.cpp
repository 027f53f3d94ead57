// SPDX-License-Identifier: Apache-2.0
#include "core/neighbor_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "support/builders.hpp"
#include "support/print.hpp"

namespace planed {
namespace {

using test::failed;
using test::ip;
using test::kStart;
using test::mac;
using test::reachable;
using test::stale;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr IfIndex kVlan10{10};

NeighborKey entry_of(std::string_view address, IfIndex link = kVlan10) {
    return {.link = link, .address = ip(address)};
}

class NeighborTableTest : public testing::Test {
protected:
    NeighborRecord* see(const NeighborKey& key,
                        const Neighbor& neighbor,
                        Source source = Source::Event,
                        TimePoint now = kStart) {
        return table.see({.key = key, .neighbor = neighbor, .source = source}, now).record;
    }
    std::vector<IfIndex> links_with(std::string_view address) {
        std::vector<IfIndex> links;
        table.for_each_place(ip(address),
                             [&](const NeighborRecord& r) { links.push_back(r.key.link); });
        return links;
    }

    NeighborTable table;
};

TEST_F(NeighborTableTest, KeepsWhatTheKernelSaidAndWhen) {
    const NeighborRecord* record = see(entry_of("10.0.0.5"), reachable(mac(5)));

    ASSERT_NE(record, nullptr);
    EXPECT_EQ(record->neighbor, reachable(mac(5)));
    EXPECT_EQ(record->changed, kStart);
    EXPECT_TRUE(record->in_kernel);
}

TEST_F(NeighborTableTest, SaysNothingNewOfTheSameAgain) {
    (void)see(entry_of("10.0.0.5"), reachable(mac(5)));

    EXPECT_EQ(see(entry_of("10.0.0.5"), reachable(mac(5)), Source::Event, kStart + 1s), nullptr);
    EXPECT_EQ(table.find(entry_of("10.0.0.5"))->changed, kStart);
}

TEST_F(NeighborTableTest, TellsWhenACollectedEntryIsBackUnchanged) {
    see(entry_of("10.0.0.5"), stale(mac(5)))->in_kernel = false;

    const NeighborRecord* record = see(entry_of("10.0.0.5"), stale(mac(5)));

    ASSERT_NE(record, nullptr);
    EXPECT_TRUE(record->in_kernel);
}

TEST_F(NeighborTableTest, FindsAnAddressOnEachOfItsLinks) {
    (void)see(entry_of("10.0.0.5", IfIndex{2}), reachable(mac(5)));
    (void)see(entry_of("10.0.0.5", IfIndex{1}), failed());
    (void)see(entry_of("10.0.0.5", IfIndex{4}), failed());
    (void)see(entry_of("10.0.0.6", IfIndex{3}), reachable(mac(6)));

    EXPECT_THAT(links_with("10.0.0.5"), ElementsAre(IfIndex{1}, IfIndex{2}, IfIndex{4}));
    EXPECT_THAT(links_with("10.0.0.7"), IsEmpty());
    EXPECT_EQ(table.find(entry_of("10.0.0.5", IfIndex{2}))->key, entry_of("10.0.0.5", IfIndex{2}));
    EXPECT_EQ(table.find(entry_of("10.0.0.5", IfIndex{3})), nullptr);
}

TEST_F(NeighborTableTest, KeepsTheOtherLinksOfAnAddressThatLeavesOne) {
    const IfIndex first{1};
    const IfIndex middle{2};
    const IfIndex last{4};
    for (const IfIndex link : {middle, last, first}) {
        (void)see(entry_of("10.0.0.5", link), reachable(mac(5)));
    }

    (void)table.erase(entry_of("10.0.0.5", middle));
    EXPECT_THAT(links_with("10.0.0.5"), ElementsAre(first, last));
    (void)table.erase(entry_of("10.0.0.5", first));
    EXPECT_THAT(links_with("10.0.0.5"), ElementsAre(last));
    (void)table.erase(entry_of("10.0.0.5", last));
    EXPECT_THAT(links_with("10.0.0.5"), IsEmpty());
}

TEST_F(NeighborTableTest, FindsTheAddressesOfAMacOnOneLinkInBothFamilies) {
    (void)see(entry_of("fd00::5"), reachable(mac(5)));
    (void)see(entry_of("10.0.0.5"), reachable(mac(5)));
    (void)see(entry_of("10.0.0.6"), reachable(mac(6)));
    (void)see(entry_of("10.0.0.7", IfIndex{11}), reachable(mac(5)));

    EXPECT_THAT(table.addresses_of(kVlan10, mac(5)), ElementsAre(ip("10.0.0.5"), ip("fd00::5")));
}

TEST_F(NeighborTableTest, FollowsAChangeOfTheMac) {
    (void)see(entry_of("10.0.0.5"), reachable(mac(5)));

    (void)see(entry_of("10.0.0.5"), reachable(mac(6)));

    EXPECT_FALSE(table.has_mac(kVlan10, mac(5)));
    EXPECT_THAT(table.addresses_of(kVlan10, mac(6)), ElementsAre(ip("10.0.0.5")));
}

TEST_F(NeighborTableTest, HasNoMacOfAHostThatFailed) {
    (void)see(entry_of("10.0.0.5"), reachable(mac(5)));

    (void)see(entry_of("10.0.0.5"), failed());

    EXPECT_FALSE(table.has_mac(kVlan10, mac(5)));
    EXPECT_FALSE(table.has_mac(kVlan10, {}));
}

TEST_F(NeighborTableTest, ListsAllOfALinkAlsoThoseWithoutAMac) {
    (void)see(entry_of("10.0.0.5"), reachable(mac(5)));
    (void)see(entry_of("10.0.0.6"), failed());
    (void)see(entry_of("10.0.0.7", IfIndex{11}), reachable(mac(7)));

    EXPECT_THAT(table.on_link(kVlan10),
                testing::UnorderedElementsAre(entry_of("10.0.0.5"), entry_of("10.0.0.6")));
}

TEST_F(NeighborTableTest, HandsBackWhatItErases) {
    (void)see(entry_of("10.0.0.5"), reachable(mac(5)));

    const auto record = table.erase(entry_of("10.0.0.5"));

    ASSERT_TRUE(record.has_value());
    EXPECT_EQ(record->neighbor, reachable(mac(5)));
    EXPECT_EQ(table.erase(entry_of("10.0.0.5")).has_value(), false);
    EXPECT_THAT(table.on_link(kVlan10), IsEmpty());
    EXPECT_EQ(table.size(), 0U);
}

TEST_F(NeighborTableTest, NamesWhatACompleteDumpDidNotShow) {
    (void)see(entry_of("10.0.0.5"), reachable(mac(5)));
    (void)see(entry_of("10.0.0.6"), reachable(mac(6)));
    table.dump_begin();
    (void)see(entry_of("10.0.0.5"), reachable(mac(5)), Source::Dump);

    EXPECT_THAT(table.dump_finish(true), ElementsAre(entry_of("10.0.0.6")));
}

TEST_F(NeighborTableTest, DoesNotMissInADumpWhatTheKernelDoesNotHaveAnyway) {
    see(entry_of("10.0.0.5"), stale(mac(5)))->in_kernel = false;
    table.dump_begin();

    EXPECT_THAT(table.dump_finish(true), IsEmpty());
}

TEST_F(NeighborTableTest, LetsAnEventOverruleTheRowOfARunningDump) {
    (void)see(entry_of("10.0.0.5"), reachable(mac(5)));
    table.dump_begin();
    (void)see(entry_of("10.0.0.5"), failed());

    EXPECT_EQ(see(entry_of("10.0.0.5"), reachable(mac(5)), Source::Dump), nullptr);
    EXPECT_EQ(table.find(entry_of("10.0.0.5"))->neighbor, failed());
    EXPECT_THAT(table.dump_finish(true), IsEmpty());
}

TEST_F(NeighborTableTest, DoesNotBringBackWhatWasDeletedDuringTheDump) {
    (void)see(entry_of("10.0.0.5"), reachable(mac(5)));
    table.dump_begin();
    (void)table.erase(entry_of("10.0.0.5"));
    table.note_deleted(entry_of("10.0.0.5"));

    EXPECT_EQ(see(entry_of("10.0.0.5"), reachable(mac(5)), Source::Dump), nullptr);
    EXPECT_EQ(table.size(), 0U);
}

TEST_F(NeighborTableTest, DoesNotBelieveARowThatIsOlderThanTheCollectionOfAKeptEntry) {
    NeighborRecord* record = see(entry_of("10.0.0.5"), stale(mac(5)));
    table.dump_begin();
    table.note_deleted(entry_of("10.0.0.5"));
    record->in_kernel = false;

    EXPECT_EQ(see(entry_of("10.0.0.5"), stale(mac(5)), Source::Dump), nullptr);
    EXPECT_FALSE(record->in_kernel);
}

TEST_F(NeighborTableTest, CountsWhatItHasNoRoomFor) {
    for (std::uint32_t i = 0; i < limits::kNeighborsMax; ++i) {
        const auto byte = [i](unsigned shift) { return static_cast<std::uint8_t>(i >> shift); };
        (void)see({.link = kVlan10, .address = IpAddress::v4(10, byte(16), byte(8), byte(0))},
                  failed());
    }

    EXPECT_EQ(see(entry_of("192.0.2.1"), reachable(mac(1))), nullptr);
    EXPECT_EQ(table.size(), limits::kNeighborsMax);
    EXPECT_EQ(table.refused(), 1U);
    EXPECT_NE(see(entry_of("10.0.0.0"), reachable(mac(1))), nullptr);  // Known ones still change.
}

}  // namespace
}  // namespace planed
