// SPDX-License-Identifier: Apache-2.0
// What audits tell: everything that was otherwise than planed knew or wanted, and nothing that is
// under way.
#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "support/leaf.hpp"

namespace planed::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::UnorderedElementsAre;

// "route 10.0.0.5/32: dev br0 … -> nothing, sent again"
std::string in_words(const Difference& difference) {
    const auto text = [](const std::string& words) { return words.empty() ? "nothing" : words; };
    return std::string(entry_word(difference.table)) + " " + difference.object + ": " +
           text(difference.wanted) + " -> " + text(difference.found) + ", " +
           std::string(difference.action);
}

constexpr const char* kRouteText = "dev br0 distance 5 metric 0 tag 100";

class EngineAudit : public testing::Test {
protected:
    // An operator's audit from begin to end.
    std::vector<std::string> audit() {
        outputs = leaf.feed(AuditRequested{});
        const auto later = leaf.run_for(4s);
        outputs.insert(outputs.end(), later.begin(), later.end());
        return end();
    }
    std::vector<std::string> end() {
        EXPECT_TRUE(leaf.engine.audit_is_done());
        report = leaf.engine.audits().report();
        (void)leaf.feed(AuditEnded{});
        std::vector<std::string> texts;
        for (const Difference& difference : report.differences) {
            texts.push_back(in_words(difference));
        }
        return texts;
    }
    [[nodiscard]] AuditedTable table(AuditTable which) const {
        return report.tables.at(static_cast<std::size_t>(which));
    }
    [[nodiscard]] std::uint64_t counted(AuditTable which) const {
        return leaf.engine.audits().counters().differences[static_cast<std::size_t>(which)];
    }

    RailLeaf leaf;
    AuditReport report;
    std::vector<Output> outputs;
};

// Nothing -----------------------------------------------------------------------------------------

TEST_F(EngineAudit, OfAQuietLeafFindsNothingAndChangesNothing) {
    const TimePoint asked = leaf.now;

    EXPECT_THAT(audit(), IsEmpty());

    EXPECT_EQ(table(AuditTable::Neighbors).entries, 1U);
    EXPECT_EQ(table(AuditTable::Forwarding).entries, 1U);
    EXPECT_EQ(table(AuditTable::Routes).entries, 1U);
    EXPECT_EQ(table(AuditTable::Links).entries, 3U);  // br0 and its ports; no uplink is configured.
    EXPECT_EQ(table(AuditTable::Settings).entries, 15U);
    for (const AuditedTable& read : report.tables) {
        EXPECT_TRUE(read.began && *read.began >= asked) << word(read.table);
        EXPECT_EQ(read.trouble, "") << word(read.table);
    }
    EXPECT_THAT(routes_of(outputs), IsEmpty());
    EXPECT_THAT(writes_of(outputs), IsEmpty());
    EXPECT_THAT(only<SendProxy>(outputs), IsEmpty());
}

TEST_F(EngineAudit, IsOverAsSoonAsEverythingWasRead) {
    (void)leaf.feed(AuditRequested{});

    EXPECT_TRUE(leaf.engine.audit_is_done());
}

TEST_F(EngineAudit, WaitsForReadsThatBeganAfterTheQuestion) {
    leaf.answer_dumps = false;
    (void)leaf.turn(EventsLost{.kind = DumpKind::Fdb});
    (void)leaf.turn(DumpStarted{.kind = DumpKind::Fdb});
    leaf.answer_dumps = true;
    (void)leaf.feed(AuditRequested{});
    EXPECT_FALSE(leaf.engine.audit_is_done());

    (void)leaf.feed(leaf.kernel.rows(DumpKind::Fdb));
    (void)leaf.feed(DumpFinished{.kind = DumpKind::Fdb, .complete = true});
    EXPECT_EQ(leaf.engine.totals().resyncs, 1U);  // The question did not spoil that dump,
    EXPECT_FALSE(leaf.engine.audit_is_done());    // and is not answered by it.
    (void)leaf.run_for(limits::kDumpSpacing);

    EXPECT_THAT(end(), IsEmpty());
}

