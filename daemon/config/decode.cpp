// SPDX-License-Identifier: Apache-2.0
#include "config/decode.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>

#include "config/checks.hpp"
#include "config/duration.hpp"
#include "config/keys.hpp"
#include "config/route_target.hpp"
#include "config/suggest.hpp"
#include "net/utf8.hpp"

namespace planed::config {
namespace {

// More values than a file of the permitted size can spell out: only aliases get here.
constexpr std::size_t kValuesMax = 200'000;
constexpr std::size_t kTextMax = 4096;

std::string join(std::string_view path, std::string_view name) {
    return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
}

// A key that someone else wrote: whatever it is, it does not break the line.
std::string join_foreign(std::string_view path, std::string_view name) {
    constexpr std::size_t kKeyMax = 64;
    const bool plain = !name.empty() && name.size() <= kKeyMax &&
                       std::all_of(name.begin(), name.end(), [](char c) {
                           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                  (c >= '0' && c <= '9') || c == '_' || c == '-';
                       });
    return plain ? join(path, name) : join(path, quoted(name));
}

std::string element(std::string_view path, std::size_t index) {
    return fmt::format("{}[{}]", path, index);
}

// How a person would call what is there instead of what should be.
std::string description(const DocumentNode& node) {
    switch (node.kind) {
        case NodeKind::Null: return "nothing";
        case NodeKind::Scalar: return quoted(node.text);
        case NodeKind::List: return "a list";
        case NodeKind::Map: return "a map";
    }
    return "";
}

bool has_control(std::string_view text) {
    return std::any_of(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == '\x7F';
    });
}

// "a, b or c"
std::string choices(std::span<const std::string_view> words) {
    const auto most = words.first(words.size() - 1);
    return fmt::format("{} or {}", fmt::join(most.begin(), most.end(), ", "), words.back());
}

template <class T, class Field>
Field field_type(Field T::*);

// Whole paths of all keys outside of lists, to point at a key that sits in the wrong part.
template <class T>
void collect_paths(const std::string& path, std::vector<std::string>& paths) {
    Keys<T>::each([&](std::string_view name, auto member, auto rule) {
        paths.push_back(join(path, name));
        if constexpr (std::is_same_v<decltype(rule), Part>) {
            collect_paths<decltype(field_type(member))>(join(path, name), paths);
        }
    });
}

class Decoder {
public:
    Decoder(const Document& document, FaultList& faults) : document_(document), faults_(faults) {}

    Decoded run() {
        const DocumentNode& root = document_.at(document_.root);
        if (root.kind == NodeKind::Null || root.kind == NodeKind::Map) {
            part(root, "", result_.config);
        } else {
            fault(root, "", fmt::format("must be a map of keys, not {}", description(root)));
        }
        return std::move(result_);
    }

private:
    struct Member {
        const DocumentNode* key = nullptr;
        const DocumentNode* value = nullptr;
        bool known = false;
    };

    void fault(const DocumentNode& node, std::string_view path, std::string text) {
        faults_.add(node.place, std::string(path), std::move(text));
    }

    // False, once said so, when the document has used up its values.
    bool spend(const DocumentNode& node) {
        if (spent_ == kValuesMax) {
            fault(node, "", fmt::format("has more than {} values, aliases counted", kValuesMax));
        }
        return ++spent_ <= kValuesMax;
    }

    // The keys of a map, doubles and what is no key left out and named.
    std::vector<Member> members(const DocumentNode& node, std::string_view path) {
        std::vector<Member> result;
        std::map<std::string_view, Place> seen;
        for (std::size_t i = 0; i + 1 < node.items.size(); i += 2) {
            const DocumentNode& key = document_.at(node.items[i]);
            if (key.kind != NodeKind::Scalar) {
                fault(key, path, fmt::format("a key must be text, not {}", description(key)));
                continue;
            }
            const auto [first, fresh] = seen.emplace(key.text, key.place);
            if (!fresh) {
                fault(key,
                      join_foreign(path, key.text),
                      fmt::format("is written twice, first in line {}", first->second.line));
                continue;
            }
            result.push_back({.key = &key, .value = &document_.at(node.items[i + 1])});
        }
        return result;
    }

