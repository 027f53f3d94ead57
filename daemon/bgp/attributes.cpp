// SPDX-License-Identifier: Apache-2.0
#include "bgp/attributes.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "net/ids.hpp"

namespace planed::bgp {

std::string_view name_of_attribute(std::uint8_t type) {
    switch (type) {
        case AttributeType::kOrigin: return "ORIGIN";
        case AttributeType::kAsPath: return "AS_PATH";
        case AttributeType::kNextHop: return "NEXT_HOP";
        case AttributeType::kMed: return "MULTI_EXIT_DISC";
        case AttributeType::kLocalPref: return "LOCAL_PREF";
        case AttributeType::kAtomicAggregate: return "ATOMIC_AGGREGATE";
        case AttributeType::kAggregator: return "AGGREGATOR";
        case AttributeType::kCommunities: return "COMMUNITIES";
        case AttributeType::kOriginatorId: return "ORIGINATOR_ID";
        case AttributeType::kClusterList: return "CLUSTER_LIST";
        case AttributeType::kMpReach: return "MP_REACH_NLRI";
        case AttributeType::kMpUnreach: return "MP_UNREACH_NLRI";
        case AttributeType::kExtendedCommunities: return "EXTENDED_COMMUNITIES";
        case AttributeType::kPmsiTunnel: return "PMSI_TUNNEL";
        default: return "attribute";
    }
}

std::string to_string(const std::vector<AsSegment>& as_path) {
    struct Brackets {
        std::string_view open{};
        std::string_view separator{};
        std::string_view close{};
    };
    const auto brackets = [](AsSegment::Kind kind) -> Brackets {
        switch (kind) {
            case AsSegment::Kind::Set: return {.open = "{", .separator = ",", .close = "}"};
            case AsSegment::Kind::Sequence: return {.open = "", .separator = " ", .close = ""};
            case AsSegment::Kind::ConfedSequence:
                return {.open = "(", .separator = " ", .close = ")"};
            case AsSegment::Kind::ConfedSet: return {.open = "[", .separator = ",", .close = "]"};
        }
        return {};
    };
    std::string text;
    for (const AsSegment& segment : as_path) {
        const Brackets around = brackets(segment.kind);
        text += text.empty() ? "" : " ";
        text += around.open;
        for (std::size_t i = 0; i < segment.numbers.size(); ++i) {
            text += i == 0 ? "" : around.separator;
            text += fmt::format("{}", number(segment.numbers[i]));
        }
        text += around.close;
    }
    return text;
}

bool passed_through(const Attributes& attributes, AsNumber as) {
    return std::ranges::any_of(attributes.as_path, [as](const AsSegment& segment) {
        return std::ranges::find(segment.numbers, as) != segment.numbers.end();
    });
}

}  // namespace planed::bgp
