// SPDX-License-Identifier: Apache-2.0
#include "core/link_table.hpp"

#include "core/limits.hpp"

namespace planed {
namespace {

template <class Map, class Key>
void count_up(Map& map, const Key& key) {
    ++map[key];
}

template <class Map, class Key>
void count_down(Map& map, const Key& key) {
    const auto found = map.find(key);
    if (found != map.end() && --found->second == 0) {
        map.erase(found);
    }
}

// The link as its structure alone shows it.
Link without_state(Link link) {
    link.admin_up = false;
    link.carrier = false;
    link.oper = OperState::Unknown;
    link.carrier_down_count = 0;
    return link;
}

LinkChange difference(const Link& before, const Link& after) {
    return {
        .appeared = before.name != after.name,
        .structure = without_state(before) != without_state(after),
        .carrier = is_up(before) != is_up(after),
        .flapped = before.carrier_down_count != after.carrier_down_count ||
                   (is_up(before) && !is_up(after)),
    };
}

}  // namespace

std::optional<LinkChange> LinkTable::see(const LinkSeen& seen) {
    const Link& link = seen.link;
    const auto found = links_.find(link.index);
    const bool known = found != links_.end();
    const std::uint32_t* mark = known ? &found->second.mark : nullptr;
    if (seen.source == Source::Dump && !epoch_.accepts_row(link.index, mark)) {
        return std::nullopt;
    }
    if (!known) {
        if (links_.size() >= limits::kLinksMax) {
            ++refused_;
            return std::nullopt;
        }
        Entry& entry = links_[link.index];
        entry.link = link;
        epoch_.mark(entry.mark);
        index(link);
        ++revision_;
        return LinkChange{.appeared = true, .structure = true, .carrier = true};
    }
    Entry& entry = found->second;
    epoch_.mark(entry.mark);
    if (entry.link == link) {
        return std::nullopt;
    }
    const LinkChange change = difference(entry.link, link);
    unindex(entry.link);
    entry.link = link;
    index(link);
    ++revision_;
    return change;
}

std::optional<Link> LinkTable::gone(IfIndex index) {
    epoch_.note_deleted(index);
    const auto found = links_.find(index);
    if (found == links_.end()) {
        return std::nullopt;
    }
    Link link = std::move(found->second.link);
    links_.erase(found);
    unindex(link);
    ++revision_;
    return link;
}

std::vector<IfIndex> LinkTable::dump_finish(bool complete) {
    std::vector<IfIndex> absent;
    if (!epoch_.finish(complete)) {
        return absent;
    }
    for (const auto& [index, entry] : links_) {
        if (!epoch_.is_marked(entry.mark)) {
            absent.push_back(index);
        }
    }
    return absent;
}

const Link* LinkTable::find(IfIndex index) const {
    const auto found = links_.find(index);
    return found == links_.end() ? nullptr : &found->second.link;
}

const Link* LinkTable::find(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : find(found->second);
}

bool LinkTable::is_up(IfIndex index) const {
    const Link* link = find(index);
    return link != nullptr && planed::is_up(*link);
}

std::string_view LinkTable::name_of(IfIndex index) const {
    const Link* link = find(index);
    return link == nullptr ? std::string_view("?") : std::string_view(link->name);
}

std::vector<IfIndex> LinkTable::members_of(IfIndex master) const {
    std::vector<IfIndex> members;
    for (auto at = by_master_.lower_bound({master, IfIndex{}});
         at != by_master_.end() && at->first == master;
         ++at) {
        members.push_back(at->second);
    }
    return members;
}

void LinkTable::index(const Link& link) {
    by_name_[link.name] = link.index;
    if (link.master != IfIndex::None) {
        by_master_.insert({link.master, link.index});
    }
    if (!link.mac.is_zero()) {
        count_up(macs_, link.mac);
    }
}

void LinkTable::unindex(const Link& link) {
    const auto named = by_name_.find(link.name);
    // Two links may swap their names, and we see one event after the other.
    if (named != by_name_.end() && named->second == link.index) {
        by_name_.erase(named);
    }
    by_master_.erase({link.master, link.index});
    if (!link.mac.is_zero()) {
        count_down(macs_, link.mac);
    }
}

bool AddressTable::see(const AddressSeen& seen) {
    const Key key{seen.link, seen.address};
    const auto found = addresses_.find(key);
    const bool known = found != addresses_.end();
    if (seen.source == Source::Dump && !epoch_.accepts_row(key, known ? &found->second : nullptr)) {
        return false;
    }
    if (known) {
        epoch_.mark(found->second);
        return false;
    }
    if (addresses_.size() >= limits::kAddressesMax) {
        ++refused_;
        return false;
    }
    epoch_.mark(addresses_[key]);
    count_up(owned_, seen.address.address());
    return true;
}

bool AddressTable::gone(IfIndex link, const IpPrefix& address) {
    const Key key{link, address};
    epoch_.note_deleted(key);
    if (addresses_.erase(key) == 0) {
        return false;
    }
    count_down(owned_, address.address());
    return true;
}

bool AddressTable::link_gone(IfIndex link) {
    bool changed = false;
    for (const IpPrefix& address : of(link)) {
        changed = gone(link, address) || changed;
    }
    return changed;
}

std::vector<std::pair<IfIndex, IpPrefix>> AddressTable::dump_finish(bool complete) {
    std::vector<Key> absent;
    if (!epoch_.finish(complete)) {
        return absent;
    }
    for (const auto& [key, mark] : addresses_) {
        if (!epoch_.is_marked(mark)) {
            absent.push_back(key);
        }
    }
    for (const Key& key : absent) {
        (void)gone(key.first, key.second);
    }
    return absent;
}

std::vector<IpPrefix> AddressTable::of(IfIndex link) const {
    std::vector<IpPrefix> result;
    for (auto at = addresses_.lower_bound({link, IpPrefix{}});
         at != addresses_.end() && at->first.first == link;
         ++at) {
        result.push_back(at->first.second);
    }
    return result;
}

}  // namespace planed
