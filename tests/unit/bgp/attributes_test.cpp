// SPDX-License-Identifier: Apache-2.0
#include "bgp/attributes.hpp"

#include <gtest/gtest.h>

namespace planed::bgp {
namespace {

using Kind = AsSegment::Kind;

TEST(AsPath, IsWrittenAsOthersWriteIt) {
    EXPECT_EQ(to_string(std::vector<AsSegment>{}), "");
    EXPECT_EQ(to_string({{.kind = Kind::Sequence, .numbers = {AsNumber{65000}, AsNumber{65003}}}}),
              "65000 65003");
    EXPECT_EQ(to_string({{.kind = Kind::ConfedSequence, .numbers = {AsNumber{1}, AsNumber{2}}},
                         {.kind = Kind::ConfedSet, .numbers = {AsNumber{3}, AsNumber{4}}},
                         {.kind = Kind::Sequence, .numbers = {AsNumber{4200000000}}},
                         {.kind = Kind::Set, .numbers = {AsNumber{5}, AsNumber{6}}}}),
              "(1 2) [3,4] 4200000000 {5,6}");
}

}  // namespace
}  // namespace planed::bgp
