// SPDX-License-Identifier: Apache-2.0
// The kernel settings that a served interface needs, applied in the safe order and undone in
// reverse. proxy_delay goes to 0 before proxy_arp is switched on: with the default of 0.8 s every
// proxied answer waits, and older kernels divide by the delay while answering (felix issue 1937).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <absl/container/btree_map.h>

#include "core/input.hpp"
#include "core/output.hpp"
#include "core/served_interfaces.hpp"

namespace planed {

/// The setting's name as `sysctl` prints it, below net: "ipv4.conf.Vlan100.arp_accept".
std::string setting_name(Setting setting, std::string_view interface);

class KernelSettings {
public:
    /// The interface is served in this form now: what differs is applied, what is no longer wanted
    /// undone.
    void serve(const ServedInterface& served, const LearningConfig& learning);
    /// It is not any more, but its link may still be there: everything is undone.
    void unserve(IfIndex link);
    /// The link is gone and its settings with it.
    void forget(IfIndex link);
    /// Ask for everything again: somebody may have changed it. What is as wanted costs one file
    /// read.
    void audit();
    void undo_all();

    struct Outcome {
        std::string name;
        std::optional<Error> error;
        IfIndex link{};
        std::uint32_t wanted = 0;
        std::optional<std::uint32_t> found{};
        /// An audit has asked, and found it otherwise than we had left it.
        bool differs = false;
        bool operator==(const Outcome&) const = default;
    };
    /// Nullopt: no request of ours.
    std::optional<Outcome> answered(const KernelAnswered& answer);

    std::optional<ApplySetting> poll(std::uint64_t& next_request);
    /// Everything has been asked for and answered.
    [[nodiscard]] bool is_idle() const { return queue_.empty() && asked_.empty(); }
    [[nodiscard]] std::size_t size() const;  // Settings that are kept.

private:
    struct Applied {
        Setting setting{};
        std::uint32_t value = 0;
        std::optional<std::uint32_t> found;
    };
    struct Interface {
        std::string name;
        std::vector<Applied> applied;  // In the order of application.
    };
    struct Pending {
        ApplySetting apply;
        bool undo = false;
        bool audit = false;
    };

    void undo_from(IfIndex link, Interface& interface, std::size_t keep);
    void note_found(const Pending& pending, std::optional<std::uint32_t> found);
    void apply(IfIndex link,
               const Interface& interface,
               const Applied& applied,
               bool audit = false);

    absl::btree_map<IfIndex, Interface> interfaces_;
    std::deque<Pending> queue_;
    absl::btree_map<std::uint64_t, Pending> asked_;
};

}  // namespace planed
