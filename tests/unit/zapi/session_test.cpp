// SPDX-License-Identifier: Apache-2.0
#include "zapi/session.hpp"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/zapi/vectors.hpp"

namespace planed::zapi {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr TimePoint kStart{1h};
const IpPrefix kHost = IpPrefix::parse("10.0.0.7/32").value();

Route route(std::uint8_t host) {
    return {.prefix = host_prefix(IpAddress::v4(10, 0, 0, host)),
            .out = IfIndex{3},
            .distance = 5,
            .tag = 7};
}

/// A session, and the zebra at its other end played by the test.
class Conversation {
public:
    explicit Conversation(WireFamily family = WireFamily::A, std::uint32_t stale_seconds = 60)
        : session({.family = family, .stale_seconds = stale_seconds}),
          vectors_(load_vectors(family)) {}

    /// Connected, CAPABILITIES received; what was written until then is taken and forgotten.
    static Conversation ready(WireFamily family = WireFamily::A, std::uint32_t stale_seconds = 60) {
        Conversation result(family, stale_seconds);
        result.session.connected(kStart);
        (void)result.take();
        EXPECT_TRUE(result.hear("capabilities"));
        (void)result.take();
        (void)result.events();
        return result;
    }

    /// The bytes of a vector.
    [[nodiscard]] Bytes bytes(const std::string& name) const {
        const auto found = std::find_if(
            vectors_.begin(), vectors_.end(), [&](const Vector& v) { return v.name == name; });
        EXPECT_NE(found, vectors_.end()) << name;
        return found->bytes;
    }
    Result<void> hear(const std::string& name) { return session.receive(bytes(name), now); }
    /// zebra's answer to an end mark; captured for A and D, the same but for its number.
    Result<void> hear_mark() {
        Bytes answer = from_hex("000efe06fffffffe 0000 01000000");
        answer[9] = static_cast<std::uint8_t>(commands_of(session.family()).error);
        return session.receive(answer, now);
    }
    Result<void> hear_hex(std::string_view hex) { return session.receive(from_hex(hex), now); }

    /// Everything written, as whole messages.
    std::vector<Bytes> take() {
        Bytes stream;
        for (auto piece = session.pending(); !piece.empty(); piece = session.pending()) {
            stream.insert(stream.end(), piece.begin(), piece.end());
            session.written(piece.size());
        }
        std::vector<Bytes> result;
        for (std::span<const std::uint8_t> rest = stream; !rest.empty();) {
            const auto length = decode_header(rest).value().length;
            result.emplace_back(rest.begin(), rest.begin() + length);
            rest = rest.subspan(length);
        }
        return result;
    }
    std::vector<Event> events() {
        std::vector<Event> result;
        while (auto event = session.poll_event()) {
            result.push_back(std::move(*event));
        }
        return result;
    }

