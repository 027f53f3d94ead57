// SPDX-License-Identifier: Apache-2.0
// As much of UTF-8 (RFC 3629) as a peer's shutdown message needs.
#pragma once

#include <cstddef>
#include <string_view>

namespace planed::bgp {

/// Well formed, and without control characters: fit for a log line.
bool is_printable_utf8(std::string_view text);

/// The longest beginning of `text` of at most `most` octets that is well formed.
std::string_view utf8_prefix(std::string_view text, std::size_t most);

}  // namespace planed::bgp
