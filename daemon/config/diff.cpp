// SPDX-License-Identifier: Apache-2.0
#include "config/diff.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/core.h>

#include "config/keys.hpp"

namespace planed::config {
namespace {

// Sockets, files and shared objects that are opened once. A part stands for all its keys;
// live_part() keeps exactly these.
constexpr std::array<std::string_view, 4> kRestartOnly{"state_dir", "frr", "api", "plugins"};

std::string_view part_of(std::string_view key) {
    return key.substr(0, key.find('.'));
}

template <class T>
void compare(const T& before,
             const T& after,
             const std::string& path,
             std::vector<std::string>& changed) {
    Keys<T>::each([&](std::string_view name, auto field, auto rule) {
        const std::string key = path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
        if constexpr (std::is_same_v<decltype(rule), Part>) {
            compare(before.*field, after.*field, key, changed);
        } else if (!(before.*field == after.*field)) {
            changed.push_back(key);
        }
    });
}

}  // namespace

Changes diff(const Config& before, const Config& after) {
    Changes changes;
    compare(before, after, "", changes.keys);
    for (const std::string& key : changes.keys) {
        const std::string_view part = part_of(key);
        if (changes.parts.empty() || changes.parts.back() != part) {
            changes.parts.emplace_back(part);
        }
        if (std::find(kRestartOnly.begin(), kRestartOnly.end(), part) != kRestartOnly.end()) {
            changes.needs_restart.push_back(key);
        }
    }
    return changes;
}

Config live_part(const Config& before, Config after) {
    after.state_dir = before.state_dir;
    after.frr = before.frr;
    after.api = before.api;
    after.plugins = before.plugins;
    return after;
}

}  // namespace planed::config