    Session session;
    TimePoint now = kStart;

private:
    std::vector<Vector> vectors_;
};

Bytes added(const Route& route, WireFamily family = WireFamily::A) {
    Bytes out;
    encode_route_add(family, RouteType::Babel, route, out);
    return out;
}
Bytes deleted(const Route& route, WireFamily family = WireFamily::A) {
    Bytes out;
    encode_route_delete(family, RouteType::Babel, route.vrf, route.prefix, out);
    return out;
}
Bytes redistribute(bool add, VrfId vrf, Afi afi, WireFamily family = WireFamily::A) {
    Bytes out;
    if (add) {
        encode_redistribute_add(family, RouteType::Babel, vrf, afi, out);
    } else {
        encode_redistribute_delete(family, RouteType::Babel, vrf, afi, out);
    }
    return out;
}
Bytes restart_capable(VrfId vrf, WireFamily family = WireFamily::A) {
    Bytes out;
    encode_restart_capable(family, vrf, 60, out);
    return out;
}
Bytes restart_disable(VrfId vrf, WireFamily family = WireFamily::A) {
    Bytes out;
    encode_restart_disable(family, vrf, out);
    return out;
}
const Bytes kMarkBytes = from_hex("000afe06fffffffeffff");

// --- The beginning. ---

class SessionOf : public testing::TestWithParam<WireFamily> {};
INSTANTIATE_TEST_SUITE_P(Session,
                         SessionOf,
                         testing::ValuesIn(kWireFamilies),
                         [](const auto& instance) { return std::string(name_of(instance.param)); });

TEST_P(SessionOf, SendsNothingButHelloBeforeCapabilities) {
    Conversation talk(GetParam());
    talk.session.put(route(7));

    talk.session.connected(kStart);

    EXPECT_THAT(talk.take(), ElementsAre(talk.bytes("hello")));
    EXPECT_FALSE(talk.session.is_ready());
    EXPECT_EQ(talk.session.backlog(), 1U);
}

TEST_P(SessionOf, IsReadyOnceCapabilitiesFit) {
    Conversation talk(GetParam());
    talk.session.connected(kStart);
    (void)talk.take();
    talk.session.put(route(7));

    ASSERT_TRUE(talk.hear("capabilities"));

    const auto events = talk.events();
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(std::get<Ready>(events[0]).family, GetParam());
    EXPECT_EQ(std::get<Ready>(events[0]).capabilities.multipath, 256U);
    std::vector<Bytes> expected{talk.bytes("restart_capable"), talk.bytes("add_v4")};
    if (GetParam() == WireFamily::C || GetParam() == WireFamily::D) {
        expected.insert(expected.begin(), talk.bytes("notify_request"));
    }
    EXPECT_EQ(talk.take(), expected);
}

TEST_P(SessionOf, RefusesTheCapabilitiesOfEveryOtherFamily) {
    for (const WireFamily other : kWireFamilies) {
        if (other == GetParam()) {
            continue;
        }
        Conversation talk(GetParam());
        talk.session.connected(kStart);
        talk.session.put(route(7));
        (void)talk.take();

        const auto heard = talk.session.receive(Conversation(other).bytes("capabilities"), kStart);

        // Another command number is skipped, and the deadline ends it.
        const bool same_number =
            commands_of(other).capabilities == commands_of(GetParam()).capabilities;
        EXPECT_EQ(heard.has_value(), !same_number);
        EXPECT_EQ(talk.session.tick(kStart + Session::kHelloDeadline).has_value(), same_number);
        EXPECT_FALSE(talk.session.is_ready());
        EXPECT_THAT(talk.take(), IsEmpty());
    }
}

TEST_P(SessionOf, ReportsOwnerNotices) {
    auto talk = Conversation::ready(GetParam());

    ASSERT_TRUE(talk.hear("owner_installed_v4"));
    ASSERT_TRUE(talk.hear("owner_removed_v4"));

    EXPECT_THAT(
        talk.events(),
        ElementsAre(
            Event(OwnerNotice{.prefix = kHost, .state = OwnerState::Installed, .table = 254}),
            Event(OwnerNotice{.prefix = kHost, .state = OwnerState::Removed, .table = 254})));
}

TEST_P(SessionOf, ReadsBackItsOwnRoutes) {
    auto talk = Conversation::ready(GetParam());
    const WireFamily family = GetParam();

    EXPECT_TRUE(talk.session.start_read_back({}, kStart));
    const auto asked = talk.take();
    ASSERT_TRUE(talk.hear("row_v4"));
    ASSERT_TRUE(talk.hear_mark());

    EXPECT_THAT(asked,
                ElementsAre(redistribute(true, VrfId::Default, Afi::V4, family),
                            redistribute(true, VrfId::Default, Afi::V6, family),
                            redistribute(false, VrfId::Default, Afi::V4, family),
                            redistribute(false, VrfId::Default, Afi::V6, family),
                            kMarkBytes));
    const auto events = talk.events();
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(as_route(std::get<ReadBackRow>(events[0]).route), route(7));
    EXPECT_EQ(events[1], Event(ReadBackDone{}));
    EXPECT_TRUE(talk.session.idle());
}

TEST(Session, AsksZebrasNoticesByHelloWhereHelloCan) {
    EXPECT_EQ(Conversation(WireFamily::A).bytes("hello").at(17), 1);
    EXPECT_TRUE(hello_asks_for_notices(WireFamily::B));
    EXPECT_FALSE(hello_asks_for_notices(WireFamily::C));
}

TEST(Session, GivesUpIfZebraRefusesHello) {
    Conversation talk(WireFamily::A);
    talk.session.connected(kStart);

    const auto heard = talk.hear("error_no_handler");

    ASSERT_FALSE(heard);
    EXPECT_EQ(heard.error().code, Errc::Unsupported);
    EXPECT_EQ(heard.error().text, "zebra: refused HELLO of FRR 8.4 to 9.0 (code 2)");
}

TEST(Session, GivesUpWithoutCapabilitiesInTime) {
    Conversation talk;
    talk.session.connected(kStart);
    (void)talk.take();
    (void)talk.session.tick(kStart);

    EXPECT_EQ(talk.session.wake_at(), kStart + Session::kHelloDeadline);
    EXPECT_TRUE(talk.session.tick(kStart + Session::kHelloDeadline - 1ns));
    const auto result = talk.session.tick(kStart + Session::kHelloDeadline);

    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().text, "zebra: no CAPABILITIES within 10 s of HELLO");
    EXPECT_EQ(talk.session.wake_at(), std::nullopt);
}

