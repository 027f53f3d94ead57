// SPDX-License-Identifier: Apache-2.0
#include "config/route_target.hpp"

#include <charconv>
#include <cstdint>
#include <optional>

#include <fmt/core.h>

#include "config/checks.hpp"

namespace planed::config {
namespace {

constexpr std::uint32_t kTwoOctets = 0xFFFF;

std::optional<std::uint32_t> decimal(std::string_view digits) {
    std::uint32_t number = 0;
    const char* end = digits.data() + digits.size();
    const auto parsed = std::from_chars(digits.data(), end, number);
    const bool padded = digits.size() > 1 && digits.front() == '0';
    const bool whole = parsed.ec == std::errc{} && parsed.ptr == end && !padded;
    return whole ? std::optional(number) : std::nullopt;
}

// What is written, be it possible or not.
std::optional<RouteTargetConfig> split(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view owner = text.substr(0, colon);
    const auto number = decimal(text.substr(colon + 1));
    const auto as = decimal(owner);
    const auto address = IpAddress::parse(owner);
    if (!number || !(as || (address && address->is_v4()))) {
        return std::nullopt;
    }
    return RouteTargetConfig{.address = address, .as = as.value_or(0), .number = *number};
}

Problem owner_problem(const RouteTargetConfig& target) {
    if (!target.address) {
        return as_number_problem(target.as);
    }
    const std::string address = target.address->to_string();
    if (target.address->is_unspecified()) {
        return address + " names nobody";
    }
    return target.address->is_multicast() ? Problem(address + " is a multicast address")
                                          : std::nullopt;
}

}  // namespace

Result<RouteTargetConfig> parse_route_target(std::string_view text) {
    const auto target = split(text);
    if (!target) {
        return fail(Errc::Invalid,
                    fmt::format("must be a route target such as 65000:100 or 10.66.0.1:100, not {}",
                                quoted(text)));
    }
    if (const Problem problem = owner_problem(*target)) {
        return fail(Errc::Invalid, *problem);
    }
    if (target->number > kTwoOctets && (target->address || target->as > kTwoOctets)) {
        return fail(Errc::Invalid,
                    fmt::format("after {} the number goes up to {}, not {} ({})",
                                target->address ? "an address" : "an AS above 65535",
                                kTwoOctets,
                                target->number,
                                target->address ? "RFC 4360 3.2" : "RFC 5668 2"));
    }
    return *target;
}

std::string format_route_target(const RouteTargetConfig& target) {
    return target.address ? fmt::format("{}:{}", target.address->to_string(), target.number)
                          : fmt::format("{}:{}", target.as, target.number);
}

}  // namespace planed::config
