// SPDX-License-Identifier: Apache-2.0
// Engine: whole tables that are read, and notifications that were lost. What a complete read did
// not show is gone; nothing goes for absence before that.
#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "core/engine.hpp"
#include "core/limits.hpp"

namespace planed {
namespace {

std::string_view word(DumpKind kind) {
    switch (kind) {
        case DumpKind::Links: return "links";
        case DumpKind::Addresses: return "addresses";
        case DumpKind::Neighbors: return "neighbours";
        case DumpKind::Fdb: return "forwarding entries";
        case DumpKind::Proxies: return "proxied neighbours";
    }
    return "unknown";
}

}  // namespace

void Engine::on(const DumpStarted& started, TimePoint /*now*/) {
    dumps_.started(started.kind);
    switch (started.kind) {
        case DumpKind::Links: links_.dump_begin(); return;
        case DumpKind::Addresses: addresses_.dump_begin(); return;
        case DumpKind::Neighbors: neighbors_.dump_begin(); return;
        case DumpKind::Fdb: fdb_.dump_begin(); return;
        case DumpKind::Proxies: return;  // Since it was asked for.
    }
}

void Engine::on(const DumpFinished& finished, TimePoint now) {
    // Events of this table were lost while it was being read: its rows may be older than those.
    const bool conclusive = finished.complete && !dumps_.requested(finished.kind);
    dumps_.finished(finished.kind, finished.complete, conclusive, now);
    switch (finished.kind) {
        case DumpKind::Links:
            for (const IfIndex index : links_.dump_finish(conclusive)) {
                const Link link = *links_.find(index);
                on(LinkGone{.link = index}, now);
                audit_link_gone(link);
            }
            audit_settings(now);
            break;
        case DumpKind::Addresses:
            if (const auto gone = addresses_.dump_finish(conclusive); !gone.empty()) {
                for (const auto& [link, address] : gone) {
                    audit_address(link, address, false);
                }
                served_dirty_ = true;
                mark_all_dirty();
            }
            break;
        case DumpKind::Neighbors:
            sweep_neighbors(conclusive, now);
            for (const auto& [key, host] : statics_) {
                pins_.push_back(key);
            }
            recheck_synced();
            break;
        case DumpKind::Fdb:
            for (const FdbKey& key : fdb_.dump_finish(conclusive)) {
                if (audits_.compares(AuditTable::Forwarding)) {
                    audit_forwarding(key, fdb_.find(key)->port, std::nullopt);
                }
            }
            break;
        case DumpKind::Proxies: proxies_.dump_finish(finished.complete, now); break;
    }
    read_ends(finished.kind, conclusive, now);
    if (!finished.complete) {
        say(Level::Warn,
            "netlink.dump.incomplete",
            fmt::format("table=\"{}\" text=\"interrupted or failed, will read again\"",
                        word(finished.kind)));
        return;
    }
    if (conclusive && overrun_.erase(finished.kind) > 0) {
        ++resyncs_;
        say(Level::Info, "netlink.resynced", fmt::format("table=\"{}\"", word(finished.kind)));
    }
    if (dumps_.synced(DumpKind::Links)) {
        reach(Milestone::LinksSynced, now);
    }
    if (dumps_.all_synced() && !facts_whole_) {
        facts_whole_ = true;
        served_dirty_ = true;
        mark_all_dirty();
        reach(Milestone::NeighborsSynced, now);
    }
}

void Engine::sweep_neighbors(bool conclusive, TimePoint now) {
    for (const NeighborKey& key : neighbors_.dump_finish(conclusive)) {
        const NeighborRecord* record = neighbors_.find(key);
        if (audits_.compares(AuditTable::Neighbors)) {
            audit_neighbor(key, record->neighbor, Neighbor{});
        }
        // What was silent for a minute may have been collected, what spoke since cannot have.
        const bool collectable =
            record->neighbor.state == Nud::Stale && record->changed + limits::kGcStaleTime <= now;
        if (collectable) {
            neighbor_lost(key, now);
        } else {
            remove_neighbor(key, now);
        }
    }
    // Whoever is still in doubt is asked once more with every audit.
    for (const NeighborKey& key : neighbors_.probed()) {
        neighbors_.find(key)->probed = false;
        mark_dirty(key);
    }
}

void Engine::on(const EventsWaiting& waiting, TimePoint /*now*/) {
    neighbors_waiting_ = neighbors_waiting_ || waiting.kind == DumpKind::Neighbors;
}

void Engine::on(const EventsLost& lost, TimePoint /*now*/) {
    ++overruns_;
    overrun_.insert(lost.kind);
    if (lost.kind == DumpKind::Neighbors) {
        deletions_.clear();  // Their notifications may be among what was lost.
    }
    dumps_.request(lost.kind);
    say(Level::Warn,
        "netlink.overrun",
        fmt::format(
            "table=\"{}\" text=\"the kernel dropped notifications, will read the table again\"",
            word(lost.kind)));
    if (lost.kind == DumpKind::Links) {
        // A flap may be among what was lost: put the routes again, without a gap.
        sink_.refresh_all();
        dumps_.request(DumpKind::Proxies);
    }
}

}  // namespace planed