TEST(Session, TakesNoMoreBytesAfterAViolation) {
    auto talk = Conversation::ready();

    EXPECT_FALSE(talk.hear_hex("000aff0600000000000a"));
    EXPECT_FALSE(talk.hear("owner_installed_v4"));

    EXPECT_THAT(talk.events(), IsEmpty());
    talk.session.put(route(7));
    EXPECT_THAT(talk.take(), IsEmpty());
}

TEST(Session, GivesUpOnAMalformedOwnerNotice) {
    auto talk = Conversation::ready();

    const auto heard =
        talk.hear_hex("001afe0600000000 000a 09000000 02 20 0a000007 000000fe 01 01");

    ASSERT_FALSE(heard);
    EXPECT_EQ(heard.error().text, "zebra: owner notice with state 9");
}

TEST(Session, SkipsWhatItDidNotAskFor) {
    auto talk = Conversation::ready();

    EXPECT_TRUE(talk.hear_hex("0011fe0600000000 007d 01 0000 00000000"));  // CLIENT_CLOSE_NOTIFY
    EXPECT_TRUE(talk.hear_hex("000cfe0600000005 0021 ffff"));              // VRF_ADD, as if.
    EXPECT_TRUE(talk.hear("capabilities"));
    EXPECT_TRUE(talk.hear("row_v4"));  // No read-back runs.

    EXPECT_THAT(talk.events(), IsEmpty());
}

TEST(Session, UnderstandsMessagesHoweverTheyAreCut) {
    auto talk = Conversation::ready();
    Bytes stream;
    for (int i = 0; i < 3; ++i) {
        const Bytes one = talk.bytes("owner_installed_v4");
        stream.insert(stream.end(), one.begin(), one.end());
    }

    for (const std::uint8_t byte : stream) {
        ASSERT_TRUE(talk.session.receive(std::span(&byte, 1), kStart));
    }

    EXPECT_EQ(talk.events().size(), 3U);
}

// --- Routes. ---

TEST(Session, ReplacesWhatHasNotBeenEncoded) {
    auto talk = Conversation::ready();
    Route changed = route(7);
    changed.tag = 8;

    talk.session.put(route(7));
    talk.session.put(changed);

    EXPECT_THAT(talk.take(), ElementsAre(added(changed)));
}

TEST(Session, WritesBothIfTheFirstIsEncodedAlready) {
    auto talk = Conversation::ready();

    talk.session.put(route(7));
    const std::size_t before = talk.session.pending().size();
    talk.session.remove(VrfId::Default, route(7).prefix);

    EXPECT_EQ(before, added(route(7)).size());
    EXPECT_THAT(talk.take(), ElementsAre(added(route(7)), deleted(route(7))));
}

TEST(Session, WithdrawsBeforeItAdds) {
    auto talk = Conversation::ready();

    talk.session.put(route(1));
    talk.session.remove(VrfId::Default, route(2).prefix);

    EXPECT_THAT(talk.take(), ElementsAre(deleted(route(2)), added(route(1))));
}

TEST(Session, GoesOnWhereAShortWriteStopped) {
    auto talk = Conversation::ready();
    talk.session.put(route(1));
    talk.session.put(route(2));
    Bytes stream;

    for (auto piece = talk.session.pending(); !piece.empty(); piece = talk.session.pending()) {
        const std::size_t count = std::min<std::size_t>(7, piece.size());
        stream.insert(stream.end(), piece.begin(), piece.begin() + static_cast<long>(count));
        talk.session.written(count);
    }

    Bytes whole = added(route(1));
    const Bytes second = added(route(2));
    whole.insert(whole.end(), second.begin(), second.end());
    EXPECT_EQ(stream, whole);
}

