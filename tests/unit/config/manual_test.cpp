// SPDX-License-Identifier: Apache-2.0
// planed.yaml(5) and the table of keys name the same.
#include <fstream>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/keys.hpp"

namespace planed::config {
namespace {

using testing::Contains;
using testing::IsEmpty;

template <class T, class Field>
Field field_type(Field T::*);

struct Names {
    std::set<std::string> all{};
    std::set<std::string> to_describe{};  // A part is described by its keys.
};

template <class T>
void collect(const std::string& prefix, Names& names) {
    Keys<T>::each([&](std::string_view name, auto member, auto rule) {
        using Field = decltype(field_type(member));
        const std::string key = prefix + std::string(name);
        names.all.insert(key);
        if constexpr (std::is_same_v<decltype(rule), Part>) {
            collect<Field>(key + ".", names);
            return;
        } else if constexpr (std::is_same_v<decltype(rule), PartList>) {
            collect<typename Field::value_type>(key + ".", names);
        }
        names.to_describe.insert(key);
    });
}

std::vector<std::string> described() {
    std::ifstream file(PLANED_SOURCE_DIR "/config/man/planed.yaml.5");
    const std::string item = ".It Va ";
    std::vector<std::string> keys;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(item)) {
            keys.push_back(line.substr(item.size()));
        }
    }
    return keys;
}

TEST(Manual, DescribesEveryKeyOnceAndNoOther) {
    Names names;
    collect<Config>("", names);
    ASSERT_GT(names.to_describe.size(), 40U);

    for (const std::string& key : described()) {
        EXPECT_THAT(names.all, Contains(key));
        names.all.erase(key);
        names.to_describe.erase(key);
    }

    EXPECT_THAT(names.to_describe, IsEmpty());
}

}  // namespace
}  // namespace planed::config
