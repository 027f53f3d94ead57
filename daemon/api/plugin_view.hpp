// SPDX-License-Identifier: Apache-2.0
// What operators are shown of a plug-in.
#pragma once

#include <cstdint>
#include <string>

namespace planed::api {

struct PluginView {
    std::string name{};
    std::string version{};
    std::string path{};
    bool judges = false;
    bool observes = false;
    std::string fenced{};  // Why it is not called any more; empty: it is.
    std::uint64_t calls = 0;
    std::uint64_t denials = 0;
    std::uint64_t strikes = 0;
    bool operator==(const PluginView&) const = default;
};

}  // namespace planed::api