TEST_F(EngineAudit, SaysWhatWasNotReadInTime) {
    leaf.answer_dumps = false;
    (void)leaf.feed(AuditRequested{});
    (void)leaf.run_for(2s);

    EXPECT_FALSE(leaf.engine.audit_is_done());
    const AuditReport sofar = leaf.engine.audits().report();
    EXPECT_EQ(sofar.tables[static_cast<std::size_t>(AuditTable::Neighbors)].trouble,
              "not read in time");
    EXPECT_EQ(sofar.tables[static_cast<std::size_t>(AuditTable::Routes)].trouble, "");
}

// zebra -------------------------------------------------------------------------------------------

TEST_F(EngineAudit, TellsARouteThatZebraLacksAndItIsSentAgain) {
    leaf.zebra.clear();

    EXPECT_THAT(
        audit(),
        ElementsAre(std::string("route 10.0.0.5/32: ") + kRouteText + " -> nothing, sent again"));

    EXPECT_EQ(report.differences[0].vrf, "default");
    EXPECT_EQ(report.differences[0].interface, "br0");
    EXPECT_THAT(routes_of(outputs), ElementsAre(announces("10.0.0.5", kBr0)));
    EXPECT_THAT(audit(), IsEmpty());
}

TEST_F(EngineAudit, FindsWordsForSoManyInATurn) {
    constexpr std::size_t kMany = limits::kToldPerTurnMax + 10;
    for (std::uint32_t i = 0; i < kMany; ++i) {
        const auto address = IpAddress::v4(
            10, 0, static_cast<std::uint8_t>(1 + i / 256), static_cast<std::uint8_t>(i % 256));
        leaf.zebra[route_key(VrfId::Default, address)] = route_via(kBr0);
    }
    leaf.answer_routes = false;
    leaf.answer_dumps = false;
    (void)leaf.feed(AuditRequested{});
    EXPECT_EQ(leaf.engine.audits().report().differences.size(), limits::kToldPerTurnMax);
    EXPECT_EQ(leaf.engine.wake_at(), leaf.now);

    (void)leaf.turn(std::vector<Input>{});

    EXPECT_EQ(leaf.engine.take_audit().differences.size(), kMany);
    EXPECT_THAT(leaf.engine.audits().report().differences, IsEmpty());
    EXPECT_EQ(counted(AuditTable::Routes), kMany);
}

TEST_F(EngineAudit, TellsARouteThatIsNotTheOneWeSent) {
    leaf.zebra[route_of("10.0.0.5")].metric = 7;

    EXPECT_THAT(audit(),
                ElementsAre(std::string("route 10.0.0.5/32: ") + kRouteText +
                            " -> dev br0 distance 5 metric 7 tag 100, sent again"));
}

TEST_F(EngineAudit, TellsARouteOfOursThatNobodyWants) {
    leaf.zebra[route_of("10.0.0.66")] = route_via(kBr0);

    EXPECT_THAT(
        audit(),
        ElementsAre(std::string("route 10.0.0.66/32: nothing -> ") + kRouteText + ", removed"));
    EXPECT_THAT(leaf.zebra, testing::SizeIs(1));
}

TEST_F(EngineAudit, TellsThatZebraPrefersAnotherRoute) {
    leaf.zebra.clear();
    (void)leaf.feed(RouteAnswered{.key = route_of("10.0.0.5"), .answer = RouteAnswer::BetterWon});

    EXPECT_THAT(audit(),
                ElementsAre(std::string("route 10.0.0.5/32: ") + kRouteText +
                            " -> zebra prefers another route, sent again"));
}

