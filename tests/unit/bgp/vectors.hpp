// SPDX-License-Identifier: Apache-2.0
// Reads tests/vectors/bgp: messages that real speakers sent or took.
#pragma once

#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bgp/message.hpp"

namespace planed::bgp {

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
    std::string origin;  // "frr 8.4.4", "gobgp 3.10", or "speaker".
    std::string name;
    Bytes bytes;  // A whole message.
};

/// Of tests/vectors/bgp/FILE.txt.
inline std::vector<Vector> load_vectors(const std::string& file) {
    const std::string path = std::string(PLANED_TESTS_DIR) + "/vectors/bgp/" + file + ".txt";
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

/// The body of the only message in `bytes`, which must outlive it.
inline std::span<const std::uint8_t> body_of(std::span<const std::uint8_t> bytes) {
    const auto header = decode_header(bytes, kExtendedMessageMax);
    if (!header || header->length != bytes.size()) {
        throw std::runtime_error("not exactly one message");
    }
    return bytes.subspan(kHeaderSize);
}

/// A message around `body`.
inline Bytes message_of(MessageType type, std::span<const std::uint8_t> body) {
    Bytes out;
    {
        const MessageWriter message(type, out);
        out.insert(out.end(), body.begin(), body.end());
    }
    return out;
}

}  // namespace planed::bgp
