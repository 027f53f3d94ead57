// SPDX-License-Identifier: Apache-2.0
#include "zapi/codec.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/zapi/vectors.hpp"

namespace planed::zapi {
namespace {

using testing::ElementsAreArray;

IpPrefix prefix(std::string_view text) {
    return IpPrefix::parse(text).value();
}

const IpPrefix kV4 = prefix("10.0.0.7/32");
const IpPrefix kV6 = prefix("2001:db8:a::7/128");

Route route_to(const IpPrefix& to) {
    return {.prefix = to, .out = IfIndex{3}, .distance = 5, .tag = 7};
}

class CodecOf : public testing::TestWithParam<WireFamily> {};
INSTANTIATE_TEST_SUITE_P(Codec,
                         CodecOf,
                         testing::ValuesIn(kWireFamilies),
                         [](const auto& instance) { return std::string(name_of(instance.param)); });

// --- What we send. ---

using Encode = std::function<void(WireFamily, Bytes&)>;
constexpr auto kBabel = RouteType::Babel;
constexpr auto kDefault = VrfId::Default;

const std::map<std::string, Encode>& encoders() {
    static const std::map<std::string, Encode> kEncoders{
        {"hello", [](auto family, auto& out) { encode_hello(family, kBabel, out); }},
        {"notify_request", [](auto family, auto& out) { encode_notify_request(family, out); }},
        {"add_v4",
         [](auto family, auto& out) { encode_route_add(family, kBabel, route_to(kV4), out); }},
        {"add_v6",
         [](auto family, auto& out) { encode_route_add(family, kBabel, route_to(kV6), out); }},
        {"delete_v4",
         [](auto family, auto& out) { encode_route_delete(family, kBabel, kDefault, kV4, out); }},
        {"delete_v6",
         [](auto family, auto& out) { encode_route_delete(family, kBabel, kDefault, kV6, out); }},
        {"redistribute_add_v4",
         [](auto family, auto& out) {
             encode_redistribute_add(family, kBabel, kDefault, Afi::V4, out);
         }},
        {"watch_plane_v6",
         [](auto family, auto& out) { encode_watch_plane(family, kDefault, Afi::V6, out); }},
        {"restart_capable",
         [](auto family, auto& out) { encode_restart_capable(family, kDefault, 60, out); }},
        {"restart_complete_v4",
         [](auto family, auto& out) { encode_restart_complete(family, kDefault, Afi::V4, out); }},
        {"restart_complete_v6",
         [](auto family, auto& out) { encode_restart_complete(family, kDefault, Afi::V6, out); }},
        {"restart_disable",
         [](auto family, auto& out) { encode_restart_disable(family, kDefault, out); }},
    };
    return kEncoders;
}

TEST_P(CodecOf, EncodesWhatRealZebrasTook) {
    std::size_t checked = 0;
    for (const Vector& vector : load_vectors(GetParam())) {
        if (vector.origin != "planed") {
            continue;
        }
        ASSERT_TRUE(encoders().contains(vector.name)) << vector.name;
        Bytes out;
        encoders().at(vector.name)(GetParam(), out);
        EXPECT_THAT(out, ElementsAreArray(vector.bytes)) << vector.name;
        ++checked;
    }
    EXPECT_EQ(checked, encoders().size());
}

TEST_P(CodecOf, EncodesAppendAndLeaveWhatIsThere) {
    Bytes out{1, 2, 3};

    encode_bare(kUnknownCommand, VrfId{777}, out);

    EXPECT_THAT(out, ElementsAreArray(from_hex("010203 000afe0600000309ffff")));
}

/// `hex` without the family's command and route type, which are checked above.
Bytes without_numbers(Bytes bytes) {
    bytes[8] = bytes[9] = bytes[10] = 0;
    return bytes;
}

TEST(Codec, SendsTheHostItselfAsOnlinkGateway) {
    Route route = route_to(kV4);
    route.gateway_is_host = true;
    Bytes out;

    encode_route_add(WireFamily::A, kBabel, route, out);

    EXPECT_THAT(without_numbers(out),
                ElementsAreArray(from_hex("0031fe0600000000 0000 00 0000 00000000 0000000b 01 02 20"
                                          "0a000007 0001 00000000 03 01 0a000007 00000003 05"
                                          "00000007")));
}

TEST(Codec, SendsAnIpv6HostAsOnlinkGateway) {
    Route route = route_to(kV6);
    route.gateway_is_host = true;
    Bytes out;

    encode_route_add(WireFamily::D, kBabel, route, out);

    EXPECT_THAT(without_numbers(out),
                ElementsAreArray(from_hex("0049fe0600000000 0000 00 0000 00000000 0000000b 01 0a 80"
                                          "20010db8000a00000000000000000007 0001 00000000 05 01"
                                          "20010db8000a00000000000000000007 00000003 05"
                                          "00000007")));
}

TEST(Codec, SendsAMetricOnlyIfThereIsOne) {
    Route route = route_to(kV4);
    route.metric = 258;
    Bytes out;

    encode_route_add(WireFamily::D, kBabel, route, out);

    EXPECT_THAT(without_numbers(out),
                ElementsAreArray(from_hex("0031fe0600000000 0000 00 0000 00000000 0000000f 01 02 20"
                                          "0a000007 0001 00000000 01 00 00000003 05 00000102"
                                          "00000007")));
}

TEST(Codec, PutsTheVrfIntoHeaderAndNextHop) {
    Route route = route_to(kV4);
    route.vrf = VrfId{9};
    Bytes out;

    encode_route_add(WireFamily::D, kBabel, route, out);
    encode_route_delete(WireFamily::D, kBabel, VrfId{9}, kV4, out);
    encode_redistribute_delete(WireFamily::D, kBabel, VrfId{9}, Afi::V6, out);

    EXPECT_THAT(out,
                ElementsAreArray(from_hex("002dfe0600000009 0009 17 0000 00000000 0000000b 01 02 20"
                                          "0a000007 0001 00000009 01 00 00000003 05 00000007"
                                          "001cfe0600000009 000a 17 0000 00000000 00000000 01 02 20"
                                          "0a000007"
                                          "000efe0600000009 000d 02 17 0000")));
}

TEST(Codec, PutsTheVrfOfGracefulRestartIntoTheBody) {
    Bytes out;

    encode_restart_capable(WireFamily::D, VrfId{9}, 900, out);
    encode_restart_complete(WireFamily::D, VrfId{9}, Afi::V6, out);
    encode_restart_disable(WireFamily::D, VrfId{9}, out);

    EXPECT_THAT(
        out,
        ElementsAreArray(from_hex("0016fe0600000000 0079 00000001 00000384 00000009"
                                  "001afe0600000000 0079 00000002 00000002 00000001 00000009"
                                  "0012fe0600000000 0079 00000004 00000009")));
}

TEST(Codec, SendsOnlyTheBytesThatAPrefixLengthNeeds) {
    Bytes out;

    encode_route_delete(WireFamily::A, kBabel, kDefault, prefix("10.1.0.0/17"), out);

    EXPECT_THAT(without_numbers(out),
                ElementsAreArray(
                    from_hex("001bfe0600000000 0000 00 0000 00000000 00000000 01 02 11 0a0100")));
}

// --- What zebra sends. ---

/// CLIENT_CLOSE_NOTIFY, which is one number to us.
struct ClientClosed {
    std::uint8_t type = 0;
    bool operator==(const ClientClosed&) const = default;
};
using Decoded = std::variant<Error,
                             Capabilities,
                             OwnerNotice,
                             RedistributedRoute,
                             ServerError,
                             ClientClosed,
                             std::monostate>;

template <class T>
Decoded decoded(const Result<T>& result) {
    return result ? Decoded(*result) : Decoded(result.error());
}

Decoded decode(WireFamily family, const Frame& frame) {
    const Commands& commands = commands_of(family);
    const std::uint16_t command = frame.header.command;
    if (command == commands.capabilities) {
        return decoded(decode_capabilities(family, frame.body));
    }
    if (command == commands.route_notify_owner) {
        return decoded(decode_owner_notice(frame));
    }
    if (command == commands.redistribute_route_add || command == commands.redistribute_route_del) {
        return decoded(decode_redistributed(family, frame));
    }
    if (command == commands.error) {
        return decoded(decode_error(frame));
    }
    if (command == commands.client_close_notify) {
        const auto type = decode_client_close(frame);
        return type ? Decoded(ClientClosed{.type = *type}) : Decoded(type.error());
    }
    return std::monostate{};
}

OwnerNotice notice(const IpPrefix& of, OwnerState state) {
    return {.prefix = of, .state = state, .table = 254};
}

Decoded expected(WireFamily family, const std::string& name) {
    if (name.starts_with("capabilities")) {
        Capabilities capabilities{.multipath = 256};
        if (family != WireFamily::A) {
            capabilities.v6_with_v4_next_hop = false;
        }
        if (family == WireFamily::D) {
            capabilities.restarting = false;
        }
        return capabilities;
    }
    if (name.starts_with("owner_")) {
        return notice(
            name.find("v4") != std::string::npos ? kV4 : kV6,
            name.starts_with("owner_installed") ? OwnerState::Installed : OwnerState::Removed);
    }
    if (name == "row_v4") {
        return RedistributedRoute{
            .type = number_of(kBabel, family),
            .prefix = kV4,
            .next_hops = {NextHop{.type = NextHopType::IfIndex, .out = IfIndex{3}}},
            .distance = 5,
            .tag = 7};
    }
    if (name.find("_self_") != std::string::npos) {
        const bool is_v4 = name.ends_with("v4");
        const IpPrefix& of = is_v4 ? kV4 : kV6;
        return RedistributedRoute{
            .type = number_of(kBabel, family),
            .prefix = of,
            .next_hops = {NextHop{.type = is_v4 ? NextHopType::V4IfIndex : NextHopType::V6IfIndex,
                                  .out = IfIndex{2},
                                  .gateway = of.address()}},
            .distance = 5,
            .metric = is_v4 ? 0U : 50U,
            .tag = 7};
    }
    if (name.starts_with("plane_")) {
        const char* gateway =
            family == WireFamily::A ? "fe80::cce5:38ff:fe70:beda" : "fe80::68f7:60ff:fea7:c911";
        return RedistributedRoute{
            .type = bgp_number(family),
            .prefix = prefix(name.ends_with("v4") ? "10.0.0.77/32" : "fd00:0:0:1::77/128"),
            .next_hops = {NextHop{.type = NextHopType::V6IfIndex,
                                  .out = IfIndex{2},
                                  .gateway = IpAddress::parse(gateway)}},
            .distance = 20};
    }
    if (name == "close_bgp") {
        return ClientClosed{.type = bgp_number(family)};
    }
    if (name == "error_no_handler") {
        return ServerError{.code = ServerError::kNoHandler};
    }
    if (name == "error_mark") {
        return ServerError{.vrf = kNoVrf, .code = ServerError::kNoSuchVrf};
    }
    if (name == "error_no_such_vrf") {
        return ServerError{.vrf = VrfId{777}, .code = ServerError::kNoSuchVrf};
    }
    return std::monostate{};
}

TEST_P(CodecOf, DecodesWhatRealZebrasSent) {
    std::size_t checked = 0;
    for (const Vector& vector : load_vectors(GetParam())) {
        if (!vector.origin.starts_with("zebra ")) {
            continue;
        }
        const Decoded value = decode(GetParam(), frame_of(vector.bytes));
        EXPECT_NE(value, Decoded(std::monostate{})) << vector.name;
        EXPECT_EQ(value, expected(GetParam(), vector.name)) << vector.name;
        ++checked;
    }
    EXPECT_GE(checked, 5U);
}

/// A message with this body, its length right.
Bytes with_body(const Bytes& message, std::span<const std::uint8_t> body) {
    Bytes result(kHeaderSize + body.size());
    std::copy_n(message.begin(), kHeaderSize, result.begin());
    std::ranges::copy(body, result.begin() + kHeaderSize);
    result[0] = static_cast<std::uint8_t>(result.size() >> 8U);
    result[1] = static_cast<std::uint8_t>(result.size() & 0xFFU);
    return result;
}

/// A message whose header does not know its length yet.
Bytes sized(std::string_view hex) {
    const Bytes message = from_hex(hex);
    return with_body(message, std::span<const std::uint8_t>(message).subspan(kHeaderSize));
}

TEST_P(CodecOf, RefusesEveryProperPrefixOfABody) {
    for (const Vector& vector : load_vectors(GetParam())) {
        if (!vector.origin.starts_with("zebra ")) {
            continue;
        }
        const std::span<const std::uint8_t> body =
            std::span<const std::uint8_t>(vector.bytes).subspan(kHeaderSize);
        for (std::size_t length = 0; length < body.size(); ++length) {
            const Bytes message = with_body(vector.bytes, body.first(length));
            if (vector.name == "capabilities" && GetParam() == WireFamily::D &&
                message.size() == 19) {
                continue;  // The length of 10.6.
            }
            EXPECT_TRUE(std::holds_alternative<Error>(decode(GetParam(), frame_of(message))))
                << vector.name << " cut to " << length;
        }
    }
}

TEST_P(CodecOf, ReadsTheHeadOfARouteWhateverFollows) {
    for (const Vector& vector : load_vectors(GetParam())) {
        if (!vector.name.starts_with("plane_")) {
            continue;
        }
        const auto whole = decode_redistributed(GetParam(), frame_of(vector.bytes));
        Bytes body(vector.bytes.begin() + kHeaderSize, vector.bytes.end());
        body.back() ^= 0xFFU;
        body.push_back(0);
        const Bytes message = with_body(vector.bytes, body);

        const auto head = decode_redistributed_head(frame_of(message));

        ASSERT_TRUE(head && whole) << vector.name;
        EXPECT_EQ(*head, (RedistributedHead{.type = whole->type, .prefix = whole->prefix}));
    }
}

TEST_P(CodecOf, RefusesTrailingBytes) {
    for (const Vector& vector : load_vectors(GetParam())) {
        if (!vector.origin.starts_with("zebra ")) {
            continue;
        }
        Bytes body(vector.bytes.begin() + kHeaderSize, vector.bytes.end());
        body.push_back(0);
        const Bytes message = with_body(vector.bytes, body);
        EXPECT_TRUE(std::holds_alternative<Error>(decode(GetParam(), frame_of(message))))
            << vector.name;
    }
}

TEST(Codec, ReadsBothWeightWidthsOfFamilyC) {
    const Bytes narrow = from_hex(
        "0039fe0600000000 001f 17 0000 00000008 0000001f 01 02 20 0a000007 0001 00000000 01"
        "04 00000003 00000001 05 00000000 00000007 00000000");
    const Bytes wide = from_hex(
        "003dfe0600000000 001f 17 0000 00000008 0000001f 01 02 20 0a000007 0001 00000000 01"
        "04 00000003 0000000000000001 05 00000000 00000007 00000000");

    const auto of_10_0 = decode_redistributed(WireFamily::C, frame_of(narrow));
    const auto of_10_1 = decode_redistributed(WireFamily::C, frame_of(wide));

    ASSERT_TRUE(of_10_0);
    ASSERT_TRUE(of_10_1);
    EXPECT_EQ(*of_10_0, *of_10_1);
    EXPECT_EQ(of_10_1->tag, 7U);
    EXPECT_FALSE(decode_redistributed(WireFamily::D, frame_of(narrow)));
    EXPECT_FALSE(decode_redistributed(WireFamily::B, frame_of(wide)));
}

// zebra leaves the onlink flag out, so it is no part of what makes a route the one that we sent.
TEST(Codec, KnowsTheHostAsGatewayAgain) {
    const RedistributedRoute row{
        .type = 22,
        .prefix = kV4,
        .next_hops = {NextHop{
            .type = NextHopType::V4IfIndex, .out = IfIndex{3}, .gateway = kV4.address()}},
        .distance = 5,
        .tag = 7};
    Route sent = route_to(kV4);
    sent.gateway_is_host = true;

    EXPECT_EQ(as_route(row), sent);
}

TEST(Codec, ReadsBackAWholeSetOfNextHops) {
    const Bytes message = sized(
        "0000fe0600000000 001e 16 0000 00000008 00000003 01 0a 80 20010db8000a00000000000000000007"
        "0003"
        "00000000 05 00 fe800000000000000000000000000001 00000003"
        "00000000 02 00 0a000001 00000004"
        "00000000 06 00 01"
        "05");

    const auto row = decode_redistributed(WireFamily::A, frame_of(message));

    ASSERT_TRUE(row) << row.error().text;
    ASSERT_EQ(row->next_hops.size(), 3U);
    EXPECT_EQ(row->next_hops[0].gateway, IpAddress::parse("fe80::1"));
    EXPECT_EQ(row->next_hops[1].gateway, IpAddress::parse("10.0.0.1"));
    EXPECT_EQ(row->next_hops[2].type, NextHopType::Blackhole);
    EXPECT_EQ(as_route(*row), std::nullopt);
}

TEST(Codec, SkipsOptionalFieldsOfARow) {
    const Bytes message = sized(
        "0000fe0600000000 001e 16 0000 00000008 000005bf 01 02 18 0a0000"
        "09 0b80"                                 // Source prefix of 9 bits.
        "00000011"                                // Next hop group.
        "0001 00000000 01 00 00000003"            //
        "05 0000000a 00000007 000005dc 000000fe"  // Distance, metric, tag, MTU, table.
        "0003 010203");                           // Opaque.

    const auto row = decode_redistributed(WireFamily::A, frame_of(message));

    ASSERT_TRUE(row) << row.error().text;
    EXPECT_EQ(row->prefix, prefix("10.0.0.0/24"));
    EXPECT_EQ(row->metric, 10U);
    EXPECT_EQ(row->tag, 7U);
}

TEST(Codec, CallsARowOpaqueThatItCannotReadToTheEnd) {
    const Bytes labels = sized(
        "0000fe0600000000 001e 16 0000 00000008 0000001f 01 02 20 0a000007 0001 00000000 01"
        "02 00000003 01 10000000 05 00000000 00000007 00000000");
    const Bytes backups = sized(
        "0000fe0600000000 001e 16 0000 00000008 00000041 01 02 20 0a000007 0001 00000000 01"
        "00 00000003 0001 00000000 01 00 00");

    for (const Bytes& message : {labels, backups}) {
        const auto row = decode_redistributed(WireFamily::A, frame_of(message));
        ASSERT_TRUE(row) << row.error().text;
        EXPECT_TRUE(row->opaque);
        EXPECT_EQ(row->prefix, kV4);
        EXPECT_EQ(as_route(*row), std::nullopt);
    }
}

TEST(Codec, SaysWhichRowIsNoneOfOurForms) {
    RedistributedRoute row{.type = 22,
                           .prefix = kV4,
                           .next_hops = {NextHop{.out = IfIndex{3}}},
                           .distance = 5,
                           .tag = 7};
    EXPECT_EQ(as_route(row), route_to(kV4));

    row.next_hops[0].gateway = IpAddress::v4(10, 0, 0, 1);
    EXPECT_EQ(as_route(row), std::nullopt);

    row.next_hops[0] = NextHop{.vrf = VrfId{9}, .out = IfIndex{3}};
    EXPECT_EQ(as_route(row), std::nullopt);

    row.next_hops.clear();
    EXPECT_EQ(as_route(row), std::nullopt);
}

Bytes owner_v4(std::string_view state, std::string_view rest) {
    return with_body(from_hex("0000fe0600000000 000a"),
                     from_hex(std::string(state) + std::string(rest)));
}

TEST(Codec, RefusesImpossibleOwnerNotices) {
    const auto refused = [](const Bytes& message) {
        return !decode_owner_notice(frame_of(message)).has_value();
    };
    const std::string good = "02 20 0a000007 000000fe 01 01";

    EXPECT_FALSE(refused(owner_v4("02000000", good)));
    EXPECT_TRUE(refused(owner_v4("05000000", good)));
    EXPECT_TRUE(refused(owner_v4("00000002", good)));                             // Big-endian.
    EXPECT_TRUE(refused(owner_v4("02000000", "03 20 0a000007 000000fe 01 01")));  // Family.
    EXPECT_TRUE(refused(owner_v4("02000000", "02 21 0a000007 000000fe 01 01")));  // Length.
    EXPECT_TRUE(refused(owner_v4("02000000", "02 20 0a000007 000000fe 02 01")));  // AFI.
}

TEST(Codec, SaysWhereAndWhyDecodingStopped) {
    const Bytes message = owner_v4("05000000", "02 20 0a000007 000000fe 01 01");

    const auto result = decode_owner_notice(frame_of(message));

    ASSERT_FALSE(result);
    EXPECT_EQ(result.error(),
              (Error{.code = Errc::Malformed, .text = "owner notice with state 5", .offset = 0}));
}

TEST(Codec, RefusesCapabilitiesOfAnotherFamily) {
    const Bytes nine = from_hex("00000000 00 00000100 00 00");

    const auto result = decode_capabilities(WireFamily::A, nine);

    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, Errc::Unsupported);
    EXPECT_EQ(result.error().text, "CAPABILITIES of 21 bytes do not belong to FRR 8.4 to 9.0");
}

TEST(Codec, ReadsCapabilitiesFieldByField) {
    const Bytes body = from_hex("01 01 00000010 02 01 01");

    const auto capabilities = decode_capabilities(WireFamily::D, body);

    ASSERT_TRUE(capabilities);
    EXPECT_EQ(*capabilities,
              (Capabilities{.vrf_backend = 1,
                            .mpls = true,
                            .multipath = 16,
                            .mlag_role = 2,
                            .v6_with_v4_next_hop = true,
                            .restarting = true}));
}

// --- Framing. ---

struct Header10 {
    const char* bytes;
    Errc code;
};
class BadHeader : public testing::TestWithParam<Header10> {};
INSTANTIATE_TEST_SUITE_P(
    Codec,
    BadHeader,
    testing::Values(Header10{"000aff0600000000ffff", Errc::Malformed},    // Marker.
                    Header10{"000afe0500000000ffff", Errc::Unsupported},  // Version.
                    Header10{"000afe0700000000ffff", Errc::Unsupported},  //
                    Header10{"0009fe0600000000ffff", Errc::Malformed},    // Length below 10 …
                    Header10{"0000fe0600000000ffff", Errc::Malformed},    //
                    Header10{"4001fe0600000000ffff", Errc::Malformed},    // … and over 16384.
                    Header10{"000afe0600000000ff", Errc::Truncated}));

TEST_P(BadHeader, IsRefused) {
    const auto header = decode_header(from_hex(GetParam().bytes));

    ASSERT_FALSE(header);
    EXPECT_EQ(header.error().code, GetParam().code);
}

TEST(Codec, ReadsAHeader) {
    const auto header = decode_header(from_hex("4000fe0600000309 0012 ffff"));

    ASSERT_TRUE(header);
    EXPECT_EQ(*header, (Header{.length = 16384, .vrf = VrfId{777}, .command = 18}));
}

/// Frames as owned bytes, from a stream cut into pieces of `size`.
std::vector<Bytes> frames_of(std::span<const std::uint8_t> stream, std::size_t size) {
    std::vector<Bytes> result;
    Framer framer;
    while (!stream.empty()) {
        const auto piece = stream.first(std::min(size, stream.size()));
        stream = stream.subspan(piece.size());
        framer.feed(piece);
        for (auto frame = framer.next(); frame && *frame; frame = framer.next()) {
            result.emplace_back((*frame)->body.begin(), (*frame)->body.end());
            EXPECT_EQ((*frame)->header.length, kHeaderSize + (*frame)->body.size());
        }
    }
    return result;
}

TEST(Framer, GivesTheSameMessagesHoweverTheStreamIsCut) {
    const Bytes stream = from_hex(
        "000bfe0600000000 0001 aa"
        "000afe0600000000 0002"
        "000ffe0600000000 0003 0102030405"
        "000afe0600000000 0004");
    const std::vector<Bytes> whole{{0xAA}, {}, {1, 2, 3, 4, 5}, {}};

    for (std::size_t size = 1; size <= stream.size(); ++size) {
        EXPECT_EQ(frames_of(stream, size), whole) << "pieces of " << size;
    }
}

TEST(Framer, KeepsACutMessageUntilItsEndComes) {
    const Bytes message = from_hex("000bfe0600000000 0001 aa");
    Framer framer;

    framer.feed(std::span<const std::uint8_t>(message).first(10));
    EXPECT_FALSE(framer.next()->has_value());
    framer.feed(std::span<const std::uint8_t>(message).subspan(10));
    const auto frame = framer.next();

    ASSERT_TRUE(frame->has_value());
    EXPECT_EQ((*frame)->body.size(), 1U);
    EXPECT_EQ((*frame)->body.front(), 0xAA);
}

TEST(Framer, RefusesAStreamThatLosesItsMarker) {
    const Bytes stream = from_hex("000bfe0600000000 0001 aa 00000000000000000000");
    Framer framer;

    framer.feed(stream);

    EXPECT_TRUE(framer.next()->has_value());
    EXPECT_FALSE(framer.next());
}

TEST(Framer, RefusesAWrongMarkerThatComesInPieces) {
    const Bytes bad = from_hex("000bff0600000000 0001 aa");
    Framer framer;

    framer.feed(std::span<const std::uint8_t>(bad).first(4));
    EXPECT_FALSE(framer.next()->has_value());
    framer.feed(std::span<const std::uint8_t>(bad).subspan(4));

    EXPECT_FALSE(framer.next());
}

}  // namespace
}  // namespace planed::zapi
