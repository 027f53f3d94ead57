// SPDX-License-Identifier: Apache-2.0
// The rules of checks.hpp over the whole tree.
#include "lint/layers.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lint/checks.hpp"

namespace planed::lint {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<SourceFile>& tree() {
    static const std::vector<SourceFile> kTree = [] {
        std::vector<SourceFile> files;
        for (const char* folder : {"daemon", "plugins", "tests"}) {
            for (SourceFile& file : read_tree(PLANED_SOURCE_DIR, folder)) {
                files.push_back(std::move(file));
            }
        }
        return files;
    }();
    return kTree;
}

template <class Check>
std::vector<std::string> all_complaints(Check check) {
    std::vector<std::string> result;
    for (const SourceFile& file : tree()) {
        for (const Complaint& complaint : check(file)) {
            result.push_back(to_string(complaint));
        }
    }
    return result;
}

TEST(Tree, IsFound) {
    std::vector<std::string> paths;
    for (const SourceFile& file : tree()) {
        paths.push_back(file.path);
    }
    EXPECT_THAT(paths, Contains("daemon/net/ids.hpp"));
    EXPECT_THAT(paths, Contains("tests/lint/layers_test.cpp"));
}

TEST(Tree, IncludesOnlyDownwards) {
    EXPECT_THAT(all_complaints(check_includes), IsEmpty());
}

TEST(Tree, AsksForTheTimeOnlyInIo) {
    EXPECT_THAT(all_complaints(check_calls), IsEmpty());
}

TEST(Tree, HasNoUsingNamespaceInHeaders) {
    EXPECT_THAT(all_complaints(check_using_namespace), IsEmpty());
}

TEST(Tree, BeginsEachFileWithItsLicence) {
    EXPECT_THAT(all_complaints(check_spdx), IsEmpty());
}

TEST(Tree, HasAReadmeInEachFolder) {
    std::vector<std::string> missing;
    for (const Complaint& complaint : check_readmes(tree())) {
        missing.push_back(to_string(complaint));
    }
    EXPECT_THAT(missing, IsEmpty());
}

TEST(Tree, ShowsTheLayerTableInTheDaemonsReadme) {
    for (const SourceFile& file : tree()) {
        if (file.path == "daemon/README.md") {
            EXPECT_THAT(file.text, HasSubstr(layers_as_markdown()));
        }
    }
}

}  // namespace
}  // namespace planed::lint
