// SPDX-License-Identifier: Apache-2.0
#include "config/match.hpp"

#include <random>
#include <string>
#include <vector>

#include <fnmatch.h>

#include <gtest/gtest.h>

namespace planed::config {
namespace {

// A random text over an alphabet in which globs and names meet often.
std::string random_text(std::mt19937& random, std::string_view alphabet, std::size_t longest) {
    std::string text;
    const std::size_t length = random() % (longest + 1);
    for (std::size_t i = 0; i < length; ++i) {
        text += alphabet[random() % alphabet.size()];
    }
    return text;
}

std::string random_glob(std::mt19937& random) {
    constexpr std::string_view kPieces[] = {"a", "b", "*", "?", "[ab]", "[!a]", "[a-c]", "[^b-c]"};
    std::string glob;
    const std::size_t pieces = random() % 6;
    for (std::size_t i = 0; i < pieces; ++i) {
        glob += kPieces[random() % std::size(kPieces)];
    }
    return glob;
}

// All names over {a, b, c, d} of up to five characters: longer ones add nothing for short globs.
std::vector<std::string> all_names() {
    std::vector<std::string> names{""};
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i].size() < 5) {
            for (const char c : {'a', 'b', 'c', 'd'}) {
                names.push_back(names[i] + c);
            }
        }
    }
    return names;
}

TEST(GlobMatches, AgreesWithFnmatch) {
    std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same cases every time.
    int matches = 0;
    for (int i = 0; i < 50'000; ++i) {
        const std::string glob = random_glob(random);
        const std::string name = random_text(random, "abcd", 6);

        const bool expected = ::fnmatch(glob.c_str(), name.c_str(), 0) == 0;

        ASSERT_EQ(glob_matches(glob, name), expected) << glob << " " << name;
        matches += expected ? 1 : 0;
    }
    EXPECT_GT(matches, 3'000);
}

TEST(GlobMatches, KnowsTheOddBrackets) {
    EXPECT_TRUE(glob_matches("a[]]", "a]"));
    EXPECT_TRUE(glob_matches("a[!]]", "ab"));
    EXPECT_FALSE(glob_matches("a[!]]", "a]"));
    EXPECT_TRUE(glob_matches("a[-x]", "a-"));
    EXPECT_TRUE(glob_matches("a[x-]", "a-"));
    EXPECT_TRUE(glob_matches("[[]a", "[a"));
    EXPECT_TRUE(glob_matches("Ethernet[0-9][0-9]", "Ethernet12"));
    EXPECT_FALSE(glob_matches("Ethernet[0-9][0-9]", "Ethernet1"));
    EXPECT_FALSE(glob_matches("swp*", "Swp1"));
}

TEST(GlobProblem, NamesWhatNobodyMeans) {
    EXPECT_EQ(glob_problem("Vlan1*"), std::nullopt);
    EXPECT_EQ(glob_problem("Vlan[0-9]"), std::nullopt);
    EXPECT_TRUE(glob_problem("Vlan[0-9"));
    EXPECT_TRUE(glob_problem("Vlan[]"));
    EXPECT_TRUE(glob_problem("Vlan["));
    EXPECT_TRUE(glob_problem("Vlan[9-0]"));
    EXPECT_TRUE(glob_problem("Vlan[[:digit:]]"));
    EXPECT_TRUE(glob_problem("Vlan\\*"));
}

TEST(GlobsOverlap, AgreesWithTryingAllNames) {
    const std::vector<std::string> names = all_names();
    std::mt19937 random(2);  // NOLINT(cert-msc51-cpp): the same cases every time.
    int overlaps = 0;
    for (int i = 0; i < 1000; ++i) {
        const std::string a = random_glob(random);
        const std::string b = random_glob(random);
        bool expected = false;
        for (const std::string& name : names) {
            expected = expected || (glob_matches(a, name) && glob_matches(b, name));
        }

        // Only names of our alphabet and length were tried: finding none proves nothing for globs
        // whose common names are longer.
        if (expected) {
            ASSERT_TRUE(globs_overlap(a, b)) << a << " " << b;
            ++overlaps;
        }
        if (a.find('*') == std::string::npos && b.find('*') == std::string::npos) {
            ASSERT_EQ(globs_overlap(a, b), expected) << a << " " << b;
        }
        ASSERT_EQ(globs_overlap(a, b), globs_overlap(b, a)) << a << " " << b;
    }
    EXPECT_GT(overlaps, 100);
}

TEST(GlobsOverlap, CountsOnlyNamesThatAnInterfaceCanHave) {
    EXPECT_TRUE(globs_overlap("Ethernet1*", "*2"));
    EXPECT_FALSE(globs_overlap("Ethernet*", "Vlan*"));
    EXPECT_FALSE(globs_overlap("Eth*0", "Eth*1"));
    EXPECT_FALSE(globs_overlap("Vlan?", "Vlan??"));
    EXPECT_TRUE(globs_overlap("abcdefgh*", "*ijklmno"));    // 15 characters.
    EXPECT_FALSE(globs_overlap("abcdefghi*", "*jklmnop"));  // 17 characters.
}

TEST(InterfaceFor, PrefersTheExactNameThenTheMoreSpecificGlob) {
    Config config;
    for (const char* name : {"*", "Vlan*", "Vlan1*", "Vlan1?", "Vlan100", "Vlan1??"}) {
        config.interfaces.push_back({.name = name});
    }
    const auto name_for = [&](std::string_view interface) {
        const InterfaceConfig* entry = interface_for(config, interface);
        return entry == nullptr ? std::string("none") : entry->name;
    };

    EXPECT_EQ(name_for("Vlan100"), "Vlan100");
    EXPECT_EQ(name_for("Vlan101"), "Vlan1??");
    EXPECT_EQ(name_for("Vlan10"), "Vlan1?");
    EXPECT_EQ(name_for("Vlan1"), "Vlan1*");
    EXPECT_EQ(name_for("Vlan2"), "Vlan*");
    EXPECT_EQ(name_for("eth0"), "*");
    config.interfaces.erase(config.interfaces.begin());
    EXPECT_EQ(name_for("eth0"), "none");
}

}  // namespace
}  // namespace planed::config
