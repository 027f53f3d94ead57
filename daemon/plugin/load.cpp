// SPDX-License-Identifier: Apache-2.0
#include "plugin/load.hpp"

#include <algorithm>
#include <string_view>

#include <dlfcn.h>

#include <fmt/core.h>

namespace planed::plugin {
namespace {

constexpr const char* kEntry = "planed_plugin_entry";
constexpr std::size_t kWordMax = 32;

// dlerror() begins with the path, which whoever asked knows.
std::string last_words(const std::string& path) {
    const char* words = ::dlerror();
    std::string text = words == nullptr ? "cannot be loaded" : words;
    const std::string head = path + ": ";
    return text.starts_with(head) ? text.substr(head.size()) : text;
}

bool is_name(const char* name) {
    const std::string_view text = name == nullptr ? "" : name;
    return !text.empty() && text.size() <= kWordMax && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    });
}

bool is_version(const char* version) {
    const std::string_view text = version == nullptr ? "" : version;
    return !text.empty() && text.size() <= kWordMax &&
           std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7F; });
}

Result<void> check(const planed_plugin* plugin) {
    if (plugin == nullptr) {
        return fail(Errc::Malformed, fmt::format("{}() returned no plug-in", kEntry));
    }
    // Nothing else can be read before these two are right.
    if (plugin->abi != PLANED_PLUGIN_ABI) {
        return fail(Errc::Unsupported,
                    fmt::format("built for ABI {} of planed/plugin.h, this planed has ABI {}",
                                plugin->abi,
                                PLANED_PLUGIN_ABI));
    }
    if (plugin->size < sizeof(planed_plugin)) {
        return fail(Errc::Truncated,
                    fmt::format("its struct planed_plugin is too small: {} bytes, ABI {} has {}",
                                plugin->size,
                                PLANED_PLUGIN_ABI,
                                sizeof(planed_plugin)));
    }
    if (!is_name(plugin->name)) {
        return fail(Errc::Malformed,
                    fmt::format("its name is not 1 to {} of a-z, 0-9 and _", kWordMax));
    }
    if (!is_version(plugin->version)) {
        return fail(Errc::Malformed,
                    fmt::format("its version is not 1 to {} printable characters", kWordMax));
    }
    if (plugin->judge == nullptr && plugin->changed == nullptr) {
        return fail(Errc::Malformed, "it neither judges nor observes");
    }
    return {};
}

}  // namespace

Result<const planed_plugin*> load(const std::string& path) {
    void* object = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (object == nullptr) {
        return fail(Errc::System, last_words(path));
    }
    void* symbol = ::dlsym(object, kEntry);
    if (symbol == nullptr) {
        return fail(Errc::Malformed,
                    fmt::format("no plug-in of planed: it has no symbol {}", kEntry));
    }
    const auto entry = reinterpret_cast<decltype(&planed_plugin_entry)>(symbol);
    const planed_plugin* plugin = entry();
    if (const auto right = check(plugin); !right) {
        return tl::unexpected(right.error());
    }
    return plugin;
}

}  // namespace planed::plugin
