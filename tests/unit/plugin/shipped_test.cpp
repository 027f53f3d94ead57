// SPDX-License-Identifier: Apache-2.0
// The plug-ins that come with planed, as planed loads them.
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <stdlib.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/plugin/opened.hpp"

namespace planed::plugin {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string output_of(const std::string& command) {
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
    std::string text;
    std::array<char, 256> some{};
    while (std::fgets(some.data(), some.size(), pipe.get()) != nullptr) {
        text += some.data();
    }
    return text;
}

TEST(ShippedPlugins, ExportNothingButTheirEntry) {
    for (const char* name : {"prefix_guard", "change_log"}) {
        const std::string symbols = output_of("nm -D --defined-only '" + shipped(name) + "'");

        EXPECT_THAT(symbols, EndsWith(" T planed_plugin_entry\n")) << name;
        EXPECT_EQ(std::count(symbols.begin(), symbols.end(), '\n'), 1) << symbols;
    }
}

// prefix_guard ------------------------------------------------------------------------------------

std::string refusal(Instance::Options options) {
    const Opened plugins({wanted(shipped("prefix_guard"), std::move(options))});
    const std::string head = shipped("prefix_guard") + ": ";
    return plugins.wrong.empty() ? "" : plugins.wrong[0].substr(head.size());
}

/// With exactly these options, what is denied?
std::string denial(Instance::Options options,
                   const std::string& address,
                   const std::string& interface = "Vlan100") {
    Opened plugins({wanted(shipped("prefix_guard"), std::move(options))});
    EXPECT_THAT(plugins.wrong, IsEmpty());
    return plugins.host.judge(candidate(address, interface));
}

TEST(PrefixGuard, DeniesWhoIsOutsideOfWhatIsAllowed) {
    const Instance::Options options{{"allow", "10.0.0.0/28, fd00::/64 10.0.1.7"}};

    EXPECT_EQ(denial(options, "10.0.0.15"), "");
    EXPECT_EQ(denial(options, "10.0.1.7"), "");
    EXPECT_EQ(denial(options, "fd00::1"), "");
    EXPECT_EQ(denial(options, "10.0.0.16"),
              "prefix_guard: outside 10.0.0.0/28, fd00::/64 10.0.1.7");
    EXPECT_NE(denial(options, "10.0.1.8"), "");
    EXPECT_NE(denial(options, "fd00:0:0:1::1"), "");
    EXPECT_NE(denial(options, "a00::"), "");  // Its bytes begin as those of 10.0.0.0.
}

TEST(PrefixGuard, DeniesWhoIsWithinWhatIsDeniedThoughAllowed) {
    const Instance::Options options{{"allow", "10.0.0.0/8"}, {"deny", "10.0.0.4/31"}};

    EXPECT_EQ(denial(options, "10.0.0.5"), "prefix_guard: within 10.0.0.4/31");
    EXPECT_EQ(denial(options, "10.0.0.6"), "");
    EXPECT_EQ(denial({{"deny", "0.0.0.0/0"}}, "192.0.2.1"), "prefix_guard: within 0.0.0.0/0");
    EXPECT_EQ(denial({{"deny", "0.0.0.0/0"}}, "fd00::1"), "");
}

TEST(PrefixGuard, LeavesOtherInterfacesAlone) {
    const Instance::Options options{{"deny", "10.0.0.0/8"}, {"interface", "Vlan100"}};

    EXPECT_NE(denial(options, "10.0.0.5", "Vlan100"), "");
    EXPECT_EQ(denial(options, "10.0.0.5", "Vlan200"), "");
}

TEST(PrefixGuard, SaysWhatIsWrongWithItsOptions) {
    EXPECT_EQ(refusal({}), "it has nothing to guard: neither allow nor deny has a prefix");
    EXPECT_EQ(refusal({{"allow", " , "}}),
              "it has nothing to guard: neither allow nor deny has a prefix");
    for (const char* wrong : {"10.0.0.0/33",
                              "10.0.0/8",
                              "fd00::/129",
                              "x",
                              "10.0.0.0/",
                              "10.0.0.0/8x",
                              "10.0.0.0/-1"}) {
        EXPECT_EQ(refusal({{"deny", wrong}}), "deny: '" + std::string(wrong) + "' is no prefix");
    }
    EXPECT_EQ(refusal({{"permit", "10.0.0.0/8"}}),
              "unknown option \"permit\": it knows allow, deny, interface");
}

// change_log --------------------------------------------------------------------------------------

class TempFile {
public:
    TempFile() {
        std::string name = testing::TempDir() + "/planed-change-log.XXXXXX";
        folder_ = ::mkdtemp(name.data());
    }
    ~TempFile() { std::filesystem::remove_all(folder_); }
    TempFile(const TempFile&) = delete;
    TempFile& operator=(const TempFile&) = delete;
    TempFile(TempFile&&) = delete;
    TempFile& operator=(TempFile&&) = delete;

