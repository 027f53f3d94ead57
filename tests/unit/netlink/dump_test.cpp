// SPDX-License-Identifier: Apache-2.0
#include "netlink/dump.hpp"

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/netlink/vectors.hpp"

namespace planed::netlink {
namespace {

using testing::_;
using testing::ElementsAre;
using testing::VariantWith;

std::uint32_t sequence_of(const std::string& name) {
    const Datagram datagram = load(name).front();
    return messages_of(datagram).front().sequence;
}

/// Feeds the file's datagrams; `damage` may change each before.
template <class Damage>
std::vector<Input> replay(Dump& dump, const std::string& name, Damage damage) {
    std::vector<Input> inputs;
    for (Datagram datagram : load(name)) {
        damage(datagram);
        for (const Message& message : messages_of(datagram)) {
            if (auto input = dump.receive(message)) {
                inputs.push_back(std::move(*input));
            }
        }
    }
    return inputs;
}

std::vector<Input> replay(Dump& dump, const std::string& name) {
    return replay(dump, name, [](Datagram&) {});
}

Input finished(DumpKind kind, bool complete) {
    return DumpFinished{.kind = kind, .complete = complete};
}

TEST(Dump, HandsOutEveryRowAndThenTheEnd) {
    Dump dump(DumpKind::Neighbors, sequence_of("dump-neigh-v4"));

    const auto inputs = replay(dump, "dump-neigh-v4");

    EXPECT_THAT(inputs,
                ElementsAre(VariantWith<NeighborSeen>(_),
                            VariantWith<NeighborSeen>(_),
                            finished(DumpKind::Neighbors, true)));
    EXPECT_EQ(std::get<NeighborSeen>(inputs.front()).source, Source::Dump);
    EXPECT_TRUE(dump.finished());
    EXPECT_EQ(dump.error(), std::nullopt);
}

TEST(Dump, AnEmptyTableIsCompleteToo) {
    Dump dump(DumpKind::Neighbors, sequence_of("dump-empty"));

    EXPECT_THAT(replay(dump, "dump-empty"), ElementsAre(finished(DumpKind::Neighbors, true)));
}

TEST(Dump, IsNotCompleteWhenTheTableChangedMeanwhile) {
    Dump dump(DumpKind::Links, sequence_of("dump-links-interrupted"));

    const auto inputs = replay(dump, "dump-links-interrupted");

    EXPECT_EQ(inputs.back(), finished(DumpKind::Links, false));
    EXPECT_EQ(dump.error()->text, "the table changed while it was read");
}

TEST(Dump, IsNotCompleteWhenTheRequestIsRefused) {
    Dump dump(DumpKind::Neighbors, sequence_of("error-strict-header"));

    EXPECT_THAT(replay(dump, "error-strict-header"),
                ElementsAre(finished(DumpKind::Neighbors, false)));
    EXPECT_EQ(dump.error()->code, Errc::Refused);
}

TEST(Dump, IsNotCompleteWhenARowCannotBeRead) {
    Dump dump(DumpKind::Neighbors, sequence_of("dump-neigh-v4"));

    const auto inputs = replay(dump, "dump-neigh-v4", [](Datagram& datagram) {
        datagram[16 + 4] = 0;  // Interface 0.
    });

    EXPECT_EQ(inputs.back(), finished(DumpKind::Neighbors, false));
    EXPECT_EQ(dump.error()->text, "neighbour without an interface");
}

TEST(Dump, IgnoresWhatIsLeftOfAnEarlierOne) {
    Dump dump(DumpKind::Neighbors, sequence_of("dump-neigh-v4") + 1);

    EXPECT_THAT(replay(dump, "dump-neigh-v4"), testing::IsEmpty());
    EXPECT_FALSE(dump.finished());
}

TEST(Dump, AbandonedItEndsOnce) {
    Dump dump(DumpKind::Fdb, sequence_of("dump-fdb"));

    EXPECT_EQ(dump.abandon({.code = Errc::Lost, .text = "a datagram was lost"}),
              finished(DumpKind::Fdb, false));

    EXPECT_EQ(dump.abandon({.code = Errc::Lost, .text = "again"}), std::nullopt);
    EXPECT_THAT(replay(dump, "dump-fdb"), testing::IsEmpty());
    EXPECT_EQ(dump.error()->text, "a datagram was lost");
}

}  // namespace
}  // namespace planed::netlink
