// SPDX-License-Identifier: Apache-2.0
// planectl(1) and the table of verbs and options name the same.
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ctl/command_line.hpp"

namespace planed::ctl {
namespace {

std::string page() {
    std::ifstream file(PLANED_SOURCE_DIR "/config/man/planectl.1");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::set<std::string> found(const std::string& text, const std::regex& what) {
    std::set<std::string> words;
    for (auto at = std::sregex_iterator(text.begin(), text.end(), what);
         at != std::sregex_iterator();
         ++at) {
        words.insert(at->str(1));
    }
    return words;
}

TEST(Manual, HasEveryVerbAndNoOther) {
    std::set<std::string> wanted;
    for (const Verb& verb : verbs()) {
        std::string name(verb.word);
        name += verb.sub.empty() ? "" : " " + std::string(verb.sub);
        wanted.insert(std::move(name));
    }
    static const std::regex kItem("\n\\.It Cm ([a-z -]+?)(?= Ar | Op |\n)");

    EXPECT_EQ(found(page(), kItem), wanted);
}

TEST(Manual, HasEveryOptionAndNoOther) {
    std::set<std::string> wanted;
    for (const Option& option : global_options()) {
        wanted.emplace(option.name);
    }
    for (const Verb& verb : verbs()) {
        for (const Option& option : verb.options) {
            wanted.emplace(option.name);
        }
    }
    static const std::regex kFlag("Fl (-[a-z-]+)");

    std::set<std::string> named;
    for (const std::string& flag : found(page(), kFlag)) {
        named.insert("-" + flag);  // mdoc(7) writes the first one.
    }

    EXPECT_EQ(named, wanted);
}

}  // namespace
}  // namespace planed::ctl