TEST_F(EngineAudit, DoesNotMindARouteThatIsUnderWay) {
    leaf.answer_routes = false;
    (void)leaf.feed({leaf.kernel.learn(in_br0(mac(6)), kSwp2),
                     leaf.kernel.set(on_br0("10.0.0.6"), reachable(mac(6)))});
    (void)leaf.feed(AuditRequested{});

    EXPECT_THAT(end(), IsEmpty());
}

TEST_F(EngineAudit, DoesNotMindAWithdrawalThatIsUnderWay) {
    leaf.answer_routes = false;
    (void)leaf.feed(leaf.kernel.remove(on_br0("10.0.0.5")));
    (void)leaf.feed(AuditRequested{});

    EXPECT_THAT(end(), IsEmpty());
}

TEST_F(EngineAudit, SaysThatZebraIsAway) {
    (void)leaf.feed(ZapiLost{.why = {.text = "gone"}});

    EXPECT_THAT(audit(), IsEmpty());
    EXPECT_EQ(table(AuditTable::Routes).trouble, "not connected");
    EXPECT_EQ(table(AuditTable::Routes).began, std::nullopt);
}

TEST_F(EngineAudit, TakesNothingThatAnEarlierPlanedLeftForADifference) {
    Leaf restarted(serving({"br0"}), rail());
    restarted.zebra[route_of("10.0.0.66")] = route_via(kBr0);
    (void)restarted.feed(AuditRequested{});
    restarted.start();

    EXPECT_TRUE(restarted.engine.audit_is_done());
    EXPECT_THAT(restarted.engine.audits().report().differences, IsEmpty());
    EXPECT_THAT(restarted.zebra, IsEmpty());
}

// The kernel's facts ------------------------------------------------------------------------------

TEST_F(EngineAudit, TellsNeighboursThatTheKernelDidNotTell) {
    (void)leaf.kernel.set(on_br0("10.0.0.6"), reachable(mac(6)));
    (void)leaf.kernel.remove(on_br0("10.0.0.5"));

    EXPECT_THAT(
        audit(),
        UnorderedElementsAre(
            "neighbor 10.0.0.6: nothing -> " + mac(6).to_string() + " REACHABLE, taken over",
            "neighbor 10.0.0.5: " + mac(5).to_string() + " REACHABLE -> nothing, taken over"));
    EXPECT_THAT(leaf.zebra, testing::SizeIs(1));
}

TEST_F(EngineAudit, DoesNotMindStatesThatFollowEachOtherAllDay) {
    (void)leaf.kernel.set(on_br0("10.0.0.5"), in_state(Nud::Delay, mac(5)));
    (void)leaf.kernel.set(on_br0("10.0.0.9"), in_state(Nud::Incomplete, {}));

    EXPECT_THAT(audit(), IsEmpty());
}

TEST_F(EngineAudit, TakesADumpThatIsAheadOfItsNotificationForNoDifference) {
    const Input event = leaf.kernel.set(on_br0("10.0.0.6"), reachable(mac(6)));
    const Input gone = leaf.kernel.remove(on_br0("10.0.0.5"));
    (void)leaf.feed(AuditRequested{});
    EXPECT_FALSE(leaf.engine.audit_is_done());

    (void)leaf.feed({event, gone});
    (void)leaf.run_for(limits::kAuditGrace);

    EXPECT_THAT(end(), IsEmpty());
    EXPECT_EQ(counted(AuditTable::Neighbors), 0U);
}

TEST_F(EngineAudit, DoesNotJudgeWhileNotificationsWaitUnread) {
    const Input event = leaf.kernel.set(on_br0("10.0.0.6"), reachable(mac(6)));
    (void)leaf.feed(AuditRequested{});
    leaf.now += limits::kAuditGrace;
    (void)leaf.feed(EventsWaiting{.kind = DumpKind::Neighbors});
    (void)leaf.feed(event);
    (void)leaf.run_for(limits::kAuditGrace);

    EXPECT_THAT(end(), IsEmpty());
}