/// 100,000 different routes.
Route numbered(std::uint32_t i) {
    Route result = route(0);
    result.prefix = host_prefix(IpAddress::v4(10,
                                              static_cast<std::uint8_t>(i >> 16U),
                                              static_cast<std::uint8_t>(i >> 8U),
                                              static_cast<std::uint8_t>(i)));
    return result;
}

TEST(Session, HoldsFewBytesHoweverLittleZebraReads) {
    auto talk = Conversation::ready();

    for (std::uint32_t i = 0; i < 100'000; ++i) {
        talk.session.put(numbered(i));
        EXPECT_LE(talk.session.pending().size(), Session::kWriteBuffer);
    }
    for (std::uint32_t i = 0; i < 100'000; ++i) {
        talk.session.put(numbered(i));
    }

    EXPECT_LE(talk.session.backlog(), 100'000U);
    EXPECT_GE(talk.take().size(), 100'000U);
    EXPECT_TRUE(talk.session.idle());
}

TEST(Session, SaysOnceThatZebraStoppedReading) {
    auto talk = Conversation::ready();
    for (std::uint32_t i = 0; i < 10'000; ++i) {
        talk.session.put(numbered(i));
    }
    (void)talk.session.pending();
    (void)talk.session.tick(kStart);
    EXPECT_EQ(talk.session.wake_at(), kStart + Session::kStallAfter);

    (void)talk.session.tick(kStart + Session::kStallAfter);
    (void)talk.session.tick(kStart + 2 * Session::kStallAfter);
    EXPECT_EQ(talk.session.wake_at(), std::nullopt);
    talk.session.written(1);

    EXPECT_THAT(talk.events(),
                ElementsAre(Event(Stalled{.backlog = talk.session.backlog()}), Event(Resumed{})));
}

TEST(Session, DoesNotCallItAStallWhileZebraReads) {
    auto talk = Conversation::ready();
    for (std::uint32_t i = 0; i < 10'000; ++i) {
        talk.session.put(numbered(i));
    }
    for (int second = 0; second < 20; ++second) {
        (void)talk.session.pending();
        (void)talk.session.tick(kStart + second * 1s);
        talk.session.written(1);
    }

    EXPECT_THAT(talk.events(), IsEmpty());
}

TEST(Session, SleepsWhenNothingWaits) {
    auto talk = Conversation::ready();

    EXPECT_TRUE(talk.session.idle());
    EXPECT_EQ(talk.session.wake_at(), std::nullopt);
}

// --- Graceful restart. ---

TEST(Session, AnnouncesEachVrfOnceAndBeforeItsRoutes) {
    auto talk = Conversation::ready();
    Route blue = route(1);
    blue.vrf = VrfId{9};

    talk.session.put(route(2));
    talk.session.announce_vrf(VrfId{9});
    talk.session.put(blue);
    talk.session.announce_vrf(VrfId{9});
    talk.session.announce_vrf(VrfId::Default);

    EXPECT_THAT(talk.take(), ElementsAre(restart_capable(VrfId{9}), added(route(2)), added(blue)));
}

TEST(Session, CompletesTheRestartAfterEveryQueuedRoute) {
    auto talk = Conversation::ready();
    const std::array vrfs{VrfId{9}};
    for (std::uint32_t i = 0; i < 5000; ++i) {
        talk.session.put(numbered(i));
    }
    talk.session.complete_restart(vrfs);
    talk.session.put(numbered(5000));
    talk.session.put(numbered(4999));  // Takes its old place.

    const auto messages = talk.take();

    ASSERT_EQ(messages.size(), 5005U);
    EXPECT_EQ(messages[4999], added(numbered(4999)));
    EXPECT_EQ(messages[5000], talk.bytes("restart_complete_v4"));
    EXPECT_EQ(messages[5001], talk.bytes("restart_complete_v6"));
    EXPECT_EQ(messages[5002].back(), 9);
    EXPECT_EQ(messages[5003].back(), 9);
    EXPECT_EQ(messages[5004], added(numbered(5000)));
}

TEST(Session, DisablesTheRestartOfEveryVrfAndDropsWhatWaits) {
    auto talk = Conversation::ready();
    talk.session.announce_vrf(VrfId{9});
    talk.session.put(route(1));
    (void)talk.session.start_read_back({}, kStart);

    talk.session.disable_restart();
    talk.session.put(route(2));

    EXPECT_THAT(talk.take(), ElementsAre(talk.bytes("restart_disable"), restart_disable(VrfId{9})));
    EXPECT_TRUE(talk.session.idle());
}

TEST(Session, DisablesTheRestartEvenIfAskedBeforeCapabilities) {
    Conversation talk;
    talk.session.connected(kStart);
    (void)talk.take();

    talk.session.disable_restart();
    EXPECT_THAT(talk.take(), IsEmpty());
    ASSERT_TRUE(talk.hear("capabilities"));

    EXPECT_THAT(talk.take(), ElementsAre(talk.bytes("restart_disable")));
}

TEST(Session, SwitchesAnInheritedRestartOffIfItWantsNone) {
    Conversation talk(WireFamily::A, 0);
    talk.session.connected(kStart);
    (void)talk.take();

    ASSERT_TRUE(talk.hear("capabilities"));
    talk.session.announce_vrf(VrfId{9});
    talk.session.complete_restart({});

    EXPECT_THAT(talk.take(), ElementsAre(talk.bytes("restart_disable"), restart_disable(VrfId{9})));
}

// --- Sync. ---

TEST(Session, SaysWhenZebraHasHandledEverythingBefore) {
    auto talk = Conversation::ready();
    talk.session.put(route(1));
    talk.session.sync();
    EXPECT_THAT(talk.take(), ElementsAre(added(route(1)), kMarkBytes));
    EXPECT_THAT(talk.events(), IsEmpty());

    ASSERT_TRUE(talk.hear_mark());

    EXPECT_THAT(talk.events(), ElementsAre(Event(Synced{})));
}

TEST(Session, TellsASyncFromTheEndOfAReadBack) {
    auto talk = Conversation::ready();
    (void)talk.session.start_read_back({}, kStart);
    talk.session.sync();
    (void)talk.take();

    ASSERT_TRUE(talk.hear_mark());
    EXPECT_THAT(talk.events(), ElementsAre(Event(ReadBackDone{})));
    ASSERT_TRUE(talk.hear_mark());
    EXPECT_THAT(talk.events(), ElementsAre(Event(Synced{})));
}

TEST(Session, SyncsAfterAReadBackThatItDroppedUnwritten) {
    auto talk = Conversation::ready();
    (void)talk.session.start_read_back({}, kStart);
    talk.session.sync();
    talk.session.disable_restart();
    talk.session.sync();
    EXPECT_THAT(talk.take(), ElementsAre(talk.bytes("restart_disable"), kMarkBytes));

    ASSERT_TRUE(talk.hear_mark());

    EXPECT_THAT(talk.events(), ElementsAre(Event(Synced{})));
}

// --- The plane. ---

Bytes watch_plane(VrfId vrf, Afi afi, WireFamily family = WireFamily::A) {
    Bytes out;
    encode_watch_plane(family, vrf, afi, out);
    return out;
}
const IpPrefix kElsewhere = IpPrefix::parse("fd00:0:0:1::77/128").value();

TEST_P(SessionOf, WatchesThePlaneOfAVrfOnce) {
    auto talk = Conversation::ready(GetParam());

    talk.session.watch_plane(VrfId{9});
    talk.session.watch_plane(VrfId{9});

    EXPECT_THAT(talk.take(),
                ElementsAre(watch_plane(VrfId{9}, Afi::V4, GetParam()),
                            watch_plane(VrfId{9}, Afi::V6, GetParam()),
                            kMarkBytes));
    ASSERT_TRUE(talk.hear_mark());
    EXPECT_THAT(talk.events(), ElementsAre(Event(PlaneDumped{.vrf = VrfId{9}})));
}

TEST(Session, TellsOfThePlaneUntilItsEnd) {
    for (const WireFamily family : {WireFamily::A, WireFamily::D}) {
        auto talk = Conversation::ready(family);
        talk.session.watch_plane(VrfId::Default);
        (void)talk.take();

        ASSERT_TRUE(talk.hear("plane_row_v6"));
        ASSERT_TRUE(talk.hear_mark());
        ASSERT_TRUE(talk.hear("plane_gone_v6"));
        ASSERT_TRUE(talk.hear("close_bgp"));

        EXPECT_THAT(talk.events(),
                    ElementsAre(Event(PlaneRow{.prefix = kElsewhere}),
                                Event(PlaneDumped{}),
                                Event(PlaneRow{.prefix = kElsewhere, .gone = true}),
                                Event(PlaneDoubted{})));
    }
}

TEST(Session, TellsNobodyOfPrefixesThatAreNoHosts) {
    auto talk = Conversation::ready();
    talk.session.watch_plane(VrfId::Default);
    (void)talk.take();
    Bytes subnet = talk.bytes("plane_row_v4");
    subnet[23] = 31;

    ASSERT_TRUE(talk.session.receive(subnet, kStart));

    EXPECT_THAT(talk.events(), IsEmpty());
}

TEST(Session, TellsNobodyOfAPlaneThatIsNotWatched) {
    auto talk = Conversation::ready();
    (void)talk.session.start_read_back({}, kStart);
    (void)talk.take();

    ASSERT_TRUE(talk.hear("plane_row_v6"));
    ASSERT_TRUE(talk.hear("close_bgp"));

    EXPECT_THAT(talk.events(), IsEmpty());
}

TEST(Session, EndsAPlanesDumpAndAReadBackByMarksOfTheirOwn) {
    auto talk = Conversation::ready();
    talk.session.watch_plane(VrfId::Default);
    (void)talk.session.start_read_back({}, kStart);
    talk.session.watch_plane(VrfId{9});
    (void)talk.take();

    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(talk.hear_mark());
    }

    EXPECT_THAT(
        talk.events(),
        ElementsAre(
            Event(PlaneDumped{}), Event(ReadBackDone{}), Event(PlaneDumped{.vrf = VrfId{9}})));
}

TEST(Session, AsksForNoPlaneOnceItsRoutesAreToGo) {
    auto talk = Conversation::ready();
    talk.session.watch_plane(VrfId::Default);

    talk.session.disable_restart();
    talk.session.watch_plane(VrfId{9});

    EXPECT_THAT(talk.take(), ElementsAre(restart_disable(VrfId::Default)));
}

// --- Read-back. ---

TEST(Session, ReadsBackEveryNamedVrf) {
    auto talk = Conversation::ready();
    const std::array vrfs{VrfId{9}, VrfId::Default};

    (void)talk.session.start_read_back(vrfs, kStart);

    EXPECT_THAT(talk.take(),
                ElementsAre(redistribute(true, VrfId::Default, Afi::V4),
                            redistribute(true, VrfId::Default, Afi::V6),
                            redistribute(true, VrfId{9}, Afi::V4),
                            redistribute(true, VrfId{9}, Afi::V6),
                            redistribute(false, VrfId::Default, Afi::V4),
                            redistribute(false, VrfId::Default, Afi::V6),
                            redistribute(false, VrfId{9}, Afi::V4),
                            redistribute(false, VrfId{9}, Afi::V6),
                            kMarkBytes));
}

TEST(Session, ReadsBackAfterEveryQueuedRoute) {
    auto talk = Conversation::ready();
    talk.session.put(route(1));

    (void)talk.session.start_read_back({}, kStart);

    const auto messages = talk.take();
    EXPECT_EQ(messages.front(), added(route(1)));
    EXPECT_EQ(messages.back(), kMarkBytes);
}

TEST(Session, RefusesASecondReadBackWhileOneRuns) {
    auto talk = Conversation::ready();
    EXPECT_TRUE(talk.session.start_read_back({}, kStart));
    (void)talk.take();

    EXPECT_FALSE(talk.session.start_read_back({}, kStart));
    EXPECT_THAT(talk.take(), IsEmpty());
    ASSERT_TRUE(talk.hear_mark());
    EXPECT_TRUE(talk.session.start_read_back({}, kStart));
}

TEST(Session, ReportsARouteThatLeavesDuringTheReadBack) {
    auto talk = Conversation::ready();
    (void)talk.session.start_read_back({}, kStart);
    (void)talk.take();
    Bytes gone = talk.bytes("row_v4");
    gone[9] = 31;  // REDISTRIBUTE_ROUTE_DEL

    ASSERT_TRUE(talk.hear("row_v4"));
    ASSERT_TRUE(talk.session.receive(gone, kStart));

    const auto events = talk.events();
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[1], Event(ReadBackGone{.prefix = kHost}));
}

