// SPDX-License-Identifier: Apache-2.0
// The checker itself: each rule sees what it is for and leaves the rest alone.
#include "lint/checks.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lint/layers.hpp"

namespace planed::lint {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Check = std::vector<Complaint> (*)(const SourceFile&);

std::vector<std::string> complaints(Check check, std::string path, std::string text) {
    std::vector<std::string> result;
    for (const Complaint& complaint : check({.path = std::move(path), .text = std::move(text)})) {
        result.push_back(to_string(complaint));
    }
    return result;
}

TEST(Source, BlanksCommentsAndStringsInPlace) {
    EXPECT_EQ(without_comments("a // b\nc", false), "a     \nc");
    EXPECT_EQ(without_comments("a /* b\n */ c", false), "a     \n    c");
    EXPECT_EQ(without_comments("f(\"a\\\"//b\") + 'c'", false), "f(        ) +    ");
    EXPECT_EQ(without_comments("f(\"//b\") // c", true), "f(\"//b\")     ");
    EXPECT_EQ(without_comments("R\"x(\")//)x\" a", false), "            a");
    EXPECT_EQ(without_comments("1'000 + '\\'' + a", false), "1'000 +      + a");
    EXPECT_EQ(without_comments("/* no end", false), "         ");
    EXPECT_EQ(without_comments("\"no end\nnext", false), "       \nnext");
}

TEST(Source, FindsIncludes) {
    EXPECT_THAT(includes_of("#include <a>\n  #  include \"b/c.hpp\" // why\n"
                            "// #include <d>\n/*\n#include <e>\n*/ #include <f>\n"
                            "auto text = \"#include <g>\";\n#include MACRO\n#includes\n"),
                ElementsAre(Include{.line = 1, .target = "a", .quoted = false},
                            Include{.line = 2, .target = "b/c.hpp", .quoted = true},
                            Include{.line = 6, .target = "f", .quoted = false}));
}

TEST(Source, FindsWholeWords) {
    EXPECT_THAT(lines_with_word("sleep asleep\nsleep_for\nx.sleep(1)", "sleep"), ElementsAre(1, 3));
    EXPECT_THAT(lines_with_word("a::b::c\nxa::b", "a::b"), ElementsAre(1));
    EXPECT_THAT(lines_with_word("x::socket\n ::socket(", "::socket"), ElementsAre(2));
}

TEST(CheckIncludes, LetsThroughWhatTheTableAllows) {
    EXPECT_THAT(complaints(check_includes,
                           "daemon/core/planner.cpp",
                           "#include \"core/planner.hpp\"\n#include <algorithm>\n"
                           "#include <absl/container/btree_map.h>\n#include \"net/ids.hpp\"\n"
                           "#include \"config/config.hpp\"\n#include \"telemetry/note.hpp\"\n"),
                IsEmpty());
    EXPECT_THAT(
        complaints(check_includes,
                   "daemon/io/kernel.cpp",
                   "#include <thread>\n#include <linux/if.h>\n#include \"netlink/dump.hpp\"\n"),
        IsEmpty());
    EXPECT_THAT(
        complaints(check_includes, "daemon/config/load.cpp", "#include <yaml-cpp/parser.h>\n"),
        IsEmpty());
    EXPECT_THAT(complaints(check_includes, "daemon/core/README.md", "#include <thread>\n"),
                IsEmpty());
}

TEST(CheckIncludes, NamesEveryStepUpwards) {
    EXPECT_THAT(
        complaints(check_includes,
                   "daemon/core/planner.cpp",
                   "#include \"core/planner.hpp\"\n#include \"io/loop.hpp\"\n"
                   "#include \"telemetry/log_line.hpp\"\n#include <boost/asio.hpp>\n"
                   "#include <thread>\n#include <iostream>\n#include \"planner.hpp\"\n"
                   "#include \"config/load.hpp\"\n#include <unistd.h>\n"),
        ElementsAre("daemon/core/planner.cpp:2: includes io/loop.hpp: not in the layer table",
                    "daemon/core/planner.cpp:3: includes telemetry/log_line.hpp: not in the layer "
                    "table",
                    "daemon/core/planner.cpp:4: includes boost/asio.hpp: not in the layer table",
                    "daemon/core/planner.cpp:5: includes thread: this folder is pure",
                    "daemon/core/planner.cpp:6: includes iostream: this folder is pure",
                    "daemon/core/planner.cpp:7: includes planner.hpp: write the path from daemon/",
                    "daemon/core/planner.cpp:8: includes config/load.hpp: not in the layer table",
                    "daemon/core/planner.cpp:9: includes unistd.h: not in the layer table"));
}

// One forbidden step for each layer: a row that allows too much is seen here.
TEST(CheckIncludes, HoldsEachLayerDown) {
    const std::vector<std::pair<std::string, std::string>> forbidden{
        {"net/ids.hpp", "\"core/facts.hpp\""},
        {"net/ids.hpp", "<absl/hash/hash.h>"},
        {"telemetry/log_line.cpp", "\"core/facts.hpp\""},
        {"config/decode.cpp", "<yaml-cpp/yaml.h>"},
        {"config/load.cpp", "\"core/facts.hpp\""},
        {"core/planner.cpp", "\"evpn/segment.hpp\""},
        {"core/engine.cpp", "\"zapi/session.hpp\""},
        {"evpn/segment.cpp", "\"core/facts.hpp\""},
        {"statedb/mirror.cpp", "\"core/engine.hpp\""},
        {"zapi/codec.cpp", "\"core/route.hpp\""},
        {"zapi/codec.cpp", "<sys/socket.h>"},
        {"bgp/codec.cpp", "\"zapi/codec.hpp\""},
        {"packet/arp.cpp", "\"core/facts.hpp\""},
        {"netlink/dump.cpp", "\"core/engine.hpp\""},
        {"netlink/dump.cpp", "<unistd.h>"},
        {"plugin/host.cpp", "\"core/engine.hpp\""},
        {"io/loop.cpp", "\"app/app.hpp\""},
        {"io/loop.cpp", "\"api/service.hpp\""},
        {"api/service.cpp", "\"core/engine.hpp\""},
        {"api/service.cpp", "\"io/loop.hpp\""},
        {"app/bridges.cpp", "\"io/loop.hpp\""},
        {"app/bridges.cpp", "\"app/app.hpp\""},
        {"app/bridges.cpp", "<boost/asio.hpp>"},
        {"main.cpp", "\"core/engine.hpp\""},
        {"ctl/client.cpp", "\"net/ids.hpp\""}};

    for (const auto& [path, target] : forbidden) {
        EXPECT_EQ(complaints(check_includes, "daemon/" + path, "#include " + target + "\n").size(),
                  1U)
            << path << " " << target;
    }
}

TEST(CheckIncludes, WantsALayerForEveryFolder) {
    EXPECT_THAT(complaints(check_includes, "daemon/misc/a.cpp", ""),
                ElementsAre("daemon/misc/a.cpp:1: is in no layer of tests/lint/layers.cpp"));
}

TEST(CheckIncludes, KeepsTestsOutOfAppAndPluginsOutOfTheDaemon) {
    EXPECT_THAT(complaints(check_includes,
                           "tests/sim/world.cpp",
                           "#include \"app/bridges.hpp\"\n#include \"app/app.hpp\"\n"
                           "#include \"core/engine.hpp\"\n"),
                ElementsAre("tests/sim/world.cpp:2: includes app/app.hpp: nobody includes app but "
                            "for what of it is pure"));
    const std::string mirror = "#include \"app/state_mirror.hpp\"\n";
    EXPECT_THAT(complaints(check_includes, "tests/system/redis_client_test.cpp", mirror),
                IsEmpty());
    EXPECT_THAT(complaints(check_includes, "tests/unit/io/x_test.cpp", mirror),
                ElementsAre(HasSubstr("nobody includes app")));
    EXPECT_THAT(complaints(check_includes,
                           "plugins/prefix_guard/guard.cpp",
                           "#include \"planed/plugin.h\"\n#include \"prefix_guard/own.hpp\"\n"
                           "#include \"net/ip_prefix.hpp\"\n#include <mutex>\n"),
                ElementsAre("plugins/prefix_guard/guard.cpp:3: includes net/ip_prefix.hpp: a "
                            "plug-in sees planed/plugin.h alone"));
}

TEST(CheckCalls, FindsClocksAndSleepsOutsideIo) {
    const std::string text =
        "auto a = std::chrono::steady_clock::now();\n"
        "// steady_clock::now() in a comment\n"
        "log(\"sleep well\");\n"
        "std::this_thread::sleep_for(1s);\n"
        "auto b = system_clock::now();\n"
        "::usleep(5);\n"
        "TimePoint asleep;\n"
        "using Clock = std::chrono::steady_clock;\n";

    EXPECT_THAT(
        complaints(check_calls, "daemon/app/app.cpp", text),
        ElementsAre("daemon/app/app.cpp:1: uses steady_clock::now: only io/clock asks for the time",
                    "daemon/app/app.cpp:5: uses system_clock: only io/clock asks for the time",
                    "daemon/app/app.cpp:6: uses usleep: nothing sleeps, the loop waits",
                    "daemon/app/app.cpp:4: uses sleep_for: nothing sleeps, the loop waits"));
    EXPECT_THAT(complaints(check_calls, "daemon/io/clock.cpp", text), IsEmpty());
    EXPECT_THAT(complaints(check_calls, "daemon/ctl/commands.cpp", text), IsEmpty());
    EXPECT_THAT(complaints(check_calls, "tests/bench/bench.cpp", text), IsEmpty());
    EXPECT_EQ(complaints(check_calls, "tests/unit/core/engine_test.cpp", text).size(), 2U);
    EXPECT_EQ(complaints(check_calls, "tests/sim/world.cpp", text).size(), 2U);
}

TEST(CheckCalls, FindsTheWorldInPureFolders) {
    const std::string text =
        "std::random_device seed;\nint fd = ::socket(AF_INET, 0, 0);\n::recvmsg(fd, &m, 0);\n"
        "boost::asio::read(x);\n";

    EXPECT_THAT(complaints(check_calls, "daemon/netlink/dump.cpp", text),
                ElementsAre("daemon/netlink/dump.cpp:1: uses random_device: this folder is pure",
                            "daemon/netlink/dump.cpp:2: uses ::socket: this folder is pure",
                            "daemon/netlink/dump.cpp:3: uses ::recvmsg: this folder is pure"));
    EXPECT_THAT(complaints(check_calls, "daemon/app/app.cpp", text), IsEmpty());
}

TEST(CheckUsingNamespace, IsForHeaders) {
    const std::string text = "#pragma once\n// using namespace std;\nusing namespace std;\n";
    const std::string literals = "using namespace std::chrono_literals;  // Literals only.\n";

    EXPECT_THAT(complaints(check_using_namespace, "daemon/core/a.hpp", text),
                ElementsAre("daemon/core/a.hpp:3: using namespace in a header"));
    EXPECT_THAT(complaints(check_using_namespace, "daemon/core/a.cpp", text), IsEmpty());
    EXPECT_THAT(complaints(check_using_namespace, "daemon/net/time.hpp", literals), IsEmpty());
    EXPECT_THAT(complaints(check_using_namespace, "daemon/net/time.hpp", text),
                ElementsAre("daemon/net/time.hpp:3: using namespace in a header"));
    EXPECT_THAT(complaints(check_using_namespace, "daemon/net/ids.hpp", literals),
                ElementsAre("daemon/net/ids.hpp:1: using namespace in a header"));
}

TEST(CheckSpdx, WantsTheLineFirst) {
    const std::string cpp = "// SPDX-License-Identifier: Apache-2.0\n#pragma once\n";
    const std::string script = "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\n";

    EXPECT_THAT(complaints(check_spdx, "daemon/a.hpp", cpp), IsEmpty());
    EXPECT_THAT(complaints(check_spdx, "tests/run", script), IsEmpty());
    EXPECT_THAT(complaints(check_spdx, "daemon/README.md", "# The daemon\n"), IsEmpty());
    EXPECT_THAT(complaints(check_spdx, "tests/lab/__init__.py", ""), IsEmpty());
    EXPECT_THAT(complaints(check_spdx, "daemon/CMakeLists.txt", script.substr(10)), IsEmpty());
    EXPECT_THAT(complaints(check_spdx, "daemon/a.cpp", "#pragma once\n" + cpp),
                ElementsAre("daemon/a.cpp:1: must be \"// SPDX-License-Identifier: Apache-2.0\""));
    EXPECT_THAT(complaints(check_spdx, "daemon/a.cpp", ""),
                ElementsAre("daemon/a.cpp:1: must be \"// SPDX-License-Identifier: Apache-2.0\""));
    EXPECT_THAT(complaints(check_spdx, "tests/run", "#!/bin/sh\nset -e\n"),
                ElementsAre("tests/run:2: must be \"# SPDX-License-Identifier: Apache-2.0\""));
    EXPECT_THAT(complaints(check_spdx, "tests/lab/a.py", "import os\n"),
                ElementsAre("tests/lab/a.py:1: must be \"# SPDX-License-Identifier: Apache-2.0\""));
}

TEST(CheckReadmes, WantsOneInEachFolder) {
    const std::vector<SourceFile> files{{.path = "daemon/README.md", .text = ""},
                                        {.path = "daemon/net/README.md", .text = ""},
                                        {.path = "daemon/net/ids.hpp", .text = ""},
                                        {.path = "daemon/core/engine.cpp", .text = ""},
                                        {.path = "tests/unit/net/README.md", .text = ""}};

    EXPECT_THAT(
        check_readmes(files),
        ElementsAre(Complaint{.path = "daemon/core", .line = 0, .text = "has no README.md"},
                    Complaint{.path = "tests", .line = 0, .text = "has no README.md"},
                    Complaint{.path = "tests/unit", .line = 0, .text = "has no README.md"}));
}

TEST(Layers, TakeTheLongestScope) {
    EXPECT_EQ(layer_of("app/bridges.hpp")->scope, "app/bridges");
    EXPECT_EQ(layer_of("app/app.hpp")->scope, "app/");
    EXPECT_EQ(layer_of("core/engine_plan.cpp")->scope, "core/engine");
    EXPECT_EQ(layer_of("core/route.hpp")->scope, "core/");
    EXPECT_EQ(layer_of("elsewhere/a.hpp"), nullptr);
}

TEST(Layers, PrintAsATable) {
    EXPECT_THAT(layers_as_markdown(),
                HasSubstr("| `packet/` | `net/` | `tl/expected.hpp`, `linux/filter.h` | yes |\n"));
    EXPECT_THAT(layers_as_markdown(), HasSubstr("| all | no |\n"));
}

}  // namespace
}  // namespace planed::lint
