// SPDX-License-Identifier: Apache-2.0
#include "core/proxies.hpp"

#include <cerrno>
#include <utility>

#include "core/eligibility.hpp"
#include "core/limits.hpp"

namespace planed {

bool wants_proxy(const ServedInterface& served, const IpAddress& address, const ProxyFacts& facts) {
    if (!facts.in_plane || facts.is_here) {
        return false;
    }
    // Whatever is known of no neighbour is unresolved, if nothing speaks against its address.
    return judge({.address = address,
                  .neighbor = Neighbor{},
                  .served = &served,
                  .own_address = facts.own_address}) == Reason::Unresolved;
}

Proxies::Proxies()
    : entries_(Entries::Options{
          .in_flight_max = limits::kProxiesPerTurnMax,
          // The kernel answers in order, or the shell says that an answer was lost.
          .answer_timeout = 24h,
          // What was sent in an earlier turn than a dump's request was carried out before it.
          .audit_settle = 1ns,
      }) {}

// Wishes ------------------------------------------------------------------------------------------

void Proxies::serve(const ServedInterface& served) {
    ServedInterface& kept = served_[served.link];
    kept = served;
    kept.up = true;
    for (const NeighborKey& key : on_link(served.link)) {
        marked_.insert(key.address);  // It may be outside of the new prefixes.
    }
}

void Proxies::unserve(IfIndex link) {
    if (served_.erase(link) == 0) {
        return;
    }
    for (const NeighborKey& key : on_link(link)) {
        entries_.unwant(key);
    }
}

void Proxies::forget(IfIndex link, TimePoint now) {
    unserve(link);
    for (const NeighborKey& key : on_link(link)) {
        entries_.observe(key, std::nullopt, now);
    }
    const auto concerns = [link](const NeighborKey& key) { return key.link == link; };
    absl::erase_if(foreign_, concerns);
}

void Proxies::mark(const IpAddress& address) {
    if (!address.is_v4() && !served_.empty()) {
        marked_.insert(address);
    }
}

void Proxies::decide(const NeighborKey& key, bool wanted) {
    if (!wanted || foreign_.contains(key)) {
        entries_.unwant(key);
        return;
    }
    if (entries_.size() >= limits::kProxiesMax && entries_.state(key) == SinkState::Absent) {
        ++refused_;
        return;
    }
    entries_.want(key, ProxyEntry{});
}

std::vector<NeighborKey> Proxies::on_link(IfIndex link) const {
    constexpr std::size_t kPiece = 1024;
    std::vector<NeighborKey> keys;
    std::optional<NeighborKey> after = NeighborKey{.link = link};  // 0.0.0.0 is never proxied.
    while (true) {
        const std::vector<NeighborKey> piece = entries_.keys_after(after, kPiece);
        for (const NeighborKey& key : piece) {
            if (key.link != link) {
                return keys;
            }
            keys.push_back(key);
        }
        if (piece.size() < kPiece) {
            return keys;
        }
        after = piece.back();
    }
}

// What the kernel has -----------------------------------------------------------------------------

void Proxies::dump_begin(TimePoint now) {
    foreign_so_far_.clear();
    found_.clear();
    entries_.audit_begin(now);
}

void Proxies::see(const ProxySeen& seen, TimePoint now) {
    if (seen.key.address.is_v4()) {
        return;
    }
    if (seen.protocol != kNeighborProtocol) {
        see_foreign(seen.key, now);
        return;
    }
    if (foreign_.erase(seen.key) > 0) {
        mark(seen.key.address);
    } else {
        compare(seen.key, true);
    }
    entries_.observe(seen.key, ProxyEntry{}, now);
}

// Until the wishes are known nothing can be against them.
void Proxies::compare(const NeighborKey& key, bool there) {
    const auto actual = there ? std::optional(ProxyEntry{}) : std::nullopt;
    const bool decided = trusted_ && !marked_.contains(key.address);
    if (decided && found_.size() < limits::kProxiesMax && entries_.differs(key, actual)) {
        found_.push_back({.key = key, .there = there});
    }
}

void Proxies::see_foreign(const NeighborKey& key, TimePoint now) {
    if (foreign_so_far_.size() >= limits::kProxiesMax) {
        ++refused_;
        return;
    }
    foreign_so_far_.insert(key);
    if (foreign_.insert(key).second) {
        // First the wish: what is not there and not wanted is not deleted.
        entries_.unwant(key);
        entries_.observe(key, std::nullopt, now);
    }
}

void Proxies::dump_finish(bool complete, TimePoint now) {
    if (!complete) {
        return;
    }
    for (const NeighborKey& key : foreign_) {
        if (!foreign_so_far_.contains(key)) {
            mark(key.address);
        }
    }
    std::swap(foreign_, foreign_so_far_);
    foreign_so_far_.clear();
    entries_.audit_end(now, [this](const NeighborKey& key) { compare(key, false); });
}

// Operations --------------------------------------------------------------------------------------

void Proxies::begin_turn() {
    budget_ = limits::kProxiesPerTurnMax;
}

std::optional<SendProxy> Proxies::next(std::uint64_t& next_request, TimePoint now) {
    if (!trusted_ || budget_ == 0) {
        return std::nullopt;
    }
    auto op = entries_.next(now);
    if (!op) {
        return std::nullopt;
    }
    --budget_;
    const SendProxy send{.request = next_request++, .key = op->key, .put = op->put.has_value()};
    asked_.emplace(send.request, std::move(*op));
    return send;
}

std::vector<SendProxy> Proxies::remove_all(std::uint64_t& next_request) {
    std::vector<SendProxy> removals;
    entries_.for_each([&](const NeighborKey& key, const auto& /*desired*/, SinkState state) {
        if (trusted_ && state != SinkState::Absent) {
            removals.push_back({.request = next_request++, .key = key, .put = false});
        }
    });
    return removals;
}

std::optional<Proxies::Outcome> Proxies::answered(const KernelAnswered& answer, TimePoint now) {
    const auto found = asked_.find(answer.request);
    if (found == asked_.end()) {
        return std::nullopt;
    }
    const Entries::Op op = std::move(found->second);
    asked_.erase(found);
    const int number = answer.error ? answer.error->system_errno : 0;
    // What is to go and is not there, or has gone with its interface, is gone.
    const bool gone = !op.put && (number == ENOENT || number == ENODEV);
    if (!answer.error || gone) {
        entries_.complete(op, OpResult::Done, now);
        return Outcome{.key = op.key};
    }
    entries_.complete(op, OpResult::Busy, now);
    return Outcome{.key = op.key, .error = answer.error};
}

bool Proxies::is_settled() const {
    return trusted_ && marked_.empty() && asked_.empty() && entries_.quiet();
}

std::optional<TimePoint> Proxies::wake_at(TimePoint now) {
    const bool starved = trusted_ && budget_ == 0 && entries_.queued() > 0;
    if (starved || !marked_.empty()) {
        return now;
    }
    return trusted_ ? entries_.deadline() : std::nullopt;
}

}  // namespace planed
