// SPDX-License-Identifier: Apache-2.0
// Reads tests/vectors: bytes that real speakers sent or took. A line: who sent it | name | bytes.
#pragma once

#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace planed::test {

/// Hex digits, spaces ignored.
inline std::vector<std::uint8_t> from_hex(std::string_view text) {
    std::string digits;
    for (const char c : text) {
        if (c != ' ') {
            digits.push_back(c);
        }
    }
    std::vector<std::uint8_t> bytes;
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
        bytes.push_back(static_cast<std::uint8_t>(std::stoul(digits.substr(i, 2), nullptr, 16)));
    }
    return bytes;
}

struct Vector {
    std::string origin;  // "zebra 10.3", "gobgp 3.10"; "planed" or "speaker" for our own.
    std::string name;
    std::vector<std::uint8_t> bytes;  // A whole message.
};

/// All of `file`, a path below tests/vectors.
inline std::vector<Vector> load_vectors(const std::string& file) {
    const std::string path = std::string(PLANED_TESTS_DIR) + "/vectors/" + file;
    std::ifstream stream(path);
    if (!stream) {
        throw std::runtime_error("cannot read " + path);
    }
    std::vector<Vector> result;
    for (std::string line; std::getline(stream, line);) {
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

}  // namespace planed::test
