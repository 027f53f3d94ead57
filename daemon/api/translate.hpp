// SPDX-License-Identifier: Apache-2.0
// Values of the core to messages of planed.proto. Pure.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "api/watch_log.hpp"
#include "core/audit.hpp"
#include "core/snapshot.hpp"
#include "core/snapshot_builder.hpp"
#include "planed/v1/planed.pb.h"
#include "plugin/view.hpp"

namespace planed::api {

/// The wall clock where the monotonic one is zero: microseconds since 1970, UTC.
using WallOffset = std::chrono::microseconds;

void set_time(google::protobuf::Timestamp& message, TimePoint at, WallOffset wall);

/// What the engine does not know of the node.
struct NodeWords {
    std::string host_name{};
    std::string version{};
    std::string zebra_release{};  // "FRR 8.4 to 9.0"; empty: not known.
    std::vector<plugin::View> plugins{};
};

void fill(v1::StatusResponse& message,
          const Snapshot& snapshot,
          const NodeWords& words,
          WallOffset wall);
void fill(v1::InterfacesResponse& message, const Snapshot& snapshot);
void fill(v1::Host& message, const HostView& host, WallOffset wall);
void fill(v1::Route& message, const RouteView& route, WallOffset wall);
void fill(v1::Interface& message, const InterfaceView& interface);
void fill(v1::Proxy& message, const ProxyView& proxy);
void fill(v1::ExplainResponse& message,
          const IpAddress& address,
          const Explanation& explanation,
          WallOffset wall);
void fill(v1::Difference& message, const Difference& difference);
/// All but the differences.
void fill(v1::AuditResponse& message, const AuditReport& report, WallOffset wall);
void fill(v1::WatchEvent& message, const WatchItem& item, WallOffset wall);

/// "host", "route" or "port".
std::string_view kind_of(const WatchItem& item);

[[nodiscard]] bool matches(const v1::HostsRequest& request, const HostView& host);
[[nodiscard]] bool matches(const v1::RoutesRequest& request, const RouteView& route);
[[nodiscard]] bool matches(const v1::ProxiesRequest& request, const ProxyView& proxy);

}  // namespace planed::api
