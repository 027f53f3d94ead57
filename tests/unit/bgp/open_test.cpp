// SPDX-License-Identifier: Apache-2.0
#include "bgp/open.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/bgp/values.hpp"
#include "unit/bgp/vectors.hpp"

namespace planed::bgp {
namespace {

Bytes vector_of(const std::string& origin) {
    for (const Vector& vector : load_vectors("opens")) {
        if (vector.origin == origin) {
            return vector.bytes;
        }
    }
    throw std::runtime_error("no OPEN of " + origin);
}

Open gobgps() {
    return {.as = kAs,
            .hold_seconds = 90,
            .id = kLeaf2,
            .capabilities = {.families = {AddressFamily{}},
                             .route_refresh = true,
                             .four_octet_as = kAs,
                             .others = {{.code = 73, .value = from_hex("02766d00")},
                                        {.code = 5, .value = from_hex("001900460002")}}}};
}

Open frrs() {
    return {.as = kAs,
            .hold_seconds = 180,
            .id = kLeaf1,
            .capabilities = {
                .families = {AddressFamily{}},
                .route_refresh = true,
                .enhanced_route_refresh = true,
                .extended_message = true,
                .four_octet_as = kAs,
                .graceful_restart =
                    GracefulRestart{.restarting = true, .notifications = true, .seconds = 120},
                .others = {{.code = 128, .value = {}},
                           {.code = 69, .value = from_hex("00194601")},
                           {.code = 73, .value = from_hex("0366727200")},
                           {.code = 71, .value = from_hex("00194680000000")}}}};
}

Open full() {
    return {.as = AsNumber{4'200'000'001},
            .hold_seconds = 9,
            .id = kLeaf3,
            .capabilities = {
                .families = {AddressFamily{}, AddressFamily{.afi = 1, .safi = 1}},
                .route_refresh = true,
                .enhanced_route_refresh = true,
                .extended_message = true,
                .four_octet_as = AsNumber{4'200'000'001},
                .graceful_restart = GracefulRestart{.restarting = true,
                                                    .notifications = true,
                                                    .seconds = 4095,
                                                    .kept = {{.family = {}, .forwarding = true}}},
                .others = {{.code = 200, .value = {1, 2, 3}}}}};
}

TEST(Open, OfGobgpIsRead) {
    const Bytes bytes = vector_of("gobgp 3.10");

    EXPECT_EQ(decode_open(body_of(bytes)), gobgps());
}

TEST(Open, OfFrrIsRead) {
    const Bytes bytes = vector_of("frr 8.4.4");

    EXPECT_EQ(decode_open(body_of(bytes)), frrs());
}

TEST(Open, IsWrittenWithOneCapabilityAParameter) {
    Bytes out;
    encode_open(
        {.as = kAs,
         .hold_seconds = 90,
         .id = kLeaf3,
         .capabilities = {.families = {AddressFamily{}},
                          .route_refresh = true,
                          .extended_message = true,
                          .four_octet_as = kAs,
                          .graceful_restart =
                              GracefulRestart{.seconds = 120, .kept = {{.forwarding = true}}}}},
        out);

    EXPECT_EQ(out,
              message_of(MessageType::Open,
                         from_hex("04 fde8 005a 0a420003 22"
                                  "0206 0104 00190046  0202 0200  0206 4104 0000fde8  0202 0600"
                                  "0208 4006 0078 001946 80")));
}

TEST(Open, ReadsBackWhatItWrites) {
    for (const Open& open : {gobgps(), frrs(), full()}) {
        Bytes out;
        encode_open(open, out);

        EXPECT_EQ(decode_open(body_of(out)), open);
    }
}

TEST(Open, HasAsTransWhereTheAsDoesNotFit) {
    Bytes out;
    encode_open(full(), out);

    EXPECT_EQ(out[20], 0x5B);
    EXPECT_EQ(out[21], 0xA0);
    EXPECT_EQ(decode_open(body_of(out))->as, AsNumber{4'200'000'001});
}

TEST(Open, WithoutFourOctetAsHasTheShortOne) {
    const auto open = decode_open(from_hex("04 fde8 005a 0a420002 00"));

    ASSERT_TRUE(open);
    EXPECT_EQ(open->as, kAs);
    EXPECT_EQ(open->capabilities, Capabilities{});
}

TEST(Open, EndingTooEarlyIsRefused) {
    for (const Vector& vector : load_vectors("opens")) {
        const auto body = body_of(vector.bytes);
        for (std::size_t size = 0; size < body.size(); ++size) {
            EXPECT_FALSE(decode_open(body.first(size))) << vector.origin << " cut to " << size;
        }
    }
}

struct BadOpen {
    std::string hex;
    std::uint8_t subcode;
    Bytes data;
    std::string text;
};

TEST(Open, TellsThePeerWhatIsWrong) {
    const std::vector<BadOpen> wrongs{
        {"03 fde8 005a 0a420002 00", 1, {0, 4}, "OPEN: version 3 instead of 4 (byte 19)"},
        {"04 0000 005a 0a420002 00", 2, {}, "OPEN: AS 0 (byte 20)"},
        {"04 fde8 0002 0a420002 00", 6, {}, "OPEN: hold time of 2 s (byte 22)"},
        {"04 fde8 005a 00000000 00", 3, {}, "OPEN: identifier 0.0.0.0 (byte 24)"},
        {"04 fde8 005a 0a420002 05 02020200 00",
         0,
         {},
         "OPEN: a parameter runs past the end (byte 33)"},
        {"04 fde8 005a 0a420002 04 01020200",
         4,
         {},
         "OPEN: optional parameter of type 1 (byte 29)"},
        {"04 fde8 005a 0a420002 03 02020200",
         0,
         {},
         "OPEN: 3 octets of parameters where 4 are (byte 28)"},
        {"04 fde8 005a 0a420002 04 02024101",
         0,
         {},
         "OPEN: a capability runs past its parameter (byte 31)"},
        {"04 fde8 005a 0a420002 05 0203410100",
         0,
         {},
         "OPEN: capability 65 has 1 octets (byte 31)"},
        {"04 fde8 005a 0a420002 05 0203020100", 0, {}, "OPEN: capability 2 has 1 octets (byte 31)"},
        {"04 fde8 005a 0a420002 07 0205 4003 007800",
         0,
         {},
         "OPEN: capability 64 has 3 octets (byte 31)"},
    };
    for (const auto& [hex, subcode, data, text] : wrongs) {
        const auto open = decode_open(from_hex(hex));

        ASSERT_FALSE(open.has_value()) << text;
        EXPECT_EQ(open.error().error.text, text);
        EXPECT_EQ(open.error().notification,
                  (Notification{.code = Notification::kOpen, .subcode = subcode, .data = data}));
    }
}

TEST(Open, MayHaveLongParameters) {
    // RFC 9072: 255, type 255, two octets of length, and two of each parameter's.
    const auto open =
        decode_open(from_hex("04 fde8 005a 0a420002 ff ff 0009 02 0006 0104 00190046"));

    ASSERT_TRUE(open) << open.error().error.text;
    EXPECT_TRUE(open->capabilities.has(AddressFamily{}));
    EXPECT_FALSE(open->capabilities.has({.afi = 1, .safi = 1}));
}

TEST(Open, EveryFlippedBitIsReadOrRefused) {
    for (const Vector& vector : load_vectors("opens")) {
        for (std::size_t bit = kHeaderSize * 8; bit < vector.bytes.size() * 8; ++bit) {
            Bytes bytes = vector.bytes;
            bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));

            const auto open = decode_open(std::span(bytes).subspan(kHeaderSize));

            if (!open) {
                EXPECT_EQ(open.error().notification.code, Notification::kOpen);
                EXPECT_GE(open.error().error.offset.value(), kHeaderSize);
            }
        }
    }
}

}  // namespace
}  // namespace planed::bgp
