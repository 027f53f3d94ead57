// SPDX-License-Identifier: Apache-2.0
// What is said of a configuration, as lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/load.hpp"

namespace planed::config {

inline std::vector<std::string> lines(const std::vector<Fault>& faults) {
    std::vector<std::string> result;
    for (const Fault& fault : faults) {
        result.push_back(to_string(fault));
    }
    return result;
}

/// Of a file named "f".
inline std::vector<std::string> faults_of(std::string_view text) {
    return lines(load_text(text, "f").faults);
}

}  // namespace planed::config
