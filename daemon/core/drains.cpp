// SPDX-License-Identifier: Apache-2.0
#include "core/drains.hpp"

#include <utility>

namespace planed {

std::string to_string(const DrainScope& scope) {
    switch (scope.kind) {
        case DrainScope::Kind::Leaf: return "leaf";
        case DrainScope::Kind::Port: return "port " + scope.port;
        case DrainScope::Kind::Host: return "host " + scope.address.to_string();
    }
    return "unknown";
}

std::optional<DrainScope> parse_drain_scope(std::string_view text) {
    constexpr std::string_view kPort = "port ";
    constexpr std::string_view kHost = "host ";
    if (text == "leaf") {
        return DrainScope{};
    }
    if (text.starts_with(kPort) && text.size() > kPort.size()) {
        return DrainScope{.kind = DrainScope::Kind::Port,
                          .port = std::string(text.substr(kPort.size()))};
    }
    if (text.starts_with(kHost)) {
        if (const auto address = IpAddress::parse(text.substr(kHost.size()))) {
            return DrainScope{.kind = DrainScope::Kind::Host, .address = *address};
        }
    }
    return std::nullopt;
}

bool Drains::begin(const DrainScope& scope) {
    const auto [at, is_new] = scopes_.try_emplace(scope, false);
    at->second = false;
    return is_new;
}

bool Drains::end(const DrainScope& scope) {
    return scopes_.erase(scope) != 0;
}

bool Drains::end_when_ready(const DrainScope& scope) {
    const auto found = scopes_.find(scope);
    if (found == scopes_.end()) {
        return false;
    }
    found->second = true;
    return true;
}

std::vector<DrainScope> Drains::to_end_when_ready() const {
    std::vector<DrainScope> found;
    for (const auto& [scope, ends] : scopes_) {
        if (ends) {
            found.push_back(scope);
        }
    }
    return found;
}

bool Drains::covers(const IpAddress& address, std::string_view port) const {
    using enum DrainScope::Kind;
    return contains({}) || contains({.kind = Host, .address = address}) ||
           (!port.empty() && contains({.kind = Port, .port = std::string(port)}));
}

std::vector<DrainScope> Drains::all() const {
    std::vector<DrainScope> all;
    for (const auto& [scope, ends] : scopes_) {
        all.push_back(scope);
    }
    return all;
}

std::vector<std::string> Drains::describe() const {
    std::vector<std::string> words;
    for (const auto& [scope, ends] : scopes_) {
        words.push_back(to_string(scope) + (ends ? ", until the leaf is ready" : ""));
    }
    return words;
}

}  // namespace planed
