// SPDX-License-Identifier: Apache-2.0
#include "core/proxies.hpp"

#include <cerrno>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "support/builders.hpp"
#include "support/print.hpp"

namespace planed {
namespace {

using test::interface_config;
using test::ip;
using test::prefix;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr IfIndex kBr0{10};
constexpr std::uint8_t kStatic = 4;  // RTPROT_STATIC: some operator's.

ServedInterface br0() {
    return {.link = kBr0,
            .name = "br0",
            .up = true,
            .subnets = {prefix("10.0.0.1/16"), prefix("fd00::1/64")},
            .config = interface_config("br0")};
}
NeighborKey on_br0(std::string_view address) {
    return {.link = kBr0, .address = ip(address)};
}

// The policy --------------------------------------------------------------------------------------

TEST(WantsProxy, ForHostsOfThePlaneInsideThePrefixes) {
    EXPECT_TRUE(wants_proxy(br0(), ip("fd00::5"), {.in_plane = true}));
    EXPECT_FALSE(wants_proxy(br0(), ip("fd00::5"), {.in_plane = false}));
    EXPECT_FALSE(wants_proxy(br0(), ip("fd00:1::5"), {.in_plane = true}));
}

TEST(WantsProxy, NotForAHostBehindThisInterface) {
    EXPECT_FALSE(wants_proxy(br0(), ip("fd00::5"), {.in_plane = true, .is_here = true}));
}

TEST(WantsProxy, NotForAddressesThatNoHostMayHave) {
    EXPECT_FALSE(wants_proxy(br0(), ip("fd00::1"), {.in_plane = true, .own_address = true}));
    EXPECT_FALSE(wants_proxy(br0(), ip("fd00::"), {.in_plane = true}));
    EXPECT_FALSE(wants_proxy(br0(), ip("fe80::5"), {.in_plane = true}));
    EXPECT_FALSE(wants_proxy(br0(), ip("ff02::1"), {.in_plane = true}));
}

TEST(WantsProxy, NotForWhatTheConfigurationExcludes) {
    ServedInterface served = br0();
    served.config.exclude = {prefix("fd00::8/125")};

    EXPECT_FALSE(wants_proxy(served, ip("fd00::9"), {.in_plane = true}));
    EXPECT_TRUE(wants_proxy(served, ip("fd00::10"), {.in_plane = true}));
}

// The kernel's table ------------------------------------------------------------------------------

class ProxiesTest : public testing::Test {
protected:
    ProxiesTest() { proxies.serve(br0()); }

    // Decides about everything that is marked: wanted is what is in the plane.
    void plan() {
        proxies.plan(1000, [this](const NeighborKey& key) {
            return ProxyFacts{.in_plane = plane.contains(key.address),
                              .is_here = here.contains(key.address)};
        });
    }
    void add(std::string_view address) {
        plane.insert(ip(address));
        proxies.mark(ip(address));
        plan();
    }
    void remove(std::string_view address) {
        plane.erase(ip(address));
        proxies.mark(ip(address));
        plan();
    }
    // What is sent in a turn: "+fd00::5".
    std::vector<std::string> send() {
        std::vector<std::string> texts;
        proxies.begin_turn();
        while (const auto send = proxies.next(next_request, now)) {
            texts.push_back((send->put ? "+" : "-") + send->key.address.to_string());
            sent.push_back(*send);
        }
        return texts;
    }
    // The kernel does what it was asked.
    void answer() {
        for (const SendProxy& send : std::exchange(sent, {})) {
            send.put ? (void)kernel.insert(send.key) : (void)kernel.erase(send.key);
            (void)proxies.answered({.request = send.request}, now);
        }
    }
    void read(bool complete = true) {
        now += 1s;
        proxies.dump_begin(now);
        for (const NeighborKey& key : kernel) {
            proxies.see({.key = key, .protocol = kNeighborProtocol}, now);
        }
        for (const NeighborKey& key : others) {
            proxies.see({.key = key, .protocol = kStatic}, now);
        }
        proxies.dump_finish(complete, now);
        plan();
    }
    // A table that has been read, with one host of the plane in it.
    void start() {
        read();
        proxies.trust();
        add("fd00::5");
        (void)send();
        answer();
    }

