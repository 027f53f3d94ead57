// SPDX-License-Identifier: Apache-2.0
#include "ctl/render.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/core.h>

namespace planed::ctl {
namespace {

constexpr std::string_view kGap = "  ";

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

std::string json_string(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        switch (c) {
            case '"': out += "\\\""; break;
            case '\\': out += "\\\\"; break;
            case '\n': out += "\\n"; break;
            case '\t': out += "\\t"; break;
            default:
                if (static_cast<unsigned char>(c) < 0x20) {
                    out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
                } else {
                    out += c;
                }
        }
    }
    return out + '"';
}

struct Json {
    bool pretty = false;
    std::string out{};
    int depth = 0;

    void operator()(std::nullptr_t) { out += "null"; }
    void operator()(bool yes) { out += yes ? "true" : "false"; }
    void operator()(std::uint64_t number) { out += fmt::format("{}", number); }
    void operator()(const std::string& text) { out += json_string(text); }
    void operator()(const Array& array) {
        list('[', ']', array, [this](const Value& value) { std::visit(*this, value.is); });
    }
    void operator()(const Object& object) {
        list('{', '}', object, [this](const auto& field) {
            out += json_string(field.first) + (pretty ? ": " : ":");
            std::visit(*this, field.second.is);
        });
    }

private:
    template <class Items, class Write>
    void list(char open, char close, const Items& items, Write write) {
        out += open;
        ++depth;
        bool first = true;
        for (const auto& item : items) {
            out += first ? "" : ",";
            first = false;
            newline();
            write(item);
        }
        --depth;
        if (!items.empty()) {
            newline();
        }
        out += close;
    }
    void newline() {
        if (pretty) {
            out += '\n' + std::string(static_cast<std::size_t>(depth) * 2, ' ');
        }
    }
};

// A string that YAML would take for itself only if it is nothing but safe letters; else quoted as
// in JSON, which YAML reads too.
std::string yaml_text(const std::string& text) {
    const bool plain = !text.empty() && std::isalpha(static_cast<unsigned char>(text[0])) != 0 &&
                       std::all_of(text.begin(), text.end(), [](char c) {
                           return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
                                  c == '-' || c == '.';
                       });
    constexpr std::array kWords{"true", "false", "yes", "no", "on", "off", "null", "y", "n"};
    std::string lower = text;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
        return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    });
    const bool taken = std::find(kWords.begin(), kWords.end(), lower) != kWords.end();
    return plain && !taken ? text : json_string(text);
}

bool is_empty_list(const Value& value) {
    const auto* array = std::get_if<Array>(&value.is);
    const auto* object = std::get_if<Object>(&value.is);
    return (array != nullptr && array->empty()) || (object != nullptr && object->empty());
}

bool is_block(const Value& value) {
    const bool list =
        std::holds_alternative<Array>(value.is) || std::holds_alternative<Object>(value.is);
    return list && !is_empty_list(value);
}

void write_yaml(const Value& value, std::size_t depth, std::string& out);

void write_scalar(const Value& value, std::string& out) {
    if (const auto* text = std::get_if<std::string>(&value.is)) {
        out += yaml_text(*text);
    } else {
        out += to_json(value, false);
    }
    out += '\n';
}

void write_yaml(const Value& value, std::size_t depth, std::string& out) {
    const std::string indent(depth * 2, ' ');
    if (!is_block(value)) {
        write_scalar(value, out);
    } else if (const auto* array = std::get_if<Array>(&value.is)) {
        for (const Value& item : *array) {
            std::string nested;
            write_yaml(item, depth + 1, nested);
            // The first line of a block stands behind the dash.
            out += indent + "- " + (is_block(item) ? nested.substr((depth + 1) * 2) : nested);
        }
    } else {
        for (const auto& [name, item] : std::get<Object>(value.is)) {
            out += indent + name + ":" + (is_block(item) ? "\n" : " ");
            write_yaml(item, depth + 1, out);
        }
    }
}

std::size_t width_of(std::string_view text) {
    // UTF-8: every byte but the continuing ones begins a character.
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    }));
}

using Cells = std::vector<std::string>;

bool row_less(const Cells& a, const Cells& b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i] != b[i]) {
            return natural_less(a[i], b[i]);
        }
    }
    return false;
}

std::string line_of(const Cells& cells, const std::vector<std::size_t>& widths, bool colour) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        line += coloured(cells[i], colour);
        if (i + 1 < cells.size()) {
            line += std::string(widths[i] - width_of(cells[i]), ' ') + std::string(kGap);
        }
    }
    return line + '\n';
}

template <std::size_t Size>
bool is_one_of(std::string_view text, const std::array<std::string_view, Size>& words) {
    return std::find(words.begin(), words.end(), text) != words.end();
}

}  // namespace

