// SPDX-License-Identifier: Apache-2.0
#include "zapi/dialect.hpp"

#include <charconv>

#include "net/assert.hpp"

namespace planed::zapi {

namespace {

constexpr Commands kCommandsA{
    .hello = 18,
    .capabilities = 19,
    .client_capabilities = 119,
    .error = 118,
    .route_add = 8,
    .route_delete = 9,
    .route_notify_owner = 10,
    .route_notify_request = 124,
    .redistribute_add = 11,
    .redistribute_delete = 12,
    .redistribute_route_add = 30,
    .redistribute_route_del = 31,
    .client_close_notify = 125,
};

constexpr Commands kCommandsB{
    .hello = 18,
    .capabilities = 19,
    .client_capabilities = 118,
    .error = 117,
    .route_add = 8,
    .route_delete = 9,
    .route_notify_owner = 10,
    .route_notify_request = 123,
    .redistribute_add = 11,
    .redistribute_delete = 12,
    .redistribute_route_add = 30,
    .redistribute_route_del = 31,
    .client_close_notify = 124,
};

constexpr Commands kCommandsC{
    .hello = 19,
    .capabilities = 20,
    .client_capabilities = 119,
    .error = 118,
    .route_add = 9,
    .route_delete = 10,
    .route_notify_owner = 11,
    .route_notify_request = 124,
    .redistribute_add = 12,
    .redistribute_delete = 13,
    .redistribute_route_add = 31,
    .redistribute_route_del = 32,
    .client_close_notify = 125,
};

constexpr Commands kCommandsD{
    .hello = 19,
    .capabilities = 20,
    .client_capabilities = 121,
    .error = 120,
    .route_add = 9,
    .route_delete = 10,
    .route_notify_owner = 11,
    .route_notify_request = 126,
    .redistribute_add = 12,
    .redistribute_delete = 13,
    .redistribute_route_add = 31,
    .redistribute_route_del = 32,
    .client_close_notify = 127,
};

struct Release {
    unsigned major = 0;
    unsigned minor = 0;
};

std::optional<Release> parse_release(std::string_view text) {
    Release release;
    const char* const end = text.data() + text.size();
    const auto major = std::from_chars(text.data(), end, release.major);
    if (major.ec != std::errc{} || major.ptr == end || *major.ptr != '.') {
        return std::nullopt;
    }
    const auto minor = std::from_chars(major.ptr + 1, end, release.minor);
    if (minor.ec != std::errc{}) {
        return std::nullopt;
    }
    // What may follow: ".4" of 8.4.4, "-dev", "+deb", "~rc1".
    if (minor.ptr != end && std::string_view(".-+~_").find(*minor.ptr) == std::string_view::npos) {
        return std::nullopt;
    }
    return release;
}

}  // namespace

std::string_view name_of(WireFamily family) {
    switch (family) {
        case WireFamily::A: return "A";
        case WireFamily::B: return "B";
        case WireFamily::C: return "C";
        case WireFamily::D: return "D";
    }
    PLANED_ASSERT(false);
}

std::optional<WireFamily> family_named(std::string_view name) {
    for (const WireFamily family : kWireFamilies) {
        if (name_of(family) == name) {
            return family;
        }
    }
    return std::nullopt;
}

std::string_view releases_of(WireFamily family) {
    switch (family) {
        case WireFamily::A: return "FRR 8.4 to 9.0";
        case WireFamily::B: return "FRR 9.1";
        case WireFamily::C: return "FRR 10.0 or 10.1";
        case WireFamily::D: return "FRR 10.2 or later";
    }
    PLANED_ASSERT(false);
}

std::optional<WireFamily> family_of_release(std::string_view release) {
    const auto parsed = parse_release(release);
    if (!parsed) {
        return std::nullopt;
    }
    const auto [major, minor] = *parsed;
    if ((major == 8 && minor >= 4) || (major == 9 && minor == 0)) {
        return WireFamily::A;
    }
    if (major == 9 && minor == 1) {
        return WireFamily::B;
    }
    if (major == 10) {
        return minor < 2 ? WireFamily::C : WireFamily::D;
    }
    return std::nullopt;
}

const Commands& commands_of(WireFamily family) {
    switch (family) {
        case WireFamily::A: return kCommandsA;
        case WireFamily::B: return kCommandsB;
        case WireFamily::C: return kCommandsC;
        case WireFamily::D: return kCommandsD;
    }
    PLANED_ASSERT(false);
}

namespace {

// LOCAL came at 3 in 10.0: every later type is one more.
std::uint8_t type_number(unsigned before_10, WireFamily family) {
    const bool has_local = family == WireFamily::C || family == WireFamily::D;
    return static_cast<std::uint8_t>(before_10 + (has_local ? 1 : 0));
}

}  // namespace

std::uint8_t number_of(RouteType type, WireFamily family) {
    switch (type) {
        case RouteType::Babel: return type_number(22, family);
        case RouteType::Openfabric: return type_number(26, family);
        case RouteType::Table: return type_number(15, family);
        case RouteType::Sharp: return type_number(23, family);
    }
    PLANED_ASSERT(false);
}

std::uint8_t bgp_number(WireFamily family) {
    return type_number(9, family);
}

bool is_capabilities_length(WireFamily family, std::size_t length) {
    switch (family) {
        case WireFamily::A: return length == 20;
        case WireFamily::B: return length == 21;
        case WireFamily::C: return length == 21;
        case WireFamily::D: return length == 22 || length == 19;  // 19 from 10.6 on.
    }
    PLANED_ASSERT(false);
}

}  // namespace planed::zapi