    template <class T>
    void part(const DocumentNode& node, const std::string& path, T& out) {
        std::vector<Member> found = members(node, path);
        std::vector<std::string_view> names;
        Keys<T>::each([&](std::string_view name, auto field, const auto& rule) {
            names.push_back(name);
            const auto member = std::find_if(
                found.begin(), found.end(), [&](const Member& m) { return m.key->text == name; });
            const std::string key_path = join(path, name);
            if (member == found.end()) {
                if (is_required(rule) || is_required(out.*field, rule)) {
                    fault(node, path, fmt::format("lacks the key {}", name));
                }
                return;
            }
            member->known = true;
            if (spend(*member->value)) {
                result_.written[key_path] = member->value->place;
                value(*member->value, key_path, out.*field, rule);
            }
        });
        for (const Member& member : found) {
            if (!member.known) {
                unknown(*member.key, path, names);
            }
        }
    }

    static bool is_required(const Text& rule) { return rule.need == Need::Required; }
    static bool is_required(const Whole& rule) { return rule.need == Need::Required; }
    static bool is_required(const HostAddress&) { return true; }
    static bool is_required(const RouteTargetList&) { return true; }
    template <class Rule>
    static bool is_required(const Rule&) {
        return false;
    }
    static bool is_required(const IpAddress&, const Address&) { return true; }
    template <class Field, class Rule>
    static bool is_required(const Field&, const Rule&) {
        return false;
    }

    void unknown(const DocumentNode& key,
                 const std::string& path,
                 std::span<const std::string_view> names) {
        std::string near;
        if (!faults_.full()) {
            near = hint(key.text, names);
            near = near.empty() ? hint_elsewhere(key.text) : near;
        }
        fault(key, join_foreign(path, key.text), fmt::format("is no key of planed{}", near));
    }

    // The key exists, but in another part of the file.
    std::string hint_elsewhere(std::string_view name) {
        if (paths_.empty()) {
            collect_paths<Config>("", paths_);
        }
        for (const std::string& path : paths_) {
            const std::size_t dot = path.rfind('.');
            if (path.substr(dot == std::string::npos ? 0 : dot + 1) == name) {
                return dot == std::string::npos ? std::string(" here (it belongs at the top level)")
                                                : fmt::format(" here (did you mean {}?)", path);
            }
        }
        return "";
    }

    // The scalar's text, or nullptr and a fault.
    const std::string* scalar(const DocumentNode& node,
                              std::string_view path,
                              std::string_view wanted) {
        if (node.kind != NodeKind::Scalar) {
            fault(node, path, fmt::format("must be {}, not {}", wanted, description(node)));
            return nullptr;
        }
        return &node.text;
    }

    // Text that can go into a log line: no control characters, no megabytes.
    std::optional<std::string> word(const DocumentNode& node,
                                    std::string_view path,
                                    TextCheck check) {
        const std::string* text = scalar(node, path, "text");
        if (text == nullptr) {
            return std::nullopt;
        }
        Problem problem;
        if (text->size() > kTextMax) {
            problem = fmt::format("is longer than {} bytes", kTextMax);
        } else if (has_control(*text)) {
            problem = fmt::format("has a control character: {}", quoted(*text));
        } else if (utf8_length(*text) < text->size()) {
            // The library turns the escapes \N and \_ into single bytes.
            problem = fmt::format("is not UTF-8 text: {}", quoted(*text));
        } else {
            problem = check(*text);
        }
        if (problem) {
            fault(node, path, *problem);
        }
        // Kept although it is wrong: rules between keys then do not find it missing as well.
        return *text;
    }

