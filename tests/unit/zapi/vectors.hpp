// SPDX-License-Identifier: Apache-2.0
// Reads tests/vectors/zapi: bytes that real zebras took or sent.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/vectors.hpp"
#include "zapi/codec.hpp"
#include "zapi/dialect.hpp"

namespace planed::zapi {

using test::from_hex;
using test::Vector;

inline std::vector<Vector> load_vectors(WireFamily family) {
    const char letter = static_cast<char>('a' + static_cast<int>(family));
    return test::load_vectors(std::string("zapi/family_") + letter + ".txt");
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
