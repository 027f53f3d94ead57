// SPDX-License-Identifier: Apache-2.0
#include "config/match.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <limits>
#include <vector>

namespace planed::config {
namespace {

// One position of a glob: any run, or one character out of a set.
struct Token {
    bool star = false;
    bool literal = false;
    std::bitset<256> set;
};

struct Glob {
    std::vector<Token> tokens;
    std::optional<std::string> problem;
};

std::size_t code(char letter) {
    return static_cast<unsigned char>(letter);
}

// The bracket that opens at `at`; returns the position after it, or npos and a problem.
std::size_t parse_bracket(std::string_view text, std::size_t at, Glob& glob) {
    std::size_t i = at + 1;
    const bool negated = i < text.size() && (text[i] == '!' || text[i] == '^');
    i += negated ? 1 : 0;
    Token token;
    for (const std::size_t first = i; i < text.size() && (text[i] != ']' || i == first); ++i) {
        const char next = i + 1 < text.size() ? text[i + 1] : '\0';
        if (text[i] == '[' && (next == ':' || next == '.' || next == '=')) {
            glob.problem = "classes such as [:digit:] are not supported, write [0-9]";
            return std::string_view::npos;
        }
        const bool range = next == '-' && i + 2 < text.size() && text[i + 2] != ']';
        const char last = range ? text[i + 2] : text[i];
        if (code(last) < code(text[i])) {
            glob.problem = "has a range that ends before it begins";
            return std::string_view::npos;
        }
        for (std::size_t member = code(text[i]); member <= code(last); ++member) {
            token.set.set(member);
        }
        i += range ? 2 : 0;
    }
    if (i >= text.size()) {
        glob.problem = "has a [ that no ] closes";
        return std::string_view::npos;
    }
    if (negated) {
        token.set.flip();
    }
    glob.tokens.push_back(token);
    return i + 1;
}

Glob parse_glob(std::string_view text) {
    Glob glob;
    for (std::size_t i = 0; i < text.size();) {
        if (text[i] == '[') {
            i = parse_bracket(text, i, glob);
            if (glob.problem) {
                return glob;
            }
            continue;
        }
        if (text[i] == '\\') {
            glob.problem = "has a backslash, which no interface name needs";
            return glob;
        }
        const bool star = text[i] == '*';
        if (star && !glob.tokens.empty() && glob.tokens.back().star) {
            ++i;  // Two in a row are one.
            continue;
        }
        Token token;
        token.star = star;
        token.literal = text[i] != '*' && text[i] != '?';
        if (token.literal) {
            token.set.set(code(text[i]));
        } else {
            token.set.set();
        }
        glob.tokens.push_back(token);
        ++i;
    }
    return glob;
}

constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max() / 2;

}  // namespace

bool is_glob(std::string_view pattern) {
    return pattern.find_first_of("*?[") != std::string_view::npos;
}

std::optional<std::string> glob_problem(std::string_view glob) {
    return parse_glob(glob).problem;
}

bool glob_matches(std::string_view glob, std::string_view name) {
    const std::vector<Token> tokens = parse_glob(glob).tokens;
    // Greedy with one step back: only the last star can need a longer run.
    std::size_t at = 0;
    std::size_t star = kNever;
    std::size_t resume = 0;
    for (std::size_t i = 0; i < name.size();) {
        if (at < tokens.size() && tokens[at].star) {
            star = at++;
            resume = i;
        } else if (at < tokens.size() && tokens[at].set.test(code(name[i]))) {
            ++at;
            ++i;
        } else if (star != kNever) {
            at = star + 1;
            i = ++resume;
        } else {
            return false;
        }
    }
    while (at < tokens.size() && tokens[at].star) {
        ++at;
    }
    return at == tokens.size();
}

bool globs_overlap(std::string_view a, std::string_view b) {
    const std::vector<Token> left = parse_glob(a).tokens;
    const std::vector<Token> right = parse_glob(b).tokens;
    // shortest[j]: the least length of a name that both tails match, for the row of left's tail i.
    std::vector<std::size_t> shortest(right.size() + 1, kNever);
    std::vector<std::size_t> below(right.size() + 1, kNever);
    for (std::size_t i = left.size() + 1; i-- > 0;) {
        std::swap(shortest, below);
        for (std::size_t j = right.size() + 1; j-- > 0;) {
            const bool left_ends = i == left.size();
            const bool right_ends = j == right.size();
            std::size_t best = left_ends && right_ends ? 0 : kNever;
            if (!left_ends && left[i].star) {
                best = std::min(best, below[j]);
                if (!right_ends) {
                    best = std::min(best, shortest[j + 1] + (right[j].star ? 0 : 1));
                }
            } else if (!right_ends && right[j].star) {
                best = std::min(best, shortest[j + 1]);
                if (!left_ends) {
                    best = std::min(best, below[j] + 1);
                }
            } else if (!left_ends && !right_ends && (left[i].set & right[j].set).any()) {
                best = std::min(best, below[j + 1] + 1);
            }
            shortest[j] = std::min(best, kNever);
        }
    }
    return shortest[0] <= kInterfaceNameMax;
}

Specificity specificity(std::string_view glob) {
    Specificity result;
    for (const Token& token : parse_glob(glob).tokens) {
        result.literals += token.literal ? 1U : 0U;
        result.positions += token.star ? 0U : 1U;
    }
    return result;
}

const InterfaceConfig* interface_for(const Config& config, std::string_view name) {
    const InterfaceConfig* best = nullptr;
    for (const InterfaceConfig& entry : config.interfaces) {
        if (!is_glob(entry.name)) {
            if (entry.name == name) {
                return &entry;
            }
        } else if (glob_matches(entry.name, name) &&
                   (best == nullptr || specificity(best->name) < specificity(entry.name))) {
            best = &entry;
        }
    }
    return best;
}

}  // namespace planed::config
