// SPDX-License-Identifier: Apache-2.0
// The numbers were computed apart from this code, with zlib's crc32; the first of the HRW ones is
// also what another implementation gives.
#include "evpn/df_election.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evpn/crc32.hpp"

namespace planed::evpn {
namespace {

const Esi kEs1 = Esi::parse("03:44:38:39:ff:ff:01:00:00:01").value();
const Esi kEs2 = Esi::parse("00:11:22:33:44:55:66:77:88:99").value();

IpAddress ip(std::string_view text) {
    return IpAddress::parse(text).value();
}
const IpAddress kP15 = ip("192.168.100.15");
const IpAddress kP16 = ip("192.168.100.16");
const IpAddress kQ1 = ip("10.0.0.1");
const IpAddress kQ2 = ip("10.0.0.2");
const IpAddress kQ3 = ip("10.0.0.3");
const IpAddress kV6 = ip("2001:db8::1");

constexpr DfOffer kHrw{.algorithm = 1};

DfOffer highest(std::uint16_t preference, std::uint16_t bitmap = 0) {
    return {.algorithm = 2, .bitmap = bitmap, .preference = preference};
}
DfOffer lowest(std::uint16_t preference, std::uint16_t bitmap = 0) {
    return {.algorithm = 3, .bitmap = bitmap, .preference = preference};
}

std::vector<DfCandidate> all_with(const DfOffer& offer, const std::vector<IpAddress>& originators) {
    std::vector<DfCandidate> candidates;
    for (const IpAddress& originator : originators) {
        candidates.push_back({.originator = originator, .offer = offer});
    }
    return candidates;
}

DfResult elected(std::uint32_t tag, std::vector<DfCandidate> candidates, const Esi& esi = kEs1) {
    return elect({.esi = esi, .tag = tag, .candidates = std::move(candidates)});
}

IpAddress modulus(std::uint32_t tag, const std::vector<IpAddress>& originators) {
    return elected(tag, all_with({}, originators)).forwarder.value();
}

// --- Modulus. ---

TEST(DfElection, ModulusCountsFromTheLowestAddress) {
    EXPECT_EQ(modulus(1, {kP15, kP16}), kP16);    // M1
    EXPECT_EQ(modulus(2, {kP15, kP16}), kP15);    // M2
    EXPECT_EQ(modulus(100, {kP15, kP16}), kP15);  // M3
    EXPECT_EQ(modulus(101, {kP15, kP16}), kP16);
    EXPECT_EQ(modulus(4095, {kP15, kP16}), kP16);
    EXPECT_EQ(modulus(999, {kQ1, kQ2, kQ3}), kQ1);  // M4
    EXPECT_EQ(modulus(1000, {kQ1, kQ2, kQ3}), kQ2);
    EXPECT_EQ(modulus(1001, {kQ1, kQ2, kQ3}), kQ3);
}

TEST(DfElection, ModulusMovesEverythingWhenOneLeaves) {
    EXPECT_EQ(modulus(999, {kQ1, kQ2}), kQ2);  // M5
    EXPECT_EQ(modulus(1000, {kQ1, kQ2}), kQ1);
    EXPECT_EQ(modulus(1001, {kQ1, kQ2}), kQ2);
}

TEST(DfElection, ModulusHasIpv4BeforeIpv6) {
    EXPECT_EQ(modulus(100, {kV6, kQ1}), kQ1);  // M6
    EXPECT_EQ(modulus(101, {kV6, kQ1}), kV6);
}

TEST(DfElection, ModulusIsBlindToEvenNumbering) {
    for (std::uint32_t tag = 2; tag <= 4000; tag += 2) {
        ASSERT_EQ(modulus(tag, {kP15, kP16}), kP15) << tag;  // M7
    }
}

// --- HRW. ---

TEST(Crc32, IsZlibs) {
    const std::string text = "123456789";
    const std::vector<std::uint8_t> bytes(text.begin(), text.end());

    EXPECT_EQ(crc32(bytes), 0xCBF43926U);
    EXPECT_EQ(crc32({}), 0U);
}

TEST(Crc32, OfTagAndSegmentIsTheDigestOfHrw) {
    const std::array<std::uint8_t, 14> input{
        0, 0, 0, 100, 0x03, 0x44, 0x38, 0x39, 0xFF, 0xFF, 0x01, 0, 0, 0x01};

    EXPECT_EQ(crc32(input) & 0x7FFF'FFFFU, 0x5337E68FU);  // H2
}

TEST(DfElection, HrwWeighsAsAnotherImplementationDoes) {
    Esi::Octets ones{};
    ones.fill(0x01);
    const Esi esi = Esi::received(ones).value();

    EXPECT_EQ(hrw_weight(esi, 100, kQ1), 664511525U);  // H0
    EXPECT_EQ(hrw_weight(esi, 100, ip("::a00:1")), 664511525U);
}

struct HrwVector {
    std::string name;
    Esi esi;
    std::uint32_t tag;
    std::vector<IpAddress> originators;
    std::vector<std::uint32_t> weights;
    IpAddress forwarder;
    IpAddress backup;
};

std::vector<HrwVector> hrw_vectors() {
    const std::vector<IpAddress> p{kP15, kP16};
    const std::vector<IpAddress> q{kQ1, kQ2, kQ3};
    return {
        {"H1", kEs1, 1, p, {0x5EC5DAEE, 0x58C90E85}, kP15, kP16},
        {"H2", kEs1, 100, p, {0x05D93450, 0x16BC0647}, kP16, kP15},
        {"H3", kEs1, 101, p, {0x5513D510, 0x17F1CC07}, kP15, kP16},
        {"H4", kEs1, 10100, p, {0x4D6528BC, 0x459293EB}, kP15, kP16},
        {"H5", kEs2, 1, p, {0x350842FA, 0x44BA8929}, kP16, kP15},
        {"H6", kEs2, 100, p, {0x2B2619AC, 0x58BB3E3B}, kP16, kP15},
        {"H7", kEs2, 101, p, {0x7B1E49EC, 0x6CE5077B}, kP15, kP16},
        {"H8", kEs2, 10100, p, {0x7F9C53E0, 0x41DDB877}, kP15, kP16},
        {"H9", kEs1, 1, q, {0x5A769790, 0x5637E327, 0x4BF3C30A}, kQ1, kQ2},
        {"H10", kEs1, 100, q, {0x2BF077AE, 0x0BA349A5, 0x3CB4819C}, kQ3, kQ1},
        {"H11", kEs1, 101, q, {0x0250CC6E, 0x6D954365, 0x2666145C}, kQ2, kQ3},
        {"H12", kEs1, 1, {kQ1, kV6}, {0x5A769790, 0x74769790}, kV6, kQ1},
        {"H13", kEs1, 100, {ip("138.0.0.1"), kQ1}, {0x2BF077AE, 0x2BF077AE}, kQ1, ip("138.0.0.1")},
    };
}

TEST(DfElection, HrwHasTheHeaviestAndTheNext) {
    for (const auto& [name, esi, tag, originators, weights, forwarder, backup] : hrw_vectors()) {
        for (std::size_t i = 0; i < originators.size(); ++i) {
            EXPECT_EQ(hrw_weight(esi, tag, originators[i]), weights[i]) << name;
        }

        const DfResult result = elected(tag, all_with(kHrw, originators), esi);

        EXPECT_EQ(
            result,
            (DfResult{.forwarder = forwarder, .backup = backup, .algorithm = DfAlgorithm::Hrw}))
            << name;
    }
}

TEST(DfElection, HrwSharesTheTagsNearlyEvenly) {
    int of_first = 0;
    for (std::uint32_t tag = 1; tag <= 4000; ++tag) {
        of_first += elected(tag, all_with(kHrw, {kP15, kP16})).forwarder == kP15 ? 1 : 0;
    }

    EXPECT_EQ(of_first, 1972);
}

TEST(DfElection, HrwMovesOnlyWhatTheLeaverHad) {
    for (std::uint32_t tag = 1; tag <= 500; ++tag) {
        const DfResult before = elected(tag, all_with(kHrw, {kQ1, kQ2, kQ3}));
        const DfResult after = elected(tag, all_with(kHrw, {kQ1, kQ2}));

        const bool had_it = before.forwarder == kQ3;
        ASSERT_EQ(after.forwarder, had_it ? before.backup : before.forwarder) << tag;
    }
}

// --- Preference. ---

std::vector<DfCandidate> p1(const DfOffer& one, const DfOffer& two, const DfOffer& three) {
    return {{.originator = kQ1, .offer = one},
            {.originator = kQ2, .offer = two},
            {.originator = kQ3, .offer = three}};
}

TEST(DfElection, HighestPreferenceWins) {
    EXPECT_EQ(
        elected(100, p1(highest(100), highest(200), highest(300))),  // P1
        (DfResult{.forwarder = kQ3, .backup = kQ2, .algorithm = DfAlgorithm::HighestPreference}));
}

TEST(DfElection, LowestPreferenceWins) {
    EXPECT_EQ(
        elected(100, p1(lowest(100), lowest(200), lowest(300))),  // P1
        (DfResult{.forwarder = kQ1, .backup = kQ2, .algorithm = DfAlgorithm::LowestPreference}));
}

TEST(DfElection, AmongEqualPreferencesDontPreemptWins) {
    const auto mark = DfOffer::kDontPreempt;  // P2

    EXPECT_EQ(
        elected(100,
                {{.originator = kQ1, .offer = highest(500)},
                 {.originator = kQ2, .offer = highest(500, mark)}}),
        (DfResult{.forwarder = kQ2, .backup = kQ1, .algorithm = DfAlgorithm::HighestPreference}));
    EXPECT_EQ(elected(100,
                      {{.originator = kQ1, .offer = lowest(500)},
                       {.originator = kQ2, .offer = lowest(500, mark)}})
                  .forwarder,
              kQ2);
}

TEST(DfElection, AmongEqualsTheLowerAddressWins) {
    EXPECT_EQ(elected(100, all_with(highest(500), {kQ2, kQ1})).forwarder, kQ1);        // P3
    EXPECT_EQ(elected(100, all_with(highest(500), {kV6, ip("192.0.2.9")})).forwarder,  // P4
              ip("192.0.2.9"));
}

TEST(DfElection, LeavesThatDisagreeFallBackToModulus) {
    const std::vector<DfOffer> others{DfOffer{}, lowest(300), kHrw, highest(100, 0x4000)};
    for (const DfOffer& other : others) {  // P5, P7
        const std::vector<DfCandidate> candidates{{.originator = kQ1, .offer = highest(100)},
                                                  {.originator = kQ2, .offer = other}};

        EXPECT_EQ(elected(100, candidates),
                  (DfResult{.forwarder = kQ1, .backup = kQ2, .fell_back = true}));
        EXPECT_EQ(elected(101, candidates),
                  (DfResult{.forwarder = kQ2, .backup = kQ1, .fell_back = true}));
    }
}

TEST(DfElection, DontPreemptIsNoDisagreement) {
    const DfResult result =  // P6, in RFC 9785's reading.
        elected(101,
                {{.originator = kQ1, .offer = highest(200)},
                 {.originator = kQ2, .offer = highest(100, DfOffer::kDontPreempt)}});

    EXPECT_FALSE(result.fell_back);
    EXPECT_EQ(result.forwarder, kQ1);
}

TEST(DfElection, AnAlgorithmThatNobodyKnowsFallsBack) {
    EXPECT_EQ(elected(101, all_with({.algorithm = 31}, {kQ1, kQ2})),
              (DfResult{.forwarder = kQ2, .backup = kQ1, .fell_back = true}));
}

TEST(DfElection, BackupIsElectedByTheSameRules) {
    // Without the forwarder the others would agree, but they had not when it was elected.
    const DfResult result = elected(99,
                                    {{.originator = kQ1, .offer = kHrw},
                                     {.originator = kQ2, .offer = highest(100)},
                                     {.originator = kQ3, .offer = highest(200)}});

    EXPECT_EQ(result, (DfResult{.forwarder = kQ1, .backup = kQ3, .fell_back = true}));
}

TEST(DfElection, OrderOfArrivalDoesNotMatter) {
    std::vector<DfCandidate> candidates = p1(highest(7), highest(7, 0x8000), highest(7, 0x8000));
    std::ranges::sort(candidates, [](const DfCandidate& a, const DfCandidate& b) {
        return a.originator < b.originator;
    });
    const DfResult first = elected(100, candidates);
    const auto by_address = [](const DfCandidate& a, const DfCandidate& b) {
        return a.originator < b.originator;
    };
    while (std::next_permutation(candidates.begin(), candidates.end(), by_address)) {
        EXPECT_EQ(elected(100, candidates), first);
    }
    EXPECT_EQ(first.forwarder, kQ2);
}

TEST(DfElection, OfOneLeafHasNoBackup) {
    EXPECT_EQ(elected(100, all_with(highest(1), {kQ1})),
              (DfResult{.forwarder = kQ1, .algorithm = DfAlgorithm::HighestPreference}));
    EXPECT_EQ(elected(100, {}), DfResult{});
}

// --- AC-DF. ---

TEST(DfElection, AcInfluenceDropsLeavesWithoutTheirRoutes) {
    const DfOffer first = highest(200, DfOffer::kAcInfluenced);
    const DfOffer second = highest(100, DfOffer::kAcInfluenced);
    const DfCandidate loser{.originator = kQ2, .offer = second};
    const DfResult moved{
        .forwarder = kQ2, .algorithm = DfAlgorithm::HighestPreference, .ac_influenced = true};

    EXPECT_EQ(elected(100, {{.originator = kQ1, .offer = first}, loser}).forwarder, kQ1);
    EXPECT_EQ(elected(100, {{.originator = kQ1, .offer = first, .has_tag_route = false}, loser}),
              moved);
    EXPECT_EQ(
        elected(100, {{.originator = kQ1, .offer = first, .has_segment_route = false}, loser}),
        moved);
}

TEST(DfElection, AcInfluenceMayLeaveNobody) {
    const DfResult result = elected(
        100,
        {{.originator = kQ1, .offer = {.bitmap = DfOffer::kAcInfluenced}, .has_tag_route = false}});

    EXPECT_EQ(result, DfResult{.ac_influenced = true});
}

TEST(DfElection, AcInfluenceCountsOnlyIfAllAgree) {
    const DfResult result = elected(101,
                                    {{.originator = kQ1, .offer = highest(200)},
                                     {.originator = kQ2,
                                      .offer = highest(100, DfOffer::kAcInfluenced),
                                      .has_tag_route = false}});

    EXPECT_EQ(result, (DfResult{.forwarder = kQ2, .backup = kQ1, .fell_back = true}));
}

// --- Coming back without preempting. ---

TEST(DfElection, AReturningLeafTakesThePreferenceOfTheOneThatLeads) {
    const DfOffer configured = highest(300, DfOffer::kDontPreempt);
    const std::vector<DfCandidate> others{
        {.originator = kQ2, .offer = highest(400, DfOffer::kDontPreempt)},
        {.originator = kQ3, .offer = highest(300, DfOffer::kDontPreempt)}};

    const DfOffer offer = offer_on_return(configured, others);

    EXPECT_EQ(offer, highest(400));
    auto all = others;
    all.push_back({.originator = kQ1, .offer = offer});
    EXPECT_EQ(elected(100, all).forwarder, kQ2) << "although its address is the lowest";
}

TEST(DfElection, AReturningLeafGivesWayToItsEqual) {
    const std::vector<DfCandidate> equal{
        {.originator = kQ2, .offer = lowest(300, DfOffer::kDontPreempt)}};

    EXPECT_EQ(offer_on_return(lowest(300, DfOffer::kDontPreempt), equal), lowest(300));
}

TEST(DfElection, AReturningLeafThatIsBetterStands) {
    const DfOffer high = highest(500, DfOffer::kDontPreempt);
    const DfOffer low = lowest(100, DfOffer::kDontPreempt);

    EXPECT_EQ(
        offer_on_return(
            high, std::vector<DfCandidate>{{.originator = kQ2, .offer = highest(400, 0x8000)}}),
        high);
    EXPECT_EQ(offer_on_return(
                  low, std::vector<DfCandidate>{{.originator = kQ2, .offer = lowest(400, 0x8000)}}),
              low);
}

TEST(DfElection, AReturningLeafLooksOnlyAtThoseThatDoNotPreemptEither) {
    const DfOffer configured = highest(300, DfOffer::kDontPreempt);
    const std::vector<DfCandidate> others{{.originator = kQ2, .offer = highest(400)}};

    EXPECT_EQ(offer_on_return(configured, others), configured);
    EXPECT_EQ(offer_on_return(configured, {}), configured);
}

TEST(DfElection, OnlyPreferenceKnowsNotToPreempt) {
    const std::vector<DfCandidate> others{
        {.originator = kQ2, .offer = highest(400, DfOffer::kDontPreempt)}};
    const DfOffer hrw{.algorithm = 1, .bitmap = DfOffer::kDontPreempt};

    EXPECT_EQ(offer_on_return(hrw, others), hrw);
    EXPECT_EQ(offer_on_return(highest(300), others), highest(300)) << "not configured";
}

}  // namespace
}  // namespace planed::evpn
