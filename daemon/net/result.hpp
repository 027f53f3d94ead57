// SPDX-License-Identifier: Apache-2.0
// Result<T>: what every function returns that is fed from outside. An Error carries a code to
// branch on, the byte offset where decoding stopped (if it was decoding) and words for a person.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace planed {

enum class Errc : std::uint8_t {
    Truncated,    // Fewer bytes than the structure needs.
    Malformed,    // A length, marker or value that the protocol forbids.
    Unsupported,  // Well formed, but nothing that we speak.
    Refused,      // The other side said no.
    Lost,         // The other side went away.
    System,       // A system call failed; text has errno in words.
    Invalid,      // A person's input is wrong.
};

struct Error {
    Errc code = Errc::Malformed;
    std::string text;
    std::optional<std::size_t> offset{};  // Bytes from the start of what was decoded.
    int system_errno = 0;                 // For Errc::System and Errc::Refused, else 0.
    bool operator==(const Error&) const = default;
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(Errc code, std::string text) {
    return tl::unexpected<Error>(Error{.code = code, .text = std::move(text)});
}

inline tl::unexpected<Error> fail_at(std::size_t offset, Errc code, std::string text) {
    return tl::unexpected<Error>(Error{.code = code, .text = std::move(text), .offset = offset});
}

inline tl::unexpected<Error> fail_errno(int number, std::string text) {
    return tl::unexpected<Error>(
        Error{.code = Errc::System, .text = std::move(text), .system_errno = number});
}

}  // namespace planed
