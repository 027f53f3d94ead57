// SPDX-License-Identifier: Apache-2.0
#include "config/not_acted_on.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/core.h>

namespace planed::config {
namespace {

// The list: who builds one of these takes its line out. `asks` says whether a written value wants
// anything at all.
struct UnbuiltOfInterface {
    std::string_view key;
    bool (*asks)(const InterfaceConfig&);
};
constexpr std::array<UnbuiltOfInterface, 2> kUnbuiltOfInterface{{
    {"proxy_arp", [](const InterfaceConfig& i) { return i.proxy_arp == ProxyArp::Pvlan; }},
    {"unresolved", [](const InterfaceConfig& i) { return i.unresolved != Unresolved::None; }},
}};

}  // namespace

std::vector<std::string> not_acted_on(const Config& config, const Places& written) {
    std::vector<std::string> keys;
    for (std::size_t i = 0; i < config.interfaces.size(); ++i) {
        for (const UnbuiltOfInterface& unbuilt : kUnbuiltOfInterface) {
            std::string key = fmt::format("interfaces[{}].{}", i, unbuilt.key);
            if (written.contains(key) && unbuilt.asks(config.interfaces[i])) {
                keys.push_back(std::move(key));
            }
        }
    }
    std::stable_sort(keys.begin(), keys.end(), [&](const auto& a, const auto& b) {
        return place_of(written, a) < place_of(written, b);
    });
    return keys;
}

}  // namespace planed::config
