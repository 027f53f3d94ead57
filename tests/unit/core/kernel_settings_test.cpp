// SPDX-License-Identifier: Apache-2.0
#include "core/kernel_settings.hpp"

#include <map>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/builders.hpp"
#include "support/print.hpp"

namespace planed {
namespace {

using test::interface_config;
using test::prefix;
using testing::ElementsAre;
using testing::IsEmpty;

// "proxy_delay=0": as a person would read the request.
std::string text(const ApplySetting& apply) {
    const std::string name = setting_name(apply.setting, apply.name);
    return name + "=" + std::to_string(apply.value);
}

class KernelSettingsTest : public testing::Test {
protected:
    KernelSettingsTest() { served.config.proxy_nd = false; }

    std::vector<std::string> ask() {
        std::vector<std::string> texts;
        while (const auto apply = settings.poll(next_request)) {
            texts.push_back(text(*apply));
            asked.push_back(*apply);
        }
        return texts;
    }
    // The kernel holds what is written, and tells what was there before.
    void answer_all() {
        for (const ApplySetting& apply : std::exchange(asked, {})) {
            auto& value = kernel[setting_name(apply.setting, apply.name)];
            (void)settings.answered(
                {.request = apply.request, .found = std::exchange(value, apply.value)});
        }
    }
    std::vector<std::string> ask_and_answer() {
        const std::vector<std::string> texts = ask();
        answer_all();
        return texts;
    }