    Proxies proxies;
    std::set<IpAddress> plane;
    std::set<IpAddress> here;
    std::set<NeighborKey> kernel;
    std::set<NeighborKey> others;
    std::vector<SendProxy> sent;
    std::uint64_t next_request = 1;
    TimePoint now{1h};
};

TEST_F(ProxiesTest, SayNothingBeforeTheyAreTrusted) {
    add("fd00::5");
    EXPECT_THAT(send(), IsEmpty());
    EXPECT_FALSE(proxies.is_settled());

    proxies.trust();

    EXPECT_THAT(send(), ElementsAre("+fd00::5"));
    EXPECT_FALSE(proxies.is_settled());
    answer();
    EXPECT_TRUE(proxies.is_settled());
}

TEST_F(ProxiesTest, FollowThePlane) {
    start();

    remove("fd00::5");

    EXPECT_THAT(send(), ElementsAre("-fd00::5"));
    answer();
    EXPECT_EQ(proxies.entries().size(), 0U);
}

TEST_F(ProxiesTest, EndForAHostThatIsHere) {
    start();

    here.insert(ip("fd00::5"));
    proxies.mark(ip("fd00::5"));
    plan();

    EXPECT_THAT(send(), ElementsAre("-fd00::5"));
}

TEST_F(ProxiesTest, OfAnEarlierRunStayIfWantedAndGoIfNot) {
    kernel = {
        on_br0("fd00::5"), on_br0("fd00::6"), {.link = IfIndex{99}, .address = ip("fd00::7")}};
    read();
    add("fd00::5");

    proxies.trust();

    EXPECT_THAT(send(), ElementsAre("-fd00::6", "-fd00::7"));
}

TEST_F(ProxiesTest, ThatTheKernelHasLostArePutAgain) {
    start();
    kernel.clear();

    read();

    EXPECT_THAT(send(), ElementsAre("+fd00::5"));
}

TEST_F(ProxiesTest, AreNotMissedInADumpThatWasInterrupted) {
    start();
    kernel.clear();

    read(false);

    EXPECT_THAT(send(), IsEmpty());
}

TEST_F(ProxiesTest, SentInTheTurnOfTheDumpAreNotMissedInIt) {
    read();
    proxies.trust();
    add("fd00::5");
    EXPECT_THAT(send(), ElementsAre("+fd00::5"));

    proxies.dump_begin(now);
    answer();
    proxies.dump_finish(true, now);

    EXPECT_THAT(send(), IsEmpty());
}

TEST_F(ProxiesTest, OfOthersAreNeverTouched) {
    others = {on_br0("fd00::5"), on_br0("fd00::6")};
    read();
    proxies.trust();

    add("fd00::5");
    EXPECT_THAT(send(), IsEmpty());
    remove("fd00::5");

    EXPECT_THAT(send(), IsEmpty());
}

TEST_F(ProxiesTest, ReplaceAnothersOnceThatHasGone) {
    others = {on_br0("fd00::5")};
    read();
    proxies.trust();
    add("fd00::5");

    others.clear();
    read();

    EXPECT_THAT(send(), ElementsAre("+fd00::5"));
}

TEST_F(ProxiesTest, LeaveAnEntryThatAnotherHasTakenOver) {
    start();
    others = {*kernel.begin()};
    kernel.clear();

    read();
    EXPECT_THAT(send(), IsEmpty());
    remove("fd00::5");

    EXPECT_THAT(send(), IsEmpty());
    EXPECT_EQ(proxies.entries().state(on_br0("fd00::5")), SinkState::Absent);
}

TEST_F(ProxiesTest, AreBoundedInATurn) {
    read();
    proxies.trust();
    for (std::size_t i = 0; i < limits::kProxiesPerTurnMax + 5; ++i) {
        IpAddress::Bytes bytes{0xfd};
        bytes[14] = static_cast<std::uint8_t>(1 + i / 256);
        bytes[15] = static_cast<std::uint8_t>(i % 256);
        plane.insert(IpAddress::v6(bytes));
        proxies.mark(IpAddress::v6(bytes));
    }
    plan();

    EXPECT_EQ(send().size(), limits::kProxiesPerTurnMax);
    EXPECT_EQ(proxies.wake_at(now), now);
    EXPECT_THAT(send(), IsEmpty());  // So many wait for an answer.
    answer();
    EXPECT_EQ(send().size(), 5U);
}

TEST_F(ProxiesTest, RefusedByTheKernelAreTriedAgain) {
    read();
    proxies.trust();
    add("fd00::5");
    (void)send();

    const Error refused{.code = Errc::Refused, .text = "IPv6 is disabled", .system_errno = EINVAL};
    const auto outcome = proxies.answered({.request = 1, .error = refused}, now);

    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->key, on_br0("fd00::5"));
    EXPECT_EQ(outcome->error, refused);
    EXPECT_THAT(send(), IsEmpty());
    now = proxies.wake_at(now).value();
    EXPECT_THAT(send(), ElementsAre("+fd00::5"));
}

TEST_F(ProxiesTest, ThatAreGoneAlreadyNeedNotBeRemovedTwice) {
    start();
    remove("fd00::5");
    (void)send();

    const Error gone{.code = Errc::Refused, .text = "no such entry", .system_errno = ENOENT};
    const auto outcome = proxies.answered({.request = sent.front().request, .error = gone}, now);

    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->error, std::nullopt);
    EXPECT_TRUE(proxies.is_settled());
}

