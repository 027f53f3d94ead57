// SPDX-License-Identifier: Apache-2.0
#include "app/service.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace planed {
namespace {

using io::ServicePhase;
using io::ServiceReport;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr ServicePhase kStarting = ServicePhase::Starting;
constexpr ServicePhase kReady = ServicePhase::Ready;

ServiceFacts running() {
    return {.planned = true, .synced = true, .routes = 12};
}

TEST(ServiceReport, IsNotReadyBeforeTheKernelsTablesAreRead) {
    const ServiceReport report = service_report({.degraded = {{"zebra", "away"}}}, kStarting);

    EXPECT_EQ(report.phase, kStarting);
    EXPECT_THAT(report.status, HasSubstr("Reading the kernel's tables"));
}

TEST(ServiceReport, IsNotReadyWhileZebraIsBroughtUpToDate) {
    const ServiceReport report = service_report({.planned = true}, kStarting);

    EXPECT_EQ(report.phase, kStarting);
    EXPECT_THAT(report.status, HasSubstr("Bringing zebra up to date"));
}

TEST(ServiceReport, IsReadyOnceZebraHasEveryRoute) {
    EXPECT_EQ(service_report(running(), kStarting),
              (ServiceReport{.phase = kReady, .status = "Ready; host routes: 12"}));
}

TEST(ServiceReport, IsReadyAndDegradedOnceZebraIsKnownToBeAway) {
    const ServiceFacts facts{
        .planned = true, .routes = 3, .degraded = {{"zebra", "cannot connect"}}};

    EXPECT_EQ(service_report(facts, kStarting),
              (ServiceReport{.phase = kReady,
                             .status = "Degraded; host routes: 3; zebra: cannot connect"}));
}

TEST(ServiceReport, IsNotReadyForSomethingElseThatIsWrong) {
    const ServiceFacts facts{.planned = true, .degraded = {{"redis", "nobody listens"}}};

    EXPECT_EQ(service_report(facts, kStarting).phase, kStarting);
}

TEST(ServiceReport, StaysReadyWhateverHappensLater) {
    ServiceFacts facts = running();
    facts.planned = false;
    facts.synced = false;

    EXPECT_EQ(service_report(facts, kReady).phase, kReady);
}

TEST(ServiceReport, ReloadsOnlyWhatWasReady) {
    ServiceFacts facts = running();
    facts.reloading = true;

    EXPECT_EQ(service_report(facts, kReady).phase, ServicePhase::Reloading);
    facts.synced = false;
    EXPECT_EQ(service_report(facts, kStarting).phase, kStarting);
}

TEST(ServiceReport, IsReadyAgainAfterAReload) {
    EXPECT_EQ(service_report(running(), ServicePhase::Reloading).phase, kReady);
}

TEST(ServiceReport, NamesARefusedConfigurationUntilTheNextReload) {
    ServiceFacts facts = running();
    facts.faults = 4;

    EXPECT_THAT(service_report(facts, kReady).status,
                HasSubstr("configuration refused, faults: 4"));
    facts.faults = 0;
    EXPECT_THAT(service_report(facts, kReady).status, Not(HasSubstr("refused")));
}

TEST(ServiceReport, StopsWhateverElseGoesOn) {
    ServiceFacts facts = running();
    facts.reloading = true;
    facts.stopping = true;

    const ServiceReport report = service_report(facts, kReady);

    EXPECT_EQ(report.phase, ServicePhase::Stopping);
    EXPECT_THAT(report.status, AllOf(HasSubstr("Stopping"), Not(HasSubstr("Ready"))));
}

}  // namespace
}  // namespace planed
