// SPDX-License-Identifier: Apache-2.0
#include "statedb/mirror.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "net/assert.hpp"

namespace planed::statedb {
namespace {

constexpr Object kGlobal{.table = Table::Global};

NeighborKey neighbor_key(const Object& object) {
    return {.link = object.link, .address = object.address};
}

RouteKey route_key(const Object& object) {
    return {.vrf = object.vrf, .prefix = host_prefix(object.address)};
}

std::string row_of(std::size_t fields) {
    return fmt::format("a row of {} field{}", fields, fields == 1 ? "" : "s");
}

}  // namespace

Mirror::Mirror(MirrorOptions options)
    : options_(std::move(options)),
      global_key_(statedb::global_key(options_.separator)),
      rows_(Rows::Options{
          .in_flight_max = options_.in_flight_max,
          // A connection answers everything in order or ends: no answer is ever overdue, and what
          // was sent before a read-back began has been carried out before it.
          .answer_timeout = 24h,
          .audit_settle = 1ns,
          .retry_max = 400ms,
      }) {}

// Wishes ------------------------------------------------------------------------------------------

void Mirror::take(const Changes& changes) {
    slow_dirty_ = slow_dirty_ || !changes.interfaces.empty();
    rebuild_ = rebuild_ || changes.renamed;
    // More in arrears than there are rows: then looking at everything once is less.
    const std::size_t arrears = dirty_.size() - refreshed_;
    constexpr std::size_t kArrears = 65'536;
    rebuild_ = rebuild_ || arrears > kArrears + shown_.size();
    if (rebuild_) {
        return;
    }
    for (const NeighborKey& key : changes.hosts) {
        dirty_.push_back(object_of(key));
    }
    for (const RouteKey& key : changes.routes) {
        dirty_.push_back(object_of(key));
    }
    for (const NeighborKey& key : changes.proxies) {
        dirty_.push_back(proxy_of(key));
    }
}

bool Mirror::evpn_rows_due(TimePoint now) const {
    return evpn_changed_ && now >= std::max(slow_not_before_, evpn_not_before_);
}

void Mirror::take(const EvpnRows& rows, TimePoint now) {
    evpn_changed_ = false;
    evpn_not_before_ = now + options_.slow_rows_every;
    absl::btree_map<Object, SegmentRow> segments;
    for (const SegmentRow& segment : rows.segments) {
        segments.try_emplace(object_of(segment), segment);
    }
    absl::btree_map<Object, EvpnPeerRow> peers;
    for (const EvpnPeerRow& peer : rows.peers) {
        peers.try_emplace(object_of(peer), peer);
    }
    if (segments == segments_ && peers == evpn_peers_) {
        return;
    }
    segments_ = std::move(segments);
    evpn_peers_ = std::move(peers);
    slow_dirty_ = true;
}

void Mirror::take(const std::vector<ConfigRow>& refused) {
    config_rows_.clear();
    for (const ConfigRow& row : refused) {
        config_rows_.try_emplace(object_of(row), row);
    }
    slow_dirty_ = true;
}

void Mirror::set_wall(WallOffset wall) {
    wall_ = wall;
    rebuild_ = true;
}

void Mirror::settle(const EngineView& view, TimePoint now) {
    settled_at_ = now;
    describe_found(view);
    if (!filled_ && !view.is_whole()) {
        return;
    }
    if (std::exchange(rebuild_, false)) {
        refill(view);
    }
    std::size_t budget = options_.planned_per_turn_max;
    while (refreshed_ < dirty_.size() && budget > 0) {
        refresh(dirty_[refreshed_], view, now);
        ++refreshed_;
        --budget;
    }
    if (refreshed_ < dirty_.size()) {
        return;
    }
    dirty_.clear();
    refreshed_ = 0;
    refresh_slow_rows(view, now);
    filled_ = true;
}

void Mirror::refill(const EngineView& view) {
    dirty_.clear();
    refreshed_ = 0;
    slow_dirty_ = true;
    slow_not_before_ = {};
    for (const auto& [object, shown] : shown_) {
        dirty_.push_back(object);
    }
    for (const NeighborKey& key : view.all_hosts()) {
        dirty_.push_back(object_of(key));
    }
    for (const RouteKey& key : view.all_routes()) {
        dirty_.push_back(object_of(key));
    }
    for (const NeighborKey& key : view.all_proxies()) {
        dirty_.push_back(proxy_of(key));
    }
    std::sort(dirty_.begin(), dirty_.end());
    dirty_.erase(std::unique(dirty_.begin(), dirty_.end()), dirty_.end());
}

void Mirror::refresh(const Object& object, const EngineView& view, TimePoint now) {
    switch (object.table) {
        case Table::Neighbor: refresh_host(object, view); return;
        case Table::Route: refresh_route(object, view, now); return;
        case Table::Proxy: refresh_proxy(object, view); return;
        case Table::Global:
        case Table::Interface:
        case Table::Segment:
        case Table::EvpnPeer:
        case Table::Config: return;  // With the slow rows.
    }
}

void Mirror::refresh_host(const Object& object, const EngineView& view) {
    const auto host = view.host(neighbor_key(object));
    if (!host) {
        hide(object);
        return;
    }
    Shown& shown = shown_[object];
    count(object, shown, host->reason == Reason::Eligible);
    show(object, shown, key_of(*host, options_.separator), fields_of(*host, wall_));
}

void Mirror::refresh_route(const Object& object, const EngineView& view, TimePoint now) {
    const auto route = view.route(route_key(object));
    if (!route) {
        hide(object);
        return;
    }
    Shown& shown = shown_[object];
    if (shown.state != route->state) {
        shown.state = route->state;
        shown.since = now;
    }
    count(object, shown, route->state == SinkState::Held);
    show(object, shown, key_of(*route, options_.separator), fields_of(*route, shown.since, wall_));
}

void Mirror::refresh_proxy(const Object& object, const EngineView& view) {
    const auto proxy = view.proxy(neighbor_key(object));
    if (!proxy) {
        hide(object);
        return;
    }
    show(object, shown_[object], key_of(*proxy, options_.separator), fields_of(*proxy));
}

// The rows that count: each change of a host or of a peer's route would change them, so they are
// not written each time.
void Mirror::refresh_slow_rows(const EngineView& view, TimePoint now) {
    NodeView node = view.node();
    if (node.name.empty()) {
        node.name = options_.host_name;
    }
    slow_dirty_ = slow_dirty_ || changed_ || node != node_;
    if (!slow_dirty_ || now < slow_not_before_) {
        return;
    }
    slow_dirty_ = false;
    slow_not_before_ = now + options_.slow_rows_every;
    node_ = std::move(node);

    std::vector<Object> gone;
    for (const auto& [object, fields] : slow_rows_) {
        if (!slow_object_exists(object, view)) {
            gone.push_back(object);
        }
    }
    for (const Object& object : gone) {
        slow_rows_.erase(object);
        hide(object);
    }
    for (const IfIndex link : view.all_interfaces()) {
        const auto interface = view.interface(link);
        const auto hosts = hosts_on_.find(link);
        show_slow(object_of(link),
                  key_of(*interface, options_.separator),
                  fields_of(*interface, {.hosts = hosts == hosts_on_.end() ? 0 : hosts->second}));
    }
    for (const auto& [object, segment] : segments_) {
        show_slow(object, key_of(segment, options_.separator), fields_of(segment));
    }
    for (const auto& [object, peer] : evpn_peers_) {
        show_slow(object, key_of(peer, options_.separator), fields_of(peer, wall_));
    }
    for (const auto& [object, row] : config_rows_) {
        show_slow(object, key_of(row, options_.separator), fields_of(row));
    }
    Fields global = fields_of(node_, options_.version, counts_);
    // Whatever row has changed, this one has too: a database that is not as we left it shows here.
    if (std::exchange(changed_, false) || global != global_) {
        global_ = global;
        updated_ = now;
    }
    global.push_back({"updated", timestamp(updated_, wall_)});
    show_slow(kGlobal, global_key_, std::move(global));
    changed_ = false;
}

bool Mirror::slow_object_exists(const Object& object, const EngineView& view) const {
    switch (object.table) {
        case Table::Interface: return view.interface(object.link).has_value();
        case Table::Segment: return segments_.contains(object);
        case Table::EvpnPeer: return evpn_peers_.contains(object);
        case Table::Config: return config_rows_.contains(object);
        case Table::Global: return true;
        case Table::Neighbor:
        case Table::Route:
        case Table::Proxy: break;  // Never slow.
    }
    return false;
}

void Mirror::show_slow(const Object& object, std::string key, Fields fields) {
    show(object, shown_[object], std::move(key), fields);
    slow_rows_[object] = std::move(fields);
}

void Mirror::show(const Object& object, Shown& shown, std::string key, const Fields& fields) {
    if (shown.key != key) {
        release(object, shown.key);
        shown.key = std::move(key);
    }
    // A name may pass from one interface to another before the first is looked at again.
    const auto& desired = rows_.desired(shown.key);
    if (desired && desired->object != object) {
        rows_.unwant(shown.key);
    }
    const Wish wish{.digest = digest(fields), .object = object};
    changed_ = changed_ || rows_.desired(shown.key) != wish;
    rows_.want(shown.key, wish);
}

void Mirror::hide(const Object& object) {
    const auto found = shown_.find(object);
    if (found == shown_.end()) {
        return;
    }
    changed_ = true;
    count(object, found->second, false);
    release(object, found->second.key);
    shown_.erase(found);
}

void Mirror::release(const Object& object, const std::string& key) {
    const auto& desired = rows_.desired(key);
    if (desired && desired->object == object) {
        rows_.unwant(key);
    }
}

void Mirror::count(const Object& object, Shown& shown, bool counted) {
    if (shown.counted == counted) {
        return;
    }
    shown.counted = counted;
    slow_dirty_ = true;
    const auto add = [counted](std::size_t& number) { counted ? ++number : --number; };
    switch (object.table) {
        case Table::Neighbor: {
            add(counts_.hosts);
            const auto on = hosts_on_.try_emplace(object.link).first;
            add(on->second);
            if (on->second == 0) {
                hosts_on_.erase(on);
            }
            return;
        }
        case Table::Route: add(counts_.routes); return;
        case Table::Proxy:
        case Table::Global:
        case Table::Interface:
        case Table::Segment:
        case Table::EvpnPeer:
        case Table::Config: return;
    }
}

std::optional<Mirror::Rendered> Mirror::render(const Object& object,
                                               const EngineView& view,
                                               const Shown& shown) const {
    switch (object.table) {
        case Table::Neighbor:
            if (const auto host = view.host(neighbor_key(object))) {
                return Rendered{.key = key_of(*host, options_.separator),
                                .fields = fields_of(*host, wall_)};
            }
            return std::nullopt;
        case Table::Route:
            if (const auto route = view.route(route_key(object))) {
                return Rendered{.key = key_of(*route, options_.separator),
                                .fields = fields_of(*route, shown.since, wall_)};
            }
            return std::nullopt;
        case Table::Proxy:
            if (const auto proxy = view.proxy(neighbor_key(object))) {
                return Rendered{.key = key_of(*proxy, options_.separator),
                                .fields = fields_of(*proxy)};
            }
            return std::nullopt;
        case Table::Global:
        case Table::Interface:
        case Table::Segment:
        case Table::EvpnPeer:
        case Table::Config: return Rendered{.key = shown.key, .fields = slow_rows_.at(object)};
    }
    return std::nullopt;
}

// The database ------------------------------------------------------------------------------------

void Mirror::up(TimePoint now) {
    up_ = true;
    reading_ = false;
    first_read_ = false;
    read_back_wanted_ = true;
    heart_beating_ = false;
    global_row_stood_ = false;
    in_step_ = false;
    refusal_.clear();
    refuses_deletes_ = false;
    replace_.clear();
    read_back_not_before_ = now;
    heartbeat_at_ = now + options_.heartbeat;
    audit_at_ = now + options_.audit_interval;
    puts_held_until_.reset();
    rows_.forget_actual();
}

void Mirror::lost() {
    audit_.lost();
    up_ = false;
    reading_ = false;
    in_step_ = false;
}

bool Mirror::read_back_due(TimePoint now) const {
    return !reading_ && now >= read_back_not_before_ && (read_back_wanted_ || now >= audit_at_);
}

// What is there already need not be written: reading it first is half the work where Redis has kept
// everything, and no work where it has kept nothing. A database full of other things takes longer.
bool Mirror::puts_may_go(TimePoint now) const {
    return first_read_ || (puts_held_until_ && now >= *puts_held_until_);
}

std::optional<MirrorOp> Mirror::next(const EngineView& view, TimePoint now) {
    if (!up_ || !filled_) {
        return std::nullopt;
    }
    if (audit_.wants() && first_read_ && !reading_) {
        read_back_wanted_ = true;
        audit_.asked();
    }
    if (read_back_due(now)) {
        audit_.read_begins(first_read_, now);
        reading_ = true;
        read_back_wanted_ = false;
        puts_held_until_ = puts_held_until_.value_or(now + options_.hold_puts);
        rows_.audit_begin(now);
        return ReadBack{};
    }
    if (!heart_beating_ && now >= heartbeat_at_) {
        heart_beating_ = true;
        heartbeat_at_ = now + options_.heartbeat;
        return ReadRow{.key = global_key_};
    }
    while (const auto op = next_row(now)) {
        if (auto carried = carry(*op, view, now)) {
            return carried;
        }
    }
    in_step_ = in_step_ || (first_read_ && rows_.quiet() && refusal_.empty());
    return std::nullopt;
}

std::optional<Mirror::Rows::Op> Mirror::next_row(TimePoint now) {
    if (refusal_.empty()) {
        return puts_may_go(now) ? rows_.next(now) : rows_.next_delete(now);
    }
    // A database that is full still lets go of rows.
    if (!refuses_deletes_) {
        if (auto op = rows_.next_delete(now)) {
            return op;
        }
    }
    if (now < try_at_) {
        return std::nullopt;
    }
    try_at_ = now + options_.refused_retry;
    auto op = rows_.next(now);
    if (!op) {
        rows_.refresh(global_key_);
        op = rows_.next(now);
    }
    return op;
}

std::optional<MirrorOp> Mirror::carry(const Rows::Op& op, const EngineView& view, TimePoint now) {
    if (!op.put) {
        return DropRow{.id = op.id, .key = op.key};
    }
    const auto shown = shown_.find(op.put->object);
    auto rendered =
        shown == shown_.end() ? std::nullopt : render(shown->first, view, shown->second);
    if (!rendered || rendered->key != op.key) {
        // It has gone or has another name, and settle() has not come to it yet.
        rows_.complete(op, OpResult::Busy, now);
        return std::nullopt;
    }
    return PutRow{.id = op.id,
                  .key = op.key,
                  .fields = std::move(rendered->fields),
                  .replace = replace_.contains(op.key)};
}

void Mirror::answered(std::uint64_t id,
                      const std::string& key,
                      Answer answer,
                      std::string_view words,
                      TimePoint now) {
    const auto op = rows_.in_flight(key);
    if (!op || op->id != id) {
        // A row was wanted no more before its put was answered: the answer to the delete counts.
        return;
    }
    switch (answer) {
        case Answer::Created:
        case Answer::Done:
            if (op->put && key == global_key_) {
                // A flush just before would be hidden from the next look at this row.
                const bool stood = std::exchange(global_row_stood_, true);
                read_back_wanted_ = read_back_wanted_ || (stood && answer == Answer::Created);
            }
            replace_.erase(key);
            if (op->put || refuses_deletes_) {
                refusal_.clear();
                refuses_deletes_ = false;
            }
            rows_.complete(*op, OpResult::Done, now);
            return;
        case Answer::Refused:
            refusal_ = words;
            refuses_deletes_ = refuses_deletes_ || !op->put;
            try_at_ = now + options_.refused_retry;
            rows_.complete(*op, OpResult::Busy, now);
            return;
        case Answer::WrongType:
            replace_.insert(key);
            rows_.complete(*op, OpResult::Busy, now);
            return;
    }
}

void Mirror::row_seen(const std::string& key,
                      std::span<const std::string_view> names_and_values,
                      TimePoint now) {
    if (!reading_) {
        return;
    }
    const auto& desired = rows_.desired(key);
    if (desired && !has_fields_of(desired->object.table, names_and_values)) {
        replace_.insert(key);
    }
    global_row_stood_ = global_row_stood_ || key == global_key_;
    const Wish seen{.digest = digest(names_and_values)};
    compare(key, seen, names_and_values);
    rows_.observe(key, seen, now);
}

void Mirror::row_of_wrong_type(const std::string& key, TimePoint now) {
    if (!reading_) {
        return;
    }
    if (rows_.desired(key)) {
        replace_.insert(key);
    }
    compare(key, Wish{}, {});  // A digest that no row has.
    rows_.observe(key, Wish{}, now);
}

void Mirror::heartbeat_seen(std::span<const std::string_view> names_and_values, TimePoint now) {
    heart_beating_ = false;
    // Two looks at one row: what it was believed to be, and what it is.
    if (reading_ || rows_.state(global_key_) != SinkState::Held) {
        return;
    }
    if (digest(names_and_values) != rows_.desired(global_key_)->digest) {
        read_back_wanted_ = true;
        read_back_not_before_ = std::max(read_back_not_before_, now);
    }
}

void Mirror::heartbeat_refused() {
    heart_beating_ = false;
    read_back_wanted_ = true;
}

void Mirror::read_back_finished(bool complete, TimePoint now) {
    if (!reading_) {
        return;
    }
    reading_ = false;
    read_back_not_before_ = now + options_.read_back_spacing;
    if (!complete) {
        read_back_wanted_ = true;
        return;
    }
    rows_.audit_end(now, [this](const std::string& key) { compare(key, std::nullopt, {}); });
    audit_.read_ends(true);
    // Once more soon: a server that was stopped still carries out what an earlier connection of
    // ours had sent, and may do so in between.
    audit_at_ = now + (std::exchange(first_read_, true) ? options_.audit_interval
                                                        : options_.second_read_back);
}

// Audits ------------------------------------------------------------------------------------------

void Mirror::compare(const std::string& key,
                     std::optional<Wish> actual,
                     std::span<const std::string_view> names_and_values) {
    audit_.entry_read(actual.has_value());
    if (!audit_.compares() || !rows_.differs(key, actual)) {
        return;
    }
    RowAudit::Found found{
        .key = key, .there = actual.has_value(), .is_row = !actual || actual->digest != 0};
    for (std::size_t i = 0; audit_.is_collecting() && i + 1 < names_and_values.size(); i += 2) {
        found.fields.emplace_back(names_and_values[i], names_and_values[i + 1]);
    }
    audit_.found(std::move(found));
}

// Not all in one turn: there may be as many as there are rows.
void Mirror::describe_found(const EngineView& view) {
    for (std::size_t told = 0; told < options_.planned_per_turn_max && audit_.is_pending();
         ++told) {
        audit_.tell(words_of(audit_.take_pending(), view));
    }
}

Difference Mirror::words_of(const RowAudit::Found& found, const EngineView& view) const {
    Difference difference{.table = AuditTable::Rows, .object = found.key, .action = "removed"};
    if (found.there) {
        difference.found = found.is_row ? row_of(found.fields.size()) : "something that is no row";
    }
    const auto& desired = rows_.desired(found.key);
    if (!desired) {
        return difference;
    }
    difference.action = "written again";
    difference.interface = view.name_of(desired->object.link);
    difference.wanted = row_of(names_of(desired->object.table).size());
    const auto shown = shown_.find(desired->object);
    if (!found.there || !found.is_row || shown == shown_.end()) {
        return difference;
    }
    if (const auto rendered = render(shown->first, view, shown->second)) {
        FieldDifference fields = difference_of(rendered->fields, found.fields);
        difference.wanted = std::move(fields.wanted);
        difference.found = std::move(fields.found);
    }
    return difference;
}

std::optional<TimePoint> Mirror::wake_at(bool has_room) {
    std::optional<TimePoint> at;
    const auto sooner = [&at](TimePoint candidate) {
        at = at ? std::min(*at, candidate) : candidate;
    };
    if (refreshed_ < dirty_.size() || audit_.is_pending()) {
        return settled_at_;
    }
    if ((slow_dirty_ || changed_) && filled_) {
        sooner(slow_not_before_);
    }
    if (evpn_changed_ && filled_) {
        sooner(std::max(slow_not_before_, evpn_not_before_));
    }
    if (!up_ || !filled_ || !has_room) {
        return at;
    }
    if (!heart_beating_) {
        sooner(heartbeat_at_);
    }
    if (!reading_) {
        sooner(read_back_wanted_ ? read_back_not_before_
                                 : std::max(audit_at_, read_back_not_before_));
    }
    if (!refusal_.empty()) {
        sooner(try_at_);
        return at;
    }
    if (puts_held_until_ && !puts_may_go(settled_at_)) {
        sooner(*puts_held_until_);
    }
    if (const auto deadline = rows_.deadline()) {
        sooner(*deadline);
    }
    return at;
}

}  // namespace planed::statedb
