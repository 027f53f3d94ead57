// SPDX-License-Identifier: Apache-2.0
#include "net/utf8.hpp"

#include <cstdint>

namespace planed {
namespace {

// What a first byte promises: bytes in all, its own bits, and the least code that needs so many.
struct Lead {
    std::size_t length = 0;  // 0: no character begins so.
    std::uint32_t bits = 0;
    std::uint32_t least = 0;
};

Lead lead_of(unsigned char byte) {
    if (byte < 0x80) {
        return {.length = 1, .bits = byte, .least = 1};
    }
    if (byte >= 0xC0 && byte < 0xE0) {
        return {.length = 2, .bits = byte & 0x1FU, .least = 0x80};
    }
    if (byte >= 0xE0 && byte < 0xF0) {
        return {.length = 3, .bits = byte & 0x0FU, .least = 0x800};
    }
    if (byte >= 0xF0 && byte < 0xF8) {
        return {.length = 4, .bits = byte & 0x07U, .least = 0x10000};
    }
    return {};
}

// The length of the character that the text begins with; 0 if it begins with none.
std::size_t character_length(std::string_view text) {
    const Lead lead = lead_of(static_cast<unsigned char>(text.front()));
    if (lead.length == 0 || lead.length > text.size()) {
        return 0;
    }
    std::uint32_t code = lead.bits;
    for (const char c : text.substr(1, lead.length - 1)) {
        const auto byte = static_cast<unsigned char>(c);
        if ((byte & 0xC0U) != 0x80U) {
            return 0;
        }
        code = (code << 6U) | (byte & 0x3FU);
    }
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    return code < lead.least || code > 0x10FFFF || surrogate ? 0 : lead.length;
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
    std::size_t valid = 0;
    while (valid < text.size()) {
        const std::size_t length = character_length(text.substr(valid));
        if (length == 0) {
            break;
        }
        valid += length;
    }
    return valid;
}

}  // namespace planed
