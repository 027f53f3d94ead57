// SPDX-License-Identifier: Apache-2.0
// Reads tests/vectors/zapi: bytes that real zebras took or sent.
#pragma once

#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "zapi/codec.hpp"
#include "zapi/dialect.hpp"

namespace planed::zapi {

/// Hex digits, spaces ignored.
inline Bytes from_hex(std::string_view text) {
    std::string digits;
    for (const char c : text) {
        if (c != ' ') {
            digits.push_back(c);
        }
    }
    Bytes bytes;
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
        bytes.push_back(static_cast<std::uint8_t>(std::stoul(digits.substr(i, 2), nullptr, 16)));
    }
    return bytes;
}

struct Vector {
    std::string origin;  // "planed", or "zebra 10.3".
    std::string name;
    Bytes bytes;
};

inline std::vector<Vector> load_vectors(WireFamily family) {
    const std::string path = std::string(PLANED_TESTS_DIR) + "/vectors/zapi/family_" +
                             static_cast<char>('a' + static_cast<int>(family)) + ".txt";
    std::ifstream file(path);
    if (!file) {
        throw std::runtime_error("cannot read " + path);
    }
    std::vector<Vector> result;
    for (std::string line; std::getline(file, line);) {
        const auto first = line.find(" | ");
        const auto second = line.find(" | ", first + 3);
        if (line.starts_with('#') || second == std::string::npos) {
            continue;
        }
        result.push_back({.origin = line.substr(0, first),
                          .name = line.substr(first + 3, second - first - 3),
                          .bytes = from_hex(line.substr(second + 3))});
    }
    return result;
}

/// The only message in `bytes`, which must outlive it.
inline Frame frame_of(std::span<const std::uint8_t> bytes) {
    const auto header = decode_header(bytes);
    if (!header || header->length != bytes.size()) {
        throw std::runtime_error("not exactly one message");
    }
    return {.header = *header, .body = bytes.subspan(kHeaderSize)};
}

}  // namespace planed::zapi
