// SPDX-License-Identifier: Apache-2.0
#include "core/route_sink.hpp"

#include <algorithm>
#include <vector>

#include "core/limits.hpp"

namespace planed {

RouteSink::RouteSink() : routes_(Routes::Options{.in_flight_max = limits::kRoutesInFlightMax}) {}

void RouteSink::refresh_all() {
    std::vector<RouteKey> keys;
    routes_.for_each([&](const RouteKey& key, const std::optional<HostRoute>& desired, SinkState) {
        if (desired) {
            keys.push_back(key);
        }
    });
    for (const RouteKey& key : keys) {
        routes_.refresh(key);
    }
}

void RouteSink::up(TimePoint now) {
    up_ = true;
    reading_ = false;
    read_back_wanted_ = false;
    read_backs_ = 0;
    audit_at_ = now + limits::kAuditInterval;
    routes_.forget_actual();
}

void RouteSink::lost() {
    up_ = false;
    reading_ = false;
    audit_at_.reset();
}

void RouteSink::answered(const RouteAnswered& answer, TimePoint now) {
    const RouteKey& key = answer.key;
    const auto op = routes_.in_flight(key);
    const bool put = op && op->put;
    const bool removal = op && !op->put;
    switch (answer.answer) {
        case RouteAnswer::Installed:
            if (put) {
                routes_.complete(*op, OpResult::Done, now);
            } else if (!op) {
                // Unasked: what it preferred is gone. Nobody may want ours any more by now.
                routes_.observe(key, routes_.desired(key).value_or(HostRoute{}), now);
            }
            return;  // With a removal in flight it is the answer to what came before.
        case RouteAnswer::Removed:
            if (removal) {
                routes_.complete(*op, OpResult::Done, now);
            } else if (!op) {
                routes_.observe(key, std::nullopt, now);
            }
            return;  // With a put in flight it may belong to a removal before: the put's answer
                     // decides.
        case RouteAnswer::FailedInstall:
            if (put) {
                routes_.complete(*op, OpResult::Busy, now);
            } else if (!op) {
                routes_.observe(key, std::nullopt, now);
            }
            return;
        case RouteAnswer::BetterWon:
            if (put) {
                routes_.complete(*op, OpResult::Rejected, now);
            } else if (!op) {
                routes_.reject(key, now);
            }
            return;
        case RouteAnswer::RemoveFailed:
            if (removal) {
                routes_.complete(*op, OpResult::Busy, now);
            }
            return;
    }
}

void RouteSink::seen(const RouteSeen& seen, TimePoint now) {
    if (reading_) {
        compare(seen.key, seen.route);
        routes_.observe(seen.key, seen.route, now);
    }
}

void RouteSink::compare(const RouteKey& key, const std::optional<HostRoute>& route) {
    if (read_backs_ > 0 && found_.size() < limits::kRoutesInFlightMax &&
        routes_.differs(key, route)) {
        found_.push_back({.key = key,
                          .wanted = routes_.desired(key),
                          .route = route,
                          .rejected = routes_.state(key) == SinkState::Rejected});
    }
}

void RouteSink::read_back_finished(const ReadBackFinished& finished, TimePoint now) {
    if (!reading_) {
        return;
    }
    reading_ = false;
    read_back_not_before_ = now + limits::kReadBackSpacing;
    if (!finished.complete) {
        read_back_wanted_ = true;
        return;
    }
    routes_.audit_end(now, [this](const RouteKey& key) { compare(key, std::nullopt); });
    ++read_backs_;
    audit_at_ = now + limits::kAuditInterval;
}

std::optional<SendRoute> RouteSink::next(TimePoint now) {
    if (!up_) {
        return std::nullopt;
    }
    auto op = routes_.next(now);
    if (!op) {
        return std::nullopt;
    }
    return SendRoute{.key = op->key, .put = op->put};
}

bool RouteSink::read_back_due(TimePoint now) {
    if (!up_) {
        return false;
    }
    // First of all, for it moves the deadline: zebra may take long over a read-back.
    const bool overdue = routes_.overdue(now);
    if (reading_ && reading_since_ + limits::kReadBackTimeout > now) {
        return false;
    }
    const bool audit = audit_at_ && *audit_at_ <= now;
    if (!(overdue || audit || read_back_wanted_) || read_back_not_before_ > now) {
        return false;
    }
    reading_ = true;
    reading_since_ = now;
    read_back_wanted_ = false;
    read_back_not_before_ = now + limits::kReadBackSpacing;
    found_.clear();
    routes_.audit_begin(now);
    return true;
}

std::optional<TimePoint> RouteSink::wake_at() {
    if (!up_) {
        return std::nullopt;
    }
    std::optional<TimePoint> at = routes_.deadline();
    const auto sooner = [&at](TimePoint candidate) {
        at = at ? std::min(*at, candidate) : candidate;
    };
    if (reading_) {
        sooner(reading_since_ + limits::kReadBackTimeout);
    } else {
        if (audit_at_) {
            sooner(std::max(*audit_at_, read_back_not_before_));
        }
        if (read_back_wanted_ || routes_.has_overdue()) {
            sooner(read_back_not_before_);
        }
    }
    return at;
}

}  // namespace planed