    ServedInterface served{
        .link = IfIndex{10}, .name = "br0", .up = true, .config = interface_config("br0")};
    LearningConfig learning{};
    KernelSettings settings;
    std::map<std::string, std::uint32_t> kernel{{"ipv4.neigh.br0.proxy_delay", 800},
                                                {"ipv4.neigh.br0.proxy_qlen", 64}};
    std::vector<ApplySetting> asked;
    std::uint64_t next_request = 1;
};

TEST_F(KernelSettingsTest, SwitchProxyArpOnLast) {
    settings.serve(served, learning);

    EXPECT_THAT(ask(),
                ElementsAre("ipv4.conf.br0.arp_accept=2",
                            "ipv6.conf.br0.accept_untracked_na=2",
                            "ipv4.neigh.br0.ucast_solicit=3",
                            "ipv6.neigh.br0.ucast_solicit=3",
                            "ipv4.neigh.br0.mcast_resolicit=3",
                            "ipv6.neigh.br0.mcast_resolicit=3",
                            "ipv4.neigh.br0.retrans_time_ms=1000",
                            "ipv6.neigh.br0.retrans_time_ms=1000",
                            "ipv4.neigh.br0.proxy_delay=0",
                            "ipv4.neigh.br0.proxy_qlen=65536",
                            "ipv4.conf.br0.proxy_arp=1"));
}

TEST_F(KernelSettingsTest, SwitchProxyNdpOnLastAndOffFirst) {
    served.config.proxy_arp = ProxyArp::Off;
    settings.serve(served, learning);
    (void)ask_and_answer();
    kernel["ipv6.neigh.br0.proxy_delay"] = 800;
    kernel["ipv6.neigh.br0.proxy_qlen"] = 64;
    kernel["ipv6.conf.br0.forwarding"] = 1;

    served.config.proxy_nd = true;
    settings.serve(served, learning);
    EXPECT_THAT(ask_and_answer(),
                ElementsAre("ipv6.neigh.br0.proxy_delay=0",
                            "ipv6.neigh.br0.proxy_qlen=65536",
                            "ipv6.conf.br0.forwarding=1",
                            "ipv6.conf.br0.proxy_ndp=1"));

    served.config.proxy_nd = false;
    settings.serve(served, learning);
    EXPECT_THAT(ask_and_answer(),
                ElementsAre("ipv6.conf.br0.proxy_ndp=0",
                            "ipv6.neigh.br0.proxy_qlen=64",
                            "ipv6.neigh.br0.proxy_delay=800"));
}

TEST_F(KernelSettingsTest, DoNotUndoWhatIsOnlyChecked) {
    served.config.proxy_nd = true;
    settings.serve(served, learning);
    for (const ApplySetting& apply : (ask(), std::exchange(asked, {}))) {
        const bool wrong = is_only_checked(apply.setting);
        (void)settings.answered(
            {.request = apply.request,
             .error = wrong ? std::optional(Error{.text = "is 0"}) : std::nullopt,
             .found = 0});
    }

    settings.unserve(served.link);

    const auto undone = ask();
    EXPECT_THAT(undone, testing::Contains("ipv6.conf.br0.proxy_ndp=0"));
    EXPECT_THAT(undone, testing::Not(testing::Contains(testing::HasSubstr("forwarding"))));
}

TEST_F(KernelSettingsTest, AcceptAnyoneWhereHostsMayLiveOutsideTheSubnets) {
    served.config.prefixes = {prefix("192.0.2.0/24")};
    served.config.proxy_arp = ProxyArp::Off;

    settings.serve(served, learning);

    EXPECT_THAT(ask(),
                ElementsAre("ipv4.conf.br0.arp_accept=1",
                            "ipv6.conf.br0.accept_untracked_na=1",
                            "ipv4.neigh.br0.ucast_solicit=3",
                            "ipv6.neigh.br0.ucast_solicit=3",
                            "ipv4.neigh.br0.mcast_resolicit=3",
                            "ipv6.neigh.br0.mcast_resolicit=3",
                            "ipv4.neigh.br0.retrans_time_ms=1000",
                            "ipv6.neigh.br0.retrans_time_ms=1000"));
}

TEST_F(KernelSettingsTest, AreNotTouchedTwiceForTheSameService) {
    settings.serve(served, learning);
    (void)ask_and_answer();

    served.up = false;
    settings.serve(served, learning);

    EXPECT_THAT(ask(), IsEmpty());
}

TEST_F(KernelSettingsTest, AreUndoneInReverseToWhatWasFound) {
    kernel["ipv4.conf.br0.arp_accept"] = 1;
    const auto before = kernel;
    settings.serve(served, learning);
    (void)ask_and_answer();

    settings.unserve(served.link);

    EXPECT_THAT(ask_and_answer(),
                ElementsAre("ipv4.conf.br0.proxy_arp=0",
                            "ipv4.neigh.br0.proxy_qlen=64",
                            "ipv4.neigh.br0.proxy_delay=800",
                            "ipv6.neigh.br0.retrans_time_ms=0",
                            "ipv4.neigh.br0.retrans_time_ms=0",
                            "ipv6.neigh.br0.mcast_resolicit=0",
                            "ipv4.neigh.br0.mcast_resolicit=0",
                            "ipv6.neigh.br0.ucast_solicit=0",
                            "ipv4.neigh.br0.ucast_solicit=0",
                            "ipv6.conf.br0.accept_untracked_na=0",
                            "ipv4.conf.br0.arp_accept=1"));
    for (const auto& [name, value] : before) {
        EXPECT_EQ(kernel.at(name), value) << name;
    }
}

TEST_F(KernelSettingsTest, LeaveAloneWhatWasAsWantedBeforeUs) {
    kernel["ipv4.conf.br0.proxy_arp"] = 1;
    settings.serve(served, learning);
    (void)ask_and_answer();

    settings.unserve(served.link);

    EXPECT_EQ(ask().front(), "ipv4.neigh.br0.proxy_qlen=64");
}

TEST_F(KernelSettingsTest, AreAskedForAgainByAnAuditWhichIsNoOrigin) {
    settings.serve(served, learning);
    (void)ask_and_answer();
    kernel["ipv4.neigh.br0.proxy_delay"] = 500;  // Somebody else.

    settings.audit();
    EXPECT_EQ(ask_and_answer().size(), 11U);
    EXPECT_EQ(kernel["ipv4.neigh.br0.proxy_delay"], 0U);
    settings.unserve(served.link);
    (void)ask_and_answer();

    EXPECT_EQ(kernel["ipv4.neigh.br0.proxy_delay"], 800U);
}

TEST_F(KernelSettingsTest, FollowAChangeOfTheConfiguration) {
    settings.serve(served, learning);
    (void)ask_and_answer();

    served.config.proxy_arp = ProxyArp::Off;
    settings.serve(served, learning);
    EXPECT_THAT(ask_and_answer(),
                ElementsAre("ipv4.conf.br0.proxy_arp=0",
                            "ipv4.neigh.br0.proxy_qlen=64",
                            "ipv4.neigh.br0.proxy_delay=800"));

    served.config.proxy_arp = ProxyArp::Routed;
    served.config.prefixes = {prefix("192.0.2.0/24")};
    settings.serve(served, learning);
    EXPECT_THAT(ask_and_answer(),
                ElementsAre("ipv4.conf.br0.arp_accept=1",
                            "ipv6.conf.br0.accept_untracked_na=1",
                            "ipv4.neigh.br0.proxy_delay=0",
                            "ipv4.neigh.br0.proxy_qlen=65536",
                            "ipv4.conf.br0.proxy_arp=1"));
    settings.unserve(served.link);
    (void)ask_and_answer();
    EXPECT_EQ(kernel["ipv4.conf.br0.arp_accept"], 0U);
}

TEST_F(KernelSettingsTest, AskAsOftenAndAsFarApartAsConfigured) {
    settings.serve(served, learning);
    (void)ask_and_answer();

    learning.probe_attempts = 2;
    learning.probe_interval = 250ms;
    settings.serve(served, learning);

    EXPECT_THAT(ask_and_answer(),
                ElementsAre("ipv4.neigh.br0.ucast_solicit=2",
                            "ipv6.neigh.br0.ucast_solicit=2",
                            "ipv4.neigh.br0.mcast_resolicit=2",
                            "ipv6.neigh.br0.mcast_resolicit=2",
                            "ipv4.neigh.br0.retrans_time_ms=250",
                            "ipv6.neigh.br0.retrans_time_ms=250"));
}

TEST_F(KernelSettingsTest, AreForgottenWithTheirLink) {
    settings.serve(served, learning);
    (void)ask();
    settings.audit();

    settings.forget(served.link);

    answer_all();
    EXPECT_THAT(ask(), IsEmpty());
    settings.undo_all();
    EXPECT_THAT(ask(), IsEmpty());
}

TEST_F(KernelSettingsTest, AreUndoneAlsoWhereTheAnswerCameAfterTheEndOfService) {
    settings.serve(served, learning);
    (void)ask();
    settings.unserve(served.link);
    EXPECT_THAT(ask(), IsEmpty());

    answer_all();

    (void)ask_and_answer();
    EXPECT_EQ(kernel["ipv4.conf.br0.proxy_arp"], 0U);
    EXPECT_EQ(kernel["ipv4.neigh.br0.proxy_delay"], 800U);
}

TEST_F(KernelSettingsTest, TellTheOutcomeByTheNameThatSysctlPrints) {
    settings.serve(served, learning);
    (void)ask();

    const Error refused{.code = Errc::System, .text = "no such file", .system_errno = 2};
    EXPECT_EQ(settings.answered({.request = 2, .error = refused}),
              (KernelSettings::Outcome{.name = "ipv6.conf.br0.accept_untracked_na",
                                       .error = refused,
                                       .link = served.link,
                                       .wanted = 2}));
    EXPECT_EQ(settings.answered({.request = 1, .found = 0}),
              (KernelSettings::Outcome{.name = "ipv4.conf.br0.arp_accept",
                                       .error = {},
                                       .link = served.link,
                                       .wanted = 2,
                                       .found = 0}));
    EXPECT_EQ(settings.answered({.request = 1, .found = 0}), std::nullopt);
    EXPECT_EQ(settings.answered({.request = 99}), std::nullopt);
}

TEST_F(KernelSettingsTest, DoNotUndoWhatTheKernelRefused) {
    settings.serve(served, learning);
    (void)ask();
    for (const ApplySetting& apply : std::exchange(asked, {})) {
        (void)settings.answered({.request = apply.request, .error = Error{.text = "refused"}});
    }

    settings.unserve(served.link);

    EXPECT_THAT(ask(), IsEmpty());
}

}  // namespace
}  // namespace planed