TEST_F(EngineAudit, TellsForwardingEntriesThatTheKernelDidNotTell) {
    (void)leaf.kernel.learn(in_br0(mac(5)), kSwp2);
    (void)leaf.kernel.learn(in_br0(mac(6)), kSwp2);
    EXPECT_THAT(
        audit(),
        UnorderedElementsAre("forwarding " + mac(5).to_string() + ": swp1 -> swp2, taken over",
                             "forwarding " + mac(6).to_string() + ": nothing -> swp2, taken over"));

    (void)leaf.kernel.unlearn(in_br0(mac(6)));
    EXPECT_THAT(audit(),
                ElementsAre("forwarding " + mac(6).to_string() + ": swp2 -> nothing, taken over"));
}

TEST_F(EngineAudit, TellsALinkAndAnAddressThatTheKernelDidNotTell) {
    (void)leaf.kernel.set(without_carrier(leaf.kernel.link(kSwp2)));
    (void)leaf.kernel.remove_address(kBr0, prefix("10.0.0.1/16"));

    EXPECT_THAT(audit(),
                IsSupersetOf({"link swp2: swp2 up in br0 -> swp2 no carrier in br0, taken over",
                              "address 10.0.0.1/16: there -> nothing, taken over"}));
}

TEST_F(EngineAudit, WaitsForWhatIsToldOfALinkALittleLater) {
    const Input event = leaf.kernel.set(without_carrier(leaf.kernel.link(kSwp2)));
    (void)leaf.feed(AuditRequested{});
    (void)leaf.run_for(1s);
    EXPECT_FALSE(leaf.engine.audit_is_done());

    (void)leaf.feed(event);
    (void)leaf.run_for(1s);

    EXPECT_THAT(end(), IsEmpty());
}

// What planed has written -------------------------------------------------------------------------

TEST_F(EngineAudit, TellsASettingThatSomebodyChanged) {
    leaf.settings[{kBr0, Setting::ProxyArp}] = 0;

    EXPECT_THAT(audit(), ElementsAre("setting ipv4.conf.br0.proxy_arp: 1 -> 0, set again"));
    EXPECT_EQ((leaf.settings[{kBr0, Setting::ProxyArp}]), 1U);
    EXPECT_THAT(audit(), IsEmpty());
}

TEST_F(EngineAudit, TellsProxyEntriesThatAreGoneOrTooMany) {
    leaf.kernel.proxies.clear();
    (void)leaf.feed(PlaneRouteSeen{.key = route_of("fd00:0:0:1::77")});
    ASSERT_THAT(leaf.kernel.proxies, testing::SizeIs(1));
    (void)leaf.run_for(1s);
    leaf.kernel.proxies = {{on_br0("fd00:0:0:1::78"), kNeighborProtocol}};

    EXPECT_THAT(audit(),
                UnorderedElementsAre("proxy fd00:0:0:1::77: there -> nothing, written again",
                                     "proxy fd00:0:0:1::78: nothing -> there, removed"));
    EXPECT_THAT(leaf.kernel.proxies,
                ElementsAre(std::pair(on_br0("fd00:0:0:1::77"), kNeighborProtocol)));
}

// Without operators -------------------------------------------------------------------------------

TEST_F(EngineAudit, CountsWhatPeriodicAuditsFind) {
    (void)leaf.kernel.set(on_br0("10.0.0.6"), reachable(mac(6)));
    leaf.zebra.clear();
    const std::uint64_t reads = leaf.engine.audits().counters().reads;

    (void)leaf.run_for(limits::kAuditInterval + 5s);

    EXPECT_EQ(counted(AuditTable::Neighbors), 1U);
    EXPECT_EQ(counted(AuditTable::Routes), 1U);
    EXPECT_GE(leaf.engine.audits().counters().reads, reads + 7);
    EXPECT_EQ(leaf.engine.audits().counters().audits, 0U);
    EXPECT_THAT(leaf.engine.audits().report().differences, IsEmpty());
}

}  // namespace
}  // namespace planed::test
