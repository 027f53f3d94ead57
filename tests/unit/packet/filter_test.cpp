// SPDX-License-Identifier: Apache-2.0
#include "packet/filter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/bpf.hpp"
#include "unit/packet/frames.hpp"

namespace planed::packet {
namespace {

Buffer in_vlan(Buffer frame) {
    return tagged(std::move(frame), {0x81, 0x00, 0x00, 0x64});
}

std::uint32_t kept(const Buffer& frame) {
    return run_filter(filter(), frame);
}

TEST(Filter, LetsEachOfOursThroughTaggedOrNot) {
    for (const char* name : kVectors) {
        EXPECT_EQ(kept(wire(name)), kFrameMax) << name;
        EXPECT_EQ(kept(in_vlan(wire(name))), kFrameMax) << name;
    }
}

TEST(Filter, DropsEverythingElseTaggedOrNot) {
    const Buffer ns = wire("ns");
    for (const Buffer& frame : {
             with(wire("arp-request"), kType, Buffer{0x08, 0x00}),  // IPv4
             with(wire("arp-request"), kType, Buffer{0x80, 0x35}),  // RARP
             with(wire("arp-request"), kType, Buffer{0x88, 0xCC}),  // LLDP
             with(wire("arp-request"), kType, Buffer{0x88, 0xA8}),  // A provider's tag
             with(wire("arp-request"), kType, Buffer{0x00, 0x1C}),  // LLC
             with(ns, kIpv6NextHeader, Buffer{6}),                  // TCP
             with(ns, kIpv6NextHeader, Buffer{0}),                  // Hop-by-hop options
             with(ns, kIpv6NextHeader, Buffer{44}),                 // A fragment
             with(ns, kIcmp, Buffer{128}),                          // Echo request
             with(ns, kIcmp, Buffer{133}),                          // Router solicitation
             with(ns, kIcmp, Buffer{134}),                          // Router advertisement
             with(ns, kIcmp, Buffer{137}),                          // Redirect
             with(ns, kIcmp, Buffer{143}),                          // MLD report
         }) {
        EXPECT_EQ(kept(frame), 0U) << testing::PrintToString(frame);
        EXPECT_EQ(kept(in_vlan(frame)), 0U) << testing::PrintToString(frame);
    }
}

TEST(Filter, DropsATagInATag) {
    EXPECT_EQ(kept(in_vlan(in_vlan(wire("arp-request")))), 0U);
}

TEST(Filter, DropsWhatEndsBeforeItCanBeTold) {
    for (std::size_t size = 0; size < 14; ++size) {
        EXPECT_EQ(kept(cut_to(wire("arp-request"), size)), 0U) << size;
    }
    for (std::size_t size = 0; size < 55; ++size) {
        EXPECT_EQ(kept(cut_to(wire("ns"), size)), 0U) << size;
    }
}

}  // namespace
}  // namespace planed::packet
