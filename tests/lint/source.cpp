// SPDX-License-Identifier: Apache-2.0
#include "lint/source.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

namespace planed::lint {
namespace {

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool is_data(const std::filesystem::path& path) {
    constexpr std::array<std::string_view, 4> kDataFolders{
        "corpus", "vectors", "__pycache__", "build"};
    return std::any_of(path.begin(), path.end(), [&](const std::filesystem::path& part) {
        return std::find(kDataFolders.begin(), kDataFolders.end(), part.string()) !=
               kDataFolders.end();
    });
}

// Walks over the text and blanks as it goes.
class Blanker {
public:
    Blanker(std::string_view text, bool keep_strings)
        : text_(text), out_(text), keep_strings_(keep_strings) {}

    std::string run() {
        while (at_ < text_.size()) {
            if (here("//")) {
                blank_until("\n");
            } else if (here("/*")) {
                blank_until("*/");
            } else if (here("R\"") && (at_ == 0 || !is_word(text_[at_ - 1]))) {
                raw_string();
            } else if (text_[at_] == '"' || is_character_literal()) {
                literal();
            } else {
                ++at_;
            }
        }
        return std::move(out_);
    }

private:
    [[nodiscard]] bool here(std::string_view piece) const {
        return text_.substr(at_).starts_with(piece);
    }
    // Not the separator of 1'000.
    [[nodiscard]] bool is_character_literal() const {
        return text_[at_] == '\'' && (at_ == 0 || !is_word(text_[at_ - 1]));
    }
    void blank(std::size_t end) {
        for (; at_ < end; ++at_) {
            out_[at_] = text_[at_] == '\n' ? '\n' : ' ';
        }
    }
    void blank_until(std::string_view end) {
        const std::size_t found = text_.find(end, at_ + 2);
        blank(found == std::string_view::npos ? text_.size() : found + end.size());
    }
    void raw_string() {
        const std::size_t open = text_.find('(', at_);
        const std::string closing = ")" + std::string(text_.substr(at_ + 2, open - at_ - 2)) + "\"";
        const std::size_t found = open == std::string_view::npos ? open : text_.find(closing, open);
        const std::size_t end =
            found == std::string_view::npos ? text_.size() : found + closing.size();
        finish_string(end);
    }
    void literal() {
        const char quote = text_[at_];
        std::size_t end = at_ + 1;
        while (end < text_.size() && text_[end] != quote && text_[end] != '\n') {
            end += text_[end] == '\\' ? 2U : 1U;
        }
        finish_string(std::min(end + 1, text_.size()));
    }
    void finish_string(std::size_t end) {
        if (keep_strings_) {
            at_ = end;
        } else {
            blank(end);
        }
    }

    std::string_view text_;
    std::string out_;
    bool keep_strings_;
    std::size_t at_ = 0;
};

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t");
    return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

}  // namespace

std::vector<SourceFile> read_tree(const std::filesystem::path& root, std::string_view folder) {
    std::vector<SourceFile> files;
    if (!std::filesystem::is_directory(root / folder)) {
        return files;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
        const std::filesystem::path path = entry.path().lexically_relative(root);
        if (!entry.is_regular_file() || is_data(path)) {
            continue;
        }
        std::ifstream file(entry.path(), std::ios::binary);
        files.push_back(
            {.path = path.string(),
             .text = {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()}});
    }
    std::sort(files.begin(), files.end(), [](const SourceFile& a, const SourceFile& b) {
        return a.path < b.path;
    });
    return files;
}

bool is_header(std::string_view path) {
    return path.ends_with(".hpp") || path.ends_with(".h");
}

bool is_cpp(std::string_view path) {
    return is_header(path) || path.ends_with(".cpp") || path.ends_with(".c");
}

std::string without_comments(std::string_view text, bool keep_strings) {
    return Blanker(text, keep_strings).run();
}

std::vector<Include> includes_of(std::string_view text) {
    const std::string code = without_comments(text, true);
    std::vector<Include> includes;
    int number = 0;
    for (std::size_t start = 0; start < code.size();) {
        const std::size_t end = std::min(code.find('\n', start), code.size());
        std::string_view line = trimmed(std::string_view(code).substr(start, end - start));
        start = end + 1;
        ++number;
        if (!line.starts_with('#')) {
            continue;
        }
        line = trimmed(line.substr(1));
        if (!line.starts_with("include")) {
            continue;
        }
        line = trimmed(line.substr(std::string_view("include").size()));
        const bool quoted = line.starts_with('"');
        const std::size_t close = line.find(quoted ? '"' : '>', 1);
        if (close != std::string_view::npos) {
            includes.push_back({.line = number,
                                .target = std::string(line.substr(1, close - 1)),
                                .quoted = quoted});
        }
    }
    return includes;
}

std::vector<int> lines_with_word(std::string_view code, std::string_view word) {
    std::vector<int> lines;
    for (std::size_t at = code.find(word); at != std::string_view::npos;
         at = code.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        const bool begins = at == 0 || !is_word(code[at - 1]);
        const bool ends = end == code.size() || !is_word(code[end]);
        if (begins && ends) {
            const auto newlines =
                std::count(code.begin(), code.begin() + static_cast<std::ptrdiff_t>(at), '\n');
            lines.push_back(static_cast<int>(newlines) + 1);
        }
    }
    return lines;
}

}  // namespace planed::lint
