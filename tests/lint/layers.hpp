// SPDX-License-Identifier: Apache-2.0
// What may include what: the table of daemon/README.md, as data.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace planed::lint {

struct Layer {
    // A folder under daemon/ ("core/"), or the beginning of file names in one ("app/bridges"). The
    // longest that fits a file counts.
    std::string_view scope;
    // Folders of daemon/ ("net/") or single headers; the scope's own folder is always there but for
    // `apart`.
    std::vector<std::string_view> ours;
    // Third-party and system headers, or folders of them; "*" is all. The standard library is
    // always there.
    std::vector<std::string_view> others;
    // Pure: no clock, thread, file, stream, socket call or true randomness.
    bool pure = true;
    // Sits in a folder that it must not know: of its own it sees only what its scope covers.
    bool apart = false;
};

std::span<const Layer> layers();

/// The layer of a file under daemon/ ("core/engine.cpp"); nullptr: nobody has thought of one.
const Layer* layer_of(std::string_view path);

/// The table as Markdown, line by line as daemon/README.md has it.
std::string layers_as_markdown();

}  // namespace planed::lint
