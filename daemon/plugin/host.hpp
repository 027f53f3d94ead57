// SPDX-License-Identifier: Apache-2.0
// The plug-ins of the configuration: opened once, in order, closed in reverse. Judges are asked
// before the engine, and what they say becomes part of the fact; observers are told after it.
// Decides nothing of hosts.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/input.hpp"
#include "net/ip_address.hpp"
#include "net/mac_address.hpp"
#include "plugin/instance.hpp"
#include "plugin/view.hpp"

namespace planed::plugin {

/// An entry of `plugins:`.
struct Wanted {
    std::string path{};
    Instance::Options options{};
};

/// Whom judges are asked about.
struct Candidate {
    IpAddress address{};
    MacAddress mac{};
    std::string interface {};  // Empty: not known yet.
};

/// A host or a route as observers are told of it; see struct planed_change.
struct Change {
    bool route = false;  // Else a host.
    bool gone = false;
    bool eligible = false;
    std::int64_t at_us = 0;
    std::string vrf{};
    std::string interface {};
    std::string address{};
    std::string prefix{};
    std::string mac{};
    std::string port{};
    std::string origin{};
    std::string state{};
    std::string reason{};
};

class Host {
public:
    explicit Host(Hooks hooks) : hooks_(std::move(hooks)) {}
    ~Host() { close(); }
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;
    Host(Host&&) = delete;
    Host& operator=(Host&&) = delete;

    /// Once. One sentence for each that cannot be had, "path: why"; then none is left open.
    std::vector<std::string> open(std::span<const Wanted> wanted);
    void close();

    [[nodiscard]] bool has_judges() const;     // That are not fenced.
    [[nodiscard]] bool has_observers() const;  // The same.
    /// Who denies it and why, "prefix_guard: outside 10.0.0.0/24"; empty: nobody does.
    [[nodiscard]] std::string judge(const Candidate& candidate);
    void tell(const Change& change);

    /// What the engine is to hear of the plug-ins themselves, since it was last asked.
    [[nodiscard]] std::vector<Input> take_inputs();
    [[nodiscard]] std::vector<View> views() const;

private:
    struct Entry {
        std::string path;
        std::unique_ptr<Instance> plugin;
        bool told_fenced = false;
    };

    std::string add(const Wanted& wanted);  // What is wrong; empty: nothing.
    [[nodiscard]] std::string free_name(const std::string& name) const;

    Hooks hooks_;
    std::vector<Entry> entries_;
};

}  // namespace planed::plugin
