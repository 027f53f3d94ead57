// SPDX-License-Identifier: Apache-2.0
#include "config/checks.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include <fmt/core.h>
#include <fmt/format.h>

#include "config/match.hpp"
#include "config/suggest.hpp"

namespace planed::config {
namespace {

constexpr std::size_t kPathMax = 4095;       // PATH_MAX without its terminator, linux/limits.h.
constexpr std::size_t kSocketPathMax = 107;  // sun_path without its terminator, unix(7).
constexpr std::string_view kSpace = " \t\n\v\f\r";

bool has_space(std::string_view text) {
    return text.find_first_of(kSpace) != std::string_view::npos;
}

Problem longer_than(std::string_view text, std::size_t max) {
    if (text.size() <= max) {
        return std::nullopt;
    }
    return fmt::format("is {} characters long; {} fit", text.size(), max);
}

bool is_port(std::string_view text) {
    std::uint16_t port = 0;
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, port);
    return parsed.ec == std::errc{} && parsed.ptr == end && port != 0 && text.front() != '0';
}

struct HostPort {
    std::string_view host;
    std::string_view port;
    bool bracketed = false;
};

// "10.0.0.5:80", "[fd00::5]:80": nullopt where the last colon does not part them.
std::optional<HostPort> split_host_port(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) {
        return std::nullopt;
    }
    HostPort parts{.host = text.substr(0, colon), .port = text.substr(colon + 1)};
    if (parts.host.size() > 2 && parts.host.front() == '[' && parts.host.back() == ']') {
        parts.host = parts.host.substr(1, parts.host.size() - 2);
        parts.bracketed = true;
    }
    return is_port(parts.port) ? std::optional(parts) : std::nullopt;
}

bool is_bracketed_right(const HostPort& parts, const IpAddress& address) {
    return parts.bracketed == !address.is_v4();
}

// Of "10.0.0.5:80" or "[fd00::5]:80".
std::optional<IpAddress> tcp_address(std::string_view text) {
    const auto parts = split_host_port(text);
    const auto address = parts ? IpAddress::parse(parts->host) : std::nullopt;
    return address && is_bracketed_right(*parts, *address) ? address : std::nullopt;
}

bool is_host_name(std::string_view text) {
    constexpr std::size_t kHostNameMax = 253;  // RFC 1123 2.1, RFC 1035 2.3.4.
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '.' || c == '_';
    };
    return !text.empty() && text.size() <= kHostNameMax &&
           std::all_of(text.begin(), text.end(), allowed);
}

std::string quoted_choices(std::string_view problem, std::string_view text) {
    return fmt::format("{}, not {}", problem, quoted(text));
}

}  // namespace

std::string quoted(std::string_view text) {
    constexpr std::size_t kShown = 60;
    std::string result = "\"";
    for (const char c : text.substr(0, kShown)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte >= 0x7F) {
            result += fmt::format("\\x{:02x}", byte);
        } else {
            result += c;
        }
    }
    return result + (text.size() > kShown ? "…\"" : "\"");
}

Problem check_any(std::string_view) {
    return std::nullopt;
}

Problem check_node_name(std::string_view text) {
    constexpr std::size_t kNodeNameMax = 255;
    if (has_space(text)) {
        return "must be one word, without spaces";
    }
    return longer_than(text, kNodeNameMax);
}

Problem check_label(std::string_view text) {
    constexpr std::size_t kLabelMax = 64;
    return longer_than(text, kLabelMax);
}

Problem check_path(std::string_view text) {
    if (text.empty() || text.front() != '/') {
        return quoted_choices("must be an absolute path", text);
    }
    return longer_than(text, kPathMax);
}

Problem check_path_or_empty(std::string_view text) {
    return text.empty() ? std::nullopt : check_path(text);
}

Problem check_socket_path(std::string_view text) {
    const Problem problem = check_path(text);
    return problem ? problem : longer_than(text, kSocketPathMax);
}

Problem check_interface_name(std::string_view text) {
    if (text.empty()) {
        return "must name an interface";
    }
    if (text == "." || text == ".." || text.find_first_of("/:") != std::string_view::npos ||
        has_space(text)) {
        return quoted_choices("must be an interface name, which has no space, / or :", text);
    }
    if (is_glob(text)) {
        return quoted_choices("must be one interface's name, not a glob", text);
    }
    if (text.size() > kInterfaceNameMax) {
        return fmt::format("{} is {} characters long; an interface name has at most {}",
                           quoted(text),
                           text.size(),
                           kInterfaceNameMax);
    }
    return std::nullopt;
}

Problem check_port_or_empty(std::string_view text) {
    return text.empty() ? std::nullopt : check_interface_name(text);
}

