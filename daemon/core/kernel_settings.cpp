// SPDX-License-Identifier: Apache-2.0
#include "core/kernel_settings.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/core.h>

namespace planed {
namespace {

// Long enough for every host of a plane to ask at once.
constexpr std::uint32_t kProxyQueueLength = 65'536;

struct Wanted {
    Setting setting{};
    std::uint32_t value = 0;
};

std::vector<Wanted> wanted_for(const ServedInterface& served, const LearningConfig& learning) {
    using std::chrono::duration_cast;
    using std::chrono::milliseconds;
    const auto interval =
        static_cast<std::uint32_t>(duration_cast<milliseconds>(learning.probe_interval).count());
    // Unicast requests, and then as many broadcast ones before the kernel says FAILED: some
    // switches drop or trap unicast ARP.
    const std::uint32_t tries = learning.probe_attempts;
    // 2 = only from senders inside the interface's own subnets; with prefixes of the configuration
    // the hosts may be elsewhere, so 1 = any, and eligibility judges.
    const std::uint32_t accept = served.config.prefixes.empty() ? 2 : 1;
    std::vector<Wanted> wanted{
        {Setting::ArpAccept, accept},
        {Setting::AcceptUntrackedNa, accept},
        {Setting::UcastSolicit4, tries},
        {Setting::UcastSolicit6, tries},
        {Setting::McastResolicit4, tries},
        {Setting::McastResolicit6, tries},
        {Setting::RetransTime4, interval},
        {Setting::RetransTime6, interval},
    };
    if (served.config.proxy_arp != ProxyArp::Off) {
        wanted.push_back({Setting::ProxyDelay4, 0});
        wanted.push_back({Setting::ProxyQlen4, kProxyQueueLength});
        wanted.push_back({Setting::ProxyArp, 1});
    }
    if (served.config.proxy_nd) {
        wanted.push_back({Setting::ProxyDelay6, 0});
        wanted.push_back({Setting::ProxyQlen6, kProxyQueueLength});
        wanted.push_back({Setting::Forwarding6, 1});
        wanted.push_back({Setting::ProxyNdp, 1});
    }
    return wanted;
}

}  // namespace

std::string setting_name(Setting setting, std::string_view interface) {
    switch (setting) {
        case Setting::ArpAccept: return fmt::format("ipv4.conf.{}.arp_accept", interface);
        case Setting::ProxyArp: return fmt::format("ipv4.conf.{}.proxy_arp", interface);
        case Setting::AcceptUntrackedNa:
            return fmt::format("ipv6.conf.{}.accept_untracked_na", interface);
        case Setting::McastResolicit4:
            return fmt::format("ipv4.neigh.{}.mcast_resolicit", interface);
        case Setting::McastResolicit6:
            return fmt::format("ipv6.neigh.{}.mcast_resolicit", interface);
        case Setting::UcastSolicit4: return fmt::format("ipv4.neigh.{}.ucast_solicit", interface);
        case Setting::UcastSolicit6: return fmt::format("ipv6.neigh.{}.ucast_solicit", interface);
        case Setting::RetransTime4: return fmt::format("ipv4.neigh.{}.retrans_time_ms", interface);
        case Setting::RetransTime6: return fmt::format("ipv6.neigh.{}.retrans_time_ms", interface);
        case Setting::ProxyDelay4: return fmt::format("ipv4.neigh.{}.proxy_delay", interface);
        case Setting::ProxyQlen4: return fmt::format("ipv4.neigh.{}.proxy_qlen", interface);
        case Setting::ProxyDelay6: return fmt::format("ipv6.neigh.{}.proxy_delay", interface);
        case Setting::ProxyQlen6: return fmt::format("ipv6.neigh.{}.proxy_qlen", interface);
        case Setting::Forwarding6: return fmt::format("ipv6.conf.{}.forwarding", interface);
        case Setting::ProxyNdp: return fmt::format("ipv6.conf.{}.proxy_ndp", interface);
    }
    return "unknown";
}

void KernelSettings::serve(const ServedInterface& served, const LearningConfig& learning) {
    Interface& interface = interfaces_[served.link];
    interface.name = served.name;
    const std::vector<Wanted> wanted = wanted_for(served, learning);
    // The common beginning stays; the rest is undone in reverse before anything new is applied.
    std::size_t same = 0;
    while (same < wanted.size() && same < interface.applied.size() &&
           interface.applied[same].setting == wanted[same].setting) {
        Applied& applied = interface.applied[same];
        if (applied.value != wanted[same].value) {
            applied.value = wanted[same].value;
            apply(served.link, interface, applied);
        }
        ++same;
    }
    undo_from(served.link, interface, same);
    for (; same < wanted.size(); ++same) {
        interface.applied.push_back(
            {.setting = wanted[same].setting, .value = wanted[same].value, .found = {}});
        apply(served.link, interface, interface.applied.back());
    }
}

void KernelSettings::unserve(IfIndex link) {
    const auto found = interfaces_.find(link);
    if (found != interfaces_.end()) {
        undo_from(link, found->second, 0);
        interfaces_.erase(found);
    }
}

void KernelSettings::forget(IfIndex link) {
    interfaces_.erase(link);
    const auto concerns = [&](const Pending& pending) { return pending.apply.link == link; };
    queue_.erase(std::remove_if(queue_.begin(), queue_.end(), concerns), queue_.end());
    for (auto asked = asked_.begin(); asked != asked_.end();) {
        asked = concerns(asked->second) ? asked_.erase(asked) : std::next(asked);
    }
}

void KernelSettings::audit() {
    const bool at_rest = is_idle();  // Else it may be otherwise because we are about to change it.
    for (const auto& [link, interface] : interfaces_) {
        for (const Applied& applied : interface.applied) {
            apply(link, interface, applied, at_rest);
        }
    }
}

std::size_t KernelSettings::size() const {
    std::size_t count = 0;
    for (const auto& [link, interface] : interfaces_) {
        count += interface.applied.size();
    }
    return count;
}

void KernelSettings::undo_all() {
    std::vector<IfIndex> links;
    for (const auto& [link, interface] : interfaces_) {
        links.push_back(link);
    }
    for (const IfIndex link : links) {
        unserve(link);
    }
}

std::optional<KernelSettings::Outcome> KernelSettings::answered(const KernelAnswered& answer) {
    const auto asked = asked_.find(answer.request);
    if (asked == asked_.end()) {
        return std::nullopt;
    }
    const Pending pending = asked->second;
    asked_.erase(asked);
    if (!answer.error && !pending.undo) {
        note_found(pending, answer.found);
    }
    return Outcome{.name = setting_name(pending.apply.setting, pending.apply.name),
                   .error = answer.error,
                   .link = pending.apply.link,
                   .wanted = pending.apply.value,
                   .found = answer.found,
                   .differs = pending.audit && answer.found != pending.apply.value};
}

void KernelSettings::note_found(const Pending& pending, std::optional<std::uint32_t> found) {
    const auto interface = interfaces_.find(pending.apply.link);
    if (interface != interfaces_.end()) {
        for (Applied& applied : interface->second.applied) {
            if (applied.setting == pending.apply.setting) {
                // What an audit finds is what we set ourselves, or what somebody set meanwhile: not
                // the origin.
                applied.found = applied.found ? applied.found : found;
                return;
            }
        }
    }
    // No longer wanted when the answer came: only now is it known what to put back.
    if (found && *found != pending.apply.value) {
        Pending undo{.apply = pending.apply, .undo = true};
        undo.apply.value = *found;
        queue_.push_back(std::move(undo));
    }
}

std::optional<ApplySetting> KernelSettings::poll(std::uint64_t& next_request) {
    if (queue_.empty()) {
        return std::nullopt;
    }
    Pending pending = std::move(queue_.front());
    queue_.pop_front();
    pending.apply.request = next_request++;
    asked_[pending.apply.request] = pending;
    return pending.apply;
}

void KernelSettings::undo_from(IfIndex link, Interface& interface, std::size_t keep) {
    while (interface.applied.size() > keep) {
        const Applied last = interface.applied.back();
        interface.applied.pop_back();
        if (!last.found || *last.found == last.value) {
            continue;  // It was so before us, or never took.
        }
        queue_.push_back({.apply = {.link = link,
                                    .name = interface.name,
                                    .setting = last.setting,
                                    .value = *last.found},
                          .undo = true});
    }
}

void KernelSettings::apply(IfIndex link,
                           const Interface& interface,
                           const Applied& applied,
                           bool audit) {
    queue_.push_back({.apply = {.link = link,
                                .name = interface.name,
                                .setting = applied.setting,
                                .value = applied.value},
                      .undo = false,
                      .audit = audit});
}

}  // namespace planed
