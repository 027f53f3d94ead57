// SPDX-License-Identifier: Apache-2.0
#include "change_log/line.hpp"

#include <array>
#include <cstdio>
#include <ctime>
#include <string_view>

namespace change_log {
namespace {

constexpr std::int64_t kPerSecond = 1'000'000;

// 2026-11-30T20:15:02.123456Z
std::string time_text(std::int64_t at_us) {
    const std::time_t seconds = at_us / kPerSecond;
    std::tm parts{};
    (void)::gmtime_r(&seconds, &parts);
    std::array<char, 64> text{};
    const std::size_t length = std::strftime(text.data(), text.size(), "%FT%T", &parts);
    (void)std::snprintf(
        text.data() + length, text.size() - length, ".%06dZ", static_cast<int>(at_us % kPerSecond));
    return text.data();
}

// An interface may be called anything but "/" and blanks.
std::string quoted(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            result += '\\';
            result += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            std::array<char, 8> code{};
            (void)std::snprintf(code.data(), code.size(), "\\u%04x", static_cast<unsigned>(c));
            result += code.data();
        } else {
            result += c;
        }
    }
    return result + '"';
}

void add(std::string& line, std::string_view key, std::string_view value) {
    if (!value.empty()) {
        line += ',';
        line += quoted(key);
        line += ':';
        line += quoted(value);
    }
}

}  // namespace

std::string line_of(const planed_change& change) {
    const bool host = change.kind == PLANED_HOST;
    std::string line = "{\"at\":" + quoted(time_text(change.at_us));
    add(line, "kind", host ? "host" : "route");
    add(line, "vrf", change.vrf);
    add(line, host ? "address" : "prefix", host ? change.address : change.prefix);
    add(line, "interface", change.interface_name);
    if (change.gone != 0) {
        return line + ",\"gone\":true}\n";
    }
    add(line, "mac", change.mac);
    add(line, "port", change.port);
    add(line, "origin", change.origin);
    add(line, "state", change.state);
    add(line, "reason", change.reason);
    if (host) {
        line += change.eligible != 0 ? ",\"eligible\":true" : ",\"eligible\":false";
    }
    return line + "}\n";
}

}  // namespace change_log
