// SPDX-License-Identifier: Apache-2.0
#include "zapi/probe.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/zapi/vectors.hpp"

namespace planed::zapi {
namespace {

using testing::HasSubstr;

constexpr TimePoint kConnected{1h};

/// Reads what the probe wrote and answers as that family's zebra does: unknown VRF first, then no
/// handler, and silence for a HELLO without its body (seen on 8.4.4, 9.1.3, 10.0.5, 10.3).
class Zebra {
public:
    explicit Zebra(WireFamily family) : commands_(commands_of(family)) {}

    Bytes answer(std::span<const std::uint8_t> question) {
        Bytes answers;
        framer_.feed(question);
        for (auto frame = framer_.next(); frame && *frame; frame = framer_.next()) {
            const Header& header = (*frame)->header;
            if (header.vrf != VrfId::Default) {
                add_error(header, 1, answers);
            } else if (header.command != commands_.hello) {
                add_error(header, 2, answers);
            }
        }
        return answers;
    }

private:
    void add_error(const Header& refused, std::uint8_t code, Bytes& out) const {
        encode_bare(commands_.error, refused.vrf, out);
        out[out.size() - kHeaderSize + 1] = 14;
        out.insert(out.end(), {code, 0, 0, 0});
    }

    const Commands& commands_;
    Framer framer_;
};

/// Until the probe has nothing more to ask.
void converse(Probe& probe, Zebra& zebra, std::size_t cut = 1000) {
    probe.connected(kConnected);
    while (!probe.pending().empty()) {
        const auto piece = probe.pending().first(std::min(cut, probe.pending().size()));
        const Bytes answers = zebra.answer(piece);
        probe.written(piece.size());
        for (const std::uint8_t byte : answers) {
            probe.receive(std::span(&byte, 1), kConnected);
        }
    }
}

class ProbeOf : public testing::TestWithParam<WireFamily> {};
INSTANTIATE_TEST_SUITE_P(Probe,
                         ProbeOf,
                         testing::ValuesIn(kWireFamilies),
                         [](const auto& instance) { return std::string(name_of(instance.param)); });

TEST_P(ProbeOf, FindsTheFamily) {
    for (const std::size_t cut : {1000U, 1U, 7U}) {
        Probe probe;
        Zebra zebra(GetParam());

        converse(probe, zebra, cut);

        ASSERT_TRUE(probe.result());
        EXPECT_EQ(*probe.result(), Result<WireFamily>(GetParam()));
        EXPECT_EQ(probe.wake_at(), std::nullopt);
    }
}

TEST_P(ProbeOf, AcceptsOnlyThePinnedFamily) {
    for (const WireFamily pinned : kWireFamilies) {
        Probe probe(pinned);
        Zebra zebra(GetParam());

        converse(probe, zebra);

        ASSERT_TRUE(probe.result());
        EXPECT_EQ(probe.result()->has_value(), pinned == GetParam());
    }
}

TEST(Probe, NamesBothReleasesWhenThePinIsWrong) {
    Probe probe(WireFamily::A);
    Zebra zebra(WireFamily::D);

    converse(probe, zebra);

    EXPECT_EQ(probe.result()->error().code, Errc::Unsupported);
    EXPECT_EQ(probe.result()->error().text,
              "zebra is FRR 10.2 or later (wire family D), but frr.release names FRR 8.4 to 9.0 "
              "(wire family A)");
}

Bytes copy_of(std::span<const std::uint8_t> bytes) {
    return {bytes.begin(), bytes.end()};
}

TEST(Probe, SaysNoHello) {
    Probe probe;
    probe.connected(kConnected);

    EXPECT_EQ(copy_of(probe.pending()), from_hex("000afe0600000000ffff"));
    probe.written(10);
    EXPECT_TRUE(probe.pending().empty());
    probe.receive(from_hex("000efe0600000000 0076 02000000"), kConnected);

    EXPECT_EQ(copy_of(probe.pending()), from_hex("000afe06000000000013 000afe06fffffffeffff"));
    EXPECT_FALSE(probe.result());
}

TEST(Probe, DoesNotTakeSilenceForFamilyC) {
    Probe probe;
    probe.connected(kConnected);
    probe.receive(from_hex("000efe0600000000 0076 02000000"), kConnected);

    probe.tick(kConnected + Probe::kDeadline);

    ASSERT_TRUE(probe.result());
    EXPECT_FALSE(probe.result()->has_value());
}

TEST(Probe, SkipsWhatArrivesUnasked) {
    Probe probe;
    probe.connected(kConnected);

    probe.receive(from_hex("0011fe0600000000 007f 0a 0000 00000000"), kConnected);
    probe.receive(from_hex("000efe0600000000 0021 00000000"),
                  kConnected);  // Its length, not its code.
    EXPECT_FALSE(probe.result());
    probe.receive(from_hex("000efe0600000000 0078 02000000"), kConnected);

    EXPECT_EQ(probe.result().value(), Result<WireFamily>(WireFamily::D));
}

TEST(Probe, RefusesAReleaseThatItDoesNotKnow) {
    Probe probe;
    probe.connected(kConnected);

    probe.receive(from_hex("000efe0600000000 0079 02000000"), kConnected);

    ASSERT_TRUE(probe.result());
    EXPECT_EQ(probe.result()->error().code, Errc::Unsupported);
    EXPECT_THAT(probe.result()->error().text, HasSubstr("its ERROR is command 121"));
}

TEST(Probe, RefusesAnotherZapiVersion) {
    Probe probe;
    probe.connected(kConnected);

    probe.receive(from_hex("000efe0700000000 0078 02000000"), kConnected);

    ASSERT_TRUE(probe.result());
    EXPECT_EQ(probe.result()->error().code, Errc::Unsupported);
    EXPECT_THAT(probe.result()->error().text, HasSubstr("ZAPI version 7, not 6"));
}

TEST(Probe, RefusesGarbage) {
    Probe probe;
    probe.connected(kConnected);

    probe.receive(from_hex("485454502f312e312034303020"), kConnected);

    ASSERT_TRUE(probe.result());
    EXPECT_EQ(probe.result()->error().code, Errc::Malformed);
    EXPECT_THAT(probe.result()->error().text, HasSubstr("does not speak ZAPI"));
}

TEST(Probe, IsOverWhenZebraClosesWithoutAWord) {
    Probe probe;
    probe.connected(kConnected);

    probe.closed();

    ASSERT_TRUE(probe.result());
    EXPECT_EQ(probe.result()->error().code, Errc::Lost);
    EXPECT_THAT(probe.result()->error().text, HasSubstr("without a word"));
}

TEST(Probe, IsOverWhenZebraClosesInTheMiddle) {
    Probe probe;
    probe.connected(kConnected);
    probe.receive(from_hex("000efe06"), kConnected);

    probe.closed();

    EXPECT_THAT(probe.result()->error().text, HasSubstr("before it had told its release"));
}

TEST(Probe, EndsAtItsDeadline) {
    Probe probe;
    probe.connected(kConnected);
    EXPECT_EQ(probe.wake_at(), kConnected + Probe::kDeadline);

    probe.tick(kConnected + Probe::kDeadline - 1ns);
    EXPECT_FALSE(probe.result());
    probe.tick(kConnected + Probe::kDeadline);

    ASSERT_TRUE(probe.result());
    EXPECT_EQ(probe.result()->error().text,
              "zebra does not answer: no word about its release within 10 s");
}

TEST(Probe, KeepsItsFirstResult) {
    Probe probe;
    probe.connected(kConnected);
    probe.receive(from_hex("000efe0600000000 0078 02000000 000efe0600000000 0075 02000000"),
                  kConnected);

    probe.closed();
    probe.tick(kConnected + Probe::kDeadline);

    EXPECT_EQ(probe.result().value(), Result<WireFamily>(WireFamily::D));
}

}  // namespace
}  // namespace planed::zapi
