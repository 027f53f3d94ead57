// SPDX-License-Identifier: Apache-2.0
// planed.yaml from bytes: no exception, no fault without a place, and what loads without a fault
// prints and loads back to the same configuration.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "config/load.hpp"
#include "config/not_acted_on.hpp"
#include "config/print.hpp"
#include "net/assert.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes as text.
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const planed::config::Loaded loaded = planed::config::load_text(text, "f");
    for (const planed::config::Fault& fault : loaded.faults) {
        PLANED_ASSERT(fault.place.line >= 1);
        PLANED_ASSERT(fault.place.column >= 1);
        PLANED_ASSERT(!fault.text.empty());
        PLANED_ASSERT(to_string(fault).find('\n') == std::string::npos);
    }
    if (loaded.ok()) {
        (void)not_acted_on(loaded.config, loaded.written);
        const auto again = planed::config::load_text(planed::config::to_yaml(loaded.config), "f");
        PLANED_ASSERT(again.ok());
        PLANED_ASSERT(again.config == loaded.config);
    }
    return 0;
}
