// SPDX-License-Identifier: Apache-2.0
// A recording's lines from bytes: no exception, an error has words, and what is read is the same
// after it was written again.
#include <cstdint>
#include <string_view>
#include <variant>

#include "net/assert.hpp"
#include "record/recording.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace planed::record;  // NOLINT(google-build-using-namespace): of this one function.
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes as text.
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto header = parse_header(text)) {
        PLANED_ASSERT(parse_header(to_line(*header)).has_value());
    } else {
        PLANED_ASSERT(!header.error().text.empty());
    }
    const auto line = parse_line(text);
    if (!line) {
        PLANED_ASSERT(!line.error().text.empty());
        return 0;
    }
    const auto written =
        std::visit([&line](const auto& what) { return to_line(what, line->at); }, line->what);
    const auto again = parse_line(written);
    PLANED_ASSERT(again.has_value());
    const auto rewritten =
        std::visit([&again](const auto& what) { return to_line(what, again->at); }, again->what);
    PLANED_ASSERT(written == rewritten);
    return 0;
}
