// SPDX-License-Identifier: Apache-2.0
#include "net/ip_address.hpp"

#include <algorithm>

#include <arpa/inet.h>

namespace planed {

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
    const std::string terminated(text);
    if (terminated.find('\0') != std::string::npos) {
        return std::nullopt;
    }
    IpAddress address;
    if (::inet_pton(AF_INET, terminated.c_str(), address.bytes_.data()) == 1) {
        return address;
    }
    address.family_ = Family::V6;
    address.bytes_ = {};
    if (::inet_pton(AF_INET6, terminated.c_str(), address.bytes_.data()) == 1) {
        return address;
    }
    return std::nullopt;
}

std::optional<IpAddress> IpAddress::from_bytes(Family family, std::span<const std::uint8_t> bytes) {
    IpAddress address;
    address.family_ = family;
    if (bytes.size() != address.bytes().size()) {
        return std::nullopt;
    }
    std::copy(bytes.begin(), bytes.end(), address.bytes_.begin());
    return address;
}

std::string IpAddress::to_string() const {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const int family = is_v4() ? AF_INET : AF_INET6;
    return ::inet_ntop(family, bytes_.data(), text.data(), text.size());
}

}  // namespace planed
