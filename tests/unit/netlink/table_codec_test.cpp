// SPDX-License-Identifier: Apache-2.0
#include "netlink/table_codec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/rtnetlink.h>

#include "unit/netlink/vectors.hpp"

namespace planed::netlink {
namespace {

std::vector<NeighborTableSeen> tables_of(const Datagram& datagram) {
    std::vector<NeighborTableSeen> tables;
    for (const Message& message : messages_of(datagram)) {
        const auto table = decode_neighbor_table(message);
        EXPECT_TRUE(table);
        if (table && *table) {
            tables.push_back(**table);
        }
    }
    return tables;
}

TEST(TableCodec, ReadsEachFamilysTableOnceAndNoDevices) {
    const Datagram datagram = load("dump-neigh-tables").front();

    const auto tables = tables_of(datagram);

    ASSERT_EQ(tables.size(), 2U);
    EXPECT_EQ(tables[0].family, Family::V4);
    EXPECT_EQ(tables[1].family, Family::V6);
    for (const NeighborTableSeen& table : tables) {
        EXPECT_EQ(table.gc_thresh1, 128U);
        EXPECT_EQ(table.gc_thresh3, 1024U);
        EXPECT_EQ(table.table_fulls, 0U);
        EXPECT_LT(table.entries, table.gc_thresh3);
    }
}

TEST(TableCodec, RefusesEveryCutRow) {
    const Datagram datagram = load("dump-neigh-tables").front();
    const Message message = messages_of(datagram).front();
    for (std::size_t end = 0; end < message.payload.size(); ++end) {
        Message prefix = message;
        prefix.payload = message.payload.first(end);
        if (!ends_between_attributes(message.payload, sizeof(ndtmsg), end)) {
            EXPECT_FALSE(decode_neighbor_table(prefix)) << end;
        }
    }
}

TEST(TableCodec, AsksForTheTables) {
    const auto request = dump_neighbor_tables(9);

    const Message message = messages_of(request).front();
    EXPECT_EQ(message.type, RTM_GETNEIGHTBL);
    EXPECT_EQ(message.flags, NLM_F_REQUEST | NLM_F_DUMP);
    EXPECT_EQ(message.sequence, 9U);
}

}  // namespace
}  // namespace planed::netlink
