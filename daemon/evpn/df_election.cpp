// SPDX-License-Identifier: Apache-2.0
#include "evpn/df_election.hpp"

#include <algorithm>
#include <array>

#include "evpn/crc32.hpp"
#include "net/big_endian.hpp"

namespace planed::evpn {
namespace {

constexpr std::uint32_t kLow31 = 0x7FFF'FFFF;

std::optional<DfAlgorithm> known(std::uint8_t algorithm) {
    constexpr auto kLast = static_cast<std::uint8_t>(DfAlgorithm::LowestPreference);
    return algorithm <= kLast ? std::optional(static_cast<DfAlgorithm>(algorithm)) : std::nullopt;
}

std::uint16_t compared_bits(const DfOffer& offer) {
    return static_cast<std::uint16_t>(offer.bitmap & ~DfOffer::kDontPreempt);
}

struct Rules {
    DfAlgorithm algorithm = DfAlgorithm::Modulus;
    bool ac_influenced = false;
    bool fell_back = false;
};

Rules rules_of(std::span<const DfCandidate> candidates) {
    if (candidates.empty()) {
        return {};
    }
    const DfOffer& first = candidates.front().offer;
    const bool agree = std::ranges::all_of(candidates, [&first](const DfCandidate& candidate) {
        return candidate.offer.algorithm == first.algorithm &&
               compared_bits(candidate.offer) == compared_bits(first);
    });
    const auto algorithm = known(first.algorithm);
    if (!agree || !algorithm) {
        return {.fell_back = true};
    }
    return {.algorithm = *algorithm, .ac_influenced = (first.bitmap & DfOffer::kAcInfluenced) != 0};
}

bool dont_preempt(const DfCandidate& candidate) {
    return (candidate.offer.bitmap & DfOffer::kDontPreempt) != 0;
}

/// Preference, then don't-preempt, then the lowest address (RFC 9785 4.1).
bool is_preferred(const DfCandidate& a, const DfCandidate& b, DfAlgorithm algorithm) {
    if (a.offer.preference != b.offer.preference) {
        const bool higher = a.offer.preference > b.offer.preference;
        return algorithm == DfAlgorithm::HighestPreference ? higher : !higher;
    }
    if (dont_preempt(a) != dont_preempt(b)) {
        return dont_preempt(a);
    }
    return goes_before(a.originator, b.originator);
}

/// The heavier one, the lower address where both weigh the same.
bool weighs_more(const DfElection& election, const DfCandidate& a, const DfCandidate& b) {
    const std::uint32_t of_a = hrw_weight(election.esi, election.tag, a.originator);
    const std::uint32_t of_b = hrw_weight(election.esi, election.tag, b.originator);
    return of_a != of_b ? of_a > of_b : goes_before(a.originator, b.originator);
}

/// Of `candidates`, in their order; there is at least one.
const DfCandidate& winner(const DfElection& election,
                          DfAlgorithm algorithm,
                          std::span<const DfCandidate> candidates) {
    switch (algorithm) {
        case DfAlgorithm::Modulus: return candidates[election.tag % candidates.size()];
        case DfAlgorithm::Hrw:
            return *std::ranges::min_element(candidates,
                                             [&](const DfCandidate& a, const DfCandidate& b) {
                                                 return weighs_more(election, a, b);
                                             });
        case DfAlgorithm::HighestPreference:
        case DfAlgorithm::LowestPreference:
            return *std::ranges::min_element(candidates,
                                             [&](const DfCandidate& a, const DfCandidate& b) {
                                                 return is_preferred(a, b, algorithm);
                                             });
    }
    return candidates.front();
}

}  // namespace

std::string_view name_of(DfAlgorithm algorithm) {
    switch (algorithm) {
        case DfAlgorithm::Modulus: return "modulus";
        case DfAlgorithm::Hrw: return "hrw";
        case DfAlgorithm::HighestPreference: return "highest_preference";
        case DfAlgorithm::LowestPreference: return "lowest_preference";
    }
    return "?";
}

bool goes_before(const IpAddress& a, const IpAddress& b) {
    return a < b;  // Family first, IPv4 the lower, then the octets.
}

std::uint32_t hrw_weight(const Esi& esi, std::uint32_t tag, const IpAddress& originator) {
    constexpr std::uint32_t kFactor = 1103515245;
    constexpr std::uint32_t kSummand = 12345;
    std::array<std::uint8_t, sizeof tag + Esi::kSize> input{};
    for (std::size_t i = 0; i < sizeof tag; ++i) {
        input[i] = static_cast<std::uint8_t>(tag >> (8 * (sizeof tag - 1 - i)) & 0xFFU);
    }
    std::ranges::copy(esi.octets(), input.begin() + sizeof tag);
    const std::uint32_t digest = crc32(input) & kLow31;
    const auto address = originator.bytes().last(sizeof(std::uint32_t));
    const auto low = static_cast<std::uint32_t>(big_endian<sizeof(std::uint32_t)>(address.data()));
    // Modulo 2^31, which 32 bits that wrap around give exactly.
    return (kFactor * ((kFactor * low + kSummand) ^ digest) + kSummand) & kLow31;
}

DfResult elect(const DfElection& election) {
    std::vector<DfCandidate> candidates = election.candidates;
    const Rules rules = rules_of(candidates);
    if (rules.ac_influenced) {
        std::erase_if(candidates, [](const DfCandidate& candidate) {
            return !candidate.has_segment_route || !candidate.has_tag_route;
        });
    }
    std::ranges::sort(candidates, [](const DfCandidate& a, const DfCandidate& b) {
        return goes_before(a.originator, b.originator);
    });
    DfResult result{.algorithm = rules.algorithm,
                    .fell_back = rules.fell_back,
                    .ac_influenced = rules.ac_influenced};
    if (candidates.empty()) {
        return result;
    }
    result.forwarder = winner(election, rules.algorithm, candidates).originator;
    std::erase_if(candidates, [&result](const DfCandidate& candidate) {
        return candidate.originator == *result.forwarder;
    });
    if (!candidates.empty()) {
        result.backup = winner(election, rules.algorithm, candidates).originator;
    }
    return result;
}

DfOffer offer_on_return(const DfOffer& configured, std::span<const DfCandidate> others) {
    const auto algorithm = known(configured.algorithm);
    const bool by_preference =
        algorithm == DfAlgorithm::HighestPreference || algorithm == DfAlgorithm::LowestPreference;
    if (!by_preference || (configured.bitmap & DfOffer::kDontPreempt) == 0) {
        return configured;
    }
    const DfCandidate* leader = nullptr;
    for (const DfCandidate& other : others) {
        if (dont_preempt(other) &&
            (leader == nullptr || is_preferred(other, *leader, *algorithm))) {
            leader = &other;
        }
    }
    if (leader == nullptr) {
        return configured;
    }
    const std::uint16_t theirs = leader->offer.preference;
    const bool keeps_it = algorithm == DfAlgorithm::HighestPreference
                              ? theirs >= configured.preference
                              : theirs <= configured.preference;
    if (!keeps_it) {
        return configured;
    }
    return {.algorithm = configured.algorithm,
            .bitmap = compared_bits(configured),
            .preference = theirs};
}

}  // namespace planed::evpn
