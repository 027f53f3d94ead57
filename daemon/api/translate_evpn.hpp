// SPDX-License-Identifier: Apache-2.0
// Values of bgp/ and evpn/ to messages of planed.proto. Pure.
#pragma once

#include "api/translate.hpp"
#include "bgp/view.hpp"
#include "evpn/multihoming.hpp"

namespace planed::api {

void fill(v1::Peer& message, const bgp::PeerView& peer, WallOffset wall);
void fill(v1::Segment& message, const evpn::SegmentView& segment);
void fill(v1::EvpnRoute& message, const bgp::RouteRow& row, WallOffset wall);
[[nodiscard]] bool matches(const v1::EvpnRoutesRequest& request, const bgp::RouteRow& row);

}  // namespace planed::api
