// SPDX-License-Identifier: Apache-2.0
// A list of IPv4 and IPv6 prefixes, as a person writes it: "10.0.0.0/24, fd00::/64, 10.0.1.7".
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prefix_guard {

using Bytes = std::array<std::uint8_t, 16>;  // Of IPv4 the first four, the others are zero.

struct Prefix {
    bool v4 = false;
    Bytes bytes{};
    unsigned length = 0;
    std::string text;  // As it was written.

    [[nodiscard]] bool contains(bool is_v4, const Bytes& address) const;
};

class Prefixes {
public:
    /// Separated by commas or blanks. Nullopt: `wrong` says what is.
    static std::optional<Prefixes> parse(std::string_view text, std::string& wrong);

    [[nodiscard]] bool empty() const { return list_.empty(); }
    /// The first that contains it, or null.
    [[nodiscard]] const Prefix* find(bool is_v4, const Bytes& address) const;

private:
    std::vector<Prefix> list_;
};

}  // namespace prefix_guard
