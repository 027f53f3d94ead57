// SPDX-License-Identifier: Apache-2.0
#include "netlink/message.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/rtnetlink.h>

#include "unit/netlink/vectors.hpp"

namespace planed::netlink {
namespace {

Datagram sample() {
    return load("neigh-v4-reachable").front();
}

void set_length(Datagram& datagram, std::uint32_t length) {
    for (unsigned i = 0; i < 4; ++i) {
        datagram[i] = static_cast<std::uint8_t>(length >> (8U * i));
    }
}

TEST(MessageReader, WalksEveryMessageOfADatagram) {
    std::vector<std::uint16_t> types;
    for (const Datagram& datagram : load("dump-neigh-v4")) {
        for (const Message& message : messages_of(datagram)) {
            types.push_back(message.type);
        }
    }

    EXPECT_THAT(types, testing::ElementsAre(RTM_NEWNEIGH, RTM_NEWNEIGH, NLMSG_DONE));
}

TEST(MessageReader, TellsTheHeadersFields) {
    const Datagram datagram = sample();

    const auto message = MessageReader(datagram).next();

    ASSERT_TRUE(message && *message);
    EXPECT_EQ((*message)->type, RTM_NEWNEIGH);
    EXPECT_EQ((*message)->sequence, 0U);
    EXPECT_EQ((*message)->offset, 16U);
    EXPECT_EQ((*message)->payload.size(), datagram.size() - 16);
}

TEST(MessageReader, AnEmptyDatagramHasNoMessage) {
    const auto message = MessageReader(Bytes{}).next();

    ASSERT_TRUE(message);
    EXPECT_FALSE(*message);
}

TEST(MessageReader, RefusesEveryProperPrefix) {
    const Datagram whole = sample();
    for (std::size_t size = 1; size < whole.size(); ++size) {
        const Datagram cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));

        const auto message = MessageReader(cut).next();

        ASSERT_FALSE(message) << size;
        EXPECT_EQ(message.error().code, Errc::Truncated);
        EXPECT_EQ(message.error().offset, 0U);
    }
}

TEST(MessageReader, RefusesALengthBelowTheHeaders) {
    for (const std::uint32_t length : {0U, 1U, 15U}) {
        Datagram datagram = sample();
        set_length(datagram, length);

        const auto message = MessageReader(datagram).next();

        ASSERT_FALSE(message);
        EXPECT_EQ(message.error().code, Errc::Malformed);
    }
}

TEST(MessageReader, RefusesALengthPastTheEnd) {
    Datagram datagram = sample();
    set_length(datagram, 0xFFFFFFFFU);

    EXPECT_FALSE(MessageReader(datagram).next());
}

TEST(MessageReader, TellsWhereTrailingBytesBegin) {
    Datagram datagram = sample();
    datagram.push_back(0);
    MessageReader reader(datagram);

    ASSERT_TRUE(reader.next());
    const auto trailing = reader.next();

    ASSERT_FALSE(trailing);
    EXPECT_EQ(trailing.error().offset, datagram.size() - 1);
}

TEST(MessageReader, LastMessageMayLackItsPadding) {
    Datagram datagram = sample();
    datagram.resize(17);
    set_length(datagram, 17);
    MessageReader reader(datagram);

    const auto message = reader.next();

    ASSERT_TRUE(message && *message);
    EXPECT_EQ((*message)->payload.size(), 1U);
    const auto end = reader.next();
    ASSERT_TRUE(end);
    EXPECT_FALSE(*end);
}

}  // namespace
}  // namespace planed::netlink