    void value(const DocumentNode& node,
               const std::string& path,
               std::string& out,
               const Text& rule) {
        if (auto text = word(node, path, rule.check)) {
            out = std::move(*text);
        }
    }

    // A fault must not tell what is secret: faults are logged.
    void value(const DocumentNode& node,
               const std::string& path,
               std::string& out,
               const Secret& rule) {
        const std::string* text = scalar(node, path, "text");
        if (text == nullptr) {
            return;
        }
        if (has_control(*text)) {
            fault(node, path, "has a control character");
        } else if (const Problem problem = rule.check(*text)) {
            fault(node, path, *problem);
        }
        out = *text;
    }

    void value(const DocumentNode& node, const std::string& path, bool& out, const Flag&) {
        const std::string* text = scalar(node, path, "true or false");
        if (text == nullptr) {
            return;
        }
        if (node.plain && (*text == "true" || *text == "True" || *text == "TRUE")) {
            out = true;
        } else if (node.plain && (*text == "false" || *text == "False" || *text == "FALSE")) {
            out = false;
        } else {
            fault(node,
                  path,
                  fmt::format("must be true or false, not {}{}", quoted(*text), flag_hint(*text)));
        }
    }

    // What other programs, and YAML 1.1, take for a flag.
    static std::string_view flag_hint(std::string_view text) {
        for (const std::string_view yes : {"yes", "Yes", "YES", "y", "on", "On", "1", "true"}) {
            if (text == yes) {
                return " (did you mean true?)";
            }
        }
        for (const std::string_view no : {"no", "No", "NO", "n", "off", "Off", "0", "false"}) {
            if (text == no) {
                return " (did you mean false?)";
            }
        }
        return "";
    }

    // Decimal digits without a leading zero, which elsewhere would mean octal.
    static std::optional<std::uint32_t> whole(std::string_view digits) {
        std::uint32_t number = 0;
        const char* end = digits.data() + digits.size();
        const auto parsed = std::from_chars(digits.data(), end, number);
        const bool padded = digits.size() > 1 && digits.front() == '0';
        if (parsed.ec != std::errc{} || parsed.ptr != end || padded) {
            return std::nullopt;
        }
        return number;
    }

    template <class Number>
    void value(const DocumentNode& node, const std::string& path, Number& out, const Whole& rule) {
        const std::string wanted = fmt::format("a whole number from {} to {}", rule.min, rule.max);
        const std::string* text = scalar(node, path, wanted);
        if (text == nullptr) {
            return;
        }
        const auto number = node.plain ? whole(*text) : std::nullopt;
        if (!number || *number < rule.min || *number > rule.max) {
            const char* why = !node.plain && whole(*text) ? ", in quotes" : "";
            fault(node, path, fmt::format("must be {}, not {}{}", wanted, quoted(*text), why));
            return;
        }
        out = static_cast<Number>(*number);
    }

    void value(const DocumentNode& node,
               const std::string& path,
               std::uint32_t& out,
               const Percent&) {
        constexpr std::uint32_t kAll = 100;
        const std::string* text = scalar(node, path, "a percentage such as 50%");
        if (text == nullptr) {
            return;
        }
        const std::string_view view = *text;
        const auto number =
            view.ends_with('%') ? whole(view.substr(0, view.size() - 1)) : std::nullopt;
        if (!number || *number > kAll) {
            const bool bare = whole(view) && *whole(view) <= kAll;
            fault(node,
                  path,
                  fmt::format("must be a percentage from 0% to 100%, not {}{}",
                              quoted(view),
                              bare ? fmt::format(" (did you mean {}%?)", view) : ""));
            return;
        }
        out = *number;
    }

