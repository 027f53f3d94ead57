// SPDX-License-Identifier: Apache-2.0
// A judge: denies hosts outside of the prefixes that are allowed, and those inside of denied ones.
// It never allows anything itself: judges after it have their say.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "planed/plugin.h"
#include "prefix_guard/prefixes.hpp"

namespace prefix_guard {
namespace {

struct Guard {
    Prefixes allow;  // Empty: everywhere.
    std::string allow_text;
    Prefixes deny;
    std::string interface;  // Empty: all.
};

void put(char* text, std::size_t size, const std::string& words) {
    (void)std::snprintf(text, size, "%s", words.c_str());
}

std::string set(Guard& guard, std::string_view key, std::string_view value) {
    if (key == "interface") {
        guard.interface = value;
        return {};
    }
    std::string wrong;
    auto prefixes = Prefixes::parse(value, wrong);
    if (!prefixes) {
        return std::string(key) + ": " + wrong;
    }
    if (key == "deny") {
        guard.deny = std::move(*prefixes);
        return {};
    }
    guard.allow_text = value;
    guard.allow = std::move(*prefixes);
    return {};
}

std::int32_t open(const planed_start* start,
                  void** self,
                  char* error,
                  std::size_t error_size) noexcept {
    auto guard = std::make_unique<Guard>();
    for (std::size_t i = 0; i < start->option_count; ++i) {
        const std::string wrong = set(*guard, start->options[i].key, start->options[i].value);
        if (!wrong.empty()) {
            put(error, error_size, wrong);
            return 1;
        }
    }
    if (guard->allow.empty() && guard->deny.empty()) {
        put(error, error_size, "it has nothing to guard: neither allow nor deny has a prefix");
        return 1;
    }
    *self = guard.release();
    return 0;
}

std::int32_t judge(void* self, const planed_host* host, char* why, std::size_t why_size) noexcept {
    const auto& guard = *static_cast<const Guard*>(self);
    if (!guard.interface.empty() && guard.interface != host->interface_name) {
        return PLANED_ABSTAIN;
    }
    const bool v4 = host->family == 4;
    Bytes address{};
    std::copy_n(host->address, address.size(), address.begin());
    if (const Prefix* denied = guard.deny.find(v4, address); denied != nullptr) {
        put(why, why_size, "within " + denied->text);
        return PLANED_DENY;
    }
    if (!guard.allow.empty() && guard.allow.find(v4, address) == nullptr) {
        put(why, why_size, "outside " + guard.allow_text);
        return PLANED_DENY;
    }
    return PLANED_ABSTAIN;
}

void close(void* self) noexcept {
    delete static_cast<Guard*>(self);
}

constexpr const char* kOptions[] = {"allow", "deny", "interface", nullptr};
constexpr planed_plugin kPlugin{.abi = PLANED_PLUGIN_ABI,
                                .size = sizeof(planed_plugin),
                                .name = "prefix_guard",
                                .version = PLANED_VERSION,
                                .options = kOptions,
                                .open = open,
                                .judge = judge,
                                .changed = nullptr,
                                .close = close};

}  // namespace
}  // namespace prefix_guard

const planed_plugin* planed_plugin_entry() {
    return &prefix_guard::kPlugin;
}
