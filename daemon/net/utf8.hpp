// SPDX-License-Identifier: Apache-2.0
// UTF-8 as RFC 3629 has it: what Redis rows, log lines and the API may carry.
#pragma once

#include <cstddef>
#include <string_view>

namespace planed {

/// How many bytes from the beginning are whole characters other than NUL; text.size() if all are.
std::size_t utf8_length(std::string_view text);

}  // namespace planed