    void value(const DocumentNode& node, const std::string& path, Duration& out, const Span& rule) {
        const std::string* text = scalar(node, path, "a duration such as 900ms, 30s or 5m");
        if (text == nullptr) {
            return;
        }
        const auto parsed = parse_duration(*text);
        if (!parsed) {
            fault(node,
                  path,
                  fmt::format("must be a duration such as 900ms, 30s or 5m (units: us, ms, s, m, "
                              "h), not {}{}",
                              quoted(*text),
                              whole(*text) ? fmt::format(" (did you mean {}s?)", *text) : ""));
        } else if (*parsed < rule.min || *parsed > rule.max) {
            fault(node,
                  path,
                  fmt::format("must be from {} to {}, not {}",
                              format_duration(rule.min),
                              format_duration(rule.max),
                              quoted(*text)));
        } else if (*parsed % rule.step != Duration::zero()) {
            fault(node,
                  path,
                  fmt::format(
                      "must be in steps of {}, not {}", format_duration(rule.step), quoted(*text)));
        } else {
            out = *parsed;
        }
    }

    template <class Enum>
    void value(const DocumentNode& node, const std::string& path, Enum& out, const Choice&) {
        const std::span<const std::string_view> words = Choices<Enum>::kWords;
        const std::string* text = scalar(node, path, choices(words));
        if (text == nullptr) {
            return;
        }
        const auto found = std::find(words.begin(), words.end(), *text);
        if (found == words.end()) {
            fault(node,
                  path,
                  fmt::format(
                      "must be {}, not {}{}", choices(words), quoted(*text), hint(*text, words)));
            return;
        }
        out = static_cast<Enum>(found - words.begin());
    }

    void value(const DocumentNode& node,
               const std::string& path,
               IpAddress& out,
               const HostAddress&) {
        const std::string* text = scalar(node, path, "an address");
        if (text == nullptr) {
            return;
        }
        const auto address = IpAddress::parse(*text);
        if (!address) {
            fault(node, path, fmt::format("must be an address, not {}", quoted(*text)));
        } else if (const Problem problem = host_address_problem(*address)) {
            fault(node, path, fmt::format("{} {}", *text, *problem));
        } else {
            out = *address;
        }
    }

    // The address, or nullopt and a fault.
    std::optional<IpAddress> address(const DocumentNode& node,
                                     const std::string& path,
                                     AddressCheck check) {
        const std::string* text = scalar(node, path, "an address");
        if (text == nullptr) {
            return std::nullopt;
        }
        const auto address = IpAddress::parse(*text);
        const Problem problem = address ? check(*address) : std::nullopt;
        if (!address) {
            fault(node, path, fmt::format("must be an address, not {}", quoted(*text)));
        } else if (problem) {
            fault(node, path, fmt::format("{} {}", *text, *problem));
        } else {
            return address;
        }
        return std::nullopt;
    }

    void value(const DocumentNode& node,
               const std::string& path,
               IpAddress& out,
               const Address& rule) {
        out = address(node, path, rule.check).value_or(out);
    }

    void value(const DocumentNode& node,
               const std::string& path,
               std::optional<IpAddress>& out,
               const Address& rule) {
        if (node.kind == NodeKind::Scalar && node.text.empty()) {
            out.reset();
            return;
        }
        // Not missing although it is wrong: one fault is enough.
        out = address(node, path, rule.check).value_or(IpAddress());
    }

    void value(const DocumentNode& node,
               const std::string& path,
               std::vector<IpAddress>& out,
               const AddressList& rule) {
        out.clear();
        std::map<IpAddress, Place> seen;
        for_elements(
            node, path, rule.max, [&](const DocumentNode& child, const std::string& child_path) {
                const auto one = address(child, child_path, rule.check);
                if (!one) {
                    return;
                }
                const auto [first, fresh] = seen.emplace(*one, child.place);
                if (!fresh) {
                    twice(child, child_path, first->second);
                }
                out.push_back(*one);
            });
    }