TEST(Session, IgnoresRowsOfOtherRouteTypes) {
    auto talk = Conversation::ready();
    (void)talk.session.start_read_back({}, kStart);
    (void)talk.take();
    Bytes other = talk.bytes("row_v4");
    other[10] = 9;  // BGP

    ASSERT_TRUE(talk.session.receive(other, kStart));

    EXPECT_THAT(talk.events(), IsEmpty());
}

TEST(Session, IgnoresChangesThatArriveAfterTheEndMark) {
    auto talk = Conversation::ready();
    (void)talk.session.start_read_back({}, kStart);
    (void)talk.take();

    ASSERT_TRUE(talk.hear_mark());
    ASSERT_TRUE(talk.hear("row_v4"));

    EXPECT_THAT(talk.events(), ElementsAre(Event(ReadBackDone{})));
}

TEST(Session, DoesNotTakeAnUnknownVrfForTheEndMark) {
    auto talk = Conversation::ready();
    const std::array vrfs{VrfId{777}};
    (void)talk.session.start_read_back(vrfs, kStart);
    (void)talk.take();

    ASSERT_TRUE(talk.hear("error_no_such_vrf"));

    EXPECT_TRUE(talk.session.is_reading_back());
    EXPECT_THAT(
        talk.events(),
        ElementsAre(Event(ServerRefused{{.vrf = VrfId{777}, .code = ServerError::kNoSuchVrf}})));
}

