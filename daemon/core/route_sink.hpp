// SPDX-License-Identifier: Apache-2.0
// zebra as a sink of host routes: a Reconciler, zebra's way of answering, and the read-backs that
// settle what its answers leave open. zebra's acknowledgements are coalesced, sometimes absent and
// carry no number: they inform and heal; what zebra shows when asked is the truth.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "core/input.hpp"
#include "core/output.hpp"
#include "core/reconciler.hpp"
#include "core/route.hpp"
#include "net/time.hpp"

namespace planed {

class RouteSink {
public:
    using Routes = Reconciler<RouteKey, HostRoute>;

    RouteSink();

    void want(const RouteKey& key, const HostRoute& route) { routes_.want(key, route); }
    void unwant(const RouteKey& key) { routes_.unwant(key); }
    void prefetch(const RouteKey& key) const { routes_.prefetch(key); }
    void reinstall(const RouteKey& key) { routes_.reinstall(key); }
    /// Put every wanted route again, without a gap.
    void refresh_all();

    void up(TimePoint now);
    void lost();
    void answered(const RouteAnswered& answer, TimePoint now);
    void seen(const RouteSeen& seen, TimePoint now);
    void read_back_finished(const ReadBackFinished& finished, TimePoint now);

    /// Routes that zebra showed, or did not, against our wish, with nothing under way that explains
    /// it. Not by the first read-back of a session: it shows what an earlier one has left.
    struct Found {
        RouteKey key{};
        std::optional<HostRoute> wanted{};
        std::optional<HostRoute> route{};
        bool rejected = false;  // zebra has said that it prefers another.
        bool operator==(const Found&) const = default;
    };
    [[nodiscard]] std::vector<Found> take_found() { return std::exchange(found_, {}); }

    /// The next operation; nothing while the session is away.
    std::optional<SendRoute> next(TimePoint now);
    /// Is a read-back due (audit, overdue answers, after the restart was completed)? Asks once.
    bool read_back_due(TimePoint now);
    void request_read_back() { read_back_wanted_ = true; }
    [[nodiscard]] std::optional<TimePoint> wake_at();

    [[nodiscard]] bool is_up() const { return up_; }
    /// Everything wanted has been handed over and answered, or settled by read-back.
    [[nodiscard]] bool quiet() const { return routes_.quiet(); }
    [[nodiscard]] bool read_back_done() const { return read_backs_ > 0; }
    [[nodiscard]] const Routes& routes() const { return routes_; }
    void keep_journal(bool keep) { routes_.keep_journal(keep); }
    [[nodiscard]] std::vector<RouteKey> take_journal() { return routes_.take_journal(); }

private:
    void compare(const RouteKey& key, const std::optional<HostRoute>& route);

    Routes routes_;
    std::vector<Found> found_;  // By the running read-back.
    bool up_ = false;
    bool reading_ = false;
    bool read_back_wanted_ = false;
    TimePoint reading_since_{};
    TimePoint read_back_not_before_{};
    std::optional<TimePoint> audit_at_;
    std::uint64_t read_backs_ = 0;  // Since the session came up.
};

}  // namespace planed