    void value(const DocumentNode& node,
               const std::string& path,
               std::optional<MacAddress>& out,
               const HostMac&) {
        const std::string* text = scalar(node, path, "a MAC address");
        if (text == nullptr) {
            return;
        }
        const auto mac = MacAddress::parse(*text);
        if (!mac) {
            fault(node,
                  path,
                  fmt::format("must be a MAC address such as 02:00:00:00:00:05, not {}",
                              quoted(*text)));
        } else if (mac->is_zero() || mac->is_multicast()) {
            fault(node, path, fmt::format("{} is no single device's MAC address", *text));
        } else {
            out = mac;
        }
    }

    void value(const DocumentNode& node,
               const std::string& path,
               std::optional<evpn::Esi>& out,
               const SegmentIdentifier&) {
        const std::string* text = scalar(node, path, "an ESI");
        if (text == nullptr) {
            return;
        }
        // The complaint repeats the text, so it is given one that fits a line: what is right stays
        // as it is, what is wrong stays wrong.
        const std::string shown = quoted(*text);
        const auto esi = evpn::Esi::parse(std::string_view(shown).substr(1, shown.size() - 2));
        if (esi) {
            out = *esi;
        } else {
            fault(node, path, esi.error().text);
        }
    }

    void value(const DocumentNode& node,
               const std::string& path,
               std::vector<RouteTargetConfig>& out,
               const RouteTargetList& rule) {
        out.clear();
        std::map<RouteTargetConfig, Place> seen;
        for_elements(
            node, path, rule.max, [&](const DocumentNode& child, const std::string& child_path) {
                const std::string* text = scalar(child, child_path, "a route target");
                if (text == nullptr) {
                    return;
                }
                const auto target = parse_route_target(*text);
                if (!target) {
                    fault(child, child_path, target.error().text);
                    return;
                }
                const auto [first, fresh] = seen.emplace(*target, child.place);
                if (!fresh) {
                    twice(child, child_path, first->second);
                }
                out.push_back(*target);
            });
        if (node.kind != NodeKind::Scalar && node.kind != NodeKind::Map && node.items.empty()) {
            fault(node, path, "must have at least one route target");
        }
    }

    template <class T>
    void value(const DocumentNode& node, const std::string& path, T& out, const Part&) {
        // A part whose keys are all commented out is an empty part.
        if (node.kind == NodeKind::Map || node.kind == NodeKind::Null) {
            part(node, path, out);
        } else {
            fault(node, path, fmt::format("must be a map of keys, not {}", description(node)));
        }
    }

    void value(const DocumentNode& node,
               const std::string& path,
               std::map<std::string, std::string>& out,
               const Words& rule) {
        if (node.kind != NodeKind::Map && node.kind != NodeKind::Null) {
            fault(node, path, fmt::format("must be a map of keys, not {}", description(node)));
            return;
        }
        if (node.items.size() / 2 > rule.max) {
            fault(node, path, fmt::format("has more than {} keys", rule.max));
            return;
        }
        for (const Member& member : members(node, path)) {
            const std::string key_path = join_foreign(path, member.key->text);
            if (!spend(*member.value)) {
                return;
            }
            result_.written[key_path] = member.value->place;
            (void)word(*member.key, path, check_any);
            if (auto text = word(*member.value, key_path, check_any)) {
                out[member.key->text] = std::move(*text);
            }
        }
    }

    // The elements of a list, or none and a fault.
    std::span<const std::uint32_t> elements(const DocumentNode& node,
                                            const std::string& path,
                                            std::size_t max) {
        if (node.kind != NodeKind::List && node.kind != NodeKind::Null) {
            fault(node, path, fmt::format("must be a list, not {}", description(node)));
            return {};
        }
        if (node.items.size() > max) {
            fault(node,
                  path,
                  fmt::format("has {} elements; at most {} are taken", node.items.size(), max));
            return {};
        }
        return node.items;
    }

    // Calls each(element, path) until the values are used up.
    template <class Each>
    void for_elements(const DocumentNode& node,
                      const std::string& path,
                      std::size_t max,
                      Each&& each) {
        std::size_t index = 0;
        for (const std::uint32_t item : elements(node, path, max)) {
            const DocumentNode& child = document_.at(item);
            if (!spend(child)) {
                return;
            }
            const std::string child_path = element(path, index++);
            result_.written[child_path] = child.place;
            each(child, child_path);
        }
    }