TEST(Session, DoesNotTakeAnUnknownCommandForTheEndMark) {
    auto talk = Conversation::ready();
    (void)talk.session.start_read_back({}, kStart);
    (void)talk.take();

    ASSERT_TRUE(talk.hear("error_no_handler"));

    EXPECT_TRUE(talk.session.is_reading_back());
    EXPECT_THAT(talk.events(),
                ElementsAre(Event(ServerRefused{{.code = ServerError::kNoHandler}})));
}

TEST(Session, DoesNotTakeAnErrorForAnEndMarkThatItHasNotSent) {
    auto talk = Conversation::ready();
    (void)talk.session.start_read_back({}, kStart);  // Not encoded yet.

    ASSERT_TRUE(talk.hear_mark());

    EXPECT_TRUE(talk.session.is_reading_back());
    EXPECT_THAT(
        talk.events(),
        ElementsAre(Event(ServerRefused{{.vrf = kNoVrf, .code = ServerError::kNoSuchVrf}})));
}

TEST(Session, GivesUpAReadBackThatNeverEnds) {
    auto talk = Conversation::ready();
    (void)talk.session.start_read_back({}, kStart);
    (void)talk.take();
    (void)talk.session.tick(kStart + Session::kReadBackDeadline);  // Bytes had moved since.
    EXPECT_EQ(talk.session.wake_at(), kStart + 2 * Session::kReadBackDeadline);

    (void)talk.session.tick(kStart + 2 * Session::kReadBackDeadline);

    EXPECT_THAT(talk.events(), ElementsAre(Event(ReadBackFailed{})));
    EXPECT_FALSE(talk.session.is_reading_back());
}

