// SPDX-License-Identifier: Apache-2.0
// Files that want to cost more than they are. None may take long, eat memory, or pass in silence.
#include <string>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.hpp"

namespace planed::config {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

std::string repeated(std::string_view piece, std::size_t times) {
    std::string text;
    text.reserve(piece.size() * times);
    for (std::size_t i = 0; i < times; ++i) {
        text += piece;
    }
    return text;
}

std::string first_fault(const std::string& text) {
    const Loaded loaded = load_text(text, "f");
    return loaded.ok() ? "none" : to_string(loaded.faults.front());
}

TEST(LoadLimits, RefusesALargeFile) {
    EXPECT_EQ(first_fault("#" + std::string(kFileMax - 1, ' ')), "none");
    EXPECT_EQ(first_fault("#" + std::string(kFileMax, ' ')), "f:1:1: is larger than 1048576 bytes");
}

TEST(LoadLimits, ReadsNoMoreOfAFileThanItTakes) {
    EXPECT_EQ(to_string(load_file("/dev/zero").faults.front()),
              "/dev/zero:1:1: is larger than 1048576 bytes");
}

TEST(LoadLimits, RefusesDeepNesting) {
    for (const std::string_view piece : {"[", "{a: ", "- ", "? "}) {
        const std::string fault = first_fault(repeated(piece, 200'000));

        EXPECT_THAT(fault, EndsWith("maps and lists are nested more than 16 deep")) << piece;
    }
}

TEST(LoadLimits, DoesNotFollowABombOfAliases) {
    std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 30; ++i) {
        bomb += fmt::format(
            "a{0}: &a{0} [{1}*a{2}]\n", i, repeated(fmt::format("*a{}, ", i - 1), 9), i - 1);
    }

    const Loaded loaded = load_text(bomb + "uplinks: *a29\n", "f");

    EXPECT_EQ(loaded.faults.size(), 30U + 10U);  // Unknown keys, and elements that are no text.
}

TEST(LoadLimits, CountsAliasedValuesEachTime) {
    std::string text = "interfaces:\n  - {name: a0, hosts: &hosts [";
    for (int i = 0; i < 4000; ++i) {
        text += fmt::format("{{address: 10.0.{}.{}}}, ", i / 250, i % 250 + 1);
    }
    text += "]}\n";
    for (int i = 1; i < 1000; ++i) {
        text += fmt::format("  - {{name: a{}, hosts: *hosts}}\n", i);
    }

    EXPECT_THAT(first_fault(text), HasSubstr("has more than 200000 values, aliases counted"));
}

TEST(LoadLimits, BoundsEveryList) {
    EXPECT_EQ(first_fault("plugins: [" + repeated("a, ", 300'000) + "]"),
              "f:1:10: plugins: has 300000 elements; at most 32 are taken");
    EXPECT_THAT(first_fault("plugins: [{path: /a, options: {" +
                            [] {
                                std::string options;
                                for (int i = 0; i < 65; ++i) {
                                    options += fmt::format("k{}: 1, ", i);
                                }
                                return options;
                            }() +
                            "}}]"),
                HasSubstr("has more than 64 keys"));
}

TEST(LoadLimits, BoundsTheFaults) {
    std::string text;
    for (int i = 0; i < 50'000; ++i) {
        text += fmt::format("k{}: 1\n", i);
    }

    const Loaded loaded = load_text(text, "f");

    EXPECT_EQ(loaded.faults.size(), FaultList::kMax + 1);
    EXPECT_EQ(to_string(loaded.faults.back()), "f:1000:1: and 49000 more");
}

TEST(LoadLimits, BoundsTexts) {
    EXPECT_EQ(first_fault("plugins: [{path: /a, options: {a: " + std::string(4097, 'x') + "}}]"),
              "f:1:35: plugins[0].options.a: is longer than 4096 bytes");
    EXPECT_EQ(first_fault("plugins: [{path: /a, options: {a: " + std::string(4096, 'x') + "}}]"),
              "none");
    EXPECT_LT(first_fault("on_exit: " + std::string(500'000, 'x')).size(), 200U);
    EXPECT_LT(first_fault("? " + std::string(500'000, 'x') + "\n: 1\n").size(), 200U);
    EXPECT_LT(first_fault("node: !" + std::string(500'000, 'x') + " 1").size(), 200U);
}

TEST(LoadLimits, BoundsTheGlobs) {
    std::string text = "interfaces:\n";
    for (int i = 0; i < 129; ++i) {
        text += fmt::format("  - {{name: 'a{}*'}}\n", i);
    }

    EXPECT_EQ(first_fault(text), "f:2:3: interfaces: has 129 globs; at most 128 are taken");
}

TEST(LoadLimits, SurvivesWhatConfusesTheParser) {
    for (const std::string_view piece :
         {"a:", "*a ", "&a ",    "!a ", "- \n", "%a\n", "'",    "\"",
          "\\", "|\n", "? \n: ", "\t",  ": ",   "\r",   "--- ", "...\n",
          "[}", "{]",  ">+1\n",  "#",   ",",    "@",    "`",    "\xef\xbb\xbf"}) {
        const Loaded loaded = load_text(repeated(piece, 5'000), "f");

        EXPECT_LE(loaded.faults.size(), FaultList::kMax + 1) << piece;
    }
}

}  // namespace
}  // namespace planed::config
