// SPDX-License-Identifier: Apache-2.0
// Source files as text, and just enough C++ to tell code from comments and strings.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace planed::lint {

struct SourceFile {
    std::string path;  // From the repository's root: "daemon/net/ids.hpp".
    std::string text;
};

struct Include {
    int line = 0;
    std::string target;
    bool quoted = false;  // "…", else <…>.
    bool operator==(const Include&) const = default;
};

/// Every regular file under `root`/`folder`, in order of path, corpora, captures and caches left
/// out: they are data.
std::vector<SourceFile> read_tree(const std::filesystem::path& root, std::string_view folder);

bool is_cpp(std::string_view path);
bool is_header(std::string_view path);

/// The text with comments blanked out, and, unless `keep_strings`, what stands in strings and
/// character literals as well. Lines and columns stay.
std::string without_comments(std::string_view text, bool keep_strings);

std::vector<Include> includes_of(std::string_view text);

/// The lines (from 1) of `code` that have `word` as a word of its own; "a::b" may be such a word.
std::vector<int> lines_with_word(std::string_view code, std::string_view word);

}  // namespace planed::lint