Problem check_interface_pattern(std::string_view text) {
    if (!is_glob(text)) {
        return check_interface_name(text);
    }
    if (text.size() > kGlobMax) {
        return longer_than(text, kGlobMax);
    }
    if (text.find_first_of("/:") != std::string_view::npos && !glob_problem(text)) {
        return quoted_choices("must be a glob for interface names, which have no / or :", text);
    }
    if (has_space(text)) {
        return quoted_choices("must be a glob for interface names, which have no space", text);
    }
    if (const auto problem = glob_problem(text)) {
        return fmt::format("{} {}", quoted(text), *problem);
    }
    if (specificity(text).positions > kInterfaceNameMax) {
        return fmt::format("{} can match nothing: an interface name has at most {} characters",
                           quoted(text),
                           kInterfaceNameMax);
    }
    return std::nullopt;
}

Problem check_frr_release(std::string_view text) {
    const auto known = std::find(kFrrReleases.begin(), kFrrReleases.end(), text);
    if (text == "auto" || known != kFrrReleases.end()) {
        return std::nullopt;
    }
    std::string more;
    for (const std::string_view release : kFrrReleases) {
        // "10.3.1": within a release nothing of the dialect changes.
        if (text.starts_with(release) && text.substr(release.size()).starts_with('.')) {
            more = fmt::format(" (did you mean {}?)", release);
        }
    }
    return fmt::format(
        "must be auto or one of {}, not {}{}", fmt::join(kFrrReleases, ", "), quoted(text), more);
}

Problem check_redis_endpoint(std::string_view text) {
    constexpr std::string_view kUnix = "unix:";
    constexpr std::string_view kTcp = "tcp:";
    if (text == "auto" || text == "off") {
        return std::nullopt;
    }
    if (text.starts_with(kUnix)) {
        return check_socket_path(text.substr(kUnix.size()));
    }
    if (text.starts_with(kTcp)) {
        const auto parts = split_host_port(text.substr(kTcp.size()));
        if (parts) {
            const auto address = IpAddress::parse(parts->host);
            const bool named = !parts->bracketed && is_host_name(parts->host);
            if (address ? is_bracketed_right(*parts, *address) : named) {
                return std::nullopt;
            }
        }
    }
    return quoted_choices("must be auto, off, unix:PATH, tcp:HOST:PORT or tcp:[ADDRESS]:PORT",
                          text);
}

Problem check_listen_address(std::string_view text) {
    constexpr std::string_view kUnix = "unix:";
    if (text.starts_with(kUnix)) {
        return check_socket_path(text.substr(kUnix.size()));
    }
    if (!tcp_address(text)) {
        return quoted_choices("must be unix:PATH, ADDRESS:PORT or [ADDRESS]:PORT", text);
    }
    return std::nullopt;
}

Problem check_tcp_address_or_empty(std::string_view text) {
    if (!text.empty() && !tcp_address(text)) {
        return quoted_choices("must be ADDRESS:PORT or [ADDRESS]:PORT", text);
    }
    return std::nullopt;
}

bool is_loopback(std::string_view listen_address) {
    const auto address = tcp_address(listen_address);
    return address && address->is_loopback();
}

Problem host_address_problem(const IpAddress& address) {
    if (address.is_unspecified()) {
        return "is the unspecified address";
    }
    if (address.is_multicast()) {
        return "is a multicast address";
    }
    if (address.is_link_local()) {
        return "is link-local, which is never routed";
    }
    if (address.is_loopback()) {
        return "is a loopback address";
    }
    if (address.is_reserved_v4()) {
        return "is in the reserved 240.0.0.0/4";
    }
    return std::nullopt;
}

Problem check_tcp_password(std::string_view text) {
    constexpr std::size_t kKeyMax = 80;  // TCP_MD5SIG_MAXKEYLEN
    return longer_than(text, kKeyMax);
}

Problem bgp_listen_problem(const IpAddress& address) {
    if (address.is_multicast()) {
        return "is a multicast address";
    }
    if (!address.is_v4() && address.is_link_local()) {
        return "is link-local: it does not say on which interface";
    }
    if (address.is_reserved_v4()) {
        return "is in the reserved 240.0.0.0/4";
    }
    return std::nullopt;
}

Problem peer_address_problem(const IpAddress& address) {
    return address.is_unspecified() ? Problem("is the unspecified address")
                                    : bgp_listen_problem(address);
}

Problem router_id_problem(const IpAddress& address) {
    if (!address.is_v4()) {
        return "is no IPv4 address";
    }
    return address.is_unspecified() ? Problem("names nobody") : std::nullopt;
}

Problem as_number_problem(std::uint32_t number) {
    switch (number) {
        case 0: return "0 is no AS number";  // RFC 7607
        case 23456: return "23456 stands for other AS numbers (RFC 6793)";
        case 65535:
        case 0xFFFFFFFF: return fmt::format("{} is reserved (RFC 7300)", number);
        default: return std::nullopt;
    }
}

}  // namespace planed::config
