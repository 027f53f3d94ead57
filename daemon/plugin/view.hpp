// SPDX-License-Identifier: Apache-2.0
// What there is to show of a plug-in.
#pragma once

#include <cstdint>
#include <string>

namespace planed::plugin {

struct Totals {
    std::uint64_t calls = 0;
    std::uint64_t denials = 0;
    std::uint64_t strikes = 0;
};

struct View {
    std::string name{};
    std::string version{};
    std::string path{};
    bool judges = false;
    bool observes = false;
    std::string fenced{};  // Why it is not called any more; empty: it is.
    Totals totals{};
};

}  // namespace planed::plugin
