// SPDX-License-Identifier: Apache-2.0
// What is wrong with a configuration and where; how faults are collected without bound on their
// cause but with a bound on their number.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace planed::config {

/// Counted from 1; columns count bytes, as compilers do.
struct Place {
    std::uint32_t line = 1;
    std::uint32_t column = 1;
    auto operator<=>(const Place&) const = default;
};

/// Where each key that the file has was written, by its path: "interfaces[0].proxy_arp".
using Places = std::map<std::string, Place, std::less<>>;

/// The place of `path`, or of the nearest key above it that was written, or the file's beginning.
Place place_of(const Places& written, std::string_view path);

struct Fault {
    std::string file;
    Place place;
    std::string path;  // Empty: about the file as a whole.
    std::string text;
    bool operator==(const Fault&) const = default;
};

/// "planed.yaml:3:5: routes.distance: must be a whole number from 1 to 255, not 0"
std::string to_string(const Fault& fault);

/// Faults of one file. After kMax the rest is only counted: a file with a thousand faults is not a
/// planed.yaml.
class FaultList {
public:
    static constexpr std::size_t kMax = 1000;

    explicit FaultList(std::string file) : file_(std::move(file)) {}

    void add(Place place, std::string path, std::string text);
    [[nodiscard]] bool empty() const { return faults_.empty(); }
    [[nodiscard]] bool full() const { return faults_.size() >= kMax; }
    std::vector<Fault> take();  // By place; the list is empty then.

private:
    std::string file_;
    std::vector<Fault> faults_;
    std::size_t dropped_ = 0;
};

}  // namespace planed::config
