// SPDX-License-Identifier: Apache-2.0
#include "netlink/address_codec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/if_addr.h>

#include "unit/netlink/vectors.hpp"

namespace planed::netlink {
namespace {

constexpr std::size_t kAddressHeader = sizeof(ifaddrmsg);
constexpr auto kOwner = static_cast<IfIndex>(10);

IpPrefix prefix(const char* text) {
    return IpPrefix::parse(text).value();
}

TEST(AddressCodec, ReadsAnAddressWithItsSubnetsLength) {
    EXPECT_EQ(fact_of("addr-v4-new"),
              Input(AddressSeen{.link = kOwner, .address = prefix("10.0.0.1/16")}));
    EXPECT_EQ(fact_of("addr-v6-new"),
              Input(AddressSeen{.link = kOwner, .address = prefix("fd00:0:0:1::1/64")}));
}

TEST(AddressCodec, ReadsAnAddressThatIsGone) {
    EXPECT_EQ(fact_of("addr-v4-deleted"),
              Input(AddressGone{.link = kOwner, .address = prefix("10.0.0.1/16")}));
    EXPECT_EQ(fact_of("addr-v6-deleted"),
              Input(AddressGone{.link = kOwner, .address = prefix("fd00:0:0:1::1/64")}));
}

TEST(AddressCodec, OursIsTheNearEndOfAPeerAddress) {
    EXPECT_EQ(fact_of("addr-v4-peer"),
              Input(AddressSeen{.link = kOwner, .address = prefix("10.9.9.1/32")}));
}

TEST(AddressCodec, APeersSubnetIsOursOnlyWhereWeAreInIt) {
    Datagram near = load("addr-v4-peer").front();
    near[16 + 1] = 24;  // 10.9.9.1 peer 10.9.9.2/24.
    EXPECT_EQ(*decode_address(messages_of(near).front(), Source::Event),
              Input(AddressSeen{.link = kOwner, .address = prefix("10.9.9.1/24")}));

    Datagram far = near;
    far[16 + kAddressHeader + 4 + 1] = 8;  // IFA_ADDRESS is the first attribute: 10.8.9.2/24.
    EXPECT_EQ(*decode_address(messages_of(far).front(), Source::Event),
              Input(AddressSeen{.link = kOwner, .address = prefix("10.9.9.1/32")}));
}

TEST(AddressCodec, ADumpTellsBothFamilies) {
    EXPECT_THAT(
        facts_of("dump-addresses", Source::Dump),
        testing::IsSupersetOf(
            {Input(AddressSeen{
                 .link = kOwner, .address = prefix("10.0.0.1/16"), .source = Source::Dump}),
             Input(AddressSeen{
                 .link = kOwner, .address = prefix("fd00:0:0:1::1/64"), .source = Source::Dump})}));
}

TEST(AddressCodec, RefusesEveryCutMessage) {
    for (const char* name : {"addr-v4-new", "addr-v6-new", "addr-v4-deleted"}) {
        expect_prefixes_refused(name, kAddressHeader);
    }
}

TEST(AddressCodec, RefusesWhatNoKernelSends) {
    const Datagram good = load("addr-v4-new").front();
    Datagram long_prefix = good;
    long_prefix[16 + 1] = 33;
    Datagram indexless = good;
    indexless[16 + 4] = 0;

    EXPECT_FALSE(decode_address(messages_of(long_prefix).front(), Source::Event));
    EXPECT_FALSE(decode_address(messages_of(indexless).front(), Source::Event));
}

}  // namespace
}  // namespace planed::netlink