    [[nodiscard]] std::string path() const { return folder_ / "changes.jsonl"; }
    [[nodiscard]] std::vector<std::string> lines() const {
        std::ifstream file(path());
        std::vector<std::string> lines;
        for (std::string line; std::getline(file, line);) {
            lines.push_back(line);
        }
        return lines;
    }

private:
    std::filesystem::path folder_;
};

const Change kHostChange{.route = false,
                         .eligible = true,
                         .at_us = 1'764'533'702'000'007,
                         .vrf = "default",
                         .interface = "Vlan\"1\\",
                         .address = "10.0.0.5",
                         .mac = "02:00:00:00:00:05",
                         .port = "swp1",
                         .origin = "kernel",
                         .reason = "eligible"};
const Change kRouteGone{.route = true, .gone = true, .vrf = "blue", .prefix = "fd00::5/128"};

TEST(ChangeLog, WritesALineForEachChangeAndAllOfThemBeforeItIsClosed) {
    const TempFile file;
    Opened plugins({wanted(shipped("change_log"), {{"file", file.path()}})});
    ASSERT_THAT(plugins.wrong, IsEmpty());

    plugins.host.tell(kHostChange);
    plugins.host.tell(kRouteGone);
    plugins.host.close();

    EXPECT_THAT(
        file.lines(),
        ElementsAre("{\"at\":\"2025-11-30T20:15:02.000007Z\",\"kind\":\"host\",\"vrf\":\"default\","
                    "\"address\":\"10.0.0.5\",\"interface\":\"Vlan\\\"1\\\\\","
                    "\"mac\":\"02:00:00:00:00:05\",\"port\":\"swp1\",\"origin\":\"kernel\","
                    "\"reason\":\"eligible\",\"eligible\":true}",
                    "{\"at\":\"1970-01-01T00:00:00.000000Z\",\"kind\":\"route\",\"vrf\":\"blue\","
                    "\"prefix\":\"fd00::5/128\",\"gone\":true}"));
}

TEST(ChangeLog, GoesOnWhereItEnded) {
    const TempFile file;
    for (int run = 0; run < 2; ++run) {
        Opened plugins({wanted(shipped("change_log"), {{"file", file.path()}})});
        plugins.host.tell(kHostChange);
    }

    EXPECT_THAT(file.lines(), SizeIs(2));
}

TEST(ChangeLog, WritesTheChosenKindAlone) {
    const TempFile file;
    Opened plugins({wanted(shipped("change_log"), {{"file", file.path()}, {"what", "routes"}})});

    plugins.host.tell(kHostChange);
    plugins.host.tell(kRouteGone);
    plugins.host.close();

    EXPECT_THAT(file.lines(), ElementsAre(HasSubstr("\"kind\":\"route\"")));
}

TEST(ChangeLog, SaysThatTheDiskTakesNothing) {
    Opened plugins({wanted(shipped("change_log"), {{"file", "/dev/full"}})});
    ASSERT_THAT(plugins.wrong, IsEmpty());

    // Its thread needs a moment to find out.
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (plugins.said.size() < 2 && std::chrono::steady_clock::now() < deadline) {
        plugins.host.tell(kHostChange);
    }
    ASSERT_THAT(plugins.said, SizeIs(2));

    EXPECT_EQ(plugins.said[1],
              "plugin.says plugin=change_log text=\"/dev/full: No space left on device, lines are "
              "lost\"");
}

// A pipe that nobody reads is a disk that hangs.
TEST(ChangeLog, HoldsUpNobodyAndCountsWhatItCannotKeep) {
    constexpr int kMore = 70'000;  // Than it keeps.
    (void)std::signal(SIGPIPE, SIG_IGN);
    int ends[2]{};
    ASSERT_EQ(::pipe(ends), 0);
    Opened plugins(
        {wanted(shipped("change_log"), {{"file", "/proc/self/fd/" + std::to_string(ends[1])}})});
    ASSERT_THAT(plugins.wrong, IsEmpty());

    for (int change = 0; change < kMore; ++change) {
        plugins.host.tell(kRouteGone);
    }
    std::string written;
    std::array<char, 65'536> some{};
    for (int reads = 0; reads < kMore && written.find("{\"lost\":") == std::string::npos; ++reads) {
        plugins.host.tell(kRouteGone);  // So that there is always something to be read.
        const ssize_t got = ::read(ends[0], some.data(), some.size());
        ASSERT_GT(got, 0);
        written.append(some.data(), static_cast<std::size_t>(got));
    }
    (void)::close(ends[0]);
    (void)::close(ends[1]);

    EXPECT_THAT(written, HasSubstr("\n{\"lost\":"));
}

TEST(ChangeLog, SaysWhatIsWrongWithItsOptions) {
    const auto refused = [](Instance::Options options) {
        const Opened plugins({wanted(shipped("change_log"), std::move(options))});
        return plugins.wrong.empty() ? std::string() : plugins.wrong[0];
    };

    EXPECT_THAT(refused({}), EndsWith(": the option file is missing"));
    EXPECT_THAT(refused({{"file", "here"}}), EndsWith(": file: must be an absolute path"));
    EXPECT_THAT(refused({{"file", "/nowhere/x"}}),
                EndsWith(": /nowhere/x: No such file or directory"));
    EXPECT_THAT(refused({{"file", "/dev/full"}, {"what", "all"}}),
                EndsWith(": what: must be hosts, routes or both"));
}

}  // namespace
}  // namespace planed::plugin
