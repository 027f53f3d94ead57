// SPDX-License-Identifier: Apache-2.0
#include "net/mac_address.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/core.h>

namespace planed {

std::optional<MacAddress> MacAddress::parse(std::string_view text) {
    constexpr std::size_t kTextLength = 17;
    if (text.size() != kTextLength) {
        return std::nullopt;
    }
    Bytes bytes{};
    for (std::size_t i = 0; i < kSize; ++i) {
        const char* first = text.data() + i * 3;
        const auto [end, error] = std::from_chars(first, first + 2, bytes[i], 16);
        const bool separated = i + 1 == kSize || first[2] == ':';
        if (error != std::errc{} || end != first + 2 || !separated) {
            return std::nullopt;
        }
    }
    return MacAddress(bytes);
}

std::optional<MacAddress> MacAddress::from_bytes(std::span<const std::uint8_t> bytes) {
    if (bytes.size() != kSize) {
        return std::nullopt;
    }
    Bytes copy{};
    std::copy(bytes.begin(), bytes.end(), copy.begin());
    return MacAddress(copy);
}

std::string MacAddress::to_string() const {
    return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}",
                       bytes_[0],
                       bytes_[1],
                       bytes_[2],
                       bytes_[3],
                       bytes_[4],
                       bytes_[5]);
}

}  // namespace planed
