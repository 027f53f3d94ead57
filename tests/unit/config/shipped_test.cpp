// SPDX-License-Identifier: Apache-2.0
// The files under config/ are what the code says, key by key.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/keys.hpp"
#include "config/load.hpp"
#include "config/match.hpp"
#include "config/print.hpp"
#include "unit/config/lines.hpp"

namespace planed::config {
namespace {

using testing::IsEmpty;

const std::filesystem::path kShipped = std::filesystem::path(PLANED_SOURCE_DIR) / "config";

template <class T, class Field>
Field field_type(Field T::*);

// Every key there is, but those of list elements that the file does not have.
template <class T>
void collect_keys(const std::string& prefix, std::set<std::string>& keys) {
    Keys<T>::each([&](std::string_view name, auto member, auto rule) {
        const std::string key = prefix + std::string(name);
        keys.insert(key);
        if constexpr (std::is_same_v<decltype(rule), Part>) {
            collect_keys<decltype(field_type(member))>(key + ".", keys);
        }
    });
}

TEST(PlanedYaml, HasNoFaultAndNoWarning) {
    const Loaded loaded = load_file(kShipped / "planed.yaml");

    EXPECT_THAT(lines(loaded.faults), IsEmpty());
    EXPECT_THAT(lines(loaded.warnings), IsEmpty());
}

TEST(PlanedYaml, SaysTheDefaults) {
    Config want;
    want.interfaces = {{.name = "Vlan100"}};

    const Loaded loaded = load_file(kShipped / "planed.yaml");

    EXPECT_EQ(to_yaml(loaded.config), to_yaml(want));
    EXPECT_EQ(loaded.config, want);
}

TEST(PlanedYaml, HasEveryKey) {
    std::set<std::string> missing;
    collect_keys<Config>("", missing);
    collect_keys<InterfaceConfig>("interfaces[0].", missing);
    ASSERT_GT(missing.size(), 40U);

    for (const auto& [path, place] : load_file(kShipped / "planed.yaml").written) {
        missing.erase(path);
    }

    EXPECT_THAT(missing, IsEmpty());
}

// A comment stands above every key, or above the part that it belongs to.
TEST(PlanedYaml, CommentsEveryKeyOrItsPart) {
    std::ifstream file(kShipped / "planed.yaml");
    std::string line;
    bool commented = false;
    std::vector<std::string> bare;
    while (std::getline(file, line)) {
        const std::size_t text = line.find_first_not_of(" -");
        const bool blank = text == std::string::npos;
        const bool comment = !blank && line[text] == '#';
        // Blocks of keys share the comment above them.
        if (blank || line.ends_with(':')) {
            commented = commented && !blank;
        } else if (comment) {
            commented = true;
        } else if (!commented) {
            bare.push_back(line);
        }
    }
    EXPECT_THAT(bare, IsEmpty());
}

TEST(Examples, HaveNoFaultAndNoWarning) {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(kShipped / "examples")) {
        const Loaded loaded = load_file(entry.path());

        EXPECT_THAT(lines(loaded.faults), IsEmpty());
        EXPECT_THAT(lines(loaded.warnings), IsEmpty());
        EXPECT_FALSE(loaded.config.interfaces.empty());
        ++count;
    }
    EXPECT_GT(count, 3);
}

// Lists that are empty by default: their keys stand in comments, with the default or an example.
template <class T>
void comment_lines(const std::string& indent, std::vector<std::string>& lines) {
    Keys<T>::each([&](std::string_view name, auto member, auto rule) {
        lines.push_back(indent + std::string(name) + ": ");
        if constexpr (std::is_same_v<decltype(rule), Part>) {
            comment_lines<decltype(field_type(member))>(indent + "  ", lines);
        }
    });
}

TEST(PlanedYaml, NamesTheKeysOfVrfsAndSegmentsInComments) {
    std::ifstream file(kShipped / "planed.yaml");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::string here = text.substr(text.find("\nevpn:\n"));
    std::vector<std::string> wanted;
    comment_lines<EvpnVrfConfig>("  #   ", wanted);
    comment_lines<EvpnSegmentConfig>("  #   ", wanted);
    ASSERT_GT(wanted.size(), 10U);

    for (const std::string& line : wanted) {
        EXPECT_THAT(here, testing::HasSubstr('\n' + line));
    }
}

TEST(Examples, AreTwoLeavesOfTheSameSegments) {
    const Config a = load_file(kShipped / "examples" / "evpn-leaf-a.yaml").config;
    const Config b = load_file(kShipped / "examples" / "evpn-leaf-b.yaml").config;

    EXPECT_NE(a.node.plane, b.node.plane);
    EXPECT_EQ(a.evpn.local_as, b.evpn.local_as);
    ASSERT_EQ(a.evpn.peers.size(), 1U);
    ASSERT_EQ(b.evpn.peers.size(), 1U);
    EXPECT_EQ(a.evpn.peers[0].remote_as, a.evpn.local_as);
    EXPECT_EQ(a.evpn.peers[0].address, b.evpn.router_id);
    EXPECT_EQ(b.evpn.peers[0].address, a.evpn.router_id);
    EXPECT_EQ(a.evpn.vrfs, b.evpn.vrfs);
    ASSERT_EQ(a.evpn.segments.size(), b.evpn.segments.size());
    EXPECT_FALSE(a.evpn.segments.empty());
    for (std::size_t i = 0; i < a.evpn.segments.size(); ++i) {
        EXPECT_EQ(a.evpn.segments[i].identifier(), b.evpn.segments[i].identifier());
        EXPECT_NE(a.evpn.segments[i].df.preference, b.evpn.segments[i].df.preference);
        EXPECT_NE(interface_for(a, a.evpn.segments[i].port), nullptr);
    }
}

// planed.yaml has no peer, for there is none by default.
TEST(Examples, HaveEveryKeyOfAnEvpnPeer) {
    std::set<std::string> missing;
    collect_keys<EvpnPeerConfig>("evpn.peers[0].", missing);
    ASSERT_GT(missing.size(), 10U);

    for (const auto& [path, place] : load_file(kShipped / "examples" / "evpn.yaml").written) {
        missing.erase(path);
    }

    EXPECT_THAT(missing, IsEmpty());
}

}  // namespace
}  // namespace planed::config
