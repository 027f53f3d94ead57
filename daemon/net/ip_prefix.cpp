// SPDX-License-Identifier: Apache-2.0
#include "net/ip_prefix.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/core.h>

namespace planed {
namespace {

// The bits of byte `index` that belong to the network part.
std::uint8_t mask_byte(std::uint8_t length, std::size_t index) {
    const std::size_t start = index * 8;
    if (length >= start + 8) {
        return 0xFF;
    }
    if (length <= start) {
        return 0;
    }
    return static_cast<std::uint8_t>(0xFFU << (8 - (length - start)));
}

IpAddress with_host_bits(const IpPrefix& prefix, std::uint8_t fill) {
    IpAddress::Bytes bytes{};
    const auto source = prefix.address().bytes();
    for (std::size_t i = 0; i < source.size(); ++i) {
        const std::uint8_t mask = mask_byte(prefix.length(), i);
        bytes[i] = static_cast<std::uint8_t>((source[i] & mask) | (fill & ~mask));
    }
    return prefix.address().is_v4() ? IpAddress::v4(bytes[0], bytes[1], bytes[2], bytes[3])
                                    : IpAddress::v6(bytes);
}

}  // namespace

std::optional<IpPrefix> IpPrefix::parse(std::string_view text) {
    const std::size_t slash = text.find('/');
    const auto address = IpAddress::parse(text.substr(0, slash));
    if (!address) {
        return std::nullopt;
    }
    if (slash == std::string_view::npos) {
        return host_prefix(*address);
    }
    const std::string_view digits = text.substr(slash + 1);
    std::uint8_t length = 0;
    const char* end = digits.data() + digits.size();
    const auto parsed = std::from_chars(digits.data(), end, length);
    const bool padded = digits.size() > 1 && digits.front() == '0';  // Elsewhere that is octal.
    if (parsed.ec != std::errc{} || parsed.ptr != end || padded || length > address->bits()) {
        return std::nullopt;
    }
    return IpPrefix(*address, length);
}

bool IpPrefix::contains(const IpAddress& address) const {
    if (address.family() != address_.family()) {
        return false;
    }
    const auto ours = address_.bytes();
    const auto theirs = address.bytes();
    const std::size_t whole = length_ / 8;
    if (!std::equal(
            ours.begin(), ours.begin() + static_cast<std::ptrdiff_t>(whole), theirs.begin())) {
        return false;
    }
    const std::uint8_t mask = whole < ours.size() ? mask_byte(length_, whole) : 0;
    return mask == 0 || (ours[whole] & mask) == (theirs[whole] & mask);
}

IpPrefix IpPrefix::network() const {
    return {with_host_bits(*this, 0x00), length_};
}

IpAddress IpPrefix::last() const {
    return with_host_bits(*this, 0xFF);
}

std::optional<IpAddress> IpPrefix::broadcast() const {
    constexpr std::uint8_t kLongestWithBroadcast = 30;
    if (!address_.is_v4() || length_ > kLongestWithBroadcast) {
        return std::nullopt;
    }
    return last();
}

std::string IpPrefix::to_string() const {
    return fmt::format("{}/{}", address_.to_string(), length_);
}

}  // namespace planed
