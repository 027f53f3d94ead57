// SPDX-License-Identifier: Apache-2.0
#include "prefix_guard/prefixes.hpp"

#include <algorithm>
#include <charconv>

#include <arpa/inet.h>

namespace prefix_guard {
namespace {

constexpr std::string_view kSeparators = ", \t\n";

std::optional<Prefix> parse_one(const std::string& text) {
    const std::size_t slash = text.find('/');
    const std::string address = text.substr(0, slash);
    Prefix prefix{.text = text};
    prefix.v4 = address.find(':') == std::string::npos;
    if (::inet_pton(prefix.v4 ? AF_INET : AF_INET6, address.c_str(), prefix.bytes.data()) != 1) {
        return std::nullopt;
    }
    const unsigned longest = prefix.v4 ? 32 : 128;
    prefix.length = longest;
    if (slash != std::string::npos) {
        const char* end = text.data() + text.size();
        const auto read = std::from_chars(text.data() + slash + 1, end, prefix.length);
        if (read.ec != std::errc{} || read.ptr != end || prefix.length > longest) {
            return std::nullopt;
        }
    }
    return prefix;
}

}  // namespace

bool Prefix::contains(bool is_v4, const Bytes& address) const {
    if (is_v4 != v4) {
        return false;
    }
    const std::size_t whole = length / 8;
    const unsigned rest = length % 8;
    const auto end = bytes.begin() + static_cast<std::ptrdiff_t>(whole);
    if (!std::equal(bytes.begin(), end, address.begin())) {
        return false;
    }
    const unsigned mask = 0xFFU & (0xFFU << (8 - rest));
    return rest == 0 || ((bytes[whole] ^ address[whole]) & mask) == 0;
}

std::optional<Prefixes> Prefixes::parse(std::string_view text, std::string& wrong) {
    Prefixes prefixes;
    while (true) {
        const std::size_t begin = text.find_first_not_of(kSeparators);
        if (begin == std::string_view::npos) {
            return prefixes;
        }
        text.remove_prefix(begin);
        const std::string word(text.substr(0, text.find_first_of(kSeparators)));
        text.remove_prefix(word.size());
        auto prefix = parse_one(word);
        if (!prefix) {
            wrong = "\"" + word + "\" is no prefix";
            return std::nullopt;
        }
        prefixes.list_.push_back(std::move(*prefix));
    }
}

const Prefix* Prefixes::find(bool is_v4, const Bytes& address) const {
    const auto found = std::ranges::find_if(
        list_, [&](const Prefix& prefix) { return prefix.contains(is_v4, address); });
    return found == list_.end() ? nullptr : &*found;
}

}  // namespace prefix_guard