TEST_F(ProxiesTest, KnowTheirOwnRequestsOnly) {
    EXPECT_FALSE(proxies.answered({.request = 77}, now));
}

TEST_F(ProxiesTest, GoWithTheServiceOfTheirInterface) {
    start();

    proxies.unserve(kBr0);

    EXPECT_THAT(send(), ElementsAre("-fd00::5"));
}

TEST_F(ProxiesTest, AreForgottenWithTheirLink) {
    start();

    proxies.forget(kBr0, now);

    EXPECT_THAT(send(), IsEmpty());
    EXPECT_EQ(proxies.entries().size(), 0U);
}

TEST_F(ProxiesTest, EndWhereTheInterfacesPrefixesChange) {
    start();
    ServedInterface served = br0();
    served.config.prefixes = {prefix("fd00:9::/64")};

    proxies.serve(served);
    plan();

    EXPECT_THAT(send(), ElementsAre("-fd00::5"));
}

TEST_F(ProxiesTest, StayWantedOnAnInterfaceThatIsDown) {
    start();
    ServedInterface served = br0();
    served.up = false;

    proxies.serve(served);
    plan();

    EXPECT_THAT(send(), IsEmpty());
    EXPECT_EQ(proxies.entries().state(on_br0("fd00::5")), SinkState::Held);
}

TEST_F(ProxiesTest, AreAllRemovedAtTheEnd) {
    start();
    add("fd00::6");
    (void)send();

    const auto removals = proxies.remove_all(next_request);

    ASSERT_EQ(removals.size(), 2U);
    EXPECT_EQ(removals[0].key, on_br0("fd00::5"));
    EXPECT_EQ(removals[1].key, on_br0("fd00::6"));
    EXPECT_FALSE(removals[0].put);
}

TEST_F(ProxiesTest, AreOfIPv6Alone) {
    start();

    add("10.0.0.5");
    proxies.see({.key = on_br0("10.0.0.6"), .protocol = kNeighborProtocol}, now);

    EXPECT_THAT(send(), IsEmpty());
}

}  // namespace
}  // namespace planed
