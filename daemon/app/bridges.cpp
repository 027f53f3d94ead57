// SPDX-License-Identifier: Apache-2.0
#include "app/bridges.hpp"

#include <vector>

#include <fmt/core.h>

namespace planed {
namespace {

RouteAnswer answer_of(zapi::OwnerState state) {
    switch (state) {
        case zapi::OwnerState::FailInstall: return RouteAnswer::FailedInstall;
        case zapi::OwnerState::BetterAdminWon: return RouteAnswer::BetterWon;
        case zapi::OwnerState::Installed: return RouteAnswer::Installed;
        case zapi::OwnerState::Removed: return RouteAnswer::Removed;
        case zapi::OwnerState::RemoveFail: return RouteAnswer::RemoveFailed;
    }
    return RouteAnswer::RemoveFailed;
}

struct ToInput {
    std::optional<Input> operator()(const zapi::Ready& ready) const {
        return zapi_up(ready.family);
    }
    std::optional<Input> operator()(const zapi::OwnerNotice& notice) const {
        return RouteAnswered{.key = {.vrf = notice.vrf, .prefix = notice.prefix},
                             .answer = answer_of(notice.state)};
    }
    std::optional<Input> operator()(const zapi::ReadBackRow& row) const {
        RouteSeen seen{.key = {.vrf = row.route.vrf, .prefix = row.route.prefix}};
        // A row that we would never have sent is ours by type all the same: it is shown as a route
        // that equals no wish, so it is replaced or removed.
        seen.route = HostRoute{};
        if (const auto route = zapi::as_route(row.route)) {
            seen.route = HostRoute{.out = route->out,
                                   .gateway_is_host = route->gateway_is_host,
                                   .distance = route->distance,
                                   .metric = route->metric,
                                   .tag = route->tag};
        }
        return seen;
    }
    std::optional<Input> operator()(const zapi::ReadBackGone& gone) const {
        return RouteSeen{.key = {.vrf = gone.vrf, .prefix = gone.prefix}, .route = std::nullopt};
    }
    std::optional<Input> operator()(const zapi::ReadBackDone& /*done*/) const {
        return ReadBackFinished{.complete = true};
    }
    std::optional<Input> operator()(const zapi::ReadBackFailed& /*failed*/) const {
        return ReadBackFinished{.complete = false};
    }
    std::optional<Input> operator()(const zapi::PlaneRow& row) const {
        const RouteKey key{.vrf = row.vrf, .prefix = row.prefix};
        return row.gone ? Input(PlaneRouteGone{.key = key}) : Input(PlaneRouteSeen{.key = key});
    }
    std::optional<Input> operator()(const zapi::PlaneDoubted& /*doubted*/) const {
        return PlaneDoubted{};
    }
    std::optional<Input> operator()(const zapi::PlaneDumped& dumped) const {
        return PlaneDumped{.vrf = dumped.vrf};
    }
    std::optional<Input> operator()(const zapi::Synced& /*synced*/) const { return std::nullopt; }
    std::optional<Input> operator()(const zapi::ServerRefused& /*refused*/) const {
        return std::nullopt;
    }
    std::optional<Input> operator()(const zapi::Stalled& /*stalled*/) const { return std::nullopt; }
    std::optional<Input> operator()(const zapi::Resumed& /*resumed*/) const { return std::nullopt; }
};

struct CarryOut {
    zapi::Session& session;
    std::set<VrfId>& vrfs;
    TimePoint now;

    bool operator()(const SendRoute& send) const {
        if (!send.put) {
            session.remove(send.key.vrf, send.key.prefix);
            return true;
        }
        session.put({.vrf = send.key.vrf,
                     .prefix = send.key.prefix,
                     .out = send.put->out,
                     .gateway_is_host = send.put->gateway_is_host,
                     .distance = send.put->distance,
                     .metric = send.put->metric,
                     .tag = send.put->tag});
        return true;
    }
    bool operator()(const StartReadBack& /*start*/) const {
        const std::vector<VrfId> list(vrfs.begin(), vrfs.end());
        (void)session.start_read_back(list, now);  // One that runs already ends this one too.
        return true;
    }
    bool operator()(const CompleteRestart& complete) const {
        session.complete_restart(complete.vrfs);
        return true;
    }
    bool operator()(const AnnounceVrf& announce) const {
        vrfs.insert(announce.vrf);
        session.announce_vrf(announce.vrf);
        return true;
    }
    bool operator()(const WatchPlane& watch) const {
        session.watch_plane(watch.vrf);
        return true;
    }
    template <class Other>
    bool operator()(const Other& /*other*/) const {
        return false;
    }
};

bool concerns_zebra(const Output& output) {
    return std::holds_alternative<SendRoute>(output) ||
           std::holds_alternative<StartReadBack>(output) ||
           std::holds_alternative<CompleteRestart>(output) ||
           std::holds_alternative<AnnounceVrf>(output) ||
           std::holds_alternative<WatchPlane>(output);
}

}  // namespace

zapi::RouteType zapi_route_type(RouteType type) {
    switch (type) {
        case RouteType::Babel: return zapi::RouteType::Babel;
        case RouteType::Openfabric: return zapi::RouteType::Openfabric;
        case RouteType::Table: return zapi::RouteType::Table;
        case RouteType::Sharp: return zapi::RouteType::Sharp;
    }
    return zapi::RouteType::Babel;
}

Result<std::optional<zapi::WireFamily>> pinned_family(const FrrConfig& frr) {
    if (frr.release == "auto") {
        return std::optional<zapi::WireFamily>{};
    }
    const auto family = zapi::family_of_release(frr.release);
    if (!family) {
        return fail(Errc::Invalid,
                    fmt::format("frr.release: no FRR release {} is known", frr.release));
    }
    return family;
}

ZapiUp zapi_up(zapi::WireFamily family) {
    const bool before_10 = family == zapi::WireFamily::A || family == zapi::WireFamily::B;
    return {.family = std::string(zapi::name_of(family)), .resolves_over_ours = before_10};
}

std::optional<Input> to_input(const zapi::Event& event) {
    return std::visit(ToInput{}, event);
}

std::optional<Note> note_of(const zapi::Event& event) {
    if (const auto* refused = std::get_if<zapi::ServerRefused>(&event)) {
        return Note{.level = Level::Warn,
                    .id = "zapi.refused",
                    .text = fmt::format("vrf={} code={} text=\"zebra refused a message\"",
                                        number(refused->error.vrf),
                                        refused->error.code)};
    }
    if (const auto* stalled = std::get_if<zapi::Stalled>(&event)) {
        return Note{.level = Level::Warn,
                    .id = "zapi.stalled",
                    .text = fmt::format("backlog={} text=\"zebra does not read, operations wait\"",
                                        stalled->backlog)};
    }
    if (std::holds_alternative<zapi::Resumed>(event)) {
        return Note{
            .level = Level::Info, .id = "zapi.resumed", .text = "text=\"zebra reads again\""};
    }
    return std::nullopt;
}

bool ZapiBridge::carry_out(const Output& output, zapi::Session* session, TimePoint now) {
    if (session == nullptr) {
        return concerns_zebra(output);
    }
    return std::visit(CarryOut{.session = *session, .vrfs = vrfs_, .now = now}, output);
}

}  // namespace planed
