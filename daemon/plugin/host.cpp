// SPDX-License-Identifier: Apache-2.0
#include "plugin/host.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "plugin/load.hpp"

namespace planed::plugin {
namespace {

planed_host to_c(const Candidate& candidate, const std::string& address, const std::string& mac) {
    planed_host host{.size = sizeof(planed_host),
                     .family = candidate.address.is_v4() ? 4U : 6U,
                     .address = {},
                     .mac = {},
                     .zero = {},
                     .address_text = address.c_str(),
                     .mac_text = mac.c_str(),
                     .interface_name = candidate.interface.c_str()};
    std::ranges::copy(candidate.address.bytes(), std::begin(host.address));
    std::ranges::copy(candidate.mac.bytes(), std::begin(host.mac));
    return host;
}

planed_change to_c(const Change& change) {
    return {.size = sizeof(planed_change),
            .kind = change.route ? PLANED_ROUTE : PLANED_HOST,
            .at_us = change.at_us,
            .gone = change.gone ? 1U : 0U,
            .eligible = change.eligible ? 1U : 0U,
            .vrf = change.vrf.c_str(),
            .interface_name = change.interface.c_str(),
            .address = change.address.c_str(),
            .prefix = change.prefix.c_str(),
            .mac = change.mac.c_str(),
            .port = change.port.c_str(),
            .origin = change.origin.c_str(),
            .state = change.state.c_str(),
            .reason = change.reason.c_str()};
}

std::string consequence(const Instance& plugin) {
    std::string text = "not called any more until planed is started again";
    if (plugin.judges()) {
        text += ", what it had denied is not denied any more";
    }
    return text;
}

}  // namespace

std::vector<std::string> Host::open(std::span<const Wanted> wanted) {
    std::vector<std::string> wrong;
    for (const Wanted& one : wanted) {
        if (std::string why = add(one); !why.empty()) {
            wrong.push_back(fmt::format("{}: {}", one.path, why));
        }
    }
    if (!wrong.empty()) {
        close();
    }
    return wrong;
}

std::string Host::add(const Wanted& wanted) {
    const auto loaded = load(wanted.path);
    if (!loaded) {
        return loaded.error().text;
    }
    auto opened = Instance::open(**loaded, free_name((*loaded)->name), wanted.options, hooks_);
    if (!opened) {
        return opened.error().text;
    }
    const Instance& plugin = **opened;
    hooks_.log({.level = Level::Info,
                .id = "plugin.opened",
                .text = fmt::format("plugin={} version={} judges={} observes={} path={}",
                                    plugin.name(),
                                    plugin.version(),
                                    plugin.judges() ? "yes" : "no",
                                    plugin.observes() ? "yes" : "no",
                                    wanted.path)});
    entries_.push_back({.path = wanted.path, .plugin = std::move(*opened)});
    return {};
}

// The same plug-in may be there twice, with other options.
std::string Host::free_name(const std::string& name) const {
    std::string free = name;
    for (int number = 2; std::ranges::any_of(
             entries_, [&](const Entry& entry) { return entry.plugin->name() == free; });
         ++number) {
        free = fmt::format("{}#{}", name, number);
    }
    return free;
}

void Host::close() {
    while (!entries_.empty()) {
        entries_.pop_back();
    }
}

bool Host::has_judges() const {
    return std::ranges::any_of(entries_, [](const Entry& entry) {
        return entry.plugin->judges() && entry.plugin->fenced().empty();
    });
}

bool Host::has_observers() const {
    return std::ranges::any_of(entries_, [](const Entry& entry) {
        return entry.plugin->observes() && entry.plugin->fenced().empty();
    });
}

// The first that has an opinion decides.
std::string Host::judge(const Candidate& candidate) {
    const std::string address = candidate.address.to_string();
    const std::string mac = candidate.mac.to_string();
    const planed_host host = to_c(candidate, address, mac);
    for (const Entry& entry : entries_) {
        const Judgement judgement = entry.plugin->judge(host);
        switch (judgement.answer) {
            case Answer::Abstain: break;
            case Answer::Allow: return {};
            case Answer::Deny: return fmt::format("{}: {}", entry.plugin->name(), judgement.why);
        }
    }
    return {};
}

void Host::tell(const Change& change) {
    const planed_change told = to_c(change);
    for (const Entry& entry : entries_) {
        entry.plugin->tell(told);
    }
}

std::vector<Input> Host::take_inputs() {
    std::vector<Input> inputs;
    for (Entry& entry : entries_) {
        const Instance& plugin = *entry.plugin;
        if (plugin.fenced().empty() || std::exchange(entry.told_fenced, true)) {
            continue;
        }
        inputs.emplace_back(
            TroubleSeen{.what = fmt::format("plugin {}", plugin.name()),
                        .text = fmt::format("fenced after {} strikes, the last: {}; {}",
                                            plugin.totals().strikes,
                                            plugin.fenced(),
                                            consequence(plugin))});
        if (plugin.judges()) {
            inputs.emplace_back(JudgesChanged{});
        }
    }
    return inputs;
}

std::vector<View> Host::views() const {
    std::vector<View> views;
    for (const Entry& entry : entries_) {
        const Instance& plugin = *entry.plugin;
        views.push_back({.name = plugin.name(),
                         .version = std::string(plugin.version()),
                         .path = entry.path,
                         .judges = plugin.judges(),
                         .observes = plugin.observes(),
                         .fenced = plugin.fenced(),
                         .totals = plugin.totals()});
    }
    return views;
}

}  // namespace planed::plugin
