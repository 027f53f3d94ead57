// SPDX-License-Identifier: Apache-2.0
// Rows of CONFIG_DB that are refused, as the mirror shows them.
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "statedb/mirror.hpp"
#include "unit/statedb/fake_database.hpp"

namespace planed::statedb {
namespace {

using testing::Contains;
using testing::Key;
using testing::Not;
using testing::Pair;
using testing::UnorderedElementsAre;

const std::string kVlan9 = "PLANED_CONFIG_TABLE|PLANED_INTERFACE|Vlan9";  // NOLINT
const std::string kGlobal = "PLANED_CONFIG_TABLE|PLANED|global";          // NOLINT

ConfigRow vlan9(std::string_view reason = "max_hosts: no") {
    return {.table = "PLANED_INTERFACE", .key = "Vlan9", .reason = std::string(reason)};
}

class MirrorConfigTest : public testing::Test {
protected:
    MirrorConfigTest() {
        leaf.connect();
        show({vlan9(), {.table = "PLANED", .key = "global", .reason = "tag: no"}});
    }
    void show(const std::vector<ConfigRow>& refused) {
        leaf.mirror.take(refused);
        leaf.pass(1s);
    }

    MirroredLeaf leaf;
    std::map<std::string, RowText>& rows = leaf.database.rows;
};

TEST_F(MirrorConfigTest, ShowsEachWithItsReason) {
    EXPECT_THAT(rows[kVlan9], UnorderedElementsAre(Pair("reason", "max_hosts: no")));
    EXPECT_THAT(rows[kGlobal], UnorderedElementsAre(Pair("reason", "tag: no")));
}

TEST_F(MirrorConfigTest, RemovesThoseThatAreMended) {
    show({vlan9("snoop: no")});

    EXPECT_THAT(rows[kVlan9], UnorderedElementsAre(Pair("reason", "snoop: no")));
    EXPECT_THAT(rows, Not(Contains(Key(kGlobal))));
}

TEST_F(MirrorConfigTest, RemovesThoseOfAnEarlierRun) {
    rows["PLANED_CONFIG_TABLE|NEIGH|Vlan1|10.0.0.5"] = {{"reason", "old"}};

    leaf.pass(61s);

    EXPECT_THAT(rows, Not(Contains(Key("PLANED_CONFIG_TABLE|NEIGH|Vlan1|10.0.0.5"))));
    EXPECT_THAT(rows, Contains(Key(kVlan9)));
}

}  // namespace
}  // namespace planed::statedb