std::string to_json(const Value& value, bool pretty) {
    Json json{.pretty = pretty};
    // By reference: the visitor is the text.
    std::visit([&json](const auto& is) { json(is); }, value.is);
    return json.out;
}

std::string to_yaml(const Value& value) {
    std::string out;
    write_yaml(value, 0, out);
    return out;
}

bool natural_less(std::string_view a, std::string_view b) {
    while (!a.empty() && !b.empty()) {
        if (!is_digit(a[0]) || !is_digit(b[0])) {
            if (a[0] != b[0]) {
                return a[0] < b[0];
            }
            a.remove_prefix(1);
            b.remove_prefix(1);
            continue;
        }
        const auto number = [](std::string_view& text) {
            const std::size_t zeros = std::min(text.find_first_not_of('0'), text.size());
            text.remove_prefix(zeros);
            const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
            const auto digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
            text.remove_prefix(digits.size());
            return digits;
        };
        const std::string_view x = number(a);
        const std::string_view y = number(b);
        if (x.size() != y.size()) {
            return x.size() < y.size();
        }
        if (x != y) {
            return x < y;
        }
    }
    return a.empty() && !b.empty();
}

std::string to_table(const std::vector<Column>& columns,
                     const Array& rows,
                     std::string_view noun,
                     const TableStyle& style) {
    std::vector<Cells> lines;
    std::vector<std::size_t> widths;
    Cells titles;
    for (const Column& column : columns) {
        titles.emplace_back(column.title);
        widths.push_back(style.headers ? column.title.size() : 0);
    }
    for (const Value& row : rows) {
        Cells cells;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            cells.push_back(row.at(columns[i].field).text());
            widths[i] = std::max(widths[i], width_of(cells.back()));
        }
        lines.push_back(std::move(cells));
    }
    std::sort(lines.begin(), lines.end(), row_less);
    std::string out = style.headers && !rows.empty() ? line_of(titles, widths, false) : "";
    for (const Cells& cells : lines) {
        out += line_of(cells, widths, style.colour);
    }
    return out + (style.headers ? count_of(rows.size(), noun) + '\n' : "");
}

void sort_rows(const std::vector<Column>& columns, Array& rows) {
    std::vector<std::pair<Cells, Value>> sorted;
    for (Value& row : rows) {
        Cells cells;
        for (const Column& column : columns) {
            cells.push_back(row.at(column.field).text());
        }
        sorted.emplace_back(std::move(cells), std::move(row));
    }
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
        return row_less(a.first, b.first);
    });
    rows.clear();
    for (auto& [cells, row] : sorted) {
        rows.push_back(std::move(row));
    }
}

std::string audit_text(const Array& tables,
                       const std::vector<Column>& columns,
                       const Array& differences,
                       std::uint64_t left_out,
                       const TableStyle& style) {
    std::string text;
    if (style.headers) {
        Array reads;
        for (const Value& table : tables) {
            const bool was_read = table.at("began") != Value{};
            const bool wanted = table.at("wanted").is_true();
            reads.push_back(
                {.is = Object{{"where", table.at("where")},
                              {"table", table.at("table")},
                              {"entries", was_read ? table.at("entries") : Value{}},
                              {"began", wanted ? table.at("began") : text_value("off")}}});
        }
        const TableStyle titles{.headers = true, .colour = style.colour};
        text = to_table(
            {{"WHERE", "where"}, {"TABLE", "table"}, {"ENTRIES", "entries"}, {"READ", "began"}},
            reads,
            "table",
            titles);
        text += differences.empty() ? "" : "\n";
    }
    text += to_table(columns,
                     differences,
                     "difference",
                     {.headers = style.headers && !differences.empty(), .colour = style.colour});
    if (style.headers && left_out > 0) {
        text += fmt::format("and {}, which are not told\n", count_of(left_out, "more difference"));
    }
    return text + (style.headers && differences.empty() ? "no differences\n" : "");
}

std::string count_of(std::size_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string coloured(std::string_view text, bool colour) {
    constexpr std::array<std::string_view, 5> kWell{
        "installed", "eligible", "REACHABLE", "established", "yes"};
    constexpr std::array<std::string_view, 6> kWaits{
        "pending", "withdrawing", "INCOMPLETE", "connect", "open_sent", "open_confirm"};
    constexpr std::array<std::string_view, 8> kWrong{
        "rejected", "FAILED", "failed", "port_down", "interface_down", "isolated", "active", "not"};
    const std::string_view code = !colour                   ? std::string_view()
                                  : is_one_of(text, kWell)  ? std::string_view("32")
                                  : is_one_of(text, kWaits) ? std::string_view("33")
                                  : is_one_of(text, kWrong) ? std::string_view("31")
                                                            : std::string_view();
    return code.empty() ? std::string(text) : fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

}  // namespace planed::ctl
