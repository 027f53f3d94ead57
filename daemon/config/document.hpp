// SPDX-License-Identifier: Apache-2.0
// A parsed file before anyone knows what it means: scalars, lists and maps with their places. What
// the YAML library hands to us ends here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/fault.hpp"

namespace planed::config {

enum class NodeKind : std::uint8_t { Null, Scalar, List, Map };

struct DocumentNode {
    NodeKind kind = NodeKind::Null;
    Place place{};
    std::string text{};                  // Scalar.
    bool plain = false;                  // Scalar: written without quotes, so it may be a number.
    std::vector<std::uint32_t> items{};  // List: values; map: key, value, key, value …
};

/// `items` point into `nodes`; an alias points at its anchor's node, never at one that holds it.
struct Document {
    std::vector<DocumentNode> nodes;
    std::uint32_t root = 0;

    [[nodiscard]] const DocumentNode& at(std::uint32_t index) const { return nodes[index]; }
};

}  // namespace planed::config
