// SPDX-License-Identifier: Apache-2.0
#include "bgp/message.hpp"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/bgp/values.hpp"
#include "unit/bgp/vectors.hpp"

namespace planed::bgp {
namespace {

using testing::HasSubstr;

const std::string kMarker(32, 'f');

Bytes headed(std::string_view rest) {
    return from_hex(kMarker + std::string(rest));
}

struct BadHeader {
    std::string name;
    Bytes bytes;
    Notification notification;
    std::string text;
};

std::vector<BadHeader> bad_headers() {
    const auto length = [](std::uint8_t high, std::uint8_t low) {
        return Notification{.code = 1, .subcode = 2, .data = {high, low}};
    };
    Bytes marker = headed("0013 04");
    marker[7] = 0xFE;
    return {
        {"marker", marker, {.code = 1, .subcode = 1}, "the marker is not all ones (byte 0)"},
        {"short", headed("0012 04"), length(0, 18), "message of 18 octets (byte 16)"},
        {"long", headed("1001 02"), length(0x10, 1), "message of 4097 octets (byte 16)"},
        {"type",
         headed("0013 07"),
         {.code = 1, .subcode = 3, .data = {7}},
         "message of unknown type 7 (byte 18)"},
        {"type 0",
         headed("0013 00"),
         {.code = 1, .subcode = 3, .data = {0}},
         "message of unknown type 0 (byte 18)"},
        {"open", headed("001c 01"), length(0, 28), "OPEN of 28 octets (byte 16)"},
        {"update", headed("0016 02"), length(0, 22), "UPDATE of 22 octets (byte 16)"},
        {"notification", headed("0014 03"), length(0, 20), "NOTIFICATION of 20 octets (byte 16)"},
        {"keepalive", headed("0014 04"), length(0, 20), "KEEPALIVE of 20 octets (byte 16)"},
        {"refresh", headed("0016 05"), length(0, 22), "ROUTE-REFRESH of 22 octets (byte 16)"},
    };
}

TEST(Header, TellsThePeerWhatIsWrong) {
    for (const auto& [name, bytes, notification, text] : bad_headers()) {
        const auto header = decode_header(bytes, kMessageMax);

        ASSERT_FALSE(header.has_value()) << name;
        EXPECT_EQ(header.error().notification, notification) << name;
        EXPECT_EQ(header.error().error.text, text);
    }
}

TEST(Header, MayBeLongerOnceBothSaidSo) {
    EXPECT_TRUE(decode_header(headed("ffff 02"), kExtendedMessageMax));
    EXPECT_TRUE(decode_header(headed("1000 02"), kMessageMax));
    EXPECT_FALSE(decode_header(headed("1001 01"), kExtendedMessageMax)) << "never an OPEN";
    EXPECT_FALSE(decode_header(headed("1001 04"), kExtendedMessageMax)) << "nor a KEEPALIVE";
}

TEST(Framer, GivesTheSameMessagesHoweverTheStreamIsCut) {
    Bytes stream;
    for (const Vector& vector : load_vectors("updates")) {
        stream.insert(stream.end(), vector.bytes.begin(), vector.bytes.end());
    }
    for (const std::size_t piece : {1U, 2U, 18U, 19U, 20U, 100U, 4096U}) {
        Framer framer;
        Bytes seen;
        for (std::size_t at = 0; at < stream.size(); at += piece) {
            framer.feed(std::span(stream).subspan(at, std::min(piece, stream.size() - at)));
            for (auto frame = framer.next(); frame && *frame; frame = framer.next()) {
                const Bytes whole = message_of((*frame)->header.type, (*frame)->body);
                seen.insert(seen.end(), whole.begin(), whole.end());
            }
        }
        EXPECT_EQ(seen, stream) << "pieces of " << piece;
    }
}

TEST(Framer, WaitsForTheEndOfEveryProperPrefix) {
    for (const Vector& vector : load_vectors("updates")) {
        for (std::size_t size = 0; size < vector.bytes.size(); ++size) {
            Framer framer;
            framer.feed(std::span(vector.bytes).first(size));

            const auto frame = framer.next();

            ASSERT_TRUE(frame.has_value());
            ASSERT_FALSE(frame->has_value()) << vector.name << " cut to " << size;
        }
    }
}

TEST(Framer, RefusesALongMessageAsSoonAsItsHeaderIsThere) {
    Framer framer;
    framer.feed(headed("1001 02"));
    EXPECT_FALSE(framer.next());

    Framer extended;
    extended.allow_extended();
    extended.feed(headed("1001 02"));
    EXPECT_TRUE(extended.next());
}

TEST(Keepalive, IsAHeaderAlone) {
    Bytes out;
    encode_keepalive(out);

    EXPECT_EQ(out, headed("0013 04"));
}

TEST(Notification, BothWays) {
    const Notification sent{.code = 6, .subcode = 1, .data = from_hex("0019 46 00002710")};
    Bytes out;
    encode_notification(sent, out);

    EXPECT_EQ(out, headed("001c 03 06 01 0019 46 00002710"));
    EXPECT_EQ(decode_notification(body_of(out)), sent);
}

TEST(Notification, EndingTooEarlyIsRefused) {
    EXPECT_FALSE(decode_notification({}));
    EXPECT_FALSE(decode_notification(from_hex("06")));
}

TEST(Notification, FitsIntoAMessageWhateverItQuotes) {
    Bytes out;
    encode_notification({.code = 3, .subcode = 1, .data = Bytes(70000, 1)}, out);

    EXPECT_EQ(out.size(), kMessageMax);
}

TEST(Notification, SaysItInWords) {
    EXPECT_EQ(to_string(Notification{.code = 6, .subcode = 2}),
              "6/2 cease: administrative shutdown");
    EXPECT_EQ(to_string(Notification{.code = 3, .subcode = 9}),
              "3/9 UPDATE message error: optional attribute");
    EXPECT_EQ(to_string(Notification{.code = 4}), "4/0 hold timer expired");
    EXPECT_EQ(to_string(Notification{.code = 2, .subcode = 77}), "2/77 OPEN message error");
    EXPECT_EQ(to_string(Notification{.code = 99, .subcode = 1}), "99/1 unknown code");
}

TEST(ShutdownText, BothWays) {
    const auto notice = shutdown_notice(Notification::kAdminShutdown, "firmware, back at 17:00 ✓");

    EXPECT_EQ(notice.code, Notification::kCease);
    EXPECT_EQ(notice.data.front(), notice.data.size() - 1);
    EXPECT_EQ(shutdown_text(notice), "firmware, back at 17:00 ✓");
    EXPECT_TRUE(shutdown_notice(Notification::kAdminReset, "").data.empty());
}

TEST(ShutdownText, IsCutBetweenCharacters) {
    const std::string text = std::string(254, 'x') + "é!";

    const auto notice = shutdown_notice(Notification::kAdminShutdown, text);

    EXPECT_EQ(shutdown_text(notice), std::string(254, 'x'));
}

TEST(ShutdownText, ThatCannotBeShownIsLeftOut) {
    const auto with = [](Bytes data, std::uint8_t subcode = Notification::kAdminShutdown) {
        return shutdown_text({.code = Notification::kCease, .subcode = subcode, .data = data});
    };

    EXPECT_EQ(with({2, 'o', 'k'}), "ok");
    EXPECT_EQ(with({2, 'o', 'k'}, Notification::kCollision), std::nullopt);
    EXPECT_EQ(with({}), std::nullopt);
    EXPECT_EQ(with({0}), std::nullopt);
    EXPECT_EQ(with({3, 'o', 'k'}), std::nullopt) << "shorter than it says";
    EXPECT_EQ(with({1, 'o', 'k'}), std::nullopt) << "longer than it says";
    EXPECT_EQ(with({2, 'o', '\n'}), std::nullopt) << "a second log line";
    EXPECT_EQ(with({2, 'o', 0}), std::nullopt);
    EXPECT_EQ(with({2, 0xC2, 0x85}), std::nullopt) << "a control character of two octets";
    EXPECT_EQ(with({1, 0xFF}), std::nullopt);
    EXPECT_EQ(with({2, 0xC0, 0xAF}), std::nullopt) << "not the shortest form";
    EXPECT_EQ(with({3, 0xED, 0xA0, 0x80}), std::nullopt) << "a surrogate";
    EXPECT_EQ(with({4, 0xF4, 0x90, 0x80, 0x80}), std::nullopt) << "beyond the last";
    EXPECT_EQ(with({1, 0xE2}), std::nullopt) << "cut";
}

TEST(HardReset, HasAnotherNotificationInside) {
    const Notification hard{.code = 6, .subcode = 9, .data = {6, 2, 2, 'o', 'k'}};

    EXPECT_EQ(without_hard_reset(hard),
              (Notification{.code = 6, .subcode = 2, .data = {2, 'o', 'k'}}));
    EXPECT_EQ(hard_reset(without_hard_reset(hard)), hard);
    EXPECT_EQ(shutdown_text(without_hard_reset(hard)), "ok");
    const Notification empty{.code = 6, .subcode = 9, .data = {6}};
    EXPECT_EQ(without_hard_reset(empty), empty);
}

TEST(RouteRefresh, BothWays) {
    Bytes out;
    encode_route_refresh({}, out);

    EXPECT_EQ(out, headed("0017 05 0019 00 46"));
    EXPECT_EQ(decode_route_refresh(body_of(out)), RouteRefresh{});
    EXPECT_EQ(decode_route_refresh(from_hex("0019 01 46"))->kind, RouteRefresh::kBegin);
}

TEST(RouteRefresh, OfAnotherLengthIsRefused) {
    for (const auto* const hex : {"", "0019", "001900", "0019004600"}) {
        const auto refresh = decode_route_refresh(from_hex(hex));

        ASSERT_FALSE(refresh.has_value());
        EXPECT_EQ(refresh.error().notification.code, Notification::kRouteRefresh);
        EXPECT_THAT(refresh.error().error.text, HasSubstr("(byte 19)"));
    }
}

}  // namespace
}  // namespace planed::bgp
