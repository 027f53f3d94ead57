// SPDX-License-Identifier: Apache-2.0
#include "config/print.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "config/duration.hpp"
#include "config/keys.hpp"
#include "config/route_target.hpp"

namespace planed::config {
namespace {

// Words that some YAML parser somewhere takes for something else than text.
constexpr std::array<std::string_view, 10> kReserved{
    "true", "false", "yes", "no", "on", "off", "null", "y", "n", "~"};

bool is_safe_plain(std::string_view text) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const auto inner = [&](char c) {
        return letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == '/';
    };
    const auto lowered = [](std::string_view word) {
        std::string result(word);
        for (char& c : result) {
            c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        }
        return result;
    };
    // Only a number with three dots is surely no number: an IPv4 address.
    const bool dotted = std::count(text.begin(), text.end(), '.') == 3;
    if (text.empty() || !(letter(text.front()) || text.front() == '/' || dotted)) {
        return false;
    }
    return std::all_of(text.begin(), text.end(), inner) &&
           std::find(kReserved.begin(), kReserved.end(), lowered(text)) == kReserved.end();
}

std::string yaml_text(std::string_view text) {
    if (is_safe_plain(text)) {
        return std::string(text);
    }
    std::string result = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            result += '\\';
            result += c;
        } else if (byte < 0x20 || byte == 0x7F) {
            result += fmt::format("\\x{:02x}", byte);
        } else {
            result += c;
        }
    }
    return result + '"';
}

std::string scalar(const std::string& field, const Text&) {
    return yaml_text(field);
}
std::string scalar(bool field, const Flag&) {
    return field ? "true" : "false";
}
std::string scalar(std::uint32_t field, const Whole&) {
    return fmt::format("{}", field);
}
std::string scalar(std::uint32_t field, const Percent&) {
    return fmt::format("{}%", field);
}
std::string scalar(Duration field, const Span&) {
    return format_duration(field);
}
template <class Enum>
std::string scalar(Enum field, const Choice&) {
    return yaml_text(Choices<Enum>::kWords[static_cast<std::size_t>(field)]);
}
std::string scalar(const IpAddress& field, const HostAddress&) {
    return yaml_text(field.to_string());
}
std::string scalar(const IpAddress& field, const Address&) {
    return yaml_text(field.to_string());
}
std::string scalar(const std::optional<IpAddress>& field, const Address&) {
    return yaml_text(field ? field->to_string() : "");
}
std::string scalar(const IpAddress& field, const AddressList&) {
    return yaml_text(field.to_string());
}
std::string scalar(const IpPrefix& field, const PrefixList&) {
    return yaml_text(field.to_string());
}
std::string scalar(const RouteTargetConfig& field, const RouteTargetList&) {
    return yaml_text(format_route_target(field));
}
std::string scalar(const std::string& field, const TextList&) {
    return yaml_text(field);
}

class Printer {
public:
    template <class T>
    void part(const T& value, std::size_t indent) {
        Keys<T>::each([&](std::string_view name, auto field, const auto& rule) {
            key(name, value.*field, rule, indent);
        });
    }

    std::string take() { return std::move(out_); }

private:
    static constexpr std::size_t kStep = 2;

    void line(std::size_t indent, std::string_view text) {
        out_ += fmt::format("{:{}}{}\n", "", indent, text);
    }

    template <class Field, class Rule>
    void key(std::string_view name, const Field& field, const Rule& rule, std::size_t indent) {
        line(indent, fmt::format("{}: {}", name, scalar(field, rule)));
    }

    void key(std::string_view name, const std::string& field, const Secret&, std::size_t indent) {
        line(indent,
             field.empty() ? fmt::format("{}: \"\"", name)
                           : fmt::format("# {} is set, and never printed", name));
    }

    void key(std::string_view name,
             const std::optional<MacAddress>& field,
             const HostMac&,
             std::size_t indent) {
        if (field) {
            line(indent, fmt::format("{}: {}", name, yaml_text(field->to_string())));
        }
    }

    void key(std::string_view name,
             const std::optional<evpn::Esi>& field,
             const SegmentIdentifier&,
             std::size_t indent) {
        if (field) {
            line(indent, fmt::format("{}: {}", name, yaml_text(field->to_string())));
        }
    }

    void key(std::string_view name,
             const std::optional<std::uint32_t>& field,
             const Whole& rule,
             std::size_t indent) {
        if (field) {
            line(indent, fmt::format("{}: {}", name, scalar(*field, rule)));
        }
    }

    template <class T>
    void key(std::string_view name, const T& field, const Part&, std::size_t indent) {
        const std::size_t before = out_.size();
        line(indent, fmt::format("{}:", name));
        const std::size_t head = out_.size();
        part(field, indent + kStep);
        if (out_.size() == head) {
            out_.resize(before);
            line(indent, fmt::format("{}: {{}}", name));
        }
    }

    template <class T, class Rule>
    void list(std::string_view name,
              const std::vector<T>& field,
              const Rule& rule,
              std::size_t indent) {
        line(indent, fmt::format("{}:{}", name, field.empty() ? " []" : ""));
        for (const T& element : field) {
            line(indent + kStep, fmt::format("- {}", scalar(element, rule)));
        }
    }
    void key(std::string_view name,
             const std::vector<std::string>& field,
             const TextList& rule,
             std::size_t indent) {
        list(name, field, rule, indent);
    }
    void key(std::string_view name,
             const std::vector<IpAddress>& field,
             const AddressList& rule,
             std::size_t indent) {
        list(name, field, rule, indent);
    }
    void key(std::string_view name,
             const std::vector<RouteTargetConfig>& field,
             const RouteTargetList& rule,
             std::size_t indent) {
        list(name, field, rule, indent);
    }
    void key(std::string_view name,
             const std::vector<IpPrefix>& field,
             const PrefixList& rule,
             std::size_t indent) {
        list(name, field, rule, indent);
    }

    template <class T>
    void key(std::string_view name,
             const std::vector<T>& field,
             const PartList&,
             std::size_t indent) {
        line(indent, fmt::format("{}:{}", name, field.empty() ? " []" : ""));
        for (const T& element : field) {
            const std::size_t start = out_.size();
            part(element, indent + kStep + kStep);
            out_[start + indent + kStep] = '-';
        }
    }

    void key(std::string_view name,
             const std::map<std::string, std::string>& field,
             const Words&,
             std::size_t indent) {
        line(indent, fmt::format("{}:{}", name, field.empty() ? " {}" : ""));
        for (const auto& [word, text] : field) {
            line(indent + kStep, fmt::format("{}: {}", yaml_text(word), yaml_text(text)));
        }
    }

    std::string out_;
};

}  // namespace

std::string to_yaml(const Config& config) {
    Printer printer;
    printer.part(config, 0);
    return printer.take();
}

}  // namespace planed::config
