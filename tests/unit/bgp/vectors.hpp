// SPDX-License-Identifier: Apache-2.0
// Reads tests/vectors/bgp: messages that real speakers sent or took.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "bgp/message.hpp"
#include "support/vectors.hpp"

namespace planed::bgp {

using test::from_hex;
using test::Vector;

/// Of tests/vectors/bgp/FILE.txt.
inline std::vector<Vector> load_vectors(const std::string& file) {
    return test::load_vectors("bgp/" + file + ".txt");
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
