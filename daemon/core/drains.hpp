// SPDX-License-Identifier: Apache-2.0
// What operators hold back from BGP: the whole leaf, the hosts behind a port, one host. It lasts
// over restarts, by the state file, until it is ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <absl/container/btree_map.h>

#include "net/ip_address.hpp"

namespace planed {

struct DrainScope {
    enum class Kind : std::uint8_t { Leaf, Port, Host };
    Kind kind = Kind::Leaf;
    std::string port{};   // Port: by name. An interface that is on no bridge is its hosts' port.
    IpAddress address{};  // Host: wherever it is.
    bool operator==(const DrainScope&) const = default;
    auto operator<=>(const DrainScope&) const = default;
};

/// "leaf", "port swp3", "host 10.0.0.5": for people, and in the state file.
std::string to_string(const DrainScope& scope);
/// Nullopt: none of these.
std::optional<DrainScope> parse_drain_scope(std::string_view text);

class Drains {
public:
    /// False: it is drained already. If that was to end soon, it is not any more.
    bool begin(const DrainScope& scope);
    /// False: it is not drained.
    bool end(const DrainScope& scope);
    /// It ends as soon as the leaf is ready. False: it is not drained.
    bool end_when_ready(const DrainScope& scope);
    /// Those that waited for it; they have not ended yet.
    [[nodiscard]] std::vector<DrainScope> to_end_when_ready() const;

    [[nodiscard]] bool empty() const { return scopes_.empty(); }
    [[nodiscard]] bool contains(const DrainScope& scope) const { return scopes_.contains(scope); }
    /// `port`: where the host lives, by name; empty: not known.
    [[nodiscard]] bool covers(const IpAddress& address, std::string_view port) const;
    [[nodiscard]] std::vector<DrainScope> all() const;
    /// One sentence each: "port swp3", "leaf, until it is ready".
    [[nodiscard]] std::vector<std::string> describe() const;

private:
    absl::btree_map<DrainScope, bool> scopes_;  // Whether it ends when the leaf is ready.
};

}  // namespace planed
