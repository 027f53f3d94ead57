// SPDX-License-Identifier: Apache-2.0
// database_config.json from bytes: no exception, an error has words, and what is read is in bounds.
#include <cstdint>
#include <string_view>

#include "net/assert.hpp"
#include "statedb/database_config.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes as text.
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto config = planed::statedb::parse_database_config(text);
    if (!config) {
        PLANED_ASSERT(!config.error().text.empty());
        return 0;
    }
    for (const auto& [name, database] : config->databases) {
        PLANED_ASSERT(!database.separator.empty());
        PLANED_ASSERT(database.id <= 65'535);
    }
    for (const auto& include : config->includes) {
        PLANED_ASSERT(!include.file.empty());
    }
    return 0;
}