TEST(Session, WaitsForAReadBackAsLongAsRowsCome) {
    auto talk = Conversation::ready();
    (void)talk.session.start_read_back({}, kStart);
    (void)talk.take();

    for (int i = 1; i <= 10; ++i) {
        talk.now = kStart + i * (Session::kReadBackDeadline - 1s);
        (void)talk.session.tick(talk.now);
        ASSERT_TRUE(talk.hear("row_v4"));
    }

    EXPECT_TRUE(talk.session.is_reading_back());
}

TEST(Session, KeepsALateReadBackOutOfTheNextOne) {
    auto talk = Conversation::ready();
    (void)talk.session.start_read_back({}, kStart);
    (void)talk.take();
    (void)talk.session.tick(kStart + Session::kReadBackDeadline);
    (void)talk.session.tick(kStart + 2 * Session::kReadBackDeadline);
    EXPECT_THAT(talk.events(), ElementsAre(Event(ReadBackFailed{})));
    talk.now = kStart + 2 * Session::kReadBackDeadline;
    EXPECT_TRUE(talk.session.start_read_back({}, talk.now));
    (void)talk.take();

    ASSERT_TRUE(talk.hear("row_v4"));  // Late, and no longer true perhaps.
    ASSERT_TRUE(talk.hear_mark());     // The first one's mark.
    EXPECT_THAT(talk.events(), IsEmpty());
    ASSERT_TRUE(talk.hear("row_v4"));
    ASSERT_TRUE(talk.hear_mark());

    const auto events = talk.events();
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[1], Event(ReadBackDone{}));
}

}  // namespace
}  // namespace planed::zapi
