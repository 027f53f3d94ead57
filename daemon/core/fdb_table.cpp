// SPDX-License-Identifier: Apache-2.0
#include "core/fdb_table.hpp"

#include <iterator>

#include "core/limits.hpp"

namespace planed {

bool FdbTable::see(const FdbSeen& seen, bool port_up) {
    const PortBinding* known = find(seen.key);
    if (seen.source == Source::Dump &&
        !epoch_.accepts_row(seen.key, known != nullptr ? &known->mark : nullptr)) {
        return false;
    }
    if (known == nullptr && bindings_.size() >= limits::kFdbMax) {
        ++refused_;
        return false;
    }
    PortBinding& binding = bindings_.try_emplace(seen.key).first;
    epoch_.mark(binding.mark);
    const bool moved = binding.port != seen.entry.port;
    // An entry of a port without carrier is on its way out: it proves nothing.
    const bool confirmed = binding.unconfirmed && port_up;
    binding.live = true;
    binding.written = seen.entry.ext_learned;
    binding.remembered = false;
    binding.heard_early = binding.unconfirmed && !port_up;
    if (port_up) {
        binding.unconfirmed = false;
    }
    if (moved) {
        move_to(seen.key, binding, seen.entry.port);
        binding.saved = false;
    }
    return moved || confirmed || known == nullptr;
}

void FdbTable::gone(const FdbGone& gone) {
    epoch_.note_deleted(gone.key);
    PortBinding* binding = find(gone.key);
    // The entry may have moved to another port, announced before the old one's end.
    if (binding != nullptr && binding->port == gone.port) {
        binding->live = false;
        binding->heard_early = false;
        epoch_.mark(binding->mark);  // The running dump's row is older.
    }
}

void FdbTable::forget(const FdbKey& key, std::string_view bridge_name) {
    for (auto at = by_name_.lower_bound({std::string(bridge_name), ""});
         at != by_name_.end() && at->first.first == bridge_name;) {
        named_ -= at->second.erase({key.vlan, key.mac});
        at = at->second.empty() ? by_name_.erase(at) : std::next(at);
    }
    PortBinding* binding = find(key);
    if (binding == nullptr) {
        return;
    }
    binding->saved = false;
    if (!binding->live) {
        drop(key);
    }
}

std::vector<FdbKey> FdbTable::distrust(IfIndex port) {
    std::vector<FdbKey> keys = behind(port);
    for (const FdbKey& key : keys) {
        PortBinding& binding = bindings_.at(key);
        binding.unconfirmed = true;
        binding.heard_early = false;
    }
    return keys;
}

std::vector<FdbKey> FdbTable::port_up(IfIndex port) {
    std::vector<FdbKey> keys = behind(port);
    for (const FdbKey& key : keys) {
        PortBinding& binding = bindings_.at(key);
        binding.unconfirmed = binding.unconfirmed && !binding.heard_early;
        binding.heard_early = false;
    }
    return keys;
}

std::vector<FdbKey> FdbTable::behind(IfIndex port) const {
    std::vector<FdbKey> keys;
    for (auto at = by_port_.lower_bound({port, FdbKey{}});
         at != by_port_.end() && at->first == port;
         ++at) {
        keys.push_back(at->second);
    }
    return keys;
}

std::size_t FdbTable::count_behind(IfIndex port) const {
    const auto count = counts_.find(port);
    return count == counts_.end() ? 0 : count->second;
}

void FdbTable::remember(const PortRemembered& remembered, const LinkTable& links) {
    if (bindings_.size() + named_ >= limits::kFdbMax) {
        ++refused_;
        return;
    }
    keep_name({remembered.bridge, remembered.port}, {remembered.vlan, remembered.mac});
    const Link* bridge = links.find(remembered.bridge);
    if (bridge != nullptr) {
        (void)link_appeared(*bridge, links);
    }
}

std::vector<FdbKey> FdbTable::link_appeared(const Link& link, const LinkTable& links) {
    std::vector<FdbKey> alive;
    for (auto at = by_name_.begin(); at != by_name_.end();) {
        const auto& [bridge_name, port_name] = at->first;
        const Link* bridge = links.find(bridge_name);
        const Link* port = links.find(port_name);
        const bool concerned = bridge_name == link.name || port_name == link.name;
        if (!concerned || bridge == nullptr) {
            ++at;
            continue;
        }
        for (const auto& [vlan, mac] : at->second) {
            const FdbKey key{.bridge = bridge->index, .vlan = vlan, .mac = mac};
            const auto [binding, inserted] = bindings_.try_emplace(key);
            if (inserted) {
                binding.remembered = true;
                binding.saved = true;
            }
            if (port != nullptr && !binding.live && binding.port == IfIndex::None) {
                binding.unconfirmed = binding.unconfirmed || !links.is_up(port->index);
                move_to(key, binding, port->index);
                alive.push_back(key);
            }
        }
        if (port == nullptr) {
            ++at;  // Bound to no port for now: a port that is not there carries nobody.
            continue;
        }
        named_ -= at->second.size();
        at = by_name_.erase(at);
    }
    return alive;
}

void FdbTable::link_gone(const Link& link, const LinkTable& links) {
    for (const FdbKey& key : behind(link.index)) {
        PortBinding& binding = bindings_.at(key);
        const Link* bridge = links.find(key.bridge);
        if (bridge != nullptr) {
            keep_name({bridge->name, link.name}, {key.vlan, key.mac});
        }
        binding.live = false;
        binding.unconfirmed = true;
        binding.heard_early = false;
        move_to(key, binding, IfIndex::None);
    }
    if (link.kind != LinkKind::Bridge) {
        return;
    }
    const std::vector<FdbKey> keys = bindings_.keys_from(
        {.bridge = link.index}, [&](const FdbKey& key) { return key.bridge == link.index; });
    for (const FdbKey& key : keys) {
        const PortBinding& binding = bindings_.at(key);
        const Link* port = links.find(binding.port);
        if (port != nullptr) {
            keep_name({link.name, port->name}, {key.vlan, key.mac});
        }
        drop(key);
    }
}

std::vector<FdbKey> FdbTable::dump_finish(bool complete) {
    std::vector<FdbKey> absent;
    if (!epoch_.finish(complete)) {
        return absent;
    }
    bindings_.for_each([&](const FdbKey& key, PortBinding& binding) {
        if (epoch_.is_marked(binding.mark)) {
            return;
        }
        if (std::exchange(binding.live, false)) {
            absent.push_back(key);
        }
        binding.heard_early = false;
    });
    return absent;
}

PortBinding* FdbTable::find(const FdbKey& key) {
    return bindings_.find(key);
}

const PortBinding* FdbTable::find(const FdbKey& key) const {
    return bindings_.find(key);
}

void FdbTable::move_to(const FdbKey& key, PortBinding& binding, IfIndex port) {
    leave_port(key, binding);
    binding.port = port;
    if (port != IfIndex::None && by_port_.insert({port, key}).second) {
        ++counts_[port];
    }
}

void FdbTable::leave_port(const FdbKey& key, const PortBinding& binding) {
    if (by_port_.erase({binding.port, key}) == 0) {
        return;
    }
    if (const auto count = counts_.find(binding.port); --count->second == 0) {
        counts_.erase(count);
    }
}

void FdbTable::drop(const FdbKey& key) {
    if (const PortBinding* binding = find(key); binding != nullptr) {
        leave_port(key, *binding);
        bindings_.erase(key);
    }
}

void FdbTable::keep_name(const Names& names, const Mac& mac) {
    named_ += by_name_[names].insert(mac).second ? 1U : 0U;
}

}  // namespace planed