    void twice(const DocumentNode& node, const std::string& path, Place first) {
        fault(node, path, fmt::format("is listed twice, first in line {}", first.line));
    }

    void value(const DocumentNode& node,
               const std::string& path,
               std::vector<std::string>& out,
               const TextList& rule) {
        out.clear();
        std::map<std::string, Place> seen;
        for_elements(
            node, path, rule.max, [&](const DocumentNode& child, const std::string& child_path) {
                const auto text = word(child, child_path, rule.check);
                if (!text) {
                    return;
                }
                const auto [first, fresh] = seen.emplace(*text, child.place);
                if (!fresh) {
                    twice(child, child_path, first->second);
                }
                out.push_back(*text);
            });
    }

    void value(const DocumentNode& node,
               const std::string& path,
               std::vector<IpPrefix>& out,
               const PrefixList& rule) {
        out.clear();
        bool whole_list = true;
        std::map<IpPrefix, Place> seen;
        for_elements(
            node, path, rule.max, [&](const DocumentNode& child, const std::string& child_path) {
                const auto parsed = prefix(child, child_path, rule.form);
                if (!parsed) {
                    whole_list = false;
                    return;
                }
                const auto [first, fresh] = seen.emplace(*parsed, child.place);
                if (!fresh) {
                    twice(child, child_path, first->second);
                }
                out.push_back(*parsed);
            });
        if (!whole_list) {
            out.clear();  // Half a list would make hosts look outside of it.
        }
    }

    std::optional<IpPrefix> prefix(const DocumentNode& node, const std::string& path, Form form) {
        const std::string_view wanted =
            form == Form::Prefix ? "a prefix such as 10.0.0.0/16" : "a prefix or an address";
        const std::string* text = scalar(node, path, wanted);
        if (text == nullptr) {
            return std::nullopt;
        }
        const auto parsed = IpPrefix::parse(*text);
        if (!parsed) {
            fault(node, path, fmt::format("must be {}, not {}", wanted, quoted(*text)));
            return std::nullopt;
        }
        const bool bare = text->find('/') == std::string::npos;
        if (bare && form == Form::Prefix) {
            fault(node,
                  path,
                  fmt::format("must be {}, not {} (did you mean {}?)",
                              wanted,
                              quoted(*text),
                              parsed->to_string()));
            return std::nullopt;
        }
        if (*parsed != parsed->network()) {
            fault(node,
                  path,
                  fmt::format("{} has host bits set (did you mean {}?)",
                              *text,
                              parsed->network().to_string()));
            return std::nullopt;
        }
        // Multicast, link-local and the like: what begins and ends in such space lies in it.
        if (form == Form::Prefix && host_address_problem(parsed->address()) &&
            host_address_problem(parsed->last()) && parsed->length() > 0) {
            fault(node, path, fmt::format("{} has no address that a host could own", *text));
            return std::nullopt;
        }
        return parsed;
    }

    template <class T>
    void value(const DocumentNode& node,
               const std::string& path,
               std::vector<T>& out,
               const PartList& rule) {
        out.clear();
        for_elements(
            node, path, rule.max, [&](const DocumentNode& child, const std::string& child_path) {
                // Also when it is wrong, so that the index in the file stays the index in the list.
                out.emplace_back();
                if (child.kind == NodeKind::Map) {
                    part(child, child_path, out.back());
                } else {
                    fault(child,
                          child_path,
                          fmt::format("must be a map of keys, not {}", description(child)));
                }
            });
    }

    const Document& document_;
    FaultList& faults_;
    Decoded result_;
    std::vector<std::string> paths_;
    std::size_t spent_ = 0;
};

}  // namespace

Decoded decode(const Document& document, FaultList& faults) {
    return Decoder(document, faults).run();
}

}  // namespace planed::config
