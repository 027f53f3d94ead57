// SPDX-License-Identifier: Apache-2.0
#include "bgp/utf8.hpp"

#include <cstdint>

namespace planed::bgp {
namespace {

std::uint8_t octet(char c) {
    return static_cast<std::uint8_t>(c);
}

struct Form {
    std::size_t size;
    std::uint32_t least;  // Smaller values have a shorter form.
    std::uint8_t mask;    // The lead octet's bits of the value.
};

Form form_of(std::uint8_t lead) {
    if (lead < 0x80) {
        return {.size = 1, .least = 0, .mask = 0x7F};
    }
    if ((lead & 0xE0U) == 0xC0) {
        return {.size = 2, .least = 0x80, .mask = 0x1F};
    }
    if ((lead & 0xF0U) == 0xE0) {
        return {.size = 3, .least = 0x800, .mask = 0x0F};
    }
    if ((lead & 0xF8U) == 0xF0) {
        return {.size = 4, .least = 0x1'0000, .mask = 0x07};
    }
    return {.size = 0, .least = 0, .mask = 0};
}

struct Character {
    std::size_t size = 0;  // 0: not well formed.
    std::uint32_t value = 0;
};

Character first_character(std::string_view text) {
    constexpr std::uint32_t kLast = 0x10'FFFF;
    const Form form = form_of(octet(text.front()));
    if (form.size == 0 || form.size > text.size()) {
        return {};
    }
    std::uint32_t value = octet(text.front()) & form.mask;
    for (std::size_t i = 1; i < form.size; ++i) {
        if ((octet(text[i]) & 0xC0U) != 0x80) {
            return {};
        }
        value = value << 6U | (octet(text[i]) & 0x3FU);
    }
    const bool is_surrogate = value >= 0xD800 && value <= 0xDFFF;
    if (value < form.least || value > kLast || is_surrogate) {
        return {};
    }
    return {.size = form.size, .value = value};
}

bool is_control(std::uint32_t value) {
    return value < 0x20 || (value >= 0x7F && value < 0xA0);
}

}  // namespace

bool is_printable_utf8(std::string_view text) {
    while (!text.empty()) {
        const Character character = first_character(text);
        if (character.size == 0 || is_control(character.value)) {
            return false;
        }
        text.remove_prefix(character.size);
    }
    return true;
}

std::string_view utf8_prefix(std::string_view text, std::size_t most) {
    std::size_t size = 0;
    while (size < text.size()) {
        const Character character = first_character(text.substr(size));
        if (character.size == 0 || size + character.size > most) {
            break;
        }
        size += character.size;
    }
    return text.substr(0, size);
}

}  // namespace planed::bgp
